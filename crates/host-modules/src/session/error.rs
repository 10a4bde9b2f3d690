//! Why a session cannot go on.

use std::io;

use plugward_capability::TrailError;
use plugward_protocol::ProtocolError;
use thiserror::Error;

use crate::codes;
use crate::module::ThrownError;
use crate::modules::shown;

/// A session that cannot go on. The caller ends the program.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionFault {
    /// A line that cannot be read, or is not one of the protocol.
    #[error(transparent)]
    Line(#[from] ProtocolError),
    /// `createHostFunctions` threw an exception, or the entry cannot be loaded.
    #[error("the plugin threw {}: {}", shown(&.0.name), plugward_types::escape::line(&.0.message))]
    Factory(ThrownError),
    /// The program did not do something in time.
    #[error("the {program} did not {step} in time")]
    Timeout {
        /// `plugin` or `guest`.
        program: &'static str,
        /// The missing step, such as `send ready`.
        step: &'static str,
    },
    /// The guest made too many calls.
    #[error("the guest made more than {most} calls")]
    Calls {
        /// The limit.
        most: u64,
    },
    /// The output of the program ended too early.
    #[error("the {program} ended before it was done")]
    Ended {
        /// `plugin` or `guest`.
        program: &'static str,
    },
    /// The lines of the program cannot be read or written.
    #[error("the lines of the program cannot be exchanged")]
    Pipe(#[from] io::Error),
    /// A call cannot be recorded.
    #[error("a call cannot be recorded")]
    NotRecorded(#[from] TrailError),
}

impl SessionFault {
    pub(crate) fn of_send(program: &'static str, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::Timeout { program, step: "read its lines" },
            _ => Self::Pipe(error),
        }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Line(error) => error.code(),
            Self::Factory(_) => "host-module/factory",
            Self::Timeout { .. } => "host-module/timeout",
            Self::Calls { .. } => "host-module/calls",
            Self::Ended { .. } | Self::Pipe(_) => "host-module/ended",
            Self::NotRecorded(error) => error.code(),
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Line(error) => error.help(),
            Self::NotRecorded(error) => error.help(),
            _ => codes::help(self.code()),
        }
    }
}
