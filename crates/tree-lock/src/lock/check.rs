//! What the lock says of one plugin, and what follows from it.

use core::fmt;

use plugward_types::{Digest, TreeDigest};

use crate::escape::escape;

/// What a lock file says of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Match` is a match"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum LockCheck {
    /// There is no lock file.
    NoFile,
    /// The entry names this tree at this path.
    Match,
    /// The entry names another.
    Mismatch(LockDifference),
    /// The plugin is there and has no entry.
    Unlisted,
    /// The entry is there and has no folder, or no manifest in it.
    Missing,
    /// The entry's manifest differs while its tree is equal.
    Inconsistent {
        /// What the entry says.
        expected: Option<Digest>,
        /// What is there.
        actual: Option<Digest>,
    },
}

/// In what a plugin differs from its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new difference must be shown by every host")]
pub enum LockDifference {
    /// The tree.
    Tree {
        /// Any of these.
        expected: Vec<TreeDigest>,
        /// What is there.
        actual: TreeDigest,
    },
    /// The folder.
    Path {
        /// The entry's.
        expected: String,
        /// Where the plugin was found.
        actual: String,
    },
    /// The marketplace entry that is merged into it.
    Entry {
        /// The lock's digest of it; `None` where the lock knows of none.
        expected: Option<Digest>,
        /// What is there; `None` where none is merged in.
        actual: Option<Digest>,
    },
    /// A folder outside that it imports.
    Shared {
        /// Its relative name.
        name: String,
        /// The entry's digest of it; `None` where the entry does not name it.
        expected: Option<TreeDigest>,
        /// What is there; `None` where the plugin does not import it.
        actual: Option<TreeDigest>,
    },
}

/// What the lock stands for in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a third meaning must stop every host from building")]
pub enum LockRule {
    /// Trust modes `tofu` and `prompt`: it narrows and never grants.
    Narrows,
    /// Trust mode `locked`: the caller has chosen it as anchor.
    Anchors,
}

/// What follows from the lock for one plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a refusal must not load"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum LockOutcome {
    /// The lock has nothing against it; the pin gate decides as always.
    GoOn,
    /// The lock counts as the pin, and none is written. A pin that differs still refuses.
    CountsAsPin,
    /// Refused unless a pin of this machine equals the tree.
    NeedsPin(&'static str),
    /// Refused, with this code.
    Refuse(&'static str),
}

impl LockCheck {
    /// Gives the stable code; `None` for a match.
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

    /// Says what follows, by the table of the format.
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

    /// Says what to do next; empty for a match.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Match => "",
            Self::NoFile => "write one with `plugward lock DIR` on a machine where the plugins are trusted",
            Self::Mismatch(_) => {
                "if the change is meant: plugward lock DIR prints it and writes the lock anew"
            }
            Self::Unlisted => "add it with `plugward lock DIR`, or remove the plugin",
            Self::Missing => "bring the plugin back, or take its entry out with `plugward lock DIR`",
            Self::Inconsistent { .. } => {
                "the entry was put together by hand: write it anew with `plugward lock DIR`"
            }
        }
    }
}

impl fmt::Display for LockCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("there is no lock file"),
            Self::Match => f.write_str("the lock names this tree"),
            Self::Mismatch(difference) => difference.fmt(f),
            Self::Unlisted => f.write_str("the lock does not name this plugin"),
            Self::Missing => f.write_str("the lock names a plugin that is not there"),
            Self::Inconsistent { expected, actual } => {
                write!(
                    f,
                    "the tree is the lock's, and the manifest is not: {}",
                    Pair(expected.as_ref(), actual.as_ref())
                )
            }
        }
    }
}

impl fmt::Display for LockDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree { expected, actual } => {
                f.write_str("the lock names ")?;
                for (index, digest) in expected.iter().enumerate() {
                    write!(f, "{}{digest}", if index > 0 { " or " } else { "" })?;
                }
                write!(f, ", and the tree is {actual}")
            }
            Self::Path { expected, actual } => {
                let (expected, actual) = (escape(expected.as_bytes()), escape(actual.as_bytes()));
                write!(f, "the lock has it at {expected}, and it is at {actual}")
            }
            Self::Entry { expected, actual } => {
                write!(f, "marketplace entry: {}", Pair(expected.as_ref(), actual.as_ref()))
            }
            Self::Shared { name, expected, actual } => {
                write!(
                    f,
                    "shared folder {}: {}",
                    escape(name.as_bytes()),
                    Pair(expected.as_ref(), actual.as_ref())
                )
            }
        }
    }
}

/// Shows what was expected and what is there; either may be absent.
struct Pair<'a, T>(Option<&'a T>, Option<&'a T>);

impl<T: fmt::Display> fmt::Display for Pair<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(expected) => write!(f, "the lock names {expected}, ")?,
            None => f.write_str("the lock names none, ")?,
        }
        match self.1 {
            Some(actual) => write!(f, "and it is {actual}"),
            None => f.write_str("and there is none"),
        }
    }
}

/// What a plugin would run differs from what its lock entry explains. The tree decides; this only shows in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurfaceNotice {
    /// Launchers that are there and not in the entry.
    pub added: Vec<String>,
    /// Launchers that are in the entry and not there.
    pub removed: Vec<String>,
}

impl SurfaceNotice {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/surface-new"
    }

    /// Says what to do next.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "look at what it runs with `plugward info ID`, then write the lock anew with `plugward lock DIR`"
    }
}

impl fmt::Display for SurfaceNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what it can run is not what the lock entry explains")?;
        for (sign, names) in [('+', &self.added), ('-', &self.removed)] {
            for name in names {
                write!(f, ", {sign}{}", escape(name.as_bytes()))?;
            }
        }
        Ok(())
    }
}
