//! Changes that another process made during a check, each with its cause.

use std::fmt;

use thiserror::Error;

use crate::meta::{FileId, FileKind};
use crate::path::relative::RelPath;

/// The kind of change that was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RaceCause {
    /// A component became a symbolic link, or leads to a link target that the policy refuses.
    SymlinkAppeared,
    /// The path leads to another object.
    Replaced {
        /// The object that was checked.
        was: FileId,
        /// The object that the path leads to now.
        is: FileId,
    },
    /// The path leads to an object of another kind, or a parent is no longer a directory.
    KindChanged {
        /// The new kind, or [`FileKind::Other`] if it could not be determined.
        is: FileKind,
    },
    /// The entry was removed, or the object has no hard link any more.
    Vanished,
    /// A parent directory was moved out of the jail, or a mount appeared.
    LeftJail,
    /// The object is the same, but its contents or metadata changed while it was read.
    ///
    /// A [`SandboxedPath`](crate::SandboxedPath) never reports this cause; callers that read whole trees do.
    Changed,
}

impl fmt::Display for RaceCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SymlinkAppeared => f.write_str("now contains a symbolic link"),
            Self::Replaced { .. } => f.write_str("now leads to another object"),
            Self::KindChanged { is: FileKind::Other } => f.write_str("now leads to another kind of object"),
            Self::KindChanged { is } => write!(f, "now leads to {is}"),
            Self::Vanished => f.write_str("no longer exists"),
            Self::LeftJail => f.write_str("now leads out of the jail"),
            Self::Changed => f.write_str("changed while it was read"),
        }
    }
}

/// A race (TOCTOU): a path changed between a check and its use.
///
/// Another process changed the directory in between, which may be an attack, an editor or an update. The file system
/// does not record which.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("race on {relative}: the path {cause}")]
pub struct FilesystemRaceDetected {
    relative: RelPath<'static>,
    cause: RaceCause,
    errno: Option<i32>,
}

impl FilesystemRaceDetected {
    /// Describes a race that the caller detected, to be passed to [`Jail::report_race`](crate::Jail::report_race).
    ///
    /// `errno` is the error number that revealed the race, if a system call failed.
    #[must_use]
    pub const fn new(relative: RelPath<'static>, cause: RaceCause, errno: Option<i32>) -> Self {
        Self { relative, cause, errno }
    }

    /// Returns the path, relative to the jail.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.relative
    }

    /// Returns the kind of change.
    #[must_use]
    pub const fn cause(&self) -> RaceCause {
        self.cause
    }

    /// Returns the error number that revealed the race, if there was one, such as `ELOOP` for a symbolic link.
    #[must_use]
    pub const fn raw_os_error(&self) -> Option<i32> {
        self.errno
    }
}

/// Receives every race that is detected in a jail, once each, before the caller gets the error.
///
/// The observer's record remains even if the caller discards the error.
pub trait RaceObserver: Send + Sync {
    /// Records one race.
    ///
    /// It is called inside the call that detected the race, on the thread that made that call. Code that reads a
    /// tree on several threads may call it concurrently.
    fn race(&self, race: &FilesystemRaceDetected);
}
