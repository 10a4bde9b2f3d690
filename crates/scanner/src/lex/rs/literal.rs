//! String literals and their decoded text.

use plugward_types::Part;

use super::token::Token;
use crate::text::view::{Obfuscations, View};

/// The range of a string's text, and whether it contains escapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LiteralText {
    pub(super) start: usize,
    pub(super) end: usize,
    escaped: bool,
}

/// Returns the text of a string token of any kind.
pub(super) fn text(src: &[u8], token: Token) -> LiteralText {
    let (start, end) = token.span();
    let bytes = src.part(start..end);
    let prefix = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let raw = bytes.get(..prefix).is_some_and(|prefix| prefix.contains(&b'r'));
    let tail = bytes.part(prefix..);
    let marks = tail.iter().take_while(|byte| **byte == b'#').count();
    let from = (start + prefix + marks + 1).min(end);
    let close = marks + 1;
    let closed = tail.len() > close + marks && tail.get(tail.len().saturating_sub(close)) == Some(&b'"');
    let to = if closed { end.saturating_sub(close).max(from) } else { end };
    let body = src.part(from..to);
    LiteralText { start: from, end: to, escaped: !raw && memchr::memchr(b'\\', body).is_some() }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().filter(|digit| **digit != b'_').try_fold(0_u32, |sum, digit| {
        let value = char::from(*digit).to_digit(16)?;
        sum.checked_mul(16)?.checked_add(value)
    })
}

/// Reads one escape: the decoded character, the length, and whether digits spell it.
fn read_escape(rest: &[u8]) -> (Option<u32>, usize, bool) {
    let plain = |value: u8| (Some(u32::from(value)), 2, false);
    match rest.part(1..) {
        [b'n', ..] => plain(b'\n'),
        [b't', ..] => plain(b'\t'),
        [b'r', ..] => plain(b'\r'),
        [b'0', ..] => plain(0),
        [b'x', digits @ ..] => match digits.get(..2).and_then(hex) {
            Some(value) => (Some(value), 4, true),
            None => plain(b'x'),
        },
        [b'u', b'{', digits @ ..] => {
            let len = digits.iter().take(16).position(|byte| *byte == b'}').unwrap_or(0);
            match digits.get(..len).filter(|digits| !digits.is_empty()).and_then(hex) {
                Some(value) => (Some(value), len + 4, true),
                None => plain(b'u'),
            }
        }
        // An escaped line break is dropped together with the spaces after it.
        [b'\n' | b'\r', tail @ ..] => {
            let blanks = tail.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            (None, blanks + 2, false)
        }
        [other, ..] if other.is_ascii() => plain(*other),
        _ => (None, 1, false),
    }
}

/// Appends the decoded text of a string to a view.
pub(super) fn decode_into(src: &[u8], text: LiteralText, view: &mut View) {
    if !text.escaped {
        view.copy(src.part(text.start..text.end), text.start, Obfuscations::NONE, 0);
        return;
    }
    let mut at = text.start;
    while at < text.end {
        let rest = src.part(at..text.end);
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        view.copy(rest.part(..plain), at, Obfuscations::NONE, 0);
        at += plain;
        let Some(rest) = src.get(at..text.end).filter(|rest| !rest.is_empty()) else { break };
        let (value, len, spelled) = read_escape(rest);
        let end = (at + len).min(text.end);
        if let Some(value) = value {
            let how = if spelled && (0x20..0x7F).contains(&value) {
                Obfuscations::ESCAPE
            } else {
                Obfuscations::NONE
            };
            let char = char::from_u32(value).unwrap_or('\u{FFFD}');
            view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), (at, end), how, 0);
        }
        at = end.max(at + 1);
    }
}

impl LiteralText {
    pub(super) const fn is_escaped(self) -> bool {
        self.escaped
    }

    pub(super) const fn is_empty(self) -> bool {
        self.start >= self.end
    }
}
