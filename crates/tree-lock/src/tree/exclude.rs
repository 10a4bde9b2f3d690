//! The names that a digest can leave out.

use core::fmt;
use std::collections::BTreeSet;

use plugward_types::escape;
use thiserror::Error;

/// The names of the files that Claude Code writes into the root of a cached plugin.
pub const HOST_FILES: [&str; 2] = [".in_use", ".orphaned_at"];

/// The only names that can be excluded, at the root of the tree. Patterns are not supported.
pub const EXCLUDABLE: [&str; 6] = [".git", ".hg", ".jj", ".svn", "PLUGINS.lock", "PLUGINS.lock.minisig"];

/// A list of root-level names that a digest leaves out. The list is part of the preimage.
///
/// A digest that skips caches silently does not detect planted bytecode. Here the digest states everything that it
/// leaves out.
///
/// # Guarantees
/// Contains only names of [`EXCLUDABLE`], sorted by their bytes, each once.
/// # Examples
/// ```
/// use plugward_tree_lock::Excludes;
///
/// let excludes = Excludes::new([".git", "PLUGINS.lock"])?;
/// assert!(excludes.contains(".git"));
/// // A digest that leaves out caches would not detect bytecode that was planted in them.
/// assert!(Excludes::new(["__pycache__"]).is_err());
/// # Ok::<(), plugward_tree_lock::ExcludeError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excludes {
    names: BTreeSet<&'static str>,
    /// The files of [`HOST_FILES`] are not read. The preimage does not name them: they come and go while a host runs.
    host_files: bool,
}

impl Excludes {
    /// Returns the empty list.
    #[must_use]
    pub const fn none() -> Self {
        Self { names: BTreeSet::new(), host_files: false }
    }

    /// Returns the list for reading a directory in a host's cache: it also leaves out [`HOST_FILES`], which are in no
    /// preimage.
    ///
    /// The caller verifies that these names contain only what the host writes.
    #[must_use]
    pub fn with_host_files(&self) -> Self {
        Self { host_files: true, ..self.clone() }
    }

    /// Returns the list without the files of a host, as it is pinned and compared.
    pub(crate) fn without_host_files(&self) -> Self {
        Self { host_files: false, ..self.clone() }
    }

    /// Returns the names that are not read at the root.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &'static str> + '_ {
        let host_files = HOST_FILES.iter().copied().filter(|_| self.host_files);
        self.names.iter().copied().chain(host_files)
    }

    /// Creates a list from names.
    ///
    /// # Errors
    /// `tree/exclude` for anything that is not in [`EXCLUDABLE`]: a path below the root, a pattern, or another name.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ExcludeError> {
        let mut list = BTreeSet::new();
        for name in names {
            match EXCLUDABLE.iter().find(|known| **known == name) {
                Some(known) => list.insert(*known),
                None => return Err(ExcludeError { name: name.chars().take(100).collect() }),
            };
        }
        Ok(Self { names: list, host_files: false })
    }

    /// Returns the names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.names.iter().copied()
    }

    /// Returns `true` if a root-level name is on the list.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns `true` if the name of an entry is not read. The name need not be UTF-8.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.unread().any(|known| known.as_bytes() == name)
    }

    /// Returns `true` if nothing is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the names on both lists. A directory read with them can be digested under each of the two lists.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        let names = self.names.intersection(&other.names).copied().collect();
        Self { names, host_files: self.host_files && other.host_files }
    }

    /// Returns `true` if this list excludes every name that `other` excludes.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.names.is_superset(&other.names)
    }
}

impl fmt::Display for Excludes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.names.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// A name that cannot be excluded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot exclude `{}`", escape::name(.name.as_bytes()))]
pub struct ExcludeError {
    name: String,
}

impl ExcludeError {
    /// Returns the first 100 characters of the name. Escape it before you print it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "tree/exclude"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        format!("use only {}, without a path or pattern", EXCLUDABLE.join(", "))
    }
}
