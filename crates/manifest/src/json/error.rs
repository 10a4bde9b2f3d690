//! The errors of the JSON parser.

use plugward_types::Span;
use thiserror::Error;

use super::Position;
use crate::ManifestCode;

/// All errors in one file, ordered by byte.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}", self.first(), if self.errors.len() > 1 { format!(" (and {} more)", self.errors.len().saturating_sub(1)) } else { String::new() })]
pub struct JsonErrors {
    errors: Vec<JsonError>,
    unlisted: usize,
}

impl JsonErrors {
    pub(super) fn new(mut errors: Vec<JsonError>, unlisted: usize) -> Self {
        errors.sort_by_key(|error| error.span);
        Self { errors, unlisted }
    }

    /// Returns an iterator over the errors, of which there is at least one.
    pub fn iter(&self) -> impl Iterator<Item = &JsonError> {
        self.errors.iter()
    }

    /// Returns the number of errors that were found but are not listed.
    #[must_use]
    pub const fn unlisted(&self) -> usize {
        self.unlisted
    }

    pub(crate) fn into_vec(self) -> Vec<JsonError> {
        self.errors
    }

    fn first(&self) -> String {
        self.errors.first().map(ToString::to_string).unwrap_or_default()
    }
}

/// One error in a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
pub struct JsonError {
    pub(super) kind: JsonErrorKind,
    pub(super) span: Span,
    pub(super) position: Position,
    pub(super) pointer: String,
    pub(super) first: Option<(Span, Position)>,
}

impl JsonError {
    /// Returns what is wrong.
    #[must_use]
    pub const fn kind(&self) -> &JsonErrorKind {
        &self.kind
    }

    /// Returns the stable code, such as `manifest/syntax`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code().as_str()
    }

    /// Returns how to fix the error.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match &self.kind {
            JsonErrorKind::Syntax(syntax) => syntax.help(),
            JsonErrorKind::NotUtf8 { utf16: true } => "save the file as UTF-8 without a byte order mark",
            JsonErrorKind::Toml { .. } => "fix the TOML (version 1.1)",
            JsonErrorKind::TooDeep { limit: 16 } => "use at most 16 levels of nesting",
            kind => kind.code().help(),
        }
    }

    /// Returns the byte range of the error.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Returns the line and column of its first byte.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// Returns the JSON pointer of the innermost value that was being parsed.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the place of the first of two equal keys, and `None` for other errors.
    #[must_use]
    pub const fn first(&self) -> Option<(Span, Position)> {
        self.first
    }
}

/// The kind of an error in a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The file is larger than the limit.
    #[error("expected at most {limit} bytes, got {actual}")]
    TooLarge {
        /// The limit.
        limit: usize,
        /// The size of the file.
        actual: usize,
    },
    /// Lists and objects are nested more deeply than the limit.
    #[error("expected at most {limit} nested lists and objects")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The file contains more values than the limit.
    #[error("expected at most {limit} values")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// A string is longer than the limit.
    #[error("expected at most {limit} bytes in a string")]
    StringTooLong {
        /// The limit.
        limit: usize,
    },
    /// The bytes are not UTF-8.
    #[error("expected UTF-8, got {}", if *utf16 { "UTF-16" } else { "an invalid byte" })]
    NotUtf8 {
        /// `true` if the bytes look like UTF-16.
        utf16: bool,
    },
    /// The file starts with a byte order mark.
    #[error("expected JSON, got a byte order mark")]
    Bom,
    /// The text violates RFC 8259.
    #[error("{0}")]
    Syntax(JsonSyntaxError),
    /// The text is not TOML.
    #[error("{message}")]
    Toml {
        /// The message of the TOML parser.
        message: String,
    },
    /// A `\u` escape is half of a surrogate pair.
    #[error("expected a whole character, got half of a surrogate pair")]
    Surrogate,
    /// An object contains a key twice.
    #[error("expected each key once, got `{key}` again")]
    DuplicateKey {
        /// The key, truncated.
        key: String,
    },
}

impl JsonErrorKind {
    pub(crate) const fn code(&self) -> ManifestCode {
        match self {
            Self::TooLarge { .. } => ManifestCode::TooLarge,
            Self::TooDeep { .. } => ManifestCode::TooDeep,
            Self::TooMany { .. } => ManifestCode::TooMany,
            Self::StringTooLong { .. } => ManifestCode::StringTooLong,
            Self::NotUtf8 { .. } => ManifestCode::NotUtf8,
            Self::Bom => ManifestCode::Bom,
            Self::Syntax(_) | Self::Toml { .. } => ManifestCode::Syntax,
            Self::Surrogate => ManifestCode::Surrogate,
            Self::DuplicateKey { .. } => ManifestCode::DuplicateKey,
        }
    }
}

macro_rules! syntax {
    ($($name:ident, $message:literal, $help:literal;)*) => {
        /// The ways in which a text can violate RFC 8259.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
        #[non_exhaustive]
        pub enum JsonSyntaxError {
            $(
                #[doc = concat!("The parser ", $message, ".")]
                #[error($message)]
                $name,
            )*
        }

        impl JsonSyntaxError {
            /// Returns how to fix the error.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => $help,)* }
            }
        }
    };
}

syntax! {
    Empty, "expected a JSON value, got an empty file", "write one JSON object";
    Comment, "expected JSON, got a comment", "remove the comment: JSON does not have comments";
    TrailingComma, "expected another value after the comma, got the closing bracket", "remove the last comma";
    SingleQuote, "expected a double quote, got a single quote", "write strings and keys in double quotes";
    NotANumber, "expected a number, got NaN or Infinity", "write a number, a string or null";
    PlusSign, "expected a number without a plus sign", "remove the plus sign";
    LeadingZero, "expected a number without leading zeros", "remove the leading zeros";
    BadNumber, "expected a digit", "write the number as 1, -1, 1.5 or 1e3";
    ControlInString, "expected a printable character in a string, got a control character", "write it as \\n, \\t or \\u00XX";
    BadEscape, "expected a JSON escape after the backslash", "write \\\\ for a backslash";
    UnclosedString, "expected a closing double quote, got the end of the file", "close the string";
    Unclosed, "expected the closing bracket, got the end of the file", "close every list and object";
    UnquotedKey, "expected a key in double quotes", "write the key in double quotes";
    MissingColon, "expected a colon after the key", "write a colon between key and value";
    MissingComma, "expected a comma or the closing bracket", "write a comma between two values";
    TrailingText, "expected the end of the file after the value", "keep one value in the file";
    UnknownWord, "expected true, false or null, got another word", "write the word in lowercase, or quote it";
    Unexpected, "expected a JSON value, got another character", "write an object, list, string, number, true, false or null";
}
