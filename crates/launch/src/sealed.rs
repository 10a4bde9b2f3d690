//! Programs in sealed memory.

use std::fs::File;
use std::os::fd::AsRawFd as _;

use crate::error::{LaunchError, LaunchErrorKind};

/// A program in a memory file whose bytes can no longer change.
///
/// It can be started any number of times. The memory is freed with the last process that uses it.
///
/// # Guarantees
/// The digest was computed after the memory file was sealed, so it is the digest of the bytes that run. The
/// seals apply to every process, also to those of the same user and of root. Libraries and the dynamic loader
/// are not part of it.
#[derive(Debug)]
pub struct SealedProgram {
    memory: File,
    digest: [u8; 32],
}

/// The result of copying a program into sealed memory.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a verdict, which a caller matches completely")]
pub enum SealCheck {
    /// The copy has the expected digest.
    Sealed(SealedProgram),
    /// The copy has another digest, so nothing of it may run.
    Differs {
        /// The SHA-256 of the copy.
        found: [u8; 32],
    },
    /// The file cannot run from memory. A private copy on disk can, and has to be compared with the digest
    /// when it is made.
    NotExecutable {
        /// The reason, for [`Program::Copy`](crate::Program::Copy).
        why: String,
    },
}

impl SealedProgram {
    /// Copies a file into sealed memory and compares the SHA-256 of the copy.
    ///
    /// Reads the file from its start, and does not move its cursor.
    ///
    /// # Errors
    /// `launch/io` if the file cannot be read or the memory file cannot be written, for example because no
    /// descriptor or memory is left.
    pub fn copy(file: &File, expected: &[u8; 32]) -> Result<SealCheck, LaunchError> {
        system::seal(file, expected)
            .map_err(LaunchError::from_io(LaunchErrorKind::Io, "copy the program into memory"))
    }

    /// Returns the SHA-256 of the program.
    #[must_use]
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Returns the path by which a child process executes the memory file.
    pub(crate) fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.memory.as_raw_fd())
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::os::unix::fs::FileExt as _;

    use rustix::fs::{Access, AtFlags, CWD, MemfdFlags, SealFlags};
    use rustix::io::Errno;
    use sha2::{Digest as _, Sha256};

    use super::{SealCheck, SealedProgram};

    /// The name of the memory file in `/proc`, which confines nothing.
    const NAME: &str = "plugward";
    /// The size of the buffer, which fits the cache of a processor core.
    const CHUNK: usize = 128 << 10;
    /// The largest program that is copied into memory. Memory files cannot be swapped out on most systems, so
    /// a larger one could take the memory of other programs.
    const LARGEST: u64 = 1 << 30;
    const ELF: &[u8] = b"\x7fELF";

    /// Copies, seals, and only then hashes. A hash of the bytes on their way would leave a window in which
    /// another process of the user writes to the memory file through `/proc`.
    pub(super) fn seal(file: &File, expected: &[u8; 32]) -> io::Result<SealCheck> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return not_executable("it is not a regular file");
        }
        if metadata.len() > LARGEST {
            return not_executable("it is larger than 1 GiB");
        }
        let mut magic = [0; ELF.len()];
        if file.read_at(&mut magic, 0)? < ELF.len() || magic != ELF {
            return not_executable("it is a script or has another format than ELF");
        }
        let memory = match memory_file() {
            Ok(memory) => memory,
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(error.into()),
            Err(error) => return not_executable(&format!("the system refuses memory files: {error}")),
        };
        // A file that grows is copied up to its first length. If that is not what was checked, it differs.
        copy(file, &memory, metadata.len())?;
        let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
        rustix::fs::fcntl_add_seals(&memory, seals)?;
        let digest = digest(&memory)?;
        if digest != *expected {
            return Ok(SealCheck::Differs { found: digest });
        }
        let program = SealedProgram { memory, digest };
        // Looks through the path that the child process will use. It fails without `/proc`, on a mount that
        // forbids execution, and if a security module forbids it.
        match rustix::fs::accessat(CWD, program.path(), Access::EXEC_OK, AtFlags::empty()) {
            Ok(()) => Ok(SealCheck::Sealed(program)),
            Err(error) => not_executable(&format!("the system does not execute memory files: {error}")),
        }
    }

    fn not_executable(why: &str) -> io::Result<SealCheck> {
        Ok(SealCheck::NotExecutable { why: why.to_owned() })
    }

    /// Creates an executable memory file, which is close-on-exec.
    fn memory_file() -> Result<File, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Linux 6.3 and later need the flag if `vm.memfd_noexec` is 1. Older ones do not know it, and always
        // create executable files.
        let created = match rustix::fs::memfd_create(NAME, flags | MemfdFlags::EXEC) {
            Err(Errno::INVAL) => rustix::fs::memfd_create(NAME, flags),
            created => created,
        };
        created.map(File::from)
    }

    fn copy(from: &File, mut to: &File, length: u64) -> io::Result<()> {
        chunks(from, length, |chunk| to.write_all(chunk))
    }

    fn digest(memory: &File) -> io::Result<[u8; 32]> {
        let mut hasher = Sha256::new();
        chunks(memory, u64::MAX, |chunk| {
            hasher.update(chunk);
            Ok(())
        })?;
        Ok(hasher.finalize().into())
    }

    /// Reads a file from its start to its end, or up to a length, without its cursor.
    fn chunks(
        file: &File,
        length: u64,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
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
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;
    use std::io;

    use super::SealCheck;

    #[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
    pub(super) fn seal(_file: &File, _expected: &[u8; 32]) -> io::Result<SealCheck> {
        Ok(SealCheck::NotExecutable { why: "this system has no sealed memory files".to_owned() })
    }
}
