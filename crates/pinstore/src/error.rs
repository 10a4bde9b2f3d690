//! The errors of the stores.

use core::fmt;

use plugward_state_file::{StateError, StateErrorKind, TrustFault};
use thiserror::Error;

/// A stored file that breaks its format.
///
/// # Guarantees
/// Messages contain no values. Keys in messages are escaped to printable ASCII and cut off after 120 characters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{kind}", At(*place))]
pub struct FormatError {
    place: Option<(usize, usize)>,
    kind: FormatErrorKind,
}

/// Writes the prefix `line 3, column 9: `.
struct At(Option<(usize, usize)>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((line, column)) => write!(f, "line {line}, column {column}: "),
            None => Ok(()),
        }
    }
}

impl FormatError {
    pub(crate) const fn at(place: (usize, usize), kind: FormatErrorKind) -> Self {
        Self { place: Some(place), kind }
    }

    pub(crate) const fn anywhere(kind: FormatErrorKind) -> Self {
        Self { place: None, kind }
    }

    /// Returns line and column, from 1, the column in characters; `None` if the error is about the whole file.
    #[must_use]
    pub const fn place(&self) -> Option<(usize, usize)> {
        self.place
    }

    /// Returns the cause.
    #[must_use]
    pub const fn kind(&self) -> &FormatErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "store/format"
    }

    /// Returns what the user can do.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.kind {
            FormatErrorKind::Expected { key, expected } => format!("write {key} as {expected}"),
            FormatErrorKind::Missing { key } => format!("add {key}, or remove the whole entry"),
            FormatErrorKind::Version { .. } => {
                "use the newer version of plugward that wrote the file".to_owned()
            }
            FormatErrorKind::Unknown { key } => format!("remove {key}"),
            FormatErrorKind::Check { key } => format!("restore {key}, or delete the whole entry"),
            FormatErrorKind::TooMany { .. } => "delete entries that are not needed any more".to_owned(),
            _ => "fix the line, or move the file away so that the backup is used".to_owned(),
        }
    }
}

/// The fault of a stored file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// It is not UTF-8.
    #[error("not UTF-8")]
    Utf8,
    /// It is not TOML.
    #[error("{message}")]
    Syntax {
        /// The parser's message, which does not quote the file.
        message: String,
    },
    /// It has no bytes.
    #[error("the file is empty")]
    Empty,
    /// It ends before its last table or within its last line.
    #[error("the file is cut off: {missing}")]
    CutOff {
        /// The missing part.
        missing: &'static str,
    },
    /// A value is invalid.
    #[error("{key}: expected {expected}")]
    Expected {
        /// The key, from the top.
        key: String,
        /// The valid values.
        expected: &'static str,
    },
    /// A required value is missing.
    #[error("{key} is missing")]
    Missing {
        /// The key, from the top.
        key: String,
    },
    /// A key that is not part of the format.
    #[error("{key}: unknown key")]
    Unknown {
        /// The key, from the top.
        key: String,
    },
    /// The check value of an entry does not match the entry.
    #[error("{key}: the check value does not match: the entry was edited or is damaged")]
    Check {
        /// The entry.
        key: String,
    },
    /// The file has entries that its end does not count.
    #[error("there are more entries than `[end]` counts")]
    Uncounted,
    /// A newer version of plugward wrote the file.
    #[error("version {found} is newer than this program reads")]
    Version {
        /// The version in the file.
        found: i64,
    },
    /// More entries than the limit.
    #[error("more than {most} entries")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// More bytes than the limit.
    #[error("more than {cap} bytes")]
    TooLarge {
        /// The limit.
        cap: usize,
    },
}

/// The fault of one copy of a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StoreFault {
    /// It does not exist.
    Missing,
    /// This store has no backup.
    NotKept,
    /// It was not read, because another user can write the file.
    NotRead,
    /// It was read and is invalid.
    Damaged(FormatError),
    /// Its version is older than that of its backup, because an older program replaced it.
    OlderVersion,
    /// It could not be read.
    Unreadable(StateError),
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::NotKept => f.write_str("not stored"),
            Self::NotRead => f.write_str("not read"),
            Self::Damaged(error) => write!(f, "damaged ({error})"),
            Self::OlderVersion => f.write_str("replaced by an older program"),
            Self::Unreadable(error) => write!(f, "unreadable ({})", error.kind()),
        }
    }
}

