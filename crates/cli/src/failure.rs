//! The failure of a verb, with its exit code.

use std::fmt;
use std::io;

use crate::diagnostic::{Diagnostic, Location};

/// The class of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// The command line or the settings are wrong: exit 2.
    Usage,
    /// Input, output or a defect: exit 1.
    Internal,
    /// The request is refused as it stands: exit 4.
    Refused,
    /// A store or lockfile cannot be read: exit 7.
    Store,
    /// Another exit code: 3 for a decision of the user, 5 for a denial.
    Exit(u8),
}

/// The failure of a verb. A refusal is not a failure: it is part of a report.
#[derive(Debug)]
pub(crate) struct Failure {
    class: Class,
    // Boxed, because almost every function returns this type and the success is the common case.
    diagnostic: Box<Diagnostic>,
    /// The other faults of a settings file.
    more: Vec<Diagnostic>,
}

impl Failure {
    fn new(class: Class, title: impl Into<String>) -> Self {
        Self { class, diagnostic: Box::new(Diagnostic::error(title)), more: Vec::new() }
    }

    pub(crate) fn usage(title: impl Into<String>) -> Self {
        Self::new(Class::Usage, title)
    }

    /// Creates the failure for a fault of a settings file.
    pub(crate) fn settings(diagnostic: Diagnostic) -> Self {
        Self { class: Class::Usage, diagnostic: Box::new(diagnostic), more: Vec::new() }
    }

    /// Adds another fault, which is printed after the first.
    pub(crate) fn and(mut self, diagnostic: Diagnostic) -> Self {
        self.more.push(diagnostic);
        self
    }

    pub(crate) fn internal(title: impl Into<String>) -> Self {
        Self::new(Class::Internal, title)
    }

    pub(crate) fn refused(title: impl Into<String>) -> Self {
        Self::new(Class::Refused, title)
    }

    pub(crate) fn store(title: impl Into<String>) -> Self {
        Self::new(Class::Store, title)
    }

    /// Creates a failure with the exit code of its cause.
    pub(crate) fn exiting(code: u8, title: impl Into<String>) -> Self {
        Self::new(Class::Exit(code), title)
    }

    fn with(mut self, change: impl FnOnce(Diagnostic) -> Diagnostic) -> Self {
        self.diagnostic = Box::new(change(*self.diagnostic));
        self
    }

    pub(crate) fn code(self, code: &str) -> Self {
        self.with(|diagnostic| diagnostic.code(code))
    }

    pub(crate) fn at(self, location: Location) -> Self {
        self.with(|diagnostic| diagnostic.at(location))
    }

    pub(crate) fn note(self, label: &str, text: impl Into<String>) -> Self {
        self.with(|diagnostic| diagnostic.note(label, text))
    }

    pub(crate) fn help(self, text: impl AsRef<str>) -> Self {
        self.with(|diagnostic| diagnostic.help(text.as_ref()))
    }

    pub(crate) fn stable_code(&self) -> Option<&str> {
        self.diagnostic.stable_code()
    }

    pub(crate) fn help_text(&self) -> Option<String> {
        self.diagnostic.help_text()
    }

    /// Returns the command in the first help that has one, such as `plugward explain demo`.
    pub(crate) fn next_command(&self) -> Option<&str> {
        self.diagnostic.next_command()
    }

    /// Makes it the failure of a store, which exits with 7.
    pub(crate) const fn of_store(mut self) -> Self {
        self.class = Class::Store;
        self
    }

    /// Turns it into a note, for features that only save time.
    pub(crate) fn into_note(self, title: &str) -> Diagnostic {
        self.diagnostic.note_with(title)
    }

    /// Turns it into a warning, if the verb can continue.
    pub(crate) fn into_warning(self) -> Diagnostic {
        self.diagnostic.warn()
    }

    pub(crate) const fn exit(&self) -> u8 {
        match self.class {
            Class::Internal => 1,
            Class::Usage => 2,
            Class::Refused => 4,
            Class::Store => 7,
            Class::Exit(code) => code,
        }
    }

    pub(crate) fn render(&self, width: usize) -> String {
        let more = self.more.iter().map(|diagnostic| format!("\n{}", diagnostic.render(width)));
        self.diagnostic.render(width) + &more.collect::<String>()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.diagnostic.title())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::internal(format!("{error:#}"))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error.to_string())
    }
}
