//! The comparison of a plugin with its pin.

use std::collections::BTreeSet;

use plugward_types::{CalledName, Digest, PluginKey, SurfaceDigest};

use crate::format::model::Model;
use crate::pins::facts::{Facts, ObservedPlugin, ReadScope};
use crate::pins::pin::{AgreedState, Pin};
use plugward_types::Timestamp;

/// The result of comparing one plugin with the pins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum PinCheck {
    /// The plugin matches its pin.
    Same {
        /// Whether this is the latest agreed state; if not: notice `pin/older`.
        age: AgreedAge,
        /// Set if only the execution surface differs, since this version detects more or less of it.
        surface: Option<SurfaceDifference>,
    },
    /// The plugin was moved, and its contents match its old pin: notice `pin/moved`.
    Moved {
        /// The old key.
        from: PluginKey,
    },
    /// The plugin matches its pin in everything that version 3 of the pins file covered: notice `pin/migrated`.
    Migrated {
        /// Whether this is the latest agreed state.
        age: AgreedAge,
        /// The parts that the plugin has and that version did not cover, in order.
        added: Vec<ChangedPart>,
    },
    /// A version 1 pin of its name has the same manifest, which is all that it covers.
    ManifestOnly,
    /// No pin exists.
    Unpinned,
    /// The plugin differs from its pin.
    Changed(Box<PinDifference>),
    /// The plugin is in a state that was agreed to and replaced later: `pin/rolled-back`.
    RolledBack {
        /// The difference to the latest agreed state.
        difference: Box<PinDifference>,
        /// When the state was agreed to.
        agreed: Timestamp,
        /// When another state replaced it.
        superseded: Timestamp,
    },
    /// The user denied the plugin.
    Denied {
        /// The time of the denial.
        since: Timestamp,
        /// The denial that applies.
        by: DenialSource,
    },
}

/// Whether a state of a plugin is the latest agreed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a tree is the latest one or not")]
pub enum AgreedAge {
    /// It is the latest.
    Latest,
    /// Another state was agreed to later.
    Older,
}

/// The denial that applies to a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new kind of denial")]
pub enum DenialSource {
    /// The key is denied.
    Key,
    /// The key that the plugin had before is denied.
    Predecessor(PluginKey),
}

impl PinCheck {
    /// Returns the stable code of the refusal, question or notice for this answer.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Same { age: AgreedAge::Older, .. } => Some("pin/older"),
            Self::Same { surface: Some(_), .. } => Some("pin/surface-new"),
            Self::Same { age: AgreedAge::Latest, surface: None } => None,
            Self::Moved { .. } => Some("pin/moved"),
            Self::Migrated { .. } => Some("pin/migrated"),
            Self::ManifestOnly | Self::Unpinned => Some("pin/new"),
            Self::Changed(changed) => Some(changed.code()),
            Self::RolledBack { .. } => Some("pin/rolled-back"),
            Self::Denied { .. } => Some("policy/denied"),
        }
    }
}

/// The difference between a plugin and its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinDifference {
    /// The old key of a moved plugin, if its old pin was compared.
    pub from: Option<PluginKey>,
    /// The pinned state.
    pub pinned: PinnedState,
    /// The pinned version.
    pub version: Option<String>,
    /// The names of the plugin when it was pinned.
    pub called: BTreeSet<CalledName>,
    /// When the pinned state was agreed to; unknown for version 1 pins.
    pub since: Option<Timestamp>,
    /// The state on disk, as far as plugward read it when the pinned state was agreed to.
    pub actual: Facts,
    /// The parts that differ, in the order of [`ChangedPart`]; never empty.
    pub parts: Vec<ChangedPart>,
}

impl PinDifference {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        if self.parts.contains(&ChangedPart::Signer) { "pin/signer-changed" } else { "pin/changed" }
    }
}

