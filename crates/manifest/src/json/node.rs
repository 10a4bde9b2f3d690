//! The parsed values, with the bytes that they were parsed from.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::borrow::Cow;

use plugward_types::{Span, pointer};

/// One JSON value with its span.
///
/// # Guarantees
/// The span covers the value as written, including quotes and brackets. An object does not contain a key twice.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonNode<'a> {
    pub(super) value: JsonValue<'a>,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "RFC 8259 defines these kinds and no others")]
pub enum JsonValue<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(JsonNumber<'a>),
    /// A string with its escapes decoded.
    String(Cow<'a, str>),
    /// A list.
    Array(Box<[JsonNode<'a>]>),
    /// An object, in file order.
    Object(Box<[JsonMember<'a>]>),
}

/// One key of an object, with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonMember<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_start: u32,
    pub(super) key_end: u32,
    pub(super) node: JsonNode<'a>,
}

/// A number, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonNumber<'a>(pub(super) &'a str);

const fn span(start: u32, end: u32) -> Span {
    Span::new(start as usize, end as usize)
}

impl<'a> JsonNode<'a> {
    /// Returns the value without its span.
    #[must_use]
    pub const fn value(&self) -> &JsonValue<'a> {
        &self.value
    }

    /// Returns the byte range in the file.
    #[must_use]
    pub const fn span(&self) -> Span {
        span(self.start, self.end)
    }

    /// Returns the text if the value is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let JsonValue::String(text) = &self.value { Some(text) } else { None }
    }

    /// Returns the members if the value is an object.
    #[must_use]
    pub const fn members(&self) -> Option<&[JsonMember<'a>]> {
        if let JsonValue::Object(members) = &self.value { Some(members) } else { None }
    }

    /// Returns the items if the value is a list.
    #[must_use]
    pub const fn items(&self) -> Option<&[Self]> {
        if let JsonValue::Array(items) = &self.value { Some(items) } else { None }
    }

    /// Returns the value of a key if the value is an object that contains it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members()?.iter().find(|member| member.key == key).map(JsonMember::node)
    }

    /// Returns the members, or none if the value is not an object.
    ///
    /// For callers to which another type is the same as `{}`, because the reader of the file reports the type.
    #[must_use]
    pub fn members_or_none(&self) -> &[JsonMember<'a>] {
        self.members().unwrap_or(&[])
    }

    /// Returns the items, or none if the value is not a list. See [`members_or_none`](Self::members_or_none).
    #[must_use]
    pub fn items_or_none(&self) -> &[Self] {
        self.items().unwrap_or(&[])
    }

    /// Returns the members of the object at a key, or none if there is no such object.
    #[must_use]
    pub fn members_of(&self, key: &str) -> &[JsonMember<'a>] {
        self.get(key).map_or(&[], Self::members_or_none)
    }

    /// Returns the items of the list at a key, or none if there is no such list.
    #[must_use]
    pub fn items_of(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items_or_none)
    }

    /// Removes the members that `keep` rejects; the spans of the others stay the same.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&JsonMember<'a>) -> bool) {
        if let JsonValue::Object(members) = &mut self.value {
            let mut kept = core::mem::take(members).into_vec();
            kept.retain(keep);
            *members = kept.into_boxed_slice();
        }
    }

    /// Returns the type with its article, for messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self.value {
            JsonValue::Null => "null",
            JsonValue::Bool(_) => "a boolean",
            JsonValue::Number(_) => "a number",
            JsonValue::String(_) => "a string",
            JsonValue::Array(_) => "a list",
            JsonValue::Object(_) => "an object",
        }
    }

    /// Returns `true` if the value is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self.value, JsonValue::Null)
    }
}

impl<'a> JsonMember<'a> {
    /// Returns the key with its escapes decoded.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the byte range of the key, including its quotes.
    #[must_use]
    pub const fn key_span(&self) -> Span {
        span(self.key_start, self.key_end)
    }

    /// Returns the value of the key.
    #[must_use]
    pub const fn node(&self) -> &JsonNode<'a> {
        &self.node
    }
}

impl<'a> JsonNumber<'a> {
    /// Returns the number as written.
    #[must_use]
    pub const fn text(self) -> &'a str {
        self.0
    }

    /// Returns the number as an integer, if it is one with a magnitude below 2^53: `5000`, `5000.0` and `5e3` are.
    #[must_use]
    pub fn as_integer(self) -> Option<i64> {
        // Only TOML has underscores and prefixes.
        let plain = self.0.replace('_', "");
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
            if let Some(digits) = plain.strip_prefix(prefix) {
                return i64::from_str_radix(digits, radix).ok().filter(|value| *value < (1 << 53));
            }
        }
        let (sign, rest) = plain.strip_prefix('-').map_or((1_i64, &*plain), |rest| (-1, rest));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(0);
        }
        let exponent: i64 = exponent.trim_start_matches('+').parse().ok()?;
        let kept = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len().checked_sub(kept.len())?).ok()?;
        let scale = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
        // 2^53 has 16 digits; more digits cannot be an exact integer.
        if !(0..=16).contains(&scale) || kept.len() > 16 {
            return None;
        }
        let value = kept.parse::<i64>().ok()?.checked_mul(10_i64.checked_pow(u32::try_from(scale).ok()?)?)?;
        (value < (1 << 53)).then(|| value * sign)
    }
}

/// Returns the JSON pointer of the innermost value that contains the offset; a key counts as part of its value.
pub(crate) fn pointer_to(root: &JsonNode<'_>, offset: usize) -> String {
    let mut pointer = String::new();
    let mut node = root;
    loop {
        let next = match &node.value {
            JsonValue::Object(members) => {
                let at = members.partition_point(|member| member.node.end as usize <= offset);
                let Some(member) = members.get(at).filter(|member| member.key_start as usize <= offset)
                else {
                    return pointer;
                };
                push_step(&mut pointer, &member.key);
                &member.node
            }
            JsonValue::Array(items) => {
                let at = items.partition_point(|item| item.end as usize <= offset);
                let Some(item) = items.get(at).filter(|item| item.start as usize <= offset) else {
                    return pointer;
                };
                push_step(&mut pointer, &at.to_string());
                item
            }
            _ => return pointer,
        };
        // The first byte of a list or object belongs to itself and not to its first child. In TOML, an array of
        // tables and its first table start at the same byte; there the table is meant.
        if next.start as usize > offset {
            return pointer;
        }
        node = next;
    }
}

/// Adds one step of a JSON pointer (RFC 6901), truncated to 128 characters.
pub(super) fn push_step(pointer: &mut String, key: &str) {
    let short: String = key.chars().take(128).collect();
    let ellipsis = if short.len() < key.len() { "…" } else { "" };
    *pointer = pointer::step(pointer, &(short + ellipsis));
}
