//! SHA-256 and hexadecimal text in the stored files.

use plugward_types::Digest;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 digest of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Digest::from_bytes(Sha256::digest(bytes).into())
}

/// Formats bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use core::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len().saturating_mul(2)), |mut text, byte| {
        // Writing to a string does not fail.
        if write!(text, "{byte:02x}").is_err() {
            text.clear();
        }
        text
    })
}
