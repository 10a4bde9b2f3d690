//! Errors that keep a run from starting.

use thiserror::Error;

/// An error that kept a run from starting.
#[derive(Debug, Error)]
#[error("{}: {problem}", .kind.action(.place))]
pub struct FenceError {
    kind: FenceErrorKind,
    place: String,
    problem: String,
}

/// The kind of a [`FenceError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenceErrorKind {
    /// `cargo metadata` could not be started, failed, or printed unexpected output.
    Metadata,
    /// A manifest or config file could not be read or is not TOML.
    Manifest,
    /// A key of the config is unknown, has the wrong type, or has a value that matches nothing.
    Config,
    /// The command-line arguments are not valid.
    Usage,
}

impl FenceErrorKind {
    fn action(self, place: &str) -> String {
        match self {
            Self::Metadata => "run `cargo metadata`".to_owned(),
            Self::Manifest => format!("read {place}"),
            Self::Config => format!("read the config at {place}"),
            Self::Usage => "parse the arguments".to_owned(),
        }
    }
}

impl FenceError {
    pub(crate) fn new(kind: FenceErrorKind, place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { kind, place: place.into(), problem: problem.into() }
    }

    pub(crate) fn config(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::new(FenceErrorKind::Config, place, problem)
    }

    pub(crate) fn usage(problem: impl Into<String>) -> Self {
        Self::new(FenceErrorKind::Usage, "", problem)
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> FenceErrorKind {
        self.kind
    }

    /// Returns the stable code, one of [`CODES`].
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            FenceErrorKind::Metadata => "fence/metadata",
            FenceErrorKind::Manifest => "fence/manifest",
            FenceErrorKind::Config => "fence/config",
            FenceErrorKind::Usage => "fence/usage",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help(self.code())
    }
}

/// Returns the help text of a code.
pub(crate) fn help(code: &str) -> &'static str {
    CODES.iter().find(|(known, _)| *known == code).map_or("", |(_, help)| help)
}

/// Every code that this crate returns, with a one-line help text.
///
/// Rules come first, then the codes of an undecided run, then those of [`FenceError`].
pub const CODES: &[(&str, &str)] = &[
    ("F01", crate::LintRule::F01.help()),
    ("F07", crate::LintRule::F07.help()),
    ("F08", crate::LintRule::F08.help()),
    ("F09", crate::LintRule::F09.help()),
    ("F10", crate::LintRule::F10.help()),
    ("F11", crate::LintRule::F11.help()),
    ("F12", crate::LintRule::F12.help()),
    ("F13", crate::LintRule::F13.help()),
    ("E01", crate::LintRule::E01.help()),
    ("fence/no-files", "pass the path of the workspace, or correct `min-files`"),
    ("fence/no-type", "correct `type-glob` or `capability-crates` so that a type matches"),
    ("fence/no-chokepoint", "correct `chokepoint` so that it names the function that constructs"),
    ("fence/no-grant", "correct `grant-type` so that it names a type of a capability crate"),
    ("fence/no-match", "correct the name in the config so that it matches an item of the workspace"),
    ("fence/self-test", "do not trust this run, and report the missed case as a bug"),
    ("fence/threads", "raise the limit on threads or memory, and run again"),
    ("fence/changed", "run again while no other process writes to the workspace"),
    ("fence/metadata", "run `cargo metadata --no-deps --offline` and fix what it reports"),
    ("fence/manifest", "fix the file"),
    ("fence/config", "fix the key; the README of plugward-fence lists all keys"),
    ("fence/usage", "run `cargo plugward-fence --help`"),
];
