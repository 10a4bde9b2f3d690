//! SHA-256 of bytes outside a snapshot.

use std::io::{self, Read};

use plugward_types::{Digest, Part};
use sha2::Digest as _;

/// The size of the buffer.
const CHUNK: usize = 128 << 10;

/// Returns the SHA-256 digest of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest::from_bytes(sha2::Sha256::digest(bytes).into())
}

/// Returns the SHA-256 digest of what a reader returns, which is not kept in memory.
///
/// # Errors
/// The error of the reader.
pub fn sha256_of(mut reader: impl Read) -> io::Result<Digest> {
    let (mut hash, mut buffer) = (sha2::Sha256::new(), vec![0; CHUNK]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(Digest::from_bytes(hash.finalize().into())),
            Ok(count) => hash.update(buffer.part(..count)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
