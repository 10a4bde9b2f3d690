//! Metadata of a file system object: kind, identity, size, times.

use std::fmt;

/// The kind of a file system object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symlink.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// Another kind of object.
    Other,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
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
/// Equal identities are the same object only while one of the two is open: a file system can give the number of a
/// deleted file to a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
}

impl FileId {
    /// Returns the device number.
    #[must_use]
    pub const fn device(self) -> u64 {
        self.dev
    }

    /// Returns the inode number.
    #[must_use]
    pub const fn inode(self) -> u64 {
        self.ino
    }
}

/// A file system time, in seconds and nanoseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

impl Stamp {
    /// Returns the whole seconds since 1970-01-01 UTC; negative before that.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds within the second, below 1,000,000,000.
    #[must_use]
    pub const fn nanos(self) -> u32 {
        self.nanos
    }
}

/// The metadata of an object at one moment.
///
/// The metadata of one handle before and after a read shows whether the object changed in between.
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
    /// Returns the kind of the object.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// Returns the identity of the object.
    #[must_use]
    pub const fn id(&self) -> FileId {
        self.id
    }

    /// Returns the length in bytes that the system states. A read can give more or fewer bytes.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a stated length of 0 does not mean that nothing can be read"
    )]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the number of hard links.
    #[must_use]
    pub const fn links(&self) -> u64 {
        self.links
    }

    /// Returns the permission, setuid, setgid and sticky bits (0o7777).
    #[must_use]
    pub const fn mode(&self) -> u32 {
        self.mode
    }

    /// Returns the user id of the owner.
    #[must_use]
    pub const fn uid(&self) -> u32 {
        self.uid
    }

    /// Returns the group id.
    #[must_use]
    pub const fn gid(&self) -> u32 {
        self.gid
    }

    /// Returns when the contents last changed. The owner can set this time.
    #[must_use]
    pub const fn modified(&self) -> Stamp {
        self.modified
    }

    /// Returns when contents, hard links or permissions last changed. Only the system sets this time.
    #[must_use]
    pub const fn changed(&self) -> Stamp {
        self.changed
    }
}

/// The permission bits of a new entry, at most 0o777.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Perm(u16);

impl Perm {
    /// Read and write for the owner only (0600).
    pub const PRIVATE_FILE: Self = Self(0o600);
    /// Read, write and search for the owner only (0700).
    pub const PRIVATE_DIRECTORY: Self = Self(0o700);

    /// Creates permission bits, or returns `None` above 0o777. The process's umask still applies.
    #[must_use]
    pub const fn new(bits: u16) -> Option<Self> {
        if bits & !0o777 == 0 { Some(Self(bits)) } else { None }
    }

    /// Returns the bits as a number.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }
}
