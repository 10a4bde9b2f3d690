//! Why a file was not read, not held or not replaced.

use std::io;
use std::sync::Arc;

use thiserror::Error;

/// Every code that this crate gives, with one line of help.
pub const CODES: &[(&str, &str)] = &[
    ("state/damaged", "neither the file nor its last good copy can be used: move both away to start over"),
    ("state/full", "make room on the disk (or raise the quota), then run it again"),
    ("state/group-writable", "chmod g-w it; a file is mended at the next write"),
    ("state/held", "wait for the other process, or end it, then run it again"),
    ("state/io", "see the cause; nothing was changed"),
    ("state/name", "use A-Z a-z 0-9 . _ - and start with a letter or digit"),
    ("state/no-access", "give yourself the right to read and write it"),
    ("state/no-lock", "put the folder on a file system that has flock"),
    ("state/not-ours", "give the file or folder back to yourself alone (chown, chmod)"),
    ("state/not-synced", "the new content is in place; run it again to have it synced"),
    ("state/read-only", "make the folder writable, or name another one"),
    ("state/too-large", "remove entries, or move the file away where this program did not write it"),
];

/// A file that was not read, not held or not replaced.
///
/// # Guarantees
/// Unless the code is `state/not-synced`, the file holds what it held before.
///
/// # Source
/// pinstore page, 2.1 and 5.
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

    /// Makes an error of what the system said, for files that stand beside a state file.
    #[must_use]
    pub fn of_io(doing: &'static str, name: &str, source: io::Error) -> Self {
        Self::io(doing, name, source)
    }

    /// Makes an error of what the system said.
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

    /// Puts another kind on the same cause.
    pub(crate) fn of_kind(self, kind: StateErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// Says what went wrong.
    #[must_use]
    pub const fn kind(&self) -> &StateErrorKind {
        &self.kind
    }

    /// Names the file, its lock, or the folder (`.`), below the folder that was handed in.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            StateErrorKind::Name => "state/name",
            StateErrorKind::TooLarge { .. } => "state/too-large",
            StateErrorKind::NotOurs(_) => "state/not-ours",
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

    /// Says what a person types or does next.
    #[must_use]
    pub fn help(&self) -> String {
        let name = &self.name;
        match &self.kind {
            StateErrorKind::NotOurs(what) => what.help(name),
            StateErrorKind::Held { pid: Some(pid) } => {
                format!("wait for process {pid}, or end it, then run it again")
            }
            StateErrorKind::Damaged { .. } => {
                format!("look at {name} and {name}.last-good, and move both away to start over")
            }
            StateErrorKind::TooLarge { cap } if self.doing == "write" => {
                format!("remove entries that are not needed any more: {name} holds at most {cap} bytes")
            }
            StateErrorKind::TooLarge { cap } => {
                format!("move {name} away: this program writes at most {cap} bytes there")
            }
            _ => CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help).to_owned(),
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// The name is not one plain part of a path.
    #[error("not a plain file name")]
    Name,
    /// The file, or what was to be written, is over the cap.
    #[error("larger than {cap} bytes")]
    TooLarge {
        /// The most bytes that the file may have.
        cap: u64,
    },
    /// The file or its folder could have been written by somebody else.
    #[error("{0}")]
    NotOurs(NotOurs),
    /// Another process holds it, for longer than we may wait.
    #[error("another process holds it")]
    Held {
        /// What the lock file says of the holder; a hint, and no more.
        pid: Option<u32>,
    },
    /// The file system has no `flock`; nothing is written without the hold.
    #[error("the file system cannot hold a file")]
    NoLock,
    /// The folder cannot be written.
    #[error("the folder is read-only")]
    ReadOnly,
    /// No room, over the quota, or over the process's file size limit.
    #[error("no room left")]
    Full,
    /// The system refuses us the file.
    #[error("no right to open or change it")]
    NoAccess,
    /// The new content is in place, and may not outlive a power cut.
    #[error("replaced, but not synced")]
    NotSynced,
    /// Neither copy is one that the caller takes.
    #[error("no good copy (the file: {main}; the last good copy: {last_good})")]
    Damaged {
        /// What is wrong with the file.
        main: String,
        /// What is wrong with the last good copy.
        last_good: String,
    },
    /// Any other failure of the system.
    #[error("the system failed")]
    Io,
}

/// Why a file is not taken as ours.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotOurs {
    /// It is a symbolic link, which is never followed.
    #[error("a symbolic link stands in its place")]
    Link,
    /// It is a folder, FIFO, socket or device.
    #[error("no regular file")]
    Kind,
    /// It has more than one name.
    #[error("it has {count} names (hard links)")]
    Links {
        /// The number of names.
        count: u64,
    },
    /// It belongs to somebody else.
    #[error("it belongs to user {uid}")]
    Owner {
        /// Who owns it.
        uid: u32,
    },
    /// Everybody may write it.
    #[error("everybody may write it")]
    Writable,
    /// The folder belongs to somebody else.
    #[error("its folder belongs to user {uid}")]
    FolderOwner {
        /// Who owns the folder.
        uid: u32,
    },
    /// Everybody may put files into the folder.
    #[error("everybody may write its folder")]
    FolderWritable,
}

impl NotOurs {
    fn help(&self, name: &str) -> String {
        match self {
            Self::Link => format!("remove the link {name}, and put a file of your own there"),
            Self::Kind => format!("move {name} away"),
            Self::Links { .. } => format!("cp {name} {name}.own && mv {name}.own {name}"),
            Self::Owner { .. } => format!("chown $(id -u) {name}, after a look at what is in it"),
            Self::Writable => format!("chmod go-w {name}, after a look at what is in it"),
            Self::FolderOwner { .. } => "chown $(id -u) the folder, after a look at what is in it".to_owned(),
            Self::FolderWritable => "chmod o-w the folder, after a look at what is in it".to_owned(),
        }
    }
}
