//! Why a verb could not do its work, with the exit code that goes with it.

use std::fmt;
use std::io;

/// A failure, not a verdict: verdicts are exit codes of a report.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The words of the command line or the settings are off: exit 2.
    Usage(anyhow::Error),
    /// Input, output or a defect: exit 1.
    Internal(anyhow::Error),
    /// What was asked for is refused as it stands: exit 4.
    Refused(anyhow::Error),
    /// A store or lock is unreadable: exit 7.
    Store(anyhow::Error),
}

impl Failure {
    pub(crate) const fn exit(&self) -> u8 {
        match self {
            Self::Internal(_) => 1,
            Self::Usage(_) => 2,
            Self::Refused(_) => 4,
            Self::Store(_) => 7,
        }
    }

    const fn error(&self) -> &anyhow::Error {
        match self {
            Self::Usage(error) | Self::Internal(error) | Self::Refused(error) | Self::Store(error) => error,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Internal(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Internal(error.into())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.into())
    }
}

/// Makes a usage failure from words.
pub(crate) fn usage(text: impl fmt::Display) -> Failure {
    Failure::Usage(anyhow::anyhow!("{text}"))
}
