//! Findings of a scan.

use core::ops::Range;
use core::str::FromStr;

use crate::{Digest, FileRole, ParseError, ParseErrorKind, RuleId};

crate::named! {
    /// The severity of a finding: note, suspicious, or danger.
    ///
    /// # Guarantees
    /// The order is `Info < Warning < Danger`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "a new severity must stop every host from building")]
    pub enum Severity {
        /// A note.
        Info = "info",
        /// Suspicious: a user must review it.
        Warning = "warning",
        /// Danger: the scan gate refuses the plugin.
        Danger = "danger",
    }
}

impl Severity {
    /// Returns the next higher severity, or `Danger`.
    #[must_use]
    pub const fn raised(self) -> Self {
        match self {
            Self::Info => Self::Warning,
            Self::Warning | Self::Danger => Self::Danger,
        }
    }

    /// Returns the next lower severity, or `Info`.
    #[must_use]
    pub const fn lowered(self) -> Self {
        match self {
            Self::Danger => Self::Warning,
            Self::Warning | Self::Info => Self::Info,
        }
    }
}

impl FromStr for Severity {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let kind = ParseErrorKind::Shape { expected: "`info`, `warning` or `danger`" };
        Self::from_name(text).ok_or(ParseError::new("severity", kind))
    }
}

/// A range of raw bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "two offsets; a third would be another type")]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Creates a span. It is empty if the end is before the start.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Returns `true` if the span has no bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

crate::named! {
    /// A kind of obfuscation that was removed before a rule matched.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Obfuscation {
        /// An encoded payload was decoded.
        Decode = "decode",
        /// The file has another encoding than UTF-8.
        Encoding = "encoding",
        /// A printable character was written as an escape.
        Escape = "escape",
        /// Constants were folded.
        Fold = "fold",
        /// Markup was inside a word.
        Markup = "markup",
        /// Quoting or expansion of the shell was resolved.
        Shell = "shell",
        /// Homoglyphs or invisible characters were replaced.
        Unicode = "unicode",
    }
}

/// A match of a rule in a file.
///
/// The message and the snippet can contain text of the plugin and are already escaped. The path is not; escape it
/// before you print it.
///
/// # Guarantees
/// Findings are ordered by path, line, column, rule and span, as in every report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by the scanner and by hosts with checks of their own")]
pub struct Finding {
    /// The matched rule.
    pub rule: RuleId,
    /// The severity in the chosen profile, for a file of this role.
    pub severity: Severity,
    /// The role of the file.
    pub role: FileRole,
    /// The file, relative to the plugin, with `/`.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1; an invalid byte counts as one.
    pub column: u32,
    /// The raw bytes of the match.
    pub span: Span,
    /// The risk, in one line.
    pub message: String,
    /// The obfuscations of the match, sorted and without duplicates.
    pub how: Vec<Obfuscation>,
    /// The line of the start, escaped and shortened to 120 characters.
    pub snippet: String,
    /// The characters of the snippet that belong to the match, as far as they are in it.
    pub caret: Range<usize>,
    /// The SHA-256 digest of the file, or of the sorted digests if the match covers several files.
    pub digest: Digest,
}

impl Finding {
    /// Returns `true` if the match was obfuscated.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        !self.how.is_empty()
    }

    fn key(&self) -> (&str, u32, u32, &RuleId, Span) {
        (&self.path, self.line, self.column, &self.rule, self.span)
    }
}

impl PartialOrd for Finding {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Finding {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.key()
            .cmp(&other.key())
            .then_with(|| self.severity.cmp(&other.severity))
            .then_with(|| self.message.cmp(&other.message))
            .then_with(|| self.how.cmp(&other.how))
            .then_with(|| self.snippet.cmp(&other.snippet))
            .then_with(|| self.digest.cmp(&other.digest))
    }
}
