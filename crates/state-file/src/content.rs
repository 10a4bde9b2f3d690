//! The contents of a state file or its backup.

use core::fmt;

use crate::StateError;

/// The bytes of a file, with warnings about it.
#[derive(Clone, PartialEq, Eq)]
pub struct StateContents {
    bytes: Vec<u8>,
    warnings: Vec<StateWarning>,
}

impl StateContents {
    pub(crate) const fn new(bytes: Vec<u8>, warnings: Vec<StateWarning>) -> Self {
        Self { bytes, warnings }
    }

    pub(crate) fn with(mut self, more: Vec<StateWarning>) -> Self {
        self.warnings.extend(more);
        self
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the warnings for the user.
    #[must_use]
    pub fn warnings(&self) -> &[StateWarning] {
        &self.warnings
    }
}

impl fmt::Debug for StateContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content")
            .field("len", &self.bytes.len())
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// A remark about a file that the user should see and that does not stop the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateWarning {
    /// The group can write the file. The next write removes that permission.
    GroupWritable {
        /// The file.
        name: String,
    },
    /// The group can create files in the directory.
    DirectoryGroupWritable,
}

impl StateWarning {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::GroupWritable { .. } | Self::DirectoryGroupWritable => "state/group-writable",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::GroupWritable { name } => format!("chmod g-w {name} (the next write also fixes it)"),
            Self::DirectoryGroupWritable => "run chmod g-w on the directory".to_owned(),
        }
    }
}

/// The result of reading the file, or its backup if the file cannot be used.
#[derive(Debug, Clone)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new copy must stop every caller from building")]
pub enum Recovered {
    /// Neither the file nor a backup exists.
    Absent,
    /// The file itself.
    Main(StateContents),
    /// The backup, because the file cannot be used.
    Backup {
        /// The contents of the backup.
        content: StateContents,
        /// The fault of the file.
        fault: CopyFault,
    },
}

/// The reason why the file or its backup cannot be used.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CopyFault {
    /// It does not exist.
    Missing,
    /// It was read, and the caller rejects its bytes.
    Invalid,
    /// It could not be read.
    Unreadable(StateError),
}

impl fmt::Display for CopyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::Invalid => f.write_str("damaged"),
            Self::Unreadable(error) => write!(f, "{}", error.kind()),
        }
    }
}
