//! Why a path was not opened: refusals, absences and failures, each with a stable code.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::guarantee::Answer;
use crate::meta::FileKind;
use crate::race::FilesystemRaceDetected;
use crate::rel::escape;

/// What stopped a lookup, before anybody knows which call it was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct No {
    pub(crate) kind: PathEscapeKind,
    pub(crate) component: Option<usize>,
    pub(crate) errno: Option<i32>,
}

impl No {
    pub(crate) const fn at(kind: PathEscapeKind, component: usize) -> Self {
        Self { kind, component: Some(component), errno: None }
    }
}

impl From<PathEscapeKind> for No {
    fn from(kind: PathEscapeKind) -> Self {
        Self { kind, component: None, errno: None }
    }
}

/// Why a path does not lead to something below the jail that this crate would hand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathEscapeKind {
    /// The path has no bytes.
    Empty,
    /// The path has a NUL byte.
    Nul,
    /// The path has more than 4,095 bytes, or a component more than 255 (or than the file system takes).
    TooLong,
    /// The path starts at the root.
    Absolute,
    /// The path starts with a drive, share or device prefix (Windows).
    Prefix,
    /// A component is `..`.
    Parent,
    /// The path of a file ends in a separator, or in a separator and `.`.
    TrailingSeparator,
    /// A component starts with a dot, and the policy refuses that.
    Dotfile,
    /// A component is not portable: a device name, a trailing dot or blank, an 8.3 form, a forbidden character.
    ReservedName,
    /// A component names an alternate stream.
    AlternateStream,
    /// The path is not UTF-8, where UTF-8 is asked for.
    NotUtf8,
    /// The path is the jail's own folder, which cannot be made, removed or renamed through the jail.
    JailItself,
    /// A component is a symbolic link.
    Symlink,
    /// A component is a link of procfs that leads to an object and not to a name.
    MagicLink,
    /// More than 40 links had to be followed.
    TooManyLinks,
    /// The path leads out of the jail.
    Outside,
    /// A component lies on another mount than the jail.
    Mount,
    /// A component that should be a folder is something else.
    NotADirectory,
    /// The path leads to something that is no regular file.
    NotRegular {
        /// What it is.
        is: FileKind,
    },
    /// The file has more than one name.
    HardLinked {
        /// How many names it has.
        links: u64,
    },
    /// There is nothing of that name.
    NotFound,
    /// The system denied the access.
    Denied,
    /// Other processes kept changing the path, or hold a lease on the file.
    Contended,
    /// The process or the system is out of descriptors or memory.
    Exhausted,
    /// The jail's folder was removed.
    JailGone,
    /// `openat2` answered when the jail was opened, and no longer does.
    BackendLost,
    /// The file system cannot do what was asked.
    Unsupported,
    /// Another failure of the system.
    Io,
}

use PathEscapeKind as K;

impl PathEscapeKind {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            K::Empty => "path/empty",
            K::Nul => "path/nul",
            K::TooLong => "path/too-long",
            K::Absolute => "path/absolute",
            K::Prefix => "path/prefix",
            K::Parent => "path/parent",
            K::TrailingSeparator => "path/trailing-separator",
            K::Dotfile => "path/dotfile",
            K::ReservedName => "path/reserved-name",
            K::AlternateStream => "path/alternate-stream",
            K::NotUtf8 => "path/not-utf8",
            K::JailItself => "path/jail-itself",
            K::Symlink => "path/symlink",
            K::MagicLink => "path/magic-link",
            K::TooManyLinks => "path/too-many-links",
            K::Outside => "path/outside",
            K::Mount => "path/mount",
            K::NotADirectory => "path/not-a-directory",
            K::NotRegular { .. } => "path/not-regular",
            K::HardLinked { .. } => "path/hard-linked",
            K::NotFound => "path/not-found",
            K::Denied => "path/denied",
            K::Contended => "path/contended",
            K::Exhausted => "path/exhausted",
            K::JailGone => "path/jail-gone",
            K::BackendLost => "path/backend-lost",
            K::Unsupported => "path/unsupported",
            K::Io => "path/io",
        }
    }

    /// Says whether this is a refusal, an absence or a failure.
    pub const fn answer(self) -> Answer {
        match self {
            K::NotFound => Answer::NotThere,
            K::Denied
            | K::Contended
            | K::Exhausted
            | K::JailGone
            | K::BackendLost
            | K::Unsupported
            | K::Io => Answer::CouldNotTell,
            _ => Answer::Refused,
        }
    }
}

impl fmt::Display for PathEscapeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            K::Empty => "is empty",
            K::Nul => "holds a NUL byte",
            K::TooLong => "is too long",
            K::Absolute => "is absolute",
            K::Prefix => "starts with a drive, share or device",
            K::Parent => "is `..`",
            K::TrailingSeparator => "ends in a separator, which no file does",
            K::Dotfile => "starts with a dot",
            K::ReservedName => "is not a portable name",
            K::AlternateStream => "names an alternate stream",
            K::NotUtf8 => "is not UTF-8",
            K::JailItself => "is the jail's own folder",
            K::Symlink => "is a symbolic link",
            K::MagicLink => "is a magic link of procfs",
            K::TooManyLinks => "leads through more than 40 links",
            K::Outside => "leads out of the jail",
            K::Mount => "lies on another mount",
            K::NotADirectory => "is not a folder",
            K::NotRegular { is } => return write!(f, "is {is}, not a regular file"),
            K::HardLinked { links } => return write!(f, "has {links} names"),
            K::NotFound => "does not exist",
            K::Denied => "was denied by the system",
            K::Contended => "kept changing",
            K::Exhausted => "could not be looked up for want of descriptors or memory",
            K::JailGone => "cannot be looked up, for the jail's folder was removed",
            K::BackendLost => "cannot be looked up, for openat2 stopped answering",
            K::Unsupported => "lies on a file system that cannot do this",
            K::Io => "could not be handled by the system",
        })
    }
}

