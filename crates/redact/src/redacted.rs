//! Text after redaction: only a firewall makes it.

use crate::Found;

/// A value that a [`Firewall`](crate::Firewall) let through.
///
/// # Guarantees
/// At the moment when it was made, no shape that the firewall's rules list was in it, in any view that they list,
/// within their limits. There is no public way to make one: no `From`, no `Default`, no `Deserialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<T = String> {
    pub(crate) value: T,
    pub(crate) generation: u64,
    pub(crate) findings: Vec<Found>,
}

impl<T> Redacted<T> {
    /// Gives what was found, in the order of the text.
    #[must_use]
    pub fn findings(&self) -> &[Found] {
        &self.findings
    }

    /// Says which firewall made it: no two firewalls of one process have the same number.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Gives the value and lets the findings go.
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
    /// Gives the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

impl Redacted<Vec<u8>> {
    /// Gives text, with U+FFFD for what is not UTF-8.
    ///
    /// The replacement can only break bytes up, never put some together; offsets of findings are those of the bytes.
    #[must_use]
    pub fn into_text(self) -> Redacted {
        let value = String::from_utf8(self.value)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Redacted { value, generation: self.generation, findings: self.findings }
    }
}
