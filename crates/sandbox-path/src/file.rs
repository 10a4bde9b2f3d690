//! Open files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::error::{OpenErrorKind, OperationError};
use crate::meta::Metadata;
use crate::unix;

/// A regular file that was opened inside a jail.
///
/// # Guarantees
/// The handle refers to the object that was checked. Its contents can change, and its path can lead to another object
/// later. `O_NONBLOCK` stays set, which has no effect on a regular file.
/// # Examples
/// ```
/// use plugward_sandbox_path::{Jail, Policy};
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("a.md"), "# A skill\n")?;
/// let jail = Jail::open(directory.path(), Policy::standard())?;
/// let file = jail.open_read("a.md")?;
/// let chunk = file.read_chunk(2, 100)?;
/// assert_eq!(chunk.bytes, b"A skill\n");
/// assert!(chunk.end);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "read it, or drop it to close it"]
pub struct SandboxedFile {
    file: File,
    opened: Metadata,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a part of a file is its bytes and whether they are the last")]
pub struct Chunk {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether the file ended after them when they were read.
    pub end: bool,
}

impl SandboxedFile {
    #[inline]
    pub(crate) const fn new(file: File, opened: Metadata) -> Self {
        Self { file, opened }
    }

    /// Returns the metadata from when the file was opened.
    #[must_use]
    pub const fn opened(&self) -> &Metadata {
        &self.opened
    }

    /// Returns the current metadata, through the handle.
    ///
    /// A difference between the metadata before and after a read shows that the file changed; [`SandboxedFile::opened`]
    /// can serve as the former.
    ///
    /// # Errors
    /// The system error.
    pub fn meta(&self) -> io::Result<Metadata> {
        unix::file_meta(&self.file)
    }

    /// Reads up to `max` bytes from `offset`, without moving the position that [`Read`] uses.
    ///
    /// After the end of the file, the chunk is empty and `end` is `true`.
    ///
    /// # Errors
    /// The system error.
    pub fn read_chunk(&self, offset: u64, max: usize) -> io::Result<Chunk> {
        let room = self.opened.len().saturating_sub(offset).saturating_add(1);
        // The length in the metadata is a hint, as in `read_all`.
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(max).min(1 << 20);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(room).map_err(|_full| io::ErrorKind::OutOfMemory)?;
        // Reads go through the stack, so that a short file does not cost a zeroed buffer of `max` bytes.
        let mut piece = [0_u8; 16 * 1024];
        let mut at = offset;
        while bytes.len() < max {
            let wanted = max.saturating_sub(bytes.len()).min(piece.len());
            let Some(space) = piece.get_mut(..wanted) else { break };
            let read = unix::read_at(&self.file, space, at)?;
            let Some(got) = space.get(..read).filter(|got| !got.is_empty()) else {
                return Ok(Chunk { bytes, end: true });
            };
            bytes.try_reserve(got.len()).map_err(|_full| io::ErrorKind::OutOfMemory)?;
            bytes.extend_from_slice(got);
            at = at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        }
        // A chunk can be full exactly at the end of the file. Only one more read can tell.
        let end = unix::read_at(&self.file, &mut [0], at)? == 0;
        Ok(Chunk { bytes, end })
    }

    /// Reads the whole file, and refuses it at one byte more than `limit`.
    pub(crate) fn read_all(&self, limit: u64) -> Result<Vec<u8>, OperationError> {
        let room = self.opened.len().min(limit).saturating_add(1);
        // The length in the metadata is a hint: a sparse file of many gigabytes must not reserve that much memory.
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(1 << 20);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(room).map_err(|_full| crate::error::PathEscapeKind::Exhausted)?;
        // The length in the metadata is not a limit: the file can grow while it is read, so the bytes themselves
        // are counted.
        let cap = usize::try_from(limit).unwrap_or(usize::MAX);
        loop {
            if bytes.len() == bytes.capacity() {
                let more = bytes.len().max(8192).min(cap.saturating_add(1).saturating_sub(bytes.len()));
                bytes.try_reserve_exact(more).map_err(|_full| crate::error::PathEscapeKind::Exhausted)?;
            }
            match unix::read_into(&self.file, &mut bytes) {
                Ok(0) => return Ok(bytes),
                Ok(_) if bytes.len() > cap => return Err(OpenErrorKind::TooLarge { limit }.into()),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the file as a standard library file.
    #[must_use]
    pub fn into_std(self) -> File {
        self.file
    }
}

impl SandboxedFile {
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }
}

impl Read for SandboxedFile {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.file.read(space)
    }
}

impl Write for SandboxedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for SandboxedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl std::os::fd::AsFd for SandboxedFile {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.file.as_fd()
    }
}
