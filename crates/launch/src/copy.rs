//! Copies of programs, and their digests.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use sha2::{Digest as _, Sha256};

use crate::error::LaunchError;

/// The size of the buffer, which fits the cache of a processor core.
const CHUNK: usize = 128 << 10;

/// The result of copying a program into a private file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a verdict, which a caller matches completely")]
pub enum CopyCheck {
    /// The copy has the expected digest.
    Copied,
    /// The copy has another digest, so the caller removes it.
    Differs {
        /// The SHA-256 of the copy.
        found: [u8; 32],
    },
}

/// Copies a program into a new private file and compares the SHA-256 of the copy.
///
/// For a script, and for a program that cannot be sealed. `into` is an empty file, open for reading and writing,
/// in a directory that no other user can write. The caller closes it before the start: a file that is open for
/// writing is not executed. Reads `file` from its start, and does not move its cursor.
///
/// # Errors
/// `launch/io` if a file cannot be read or written.
pub fn copy_program(file: &File, into: &File, expected: &[u8; 32]) -> Result<CopyCheck, LaunchError> {
    let copy = || {
        let found = copy_bytes(file, into, file.metadata()?.len()).and_then(|()| digest(into))?;
        Ok(if found == *expected { CopyCheck::Copied } else { CopyCheck::Differs { found } })
    };
    copy().map_err(LaunchError::io("copy the program into a private file"))
}

/// Copies a file up to its length. What a file that grows has after it was not checked.
pub(crate) fn copy_bytes(from: &File, mut to: &File, length: u64) -> io::Result<()> {
    chunks(from, length, |chunk| to.write_all(chunk))
}

pub(crate) fn digest(file: &File) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    chunks(file, u64::MAX, |chunk| {
        hasher.update(chunk);
        Ok(())
    })?;
    Ok(hasher.finalize().into())
}

/// Reads a file from its start to its end, or up to a length.
fn chunks(file: &File, length: u64, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut at = 0_u64;
    loop {
        let count = match file.read_at(&mut buffer, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        let left = usize::try_from(length.saturating_sub(at)).unwrap_or(usize::MAX);
        let Some(chunk) = buffer.get(..count.min(left)).filter(|chunk| !chunk.is_empty()) else {
            return Ok(());
        };
        take(chunk)?;
        at = at.saturating_add(chunk.len() as u64);
    }
}
