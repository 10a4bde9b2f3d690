//! Why a run could not start.

use thiserror::Error;

/// A run that could not start, so that nothing was decided.
///
/// # Source
/// `capability.md`, section 4.8: exit 2.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct FenceError {
    kind: FenceErrorKind,
}

impl FenceError {
    pub(crate) const fn new(kind: FenceErrorKind) -> Self {
        Self { kind }
    }

    pub(crate) fn config(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::new(FenceErrorKind::Config { place: place.into(), problem: problem.into() })
    }

    pub(crate) fn usage(problem: impl Into<String>) -> Self {
        Self::new(FenceErrorKind::Usage { problem: problem.into() })
    }

    /// Says what went wrong.
    #[must_use]
    pub const fn kind(&self) -> &FenceErrorKind {
        &self.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            FenceErrorKind::Metadata { .. } => "fence/metadata",
            FenceErrorKind::Manifest { .. } => "fence/manifest",
            FenceErrorKind::Config { .. } => "fence/config",
            FenceErrorKind::Usage { .. } => "fence/usage",
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        let code = self.code();
        CODES.iter().find(|(known, _)| *known == code).map_or("", |(_, help)| help)
    }
}

/// What went wrong before anything could be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FenceErrorKind {
    /// `cargo metadata` could not be run, failed, or gave something unexpected.
    #[error("read `cargo metadata`: {problem}")]
    Metadata {
        /// What cargo said, or what was missing.
        problem: String,
    },
    /// A manifest or config file could not be read or is no TOML.
    #[error("read {path}: {problem}")]
    Manifest {
        /// The file.
        path: String,
        /// Why not.
        problem: String,
    },
    /// A key of the config is unknown, has the wrong type, or names nothing.
    #[error("use the config at {place}: {problem}")]
    Config {
        /// The file, and the line where it is known.
        place: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// The command line could not be understood.
    #[error("understand the arguments: {problem}")]
    Usage {
        /// What is wrong.
        problem: String,
    },
}

/// Every code that this crate can give, with one line on what to do.
///
/// Rules come first, then what keeps a run from deciding, then what keeps it from starting.
pub const CODES: &[(&str, &str)] = &[
    ("F01", crate::Rule::F01.help()),
    ("F02", crate::Rule::F02.help()),
    ("F03", crate::Rule::F03.help()),
    ("F04", crate::Rule::F04.help()),
    ("F05", crate::Rule::F05.help()),
    ("F06", crate::Rule::F06.help()),
    ("F07", crate::Rule::F07.help()),
    ("F08", crate::Rule::F08.help()),
    ("F09", crate::Rule::F09.help()),
    ("F10", crate::Rule::F10.help()),
    ("F11", crate::Rule::F11.help()),
    ("F12", crate::Rule::F12.help()),
    ("F13", crate::Rule::F13.help()),
    ("E01", crate::Rule::E01.help()),
    ("fence/no-files", "name the right workspace, or correct `min-files`"),
    ("fence/no-type", "correct `type-glob` or `capability-crates`: no capability type was found"),
    ("fence/no-chokepoint", "correct `chokepoint`: nothing in the crate makes a capability"),
    ("fence/no-grant", "correct `grant-type`: no literal of it was found in the chokepoint"),
    ("fence/no-match", "correct the name: nothing in the workspace has it"),
    ("fence/self-test", "a planted case was missed: report it, and do not trust this run"),
    ("fence/changed", "run again when nobody writes to the workspace"),
    ("fence/metadata", "run `cargo metadata --no-deps --offline` and mend what it says"),
    ("fence/manifest", "mend the file"),
    ("fence/config", "mend the key; the README of plugward-fence lists all of them"),
    ("fence/usage", "run `cargo plugward-fence --help`"),
];
