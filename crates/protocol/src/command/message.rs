//! The messages of a plugin.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{ProtocolError, ProtocolErrorKind, shown};

plugward_types::named! {
    /// The level of a log message, and how much a plugin should log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "version 1 of the protocol has these levels")]
    pub enum LogLevel {
        /// Errors only.
        Error = "error",
        /// Warnings.
        Warn = "warn",
        /// Information.
        Info = "info",
        /// Details for the author.
        Debug = "debug",
        /// Each step.
        Trace = "trace",
    }
}

impl LogLevel {
    /// Returns the number in `init`, from 0 for errors to 4 for each step.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// What a plugin says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PluginDescription {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The purpose, in one line.
    pub description: String,
    /// The words of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The help text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The address of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Print {
    pub(crate) text: String,
    #[serde(default = "content")]
    pub(crate) channel: String,
    #[serde(default = "plain")]
    pub(crate) format: String,
    pub(crate) language: Option<String>,
}

fn content() -> String {
    "content".to_owned()
}

fn plain() -> String {
    "plain".to_owned()
}

#[derive(Deserialize)]
pub(crate) struct Log {
    pub(crate) level: String,
    pub(crate) message: String,
}

#[derive(Deserialize)]
pub(crate) struct ReadConfig {
    pub(crate) path: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Exit {
    pub(crate) code: u8,
    pub(crate) reason: Option<String>,
}

/// Returns the fields of a message.
pub(crate) fn fields<T: DeserializeOwned>(
    name: &str,
    message: Map<String, Value>,
) -> Result<T, ProtocolError> {
    T::deserialize(Value::Object(message)).map_err(|error| invalid(name, &error.to_string()))
}

/// Returns the error for a message that is not one of the protocol.
pub(crate) fn invalid(name: &str, fault: &str) -> ProtocolError {
    ProtocolErrorKind::Message { name: shown(name), fault: shown(fault) }.into()
}
