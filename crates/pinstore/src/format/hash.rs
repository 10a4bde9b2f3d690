//! SHA-256 of the stored bytes.

use plugward_types::Digest;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 digest of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Digest::from_bytes(Sha256::digest(bytes).into())
}
