//! Errors of reading, locking or replacing a file.

use std::io;
use std::sync::Arc;

use thiserror::Error;

/// Every code of this crate, sorted, with the next step for the user.
pub const CODES: &[(&str, &str)] = &[
    ("state/damaged", "move the file and its backup away to start over: neither is usable"),
    ("state/full", "free disk space (or raise the quota), then try again"),
    ("state/group-writable", "run chmod g-w on it; the next write also fixes a file"),
    ("state/held", "wait for the other process or stop it, then try again"),
    ("state/io", "see the system error; nothing was changed"),
    ("state/name", "use A-Z a-z 0-9 . _ -, starting with a letter or digit"),
    ("state/no-access", "grant yourself read and write permission"),
    ("state/no-lock", "use a file system that supports flock"),
    ("state/not-ours", "make the file or directory yours alone (chown, chmod)"),
    ("state/not-synced", "run it again to sync: the new contents are in place"),
    ("state/read-only", "make the directory writable, or use another one"),
    ("state/too-large", "remove entries, or move the file away if plugward did not write it"),
];

/// The error of reading, locking or replacing a file.
///
/// # Guarantees
/// Unless the code is `state/not-synced`, the file has its old contents.
#[derive(Debug, Clone, Error)]
#[error("{doing} {name}: {kind}")]
pub struct StateError {
    doing: &'static str,
    name: String,
    kind: StateErrorKind,
    #[source]
    source: Option<Arc<io::Error>>,
}

impl StateError {
    pub(crate) fn new(doing: &'static str, name: &str, kind: StateErrorKind) -> Self {
        Self { doing, name: name.to_owned(), kind, source: None }
    }

    /// Creates an error from a system error, for callers with files next to a state file.
    #[must_use]
    pub fn of_io(doing: &'static str, name: &str, source: io::Error) -> Self {
        Self::io(doing, name, source)
    }

    /// Creates an error from a system error.
    pub(crate) fn io(doing: &'static str, name: &str, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => StateErrorKind::ReadOnly,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StateErrorKind::Full
            }
            io::ErrorKind::PermissionDenied => StateErrorKind::NoAccess,
            _ => StateErrorKind::Io,
        };
        Self { doing, name: name.to_owned(), kind, source: Some(Arc::new(source)) }
    }

    /// Replaces the kind and keeps the cause.
    pub(crate) fn of_kind(self, kind: StateErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> &StateErrorKind {
        &self.kind
    }

    /// Returns the name of the file, its lock or the directory (`.`), relative to the given directory.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            StateErrorKind::Name => "state/name",
            StateErrorKind::TooLarge { .. } => "state/too-large",
            StateErrorKind::NotTrusted(_) => "state/not-ours",
            StateErrorKind::Held { .. } => "state/held",
            StateErrorKind::NoLock => "state/no-lock",
            StateErrorKind::ReadOnly => "state/read-only",
            StateErrorKind::Full => "state/full",
            StateErrorKind::NoAccess => "state/no-access",
            StateErrorKind::NotSynced => "state/not-synced",
            StateErrorKind::Damaged { .. } => "state/damaged",
            StateErrorKind::Io => "state/io",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        let name = &self.name;
        match &self.kind {
            StateErrorKind::NotTrusted(what) => what.help(name),
            StateErrorKind::Held { pid: Some(pid) } => {
                format!("wait for process {pid} or stop it, then try again")
            }
            StateErrorKind::Damaged { .. } => {
                format!("inspect {name} and {name}.last-good, or move both away to start over")
            }
            StateErrorKind::TooLarge { cap } if self.doing == "write" => {
                format!("remove entries: {name} can have at most {cap} bytes")
            }
            StateErrorKind::TooLarge { cap } => {
                format!("move {name} away: plugward writes at most {cap} bytes there")
            }
            _ => CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help).to_owned(),
        }
    }
}

/// The reason of a [`StateError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// The name is not a plain file name.
    #[error("not a plain file name")]
    Name,
    /// The file, or the bytes to write, exceed the limit.
    #[error("larger than {cap} bytes")]
    TooLarge {
        /// The limit in bytes.
        cap: u64,
    },
    /// Another user could have written the file or its directory.
    #[error("{0}")]
    NotTrusted(TrustFault),
    /// Another process had the lock until the wait ended.
    #[error("locked by another process")]
    Held {
        /// The process id in the lock file. It is a hint and can be out of date.
        pid: Option<u32>,
    },
    /// The file system does not support `flock`. Nothing is written without the lock.
    #[error("the file system does not support file locks")]
    NoLock,
    /// The directory cannot be written.
    #[error("the directory is read-only")]
    ReadOnly,
    /// The disk is full, or the quota or the process's file size limit is exceeded.
    #[error("no space left")]
    Full,
    /// The system denied access to the file.
    #[error("permission denied")]
    NoAccess,
    /// The new contents are in place, but a power failure can still lose them.
    #[error("replaced, but not synced")]
    NotSynced,
    /// Neither the file nor its backup can be used.
    #[error("neither the file nor its backup can be used (file: {main}; backup: {backup})")]
    Damaged {
        /// The fault of the file.
        main: String,
        /// The fault of the backup.
        backup: String,
    },
    /// Another failure of the system.
    #[error("system error")]
    Io,
}

/// The reason why a file is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrustFault {
    /// It is a symlink. Symlinks are never followed.
    #[error("it is a symbolic link")]
    Link,
    /// It is a directory, FIFO, socket or device.
    #[error("not a regular file")]
    Kind,
    /// It has more than one hard link.
    #[error("it has {count} hard links")]
    Links {
        /// The number of hard links.
        count: u64,
    },
    /// It belongs to another user.
    #[error("it belongs to user {uid}")]
    Owner {
        /// The user id of the owner.
        uid: u32,
    },
    /// Every user can write it.
    #[error("every user can write it")]
    Writable,
    /// The directory belongs to another user.
    #[error("its directory belongs to user {uid}")]
    DirectoryOwner {
        /// The user id of the directory's owner.
        uid: u32,
    },
    /// Every user can create files in the directory.
    #[error("every user can write its directory")]
    DirectoryWritable,
}

impl TrustFault {
    fn help(&self, name: &str) -> String {
        match self {
            Self::Link => format!("replace the symlink {name} with a regular file"),
            Self::Kind => format!("move {name} away"),
            Self::Links { .. } => format!("cp {name} {name}.own && mv {name}.own {name}"),
            Self::Owner { .. } => format!("check the contents, then run: chown $(id -u) {name}"),
            Self::Writable => format!("check the contents, then run: chmod go-w {name}"),
            Self::DirectoryOwner { .. } => {
                "check the contents, then run chown $(id -u) on the directory".to_owned()
            }
            Self::DirectoryWritable => "check the contents, then run chmod o-w on the directory".to_owned(),
        }
    }
}
