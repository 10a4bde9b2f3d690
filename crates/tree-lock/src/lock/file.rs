//! PLUGINS.lock as a value.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, PluginId, SurfaceDigest, TreeDigest};

use super::check::{LockCheck, LockDifference, SurfaceNotice};
use super::entry::LockEntry;
use super::error::LockError;
use crate::exclude::Excludes;

/// The most bytes of a PLUGINS.lock.
pub const LOCK_BYTES: usize = 4 << 20;
/// The most entries of a PLUGINS.lock.
pub const LOCK_ENTRIES: usize = 10_000;

/// A PLUGINS.lock: which trees a team has agreed to.
///
/// It is an integrity check and no signature. It narrows what may load and never grants: a file from a repository
/// does not make a plugin load that was not agreed to on this machine.
///
/// # Guarantees
/// Every entry holds: its paths are relative, and it has at least one tree digest.
///
/// # Source
/// ADR-0011; codewizard's lock has no version, no metadata and no way to write it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockFile {
    entries: BTreeMap<PluginId, LockEntry>,
}

/// What is known of a plugin that is there, to be held against the lock.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must be answered by every host")]
pub struct LockFacts<'a> {
    /// Its id.
    pub id: &'a PluginId,
    /// Its folder, relative to the lock file's, with `/`; `.` where it is that folder.
    pub path: &'a str,
    /// Its tree digest, taken with what the lock's entry excludes ([`LockFile::exclude_of`]).
    pub tree: &'a TreeDigest,
    /// SHA-256 of its main manifest file, if its dialect has one.
    pub manifest: Option<&'a Digest>,
    /// SHA-256 of the marketplace entry that was merged in, if one was.
    pub entry: Option<&'a Digest>,
    /// The digests of the folders outside that it imports.
    pub shared: &'a BTreeMap<String, TreeDigest>,
}

impl LockFile {
    /// Gives a file without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: BTreeMap::new() }
    }

    /// Puts an entry in, in place of the one with that id.
    ///
    /// # Errors
    /// `lock/malformed` where the entry would not be read back: a path that is absolute or goes up, no tree digest,
    /// an address with credentials, a control character, or an entry above [`LOCK_ENTRIES`].
    pub fn insert(&mut self, id: PluginId, entry: LockEntry) -> Result<Option<LockEntry>, LockError> {
        if let Some((key, expected)) = entry.fault() {
            return Err(LockError::new(format!("`{key}`: {expected}")).of_plugin(id.as_str()));
        }
        if self.entries.len() >= LOCK_ENTRIES && !self.entries.contains_key(&id) {
            return Err(LockError::new(format!("at most {LOCK_ENTRIES} entries")));
        }
        Ok(self.entries.insert(id, entry))
    }

    /// Takes an entry out.
    pub fn remove(&mut self, id: &PluginId) -> Option<LockEntry> {
        self.entries.remove(id)
    }

    /// Gives the entry of a plugin.
    #[must_use]
    pub fn get(&self, id: &PluginId) -> Option<&LockEntry> {
        self.entries.get(id)
    }

    /// Gives all entries, sorted by id.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&PluginId, &LockEntry)> {
        self.entries.iter()
    }

    /// Gives what to exclude when the tree of a plugin is digested for this lock; nothing where it has no entry.
    #[must_use]
    pub fn exclude_of(&self, id: &PluginId) -> Excludes {
        self.entries.get(id).map(|entry| entry.exclude.clone()).unwrap_or_default()
    }

    /// Holds what is known of a plugin against its entry.
    pub fn check(&self, facts: &LockFacts<'_>) -> LockCheck {
        let Some(entry) = self.entries.get(facts.id) else {
            return LockCheck::Unlisted;
        };
        if !entry.tree.contains(facts.tree) {
            let expected = entry.tree.iter().copied().collect();
            return LockCheck::Mismatch(LockDifference::Tree { expected, actual: *facts.tree });
        }
        if entry.path != facts.path {
            let (expected, actual) = (entry.path.clone(), facts.path.to_owned());
            return LockCheck::Mismatch(LockDifference::Path { expected, actual });
        }
        let names: BTreeSet<&String> = entry.shared.keys().chain(facts.shared.keys()).collect();
        for name in names {
            let (expected, actual) = (entry.shared.get(name).copied(), facts.shared.get(name).copied());
            if expected != actual {
                return LockCheck::Mismatch(LockDifference::Shared { name: name.clone(), expected, actual });
            }
        }
        if entry.entry.as_ref() != facts.entry {
            let (expected, actual) = (entry.entry, facts.entry.copied());
            return LockCheck::Mismatch(LockDifference::Entry { expected, actual });
        }
        // The tree covers the manifest: equal trees with different manifests mean that the file was put together.
        if entry.manifest.as_ref() != facts.manifest && entry.manifest.is_some() {
            return LockCheck::Inconsistent { expected: entry.manifest, actual: facts.manifest.copied() };
        }
        LockCheck::Match
    }

    /// Compares what a plugin can run with what its entry explains; `None` where they agree, where it has no entry,
    /// and where the entry explains nothing. A difference is a notice: a newer plugward may see more in the same
    /// tree.
    #[must_use]
    pub fn surface_notice(
        &self,
        id: &PluginId,
        surface: &SurfaceDigest,
        launchers: &BTreeSet<String>,
    ) -> Option<SurfaceNotice> {
        let entry = self.entries.get(id)?;
        let explained = entry.surface.as_ref()?;
        let added: Vec<_> = launchers.difference(&entry.launchers).cloned().collect();
        let removed: Vec<_> = entry.launchers.difference(launchers).cloned().collect();
        let same = explained == surface && added.is_empty() && removed.is_empty();
        (!same).then_some(SurfaceNotice { added, removed })
    }

    /// Gives the entries that no plugin was found for: each is a [`LockCheck::Missing`].
    #[must_use]
    pub fn unvisited(&self, seen: &BTreeSet<PluginId>) -> Vec<PluginId> {
        self.entries.keys().filter(|id| !seen.contains(id)).cloned().collect()
    }
}
