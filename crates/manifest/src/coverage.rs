//! How far a pin covers what would run.

use core::fmt;

/// How far a pin covers one thing that would run or enter a prompt.
///
/// # Guarantees
/// The order is from best to worst, and [`Coverage::worst`] follows it.
///
/// # Source
/// `design/manifest.md`, 2.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new label must stop every host from building")]
pub enum Coverage {
    /// A file of the tree, started directly, or prompt text in the tree.
    Covered,
    /// A file of the tree; its interpreter comes from outside.
    ScriptInterpreterUncovered,
    /// Code is fetched, and the reference names its digest.
    LauncherDigest,
    /// A program of PATH, an absolute path, or a file of the working directory.
    PathBinary,
    /// The text itself; not the programs that it calls.
    InlineShell,
    /// An exact version is fetched, which the index could serve differently.
    LauncherVersion,
    /// What runs cannot be told from the text.
    Unresolved,
    /// A range, tag, branch or default is fetched.
    LauncherFloating,
    /// The address alone; the code runs elsewhere.
    RemoteUrl,
}

impl Coverage {
    /// Every label, from best to worst.
    pub const ALL: [Self; 9] = [
        Self::Covered,
        Self::ScriptInterpreterUncovered,
        Self::LauncherDigest,
        Self::PathBinary,
        Self::InlineShell,
        Self::LauncherVersion,
        Self::Unresolved,
        Self::LauncherFloating,
        Self::RemoteUrl,
    ];

    /// Gives the label that reports use.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::ScriptInterpreterUncovered => "script-interpreter-uncovered",
            Self::LauncherDigest => "launcher-digest",
            Self::PathBinary => "path-binary",
            Self::InlineShell => "inline-shell",
            Self::LauncherVersion => "launcher-version",
            Self::Unresolved => "unresolved",
            Self::LauncherFloating => "launcher-floating",
            Self::RemoteUrl => "remote-url",
        }
    }

    /// Says in one sentence what a pin covers.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Covered => "The pin covers the file that runs.",
            Self::ScriptInterpreterUncovered => {
                "The pin covers the script; its interpreter comes from outside."
            }
            Self::LauncherDigest => "What is fetched is named by its digest.",
            Self::PathBinary => "The pin covers nothing: the program comes from outside of the plugin.",
            Self::InlineShell => "The pin covers the text; not the programs that it calls.",
            Self::LauncherVersion => "An exact version is fetched; the index could serve it differently.",
            Self::Unresolved => "It cannot be told what runs.",
            Self::LauncherFloating => {
                "The pin covers nothing that is fetched; it may change from one start to the next."
            }
            Self::RemoteUrl => "The pin covers the address; the code runs elsewhere.",
        }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Covered => 0,
            Self::ScriptInterpreterUncovered => 1,
            Self::LauncherDigest => 2,
            Self::PathBinary => 3,
            Self::InlineShell => 4,
            Self::LauncherVersion => 5,
            Self::Unresolved => 6,
            Self::LauncherFloating => 7,
            Self::RemoteUrl => 8,
        }
    }

    /// Gives the worse of two labels.
    pub const fn worst(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    /// Says whether this label is worse than the other.
    #[must_use]
    pub const fn is_worse_than(self, other: Self) -> bool {
        self.rank() > other.rank()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}
