//! A change between `create` and `open`, named.

use std::fmt;

use thiserror::Error;

use crate::meta::{FileId, FileKind};
use crate::rel::RelPath;

/// What changed between `create` and `open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RaceCause {
    /// There is a symbolic link where there was none, or one that leads to a name that the policy refuses.
    SymlinkAppeared,
    /// The name leads to another object.
    Replaced {
        /// What `create` saw.
        was: FileId,
        /// What is there.
        is: FileId,
    },
    /// The name leads to something that is no regular file, or a folder on the way became something else.
    KindChanged {
        /// What is there; [`FileKind::Other`] where it could not be seen any more.
        is: FileKind,
    },
    /// The name is gone, or the object has no name any more.
    Vanished,
    /// A folder on the way was carried out of the jail, or a mount appeared.
    LeftJail,
}

impl fmt::Display for RaceCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SymlinkAppeared => f.write_str("has a symbolic link where there was none"),
            Self::Replaced { .. } => f.write_str("leads to another file than before"),
            Self::KindChanged { is } => write!(f, "leads to {is} where a regular file was"),
            Self::Vanished => f.write_str("leads nowhere where a regular file was"),
            Self::LeftJail => f.write_str("leads out of the jail where it led to a file below it"),
        }
    }
}

/// A file that `create` saw is not what `open` met.
///
/// Somebody changed the folder in between: an attacker, an editor, an update. Which one it was cannot be seen here.
///
/// # Source
/// ADR-0011, the event that each consumer had to emit on `ELOOP`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("open {relative}: the path {cause}")]
pub struct FilesystemRaceDetected {
    relative: RelPath<'static>,
    cause: RaceCause,
    errno: Option<i32>,
}

impl FilesystemRaceDetected {
    pub(crate) const fn new(relative: RelPath<'static>, cause: RaceCause, errno: Option<i32>) -> Self {
        Self { relative, cause, errno }
    }

    /// Gives the path below the jail.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.relative
    }

    /// Gives what changed.
    #[must_use]
    pub const fn cause(&self) -> RaceCause {
        self.cause
    }

    /// Gives the error number by which it was seen, where there was one: `ELOOP` for a link.
    #[must_use]
    pub const fn raw_os_error(&self) -> Option<i32> {
        self.errno
    }
}

/// Is told of every race that a jail sees, once each, before the error is returned.
///
/// An error that a caller swallows still leaves the record that the observer made of it.
pub trait RaceObserver: Send + Sync {
    /// Takes note of one race. It runs inside the call that saw it.
    fn race(&self, race: &FilesystemRaceDetected);
}
