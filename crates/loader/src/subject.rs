//! What a person decides about: one plugin as it is on disk.

use std::collections::BTreeSet;

use crate::material::Material;
use plugward_pinstore::{Facts, Scope};
use plugward_tree_lock::{CodewizardDigest, Excludes, LockEntry};
use plugward_types::{PluginId, TreeDigest};

/// What a pin or a lock entry of one plugin would cover.
///
/// # Guarantees
/// The digests are of the bytes that were read by the call that gave it, not of what the folder becomes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Subject {
    /// The id.
    pub id: PluginId,
    /// Whose pins count.
    pub scope: Scope,
    /// The folder, relative to its root.
    pub path: String,
    /// The plugin's own version.
    pub version: Option<String>,
    /// What a pin covers.
    pub facts: Facts,
    /// Entries with the owner's execute bit.
    pub executable: BTreeSet<String>,
    /// References to code that no digest covers.
    pub launchers: BTreeSet<String>,
    /// The digest of the older scheme, where a lock of that scheme is there.
    pub codewizard: Option<CodewizardDigest>,
    /// The bytes, where they were asked for.
    pub material: Option<Material>,
    pub(crate) without_lock: Option<TreeDigest>,
}

impl Subject {
    /// Makes the entry for PLUGINS.lock.
    ///
    /// # Source
    /// ADR-0011's lock names plugin and digest alone; what explains a change stands beside them here.
    #[must_use]
    pub fn lock_entry(&self) -> LockEntry {
        let listed = Excludes::new(self.facts.exclude.iter().map(String::as_str)).unwrap_or_default();
        // A lock that stands in the tree which it names cannot cover itself.
        let (tree, exclude) = match self.without_lock {
            Some(tree) => (tree, crate::trees::with_lock_files(&listed)),
            None => (self.facts.tree, listed),
        };
        let mut entry = LockEntry::new(self.path.clone(), tree);
        entry.version.clone_from(&self.version);
        entry.manifest = self.facts.manifest;
        entry.entry = self.facts.entry;
        entry.exclude = exclude;
        entry.executable.clone_from(&self.executable);
        entry.shared.clone_from(&self.facts.shared);
        entry.surface = self.facts.surface;
        entry.launchers.clone_from(&self.launchers);
        entry
    }
}
