//! Environment variables that load code or redirect a host, as set in settings files, `.env` files and commands.

use crate::{CommandContext, CommandError, OpenWord, StartTarget};

/// The effect of setting an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[must_use]
#[non_exhaustive]
pub enum VariableEffect {
    /// Nothing that plugward judges.
    Nothing,
    /// Adds files that interpreters can import.
    AddsFiles,
    /// Runs a program or file, or changes which one runs.
    Hijack,
    /// Changes where programs are found.
    SearchPath,
    /// Changes where packages are downloaded from.
    Registry,
    /// Changes the path of network connections.
    Proxy,
    /// Changes which certificates are trusted.
    Certificate,
}

/// The effect of a variable with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableReading {
    /// The effect.
    pub effect: VariableEffect,
    /// The files and texts that the value names. A directory of a search path is a [`StartTarget::Pattern`].
    pub starts: Vec<StartTarget>,
    /// The words of the value that decide what runs without a known value.
    pub open_words: Vec<OpenWord>,
}

/// Reads an environment variable that a settings file or a command sets.
///
/// # Errors
/// Returns [`CommandError`] if a command in the value exceeds a limit.
pub fn read_variable(
    _name: &str,
    _value: &str,
    _context: &CommandContext<'_>,
) -> Result<VariableReading, CommandError> {
    Ok(VariableReading { effect: VariableEffect::Nothing, starts: Vec::new(), open_words: Vec::new() })
}
