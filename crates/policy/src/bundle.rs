//! Bundles: the selectors that match a plugin, and the merge of their entries.

use plugward_types::PluginKey;

use crate::command::RunRule;
use crate::error::ValueOrigin;
use crate::layer::{LayerKind, LayerValue, LayerValues};
use crate::policy::TrustPolicy;
use crate::resolved::{Fixing, Merged, Offer, OfferForce, ResolvedSetting, merge};
use crate::table::{SettingId, SettingKey};
use crate::value::SettingValue;

/// The key and the names by which settings select a plugin.
///
/// A plugin chooses its names, so entries by name can only tighten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleNames {
    key: Option<String>,
    names: Vec<String>,
}

/// The rule for running a plugin, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleRule {
    /// The rule.
    pub run: RunRule,
    /// The layer that sets it.
    pub layer: LayerKind,
    /// The place; `None` for the default.
    pub origin: Option<ValueOrigin>,
    /// The key of the entry that sets it.
    pub setting: SettingKey,
}

/// How exactly a selector names a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Specificity {
    /// Text of a length, and a `*`.
    Pattern(usize),
    Name,
    Key,
}

impl BundleNames {
    /// Creates the names of a plugin: its key, the name in it, and the names that its manifests state.
    #[must_use]
    pub fn new<'n>(key: &'n PluginKey, stated: impl IntoIterator<Item = &'n str>) -> Self {
        let own = core::iter::once(key.name());
        Self { key: Some(key.to_string()), names: own.chain(stated).map(str::to_owned).collect() }
    }

    /// Creates the names that a selector stands for.
    fn of_selector(selector: &str) -> Self {
        match selector.parse::<PluginKey>() {
            Ok(key) => Self::new(&key, []),
            Err(_name) => Self { key: None, names: vec![selector.to_owned()] },
        }
    }

    /// Returns how a selector matches.
    fn matched(&self, selector: &str) -> Option<Specificity> {
        if self.key.as_deref() == Some(selector) {
            return Some(Specificity::Key);
        }
        if self.names.iter().any(|name| name == selector) {
            return Some(Specificity::Name);
        }
        let start = selector.strip_suffix('*')?;
        let mut texts = self.key.iter().chain(&self.names);
        texts.any(|text| text.starts_with(start)).then_some(Specificity::Pattern(start.len()))
    }
}

impl TrustPolicy {
    /// Returns the rule for running a plugin.
    #[must_use]
    pub fn bundle_rule(&self, names: &BundleNames) -> BundleRule {
        let merged = self.bundle_merge(names);
        let found = merged.used.and_then(|index| merged.fates.get(index));
        let run = merged.value().and_then(SettingValue::as_text).and_then(RunRule::from_name);
        match found {
            Some((offer, ..)) => BundleRule {
                // The reader admits the words of the table only.
                run: run.unwrap_or(RunRule::Deny),
                layer: offer.kind,
                origin: Some(offer.layer.origin(offer.at)),
                setting: offer.key.clone(),
            },
            None => BundleRule {
                run: RunRule::Unattended,
                layer: LayerKind::Default,
                origin: None,
                setting: SettingKey::named(SettingId::BundleRun, names.key.as_deref().unwrap_or_default()),
            },
        }
    }

    /// Returns the setting that switches a plugin off: `plugins.enabled`, `plugins.disabled`, or none.
    #[must_use]
    pub fn switched_off(&self, names: &BundleNames) -> Option<ResolvedSetting> {
        let selects = |id| {
            let value = self.value(id)?;
            Some(value.as_list()?.iter().any(|one| names.matched(&one.text).is_some()))
        };
        let id = match (selects(SettingId::Enabled), selects(SettingId::Disabled)) {
            (Some(false), _) => SettingId::Enabled,
            (_, Some(true)) => SettingId::Disabled,
            _ => return None,
        };
        Some(self.resolve(&SettingKey::of(id)))
    }

    /// Returns the value for the plugin that a selector stands for.
    pub(crate) fn bundle_setting(&self, key: &SettingKey) -> ResolvedSetting {
        self.bundle_merge(&BundleNames::of_selector(key.name().unwrap_or_default())).resolved(key.clone())
    }

    fn bundle_merge(&self, names: &BundleNames) -> Merged<'_> {
        let mut offers = Vec::new();
        let mut fixing = Fixing::None;
        for (kind, layer, values) in self.tables() {
            let mut matched: Vec<_> = bundle_entries(values)
                .filter_map(|(key, found)| Some((names.matched(&key.name)?, key, found)))
                .collect();
            // The most specific entry of a layer comes last, so it is the strongest.
            matched.sort_by_key(|(how, ..)| *how);
            for (how, key, LayerValue { value, at }) in matched {
                let force = if how == Specificity::Key { OfferForce::ByLayer } else { OfferForce::Tightens };
                if kind == LayerKind::Managed && self.is_fixed(key) {
                    fixing = Fixing::Managed;
                }
                offers.push(Offer { kind, layer, key, value, at: *at, force });
            }
        }
        merge(SettingId::BundleRun, offers, fixing)
    }

    /// Returns the entries and list items for plugins that match none of `plugins`.
    pub(crate) fn unmatched_entries(&self, plugins: &[BundleNames]) -> Vec<(String, LayerKind, ValueOrigin)> {
        let is_missing = |selector: &str| !plugins.iter().any(|names| names.matched(selector).is_some());
        let mut unmatched = Vec::new();
        for (kind, layer, values) in self.tables() {
            for (key, found) in bundle_entries(values).filter(|(key, _)| is_missing(&key.name)) {
                unmatched.push((key.to_string(), kind, layer.origin(found.at)));
            }
            for id in [SettingId::Enabled, SettingId::Disabled] {
                let list = values.get(&SettingKey::of(id)).and_then(|found| found.value.as_list());
                for one in list.unwrap_or_default().iter().filter(|one| is_missing(&one.text)) {
                    unmatched.push((
                        format!("{} \"{}\"", SettingKey::of(id), one.text),
                        kind,
                        layer.origin(one.at),
                    ));
                }
            }
        }
        unmatched
    }
}

fn bundle_entries(values: &LayerValues) -> impl Iterator<Item = (&SettingKey, &LayerValue)> {
    let start = SettingKey::of(SettingId::BundleRun);
    values.range(start..).take_while(|(key, _)| key.id() == SettingId::BundleRun)
}
