//! The description of a start, for the ledger and the user.

use crate::access::GrantedAccess;
use crate::enforcement::{Facts, MissingWord};
use crate::spec::{Program, ProgramForm};

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
    /// The access of the program: `user` or `granted`.
    pub access: &'static str,
    /// The enforced properties, as words: `bytes` if the program has the checked bytes, and with granted access `files`,
    /// `network`, `processes`, `environment` and `end`.
    pub held: Vec<&'static str>,
    /// The properties of granted access that the kernel does not enforce here.
    pub missing: Vec<MissingWord>,
    /// What no kernel enforces, one sentence each.
    pub not_enforced: Vec<String>,
    /// The names of the variables of the program.
    pub env: Vec<String>,
}

impl LaunchReport {
    /// Describes a start with the access of the user.
    pub(crate) fn of_user(program: &Program<'_>, env: &[(String, String)]) -> Self {
        let mut report = Self::new(program, "user", env);
        report.not_enforced.extend(
            [
                "the program can use every file, connection and process of the user",
                "child processes that leave the process group can outlive the program",
                "file descriptors of the host that are not close-on-exec reach the program",
            ]
            .map(str::to_owned),
        );
        report
    }

    /// Describes a start with granted access.
    pub(crate) fn of_granted(
        program: &Program<'_>,
        env: &[(String, String)],
        access: &GrantedAccess,
        facts: &Facts,
    ) -> Self {
        let mut report = Self::new(program, "granted", env);
        let (held, missing) = facts.words(access);
        report.held.extend(held);
        report.missing = missing;
        report.not_enforced.extend(access.not_enforced.iter().cloned());
        report
    }

    fn new(program: &Program<'_>, access: &'static str, env: &[(String, String)]) -> Self {
        let (form, path, digest, reason) = match *program {
            Program::Sealed(sealed) => (ProgramForm::Sealed, None, Some(*sealed.digest()), None),
            Program::Copy { path, reason } => (ProgramForm::Copy, Some(path), None, reason),
            Program::System { path } => (ProgramForm::System, Some(path), None, None),
        };
        let (path, reason) = (path.map(str::to_owned), reason.map(str::to_owned));
        let (held, not_enforced): (&[_], &[&str]) = match form {
            ProgramForm::Sealed => {
                (&["bytes"], &["libraries that the program loads are not the checked bytes"])
            }
            ProgramForm::Copy => (
                &["bytes"],
                &[
                    "other processes of the user can change the private copy",
                    "interpreters and libraries are not the checked bytes",
                ],
            ),
            ProgramForm::System => {
                (&[], &["the program is opened by its path, and can change before it starts"])
            }
        };
        let not_enforced = not_enforced.iter().map(|text| (*text).to_owned()).collect();
        let env = env.iter().map(|(name, _)| name.clone()).collect();
        Self {
            form,
            path,
            digest,
            reason,
            access,
            held: held.to_vec(),
            missing: Vec::new(),
            not_enforced,
            env,
        }
    }
}
