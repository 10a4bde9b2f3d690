//! JSON from hooks and hosts, read strictly: with the usual reader, the second of two equal keys could undo a deny.

use plugward_manifest::json::{self, Limits, Node};
use serde_json::{Map, Number, Value};

/// Limits of a payload, which can be the output of a tool.
pub(crate) const PAYLOAD: Limits =
    Limits::standard().with_bytes(16 << 20).with_depth(128).with_values(4_000_000).with_string(16 << 20);
/// Limits of a reply, which fits in what is read from standard output.
pub(crate) const REPLY: Limits =
    Limits::standard().with_bytes(1 << 20).with_depth(64).with_values(1_000_000).with_string(1 << 20);

/// Reads one JSON object.
///
/// # Errors
/// What is wrong, with line and column, and without any word of the text.
pub(crate) fn object(bytes: &[u8], limits: &Limits) -> Result<Map<String, Value>, String> {
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
        Value::Object(members) => Ok(members),
        _ => Err(format!("expected an object, found {}", root.type_name())),
    }
}

fn value(node: &Node<'_>) -> Value {
    match node.value() {
        json::Value::Null => Value::Null,
        json::Value::Bool(value) => Value::Bool(*value),
        json::Value::Number(number) => number.text().parse::<Number>().map_or(Value::Null, Value::Number),
        json::Value::String(text) => Value::String(text.to_string()),
        json::Value::Array(items) => Value::Array(items.iter().map(value).collect()),
        json::Value::Object(members) => Value::Object(
            members.iter().map(|member| (member.key().to_owned(), value(member.node()))).collect(),
        ),
    }
}
