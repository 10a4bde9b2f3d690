//! Messages of JSON-RPC. Each is read into its known members, and written again from them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::error::{ProtocolError, ProtocolErrorKind, shown};
use crate::json;

/// The code of an error for a withheld offer.
pub(crate) const WITHHELD: i32 = -32001;
/// The code of an error for a message at the wrong time or in the wrong form.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// The code of an error for an answer that cannot be read.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// The code of an error for a line that is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The code of an error for a method that does not exist.
pub(crate) const NO_METHOD: i64 = -32601;

/// The most bytes of an id, many of which can be open.
const MAX_ID: usize = 256;

/// The id of a request, as its JSON text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(String);

impl Id {
    /// Returns the id of a request of the proxy.
    pub(crate) fn own(number: u64) -> Self {
        Self(format!("\"plugward:{number}\""))
    }

    /// Returns `true` if it looks like an id of the proxy.
    pub(crate) fn is_own(&self) -> bool {
        self.0.starts_with("\"plugward:")
    }

    /// Reads an id. Escapes are resolved, so that an id has one text.
    fn read(raw: &RawValue) -> Option<Self> {
        Self::of_value(&json::read(raw.get()).ok()?)
    }

    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        (value.is_string() || value.is_number())
            .then(|| value.to_string())
            .filter(|id| id.len() <= MAX_ID)
            .map(Self)
    }
}

/// A request: its id, its method, and its parameters as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Option<String>,
}

impl Request {
    pub(crate) fn line(&self) -> String {
        let params = self.params.as_ref().map_or(String::new(), |params| format!(",\"params\":{params}"));
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{}{params}}}", self.id.0, json!(self.method))
    }

    /// Reads parameters. Members that are not asked for are not looked at.
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        json::read(self.params.as_deref()?).ok()
    }
}

/// A message.
#[derive(Debug)]
pub(crate) enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Option<String>,
    },
    /// A result, or an error.
    Answer {
        id: Id,
        outcome: Result<String, String>,
    },
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Message {
    /// Reads a line.
    pub(crate) fn read(line: &[u8]) -> Result<Self, ProtocolError> {
        match json::check(line) {
            Ok(text) => Self::of_members(text),
            Err(error) if matches!(error.kind(), ProtocolErrorKind::NotJson { .. }) => {
                let repaired = json::without_lone_surrogates(line);
                Self::of_members(json::check(&repaired)?)
            }
            Err(error) => Err(error),
        }
    }

    fn of_members(text: &str) -> Result<Self, ProtocolError> {
        let members: Members<'_> = json::read(text).map_err(|error| invalid(&error.to_string()))?;
        let id =
            members.id.map(|id| Id::read(id).ok_or_else(|| invalid("`id` is not a short string or number")));
        let params = members.params.map(one_line);
        match (id.transpose()?, members.method) {
            (Some(id), Some(method)) => {
                Ok(Self::Request(Request { id, method: method.into_owned(), params }))
            }
            (None, Some(method)) => Ok(Self::Notification { method: method.into_owned(), params }),
            (Some(id), None) => {
                let outcome = match members.error {
                    Some(error) => Err(one_line(error)),
                    None => Ok(members.result.map_or_else(|| "null".to_owned(), one_line)),
                };
                Ok(Self::Answer { id, outcome })
            }
            (None, None) => Err(invalid("neither `id` nor `method`")),
        }
    }
}

/// Returns the id in a line that is not strict enough to pass. Of two, it is the last one.
pub(crate) fn id_of(line: &[u8]) -> Option<Id> {
    let members: Map<String, Value> = serde_json::from_slice(line).ok()?;
    members.get("id").and_then(Id::of_value).filter(|_| !members.contains_key("method"))
}

fn invalid(fault: &str) -> ProtocolError {
    ProtocolErrorKind::Message { name: "jsonrpc".to_owned(), fault: shown(fault) }.into()
}

/// Returns the text of a value in one line. Carriage returns are whitespace of JSON, but a reader that splits lines at
/// them would see another message.
fn one_line(raw: &RawValue) -> String {
    let text = raw.get().replace('\r', " ");
    // Readers of lines in some languages end a line at these, too. In JSON they occur in texts only.
    let ends = [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")];
    ends.into_iter().fold(text, |text, (end, escaped)| text.replace(end, escaped))
}

/// Returns the line of a notification.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    let params = params.map_or(String::new(), |params| format!(",\"params\":{params}"));
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{}{params}}}", json!(method))
}

/// Returns the line of an answer with a result or an error, which are JSON texts.
pub(crate) fn answer(id: &Id, outcome: Result<&str, &str>) -> String {
    let (name, text) = match outcome {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{name}\":{text}}}", id.0)
}

/// Returns the line of an error. An id that cannot be read is null.
pub(crate) fn error(id: Option<&Id>, code: i32, message: &str) -> String {
    let error = json!({ "code": code, "message": format!("plugward: {message}") }).to_string();
    answer(id.unwrap_or(&Id("null".to_owned())), Err(&error))
}

/// Returns the code of an error.
pub(crate) fn code_of(error: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Code {
        code: i64,
    }
    json::read::<Code>(error).ok().map(|error| error.code)
}
