//! SHA-256 of bytes outside a snapshot.

use plugward_types::Digest;
use sha2::Digest as _;

/// Returns the SHA-256 digest of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest::from_bytes(sha2::Sha256::digest(bytes).into())
}
