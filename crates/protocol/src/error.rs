//! The error of a session, and every code of this crate.

use plugward_types::escape;
use thiserror::Error;

/// Every code that this crate emits, with its help.
pub const CODES: &[(&str, &str)] = &[
    ("mcp/answer", "report it to the author of the server; its answer is not what MCP requires"),
    (
        "mcp/cursor-loop",
        "report it to the author of the server; its list returns to a page that it already sent",
    ),
    ("mcp/duplicate-item", "report it to the author of the server; two definitions have one name"),
    ("mcp/eof", "run the server by hand to see why it ends"),
    ("mcp/not-i-json", "report it to the author of the server; clients read such a number differently"),
    ("mcp/timeout", "run the server by hand to see why it does not answer"),
    ("mcp/too-many", "offer at most 1000 items in 4 MiB, for example by splitting the server"),
    ("protocol/duplicate-key", "fix the program that wrote the line; each key may occur once in an object"),
    ("protocol/eof", "fix the plugin; it must send `exit` before it ends"),
    ("protocol/message", "fix the plugin; the message is not one of the protocol, version 1"),
    ("protocol/not-json", "fix the program that wrote the line; each line must be one JSON object"),
    ("protocol/not-utf8", "fix the program that wrote the line; JSON is UTF-8"),
    ("protocol/timeout", "run the plugin by hand to see why it does not answer"),
    ("protocol/too-deep", "nest arrays and objects at most 128 levels deep"),
    ("protocol/too-long", "write shorter lines, or split the text into several messages"),
    ("protocol/unknown-types", "update plugward, or use a plugin for this version of the protocol"),
];

/// A session that cannot go on, or a line that cannot be read. The caller ends the program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(transparent)]
pub struct ProtocolError {
    kind: ProtocolErrorKind,
}

/// The reason of a [`ProtocolError`]. Texts of the program are escaped and shortened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProtocolErrorKind {
    /// A line above the limit.
    #[error("a line has more than {limit} bytes")]
    TooLong {
        /// The most bytes of a line.
        limit: usize,
    },
    /// A line with invalid UTF-8.
    #[error("a line is not UTF-8 after {valid} bytes")]
    NotUtf8 {
        /// The number of valid bytes.
        valid: usize,
    },
    /// A line that is not one JSON object.
    #[error("a line is not one JSON object: {fault} at column {column}")]
    NotJson {
        /// The fault.
        fault: String,
        /// The column in bytes, from 1.
        column: usize,
    },
    /// A key that occurs twice in one object.
    #[error("the key `{key}` occurs twice in one object")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// Arrays and objects above the limit of nesting.
    #[error("a line is nested more than {} levels deep", crate::MAX_DEPTH)]
    TooDeep,
    /// A message with a missing or wrong field.
    #[error("invalid message `{name}`: {fault}")]
    Message {
        /// The type of the message.
        name: String,
        /// The fault.
        fault: String,
    },
    /// More messages of unknown types than a session ignores.
    #[error("more than {} messages have an unknown type", crate::MAX_UNKNOWN)]
    UnknownTypes,
    /// The plugin did not do something in time.
    #[error("the plugin did not {step} in time")]
    PluginTimeout {
        /// The missing step, such as `send ready`.
        step: &'static str,
    },
    /// The plugin ended without `exit`.
    #[error("the plugin ended without `exit`")]
    PluginEnded,
    /// The server did not answer a request of the proxy in time.
    #[error("the server did not answer `{method}` in time{}", unread.map(|line| format!("; its line {line} is not a message")).unwrap_or_default())]
    ServerTimeout {
        /// The method of the request.
        method: &'static str,
        /// The first line that was not a message.
        unread: Option<u64>,
    },
    /// Lines of the server that are not messages, instead of an answer to a request of the proxy.
    #[error("line {line} of the server is not a message: {fault}")]
    ServerLine {
        /// The number of the line; blank lines do not count.
        line: u64,
        /// The code of the fault.
        code: &'static str,
        /// The fault.
        fault: String,
    },
    /// The server ended.
    #[error("the server ended")]
    ServerEnded,
    /// The server answered a request of the proxy with an error, or with a result that cannot be read.
    #[error("the answer to `{method}` cannot be used: {fault}")]
    Answer {
        /// The method of the request.
        method: &'static str,
        /// The fault.
        fault: String,
    },
    /// A list that returns to an earlier page.
    #[error("the answer to `{method}` has the cursor of an earlier page")]
    CursorLoop {
        /// The method of the request.
        method: &'static str,
    },
    /// An offer above the limits.
    #[error("the server offers more than {} items or 4 MiB", crate::MAX_ITEMS)]
    TooMany,
    /// Two different items of one kind with one name.
    #[error("two different items are called `{label}`")]
    DuplicateItem {
        /// The kind and the name.
        label: String,
    },
    /// A number that parsers read differently.
    #[error("`{label}` contains an integer beyond 2^53")]
    NotIJson {
        /// The kind and the name.
        label: String,
    },
}

impl From<ProtocolErrorKind> for ProtocolError {
    fn from(kind: ProtocolErrorKind) -> Self {
        Self { kind }
    }
}

impl ProtocolError {
    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> &ProtocolErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match &self.kind {
            ProtocolErrorKind::TooLong { .. } => "protocol/too-long",
            ProtocolErrorKind::NotUtf8 { .. } => "protocol/not-utf8",
            ProtocolErrorKind::NotJson { .. } => "protocol/not-json",
            ProtocolErrorKind::DuplicateKey { .. } => "protocol/duplicate-key",
            ProtocolErrorKind::TooDeep => "protocol/too-deep",
            ProtocolErrorKind::Message { .. } => "protocol/message",
            ProtocolErrorKind::UnknownTypes => "protocol/unknown-types",
            ProtocolErrorKind::PluginTimeout { .. } => "protocol/timeout",
            ProtocolErrorKind::PluginEnded => "protocol/eof",
            ProtocolErrorKind::ServerTimeout { .. } => "mcp/timeout",
            ProtocolErrorKind::ServerLine { code, .. } => code,
            ProtocolErrorKind::ServerEnded => "mcp/eof",
            ProtocolErrorKind::Answer { .. } => "mcp/answer",
            ProtocolErrorKind::CursorLoop { .. } => "mcp/cursor-loop",
            ProtocolErrorKind::TooMany => "mcp/too-many",
            ProtocolErrorKind::DuplicateItem { .. } => "mcp/duplicate-item",
            ProtocolErrorKind::NotIJson { .. } => "mcp/not-i-json",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help)
    }
}

impl ProtocolError {
    /// Returns the text for a host, which can show it to a model: without texts of the server.
    pub(crate) fn for_host(&self) -> String {
        let shown = match &self.kind {
            ProtocolErrorKind::Answer { method, .. } => format!("the answer to `{method}` cannot be used"),
            ProtocolErrorKind::ServerLine { line, .. } => {
                format!("line {line} of the server is not a message")
            }
            ProtocolErrorKind::DuplicateKey { .. }
            | ProtocolErrorKind::Message { .. }
            | ProtocolErrorKind::DuplicateItem { .. }
            | ProtocolErrorKind::NotIJson { .. } => "an answer of the server cannot be used".to_owned(),
            other => other.to_string(),
        };
        format!("{shown} ({}); {}", self.code(), self.help())
    }
}

/// Returns a text of the program for a message: at most 64 characters, escaped.
pub(crate) fn shown(text: &str) -> String {
    escape::line(&text.chars().take(64).collect::<String>()).into_owned()
}