/// What stopped a call: a lookup, or what it met.
#[derive(Debug)]
pub(crate) struct Fail {
    pub(crate) kind: OpenErrorKind,
    pub(crate) component: Option<usize>,
    pub(crate) errno: Option<i32>,
}

impl From<No> for Fail {
    fn from(no: No) -> Self {
        Self { kind: OpenErrorKind::Path(no.kind), component: no.component, errno: no.errno }
    }
}

impl From<OpenErrorKind> for Fail {
    fn from(kind: OpenErrorKind) -> Self {
        Self { kind, component: None, errno: None }
    }
}

impl From<PathEscapeKind> for Fail {
    fn from(kind: PathEscapeKind) -> Self {
        No::from(kind).into()
    }
}

/// The call, the path and the component that an error speaks of, and what it was.
#[derive(Debug, Error)]
#[error("{}", Sentence(.verb, .path, *.component, .kind))]
struct Report<Kind: fmt::Debug + fmt::Display> {
    verb: &'static str,
    path: Box<[u8]>,
    component: Option<usize>,
    kind: Kind,
    source: Option<io::Error>,
}

/// Puts an error's sentence together.
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

/// A path that does not lead to something below the jail that this crate would hand out.
///
/// # Source
/// ADR-0011, `Result<_, PathEscape>`. The text shows the relative path only, escaped, and never a path of the host.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct PathEscape(Box<Report<PathEscapeKind>>);

impl PathEscape {
    pub(crate) fn new(verb: &'static str, path: &[u8], no: No) -> Self {
        let source = no.errno.map(io::Error::from_raw_os_error);
        Self(Box::new(Report { verb, path: path.into(), component: no.component, kind: no.kind, source }))
    }

    /// Says what stopped the lookup.
    #[must_use]
    pub fn kind(&self) -> PathEscapeKind {
        self.0.kind
    }

    /// Gives the component that stopped the lookup, counted from 1, where it is known.
    ///
    /// `.` and doubled separators do not count. It is a hint: it was found by a second look.
    #[must_use]
    pub fn component(&self) -> Option<usize> {
        self.0.component
    }

    /// Gives the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        crate::codes::help(self.code())
    }

    /// Says whether this is a refusal, an absence or a failure.
    pub fn answer(&self) -> Answer {
        self.0.kind.answer()
    }

    /// Gives the error number of the system, where there was one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref()?.raw_os_error()
    }
}

/// Why a call on a jail gave no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// The path was refused, is not there, or could not be looked up.
    Path(PathEscapeKind),
    /// What [`SandboxedPath::create`](crate::SandboxedPath::create) saw has changed since.
    Race(FilesystemRaceDetected),
    /// There is something of that name already.
    Exists,
    /// The folder to remove or to replace has entries.
    NotEmpty,
    /// There were more bytes, or more entries, than the limit of the call allows.
    TooLarge {
        /// The limit of the call.
        limit: u64,
    },
    /// There were more levels of folders than the limit of the call allows.
    TooDeep {
        /// The limit of the call.
        limit: usize,
    },
}

impl OpenErrorKind {
    /// Gives the stable code.
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
            Self::Exists => f.write_str("exists already"),
            Self::NotEmpty => f.write_str("is a folder with entries"),
            Self::TooLarge { limit } => write!(f, "holds more than the limit of {limit}"),
            Self::TooDeep { limit } => write!(f, "lies deeper than the limit of {limit} folders"),
        }
    }
}

/// A call on a jail that gave no result.
///
/// # Source
/// ADR-0011: a refused open is an event with a name, not an `io::Error` that each consumer must take apart.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct OpenError(Box<Report<OpenErrorKind>>);

impl OpenError {
    pub(crate) fn new(verb: &'static str, path: &[u8], fail: impl Into<Fail>) -> Self {
        let Fail { kind, component, errno } = fail.into();
        let source = errno.map(io::Error::from_raw_os_error);
        Self(Box::new(Report { verb, path: path.into(), component, kind, source }))
    }

    /// Says why there is no result.
    #[must_use]
    pub fn kind(&self) -> &OpenErrorKind {
        &self.0.kind
    }

    /// Gives the component that stopped the lookup, counted from 1, where it is known.
    #[must_use]
    pub fn component(&self) -> Option<usize> {
        self.0.component
    }

    /// Gives the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        crate::codes::help(self.code())
    }

    /// Says whether this is a refusal, an absence or a failure.
    pub fn answer(&self) -> Answer {
        match &self.0.kind {
            OpenErrorKind::Path(kind) => kind.answer(),
            OpenErrorKind::Race(_)
            | OpenErrorKind::Exists
            | OpenErrorKind::NotEmpty
            | OpenErrorKind::TooLarge { .. }
            | OpenErrorKind::TooDeep { .. } => Answer::Refused,
        }
    }

    /// Gives the race that was seen, if that is what this error is.
    #[must_use]
    pub fn race(&self) -> Option<&FilesystemRaceDetected> {
        match &self.0.kind {
            OpenErrorKind::Race(race) => Some(race),
            _ => None,
        }
    }

    /// Gives the error number of the system, where there was one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref()?.raw_os_error()
    }
}
