//! The denials that the ledger knows. They apply while the pins cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use plugward_ledger::{ChainCheck, LedgerEvent, LedgerFiles, LoadVerdict, VerifyPlan};
use plugward_pinstore::Change;
use plugward_types::{PluginKey, TreeDigest};

use crate::record::ledger_name;

/// The plugins that the user denied, by their names in the ledger, each with the tree that was on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedDenials(BTreeMap<String, Option<String>>);

impl RecordedDenials {
    /// Collects the denials that no later record deletes.
    ///
    /// Returns `None` if the ledger cannot be read, if its records were changed or removed, or if it has neither a record of
    /// a denial nor one of stored pins: then it is not the ledger of these pins, and does not say that nothing is denied.
    #[must_use]
    pub fn read(ledger: &LedgerFiles) -> Option<Self> {
        let mut found = Self::default();
        let mut has_records = false;
        // Denials that older versions recorded as decisions.
        let mut old: BTreeSet<String> = BTreeSet::new();
        let plan = VerifyPlan::new();
        let plan = match ledger.checkpoint() {
            Some(checkpoint) => plan.against(checkpoint.clone()),
            None => plan,
        };
        let verified = ledger.verify(plan, &mut |record, _| match record.event() {
            Some(LedgerEvent::PluginDenied { plugin, digest }) => {
                has_records = true;
                old.remove(plugin);
                found.0.insert(plugin.clone(), digest.clone());
            }
            Some(LedgerEvent::PluginUndenied { plugin }) => {
                has_records = true;
                found.0.remove(plugin);
            }
            // Older versions recorded them as decisions outside of any workflow.
            Some(LedgerEvent::Decision { workflow: None, plugin, outcome, codes, digest }) => match outcome {
                LoadVerdict::Refuse if codes.iter().any(|code| code == "policy/denied") => {
                    has_records = true;
                    old.insert(plugin.clone());
                    found.0.insert(plugin.clone(), digest.clone());
                }
                LoadVerdict::Ask if codes.is_empty() && old.remove(plugin) => drop(found.0.remove(plugin)),
                LoadVerdict::Ask | LoadVerdict::Refuse | LoadVerdict::Load => {}
            },
            Some(LedgerEvent::PinsStored { .. }) => has_records = true,
            _ => {}
        });
        let is_whole = matches!(verified.ok()?.check, ChainCheck::Whole { .. } | ChainCheck::Torn { .. });
        (is_whole && has_records).then_some(found)
    }

    /// Returns the names of the denied plugins, as the ledger has them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the changes that put the denials into a new pins file. A plugin that the ledger knows by the digest of its
    /// key has none.
    #[must_use]
    pub fn to_restore(&self, by: &str) -> Vec<Change> {
        let change = |(name, tree): (&String, &Option<String>)| {
            let seen = tree.as_deref().and_then(|tree| tree.parse().ok());
            let (key, by) = (name.parse().ok()?, Some(by.to_owned()));
            Some(Change::Deny { key, directory: None, called: BTreeSet::new(), seen, by })
        };
        self.0.iter().filter_map(change).collect()
    }

    /// Returns `true` if one of these keys, or a plugin with this tree, is denied.
    pub(crate) fn has<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k PluginKey>,
        tree: Option<&TreeDigest>,
    ) -> bool {
        let tree = tree.map(ToString::to_string);
        keys.into_iter().any(|key| self.0.contains_key(&ledger_name(key)))
            || self.0.values().any(|denied| denied.is_some() && *denied == tree)
    }
}
