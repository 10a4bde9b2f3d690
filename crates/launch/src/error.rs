//! The error of a start.

use std::io;

use thiserror::Error;

use crate::codes;

/// The step of a start that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LaunchErrorKind {
    /// The specification of the start is not valid. Nothing was recorded or started.
    Spec,
    /// The start could not be recorded. Nothing was started.
    Record,
    /// The system did not start the program.
    Exec,
    /// The launcher did not answer in time, or the host does not call `run_if_launcher` first. Nothing was started.
    Handshake,
    /// A file could not be copied, or a program could not be waited for.
    Io,
}

impl LaunchErrorKind {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Spec => "launch/spec",
            Self::Record => "launch/record",
            Self::Exec => "launch/exec",
            Self::Handshake => "launch/handshake",
            Self::Io => "launch/io",
        }
    }
}

/// The error of a start, or of waiting for a program.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct LaunchError {
    kind: LaunchErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl LaunchError {
    pub(crate) const fn spec(message: String) -> Self {
        Self { kind: LaunchErrorKind::Spec, message, source: None }
    }

    /// Returns a function that adds the kind and the failed step to a system error.
    pub(crate) fn from_io(kind: LaunchErrorKind, step: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let message = step.into();
        move |source| Self { kind, message, source: Some(source) }
    }

    pub(crate) fn io(step: &'static str) -> impl FnOnce(io::Error) -> Self {
        Self::from_io(LaunchErrorKind::Io, step)
    }

    /// Returns the step that failed.
    #[must_use]
    pub const fn kind(&self) -> LaunchErrorKind {
        self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        codes::help(self.code())
    }
}
