//! A lock file that is none.

use thiserror::Error;

use crate::escape::escape;

/// What stands for the whole file where an error names a plugin.
pub(crate) const WHOLE_FILE: &str = "<lockfile>";

/// A lock file that could not be read: nothing in it is believed.
///
/// # Source
/// codewizard's `lockfile_malformed`, with the place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("read the lock file{}: expected {}", place(.at.as_ref()), escape(.expected.as_bytes()))]
pub struct LockError {
    at: Option<(usize, usize)>,
    plugin: Option<String>,
    expected: String,
    newer: bool,
}

fn place(at: Option<&(usize, usize)>) -> String {
    at.map(|(line, column)| format!(": line {line}, column {column}")).unwrap_or_default()
}

impl LockError {
    pub(crate) fn new(expected: impl Into<String>) -> Self {
        Self { at: None, plugin: None, expected: expected.into(), newer: false }
    }

    pub(crate) fn at(text: &str, offset: usize, expected: impl Into<String>) -> Self {
        Self { at: Some(line_and_column(text, offset)), ..Self::new(expected) }
    }

    pub(crate) fn of_plugin(mut self, plugin: &str) -> Self {
        self.plugin = Some(plugin.chars().take(400).collect());
        self
    }

    pub(crate) const fn of_newer(mut self) -> Self {
        self.newer = true;
        self
    }

    /// Says whether a newer program wrote the file: such a file is never written over.
    #[must_use]
    pub const fn is_newer(&self) -> bool {
        self.newer
    }

    /// Gives the line, from 1, where there is one.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.at.map(|(line, _)| line)
    }

    /// Gives the column in code points, from 1, where there is one.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.at.map(|(_, column)| column)
    }

    /// Names the plugin whose entry is at fault, or `<lockfile>`; it has to be escaped by whoever prints it.
    #[must_use]
    pub fn plugin(&self) -> &str {
        self.plugin.as_deref().unwrap_or(WHOLE_FILE)
    }

    /// Says what was expected there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/malformed"
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(&self) -> String {
        if self.newer {
            return "use the newer plugward that wrote it".into();
        }
        "mend the place by hand, or write the file anew with `plugward lock DIR` after looking at every plugin".into()
    }
}

/// Gives line and column, both from 1, the column in code points.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let before = text.get(..end).unwrap_or_default();
    let line = before.matches('\n').count().saturating_add(1);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
    (line, column)
}
