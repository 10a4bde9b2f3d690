//! The check of rewritten arguments.

use serde_json::{Map, Value};

use crate::execution::local::same_type;
use crate::replies::reply::Failure;

/// The start of every redaction marker.
const MARKER: &str = "[REDACTED";

/// Checks rewritten arguments, and restores values that the hook saw redacted and did not change.
///
/// # Errors
/// `hook/bad-shape` for another type, for a key that the call does not have, and for a redaction marker in
/// a changed value, which the tool would receive instead of the value.
pub(crate) fn rewritten(original: &Value, seen: Option<&Value>, new: Value) -> Result<Value, Failure> {
    let new = match seen {
        None => new,
        Some(seen) => restore(original, seen, new)?,
    };
    let (Some(old), Some(members)) = (original.as_object(), new.as_object()) else {
        return Err(bad("the new arguments are not an object"));
    };
    for (key, value) in members {
        match old.get(key) {
            None => return Err(bad("the new arguments have a key that the call does not have")),
            Some(old) if !same_type(old, value) => return Err(bad("a new argument has another JSON type")),
            Some(_) => {}
        }
    }
    Ok(new)
}

fn bad(message: &str) -> Failure {
    Failure::new("hook/bad-shape", message)
}

fn restore(original: &Value, seen: &Value, new: Value) -> Result<Value, Failure> {
    if new == *seen {
        return Ok(original.clone());
    }
    match (original, seen, new) {
        (Value::Object(original), Value::Object(seen), Value::Object(new)) => {
            let mut out = Map::new();
            for (key, value) in new {
                let value = match (original.get(&key), seen.get(&key)) {
                    (Some(original), Some(seen)) => restore(original, seen, value)?,
                    _ => unmarked(value)?,
                };
                if key.contains(MARKER) {
                    return Err(bad("a key is a marker of a redaction"));
                }
                out.insert(key, value);
            }
            Ok(Value::Object(out))
        }
        // In an array of another length, a marker could belong to a different item.
        (Value::Array(original), Value::Array(seen), Value::Array(new)) if seen.len() == new.len() => {
            // A marker that was moved could be another item's, so a value is restored only at its own
            // index.
            let items = new.into_iter().enumerate().map(|(place, item)| {
                match (original.get(place), seen.get(place)) {
                    (Some(original), Some(seen)) => restore(original, seen, item),
                    _ => unmarked(item),
                }
            });
            Ok(Value::Array(items.collect::<Result<_, _>>()?))
        }
        (_, _, new) => unmarked(new),
    }
}

fn unmarked(value: Value) -> Result<Value, Failure> {
    let has_marker = match &value {
        Value::String(text) => text.contains(MARKER),
        Value::Array(_) | Value::Object(_) => value.to_string().contains(MARKER),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    if has_marker { Err(bad("a new value contains a marker of a redaction")) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stayed_gets_its_value_back_and_a_new_marker_is_refused() {
        let original = json!({"command": "ls", "env": ["K=s3cret", "B=1"], "n": 1});
        let seen = json!({"command": "ls", "env": ["[REDACTED:x]", "B=1"], "n": 1});
        let new = json!({"command": "ls -l", "env": ["[REDACTED:x]", "B=2"], "n": 2});
        let expected = json!({"command": "ls -l", "env": ["K=s3cret", "B=2"], "n": 2});
        assert_eq!(rewritten(&original, Some(&seen), new).unwrap(), expected);
        assert!(rewritten(&original, Some(&seen), json!({"env": ["B=1", "[REDACTED:x]"]})).is_err());
        let moved = json!({"command": "echo [REDACTED:x]"});
        assert!(rewritten(&original, Some(&seen), moved.clone()).is_err());
        assert_eq!(rewritten(&original, None, moved.clone()).unwrap(), moved);
    }

    #[test]
    fn other_types_and_keys_are_refused() {
        let original = json!({"command": "ls"});
        for new in [json!({"command": 1}), json!({"command": "ls", "x": 1}), json!([])] {
            assert!(rewritten(&original, None, new).is_err());
        }
        assert!(rewritten(&original, None, json!({})).is_ok());
    }
}
