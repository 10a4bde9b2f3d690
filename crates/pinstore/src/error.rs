//! Why a store was not read or not written.

use core::fmt;

use plugward_state_file::StateError;
use thiserror::Error;

/// A stored file that does not say what its format allows.
///
/// # Guarantees
/// Keys are kept with everything but printable ASCII escaped, and cut off at 120 characters; no value is kept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{kind}", At(*place))]
pub struct FormatError {
    place: Option<(usize, usize)>,
    kind: FormatErrorKind,
}

/// Writes `line 3, column 9: ` in front.
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

    /// Gives line and column, from 1, the column in characters; none where the file as a whole is meant.
    #[must_use]
    pub const fn place(&self) -> Option<(usize, usize)> {
        self.place
    }

    /// Says what is wrong.
    #[must_use]
    pub const fn kind(&self) -> &FormatErrorKind {
        &self.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "store/format"
    }

    /// Says what a person does next.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.kind {
            FormatErrorKind::Expected { key, expected } => format!("write {key} as {expected}"),
            FormatErrorKind::Missing { key } => format!("add {key}, or remove the whole entry"),
            FormatErrorKind::Version { .. } => "use the newer plugward that wrote the file".to_owned(),
            FormatErrorKind::TooMany { .. } => "remove entries that are not needed any more".to_owned(),
            _ => "mend the line, or move the file away so that the last good copy is taken".to_owned(),
        }
    }
}

/// What is wrong with a stored file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// It is not UTF-8.
    #[error("not UTF-8")]
    Utf8,
    /// It is not TOML.
    #[error("{message}")]
    Syntax {
        /// What the parser says; it quotes nothing of the file.
        message: String,
    },
    /// It has no bytes at all.
    #[error("the file is empty")]
    Empty,
    /// It ends too early: without its last table, or within its last line.
    #[error("the file is cut off: {missing}")]
    CutOff {
        /// What is not there.
        missing: &'static str,
    },
    /// A value is not what it must be.
    #[error("{key}: expected {expected}")]
    Expected {
        /// The key, from the top.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A value that must be there is not.
    #[error("{key} is missing")]
    Missing {
        /// The key, from the top.
        key: String,
    },
    /// A newer plugward wrote it.
    #[error("version {found} is newer than this program reads")]
    Version {
        /// The version that the file gives.
        found: i64,
    },
    /// More entries than are taken.
    #[error("more than {most} entries")]
    TooMany {
        /// The most that are taken.
        most: usize,
    },
    /// More bytes than are read.
    #[error("more than {cap} bytes")]
    TooLarge {
        /// The most that are read.
        cap: usize,
    },
}

/// What is wrong with one copy of a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StoreFault {
    /// It is not there.
    Missing,
    /// This store keeps no copy.
    NotKept,
    /// It was read and is no store.
    Damaged(FormatError),
    /// It is of version 1, while a copy of version 2 is there: an old program wrote over it.
    VersionOne,
    /// It was not read.
    Unreadable(StateError),
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::NotKept => f.write_str("not kept"),
            Self::Damaged(error) => write!(f, "damaged ({error})"),
            Self::VersionOne => f.write_str("written over by a program that knows version 1 only"),
            Self::Unreadable(error) => write!(f, "not read ({})", error.kind()),
        }
    }
}

impl StoreFault {
    /// What is said of the last good copy beside the file: nothing where none is kept.
    fn as_last(&self) -> String {
        match self {
            Self::NotKept => String::new(),
            other => format!(", its last good copy is {other}"),
        }
    }
}

/// Which store an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Pins,
    Approvals,
}

/// A store that was not read, or a change that was not saved.
///
/// It is neither a yes nor a no: [`StoreErrorRule`](crate::StoreErrorRule) says what the host makes of it.
///
/// # Source
/// ADR-003: a pin store that fails is logged, and loading goes on without pins.
#[derive(Debug, Clone)]
pub struct StoreError {
    store: Store,
    file: String,
    kind: Box<StoreErrorKind>,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "use {}: {}", self.file, self.kind)
    }
}

impl core::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        // The kind stands in our own text; what is below it does not.
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

    /// Names the file, below the folder that was handed in.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Says what went wrong.
    #[must_use]
    pub fn kind(&self) -> &StoreErrorKind {
        &self.kind
    }

    /// Gives the stable code.
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

    /// Says what a person types or does next.
    #[must_use]
    pub fn help(&self) -> String {
        let file = &self.file;
        match (&*self.kind, self.store) {
            // What is whole and not taken is best mended in place.
            (StoreErrorKind::Unusable { main: StoreFault::Unreadable(error), .. }, Store::Pins) => {
                format!("{}; or start over: plugward forget --all", error.help())
            }
            (StoreErrorKind::Unusable { main: StoreFault::Unreadable(error), .. }, Store::Approvals) => {
                format!("{}; or move it away and approve again", error.help())
            }
            (StoreErrorKind::Unusable { .. }, Store::Pins) => {
                format!("mend {file} or {file}.last-good, or start over: plugward forget --all")
            }
            (StoreErrorKind::Unusable { .. }, Store::Approvals) => {
                format!("mend {file}, or move it away and approve again")
            }
            (StoreErrorKind::Version { .. }, _) => format!("use the newer plugward that wrote {file}"),
            (StoreErrorKind::NotSaved(error), _) => error.help(),
            (StoreErrorKind::TooMany { .. }, _) => {
                "forget plugins that are gone: plugward forget ID".to_owned()
            }
            (StoreErrorKind::Unwritable { .. }, _) => {
                format!("mend {file} by hand at the place that is named")
            }
        }
    }
}

/// What went wrong with a store.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// No copy of it can be used.
    #[error("the file is {main}{}", last_good.as_last())]
    Unusable {
        /// What is wrong with the file.
        main: StoreFault,
        /// What is wrong with the last good copy.
        last_good: StoreFault,
    },
    /// A newer plugward wrote it; it is neither written nor recovered.
    #[error("version {found} is newer than this program reads")]
    Version {
        /// The version that the file gives.
        found: i64,
    },
    /// The store was read, and the change was not saved.
    #[error("the change was not saved")]
    NotSaved(#[source] StateError),
    /// The change would make more entries than are read back.
    #[error("more than {most} entries")]
    TooMany {
        /// The most that are taken.
        most: usize,
    },
    /// The change cannot be put into the file as it stands; nothing was written.
    #[error("the change does not fit the file as it was edited ({why})")]
    Unwritable {
        /// What is in the way.
        why: String,
    },
}
