//! Why a plugin's files are refused, and what is worth saying about those that are not.

use core::fmt;

use plugward_types::Span;
use thiserror::Error;

use crate::Code;
use crate::json::Position;
use crate::text::escape;

/// Where something stands: file, JSON pointer, bytes, line and column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub(crate) file: String,
    pub(crate) pointer: String,
    pub(crate) span: Span,
    pub(crate) position: Option<Position>,
}

impl Place {
    /// Gives the file, relative to the plugin's folder; the marketplace file for what an entry says.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Gives the JSON pointer; empty for the whole file.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Gives the bytes of the file.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Gives line and column, from 1; absent where the file itself is meant.
    #[must_use]
    pub const fn position(&self) -> Option<Position> {
        self.position
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.file, 256))?;
        if let Some(position) = self.position {
            write!(f, ":{}:{}", position.line, position.column)?;
        }
        if !self.pointer.is_empty() {
            write!(f, " ({})", escape(&self.pointer, 256))?;
        }
        Ok(())
    }
}

/// Everything for which a plugin's files are refused; at least one error.
///
/// # Guarantees
/// In the order of file and bytes; at most 100, then one `manifest/more-errors` with the count of the rest.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}", self.first(), self.rest())]
pub struct ManifestErrors {
    pub(crate) errors: Vec<ManifestError>,
}

impl ManifestErrors {
    /// Gives the errors, at least one.
    pub fn iter(&self) -> impl Iterator<Item = &ManifestError> {
        self.errors.iter()
    }

    /// Gives the first error.
    #[must_use]
    pub fn first(&self) -> &ManifestError {
        const NOWHERE: Place = Place {
            file: String::new(),
            pointer: String::new(),
            span: Span { start: 0, end: 0 },
            position: None,
        };
        const NONE: &ManifestError = &ManifestError::new(Code::MoreErrors, String::new(), NOWHERE);
        self.errors.first().unwrap_or(NONE)
    }

    fn rest(&self) -> String {
        match self.errors.len() {
            0 | 1 => String::new(),
            more => format!(" (and {} more)", more.saturating_sub(1)),
        }
    }
}

/// One reason for which a plugin's files are refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("read {place}: {message}")]
pub struct ManifestError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    pub(crate) place: Place,
    pub(crate) also: Option<Position>,
    pub(crate) event: Option<String>,
}

impl ManifestError {
    pub(crate) const fn new(code: Code, message: String, place: Place) -> Self {
        Self { code, message, help: None, place, also: None, event: None }
    }

    /// Says what it is about.
    #[must_use]
    pub const fn kind(&self) -> Code {
        self.code
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Says what to do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self.help {
            Some(help) => help,
            None => self.code.help(),
        }
    }

    /// Says what was expected and what was there; the plugin's own words are escaped.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Gives the place.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Gives the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.place.file
    }

    /// Gives the JSON pointer.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.place.pointer
    }

    /// Gives the bytes.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.place.span
    }

    /// Gives the line, from 1; 1 where the file itself is meant.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.place.position.map_or(1, |position| position.line)
    }

    /// Gives the column in scalar values, from 1; 1 where the file itself is meant.
    #[must_use]
    pub fn column(&self) -> u32 {
        self.place.position.map_or(1, |position| position.column)
    }

    /// Gives the place of the first of two equal keys; absent for other errors.
    #[must_use]
    pub const fn also(&self) -> Option<Position> {
        self.also
    }

    /// Returns the event of the hook entry with the error; absent outside hook entries, and if the entry names no event
    /// that can be read.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.event.as_deref()
    }
}

/// How much a notice weighs. None of them refuses a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new weight must stop every host from building")]
pub enum Weight {
    /// Worth knowing.
    Notice,
    /// Something of the plugin does not work, or hides.
    Warning,
}

/// Something worth saying about a plugin that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub(crate) code: Code,
    pub(crate) weight: Weight,
    pub(crate) message: String,
    pub(crate) place: Place,
}

impl Notice {
    /// Says what it is about.
    #[must_use]
    pub const fn kind(&self) -> Code {
        self.code
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Says what to do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.code.help()
    }

    /// Gives the weight.
    #[must_use]
    pub const fn weight(&self) -> Weight {
        self.weight
    }

    /// Says what there is; the plugin's own words are escaped.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Gives the place.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }
}
