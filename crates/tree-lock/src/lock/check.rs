//! The result of comparing a plugin with a lockfile.

use core::fmt;

use std::collections::BTreeSet;

use plugward_types::{Digest, TreeDigest, escape};

/// The result of comparing one plugin with a lockfile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Match` is a match"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum LockCheck {
    /// There is no lockfile.
    NoFile,
    /// The plugin matches its entry.
    Match,
    /// The plugin differs from its entry.
    Mismatch(LockDifference),
    /// The plugin has no entry.
    Unlisted,
    /// The entry has no plugin: the directory does not exist, or has no manifest.
    Missing,
    /// The tree matches, but a manifest does not.
    Inconsistent {
        /// The dialect of the manifest.
        dialect: String,
        /// The digest in the entry.
        expected: Digest,
        /// The digest of the file.
        actual: Digest,
    },
}

/// A difference between a plugin and its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new difference must be shown by every host")]
pub enum LockDifference {
    /// The trees differ.
    Tree {
        /// The accepted trees.
        expected: Vec<TreeDigest>,
        /// The plugin's tree.
        actual: TreeDigest,
    },
    /// The marketplace entries that are merged into the manifest differ.
    Entry {
        /// The digest in the lockfile, if it has one.
        expected: Option<Digest>,
        /// The digest of the merged entry, if there is one.
        actual: Option<Digest>,
    },
    /// The trees of an imported directory outside the plugin differ.
    Shared {
        /// The relative path of the directory.
        name: String,
        /// The digest in the lockfile, if it lists the directory.
        expected: Option<TreeDigest>,
        /// The digest of the directory, if the plugin imports it.
        actual: Option<TreeDigest>,
    },
    /// The files outside the plugin that can run differ.
    Closure {
        /// The digest in the lockfile, if it has one.
        expected: Option<TreeDigest>,
        /// The digest of the files, if there are any.
        actual: Option<TreeDigest>,
    },
    /// The lockfile does not list a command whose text does not determine what runs.
    Unresolved {
        /// The digests of these commands.
        unlisted: BTreeSet<Digest>,
    },
}

/// The role of the lockfile in a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a third meaning must stop every host from building")]
pub enum LockRule {
    /// Trust modes `tofu` and `prompt`: it narrows and never grants.
    Narrows,
    /// Trust mode `locked`: the caller has chosen it as the anchor.
    Anchors,
}

/// The consequence of a [`LockCheck`] for one plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a refusal must not load"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum LockOutcome {
    /// The lockfile does not object. The pin decides.
    GoOn,
    /// The lockfile counts as the pin, and no pin is written. An existing pin that differs still refuses.
    CountsAsPin,
    /// Refused with this code, unless a pin of this machine has the same tree.
    NeedsPin(&'static str),
    /// Refused with this code.
    Refuse(&'static str),
}

impl LockCheck {
    /// Returns the stable code; `None` for a match.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Match => None,
            Self::NoFile | Self::Missing => Some("lock/missing"),
            Self::Mismatch(_) => Some("lock/mismatch"),
            Self::Unlisted => Some("lock/unlisted"),
            Self::Inconsistent { .. } => Some("lock/malformed"),
        }
    }

    /// Returns the consequence under a rule.
    pub const fn outcome(&self, rule: LockRule) -> LockOutcome {
        match (self, rule) {
            (Self::NoFile | Self::Match, LockRule::Narrows) => LockOutcome::GoOn,
            (Self::NoFile, LockRule::Anchors) => LockOutcome::NeedsPin("lock/missing"),
            (Self::Match, LockRule::Anchors) => LockOutcome::CountsAsPin,
            (Self::Mismatch(_), _) => LockOutcome::Refuse("lock/mismatch"),
            (Self::Unlisted, _) => LockOutcome::Refuse("lock/unlisted"),
            (Self::Missing, _) => LockOutcome::Refuse("lock/missing"),
            (Self::Inconsistent { .. }, _) => LockOutcome::Refuse("lock/malformed"),
        }
    }

    /// Returns the next step for the user; empty for a match.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Match => "",
            Self::NoFile => "create one with `plugward lock DIR` on a machine where the plugins are trusted",
            Self::Mismatch(_) => "if the change is intended, review and accept it with `plugward lock DIR`",
            Self::Unlisted => "add the plugin with `plugward lock DIR`, or remove it",
            Self::Missing => "restore the plugin, or remove its entry with `plugward lock DIR`",
            Self::Inconsistent { .. } => {
                "the entry was edited by hand: write it again with `plugward lock DIR`"
            }
        }
    }
}

impl fmt::Display for LockCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("there is no lockfile"),
            Self::Match => f.write_str("matches the lockfile"),
            Self::Mismatch(difference) => difference.fmt(f),
            Self::Unlisted => f.write_str("the lockfile has no entry for this plugin"),
            Self::Missing => f.write_str("the lockfile has an entry for a plugin that does not exist"),
            Self::Inconsistent { dialect, expected, actual } => {
                write!(
                    f,
                    "the tree matches the lockfile, but the {} manifest does not: expected {expected}, found {actual}",
                    escape::name(dialect.as_bytes())
                )
            }
        }
    }
}

impl fmt::Display for LockDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree { expected, actual } => {
                f.write_str("expected tree ")?;
                for (index, digest) in expected.iter().enumerate() {
                    write!(f, "{}{digest}", if index > 0 { " or " } else { "" })?;
                }
                write!(f, ", found {actual}")
            }
            Self::Entry { expected, actual } => {
                write!(f, "marketplace entry: {}", Pair(expected.as_ref(), actual.as_ref()))
            }
            Self::Closure { expected, actual } => {
                write!(f, "files outside the plugin: {}", Pair(expected.as_ref(), actual.as_ref()))
            }
            Self::Unresolved { unlisted } => {
                f.write_str("the lockfile does not list a command whose text does not determine what runs")?;
                unlisted.iter().try_for_each(|digest| write!(f, ", found {digest}"))
            }
            Self::Shared { name, expected, actual } => {
                write!(
                    f,
                    "shared directory {}: {}",
                    escape::name(name.as_bytes()),
                    Pair(expected.as_ref(), actual.as_ref())
                )
            }
        }
    }
}

/// Displays an expected and an actual value, of which either can be absent.
struct Pair<'a, T>(Option<&'a T>, Option<&'a T>);

impl<T: fmt::Display> fmt::Display for Pair<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(expected) => write!(f, "expected {expected}, ")?,
            None => f.write_str("expected none, ")?,
        }
        match self.1 {
            Some(actual) => write!(f, "found {actual}"),
            None => f.write_str("found none"),
        }
    }
}

/// A difference between the execution surface of a plugin and the one in its entry.
///
/// It is shown in reports and never refuses: the tree digest covers everything that the surface is computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurfaceWarning {
    /// The launchers that are not in the entry.
    pub added: Vec<String>,
    /// The launchers that are only in the entry.
    pub removed: Vec<String>,
}

impl SurfaceWarning {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/surface-new"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "review what it runs with `plugward info ID`, then write the lockfile again with `plugward lock DIR`"
    }
}

impl fmt::Display for SurfaceWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the execution surface differs from the lockfile")?;
        for (sign, names) in [('+', &self.added), ('-', &self.removed)] {
            for name in names {
                write!(f, ", {sign}{}", escape::name(name.as_bytes()))?;
            }
        }
        Ok(())
    }
}
