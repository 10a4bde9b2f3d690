//! The subject of a decision: one plugin as it is on disk.

use std::collections::{BTreeMap, BTreeSet};

use crate::contents::material::Material;
use crate::discovery::key::OldPlace;
use plugward_pinstore::{Facts, ObservedPlugin};
use plugward_tree_lock::{CodewizardDigest, LockEntry};
use plugward_types::{Digest, PluginKey, TreeDigest};

/// What a pin or a lock entry of one plugin would cover.
///
/// # Guarantees
/// The digests are of the bytes that this call read. Later changes of the directory do not affect them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Subject {
    /// The contents for a pin, and the identity of the directory.
    pub observed: ObservedPlugin,
    /// Files with the owner's execute bit.
    pub executable: BTreeSet<String>,
    /// References to downloaded code that no digest covers.
    pub launchers: BTreeSet<String>,
    /// The digest in the JSON lockfile's scheme, if such a lockfile covers the plugin.
    pub codewizard: Option<CodewizardDigest>,
    /// The bytes, if the caller requested them.
    pub material: Option<Material>,
    /// SHA-256 of each file, by path, if the caller requested them.
    pub files: BTreeMap<String, Digest>,
    /// The unresolved commands of a PLUGINS.lock that counts as an agreement to them.
    pub(crate) listed_unresolved: BTreeSet<Digest>,
    pub(crate) without_lock: Option<TreeDigest>,
    pub(crate) old_place: OldPlace,
    /// Further keys of the same directory.
    pub(crate) further: Vec<PluginKey>,
}

impl Subject {
    /// Returns the plugin's key.
    #[must_use]
    pub const fn key(&self) -> &PluginKey {
        &self.observed.key
    }

    /// Returns what a pin covers.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.observed.facts
    }

    /// Returns what accepting the plugin would pin. If something else is at the plugin's old place now, the
    /// pin there stays.
    #[must_use]
    pub fn to_accept(&self) -> ObservedPlugin {
        let mut observed = self.observed.clone();
        if self.old_place == OldPlace::Taken {
            observed.predecessor = None;
        }
        observed
    }

    /// Returns the entry for a PLUGINS.lock in the plugin's own directory (`path` is `.`) or above it.
    #[must_use]
    pub fn lock_entry(&self, path: &str) -> LockEntry {
        let facts = self.facts();
        let listed = crate::contents::trees::excludes_of(facts);
        // A lockfile inside the tree that it lists cannot cover itself.
        let (tree, exclude) = match self.without_lock {
            Some(tree) if path == "." => (tree, crate::contents::trees::with_lock_files(&listed)),
            Some(_) | None => (facts.tree, listed),
        };
        let mut entry = LockEntry::new(tree);
        entry.dialects = facts.manifest.keys().cloned().collect();
        let called = self.observed.called.iter().map(|name| name.dialect().to_owned());
        entry.dialects.extend(called);
        entry.version.clone_from(&self.observed.version);
        entry.manifest.clone_from(&facts.manifest);
        entry.entry = facts.entry;
        entry.exclude = exclude;
        entry.executable.clone_from(&self.executable);
        entry.shared.clone_from(&facts.shared);
        entry.surface = facts.surface;
        entry.launchers.clone_from(&self.launchers);
        entry.closure = facts.closure;
        entry.unresolved.clone_from(&facts.unresolved);
        let is_listed = |name: &String| path != "." || !name.starts_with("PLUGINS.lock");
        let files = self.files.iter().filter(|(name, _)| is_listed(name));
        entry.files = files.map(|(name, digest)| (name.clone(), *digest)).collect();
        entry
    }
}
