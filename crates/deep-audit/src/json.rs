//! Finds the JSON objects in a text by a model. A reply is either understood or not; nothing is repaired.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use plugward_types::Part as _;
use serde_json::{Map, Value};

/// The most nested objects and arrays.
const DEPTH: usize = 32;
/// The most bytes read per byte of the text. An object can be read again from each object inside it, so hostile nesting
/// would otherwise cost more than linear time.
const WORK: usize = 4;

/// Returns the objects that have a key, or `None` if the text is too nested to be searched in linear time.
///
/// Objects inside one that has the key are not searched.
pub(crate) fn objects_with(key: &str, text: &str) -> Option<Vec<Map<String, Value>>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut work = text.len() * WORK;
    while let Some(offset) = text.rest(from).find('{') {
        let mut reader = Reader { text, at: from + offset };
        let value = reader.value(0);
        work = work.checked_sub(reader.at - from - offset)?;
        match value {
            Some(Value::Object(object)) if object.contains_key(key) => {
                found.push(object);
                from = reader.at;
            }
            _ => from += offset + 1,
        }
    }
    Some(found)
}

/// Reads one JSON value, without duplicate keys.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().rest(self.at);
        let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += blank;
        rest.get(blank).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.peek()? {
            b'{' | b'[' if depth == DEPTH => None,
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut object = Map::new();
        if self.eat(b'}') {
            return Some(Value::Object(object));
        }
        loop {
            let key = if self.peek()? == b'"' { self.string()? } else { return None };
            let value = if self.eat(b':') { self.value(depth)? } else { return None };
            // Readers disagree about which of two equal keys counts.
            if object.insert(key, value).is_some() {
                return None;
            }
            if self.eat(b'}') {
                return Some(Value::Object(object));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.eat(b']') {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.eat(b']') {
                return Some(Value::Array(items));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let mut is_escaped = false;
        let inner = self.text.as_bytes().rest(start + 1);
        let end = inner.iter().position(|byte| {
            let ends = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            ends
        });
        self.at = end.map_or(self.text.len(), |end| start + end + 2);
        end?;
        serde_json::from_str(self.text.part(start..self.at)).ok()
    }

    /// Reads a number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<Value> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let start = self.at;
        self.at += self.text.as_bytes().rest(start).iter().take_while(|byte| is_part(byte)).count();
        serde_json::from_str(self.text.part(start..self.at)).ok()
    }
}
