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
    pub const STANDARD: Self = Self { text: 1 << 20, words: 100_000, depth: 64, programs: 20_000 };
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

/// What is left of the limits during one reading.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: CommandLimits,
    depth: usize,
    words: usize,
    programs: usize,
}

impl Budget {
    pub(crate) const fn new(limits: CommandLimits) -> Self {
        Self { limits, depth: 0, words: 0, programs: 0 }
    }

    /// Checks the length of a text.
    pub(crate) const fn text(&self, bytes: usize) -> Result<(), CommandError> {
        if bytes > self.limits.text {
            Err(CommandError::new("bytes of text", self.limits.text))
        } else {
            Ok(())
        }
    }

    /// Enters a nested list of commands.
    pub(crate) const fn enter(&mut self) -> Result<(), CommandError> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > self.limits.depth {
            Err(CommandError::new("nested commands", self.limits.depth))
        } else {
            Ok(())
        }
    }

    pub(crate) const fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(crate) const fn word(&mut self) -> Result<(), CommandError> {
        self.words = self.words.saturating_add(1);
        if self.words > self.limits.words {
            Err(CommandError::new("words", self.limits.words))
        } else {
            Ok(())
        }
    }

    pub(crate) const fn program(&mut self) -> Result<(), CommandError> {
        self.programs = self.programs.saturating_add(1);
        if self.programs > self.limits.programs {
            Err(CommandError::new("programs", self.limits.programs))
        } else {
            Ok(())
        }
    }
}
