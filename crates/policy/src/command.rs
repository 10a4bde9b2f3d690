//! The rules for one command plugin, as `registry` uses them.

plugward_types::named! {
    /// Whether a plugin may run: the settings `plugins.command.<id>.run` and `plugins.bundle."<selector>".run`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new rule")]
    pub enum RunRule {
        /// It runs without a question.
        Unattended = "unattended",
        /// The user is asked before each run.
        Ask = "ask",
        /// It never runs.
        Deny = "deny",
    }
}

plugward_types::named! {
    /// The algorithm of a checksum.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "every reader must handle a new algorithm")]
    pub enum ChecksumAlgorithm {
        /// SHA-256.
        Sha256 = "sha256",
        /// SHA-1, which is read with a warning.
        Sha1 = "sha1",
    }
}

impl ChecksumAlgorithm {
    /// Returns the number of hex digits of a digest.
    #[must_use]
    pub const fn digits(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha1 => 40,
        }
    }
}

/// The checksum that a user pinned for a command plugin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "two parts of one setting")]
pub struct Checksum {
    /// The algorithm.
    pub algorithm: ChecksumAlgorithm,
    /// The digest in lower-case hex.
    pub value: String,
}

/// The resolved rules for one command plugin. An unset rule is decided by the plugin's origin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every caller must decide each rule")]
pub struct CommandRules {
    /// `plugins.auto_install`.
    pub auto_install: bool,
    /// `plugins.command.<id>.install`.
    pub install: Option<bool>,
    /// `plugins.command.<id>.run`.
    pub run: Option<RunRule>,
    /// `plugins.command.<id>.checksum`.
    pub checksum: Option<Checksum>,
}
