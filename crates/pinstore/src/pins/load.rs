//! The choice between the pins file and its backup.

use plugward_state_file::{StateContents, StateError, StateWarning};

use crate::error::{FormatErrorKind, Store, StoreError, StoreErrorKind, StoreFault};
use crate::format::model::{Format, Model};

/// The result of opening the pins. A store that cannot be used is an error instead.
#[derive(Debug, Clone)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum StoreCheck {
    /// No pins exist yet.
    Empty,
    /// The file is valid.
    Ready,
    /// The backup was used (`pin/recovered`). The next commit repairs the file.
    Recovered {
        /// The fault of the file.
        fault: StoreFault,
    },
}

impl StoreCheck {
    /// Returns the stable code of the notice for this answer.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Empty | Self::Ready => None,
            Self::Recovered { .. } => Some("pin/recovered"),
        }
    }
}

/// A notice about the pins file. It does not affect decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreNotice {
    /// Entries were deleted by hand: `pin/hand-edited`.
    HandEdited {
        /// The number of entries according to `[end]`.
        said: u64,
        /// The number of entries in the file.
        counted: u64,
    },
    /// The group can write the file or its directory: `state/group-writable`.
    File(StateWarning),
}

impl StoreNotice {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::HandEdited { .. } => "pin/hand-edited",
            Self::File(notice) => notice.code(),
        }
    }

    /// Returns what the user should know or do.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::HandEdited { said, counted } => {
                format!("{counted} of {said} entries are left in the file; the others were deleted by hand")
            }
            Self::File(notice) => notice.help(),
        }
    }
}

/// The copy that is used.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) model: Model,
    pub(crate) bytes: Vec<u8>,
    pub(crate) check: StoreCheck,
    pub(crate) notices: Vec<StoreNotice>,
}

type Read = Result<Option<StateContents>, StateError>;

enum Copy {
    Good { model: Box<Model>, content: StateContents },
    Bad(StoreFault),
}

/// Returns `true` if the bytes are a complete pins file of this version or a newer one.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    match Model::parse(bytes) {
        Ok(_) => true,
        Err(error) => matches!(error.kind(), FormatErrorKind::Version { .. }),
    }
}

fn judge(read: Read) -> Result<Copy, i64> {
    let content = match read {
        Ok(Some(content)) => content,
        Ok(None) => return Ok(Copy::Bad(StoreFault::Missing)),
        Err(error) => return Ok(Copy::Bad(StoreFault::Unreadable(error))),
    };
    match Model::parse(content.bytes()) {
        Ok(model) => Ok(Copy::Good { model: Box::new(model), content }),
        Err(error) => match *error.kind() {
            FormatErrorKind::Version { found } => Err(found),
            _ => Ok(Copy::Bad(StoreFault::Damaged(error))),
        },
    }
}

/// Chooses between the file and its backup.
pub(crate) fn load(file: &str, main: Read, last_good: impl FnOnce() -> Read) -> Result<Loaded, StoreError> {
    let newer = |found| StoreError::new(Store::Pins, file, StoreErrorKind::Version { found });
    let unusable =
        |main, last_good| StoreError::new(Store::Pins, file, StoreErrorKind::Unusable { main, last_good });
    let fault = match judge(main).map_err(newer)? {
        Copy::Good { model, content } if model.format == Format::Four => {
            return Ok(loaded(*model, content, StoreCheck::Ready));
        }
        Copy::Good { model, content } => {
            // An older program can have created a new file. Its pins must not hide the newer ones in the
            // backup.
            return match judge(last_good()).map_err(newer)? {
                Copy::Good { model: backup, content } if backup.format > model.format => {
                    Ok(loaded(*backup, content, StoreCheck::Recovered { fault: StoreFault::OlderVersion }))
                }
                // Programs that write version 1 write no backup, so a damaged backup can hide newer pins.
                Copy::Bad(fault) if !matches!(fault, StoreFault::Missing) && model.format == Format::One => {
                    Err(unusable(StoreFault::OlderVersion, fault))
                }
                Copy::Good { .. } | Copy::Bad(_) => Ok(loaded(*model, content, StoreCheck::Ready)),
            };
        }
        // The backup does not show that nobody else wrote the file, so a user has to look at it first.
        Copy::Bad(fault) if fault.is_of_others() => {
            return Err(unusable(fault, StoreFault::NotRead));
        }
        Copy::Bad(fault) => fault,
    };
    match judge(last_good()).map_err(newer)? {
        Copy::Good { model, content } => Ok(loaded(*model, content, StoreCheck::Recovered { fault })),
        Copy::Bad(StoreFault::Missing) if matches!(fault, StoreFault::Missing) => Ok(Loaded {
            model: Model::default(),
            bytes: Vec::new(),
            check: StoreCheck::Empty,
            notices: Vec::new(),
        }),
        Copy::Bad(last_good) => Err(unusable(fault, last_good)),
    }
}

fn loaded(model: Model, content: StateContents, check: StoreCheck) -> Loaded {
    let mut notices: Vec<StoreNotice> = content.warnings().iter().cloned().map(StoreNotice::File).collect();
    let counted = match model.format {
        Format::One => model.stated,
        Format::Three | Format::Four => model.counts(),
    };
    if counted != model.stated {
        notices.push(StoreNotice::HandEdited { said: model.stated.all(), counted: counted.all() });
    }
    Loaded { model, bytes: content.into_bytes(), check, notices }
}
