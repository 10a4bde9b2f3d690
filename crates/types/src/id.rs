//! What a plugin is called.

use core::fmt;
use core::str::FromStr;

use crate::{ParseError, ParseErrorKind};

const WHAT: &str = "plugin id";
const PART: &str = "A-Z a-z 0-9 . _ -, first alphanumeric, no `..`";
const SHAPE: &str = "dialect:name@source";

/// A plugin's id, written `dialect:name@source`.
///
/// The dialect says whose manifest format it is, the name is what the manifest says, and the source is the
/// marketplace or folder that it came from. All three are in the key of a pin, so that a cloned repository
/// cannot take or block a pin by using another plugin's name.
///
/// # Guarantees
/// Each part has 1 to 128 bytes of `A-Z a-z 0-9 . _ -`, starts with a letter or digit, and has no `..`; so an
/// id can stand in a file name, a TOML key and a terminal as it is.
///
/// # Source
/// ADR-003 keys pins by name alone, shared by every scope; this closes it.
///
/// # Example
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
    colon: usize,
    at: usize,
}

impl PluginId {
    /// Puts an id together from its parts.
    ///
    /// # Errors
    /// `parse/length` or `parse/character` where a part breaks the character rule.
    pub fn new(dialect: &str, name: &str, source: &str) -> Result<Self, ParseError> {
        let colon = dialect.len();
        let at = colon.saturating_add(1).saturating_add(name.len());
        check_part(dialect, 0)?;
        check_part(name, colon.saturating_add(1))?;
        check_part(source, at.saturating_add(1))?;
        Ok(Self { text: format!("{dialect}:{name}@{source}"), colon, at })
    }

    /// Gives the dialect: `claude`, `hyperagent` and so on.
    #[must_use]
    pub fn dialect(&self) -> &str {
        self.text.get(..self.colon).unwrap_or_default()
    }

    /// Gives the plugin's own name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text.get(self.colon.saturating_add(1)..self.at).unwrap_or_default()
    }

    /// Gives the marketplace or folder it came from.
    #[must_use]
    pub fn source(&self) -> &str {
        self.text.get(self.at.saturating_add(1)..).unwrap_or_default()
    }

    /// Gives the whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Checks one part alone, so that whoever builds ids can say which of them is at fault.
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
        if !good || (byte == b'.' && before == Some(b'.')) {
            let at = offset.saturating_add(index);
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
