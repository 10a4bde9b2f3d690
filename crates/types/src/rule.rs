//! Rule ids.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

use crate::{ParseError, ParseErrorKind};

const WHAT: &str = "rule id";

/// A rule id, written `family/name`. Ids never change once released.
///
/// # Guarantees
/// Two parts of 1 to 64 bytes of `a-z 0-9 -`, each of which starts with a letter or digit.
/// # Examples
/// ```
/// use plugward_types::RuleId;
///
/// let rule: RuleId = "shell/piped-download".parse()?;
/// assert_eq!(rule.family(), "shell");
/// assert!("Shell/piped-download".parse::<RuleId>().is_err());
/// # Ok::<(), plugward_types::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(Arc<str>);

impl RuleId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part before the slash.
    #[must_use]
    pub fn family(&self) -> &str {
        self.0.split('/').next().unwrap_or(&self.0)
    }
}

impl FromStr for RuleId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let shape = || ParseError::new(WHAT, ParseErrorKind::Shape { expected: "family/name" });
        let (family, name) = text.split_once('/').ok_or_else(shape)?;
        let mut offset = 0_usize;
        for part in [family, name] {
            if part.is_empty() || part.len() > 64 {
                let kind =
                    ParseErrorKind::Length { expected: "1 to 64 bytes in each part", actual: part.len() };
                return Err(ParseError::new(WHAT, kind));
            }
            for (index, byte) in part.bytes().enumerate() {
                if !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || (byte == b'-' && index > 0)) {
                    let at = offset + index;
                    let kind = ParseErrorKind::Character { at, expected: "a-z 0-9 -" };
                    return Err(ParseError::new(WHAT, kind));
                }
            }
            offset = family.len() + 1;
        }
        Ok(Self(Arc::from(text)))
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
