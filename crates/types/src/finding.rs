//! One place, one rule, one severity.

use core::fmt;

use crate::{Digest, FileRole, RuleId};

/// How much a finding weighs: a note, suspicious, or danger.
///
/// # Guarantees
/// The order is `Info < Warning < Danger`; no number stands behind it.
///
/// # Source
/// HyperAgent's three severities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new severity must stop every host from building")]
pub enum Severity {
    /// A note: worth knowing.
    Info,
    /// Suspicious: a person should look once.
    Warning,
    /// The scan gate refuses the plugin.
    Danger,
}

impl Severity {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Danger => "danger",
        }
    }

    /// Gives the next severity up; danger stays danger.
    #[must_use]
    pub const fn raised(self) -> Self {
        match self {
            Self::Info => Self::Warning,
            Self::Warning | Self::Danger => Self::Danger,
        }
    }

    /// Gives the next severity down; info stays info.
    #[must_use]
    pub const fn lowered(self) -> Self {
        match self {
            Self::Danger => Self::Warning,
            Self::Warning | Self::Info => Self::Info,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A range of raw bytes in a file, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "two offsets; a third would be another type")]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Makes a span; an end before the start is moved to the start.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// Gives the number of bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Says whether it has no bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// How a match was hidden from a reader of the plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Disguise {
    /// An encoded run was decoded.
    Decode,
    /// The file is in another encoding than UTF-8.
    Encoding,
    /// An escape stood for a printable character.
    Escape,
    /// Constants were put together.
    Fold,
    /// Markup stood inside a word.
    Markup,
    /// The shell's quoting or expansion was undone.
    Shell,
    /// Look-alike or invisible characters were undone.
    Unicode,
}

impl Disguise {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Encoding => "encoding",
            Self::Escape => "escape",
            Self::Fold => "fold",
            Self::Markup => "markup",
            Self::Shell => "shell",
            Self::Unicode => "unicode",
        }
    }
}

/// One place, one rule, one severity.
///
/// The message and the snippet may hold a plugin's own text, escaped by whoever made the finding; the path is the
/// plugin's own spelling and has to be escaped by whoever prints it.
///
/// # Guarantees
/// Findings order by path, line, column, rule, span: the order of every report.
///
/// # Source
/// HyperAgent reports one match a rule and line, without a column; here every match has its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by the scanner and by hosts that add their own looks")]
pub struct Finding {
    /// The rule that was matched.
    pub rule: RuleId,
    /// The severity in the profile that was asked for, for a file of this role.
    pub severity: Severity,
    /// What the file is for.
    pub role: FileRole,
    /// The file, relative to the plugin, with `/`.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1; an invalid byte counts as one.
    pub column: u32,
    /// The raw bytes of the whole matched construct.
    pub span: Span,
    /// Why it matters, one line.
    pub message: String,
    /// What had to be undone to see the match, in order and without doubles; empty where nothing was hidden.
    pub how: Vec<Disguise>,
    /// One line around the start, escaped, at most 120 characters.
    pub snippet: String,
    /// SHA-256 of the file, or, where several files took part, of their sorted digests.
    pub digest: Digest,
}

impl Finding {
    /// Says whether something had to be undone to see the match.
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
