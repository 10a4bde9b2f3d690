//! Reads a file once and computes everything that is compared with it.

use std::io::{self, Read, Write};

use plugward_policy::{Checksum, ChecksumAlgorithm};
use plugward_sandbox_path::SandboxedFile;
use plugward_types::{Digest, hex};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// The bytes that are read at once.
const PIECE: usize = 64 << 10;

/// The result of comparing a file with the user's checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must show each result")]
pub enum PinnedChecksum {
    /// The user has not pinned a checksum, or the file was not read.
    None,
    /// The file has the checksum.
    Same,
    /// The file does not have the checksum.
    Differs,
}

/// The digests of a file, which are computed while it is read or written.
#[derive(Debug)]
pub(crate) struct FileHasher {
    sha256: Sha256,
    /// Only computed for a checksum of that algorithm.
    sha1: Option<Sha1>,
}

/// The digests of a whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileDigests {
    pub(crate) sha256: Digest,
    sha1: Option<String>,
}

impl FileHasher {
    pub(crate) fn new(checksum: Option<&Checksum>) -> Self {
        let is_sha1 = checksum.is_some_and(|checksum| checksum.algorithm == ChecksumAlgorithm::Sha1);
        Self { sha256: Sha256::new(), sha1: is_sha1.then(Sha1::new) }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        if let Some(sha1) = &mut self.sha1 {
            sha1.update(bytes);
        }
    }

    pub(crate) fn finish(self) -> FileDigests {
        FileDigests {
            sha256: Digest::from_bytes(self.sha256.finalize().into()),
            sha1: self.sha1.map(|sha1| hex::encode(&sha1.finalize())),
        }
    }

    /// Reads a file to its end.
    pub(crate) fn read(mut self, mut file: impl Read) -> io::Result<FileDigests> {
        let mut piece = vec![0; PIECE];
        loop {
            let count = file.read(&mut piece)?;
            let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else {
                return Ok(self.finish());
            };
            self.update(bytes);
        }
    }
}

impl FileDigests {
    /// Returns the digest that a checksum is compared with; `None` if the file was read for another checksum.
    pub(crate) fn of(&self, algorithm: ChecksumAlgorithm) -> Option<String> {
        match algorithm {
            ChecksumAlgorithm::Sha256 => Some(self.sha256.hex()),
            ChecksumAlgorithm::Sha1 => self.sha1.clone(),
        }
    }

    /// Compares the digests with the user's checksum, in any case of its digits.
    pub(crate) fn compare(&self, checksum: Option<&Checksum>) -> PinnedChecksum {
        // A digest that was not computed is equal to no checksum.
        let is_same = |checksum: &Checksum| {
            self.of(checksum.algorithm).is_some_and(|digest| digest.eq_ignore_ascii_case(&checksum.value))
        };
        match checksum {
            None => PinnedChecksum::None,
            Some(checksum) if is_same(checksum) => PinnedChecksum::Same,
            Some(_) => PinnedChecksum::Differs,
        }
    }
}

/// Writes to a file and hashes the written bytes.
#[derive(Debug)]
pub(crate) struct HashingFile<'a> {
    pub(crate) file: &'a mut SandboxedFile,
    pub(crate) hasher: FileHasher,
}

impl Write for HashingFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
