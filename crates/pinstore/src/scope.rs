//! Whose decision it is.

use core::fmt;
use core::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::error::{FormatError, FormatErrorKind};

const PREFIX: &str = "workspace:";
const EXPECTED: &str = "`user`, or `workspace:` and 16 lower-case hex digits";

/// Whose decision it is: the user's for every place, or for one workspace alone.
///
/// It is in the key of each pin, so that a cloned repository cannot take or block a user's pin by a name.
///
/// # Source
/// ADR-003 keys by name alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(Option<String>);

impl Scope {
    /// The user's own plugins.
    pub const USER: Self = Self(None);

    /// The plugins of one workspace, named by its real path.
    ///
    /// # Guarantees
    /// The text form is `workspace:` and the first 16 hex digits of the SHA-256 of the path's bytes; the path
    /// itself is stored nowhere.
    #[must_use]
    pub fn workspace(real_path: &[u8]) -> Self {
        let mut text = crate::hash::hex(&Sha256::digest(real_path));
        text.truncate(16);
        Self(Some(format!("{PREFIX}{text}")))
    }

    /// Gives the text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("user")
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        if text == "user" {
            return Ok(Self::USER);
        }
        let hex = text.strip_prefix(PREFIX).unwrap_or_default();
        let lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if hex.len() == 16 && hex.bytes().all(lower_hex) {
            return Ok(Self(Some(text.to_owned())));
        }
        let kind = FormatErrorKind::Expected { key: "scope".to_owned(), expected: EXPECTED };
        Err(FormatError::anywhere(kind))
    }
}
