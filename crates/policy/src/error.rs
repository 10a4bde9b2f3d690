//! The faults of a settings text, with their places.

use plugward_types::{LineEnds, LineIndex, Part};

/// The place of a value or fault: a file label, and a line and column from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a place in a text has three parts")]
pub struct ValueOrigin {
    /// The label of the file, or `PLUGWARD_CFG` or `--cfg`.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column in code points.
    pub column: u32,
}

impl core::fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One fault of a settings text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsFault {
    /// What is wrong.
    pub message: String,
    /// The next step for the user.
    pub help: String,
    /// The place.
    pub origin: ValueOrigin,
    /// The source line.
    pub source: String,
}

impl SettingsFault {
    /// Creates the fault of a file that cannot be read.
    #[must_use]
    pub fn of_file(label: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        let origin = ValueOrigin { file: label.to_owned(), line: 1, column: 1 };
        Self { message: message.into(), help: help.into(), origin, source: String::new() }
    }
}

/// A settings text that cannot be used, with all of its faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    first: Box<SettingsFault>,
    rest: Vec<SettingsFault>,
}

impl SettingsError {
    /// Returns the error for some faults, or `None` if there are none.
    pub(crate) fn of(faults: Vec<SettingsFault>) -> Option<Self> {
        let mut faults = faults.into_iter();
        Some(Self { first: Box::new(faults.next()?), rest: faults.collect() })
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "policy/settings"
    }

    /// Returns the first fault.
    #[must_use]
    pub fn first(&self) -> &SettingsFault {
        &self.first
    }

    /// Returns all faults, in the order of the text.
    #[must_use]
    pub fn into_faults(self) -> Vec<SettingsFault> {
        core::iter::once(*self.first).chain(self.rest).collect()
    }

    /// Returns the faults after the first, in the order of the text.
    #[must_use]
    pub fn rest(&self) -> &[SettingsFault] {
        &self.rest
    }
}

impl core::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.first.origin, self.first.message)?;
        match self.rest.len() {
            0 => Ok(()),
            1 => f.write_str(" (and 1 more error)"),
            more => write!(f, " (and {more} more errors)"),
        }
    }
}

impl core::error::Error for SettingsError {}

/// Returns the place of a byte offset, and its line.
pub(crate) fn place(label: &str, text: &str, at: usize) -> (ValueOrigin, String) {
    // TOML ends a line at LF or CR LF only.
    let index = LineIndex::new(text.as_bytes(), LineEnds::Lf);
    let place = index.line_column(at);
    let line = text.part(index.range(place.line)).trim_end_matches(['\n', '\r']);
    let origin = ValueOrigin { file: label.to_owned(), line: place.line, column: place.column };
    (origin, line.to_owned())
}
