//! The program, arguments, environment and access of a start.

use std::collections::BTreeSet;

use crate::error::LaunchError;
use crate::sealed::SealedProgram;

/// The file that is executed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Program<'a> {
    /// An ELF file in sealed memory.
    Sealed(&'a SealedProgram),
    /// A file in a private copy of the checked bytes.
    Copy {
        /// The absolute path of the file in the copy.
        path: &'a str,
        /// The reason why it is not sealed, from [`SealCheck::NotExecutable`](crate::SealCheck::NotExecutable).
        /// `None` if the plugin is a tree.
        reason: Option<&'a str>,
    },
    /// A program of the system, which is not part of a plugin.
    System {
        /// Its absolute path.
        path: &'a str,
    },
}

/// The form in which a program is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProgramForm {
    /// From sealed memory.
    Sealed,
    /// From a private copy.
    Copy,
    /// From its own path.
    System,
}

impl ProgramForm {
    /// Returns the name of the form in reports and in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sealed => "sealed",
            Self::Copy => "copy",
            Self::System => "system",
        }
    }
}

/// The program of a start, with its arguments and environment. Nothing is inherited from the host.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "each part is required, so that a start inherits none")]
pub struct LaunchSpec<'a> {
    /// The file that is executed.
    pub program: Program<'a>,
    /// The arguments. The first is the name under which the program runs.
    pub argv: Vec<String>,
    /// The working directory, as an absolute path.
    pub directory: String,
    /// The whole environment.
    pub env: Vec<(String, String)>,
}

impl LaunchSpec<'_> {
    /// Checks what the system would change without an error.
    pub(crate) fn check(&self) -> Result<(), LaunchError> {
        if let Program::Copy { path, .. } | Program::System { path } = self.program {
            // A name without a directory would be searched on PATH.
            check_absolute("the path of the program", path)?;
        }
        check_absolute("the working directory", &self.directory)?;
        if self.argv.is_empty() {
            return Err(LaunchError::spec("the argument list is empty".to_owned()));
        }
        let env = self.env.iter().flat_map(|(name, value)| [name, value]);
        if self.argv.iter().chain(env).any(|text| text.contains('\0')) {
            return Err(LaunchError::spec("an argument or a variable contains a NUL byte".to_owned()));
        }
        let mut names = BTreeSet::new();
        for (name, _) in &self.env {
            let shown = name.escape_debug();
            if name.is_empty() || name.contains('=') {
                return Err(LaunchError::spec(format!("not a name of an environment variable: `{shown}`")));
            }
            if !names.insert(name) {
                return Err(LaunchError::spec(format!("the environment variable `{shown}` is set twice")));
            }
        }
        Ok(())
    }
}

fn check_absolute(subject: &str, path: &str) -> Result<(), LaunchError> {
    if path.starts_with('/') && !path.contains('\0') {
        return Ok(());
    }
    Err(LaunchError::spec(format!("{subject} is not an absolute path: `{}`", path.escape_debug())))
}
