//! A resolved value, and what each layer contributed to it.

use crate::error::ValueOrigin;
use crate::layer::{LayerKind, SettingsLayer};
use crate::table::{SettingId, SettingKey};
use crate::value::SettingValue;

plugward_types::named! {
    /// What became of a layer's value.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "every host must display a new fate")]
    pub enum ContributionFate {
        /// It is the value, or a part of it.
        Used = "used",
        /// A stronger layer replaced it.
        Overridden = "overridden",
        /// It would have loosened the result of the weaker layers.
        HeldBack = "held-back",
        /// The managed file fixes the key.
        Final = "final",
        /// Repositories cannot set the key.
        NotFromRepository = "not-from-repository",
    }
}

/// The value of one layer, and what became of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Contribution {
    /// The source of the layer.
    pub layer: LayerKind,
    /// The key in the layer, which differs from the requested one for selectors and options.
    pub key: SettingKey,
    /// The place; `None` for a default.
    pub origin: Option<ValueOrigin>,
    /// The value; `None` for a default that the caller decides.
    pub value: Option<SettingValue>,
    /// What became of it.
    pub fate: ContributionFate,
    /// The reason if the value has no effect, or what decides about a default.
    pub why: Option<&'static str>,
}

/// The value of a setting after all layers are merged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResolvedSetting {
    /// The key.
    pub key: SettingKey,
    /// The value; `None` if no layer sets it and there is no default.
    pub value: Option<SettingValue>,
    /// The layer of the value.
    pub layer: LayerKind,
    /// The place of the value.
    pub origin: Option<ValueOrigin>,
    /// The values of all layers, from weak to strong.
    pub contributions: Vec<Contribution>,
}

const ONLY_TIGHTEN: &str = "a repository can only tighten";
const ONLY_ADD: &str = "a repository cannot replace a checksum";
const NAME_ONLY_TIGHTENS: &str = "a name can only tighten, since the plugin chooses it; write its key";
const FIXED: &str = "the managed settings fix this key";
const NOT_FROM_REPOSITORY: &str = "a repository cannot set this key";

/// A value of a layer that takes part in a merge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) kind: LayerKind,
    pub(crate) layer: &'a SettingsLayer,
    pub(crate) key: &'a SettingKey,
    pub(crate) value: &'a SettingValue,
    pub(crate) at: usize,
    pub(crate) force: OfferForce,
}

/// Whether a value can loosen the result of weaker ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfferForce {
    /// Its layer decides.
    ByLayer,
    /// It can only tighten, because a plugin chooses the name in its selector.
    Tightens,
}

/// The fate of each offer, from weak to strong, for one value.
///
/// This is the rule of the merge: the strongest layer wins, a value that may only tighten is held back if it would
/// loosen the result so far, and a fixed key takes its managed value.
pub(crate) struct Merged<'a> {
    pub(crate) fates: Vec<(Offer<'a>, ContributionFate, Option<&'static str>)>,
    /// The index of the used offer; `None` for the default.
    pub(crate) used: Option<usize>,
}

/// Whether the managed file fixes a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixing {
    None,
    Managed,
}

/// Merges the values of one key, from weak to strong.
pub(crate) fn merge<'a>(id: SettingId, offers: Vec<Offer<'a>>, fixing: Fixing) -> Merged<'a> {
    use crate::table::RepositoryUse as Use;
    let mut used: Option<usize> = None;
    let mut fates: Vec<(Offer<'a>, ContributionFate, Option<&'static str>)> =
        Vec::with_capacity(offers.len());
    for offer in offers {
        let so_far = used.and_then(|index| fates.get(index)).map(|(offer, ..)| offer.value);
        let (fate, why) = if fixing == Fixing::Managed && offer.kind != LayerKind::Managed {
            (ContributionFate::Final, Some(FIXED))
        } else if offer.kind.is_repository() && !id.repository_may(offer.value, so_far) {
            match id.rule().repository {
                Use::Ignore => (ContributionFate::NotFromRepository, Some(NOT_FROM_REPOSITORY)),
                Use::Add => (ContributionFate::HeldBack, Some(ONLY_ADD)),
                Use::Tighten | Use::Set => (ContributionFate::HeldBack, Some(ONLY_TIGHTEN)),
            }
        } else if offer.force == OfferForce::Tightens && !id.is_as_strict(Some(offer.value), so_far) {
            (ContributionFate::HeldBack, Some(NAME_ONLY_TIGHTENS))
        } else {
            if let Some((_, fate, _)) = used.and_then(|index| fates.get_mut(index)) {
                *fate = ContributionFate::Overridden;
            }
            used = Some(fates.len());
            (ContributionFate::Used, None)
        };
        fates.push((offer, fate, why));
    }
    Merged { fates, used }
}

impl Merged<'_> {
    pub(crate) fn value(&self) -> Option<&SettingValue> {
        self.used.and_then(|index| self.fates.get(index)).map(|(offer, ..)| offer.value)
    }

    /// Returns the result with the place of each contribution.
    pub(crate) fn resolved(&self, key: SettingKey) -> ResolvedSetting {
        let contributions = core::iter::once(default_of(&key, self.used)).chain(self.contributions());
        let contributions: Vec<Contribution> = contributions.collect();
        let found = contributions.iter().rfind(|one| one.fate == ContributionFate::Used);
        let (layer, origin) =
            found.map_or((LayerKind::Default, None), |found| (found.layer, found.origin.clone()));
        let value = self.value().cloned().or_else(|| key.id().default_value());
        ResolvedSetting { key, value, layer, origin, contributions }
    }

    pub(crate) fn contributions(&self) -> impl Iterator<Item = Contribution> {
        self.fates.iter().map(|(offer, fate, why)| Contribution {
            layer: offer.kind,
            key: offer.key.clone(),
            origin: Some(offer.layer.origin(offer.at)),
            value: Some(offer.value.clone()),
            fate: *fate,
            why: *why,
        })
    }
}

/// Returns the contribution of the key table.
fn default_of(key: &SettingKey, used: Option<usize>) -> Contribution {
    let fate = if used.is_some() { ContributionFate::Overridden } else { ContributionFate::Used };
    let (value, why) = (key.id().default_value(), key.id().decided_by());
    Contribution { layer: LayerKind::Default, key: key.clone(), origin: None, value, fate, why }
}
