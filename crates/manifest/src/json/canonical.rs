//! Writes canonical JSON: compact, with sorted keys.

use super::{JsonNode, JsonValue};

/// Writes a value without white space, with the keys of objects in bytewise order and numbers as written.
pub(crate) fn canonical(node: &JsonNode<'_>, out: &mut String) {
    match &node.value {
        JsonValue::Null => out.push_str("null"),
        JsonValue::Bool(true) => out.push_str("true"),
        JsonValue::Bool(false) => out.push_str("false"),
        // Numbers are not normalized: hosts disagree about `1.0` and `1`, so they count as different values.
        JsonValue::Number(number) => out.push_str(number.text()),
        JsonValue::String(text) => write_text(text, out),
        JsonValue::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        JsonValue::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|one, two| one.key.cmp(&two.key));
            out.push('{');
            for (index, member) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(&member.key, out);
                out.push(':');
                canonical(&member.node, out);
            }
            out.push('}');
        }
    }
}

/// Writes a JSON string, in which only the required characters are escaped.
pub(crate) fn write_text(text: &str, out: &mut String) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => {
                let code = character as usize;
                out.push_str("\\u00");
                out.extend(HEX.get(code >> 4));
                out.extend(HEX.get(code & 15));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
