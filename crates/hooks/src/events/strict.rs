//! A strict JSON parser for hooks and hosts. With a lenient one, the second of two equal keys could undo a
//! deny.

use plugward_manifest::json::{self, JsonNode, ParseLimits};
use serde_json::{Map, Number, Value};

/// Limits of a payload, which can be the output of a tool.
pub(crate) const PAYLOAD: ParseLimits =
    ParseLimits::standard().with_bytes(16 << 20).with_depth(128).with_values(4_000_000).with_string(16 << 20);
/// Limits of a reply, which must fit in the limit for standard output.
pub(crate) const REPLY: ParseLimits =
    ParseLimits::standard().with_bytes(1 << 20).with_depth(64).with_values(1_000_000).with_string(1 << 20);

/// Reads one JSON object.
///
/// # Errors
/// A message with line and column, without any word of the text.
pub(crate) fn object(bytes: &[u8], limits: &ParseLimits) -> Result<Map<String, Value>, String> {
    let root = json::parse(bytes, limits).map_err(|errors| {
        errors.iter().next().map_or_else(String::new, |error| {
            let (position, kind) = (error.position(), error.kind());
            // A key of the text can be a secret, and other messages do not repeat words of the text.
            let what = match kind {
                json::JsonErrorKind::DuplicateKey { .. } => {
                    "expected each key once, found a duplicate".to_owned()
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

/// Converts a value. Returns `None` if a number would change its value.
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
            let member =
                |member: &json::JsonMember<'_>| Some((member.key().to_owned(), value(member.node())?));
            Value::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
    })
}

/// Returns `true` if a key equals one of `known` except for its case. Parsers disagree about such keys.
pub(crate) fn has_other_case(members: &Map<String, Value>, known: &[&str]) -> bool {
    // Some parsers fold letters outside ASCII too, such as the Kelvin sign.
    members.keys().any(|key| {
        !key.is_ascii() || known.iter().any(|known| known != key && known.eq_ignore_ascii_case(key))
    })
}
