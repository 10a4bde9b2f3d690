//! SHA-256 sums and ledger ids, and their hex.

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

/// The value of each lower-case hex digit; 16 for all other bytes.
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

/// SHA-256 of some bytes, written as 64 lower-case hex digits.
///
/// # Guarantees
/// Render and parse are inverse; upper-case digits and other lengths do not parse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum([u8; 32]);

impl Sum {
    /// The `prev` of a first record: 64 zeros.
    pub const ZERO: Self = Self([0; 32]);

    /// Takes the 32 bytes that a hasher gave.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Gives the 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Hashes some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes the parts one after another, as if they were one piece.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sum {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        parse_hex(text).map(Self).ok_or_else(|| {
            LedgerError::new(LedgerErrorKind::Text { what: "sum", expected: "64 lower-case hex digits" })
        })
    }
}

/// Names one ledger: 16 bytes that its maker drew, written as 32 lower-case hex digits.
///
/// The bytes are handed in: this crate draws no random numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerId([u8; 16]);

impl LedgerId {
    /// Takes 16 bytes, which should come from the system's random source.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Gives the 16 bytes.
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
            LedgerError::new(LedgerErrorKind::Text {
                what: "ledger id",
                expected: "32 lower-case hex digits",
            })
        })
    }
}
