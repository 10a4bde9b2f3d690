//! Programs in sealed memory.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};

use crate::error::LaunchError;

/// A program in a memory file whose bytes can no longer change.
///
/// It can be started any number of times. The memory is freed with the last process that uses it.
///
/// # Guarantees
/// The digest is that of the bytes that run: it was computed after the memory file was sealed. The seals apply
/// to every process, also to those of the same user and of root.
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
    /// The file cannot run from memory, and was not compared. [`copy_program`](crate::copy_program) makes and
    /// compares a copy that can run.
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
        system::seal(file, expected).map_err(LaunchError::io("copy the program into memory"))
    }

    /// Returns the SHA-256 of the program.
    #[must_use]
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    /// Returns the path by which a child process executes the memory file.
    pub(crate) fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.memory.as_raw_fd())
    }
}

#[cfg(target_os = "linux")]
pub(crate) mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::FileExt as _;

    use rustix::fs::{Access, AtFlags, CWD, MemfdFlags, SealFlags};
    use rustix::io::Errno;

    use super::{SealCheck, SealedProgram};
    use crate::copy::{copy_bytes, digest};

    /// The largest program that is copied into memory, where it takes the space of other programs.
    const LARGEST: u64 = 1 << 30;
    const ELF: &[u8] = b"\x7fELF";

    /// Copies, seals, and only then hashes. Until the seals are set, another process of the user can write to the
    /// memory file through `/proc`.
    pub(super) fn seal(file: &File, expected: &[u8; 32]) -> io::Result<SealCheck> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(not_executable("it is not a regular file"));
        }
        if metadata.len() > LARGEST {
            return Ok(not_executable("it is larger than 1 GiB"));
        }
        let mut magic = [0; ELF.len()];
        if file.read_at(&mut magic, 0)? < ELF.len() || magic != ELF {
            return Ok(not_executable("it is a script or has another format than ELF"));
        }
        let memory = match memory_file() {
            Ok(memory) => memory,
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(error.into()),
            Err(error) => return Ok(not_executable(&format!("the system refuses memory files: {error}"))),
        };
        copy_bytes(file, &memory, metadata.len())?;
        let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
        rustix::fs::fcntl_add_seals(&memory, seals)?;
        let found = digest(&memory)?;
        if found != *expected {
            return Ok(SealCheck::Differs { found });
        }
        let program = SealedProgram { memory, digest: found };
        // The path is the one that the child process executes. It needs `/proc`, and a security module can deny it.
        match rustix::fs::accessat(CWD, program.path(), Access::EXEC_OK, AtFlags::empty()) {
            Ok(()) => Ok(SealCheck::Sealed(program)),
            Err(error) => Ok(not_executable(&format!("the system does not execute memory files: {error}"))),
        }
    }

    /// Checks that memory files can be created and executed.
    pub(crate) fn try_execution() -> Result<(), Errno> {
        let memory = memory_file()?;
        let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
        rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::empty())
    }

    fn not_executable(why: &str) -> SealCheck {
        SealCheck::NotExecutable { why: why.to_owned() }
    }

    /// Creates an executable memory file, which is close-on-exec.
    fn memory_file() -> Result<File, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Linux before 6.3 does not know the flag, and its memory files are executable. Later ones need it if
        // `vm.memfd_noexec` is 1.
        let created = match rustix::fs::memfd_create("plugward", flags | MemfdFlags::EXEC) {
            Err(Errno::INVAL) => rustix::fs::memfd_create("plugward", flags),
            created => created,
        };
        created.map(File::from)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{File, SealCheck};

    #[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
    pub(super) fn seal(_file: &File, _expected: &[u8; 32]) -> std::io::Result<SealCheck> {
        Ok(SealCheck::NotExecutable { why: "this system has no sealed memory files".to_owned() })
    }
}
