//! The guarantees of an open, and answers about the jail's directory.

/// The guarantee for the opens of a jail. It is determined once, when the jail is opened.
// ADR-0011: in the jail at construction, `O_NOFOLLOW` as the second line at `open()`.
#[expect(
    clippy::exhaustive_enums,
    reason = "a new tier must stop every host that compares tiers from building"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "compare it with the required guarantee, or call `Jail::require`"]
pub enum Guarantee {
    /// Tier K: one kernel lookup from the jail's handle (Linux 5.6 and later, if `openat2` works).
    AtOpenKernel,
    /// Tier W: one open per component (other Linux systems and other Unix systems).
    AtOpenWalk,
}

impl Guarantee {
    const fn rank(self) -> u8 {
        match self {
            Self::AtOpenKernel => 1,
            Self::AtOpenWalk => 0,
        }
    }

    /// Returns `true` if this guarantee includes `other`.
    #[must_use]
    pub const fn at_least(self, other: Self) -> bool {
        self.rank() >= other.rank()
    }

    /// Returns the guarantee as text, for documents and reports.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::AtOpenKernel => {
                "At open: one kernel lookup from the jail's directory; no symlink, magic link or `..` was crossed, the \
                file was inside the directory at some instant of that lookup, and it is the object that `create` found."
            }
            Self::AtOpenWalk => {
                "At open: no component was reached through a symlink; a directory moved out of the jail during the \
                open is detected if it is still outside at the check afterwards."
            }
        }
    }
}

/// The meaning of an error: a refusal, a missing file, or a failure.
#[expect(clippy::exhaustive_enums, reason = "a fourth answer must stop every host from building")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a refusal, a missing file and a failure require different reactions"]
pub enum ErrorClass {
    /// The path was checked and refused.
    Refused,
    /// The path was looked up and does not exist.
    NotFound,
    /// The path could not be checked.
    Failed,
}

/// The jail's directory compared with the path by which it was opened.
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a jail whose directory was moved continues to use that directory"]
pub enum JailPlace {
    /// The path leads to the jail's directory.
    Same,
    /// The path leads to another object or nowhere, and the directory still exists.
    Moved,
    /// The directory was removed.
    Gone,
}

/// Whether names that differ only in case are different names in the jail's directory.
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a denylist of names works only if case is distinct"]
pub enum CaseFolding {
    /// They are different names.
    Distinct,
    /// They are the same name.
    Folded,
    /// It could not be determined without writing.
    Unknown,
}
