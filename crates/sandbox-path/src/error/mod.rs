//! Errors of a lookup: refusals, missing files and failures, each with a stable code.

pub(crate) mod codes;
pub(crate) mod jail;
pub(crate) mod race;

use std::fmt;
use std::io;

use thiserror::Error;

use crate::error::race::FilesystemRaceDetected;
use crate::jail::guarantee::ErrorClass;
use crate::meta::FileKind;
use crate::path::relative::escape;

/// The error of a lookup, before the operation and the path are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LookupError {
    pub(crate) kind: PathEscapeKind,
    pub(crate) component: Option<usize>,
    pub(crate) errno: Option<i32>,
}

impl LookupError {
    pub(crate) const fn at(kind: PathEscapeKind, component: usize) -> Self {
        Self { kind, component: Some(component), errno: None }
    }
}

impl From<PathEscapeKind> for LookupError {
    fn from(kind: PathEscapeKind) -> Self {
        Self { kind, component: None, errno: None }
    }
}

/// The reason why a path was not resolved inside the jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathEscapeKind {
    /// The path is empty.
    Empty,
    /// The path contains a NUL byte.
    Nul,
    /// The path exceeds 4,095 bytes, or a component exceeds 255 bytes or the limit of the file system.
    TooLong,
    /// The path starts with a separator.
    Absolute,
    /// A component is `..`.
    Parent,
    /// The path of a file ends with a separator, or with a separator and `.`.
    TrailingSeparator,
    /// A component starts with a dot, which the policy refuses.
    Dotfile,
    /// A component is not portable: a device name, a trailing dot or space, an 8.3 name, or an invalid character.
    ReservedName,
    /// A component names an alternate data stream.
    AlternateStream,
    /// The path is not UTF-8, but the function requires it.
    NotUtf8,
    /// The path is the jail's directory, which cannot be created, removed or renamed through the jail.
    JailItself,
    /// A component is a symlink.
    Symlink,
    /// The path leads out of the jail.
    Outside,
    /// A component is on another mount than the jail.
    Mount,
    /// A component that should be a directory is not one.
    NotADirectory,
    /// The path leads to an object that is not a regular file.
    NotRegular {
        /// The kind of the object.
        is: FileKind,
    },
    /// The file has more than one hard link.
    HardLinked {
        /// The number of hard links.
        links: u64,
    },
    /// No entry has that name.
    NotFound,
    /// The system denied access.
    Denied,
    /// Other processes kept changing the path, or have a lease on the file.
    Contended,
    /// The process or the system is out of file descriptors or memory.
    Exhausted,
    /// The jail's directory was removed.
    JailGone,
    /// `openat2` worked when the jail was opened, and no longer does.
    BackendLost,
    /// The file system does not support the operation.
    Unsupported,
    /// Another failure of the system.
    Io,
}

impl PathEscapeKind {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "path/empty",
            Self::Nul => "path/nul",
            Self::TooLong => "path/too-long",
            Self::Absolute => "path/absolute",
            Self::Parent => "path/parent",
            Self::TrailingSeparator => "path/trailing-separator",
            Self::Dotfile => "path/dotfile",
            Self::ReservedName => "path/reserved-name",
            Self::AlternateStream => "path/alternate-stream",
            Self::NotUtf8 => "path/not-utf8",
            Self::JailItself => "path/jail-itself",
            Self::Symlink => "path/symlink",
            Self::Outside => "path/outside",
            Self::Mount => "path/mount",
            Self::NotADirectory => "path/not-a-directory",
            Self::NotRegular { .. } => "path/not-regular",
            Self::HardLinked { .. } => "path/hard-linked",
            Self::NotFound => "path/not-found",
            Self::Denied => "path/denied",
            Self::Contended => "path/contended",
            Self::Exhausted => "path/exhausted",
            Self::JailGone => "path/jail-gone",
            Self::BackendLost => "path/backend-lost",
            Self::Unsupported => "path/unsupported",
            Self::Io => "path/io",
        }
    }

    /// Returns whether this is a refusal, a missing file or a failure.
    pub const fn class(self) -> ErrorClass {
        match self {
            Self::NotFound => ErrorClass::NotFound,
            Self::Denied
            | Self::Contended
            | Self::Exhausted
            | Self::JailGone
            | Self::BackendLost
            | Self::Unsupported
            | Self::Io => ErrorClass::Failed,
            _ => ErrorClass::Refused,
        }
    }
}

