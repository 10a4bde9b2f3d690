//! Why a text is none of the words of this crate.

use thiserror::Error;

/// A text that is no digest, plugin id or rule id.
///
/// The text itself is not kept: it may come from a stranger, and whoever holds it can show it escaped.
///
/// # Source
/// `words.md`, "Verdicts and errors".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("read the {what}: {kind}")]
pub struct ParseError {
    what: &'static str,
    kind: ParseErrorKind,
}

impl ParseError {
    pub(crate) const fn new(what: &'static str, kind: ParseErrorKind) -> Self {
        Self { what, kind }
    }

    /// Says what is wrong with the text.
    #[must_use]
    pub const fn kind(&self) -> &ParseErrorKind {
        &self.kind
    }

    /// Names the word that was expected: `sha256 digest`, `plugin id` and so on.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        self.what
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            ParseErrorKind::Prefix { .. } => "parse/prefix",
            ParseErrorKind::Length { .. } => "parse/length",
            ParseErrorKind::Character { .. } => "parse/character",
            ParseErrorKind::Shape { .. } => "parse/shape",
        }
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.kind {
            ParseErrorKind::Prefix { expected } => format!("start it with `{expected}`"),
            ParseErrorKind::Length { expected, .. } => format!("write {expected}"),
            ParseErrorKind::Character { expected, .. } => format!("use {expected} only"),
            ParseErrorKind::Shape { expected } => format!("write it as {expected}"),
        }
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The text does not start as it must.
    #[error("expected `{expected}` in front")]
    Prefix {
        /// What it must start with.
        expected: &'static str,
    },
    /// The text, or a part of it, has the wrong length.
    #[error("expected {expected}, got {actual} bytes")]
    Length {
        /// The length that is asked for, in words.
        expected: &'static str,
        /// The bytes that were there.
        actual: usize,
    },
    /// A character that may not stand there.
    #[error("byte {at}: expected {expected}")]
    Character {
        /// Byte offset of the character in the whole text.
        at: usize,
        /// What may stand there, in words.
        expected: &'static str,
    },
    /// A part is missing or there is one too many.
    #[error("expected {expected}")]
    Shape {
        /// The shape that is asked for.
        expected: &'static str,
    },
}
