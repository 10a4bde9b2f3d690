//! Decodes the escapes of a string.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::{Part, hex};

use super::JsonSyntaxError;

/// The result of decoding a string.
pub(super) enum Unescaped {
    Text(String),
    /// The `\u` escape at this offset is half of a surrogate pair, and U+FFFD takes its place in the text.
    Half(String, usize),
    Bad(JsonSyntaxError, usize),
}

/// Decodes the text between two quotes.
pub(super) fn unescape(raw: &str) -> Unescaped {
    let mut out = String::with_capacity(raw.len());
    let mut half = None;
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.part(..at));
        let offset = raw.len() - rest.len() + at;
        let escape = rest.part(at + 1..);
        let plain = match escape.as_bytes().first() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let Some((character, length)) = unit(escape) else {
                    return Unescaped::Bad(JsonSyntaxError::BadEscape, offset);
                };
                if character.is_none() {
                    half = half.or(Some(offset));
                }
                out.push(character.unwrap_or('\u{fffd}'));
                rest = escape.part(length..);
                continue;
            }
            _ => return Unescaped::Bad(JsonSyntaxError::BadEscape, offset),
        };
        out.push(plain);
        rest = escape.part(1..);
    }
    out.push_str(rest);
    match half {
        Some(offset) => Unescaped::Half(out, offset),
        None => Unescaped::Text(out),
    }
}

/// Decodes `uXXXX` or a surrogate pair. Returns the character, or `None` for half a pair, and the length.
fn unit(text: &str) -> Option<(Option<char>, usize)> {
    let first = hex::number(text.as_bytes().get(1..5)?)?;
    if let Some(character) = char::from_u32(first) {
        return Some((Some(character), 5));
    }
    // Characters above U+FFFF are written as two escapes.
    let second = text.as_bytes().get(5..11).and_then(|pair| pair.strip_prefix(b"\\u")).and_then(hex::number);
    if let (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) = (first, second) {
        let high = (first & 0x3FF) << 10;
        return Some((char::from_u32((high | (low & 0x3FF)) + 0x1_0000), 11));
    }
    Some((None, 5))
}
