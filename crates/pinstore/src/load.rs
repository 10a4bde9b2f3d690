//! Which copy of the pins is believed.

use plugward_state_file::{Content, Notice, StateError};

use crate::error::{FormatErrorKind, Store, StoreError, StoreErrorKind, StoreFault};
use crate::model::{Format, Model};

/// What was found when the pins were opened. A store that cannot be used is an error instead.
///
/// # Source
/// ADR-003 has one file and no copy; pinstore page, 2.6.
#[derive(Debug, Clone)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum StoreCheck {
    /// There are no pins yet: first use.
    Empty,
    /// The file is good.
    Ready,
    /// The last good copy was taken (`pin/recovered`); the next commit mends the file.
    Recovered {
        /// What is wrong with the file.
        fault: StoreFault,
    },
}

impl StoreCheck {
    /// Gives the stable code of the notice that goes with the answer.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Empty | Self::Ready => None,
            Self::Recovered { .. } => Some("pin/recovered"),
        }
    }
}

/// What a person should be told of the pins file; never a reason to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreNotice {
    /// The number of pins is not the one at the end of the file: `pin/hand-edited`.
    HandEdited {
        /// The number at the end of the file.
        said: u64,
        /// The number of pins in it.
        counted: u64,
    },
    /// The group may write the file or its folder: `state/group-writable`.
    File(Notice),
}

impl StoreNotice {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::HandEdited { .. } => "pin/hand-edited",
            Self::File(notice) => notice.code(),
        }
    }

    /// Says what a person should know or type.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::HandEdited { said, counted } => {
                format!("{counted} pins are there and {said} were written; to drop a pin: plugward forget ID")
            }
            Self::File(notice) => notice.help(),
        }
    }
}

/// One copy that is believed, and why.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) model: Model,
    pub(crate) text: String,
    pub(crate) check: StoreCheck,
    pub(crate) notices: Vec<StoreNotice>,
}

type Read = Result<Option<Content>, StateError>;

enum Copy {
    Good { model: Box<Model>, content: Content },
    Bad(StoreFault),
}

/// Whether bytes are all of a pins file, of this version or of a newer one.
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

/// Chooses between the file and its last good copy.
pub(crate) fn load(file: &str, main: Read, last_good: impl FnOnce() -> Read) -> Result<Loaded, StoreError> {
    let newer = |found| StoreError::new(Store::Pins, file, StoreErrorKind::Version { found });
    let fault = match judge(main).map_err(newer)? {
        Copy::Good { model, content } if model.format == Format::Two => {
            return Ok(loaded(*model, content, StoreCheck::Ready));
        }
        Copy::Good { model, content } => {
            // A program that knows version 1 alone may have made the file anew: its pins must not hide ours.
            return match judge(last_good()).map_err(newer)? {
                Copy::Good { model, content } => {
                    Ok(loaded(*model, content, StoreCheck::Recovered { fault: StoreFault::VersionOne }))
                }
                Copy::Bad(StoreFault::Missing) => Ok(loaded(*model, content, StoreCheck::Ready)),
                Copy::Bad(last_good) => {
                    let kind = StoreErrorKind::Unusable { main: StoreFault::VersionOne, last_good };
                    Err(StoreError::new(Store::Pins, file, kind))
                }
            };
        }
        Copy::Bad(fault) => fault,
    };
    match judge(last_good()).map_err(newer)? {
        Copy::Good { model, content } => Ok(loaded(*model, content, StoreCheck::Recovered { fault })),
        Copy::Bad(StoreFault::Missing) if matches!(fault, StoreFault::Missing) => Ok(Loaded {
            model: Model::default(),
            text: String::new(),
            check: StoreCheck::Empty,
            notices: Vec::new(),
        }),
        Copy::Bad(last_good) => {
            let kind = StoreErrorKind::Unusable { main: fault, last_good };
            Err(StoreError::new(Store::Pins, file, kind))
        }
    }
}

fn loaded(model: Model, content: Content, check: StoreCheck) -> Loaded {
    let mut notices: Vec<StoreNotice> = content.notices().iter().cloned().map(StoreNotice::File).collect();
    let counted = model.count();
    if model.format == Format::Two && counted != model.said {
        notices.push(StoreNotice::HandEdited { said: model.said, counted });
    }
    // What parsed is UTF-8.
    let text = String::from_utf8(content.into_bytes()).unwrap_or_default();
    Loaded { model, text, check, notices }
}
