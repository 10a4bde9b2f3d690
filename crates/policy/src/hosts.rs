//! Rows that a user adds to the table of hosts. The caller knows their fields.

use std::collections::BTreeMap;

use crate::layer::SettingsLayer;
use crate::options::put;
use crate::policy::TrustPolicy;
use crate::table::SettingId;

/// The fields of one host in one layer.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostSetting<'p> {
    /// The layer, which is never that of a repository.
    pub layer: &'p SettingsLayer,
    /// The id of the host.
    pub id: &'p str,
    /// The fields.
    pub fields: toml::Table,
    /// The byte offset of each field in the layer's text.
    pub places: BTreeMap<&'p str, usize>,
}

impl TrustPolicy {
    /// Returns the hosts that the user adds, from the weakest layer to the strongest.
    #[must_use]
    pub fn hosts(&self) -> Vec<HostSetting<'_>> {
        let mut found: Vec<HostSetting<'_>> = Vec::new();
        for (_, layer, values) in self.tables().filter(|(kind, ..)| !kind.is_repository()) {
            let start = found.len();
            for (key, value) in values.iter().filter(|(key, _)| key.id == SettingId::Hosts) {
                let mut known = found.iter_mut().skip(start).find(|one| one.id == key.name);
                if known.is_none() {
                    let (fields, places) = (toml::Table::new(), BTreeMap::new());
                    found.push(HostSetting { layer, id: &key.name, fields, places });
                    known = found.last_mut();
                }
                let (Some(one), Some(field)) = (known, key.leaf.first()) else { continue };
                one.places.entry(field).or_insert(value.at);
                let mut fields = Some(toml::Value::Table(core::mem::take(&mut one.fields)));
                put(&mut fields, &key.leaf, value.value.to_toml());
                if let Some(toml::Value::Table(fields)) = fields {
                    one.fields = fields;
                }
            }
        }
        found
    }
}
