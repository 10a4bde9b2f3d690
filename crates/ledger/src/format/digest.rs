//! SHA-256 digests and ledger ids with their hex forms.

use core::fmt;
use core::str::FromStr;

use plugward_types::hex;
use sha2::{Digest as _, Sha256};

use crate::error::{LedgerError, LedgerErrorKind};

/// A SHA-256 digest, written as 64 lowercase hex digits.
///
/// # Guarantees
///
/// `Display` and `FromStr` are inverse. Uppercase digits and other lengths are errors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerDigest([u8; 32]);

impl LedgerDigest {
    /// The `prev` of a first record: 64 zeros.
    pub const ZERO: Self = Self([0; 32]);

    /// Creates a digest from the 32 bytes of a hasher.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes the concatenation of parts.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for LedgerDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for LedgerDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for LedgerDigest {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        hex::decode_array(text).map(Self).ok_or_else(|| {
            LedgerError::new(LedgerErrorKind::Text { what: "digest", expected: "64 lowercase hex digits" })
        })
    }
}

/// The id of a ledger: 16 random bytes, written as 32 lowercase hex digits.
///
/// The caller provides the bytes, because this crate does not generate random numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerId([u8; 16]);

impl LedgerId {
    /// Creates an id from 16 bytes, which should come from the system's random number generator.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for LedgerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for LedgerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for LedgerId {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        hex::decode_array(text).map(Self).ok_or_else(|| {
            LedgerError::new(LedgerErrorKind::Text { what: "ledger id", expected: "32 lowercase hex digits" })
        })
    }
}