impl StoreFault {
    /// Returns `true` if another user owns the file or its directory, or can write it.
    pub(crate) fn is_of_others(&self) -> bool {
        let Self::Unreadable(error) = self else { return false };
        matches!(
            error.kind(),
            StateErrorKind::NotTrusted(
                TrustFault::Owner { .. }
                    | TrustFault::Writable
                    | TrustFault::DirectoryOwner { .. }
                    | TrustFault::DirectoryWritable
            )
        )
    }

    /// Returns the part of a message about the backup, empty if the store has none.
    fn as_last(&self) -> String {
        match self {
            Self::NotKept | Self::NotRead => String::new(),
            other => format!(", its backup is {other}"),
        }
    }
}

/// The store of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Pins,
    Approvals,
}

/// A store that could not be read, or a change that could not be saved.
///
/// It is not a verdict: [`StoreErrorRule`](crate::StoreErrorRule) decides about the plugins.
#[derive(Debug, Clone)]
pub struct StoreError {
    store: Store,
    file: String,
    kind: Box<StoreErrorKind>,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use {}: {}", self.file, self.kind)
    }
}

impl core::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        // `Display` prints the kind, but not the source of the kind.
        match &*self.kind {
            StoreErrorKind::NotSaved(error) => Some(error),
            _ => None,
        }
    }
}

impl StoreError {
    pub(crate) fn new(store: Store, file: &str, kind: StoreErrorKind) -> Self {
        Self { store, file: file.to_owned(), kind: Box::new(kind) }
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the cause.
    #[must_use]
    pub fn kind(&self) -> &StoreErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match (self.store, &*self.kind) {
            (Store::Pins, StoreErrorKind::Unusable { .. }) => "pin/store",
            (Store::Pins, StoreErrorKind::Version { .. }) => "pin/store-version",
            (Store::Pins, _) => "pin/not-saved",
            (Store::Approvals, StoreErrorKind::Unusable { .. }) => "approval/store",
            (Store::Approvals, StoreErrorKind::Version { .. }) => "approval/store-version",
            (Store::Approvals, _) => "approval/not-saved",
        }
    }

    /// Returns what the user can do.
    #[must_use]
    pub fn help(&self) -> String {
        let file = &self.file;
        match (&*self.kind, self.store) {
            (StoreErrorKind::Unusable { main: StoreFault::Unreadable(error), .. }, Store::Pins) => {
                format!("{}; or delete all pins and start over", error.help())
            }
            (StoreErrorKind::Unusable { main: StoreFault::Unreadable(error), .. }, Store::Approvals) => {
                format!("{}; or move it away and approve again", error.help())
            }
            (StoreErrorKind::Unusable { .. }, Store::Pins) => {
                format!("fix {file} or {file}.last-good, or delete all pins and start over")
            }
            (StoreErrorKind::Unusable { .. }, Store::Approvals) => {
                format!("fix {file}, or move it away and approve again")
            }
            (StoreErrorKind::Version { .. }, _) => {
                format!("use the newer version of plugward that wrote {file}")
            }
            (StoreErrorKind::NotSaved(error), _) => error.help(),
            (StoreErrorKind::TooMany { .. }, _) => {
                "delete the pins of plugins that do not exist any more".to_owned()
            }
            (StoreErrorKind::Unwritable { .. }, _) => {
                format!("this is a bug, please report it; {file} was not changed")
            }
        }
    }
}

/// The cause of a store error.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Neither the file nor its backup can be used.
    #[error("the file is {main}{}", last_good.as_last())]
    Unusable {
        /// The fault of the file.
        main: StoreFault,
        /// The fault of the backup.
        last_good: StoreFault,
    },
    /// A newer version of plugward wrote the file, so it is neither replaced nor recovered.
    #[error("version {found} is newer than this program reads")]
    Version {
        /// The version in the file.
        found: i64,
    },
    /// The store was read, but the change could not be saved.
    #[error("the change was not saved")]
    NotSaved(#[source] StateError),
    /// The change would create more entries than the limit.
    #[error("more than {most} entries")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// The new contents would not parse to the intended ones, so nothing was written.
    #[error("the new contents do not read back ({why})")]
    Unwritable {
        /// The difference.
        why: String,
    },
}
