//! Payloads that a host sends as JSON.

use plugward_redact::{Output, OutputContent, Raw, ToolStatus};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::events::call::{GateCall, ToolCall};
use crate::events::event::{Event, EventClass};
use crate::events::strict;

/// The payload of an event.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "each class of events has its own payload")]
pub enum Payloads {
    /// A gate event, for [`Dispatcher::gate`](crate::Dispatcher::gate).
    Gate(GateCall),
    /// A tool that has ended, for [`Dispatcher::post_tool_use`](crate::Dispatcher::post_tool_use).
    Tool(ToolCall, Raw<Output>),
    /// Any other event, for [`Dispatcher::notify`](crate::Dispatcher::notify).
    Notice(GateCall),
}

/// What a host says about its session, with the names that Claude Code has for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostSession {
    /// The id of the session.
    pub session_id: Option<String>,
    /// The path of the transcript.
    pub transcript_path: Option<String>,
    /// The permission mode.
    pub permission_mode: Option<String>,
}

/// The keys of [`HostSession`].
const SESSION: [&str; 3] = ["session_id", "transcript_path", "permission_mode"];

/// An invalid payload. The error repeats no word of it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid payload of `{event}`: {message}")]
pub struct PayloadError {
    event: Event,
    message: String,
}

impl PayloadError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "hook/payload"
    }

    /// Returns the help for the code.
    #[must_use]
    pub fn help(&self) -> &'static str {
        crate::help(self.code())
    }
}

/// Parses `{"tool", "args", "result"?: {"output", "metadata"?, "failed"?}}` for a tool event, or `{"data"}`
/// for another. A tool event can also have the keys of [`HostSession`], which [`read_session`] returns.
///
/// # Errors
/// [`PayloadError`] if the bytes are not one JSON object, exceed 16 MiB, are nested deeper than 128 levels,
/// repeat a key, or have keys that the event does not have.
pub fn read_payload(event: Event, bytes: &[u8]) -> Result<Payloads, PayloadError> {
    let error = |message: String| PayloadError { event, message };
    let mut members = strict::object(bytes, &strict::PAYLOAD).map_err(error)?;
    let after = event.class() == EventClass::Content;
    let keys: &[&str] = match (event.is_tool_event(), after) {
        (true, true) => &["tool", "args", "result"],
        (true, false) => &["tool", "args"],
        (false, _) => &["data"],
    };
    if event.is_tool_event() {
        members.retain(|key, _| !SESSION.contains(&key.as_str()));
    }
    only(&members, keys, "the payload").map_err(error)?;
    if !event.is_tool_event() {
        let data = object(&mut members, "data").map_err(error)?;
        let call = GateCall::data(event, Value::Object(data));
        return Ok(if event.class() == EventClass::Gate {
            Payloads::Gate(call)
        } else {
            Payloads::Notice(call)
        });
    }
    let Some(Value::String(tool)) = members.remove("tool") else {
        return Err(error("expected `tool` as a string".to_owned()));
    };
    let args = Value::Object(object(&mut members, "args").map_err(error)?);
    match event.class() {
        EventClass::Gate => Ok(Payloads::Gate(GateCall::tool(event, tool, args))),
        EventClass::Notice => Ok(Payloads::Notice(GateCall::tool(event, tool, args))),
        EventClass::Content => {
            let result = object(&mut members, "result").map_err(error)?;
            let output = output(event, result).map_err(error)?;
            Ok(Payloads::Tool(ToolCall { tool, args }, output))
        }
    }
}

/// Returns what a payload says about the session of the host: as keys of a tool event, or in the `data` of another.
///
/// # Errors
/// [`PayloadError`] as [`read_payload`], and if one of the keys of a tool event is not a string.
pub fn read_session(event: Event, bytes: &[u8]) -> Result<HostSession, PayloadError> {
    let error = |message: String| PayloadError { event, message };
    let mut members = strict::object(bytes, &strict::PAYLOAD).map_err(error)?;
    if !event.is_tool_event() {
        members = object(&mut members, "data").map_err(error)?;
    }
    let mut text = |key: &str| match members.remove(key) {
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        None | Some(Value::Null) => Ok(None),
        // The data of a host can have these keys with other values.
        Some(_) if !event.is_tool_event() => Ok(None),
        Some(_) => Err(error(format!("expected `{key}` as a string"))),
    };
    let [session_id, transcript_path, permission_mode] = SESSION;
    Ok(HostSession {
        session_id: text(session_id)?,
        transcript_path: text(transcript_path)?,
        permission_mode: text(permission_mode)?,
    })
}

fn output(event: Event, mut result: Map<String, Value>) -> Result<Raw<Output>, String> {
    only(&result, &["output", "metadata", "failed"], "`result`")?;
    let failed = match (result.remove("failed"), event) {
        (None | Some(Value::Null), event) => event == Event::PostToolUseFailure,
        (Some(Value::Bool(false)), Event::PostToolUseFailure) => {
            return Err(format!("expected `result.failed` as true for `{event}`"));
        }
        (Some(Value::Bool(failed)), _) => failed,
        (Some(_), _) => return Err("expected `result.failed` as true or false".to_owned()),
    };
    let content = match result.remove("output") {
        Some(Value::String(text)) => OutputContent::Text(text),
        Some(value) => OutputContent::Json(value),
        None => return Err("expected `result.output`, found none".to_owned()),
    };
    let metadata = result.remove("metadata").unwrap_or_else(|| Value::Object(Map::new()));
    let ended = if failed { ToolStatus::Failed } else { ToolStatus::Ok };
    Ok(Raw::new(Output { content, metadata, ended }))
}

fn object(members: &mut Map<String, Value>, key: &str) -> Result<Map<String, Value>, String> {
    match members.remove(key) {
        Some(Value::Object(value)) => Ok(value),
        Some(_) => Err(format!("expected `{key}` as an object")),
        None => Err(format!("expected the key `{key}`, found none")),
    }
}

fn only(members: &Map<String, Value>, keys: &[&str], what: &str) -> Result<(), String> {
    if members.keys().all(|key| keys.contains(&key.as_str())) {
        return Ok(());
    }
    let list = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    Err(format!("expected only {list} in {what}, found another key"))
}
