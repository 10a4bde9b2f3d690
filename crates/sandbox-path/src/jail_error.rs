//! Why a jail was not opened.

use std::io;

use thiserror::Error;

use crate::guarantee::Guarantee;

/// A folder that did not become a jail.
#[derive(Debug, Error)]
#[error("open the jail: {kind}")]
pub struct JailError {
    kind: JailErrorKind,
    source: Option<io::Error>,
}

/// Why a folder did not become a jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum JailErrorKind {
    /// There is nothing at that path.
    #[error("there is no such folder")]
    NotFound,
    /// The path leads to something that is no folder.
    #[error("it is not a folder")]
    NotADirectory,
    /// The last part of the path is a symbolic link.
    #[error("its last part is a symbolic link")]
    Symlink,
    /// The folder is the root of the file system.
    #[error("it is the root of the file system")]
    IsRoot,
    /// The folder to make is there already.
    #[error("there is something of that name already")]
    Exists,
    /// The folder belongs to somebody else, or others may enter it.
    #[error("it belongs to somebody else or is open to others")]
    NotOurs,
    /// The system gives a weaker guarantee than is asked for.
    #[error("it would have the guarantee {has:?}, which is weaker than is asked for")]
    WeakerGuarantee {
        /// What the system gives.
        has: Guarantee,
    },
    /// The system cannot hold a choice of the policy.
    #[error("the system cannot hold a choice of the policy")]
    PolicyUnsupported,
    /// The system denied the access.
    #[error("the system denied it")]
    Denied,
    /// Another failure of the system.
    #[error("the system could not open it")]
    Io,
}

impl JailErrorKind {
    /// Gives the stable code.
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

    /// Says why there is no jail.
    #[must_use]
    pub const fn kind(&self) -> JailErrorKind {
        self.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        crate::codes::help(self.code())
    }

    /// Gives the error number of the system, where there was one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.source.as_ref()?.raw_os_error()
    }
}
