//! The errors and warnings of a plugin, with their places.

mod code;

use core::fmt;

use plugward_types::Span;
use thiserror::Error;

use crate::json::Position;
use crate::reader::text::escape;

pub use code::{CODES, ManifestCode};

/// A place in a plugin's files: file, JSON pointer, byte range, line and column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManifestPlace {
    pub(crate) file: String,
    pub(crate) pointer: String,
    pub(crate) span: Span,
    pub(crate) position: Option<Position>,
}

impl ManifestPlace {
    /// Returns the place of a whole file, or of a file that does not exist.
    pub(crate) fn of_file(file: &str) -> Self {
        Self { file: file.to_owned(), pointer: String::new(), span: Span::new(0, 0), position: None }
    }

    /// Returns the file, relative to the plugin directory, or the marketplace file if an entry is meant.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the JSON pointer; empty for the whole file.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the byte range in the file.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Returns the line and column, both from 1, or `None` if the whole file is meant.
    #[must_use]
    pub const fn position(&self) -> Option<Position> {
        self.position
    }
}

impl fmt::Display for ManifestPlace {
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

/// All reasons to refuse a plugin's files; at least one.
///
/// # Guarantees
/// The errors are ordered by file and byte. After 100 errors, one `manifest/more-errors` counts the rest.
///
/// # Examples
/// ```
/// use plugward_manifest::{Dialect, MapFiles, PluginContext, read};
///
/// let files = MapFiles::new().with(".claude-plugin/plugin.json", r#"{"name": "a", "skills": "../b"}"#);
/// let errors = read(Dialect::Claude, &files, &PluginContext::for_directory("a")).unwrap_err();
/// let error = errors.first();
/// assert_eq!((error.code(), error.pointer()), ("manifest/path-parent", "/skills"));
/// assert_eq!(error.help(), "use a path inside the plugin directory, without `..`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}", self.first(), self.rest())]
pub struct ManifestErrors {
    pub(crate) errors: Vec<ManifestError>,
}

impl ManifestErrors {
    /// Returns an iterator over the errors, of which there is at least one.
    pub fn iter(&self) -> impl Iterator<Item = &ManifestError> {
        self.errors.iter()
    }

    /// Returns the first error.
    #[must_use]
    pub fn first(&self) -> &ManifestError {
        const NOWHERE: ManifestPlace = ManifestPlace {
            file: String::new(),
            pointer: String::new(),
            span: Span { start: 0, end: 0 },
            position: None,
        };
        const NONE: &ManifestError = &ManifestError::new(ManifestCode::MoreErrors, String::new(), NOWHERE);
        self.errors.first().unwrap_or(NONE)
    }

    /// Returns the number of further errors, for `Display`.
    fn rest(&self) -> String {
        match self.errors.len() {
            0 | 1 => String::new(),
            more => format!(" (and {} more)", more.saturating_sub(1)),
        }
    }
}

/// One reason to refuse a plugin's files.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("read {place}: {message}")]
pub struct ManifestError {
    pub(crate) code: ManifestCode,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    pub(crate) place: ManifestPlace,
    pub(crate) also: Option<Position>,
    pub(crate) event: Option<String>,
}

impl ManifestError {
    pub(crate) const fn new(code: ManifestCode, message: String, place: ManifestPlace) -> Self {
        Self { code, message, help: None, place, also: None, event: None }
    }

    /// Returns the code as an enum.
    #[must_use]
    pub const fn kind(&self) -> ManifestCode {
        self.code
    }

    /// Returns the stable code, such as `manifest/syntax`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Returns how to fix the error.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self.help {
            Some(help) => help,
            None => self.code.help(),
        }
    }

    /// Returns what was expected and what was found; text from the plugin is escaped.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the place of the error.
    #[must_use]
    pub const fn place(&self) -> &ManifestPlace {
        &self.place
    }

    /// Returns the file, relative to the plugin directory.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.place.file
    }

    /// Returns the JSON pointer; empty for the whole file.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.place.pointer
    }

    /// Returns the byte range in the file.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.place.span
    }

    /// Returns the line, from 1; it is 1 if the whole file is meant.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.place.position.map_or(1, |position| position.line)
    }

    /// Returns the column in Unicode scalar values, from 1; it is 1 if the whole file is meant.
    #[must_use]
    pub fn column(&self) -> u32 {
        self.place.position.map_or(1, |position| position.column)
    }

    /// Returns the place of the first of two equal keys, and `None` for other errors.
    #[must_use]
    pub const fn also(&self) -> Option<Position> {
        self.also
    }

    /// Returns the event of the hook entry that contains the error.
    ///
    /// `None` outside hook entries, and if the entry does not have a valid event.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.event.as_deref()
    }
}

/// The severity of a warning. No warning refuses a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new level must stop every host from building")]
pub enum WarningLevel {
    /// A fact that is worth knowing.
    Notice,
    /// A part of the plugin does not work, or hides.
    Warning,
}

/// A problem in a plugin that is not a reason to refuse it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestWarning {
    pub(crate) code: ManifestCode,
    pub(crate) level: WarningLevel,
    pub(crate) message: String,
    pub(crate) place: ManifestPlace,
}

impl ManifestWarning {
    /// Returns the code as an enum.
    #[must_use]
    pub const fn kind(&self) -> ManifestCode {
        self.code
    }

    /// Returns the stable code, such as `manifest/unknown-key`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Returns how to fix the problem.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.code.help()
    }

    /// Returns the severity.
    #[must_use]
    pub const fn level(&self) -> WarningLevel {
        self.level
    }

    /// Returns the problem; text from the plugin is escaped.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the place of the problem.
    #[must_use]
    pub const fn place(&self) -> &ManifestPlace {
        &self.place
    }
}
