//! What a session and its host tell each other.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::command::message::{LogLevel, PluginDescription};

/// The limits of time of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new limit")]
pub struct SessionLimits {
    /// How long a plugin may take until `ready`.
    pub ready: Duration,
    /// How long a plugin may take to describe itself.
    pub describe: Duration,
    /// The time between `shutdown` and the kill.
    pub grace: Duration,
}

impl SessionLimits {
    /// Returns the usual limits, with this time between `shutdown` and the kill.
    #[must_use]
    pub const fn with_grace(grace: Duration) -> Self {
        Self { ready: Duration::from_secs(10), describe: Duration::from_secs(5), grace }
    }
}

/// Answers requests that the session itself does not know, such as requests for conversations.
pub trait HostServices {
    /// Answers a request. `name` is its type.
    fn request(&mut self, name: &str, message: &Map<String, Value>) -> ServiceAnswer;
}

/// A host without services.
impl HostServices for () {
    fn request(&mut self, _: &str, _: &Map<String, Value>) -> ServiceAnswer {
        ServiceAnswer::Unsupported
    }
}

/// The answer of a host to a request.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the session must handle a new answer")]
pub enum ServiceAnswer {
    /// The fields of the answer. The session adds the type and the id.
    Answered {
        /// The type of the answer.
        name: &'static str,
        /// Its fields.
        fields: Map<String, Value>,
    },
    /// The request failed, for this reason.
    Failed(String),
    /// The host does not know the request.
    Unsupported,
}

/// What the caller must do after a line of the plugin.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new event")]
pub enum SessionEvent {
    /// Write the line to the plugin.
    Send(String),
    /// The plugin is ready.
    Ready,
    /// Print a text: of the channel `content` to standard output, of others to standard error.
    Print {
        /// The text, as the plugin sent it. Escape it before you print it to a terminal.
        text: String,
        /// The channel.
        channel: String,
        /// The format.
        format: String,
        /// The language of code.
        language: Option<String>,
    },
    /// Log a message.
    Log {
        /// The level; an unknown one counts as information.
        level: LogLevel,
        /// The message, as the plugin sent it.
        message: String,
        /// Its fields.
        fields: Map<String, Value>,
    },
    /// The plugin described itself, as it was asked to.
    Described(PluginDescription),
    /// The plugin is done.
    Exit {
        /// The exit code.
        code: u8,
        /// The reason.
        reason: Option<String>,
    },
}
