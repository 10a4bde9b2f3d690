//! The limits of a reading, and the error if one is reached.

/// The limits of one reading. A reading that reaches one fails; it never returns a shorter answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a caller that sets its own limits sets all of them")]
pub struct CommandLimits {
    /// Bytes of the text.
    pub text: usize,
    /// Words of the text and of the texts nested in it.
    pub words: usize,
    /// Texts in texts, substitutions and compound commands around one command.
    pub depth: usize,
    /// Programs that start, and values that the words of one command have together.
    pub programs: usize,
}

impl CommandLimits {
    /// The limits for commands and scripts of plugins.
    pub const STANDARD: Self = Self { text: 1 << 20, words: 200_000, depth: 48, programs: 20_000 };
}

/// A command that cannot be read to its end because a limit was reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the command exceeds the limit of {value} {limit}")]
pub struct CommandError {
    limit: &'static str,
    value: usize,
}

impl CommandError {
    pub(crate) const fn new(limit: &'static str, value: usize) -> Self {
        Self { limit, value }
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "surface/too-complex"
    }

    /// Returns the limit in words, such as `nested commands`.
    #[must_use]
    pub const fn limit(&self) -> &'static str {
        self.limit
    }

    /// Returns the next step for the user.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "move the command into a script file, or split it"
    }
}
