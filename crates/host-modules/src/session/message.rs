//! The messages of plugins and guests.

use plugward_protocol::{ProtocolError, ProtocolErrorKind, parse_object};
use plugward_types::escape;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::module::{CallResult, ThrownError};
use crate::modules::shown;
use crate::session::plugin::OfferedModule;

/// The version of the lines.
pub(crate) const VERSION: u64 = 1;

#[derive(Deserialize)]
pub(crate) struct Ready {
    pub(crate) modules: Vec<OfferedModule>,
    #[serde(default)]
    pub(crate) schema: Value,
}

#[derive(Deserialize)]
pub(crate) struct Call {
    pub(crate) id: u64,
    pub(crate) module: String,
    pub(crate) function: String,
    pub(crate) args: Vec<Value>,
}

#[derive(Deserialize)]
struct Returned {
    id: u64,
    // A function without a result returns `undefined`, which JSON leaves out.
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize)]
struct Thrown {
    id: u64,
    name: String,
    message: String,
}

/// A line of a program.
pub(crate) enum ProgramLine {
    Ready(Ready),
    Call(Call),
    Answer { id: u64, result: CallResult },
}

impl ProgramLine {
    /// Reads a line.
    ///
    /// # Errors
    /// `protocol/…` for a line that is not strict JSON or not one of these messages.
    pub(crate) fn read(line: &[u8]) -> Result<Self, ProtocolError> {
        let mut members = parse_object(line)?;
        let Some(Value::String(name)) = members.remove("type") else {
            return Err(invalid("", "the field `type` is missing"));
        };
        Ok(match name.as_str() {
            "ready" => Self::Ready(fields(&name, members)?),
            "call" => Self::Call(fields(&name, members)?),
            "result" => {
                let Returned { id, value } = fields(&name, members)?;
                Self::Answer { id, result: CallResult::Returned(value) }
            }
            "thrown" => {
                let Thrown { id, name, message } = fields(&name, members)?;
                Self::Answer { id, result: CallResult::Thrown(ThrownError { name, message }) }
            }
            _ => return Err(invalid(&name, "the type is unknown")),
        })
    }
}

/// Returns the line for the result of a call.
pub(crate) fn answer_line(id: u64, result: &CallResult) -> String {
    match result {
        CallResult::Returned(value) => json!({ "type": "result", "id": id, "value": value }),
        CallResult::Thrown(ThrownError { name, message }) => {
            json!({ "type": "thrown", "id": id, "name": name, "message": message })
        }
    }
    .to_string()
}

fn fields<T: DeserializeOwned>(name: &str, members: Map<String, Value>) -> Result<T, ProtocolError> {
    T::deserialize(Value::Object(members)).map_err(|error| invalid(name, &error.to_string()))
}

/// Returns the error for a message that is not one of the protocol.
pub(crate) fn invalid(name: &str, fault: &str) -> ProtocolError {
    let fault = escape::line(fault).chars().take(64).collect();
    ProtocolErrorKind::Message { name: shown(name), fault }.into()
}
