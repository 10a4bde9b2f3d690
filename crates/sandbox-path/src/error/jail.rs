//! Errors of opening a jail.

use std::io;

use thiserror::Error;

use crate::jail::guarantee::Guarantee;

/// A directory that could not be opened as a jail.
#[derive(Debug, Error)]
#[error("open the jail: {kind}")]
pub struct JailError {
    kind: JailErrorKind,
    source: Option<io::Error>,
}

/// The reason why a directory could not be opened as a jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum JailErrorKind {
    /// Nothing exists at that path.
    #[error("no such directory")]
    NotFound,
    /// The path leads to an object that is not a directory.
    #[error("not a directory")]
    NotADirectory,
    /// The last component of the path is a symlink.
    #[error("the last component of its path is a symbolic link")]
    Symlink,
    /// The directory is the root of the file system.
    #[error("it is the root of the file system")]
    IsRoot,
    /// The directory to create exists.
    #[error("it already exists")]
    Exists,
    /// The directory belongs to another user, or other users can enter it.
    #[error("it belongs to another user or is open to others")]
    NotOurs,
    /// The guarantee on this system is weaker than the required one.
    #[error("its guarantee is {has:?}, which is weaker than the required one")]
    WeakerGuarantee {
        /// The guarantee on this system.
        has: Guarantee,
    },
    /// The system does not support a choice of the policy.
    #[error("the system does not support the policy")]
    PolicyUnsupported,
    /// The system denied access.
    #[error("access denied")]
    Denied,
    /// Another failure of the system.
    #[error("the system could not open it")]
    Io,
}

impl JailErrorKind {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotFound => "jail/not-found",
            Self::NotADirectory => "jail/not-a-directory",
            Self::Symlink => "jail/symlink",
            Self::IsRoot => "jail/is-root",
            Self::Exists => "jail/exists",
            Self::NotOurs => "jail/not-ours",
            Self::WeakerGuarantee { .. } => "jail/weaker-guarantee",
            Self::PolicyUnsupported => "jail/policy-unsupported",
            Self::Denied => "jail/denied",
            Self::Io => "jail/io",
        }
    }
}

impl JailError {
    pub(crate) const fn new(kind: JailErrorKind) -> Self {
        Self { kind, source: None }
    }

    pub(crate) fn os(kind: JailErrorKind, errno: i32) -> Self {
        Self { kind, source: Some(io::Error::from_raw_os_error(errno)) }
    }

    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> JailErrorKind {
        self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        crate::error::codes::help(self.code())
    }

    /// Returns the error number of the system, if there is one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.source.as_ref()?.raw_os_error()
    }
}
