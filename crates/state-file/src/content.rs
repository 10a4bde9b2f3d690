//! What was read, and from which copy.

use core::fmt;

use crate::StateError;

/// The bytes of a file, and what was noticed beside.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    bytes: Vec<u8>,
    notices: Vec<Notice>,
}

impl Content {
    pub(crate) const fn new(bytes: Vec<u8>, notices: Vec<Notice>) -> Self {
        Self { bytes, notices }
    }

    pub(crate) fn with(mut self, more: Vec<Notice>) -> Self {
        self.notices.extend(more);
        self
    }

    /// Gives the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives the bytes away.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Gives what a person should be told.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content")
            .field("len", &self.bytes.len())
            .field("notices", &self.notices)
            .finish_non_exhaustive()
    }
}

/// Something that is no reason to stop, and that a person should be told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The group may write the file; the next write mends it.
    GroupWritable {
        /// The file.
        name: String,
    },
    /// The group may put files into the folder; nothing here mends it.
    FolderGroupWritable,
}

impl Notice {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::GroupWritable { .. } | Self::FolderGroupWritable => "state/group-writable",
        }
    }

    /// Says what a person types next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::GroupWritable { name } => format!("chmod g-w {name}; the next write mends it"),
            Self::FolderGroupWritable => "chmod g-w the folder".to_owned(),
        }
    }
}

/// Which copy was taken.
#[derive(Debug, Clone)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new copy must stop every caller from building")]
pub enum Recovered {
    /// There is neither the file nor a last good copy.
    Absent,
    /// The file itself.
    Main(Content),
    /// The last good copy, since the file could not be used.
    LastGood {
        /// What the copy holds.
        content: Content,
        /// What is wrong with the file.
        fault: Fault,
    },
}

/// What is wrong with a copy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Fault {
    /// It is not there.
    Missing,
    /// It was read, and the caller does not take its bytes.
    Invalid,
    /// It was not read.
    Unreadable(StateError),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::Invalid => f.write_str("damaged"),
            Self::Unreadable(error) => write!(f, "{}", error.kind()),
        }
    }
}
