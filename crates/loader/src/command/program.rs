//! The checked bytes of one file, as a program that can start.

use std::fs::File;
use std::io;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _};
use plugward_launch::{CopyCheck, LaunchError, Program, SealCheck, SealedProgram, copy_program};
use plugward_manifest::Coverage;
use plugward_types::Digest;

use crate::codes;
use crate::contents::seal;

/// The checked bytes of a file, in sealed memory or as a private copy.
///
/// # Guarantees
/// The bytes were copied from the handle and have the expected digest, whatever happens to the file afterwards. Other
/// processes of the same user can change a private copy.
#[derive(Debug)]
pub struct CheckedProgram(Form);

#[derive(Debug)]
enum Form {
    Sealed(SealedProgram),
    Copy { parent: Dir, name: String, path: String, reason: String },
}

/// The reason why the checked bytes of a file cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The file cannot be copied.
    #[error("cannot copy {name}")]
    Launch {
        /// The name of the file.
        name: String,
        /// The cause.
        source: LaunchError,
    },
    /// The file of a private copy cannot be created.
    #[error("cannot create a private copy of {name}")]
    Copy {
        /// The name of the file.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// The file has changed since it was checked.
    #[error("{name} has changed since it was checked: expected {expected}, found {found}")]
    Differs {
        /// The name of the file.
        name: String,
        /// The checked digest.
        expected: Digest,
        /// The digest of the copy.
        found: Digest,
    },
}

impl ProgramError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Launch { .. } | Self::Copy { .. } => "launch/io",
            Self::Differs { .. } => "launch/digest",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        let rows = plugward_launch::CODES.iter().chain(codes::CODES);
        rows.into_iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help)
    }
}

impl CheckedProgram {
    /// Copies a file into sealed memory, and compares the digest of the copy. A file that cannot run from memory, such
    /// as a script, is copied into a new directory in `dir`, whose absolute path is `path`.
    ///
    /// # Errors
    /// `launch/io`; `launch/digest` if the file has another digest.
    pub fn copy(
        file: &File,
        expected: &Digest,
        name: &str,
        dir: &Dir,
        path: &str,
    ) -> Result<Self, ProgramError> {
        let differs = |found| {
            let (name, expected) = (name.to_owned(), *expected);
            ProgramError::Differs { name, expected, found: Digest::from_bytes(found) }
        };
        let not_copied = |source| ProgramError::Launch { name: name.to_owned(), source };
        let sealed = SealedProgram::copy(file, expected.as_bytes()).map_err(not_copied)?;
        let reason = match sealed {
            SealCheck::Sealed(program) => return Ok(Self(Form::Sealed(program))),
            SealCheck::Differs { found } => return Err(differs(found)),
            SealCheck::NotExecutable { why } => why,
        };
        let failed = |source| ProgramError::Copy { name: name.to_owned(), source };
        let parent = dir.try_clone().map_err(failed)?;
        let directory = seal::new_directory(&parent, &expected.hex()).map_err(failed)?;
        let form = Form::Copy { path: format!("{path}/{directory}/{name}"), parent, name: directory, reason };
        // Dropping the program removes an incomplete copy.
        let program = Self(form);
        let into = program.create(name).map_err(failed)?;
        match copy_program(file, &into, expected.as_bytes()).map_err(not_copied)? {
            CopyCheck::Copied => Ok(program),
            CopyCheck::Differs { found } => Err(differs(found)),
        }
    }

    /// Creates the file of the private copy, open for reading and writing.
    fn create(&self, name: &str) -> io::Result<File> {
        let Form::Copy { parent, name: directory, .. } = &self.0 else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o500);
        let file = parent.open_dir(directory)?.open_with(name, &options)?;
        // The umask can have removed bits.
        file.set_permissions(Permissions::from_mode(0o500))?;
        Ok(file.into_std())
    }

    /// Returns the program for a start.
    #[must_use]
    pub fn program(&self) -> Program<'_> {
        match &self.0 {
            Form::Sealed(sealed) => Program::Sealed(sealed),
            Form::Copy { path, reason, .. } => Program::Copy { path, reason: Some(reason) },
        }
    }

    /// Returns the part of the program that its digest covers. Only files that need an interpreter are copied, but for
    /// systems without sealed memory.
    pub const fn coverage(&self) -> Coverage {
        match &self.0 {
            Form::Sealed(_) => Coverage::Covered,
            Form::Copy { .. } => Coverage::ScriptInterpreterUncovered,
        }
    }
}

impl Drop for CheckedProgram {
    fn drop(&mut self) {
        if let Form::Copy { parent, name, .. } = &self.0 {
            // What remains has the checked bytes, and no later start uses it.
            drop(seal::remove(parent, name));
        }
    }
}
