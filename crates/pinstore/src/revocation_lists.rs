//! The last revocation list of each source that could be read.

use core::fmt;
use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{LastGood, Owner, Recovered, StateError, StateFile, make_folder};

use crate::error::FormatError;
use crate::hash::sha256;
use crate::revocations::Revocations;

const CAP: u64 = 8 << 20;

/// The kept lists, below the user's state folder.
///
/// # Guarantees
/// A list that is damaged, withheld or older takes no revocation back.
///
/// # Source
/// Pinstore page, 2.8.
#[derive(Debug)]
pub struct RevocationLists {
    dir: Dir,
    owner: Owner,
    wait: Duration,
}

/// Which list of a source holds.
#[derive(Debug, Clone)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Settled {
    /// The one that was offered.
    Fresh {
        /// The list.
        list: Revocations,
        /// Why it could not be kept for the next time, where it could not.
        not_kept: Option<StateError>,
    },
    /// The one from before: notice `revocation/kept`.
    Kept {
        /// The list.
        list: Revocations,
        /// Why not the offered one.
        why: KeptWhy,
    },
    /// None was ever read: notice `revocation/none`.
    None {
        /// Why not the offered one.
        why: KeptWhy,
    },
}

impl Settled {
    /// Gives the list that holds.
    #[must_use]
    pub const fn list(&self) -> Option<&Revocations> {
        match self {
            Self::Fresh { list, .. } | Self::Kept { list, .. } => Some(list),
            Self::None { .. } => None,
        }
    }

    /// Gives the stable code of the notice that goes with the answer.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Fresh { .. } => None,
            Self::Kept { .. } => Some("revocation/kept"),
            Self::None { .. } => Some("revocation/none"),
        }
    }
}

/// Why an offered list was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptWhy {
    /// None was offered: its source could not be read.
    Unreachable,
    /// It is no list.
    Damaged(FormatError),
    /// It is older than the one that is kept.
    Older {
        /// Its number.
        offered: u64,
        /// The number of the kept one.
        kept: u64,
    },
}

impl fmt::Display for KeptWhy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("its source could not be read"),
            Self::Damaged(error) => write!(f, "it is damaged ({error})"),
            Self::Older { offered, kept } => write!(f, "it has serial {offered}, after {kept}"),
        }
    }
}

impl RevocationLists {
    /// Opens the folder, and makes it for us alone where it is missing.
    ///
    /// # Errors
    /// Those of [`make_folder`].
    pub fn open(state_folder: &Dir, owner: Owner, wait: Duration) -> Result<Self, StateError> {
        Ok(Self { dir: make_folder(state_folder, "revocations")?, owner, wait })
    }

    /// Settles which list of a source holds, and keeps it.
    ///
    /// # Errors
    /// Those of reading a state file where the kept list is there and cannot be used, and the offered one cannot
    /// either: then nobody knows what was revoked.
    pub fn settle(&self, source: &str, offered: Option<&[u8]>) -> Result<Settled, StateError> {
        let mut name = sha256(source.as_bytes()).hex();
        name.truncate(16);
        let file = StateFile::at(&self.dir, &format!("{name}.toml"), CAP, self.owner, LastGood::Yes)?;
        let offered = match offered {
            None => Err(KeptWhy::Unreachable),
            Some(bytes) => Revocations::parse(bytes).map(|list| (list, bytes)).map_err(KeptWhy::Damaged),
        };
        let kept = match file.recover(&|bytes| Revocations::parse(bytes).is_ok()) {
            Ok(Recovered::Absent) => None,
            Ok(Recovered::Main(content) | Recovered::LastGood { content, .. }) => Some(content.into_bytes()),
            // A good new list is better than none; without one, this is a failure.
            Err(_damaged) if offered.is_ok() => None,
            Err(error) => return Err(error),
        };
        let old = kept.as_deref().and_then(|bytes| Revocations::parse(bytes).ok());
        match (offered, old) {
            (Ok((list, _)), Some(old)) if list.serial() < old.serial() => {
                let why = KeptWhy::Older { offered: list.serial(), kept: old.serial() };
                Ok(Settled::Kept { list: old, why })
            }
            (Ok((list, bytes)), _) => {
                let same = kept.as_deref() == Some(bytes);
                let not_kept = if same { None } else { self.keep(&file, &list, bytes).err() };
                Ok(Settled::Fresh { list, not_kept })
            }
            (Err(why), Some(list)) => Ok(Settled::Kept { list, why }),
            (Err(why), None) => Ok(Settled::None { why }),
        }
    }

    /// Keeps a list, unless another process has kept a newer one meanwhile.
    fn keep(&self, file: &StateFile, list: &Revocations, bytes: &[u8]) -> Result<(), StateError> {
        let hold = file.hold(self.wait)?;
        let there = hold.read().ok().flatten();
        let newer = there
            .and_then(|content| Revocations::parse(content.bytes()).ok())
            .is_some_and(|there| there.serial() > list.serial());
        if newer { Ok(()) } else { hold.replace(bytes) }
    }
}
