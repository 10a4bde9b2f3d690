//! Errors of parsing the text forms of this crate.

use thiserror::Error;

/// A text that is not a valid digest, key, id or time.
///
/// It does not contain the text, which can come from an untrusted file. The caller can show it escaped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid {what}: {kind}")]
pub struct ParseError {
    what: &'static str,
    kind: ParseErrorKind,
}

impl ParseError {
    pub(crate) const fn new(what: &'static str, kind: ParseErrorKind) -> Self {
        Self { what, kind }
    }

    /// Returns the fault of the text.
    #[must_use]
    pub const fn kind(&self) -> &ParseErrorKind {
        &self.kind
    }

    /// Returns the name of the expected type, such as `sha256 digest` or `plugin id`.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        self.what
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            ParseErrorKind::Prefix { .. } => "parse/prefix",
            ParseErrorKind::Length { .. } => "parse/length",
            ParseErrorKind::Character { .. } => "parse/character",
            ParseErrorKind::Shape { .. } => "parse/shape",
        }
    }

    /// Returns the next step for the user.
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

/// The fault of a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The required prefix is missing.
    #[error("expected the prefix `{expected}`")]
    Prefix {
        /// The required prefix.
        expected: &'static str,
    },
    /// The text or a part of it has the wrong length.
    #[error("expected {expected}, found {actual} bytes")]
    Length {
        /// The expected length, as a phrase.
        expected: &'static str,
        /// The actual number of bytes.
        actual: usize,
    },
    /// A character that is not allowed at its position.
    #[error("byte {at}: expected {expected}")]
    Character {
        /// The byte offset of the character in the whole text.
        at: usize,
        /// The allowed characters, as a phrase.
        expected: &'static str,
    },
    /// A part is missing or superfluous.
    #[error("expected {expected}")]
    Shape {
        /// The expected shape.
        expected: &'static str,
    },
}
