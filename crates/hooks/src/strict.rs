//! JSON from hooks and hosts, read strictly: with the usual reader, the second of two equal keys could undo a deny.

use plugward_manifest::json::{self, JsonNode, ParseLimits};
use serde_json::{Map, Number, Value};

/// Limits of a payload, which can be the output of a tool.
pub(crate) const PAYLOAD: ParseLimits =
    ParseLimits::standard().with_bytes(16 << 20).with_depth(128).with_values(4_000_000).with_string(16 << 20);
/// Limits of a reply, which fits in what is read from standard output.
pub(crate) const REPLY: ParseLimits =
    ParseLimits::standard().with_bytes(1 << 20).with_depth(64).with_values(1_000_000).with_string(1 << 20);

/// Reads one JSON object.
///
/// # Errors
/// What is wrong, with line and column, and without any word of the text.
pub(crate) fn object(bytes: &[u8], limits: &ParseLimits) -> Result<Map<String, Value>, String> {
    let root = json::parse(bytes, limits).map_err(|errors| {
        errors.iter().next().map_or_else(String::new, |error| {
            let (position, kind) = (error.position(), error.kind());
            // A key of the text can be a secret; it is the only word of the text that an error repeats.
            let what = match kind {
                json::JsonErrorKind::DuplicateKey { .. } => {
                    "expected each key once, found one again".to_owned()
                }
                kind => kind.to_string(),
            };
            format!("line {}, column {}: {what}", position.line, position.column)
        })
    })?;
    match value(&root) {
        Some(Value::Object(members)) => Ok(members),
        Some(_) => Err(format!("expected an object, found {}", root.type_name())),
        None => Err("expected numbers that fit in 64 bits, found a larger one".to_owned()),
    }
}

/// Converts a value; `None` if a number of it would become another number.
fn value(node: &JsonNode<'_>) -> Option<Value> {
    Some(match node.value() {
        json::JsonValue::Null => Value::Null,
        json::JsonValue::Bool(value) => Value::Bool(*value),
        json::JsonValue::Number(number) => {
            let text = number.text();
            let read = text.parse::<Number>().ok()?;
            if read.is_f64() && !text.contains(['.', 'e', 'E']) {
                return None;
            }
            Value::Number(read)
        }
        json::JsonValue::String(text) => Value::String(text.to_string()),
        json::JsonValue::Array(items) => Value::Array(items.iter().map(value).collect::<Option<_>>()?),
        json::JsonValue::Object(members) => {
            let member = |member: &json::JsonMember<'_>| Some((member.key().to_owned(), value(member.node())?));
            Value::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
    })
}

/// Returns `true` if a key is one of `known` but for its case. Readers differ on whether it is that key.
pub(crate) fn has_other_case(members: &Map<String, Value>, known: &[&str]) -> bool {
    // Some readers fold letters outside of ASCII too, such as the Kelvin sign.
    members.keys().any(|key| {
        !key.is_ascii() || known.iter().any(|known| known != key && known.eq_ignore_ascii_case(key))
    })
}
