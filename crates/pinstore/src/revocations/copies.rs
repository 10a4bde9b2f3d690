//! The stored copies of revocation lists.

use core::fmt;
use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{Backup, Owner, Recovered, StateError, StateFile, make_directory};

use crate::error::FormatError;
use crate::format::hash::sha256;
use crate::revocations::list::Revocations;

// The size limit of a list.
const CAP: u64 = 8 << 20;

/// The stored revocation lists, in the user's state directory.
///
/// # Guarantees
/// A damaged, withheld or older list never cancels a revocation.
#[derive(Debug)]
pub struct RevocationLists {
    dir: Dir,
    owner: Owner,
    wait: Duration,
}

/// The list of a source that is in effect.
#[derive(Debug, Clone)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum EffectiveList {
    /// The offered list.
    Fresh {
        /// The list.
        list: Revocations,
        /// The error if it could not be stored.
        not_kept: Option<StateError>,
    },
    /// The stored list: notice `revocation/kept`.
    Kept {
        /// The list.
        list: Revocations,
        /// The reason that the offered list is not used.
        why: ListFault,
    },
    /// No list was ever read: notice `revocation/none`.
    None {
        /// The reason that the offered list is not used.
        why: ListFault,
    },
}

impl EffectiveList {
    /// Returns the list that is in effect.
    #[must_use]
    pub const fn list(&self) -> Option<&Revocations> {
        match self {
            Self::Fresh { list, .. } | Self::Kept { list, .. } => Some(list),
            Self::None { .. } => None,
        }
    }

    /// Returns the stable code of the notice for this answer.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Fresh { .. } => None,
            Self::Kept { .. } => Some("revocation/kept"),
            Self::None { .. } => Some("revocation/none"),
        }
    }
}

/// The reason that an offered list is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListFault {
    /// The source could not be read.
    Unreachable,
    /// The list is invalid.
    Damaged(FormatError),
    /// The list is older than the stored one.
    Older {
        /// The number of the offered list.
        offered: u64,
        /// The number of the stored list.
        kept: u64,
    },
}

impl fmt::Display for ListFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("its source could not be read"),
            Self::Damaged(error) => write!(f, "it is damaged ({error})"),
            Self::Older { offered, kept } => write!(f, "it has serial {offered}, after {kept}"),
        }
    }
}

impl RevocationLists {
    /// Opens the directory, and creates it with owner-only permissions if it is missing.
    ///
    /// # Errors
    /// Those of [`make_directory`].
    pub fn open(state_directory: &Dir, owner: Owner, wait: Duration) -> Result<Self, StateError> {
        Ok(Self { dir: make_directory(state_directory, "revocations")?, owner, wait })
    }

    /// Determines which list of a source is in effect, and stores it.
    ///
    /// # Errors
    /// Those of reading a state file if neither the stored nor the offered list can be used, since the
    /// revocations are then unknown.
    pub fn settle(&self, source: &str, offered: Option<&[u8]>) -> Result<EffectiveList, StateError> {
        let mut name = sha256(source.as_bytes()).hex();
        name.truncate(16);
        let file = StateFile::at(&self.dir, &format!("{name}.toml"), CAP, self.owner, Backup::Keep)?;
        let offered = match offered {
            None => Err(ListFault::Unreachable),
            Some(bytes) => Revocations::parse(bytes).map(|list| (list, bytes)).map_err(ListFault::Damaged),
        };
        let kept = match file.recover(&|bytes| Revocations::parse(bytes).is_ok()) {
            Ok(Recovered::Absent) => None,
            Ok(Recovered::Main(content) | Recovered::Backup { content, .. }) => Some(content.into_bytes()),
            // A valid new list replaces a damaged one. Without a new list, this is an error.
            Err(_damaged) if offered.is_ok() => None,
            Err(error) => return Err(error),
        };
        let old = kept.as_deref().and_then(|bytes| Revocations::parse(bytes).ok());
        match (offered, old) {
            (Ok((list, _)), Some(old)) if list.serial() < old.serial() => {
                let why = ListFault::Older { offered: list.serial(), kept: old.serial() };
                Ok(EffectiveList::Kept { list: old, why })
            }
            (Ok((list, bytes)), _) => {
                let same = kept.as_deref() == Some(bytes);
                let not_kept = if same { None } else { self.keep(&file, &list, bytes).err() };
                Ok(EffectiveList::Fresh { list, not_kept })
            }
            (Err(why), Some(list)) => Ok(EffectiveList::Kept { list, why }),
            (Err(why), None) => Ok(EffectiveList::None { why }),
        }
    }

    /// Stores a list, unless another process stored a newer one meanwhile.
    fn keep(&self, file: &StateFile, list: &Revocations, bytes: &[u8]) -> Result<(), StateError> {
        let hold = file.lock(self.wait)?;
        let there = hold.read().ok().flatten();
        let newer = there
            .and_then(|content| Revocations::parse(content.bytes()).ok())
            .is_some_and(|there| there.serial() > list.serial());
        if newer { Ok(()) } else { hold.replace(bytes) }
    }
}
