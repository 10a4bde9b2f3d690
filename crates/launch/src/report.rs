//! The description of a start, for the ledger and the user.

use crate::spec::{Access, Program, ProgramForm};

/// The description of one start: which bytes run, and what is not enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchReport {
    /// The form in which the program is executed.
    pub form: ProgramForm,
    /// The path that is executed. `None` if the program is sealed.
    pub path: Option<String>,
    /// The SHA-256 of a sealed program. `None` for the other forms, which are not read.
    pub digest: Option<[u8; 32]>,
    /// The reason why the program is not sealed.
    pub reason: Option<String>,
    /// The access of the program.
    pub access: Access,
}

impl LaunchReport {
    pub(crate) fn new(program: &Program<'_>, access: Access) -> Self {
        let (form, path, digest, reason) = match *program {
            Program::Sealed(sealed) => (ProgramForm::Sealed, None, Some(*sealed.digest()), None),
            Program::Copy { path, reason } => (ProgramForm::Copy, Some(path), None, reason),
            Program::System { path } => (ProgramForm::System, Some(path), None, None),
        };
        let (path, reason) = (path.map(str::to_owned), reason.map(str::to_owned));
        Self { form, path, digest, reason, access }
    }

    /// Returns the enforced properties as words: `bytes` if the program has the checked bytes.
    #[must_use]
    pub const fn held(&self) -> &'static [&'static str] {
        match (self.form, self.access) {
            (ProgramForm::Sealed | ProgramForm::Copy, Access::User) => &["bytes"],
            (ProgramForm::System, Access::User) => &[],
        }
    }

    /// Returns the properties that are not enforced, one sentence each.
    #[must_use]
    pub fn not_enforced(&self) -> Vec<&'static str> {
        let bytes: &[&str] = match self.form {
            ProgramForm::Sealed => &["libraries that the program loads are not the checked bytes"],
            ProgramForm::Copy => &[
                "other processes of the user can change the private copy",
                "interpreters and libraries are not the checked bytes",
            ],
            ProgramForm::System => &["the program is opened by its path, and can change before it starts"],
        };
        let access: &[&str] = match self.access {
            Access::User => &[
                "the program can use every file, connection and process of the user",
                "child processes that leave the process group can outlive the program",
                "file descriptors of the host that are not close-on-exec reach the program",
            ],
        };
        bytes.iter().chain(access).copied().collect()
    }
}
