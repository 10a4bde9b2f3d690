//! What a name leads to: kind, identity, size, times.

use std::fmt;

/// The kind of a file system object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link; on Windows any reparse point.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// Something else.
    Other,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Folder => "a folder",
            Self::Symlink => "a symbolic link",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::CharDevice => "a character device",
            Self::BlockDevice => "a block device",
            Self::Other => "an unknown kind of object",
        })
    }
}

/// The identity of an object: device and inode number.
///
/// Two equal identities mean one object only while one of the two is held open: a file system may give the number
/// of a deleted file to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
}

impl FileId {
    /// Gives the number of the device.
    #[must_use]
    pub const fn device(self) -> u64 {
        self.dev
    }

    /// Gives the inode number.
    #[must_use]
    pub const fn inode(self) -> u64 {
        self.ino
    }
}

/// A time of the file system, in seconds and nanoseconds since 1970 UTC, as the system keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

impl Stamp {
    /// Gives the whole seconds since 1970-01-01 UTC; negative before.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Gives the nanoseconds past the second, below 1,000,000,000.
    #[must_use]
    pub const fn nanos(self) -> u32 {
        self.nanos
    }
}

/// What the system says of one object at one moment.
///
/// Two of these, taken from one handle before and after a read, show whether the object changed in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metadata {
    pub(crate) kind: FileKind,
    pub(crate) id: FileId,
    pub(crate) len: u64,
    pub(crate) links: u64,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) modified: Stamp,
    pub(crate) changed: Stamp,
}

impl Metadata {
    /// Gives the kind of the object.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// Gives the identity of the object.
    #[must_use]
    pub const fn id(&self) -> FileId {
        self.id
    }

    /// Gives the length in bytes that the system states, which a read need not meet.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a stated length of 0 does not mean that nothing can be read"
    )]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Gives the number of names the object has.
    #[must_use]
    pub const fn links(&self) -> u64 {
        self.links
    }

    /// Gives permission, setuid, setgid and sticky bits (0o7777). They are reported, not judged.
    #[must_use]
    pub const fn mode(&self) -> u32 {
        self.mode
    }

    /// Gives the owner's number.
    #[must_use]
    pub const fn uid(&self) -> u32 {
        self.uid
    }

    /// Gives the group's number.
    #[must_use]
    pub const fn gid(&self) -> u32 {
        self.gid
    }

    /// Gives the time at which the content was last changed (settable by its owner).
    #[must_use]
    pub const fn modified(&self) -> Stamp {
        self.modified
    }

    /// Gives the time at which content, names or bits were last changed (set by the system only).
    #[must_use]
    pub const fn changed(&self) -> Stamp {
        self.changed
    }
}

/// Permission bits for something new: never more than 0o777.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Perm(u16);

impl Perm {
    /// Read and write for the owner alone (0600).
    pub const PRIVATE_FILE: Self = Self(0o600);
    /// Everything for the owner alone (0700).
    pub const PRIVATE_FOLDER: Self = Self(0o700);

    /// Makes permission bits, or `None` where a bit above 0o777 is set. The process's umask still applies.
    #[must_use]
    pub const fn new(bits: u16) -> Option<Self> {
        if bits & !0o777 == 0 { Some(Self(bits)) } else { None }
    }

    /// Gives the bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }
}
