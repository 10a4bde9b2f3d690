//! What is claimed of an open, and at which moment.

/// What the opens of a jail are worth, chosen once when the jail is opened.
///
/// # Source
/// ADR-0011: in the jail at construction, `O_NOFOLLOW` as the second line at `open()`.
#[expect(
    clippy::exhaustive_enums,
    reason = "a new tier must stop every host that compares tiers from building"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "compare it with what the host needs, or call `Jail::require`"]
pub enum Guarantee {
    /// Tier K: one kernel lookup from the pinned jail (Linux 5.6 and later, where `openat2` answers).
    AtOpenKernel,
    /// Tier W: a walk of one open per component (other Linux, other Unix).
    AtOpenWalk,
    /// Tier S: checked at construction, then a handle-relative walk of another library (Windows).
    AtConstruction,
}

impl Guarantee {
    const fn rank(self) -> u8 {
        match self {
            Self::AtOpenKernel => 2,
            Self::AtOpenWalk => 1,
            Self::AtConstruction => 0,
        }
    }

    /// Tells whether this tier claims all that `other` claims.
    #[must_use]
    pub const fn at_least(self, other: Self) -> bool {
        self.rank() >= other.rank()
    }

    /// Gives the sentence that documents and reports use, and no stronger one.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::AtOpenKernel => {
                "At open: one kernel lookup from the pinned folder; no link, magic link or `..` was crossed, the file \
                 was below the folder at some instant of that lookup, and it is the object that `create` saw."
            }
            Self::AtOpenWalk => {
                "At open: no component was reached through a link; a folder carried out of the jail during the open \
                 is noticed if it is still outside when we look afterwards."
            }
            Self::AtConstruction => {
                "At construction: in the jail, then a handle-relative walk; names, streams and reparse points are \
                 refused. Not run by us, not measured."
            }
        }
    }
}

/// Which of the three things a refusal or error means; none of them is a yes.
#[expect(clippy::exhaustive_enums, reason = "a fourth answer must stop every host from building")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a refusal, an absence and a failure call for different reactions"]
pub enum Answer {
    /// We looked, and the answer is no.
    Refused,
    /// We looked, and there is nothing of that name.
    NotThere,
    /// We could not tell.
    CouldNotTell,
}

/// Where the folder of a jail is compared with the path it was opened by.
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a jail that moved goes on working in the old folder"]
pub enum JailPlace {
    /// The path leads to the folder that the jail holds.
    Same,
    /// The path leads elsewhere or nowhere, and the folder still exists.
    Moved,
    /// The folder was removed.
    Gone,
}

/// Whether two spellings of a name, different in case, are two names in the jail's folder.
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a list of forbidden names holds only where case is distinct"]
pub enum CaseFolding {
    /// They are two names.
    Distinct,
    /// They are one name.
    Folded,
    /// It could not be told without writing.
    Unknown,
}
