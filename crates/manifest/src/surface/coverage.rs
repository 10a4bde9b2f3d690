//! How much of a command or prompt a pin covers.

use core::fmt;

/// How much of one command or prompt a pin covers.
///
/// # Guarantees
/// The variants are ordered from best to worst, and [`Coverage::worst`] follows this order.
///
/// # Examples
/// ```
/// use plugward_manifest::{CommandContext, Coverage, Dialect, judge_command};
///
/// let context = CommandContext::new(Dialect::Claude);
/// assert_eq!(judge_command("npx server@1.2.3", &context).coverage(), Coverage::LauncherVersion);
/// assert_eq!(judge_command("npx server", &context).coverage(), Coverage::LauncherFloating);
/// assert!(Coverage::LauncherFloating.is_worse_than(Coverage::LauncherVersion));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new label must stop every host from building")]
pub enum Coverage {
    /// A file of the tree that is started directly, or prompt text in the tree.
    Covered,
    /// A file of the tree; its interpreter is outside the plugin.
    ScriptInterpreterUncovered,
    /// Code is downloaded, and the reference contains its digest.
    LauncherDigest,
    /// A program in `PATH`, an absolute path, or a file in the working directory.
    PathBinary,
    /// The text of the command, but not the programs that it calls.
    InlineShell,
    /// An exact version is downloaded; the index could deliver different code.
    LauncherVersion,
    /// The text does not determine what runs.
    Unresolved,
    /// A range, tag, branch or default is downloaded.
    LauncherFloating,
    /// Only the address; the code runs on another machine.
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

    /// Returns the label used in reports.
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

    /// Returns a sentence for users that states what the pin covers.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Covered => "The pin covers the file that runs or is read.",
            Self::ScriptInterpreterUncovered => "The pin covers the script, but not its interpreter.",
            Self::LauncherDigest => "The command downloads code and identifies it by digest.",
            Self::PathBinary => "The pin covers nothing: the program is outside the plugin.",
            Self::InlineShell => {
                "The pin covers the text of the command, but not the programs that it calls."
            }
            Self::LauncherVersion => {
                "The command downloads an exact version; the index could deliver different code."
            }
            Self::Unresolved => "The text does not determine what runs.",
            Self::LauncherFloating => {
                "The pin does not cover the downloaded code, which can change between two starts."
            }
            Self::RemoteUrl => "The pin covers the address, but not the code, which runs elsewhere.",
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

    /// Returns the worse of two labels.
    pub const fn worst(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    /// Returns `true` if this label is worse than the other.
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
