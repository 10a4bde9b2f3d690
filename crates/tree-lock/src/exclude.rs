//! The few names that may be left out of a digest.

use core::fmt;
use std::collections::BTreeSet;

use thiserror::Error;

use crate::escape::escape;

/// The root-level names that may be excluded; no other, and no pattern.
pub const EXCLUDABLE: [&str; 6] = [".git", ".hg", ".jj", ".svn", "PLUGINS.lock", "PLUGINS.lock.minisig"];

/// A list of root-level names that a digest leaves out. It stands in the preimage.
///
/// # Guarantees
/// Holds names of [`EXCLUDABLE`] only, sorted bytewise, each once.
///
/// # Source
/// codewizard's digest skips caches silently, and so does not see planted bytecode; here nothing is left out unless
/// the digest says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excludes(BTreeSet<&'static str>);

impl Excludes {
    /// Returns the empty list.
    #[must_use]
    pub const fn none() -> Self {
        Self(BTreeSet::new())
    }

    /// Creates a list from names.
    ///
    /// # Errors
    /// `tree/exclude` for a name that is none of [`EXCLUDABLE`]: a path below the root, a pattern, another name.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ExcludeError> {
        let mut list = BTreeSet::new();
        for name in names {
            match EXCLUDABLE.iter().find(|known| **known == name) {
                Some(known) => list.insert(*known),
                None => return Err(ExcludeError { name: name.chars().take(100).collect() }),
            };
        }
        Ok(Self(list))
    }

    /// Returns the names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().copied()
    }

    /// Returns whether a root-level name is on the list.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Returns whether the name of an entry is on the list.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.0.iter().any(|known| known.as_bytes() == name)
    }

    /// Returns whether nothing is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is on both lists: what to read a folder with that has to be digested under each of them.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// Returns whether all that `other` leaves out is left out here too.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.0.is_superset(&other.0)
    }
}

impl fmt::Display for Excludes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// A name that may not be excluded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("exclude `{}`: not one of the names that may be left out", escape(.name.as_bytes()))]
pub struct ExcludeError {
    name: String,
}

impl ExcludeError {
    /// Returns the name, cut to 100 characters; escape it before you print it.
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
