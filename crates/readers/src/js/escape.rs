//! Escapes of identifiers and strings.

use plugward_types::{Part, hex};

use crate::view::{Obfuscations, View};

/// Returns the length of a `\u` escape in an identifier.
pub(super) fn identifier_escape(src: &[u8], at: usize) -> Option<usize> {
    read_unicode(src.get(at..)?).map(|(_, len)| len)
}

/// Reads `\uXXXX` or `\u{X…}` at the start of a text.
fn read_unicode(rest: &[u8]) -> Option<(u32, usize)> {
    let digits = rest.strip_prefix(b"\\u")?;
    if let Some(inner) = digits.strip_prefix(b"{") {
        // `\u{000041}` is valid with any number of zeros.
        let zeros = inner.iter().take_while(|byte| **byte == b'0').count();
        let rest = inner.get(zeros..)?;
        let len = rest.iter().take(9).position(|byte| *byte == b'}')?;
        let value = if zeros > 0 && len == 0 { 0 } else { hex::number(rest.get(..len)?)? };
        return Some((value, len + zeros + 4));
    }
    Some((hex::number(digits.get(..4)?)?, 6))
}

/// Decodes an identifier with escapes.
pub(super) fn decode_identifier(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (char, len) = match read_unicode(rest) {
            Some((value, len)) => (char::from_u32(value), len),
            None => (None, 1),
        };
        match char {
            Some(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            None => out.extend(rest.part(..len)),
        }
        at += len;
    }
    out
}

/// One escape: the character, if it denotes one, and its length in bytes.
struct DecodedEscape {
    value: Option<u32>,
    len: usize,
}

/// Reads the escape at the start of a text, which begins with a backslash.
fn read_escape(rest: &[u8]) -> DecodedEscape {
    let unit = |value: u32, len: usize| DecodedEscape { value: Some(value), len };
    match rest.part(1..) {
        [b'\r', b'\n', ..] => DecodedEscape { value: None, len: 3 },
        [b'\n' | b'\r', ..] => DecodedEscape { value: None, len: 2 },
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => DecodedEscape { value: None, len: 4 },
        [b'n', ..] => unit(10, 2),
        [b't', ..] => unit(9, 2),
        [b'r', ..] => unit(13, 2),
        [b'b', ..] => unit(8, 2),
        [b'v', ..] => unit(11, 2),
        [b'f', ..] => unit(12, 2),
        [b'x', digits @ ..] => match digits.get(..2).and_then(hex::number) {
            Some(value) => unit(value, 4),
            None => unit(u32::from(b'x'), 2),
        },
        [b'u', ..] => read_pair(rest).map_or(unit(u32::from(b'u'), 2), |(value, len)| unit(value, len)),
        [b'0'..=b'7', ..] => {
            let (value, len) = octal(rest.part(1..));
            unit(value, len + 1)
        }
        [other, ..] if other.is_ascii() => unit(u32::from(*other), 2),
        _ => DecodedEscape { value: None, len: 1 },
    }
}

/// Reads one `\u` escape, or two that form a surrogate pair.
fn read_pair(rest: &[u8]) -> Option<(u32, usize)> {
    let (high, len) = read_unicode(rest)?;
    if let 0xD800..=0xDBFF = high
        && let Some((low @ 0xDC00..=0xDFFF, more)) = rest.get(len..).and_then(read_unicode)
    {
        let value = 0x1_0000_u32
            .saturating_add(high.saturating_sub(0xD800) << 10)
            .saturating_add(low.saturating_sub(0xDC00));
        return Some((value, len + more));
    }
    Some((high, len))
}

/// Reads up to three octal digits that form a byte.
fn octal(digits: &[u8]) -> (u32, usize) {
    let mut value = 0_u32;
    let mut len = 0_usize;
    for digit in digits.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')) {
        let next = value.saturating_mul(8).saturating_add(u32::from(digit.wrapping_sub(b'0')));
        if next > 255 {
            break;
        }
        value = next;
        len += 1;
    }
    (value, len)
}

/// Decodes the content of a string.
///
/// Returns `true` if an escape hid a printable ASCII character, or a line continuation split a word.
pub(super) fn decode(body: &[u8], out: &mut Vec<u8>) -> bool {
    let mut hidden = false;
    let mut at = 0_usize;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        out.extend_from_slice(rest.part(..plain));
        at += plain;
        let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let unit = read_escape(rest);
        let next = rest.get(1).copied().unwrap_or_default();
        match unit.value.map(|value| (value, char::from_u32(value).unwrap_or('\u{FFFD}'))) {
            Some((value, char)) => {
                let spelled = matches!(next, b'x' | b'u' | b'0'..=b'7');
                hidden |= spelled && (0x20..0x7F).contains(&value);
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
            None => hidden |= matches!(next, b'\n' | b'\r'),
        }
        at += unit.len.max(1);
    }
    hidden
}

/// Decodes the content of a string into a view. `from` is the offset of the content.
pub fn decode_text(body: &[u8], from: usize, view: &mut View) {
    let mut at = 0_usize;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        view.copy(rest.part(..plain), from + at, Obfuscations::NONE, 0);
        at += plain;
        let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let unit = read_escape(rest);
        let start = from + at;
        if let Some(value) = unit.value {
            let spelled = rest.get(1).is_some_and(|byte| matches!(byte, b'x' | b'u' | b'0'..=b'7'));
            let how = if spelled && (0x20..0x7F).contains(&value) {
                Obfuscations::ESCAPE
            } else {
                Obfuscations::NONE
            };
            let char = char::from_u32(value).unwrap_or('\u{FFFD}');
            let range = (start, start + unit.len);
            view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), range, how, 0);
        }
        at += unit.len.max(1);
    }
}
