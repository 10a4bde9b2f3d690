//! Text after redaction, which only a firewall creates.

pub(crate) mod finding;
pub(crate) mod kind;
pub(crate) mod marker;

use crate::SecretFinding;

/// A value that a [`Firewall`](crate::Firewall) redacted.
///
/// # Guarantees
///
/// When the value was created, it contained no shape that the firewall's rules list, in any view and within
/// the limits that they list. There is no public constructor: no `From`, no `Default`, no `Deserialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<T = String> {
    pub(crate) value: T,
    pub(crate) generation: u64,
    pub(crate) findings: Vec<SecretFinding>,
}

impl<T> Redacted<T> {
    /// Returns the findings in the order of the text.
    #[must_use]
    pub fn findings(&self) -> &[SecretFinding] {
        &self.findings
    }

    /// Returns the number of the firewall that made the value. It is unique within the process.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the value without the findings.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }
}

impl<T> AsRef<T> for Redacted<T> {
    fn as_ref(&self) -> &T {
        &self.value
    }
}

impl Redacted {
    /// Returns the redacted text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

impl Redacted<Vec<u8>> {
    /// Converts to text, with U+FFFD for invalid UTF-8.
    ///
    /// The replacement can split bytes but never join them, so no secret appears. Offsets of findings still
    /// refer to the bytes.
    #[must_use]
    pub fn into_text(self) -> Redacted {
        let value = String::from_utf8(self.value)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Redacted { value, generation: self.generation, findings: self.findings }
    }
}