/// The pinned state of a changed plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a pin has a tree or a manifest")]
pub enum PinnedState {
    /// The latest agreed state.
    Tree(Box<Facts>),
    /// The manifest digest of a version 1 pin.
    Manifest(Digest),
}

plugward_types::named! {
    /// A part of a plugin that differs from its pin.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new fact")]
    pub enum ChangedPart {
        /// The signer.
        Signer = "signer",
        /// The manifest file.
        Manifest = "manifest",
        /// The tree.
        Tree = "tree",
        /// A shared directory.
        Shared = "shared",
        /// The marketplace entry.
        Entry = "entry",
        /// The files outside the plugin that can run.
        Closure = "closure",
        /// The settings in version control directories that run something.
        Vcs = "vcs",
    }
}

/// The surface digests of the same contents, if two versions of plugward detect different surfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurfaceDifference {
    /// The pinned digest.
    pub pinned: Option<SurfaceDigest>,
    /// The digest of this run.
    pub actual: Option<SurfaceDigest>,
}

pub(crate) fn check(model: &Model, observed: &ObservedPlugin) -> PinCheck {
    match model.pins.get(&observed.key) {
        Some(pin) => check_own(pin, observed),
        None => check_without_own(model, observed),
    }
}

fn check_own(pin: &Pin, observed: &ObservedPlugin) -> PinCheck {
    if let Some(denial) = &pin.denied {
        return PinCheck::Denied { since: denial.at, by: DenialSource::Key };
    }
    // The parser refuses trusted pins without an agreed state.
    let Some(latest) = pin.latest() else { return PinCheck::Unpinned };
    let same = position(pin, observed).and_then(|index| Some((index, pin.agreed.get(index)?)));
    let Some((index, same)) = same else {
        return PinCheck::Changed(Box::new(difference(None, pin, latest, observed)));
    };
    if let Some(check) = rolled_back(None, pin, same, observed) {
        return check;
    }
    let is_latest = index.saturating_add(1) == pin.agreed.len();
    let age = if is_latest { AgreedAge::Latest } else { AgreedAge::Older };
    if same.reads == ReadScope::Directory {
        return PinCheck::Migrated { age, added: added(&observed.facts) };
    }
    let (pinned, actual) = (same.facts.surface, observed.facts.surface);
    PinCheck::Same { age, surface: (pinned != actual).then_some(SurfaceDifference { pinned, actual }) }
}

/// Returns the parts of a plugin that version 3 of the pins file did not cover.
fn added(facts: &Facts) -> Vec<ChangedPart> {
    let closure = facts.closure.map(|_| ChangedPart::Closure);
    closure.into_iter().chain(facts.vcs.map(|_| ChangedPart::Vcs)).collect()
}

/// Returns the index of the latest agreed state that equals the plugin.
pub(crate) fn position(pin: &Pin, observed: &ObservedPlugin) -> Option<usize> {
    pin.agreed.iter().rposition(|agreed| differing(agreed, observed).is_empty())
}

/// Returns the agreed state that equals the plugin, under its key or the one that it had before.
pub(crate) fn agreed<'m>(model: &'m Model, observed: &ObservedPlugin) -> Option<&'m AgreedState> {
    let pin = model.pins.get(&observed.key).or_else(|| model.pins.get(observed.predecessor.as_ref()?))?;
    pin.agreed.get(position(pin, observed)?)
}

/// Returns the answer for a state that another one replaced.
fn rolled_back(
    from: Option<PluginKey>,
    pin: &Pin,
    same: &AgreedState,
    observed: &ObservedPlugin,
) -> Option<PinCheck> {
    let (superseded, latest) = (same.superseded?, pin.latest()?);
    let difference = Box::new(difference(from, pin, latest, observed));
    Some(PinCheck::RolledBack { difference, agreed: same.at, superseded })
}

