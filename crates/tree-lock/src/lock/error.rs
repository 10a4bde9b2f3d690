//! Malformed lockfiles.

use plugward_types::{LineColumn, LineEnds, LineIndex, escape, valid_head};
use thiserror::Error;

use super::entry::LockFault;

/// The name of the whole file in errors that name a plugin.
pub(crate) const WHOLE_FILE: &str = "<lockfile>";

/// A malformed lockfile or entry. No part of such a file is used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the lockfile is malformed{}: expected {}", place(.at.as_ref()), escape::name(.expected.as_bytes()))]
pub struct LockError {
    at: Option<LineColumn>,
    plugin: Option<String>,
    expected: String,
    newer: bool,
}

fn place(at: Option<&LineColumn>) -> String {
    at.map(|LineColumn { line, column }| format!(" at line {line}, column {column}")).unwrap_or_default()
}

impl LockError {
    /// Returns the text of a lockfile.
    pub(crate) fn text(bytes: &[u8]) -> Result<&str, Self> {
        core::str::from_utf8(bytes).map_err(|_invalid| {
            let before = valid_head(bytes);
            Self::at(before, before.len(), "UTF-8")
        })
    }

    pub(crate) fn new(expected: impl Into<String>) -> Self {
        Self { at: None, plugin: None, expected: expected.into(), newer: false }
    }

    pub(crate) fn of_fault(fault: LockFault) -> Self {
        Self::new(format!("`{}`: {}", fault.key, fault.expected))
    }

    pub(crate) fn at(text: &str, offset: usize, expected: impl Into<String>) -> Self {
        Self { at: Some(line_column(text, offset)), ..Self::new(expected) }
    }

    pub(crate) fn of_plugin(mut self, plugin: &str) -> Self {
        self.plugin = Some(plugin.chars().take(400).collect());
        self
    }

    /// Adds the place to an error that has none.
    pub(crate) fn with_place(mut self, text: &str, offset: usize) -> Self {
        self.at = self.at.or_else(|| Some(line_column(text, offset)));
        self
    }

    pub(crate) const fn of_newer(mut self) -> Self {
        self.newer = true;
        self
    }

    /// Returns `true` if a newer plugward wrote the file. Such a file must not be overwritten.
    #[must_use]
    pub const fn is_newer(&self) -> bool {
        self.newer
    }

    /// Returns the line, counted from 1, if the error has a place in a file.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.at.map(|place| place.line)
    }

    /// Returns the column in code points, counted from 1, if the error has a place in a file.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        self.at.map(|place| place.column)
    }

    /// Returns the entry with the error, or `<lockfile>` if the error concerns the whole file.
    ///
    /// An entry is named by its path, and in a file of version 1 by its id. Escape it before you print it.
    #[must_use]
    pub fn plugin(&self) -> &str {
        self.plugin.as_deref().unwrap_or(WHOLE_FILE)
    }

    /// Returns the expected value.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/malformed"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        if self.newer {
            return "use the plugward release that wrote it, or a newer one".into();
        }
        "fix that line, or review every plugin and write the file again with `plugward lock DIR`".into()
    }
}

fn line_column(text: &str, offset: usize) -> LineColumn {
    LineIndex::new(text.as_bytes(), LineEnds::Lf).line_column(offset)
}
