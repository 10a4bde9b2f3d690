//! Options of command plugins: any TOML, merged leaf by leaf.

use std::collections::BTreeMap;

use crate::policy::TrustPolicy;
use crate::resolved::{ContributionFate, Merged, Offer, OfferForce, ResolvedSetting, merge};
use crate::table::{SettingId, SettingKey};
use crate::value::SettingValue;

impl TrustPolicy {
    /// Returns the options of a command plugin, merged from all layers.
    #[must_use]
    pub fn options(&self, id: &str) -> toml::Table {
        let resolved = self.resolve(&SettingKey::named(SettingId::CommandOptions, id));
        match resolved.value {
            Some(SettingValue::Any(toml::Value::Table(options))) => options,
            _ => toml::Table::new(),
        }
    }

    /// Returns the options under a key, with the contribution of each layer to each leaf.
    pub(crate) fn resolved_options(&self, key: &SettingKey) -> ResolvedSetting {
        let mut merged = Merged { fates: Vec::new(), used: None };
        // The leaves that count so far, by their path, with their index in `fates`.
        let mut live: BTreeMap<&[String], usize> = BTreeMap::new();
        for (kind, layer, values) in self.tables() {
            let start = SettingKey::named(key.id(), &key.name);
            let of_plugin =
                values.range(start..).take_while(|(set, _)| set.id == key.id && set.name == key.name);
            for (set, found) in of_plugin.filter(|(set, _)| set.is_in(key) || key.is_in(set)) {
                let offer = Offer {
                    kind,
                    layer,
                    key: set,
                    value: &found.value,
                    at: found.at,
                    force: OfferForce::ByLayer,
                };
                let Some(fate) = merge(key.id, vec![offer], self.fixing(set)).fates.pop() else { continue };
                if fate.1 == ContributionFate::Used {
                    // A value replaces the table that was there, and a table replaces a value.
                    live.retain(|path, index| {
                        let stays = !path.starts_with(&set.leaf) && !set.leaf.starts_with(path);
                        if let (false, Some((_, old, _))) = (stays, merged.fates.get_mut(*index)) {
                            *old = ContributionFate::Overridden;
                        }
                        stays
                    });
                    live.insert(&set.leaf, merged.fates.len());
                    merged.used = Some(merged.fates.len());
                }
                merged.fates.push(fate);
            }
        }
        let mut resolved = merged.resolved(key.clone());
        let mut value = None;
        for (path, index) in &live {
            if let (Some(rest), Some((offer, ..))) =
                (path.strip_prefix(key.leaf.as_slice()), merged.fates.get(*index))
            {
                put(&mut value, rest, offer.value.to_toml());
            }
        }
        resolved.value = value.map(SettingValue::Any);
        resolved
    }
}

/// Stores a leaf at a path of a nested table.
pub(crate) fn put(into: &mut Option<toml::Value>, path: &[String], leaf: toml::Value) {
    let Some((first, rest)) = path.split_first() else {
        *into = Some(leaf);
        return;
    };
    let mut table = match into.take() {
        Some(toml::Value::Table(table)) => table,
        _ => toml::Table::new(),
    };
    let mut inner = table.remove(first);
    put(&mut inner, rest, leaf);
    if let Some(inner) = inner {
        table.insert(first.clone(), inner);
    }
    *into = Some(toml::Value::Table(table));
}