impl fmt::Display for PathEscapeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "is empty",
            Self::Nul => "contains a NUL byte",
            Self::TooLong => "is too long",
            Self::Absolute => "is absolute",
            Self::Parent => "is `..`",
            Self::TrailingSeparator => "ends with a separator, which is for directories",
            Self::Dotfile => "starts with a dot",
            Self::ReservedName => "is not a portable name",
            Self::AlternateStream => "names an alternate stream",
            Self::NotUtf8 => "is not UTF-8",
            Self::JailItself => "is the jail's own directory",
            Self::Symlink => "is a symbolic link",
            Self::Outside => "leads out of the jail",
            Self::Mount => "is on another mount",
            Self::NotADirectory => "is not a directory",
            Self::NotRegular { is } => return write!(f, "is {is}, not a regular file"),
            Self::HardLinked { links } => return write!(f, "has {links} hard links"),
            Self::NotFound => "does not exist",
            Self::Denied => "was denied by the system",
            Self::Contended => "kept changing",
            Self::Exhausted => "could not be looked up: out of file descriptors or memory",
            Self::JailGone => "cannot be looked up: the jail's directory was removed",
            Self::BackendLost => "cannot be looked up: openat2 no longer works",
            Self::Unsupported => "is on a file system that does not support this",
            Self::Io => "could not be accessed",
        })
    }
}

/// The error of an operation, before the path is added.
#[derive(Debug)]
pub(crate) struct OperationError {
    pub(crate) kind: OpenErrorKind,
    pub(crate) component: Option<usize>,
    pub(crate) errno: Option<i32>,
}

impl From<LookupError> for OperationError {
    fn from(error: LookupError) -> Self {
        Self { kind: OpenErrorKind::Path(error.kind), component: error.component, errno: error.errno }
    }
}

impl From<OpenErrorKind> for OperationError {
    fn from(kind: OpenErrorKind) -> Self {
        Self { kind, component: None, errno: None }
    }
}

impl From<PathEscapeKind> for OperationError {
    fn from(kind: PathEscapeKind) -> Self {
        LookupError::from(kind).into()
    }
}

/// The operation, the path and the component of an error, with its kind.
#[derive(Debug, Error)]
#[error("{}", Sentence(.verb, .path, *.component, .kind))]
struct Report<Kind: fmt::Debug + fmt::Display> {
    verb: &'static str,
    path: Box<[u8]>,
    component: Option<usize>,
    kind: Kind,
    source: Option<io::Error>,
}

/// Displays an error.
struct Sentence<'a>(&'a str, &'a [u8], Option<usize>, &'a dyn fmt::Display);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(verb, path, component, kind) = self;
        write!(f, "{verb} ")?;
        if path.is_empty() {
            f.write_str("\"\"")?;
        } else {
            escape(path, f)?;
        }
        match component {
            Some(number) => write!(f, ": component {number} {kind}"),
            None => write!(f, ": the path {kind}"),
        }
    }
}

/// A path that was not resolved inside the jail.
///
/// The message contains only the relative path, escaped, and never a path of the host.
// ADR-0011, `Result<_, PathEscape>`: see docs/source-documents.md.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct PathEscape(Box<Report<PathEscapeKind>>);

impl PathEscape {
    pub(crate) fn new(verb: &'static str, path: &[u8], error: LookupError) -> Self {
        let source = error.errno.map(io::Error::from_raw_os_error);
        Self(Box::new(Report {
            verb,
            path: path.into(),
            component: error.component,
            kind: error.kind,
            source,
        }))
    }

