//! PLUGINS.lock as a value.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, SurfaceDigest, TreeDigest};

use super::check::{LockCheck, LockDifference, SurfaceWarning};
use super::entry::LockEntry;
use super::error::LockError;
use crate::tree::exclude::Excludes;

/// The largest PLUGINS.lock that is read, in bytes.
pub const LOCK_BYTES: usize = 4 << 20;
/// The largest number of entries in a PLUGINS.lock.
pub const LOCK_ENTRIES: usize = 10_000;
/// The version of a file without keys of version 3.
const VERSION: u64 = 2;

/// A PLUGINS.lock: the trees that a team has accepted, by directory.
///
/// The key of an entry is the plugin directory's path relative to the lockfile, with `/`. The lockfile's own directory
/// is `.`. Nothing that a plugin says about itself is part of the key.
///
/// A lockfile is an integrity check, not a signature. It narrows which plugins load and never grants: a file from a
/// repository does not make a plugin load that was not accepted on this machine.
///
/// # Guarantees
/// Every entry is valid: its paths are relative, and it has at least one tree digest. Two files are equal if their
/// entries are equal, whatever version they were read from.
///
/// # Examples
/// ```
/// use plugward_tree_lock::{LockEntry, LockFile};
/// use plugward_types::TreeDigest;
///
/// let mut lock = LockFile::new();
/// lock.insert("plugins/hookify", LockEntry::new(TreeDigest::from_bytes([7; 32])))?;
/// assert!(lock.render().contains("[plugin.\"plugins/hookify\"]"));
/// assert_eq!(LockFile::parse(lock.render().as_bytes())?, lock);
/// # Ok::<(), plugward_tree_lock::LockError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LockFile {
    entries: BTreeMap<String, LockEntry>,
    version: u64,
}

impl PartialEq for LockFile {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for LockFile {}

impl Default for LockFile {
    fn default() -> Self {
        Self::new()
    }
}

/// The facts about an existing plugin that a lockfile is compared with.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must be answered by every host")]
pub struct LockFacts<'a> {
    /// The plugin directory, relative to the lockfile's, with `/`; `.` for the lockfile's own directory.
    pub path: &'a str,
    /// The tree digest, taken without the names that the entry excludes ([`LockFile::exclude_of`]).
    pub tree: &'a TreeDigest,
    /// SHA-256 of the main manifest file, by dialect.
    pub manifest: &'a BTreeMap<String, Digest>,
    /// SHA-256 of the marketplace entry that was merged in, if any.
    pub entry: Option<&'a Digest>,
    /// The tree digests of the directories outside the plugin that it imports.
    pub shared: &'a BTreeMap<String, TreeDigest>,
    /// The digest of the files outside the plugin that can run, if there are any.
    pub closure: Option<&'a TreeDigest>,
    /// SHA-256 of each command whose text does not determine what runs.
    pub unresolved: &'a BTreeSet<Digest>,
}

impl LockFile {
    /// Creates a file without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_version(VERSION)
    }

    pub(super) const fn of_version(version: u64) -> Self {
        Self { entries: BTreeMap::new(), version }
    }

    /// Returns the version of the bytes that were parsed, 1 to 3; 2 for a file that was not parsed.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Inserts the entry of a directory, and replaces the one that it had.
    ///
    /// # Errors
    /// `lock/malformed` if the entry could not be read back: an absolute path, a path with `..`, no tree digest, an
    /// address with credentials, a control character, or more than [`LOCK_ENTRIES`] entries.
    pub fn insert(&mut self, path: &str, entry: LockEntry) -> Result<(), LockError> {
        if let Some(fault) = entry.fault(path) {
            return Err(LockError::of_fault(fault).of_plugin(path));
        }
        if self.entries.len() >= LOCK_ENTRIES && !self.entries.contains_key(path) {
            return Err(LockError::new(format!("at most {LOCK_ENTRIES} entries")));
        }
        self.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    /// Removes the entry of a directory, and returns it.
    pub fn remove(&mut self, path: &str) -> Option<LockEntry> {
        self.entries.remove(path)
    }

    /// Returns the entry of a directory.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&LockEntry> {
        self.entries.get(path)
    }

    /// Returns all entries, sorted by the bytes of their paths.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &LockEntry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// Returns the names to exclude when the tree of a directory is digested for this file.
    ///
    /// The list is empty if the directory has no entry.
    #[must_use]
    pub fn exclude_of(&self, path: &str) -> Excludes {
        self.entries.get(path).map(|entry| entry.exclude.clone()).unwrap_or_default()
    }

    /// Compares a plugin with its entry.
    pub fn check(&self, facts: &LockFacts<'_>) -> LockCheck {
        let Some(entry) = self.entries.get(facts.path) else {
            return LockCheck::Unlisted;
        };
        if !entry.tree.contains(facts.tree) {
            let expected = entry.tree.iter().copied().collect();
            return LockCheck::Mismatch(LockDifference::Tree { expected, actual: *facts.tree });
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
        // A file of version 2 lists no closure, so it does not cover a plugin that has one.
        if entry.closure.as_ref() != facts.closure {
            let (expected, actual) = (entry.closure, facts.closure.copied());
            return LockCheck::Mismatch(LockDifference::Closure { expected, actual });
        }
        // The tree covers the manifests. An equal tree with another manifest means that the entry was not written by
        // plugward. A dialect that only one side has is not a contradiction: a caller may read fewer dialects.
        for (dialect, expected) in &entry.manifest {
            if let Some(actual) = facts.manifest.get(dialect).filter(|actual| *actual != expected) {
                let dialect = dialect.clone();
                return LockCheck::Inconsistent { dialect, expected: *expected, actual: *actual };
            }
        }
        let unlisted: BTreeSet<Digest> = facts.unresolved.difference(&entry.unresolved).copied().collect();
        if !unlisted.is_empty() {
            return LockCheck::Mismatch(LockDifference::Unresolved { unlisted });
        }
        LockCheck::Match
    }

    /// Compares the execution surface of a plugin with the one that its entry records.
    ///
    /// Returns `None` if they are equal, and if the directory has no entry or the entry records no surface. A
    /// difference is only a notice, because a newer plugward may find more in the same tree.
    #[must_use]
    pub fn surface_warning(
        &self,
        path: &str,
        surface: &SurfaceDigest,
        launchers: &BTreeSet<String>,
    ) -> Option<SurfaceWarning> {
        let entry = self.entries.get(path)?;
        let recorded = entry.surface.as_ref()?;
        let added: Vec<_> = launchers.difference(&entry.launchers).cloned().collect();
        let removed: Vec<_> = entry.launchers.difference(launchers).cloned().collect();
        let is_same = recorded == surface && added.is_empty() && removed.is_empty();
        (!is_same).then_some(SurfaceWarning { added, removed })
    }

    /// Returns the paths of the entries without a plugin. Each is a [`LockCheck::Missing`].
    #[must_use]
    pub fn unvisited(&self, seen: &BTreeSet<String>) -> Vec<String> {
        self.entries.keys().filter(|path| !seen.contains(*path)).cloned().collect()
    }
}