fn difference(
    from: Option<PluginKey>,
    pin: &Pin,
    latest: &AgreedState,
    observed: &ObservedPlugin,
) -> PinDifference {
    PinDifference {
        from,
        pinned: PinnedState::Tree(Box::new(latest.facts.clone())),
        version: latest.version.clone(),
        called: pin.called.clone(),
        since: Some(latest.at),
        actual: compared(latest, observed).clone(),
        parts: differing(latest, observed),
    }
}

/// Checks a plugin as if its key had no pin.
pub(crate) fn check_without_own(model: &Model, observed: &ObservedPlugin) -> PinCheck {
    check_predecessor(model, observed).or_else(|| check_names(model, observed)).unwrap_or(PinCheck::Unpinned)
}

fn check_predecessor(model: &Model, observed: &ObservedPlugin) -> Option<PinCheck> {
    let from = observed.predecessor.as_ref()?;
    let pin = model.pins.get(from)?;
    if let Some(denial) = &pin.denied {
        return Some(PinCheck::Denied { since: denial.at, by: DenialSource::Predecessor(from.clone()) });
    }
    let latest = pin.latest()?;
    Some(match position(pin, observed) {
        Some(index) => {
            let replaced = rolled_back(Some(from.clone()), pin, pin.agreed.get(index)?, observed);
            replaced.unwrap_or_else(|| PinCheck::Moved { from: from.clone() })
        }
        None => PinCheck::Changed(Box::new(difference(Some(from.clone()), pin, latest, observed))),
    })
}

/// Compares with version 1 pins, which have names only, so a name matches in every place and dialect.
fn check_names(model: &Model, observed: &ObservedPlugin) -> Option<PinCheck> {
    let pinned: Vec<Digest> =
        observed.called.iter().filter_map(|called| model.v1.get(called.name()).copied()).collect();
    if observed.facts.manifest.values().any(|manifest| pinned.contains(manifest)) {
        return Some(PinCheck::ManifestOnly);
    }
    Some(PinCheck::Changed(Box::new(PinDifference {
        from: None,
        pinned: PinnedState::Manifest(*pinned.first()?),
        version: None,
        called: observed.called.clone(),
        since: None,
        actual: observed.facts.clone(),
        parts: vec![ChangedPart::Manifest],
    })))
}

/// Returns the parts that differ, as far as plugward read them when the state was agreed to.
///
/// Excluded names are part of the tree's preimage, and the surface only explains. Unresolved commands follow from the
/// other parts, so their digests only name what was agreed to.
pub(crate) fn differing(state: &AgreedState, observed: &ObservedPlugin) -> Vec<ChangedPart> {
    let (pinned, actual) = (&state.facts, compared(state, observed));
    let all = [
        (ChangedPart::Signer, is_other_signer(pinned.signer.as_ref(), actual.signer.as_ref())),
        (ChangedPart::Manifest, pinned.manifest != actual.manifest),
        (ChangedPart::Tree, pinned.tree != actual.tree),
        (ChangedPart::Shared, pinned.shared != actual.shared),
        (ChangedPart::Entry, pinned.entry != actual.entry),
    ];
    let beyond = [
        (ChangedPart::Closure, pinned.closure != actual.closure),
        (ChangedPart::Vcs, pinned.vcs != actual.vcs),
    ];
    let beyond = beyond.into_iter().filter(|_| state.reads == ReadScope::Execution);
    all.into_iter().chain(beyond).filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
}

/// Returns the facts that a state is compared with.
fn compared<'o>(state: &AgreedState, observed: &'o ObservedPlugin) -> &'o Facts {
    match state.reads {
        ReadScope::Directory => observed.before.as_deref().unwrap_or(&observed.facts),
        ReadScope::Execution => &observed.facts,
    }
}

/// Returns `true` for two different signers. The lockfile decides about a signature that appears or
/// disappears.
fn is_other_signer(pinned: Option<&String>, actual: Option<&String>) -> bool {
    pinned.is_some() && actual.is_some() && pinned != actual
}
