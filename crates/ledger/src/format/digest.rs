//! SHA-256 digests and ledger ids with their hex forms.

use core::fmt;
use core::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::error::{LedgerError, LedgerErrorKind};

const HEX: &[u8; 16] = b"0123456789abcdef";

pub(crate) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            out.push(HEX.get(usize::from(nibble)).copied().unwrap_or(b'?'));
        }
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let mut text = Vec::with_capacity(bytes.len().saturating_mul(2));
    push_hex(&mut text, bytes);
    f.write_str(core::str::from_utf8(&text).unwrap_or("?"))
}

pub(crate) fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != N.saturating_mul(2) {
        return None;
    }
    let mut bytes = [0; N];
    let mut bad = 0;
    for (slot, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        for digit in pair {
            let nibble = NIBBLES.get(usize::from(*digit)).copied().unwrap_or(16);
            bad |= nibble;
            *slot = (*slot << 4) | (nibble & 15);
        }
    }
    (bad < 16).then_some(bytes)
}

/// The value of each lowercase hex digit, and 16 for all other bytes. A table without branches, because
/// verification parses a digest per line.
const NIBBLES: [u8; 256] = {
    let mut table = [16; 256];
    let mut value: u8 = 0;
    while value < 16 {
        #[expect(clippy::indexing_slicing, reason = "16 digits and 256 places, checked when it is compiled")]
        {
            table[HEX[value as usize] as usize] = value;
        }
        value = value.saturating_add(1);
    }
    table
};

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
        write_hex(f, &self.0)
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
        parse_hex(text).map(Self).ok_or_else(|| {
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
        write_hex(f, &self.0)
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
        parse_hex(text).map(Self).ok_or_else(|| {
            LedgerError::new(LedgerErrorKind::Text { what: "ledger id", expected: "32 lowercase hex digits" })
        })
    }
}