    /// Returns the reason why the lookup failed.
    #[must_use]
    pub fn kind(&self) -> PathEscapeKind {
        self.0.kind
    }

    /// Returns the component at which the lookup failed, counted from 1, if it is known.
    ///
    /// `.` and doubled separators do not count. It is a hint, because a second lookup determines it.
    #[must_use]
    pub fn component(&self) -> Option<usize> {
        self.0.component
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        codes::help(self.code())
    }

    /// Returns whether this is a refusal, a missing file or a failure.
    pub fn class(&self) -> ErrorClass {
        self.0.kind.class()
    }

    /// Returns the error number of the system, if there is one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref()?.raw_os_error()
    }
}

/// The reason why an operation on a jail failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// The path was refused, does not exist, or could not be looked up.
    Path(PathEscapeKind),
    /// The file is no longer the one that [`SandboxedPath::create`](crate::SandboxedPath::create) found.
    Race(FilesystemRaceDetected),
    /// An entry of that name exists.
    Exists,
    /// The directory to remove or replace is not empty.
    NotEmpty,
    /// There are more bytes or entries than the limit of the operation.
    TooLarge {
        /// The limit of the operation.
        limit: u64,
    },
    /// There are more levels of directories than the limit of the operation.
    TooDeep {
        /// The limit of the operation.
        limit: usize,
    },
}

impl OpenErrorKind {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Path(kind) => kind.code(),
            Self::Race(_) => "path/race",
            Self::Exists => "path/exists",
            Self::NotEmpty => "path/not-empty",
            Self::TooLarge { .. } => "path/too-large",
            Self::TooDeep { .. } => "path/too-deep",
        }
    }
}

impl fmt::Display for OpenErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(kind) => kind.fmt(f),
            Self::Race(race) => write!(f, "{}", race.cause()),
            Self::Exists => f.write_str("already exists"),
            Self::NotEmpty => f.write_str("is a directory with entries"),
            Self::TooLarge { limit } => write!(f, "contains more than the limit of {limit}"),
            Self::TooDeep { limit } => write!(f, "is deeper than the limit of {limit} directories"),
        }
    }
}

/// The error of an operation on a jail.
// ADR-0011: a refused open has a code of its own, so that callers need not interpret an `io::Error`.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct OpenError(Box<Report<OpenErrorKind>>);

impl OpenError {
    pub(crate) fn new(verb: &'static str, path: &[u8], fail: impl Into<OperationError>) -> Self {
        let OperationError { kind, component, errno } = fail.into();
        let source = errno.map(io::Error::from_raw_os_error);
        Self(Box::new(Report { verb, path: path.into(), component, kind, source }))
    }

    /// Returns the reason why the operation failed.
    #[must_use]
    pub fn kind(&self) -> &OpenErrorKind {
        &self.0.kind
    }

    /// Returns the component at which the lookup failed, counted from 1, if it is known.
    #[must_use]
    pub fn component(&self) -> Option<usize> {
        self.0.component
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        codes::help(self.code())
    }

    /// Returns whether this is a refusal, a missing file or a failure.
    pub fn class(&self) -> ErrorClass {
        match &self.0.kind {
            OpenErrorKind::Path(kind) => kind.class(),
            OpenErrorKind::Race(_)
            | OpenErrorKind::Exists
            | OpenErrorKind::NotEmpty
            | OpenErrorKind::TooLarge { .. }
            | OpenErrorKind::TooDeep { .. } => ErrorClass::Refused,
        }
    }

    /// Returns the race, if the error is one.
    #[must_use]
    pub fn race(&self) -> Option<&FilesystemRaceDetected> {
        match &self.0.kind {
            OpenErrorKind::Race(race) => Some(race),
            _ => None,
        }
    }

    /// Returns the error number of the system, if there is one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref()?.raw_os_error()
    }
}
