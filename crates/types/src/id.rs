//! Plugin ids.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use core::str::FromStr;

use crate::Part;
use crate::{ParseError, ParseErrorKind};

const WHAT: &str = "plugin id";
const PART: &str = "A-Z a-z 0-9 . _ -, first alphanumeric, no `..`";
const SHAPE: &str = "dialect:name@source";

/// A plugin's id, written `dialect:name@source`.
///
/// The dialect is the manifest format, the name is the one in the manifest, and the source is the marketplace or
/// directory of origin.
///
/// # Guarantees
/// Each part has 1 to 128 bytes of `A-Z a-z 0-9 . _ -`, starts with a letter or digit, and does not contain `..`. An id
/// needs no escapes in a file name, a TOML key or a terminal.
///
/// # Examples
/// ```
/// use plugward_types::PluginId;
/// let id: PluginId = "claude:hookify@team".parse()?;
/// assert_eq!((id.dialect(), id.name(), id.source()), ("claude", "hookify", "team"));
/// assert!("claude:../x@team".parse::<PluginId>().is_err());
/// # Ok::<(), plugward_types::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginId {
    text: String,
    // The two separators are stored, because ids are compared and split far more often than they are parsed.
    colon: usize,
    at: usize,
}

impl PluginId {
    /// Creates an id from its parts.
    ///
    /// # Errors
    /// `parse/length` or `parse/character` if a part breaks the rules of the type.
    pub fn new(dialect: &str, name: &str, source: &str) -> Result<Self, ParseError> {
        let colon = dialect.len();
        let at = colon + 1 + name.len();
        check_part(dialect, 0)?;
        check_part(name, colon + 1)?;
        check_part(source, at + 1)?;
        Ok(Self { text: format!("{dialect}:{name}@{source}"), colon, at })
    }

    /// Returns the dialect, such as `claude` or `hyperagent`.
    #[must_use]
    pub fn dialect(&self) -> &str {
        self.text.part(..self.colon)
    }

    /// Returns the name that the manifest states.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text.part(self.colon + 1..self.at)
    }

    /// Returns the marketplace or directory of origin.
    #[must_use]
    pub fn source(&self) -> &str {
        self.text.part(self.at + 1..)
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Checks one part, so that callers can report which part is invalid.
    ///
    /// # Errors
    /// As [`PluginId::new`].
    pub fn check_part(text: &str) -> Result<(), ParseError> {
        check_part(text, 0)
    }
}

fn check_part(text: &str, offset: usize) -> Result<(), ParseError> {
    if text.is_empty() || text.len() > 128 {
        let kind = ParseErrorKind::Length { expected: "1 to 128 bytes in each part", actual: text.len() };
        return Err(ParseError::new(WHAT, kind));
    }
    let mut before = None;
    for (index, byte) in text.bytes().enumerate() {
        let first = byte.is_ascii_alphanumeric();
        let good = first || (index > 0 && matches!(byte, b'.' | b'_' | b'-'));
        // Two dots in a row are refused, so that a part is never a path to the parent, even if a host uses it
        // as a file name.
        if !good || (byte == b'.' && before == Some(b'.')) {
            let at = offset + index;
            return Err(ParseError::new(WHAT, ParseErrorKind::Character { at, expected: PART }));
        }
        before = Some(byte);
    }
    Ok(())
}

impl FromStr for PluginId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let shape = || ParseError::new(WHAT, ParseErrorKind::Shape { expected: SHAPE });
        let (dialect, rest) = text.split_once(':').ok_or_else(shape)?;
        let (name, source) = rest.split_once('@').ok_or_else(shape)?;
        Self::new(dialect, name, source)
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
