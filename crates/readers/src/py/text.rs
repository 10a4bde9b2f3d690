//! The constant texts of string tokens, and the normal form of names.

use plugward_types::{Part, hex};
use unicode_normalization::UnicodeNormalization as _;

use super::token::{BYTES, ESCAPED, FORMATTED, RAW, SPEC, Token, TokenKind};
use crate::view::{Obfuscations, View};

/// The longest character name in `\N{…}`.
const MOST_NAME: usize = 128;

/// Appends the normal form (NFKC) of a name that is not ASCII.
pub(super) fn normalize(name: &[u8], out: &mut Vec<u8>) {
    let mut put = |char: char| out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    for chunk in name.utf8_chunks() {
        chunk.valid().nfkc().for_each(&mut put);
        if !chunk.invalid().is_empty() {
            put('\u{FFFD}');
        }
    }
}

/// Returns `true` if a string's text is its value.
pub(super) fn is_plain(token: Token, body: &[u8]) -> bool {
    let escaped = token.has(ESCAPED) && !token.has(RAW);
    let braced = token.has(FORMATTED) && memchr::memchr2(b'{', b'}', body).is_some();
    !escaped && !braced
}

/// Appends a string's value.
///
/// Returns `true` if escapes hide it: they spell printable ASCII, or continue a line inside a word.
pub(super) fn decode(token: Token, body: &[u8], out: &mut Vec<u8>) -> bool {
    let braces = token.has(FORMATTED) && !token.has(SPEC);
    let escapes = token.has(ESCAPED) && !token.has(RAW);
    let mut hidden = false;
    let mut rest = body;
    while !rest.is_empty() {
        let len = if escapes { memchr::memchr(b'\\', rest).unwrap_or(rest.len()) } else { rest.len() };
        let (plain, tail) = rest.split_at(len);
        if braces {
            unbrace(plain, out);
        } else {
            out.extend_from_slice(plain);
        }
        if tail.is_empty() {
            break;
        }
        let (value, len) = escape(token, tail);
        rest = tail.part(len..);
        let Some(value) = value else {
            let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii_whitespace());
            hidden |= is_word(out.last()) && is_word(rest.first());
            continue;
        };
        hidden |= len > 2 && (0x20..0x7F).contains(&value);
        match u8::try_from(value) {
            Ok(byte) if token.has(BYTES) => out.push(byte),
            _ => {
                let char = char::from_u32(value).unwrap_or('\u{FFFD}');
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    hidden
}

/// Appends text in which `{{` and `}}` stand for one brace.
fn unbrace(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(len) = memchr::memchr2(b'{', b'}', rest) {
        let end = len + 1;
        out.extend_from_slice(rest.part(..end));
        let skip = usize::from(rest.get(end) == rest.get(len));
        rest = rest.part(end + skip..);
    }
    out.extend_from_slice(rest);
}

/// Returns the character of an escape, if it has one, and the length of the escape.
fn escape(token: Token, rest: &[u8]) -> (Option<u32>, usize) {
    let plain = |value: u8| (Some(u32::from(value)), 2);
    let digits = |len: usize| match rest.get(2..len).and_then(hex::number) {
        Some(value) if len == 4 || !token.has(BYTES) => (Some(value), len),
        _ => (Some(92), 1),
    };
    match rest.get(1) {
        Some(b'\r') if rest.get(2) == Some(&b'\n') => (None, 3),
        Some(b'\n' | b'\r') => (None, 2),
        Some(b'n') => plain(b'\n'),
        Some(b't') => plain(b'\t'),
        Some(b'r') => plain(b'\r'),
        Some(b'a') => plain(7),
        Some(b'b') => plain(8),
        Some(b'f') => plain(12),
        Some(b'v') => plain(11),
        Some(quote @ (b'\\' | b'\'' | b'"')) => plain(*quote),
        Some(b'x') => digits(4),
        Some(b'u') => digits(6),
        Some(b'U') => digits(10),
        Some(b'N') if !token.has(BYTES) => {
            let end = rest.iter().take(MOST_NAME).position(|byte| *byte == b'}').unwrap_or(0);
            named(rest.get(3..end)).map_or((Some(92), 1), |value| (Some(value), end + 1))
        }
        Some(b'0'..=b'7') => {
            let digits = rest.iter().skip(1).take(3).take_while(|digit| matches!(digit, b'0'..=b'7'));
            let most = if token.has(BYTES) { 0xFF } else { 0x1FF };
            digits.fold((Some(0), 1), |(value, len), digit| {
                let digit = u32::from(digit.wrapping_sub(b'0'));
                (value.map(|value: u32| (value.wrapping_mul(8) | digit) & most), len + 1)
            })
        }
        _ => (Some(92), 1),
    }
}

/// Characters other than letters that occur in code, and their names.
const MARKS: &[u8] = b"0123456789_./- :()'\"|";
const NAMES: &str = "DIGIT ZERO;DIGIT ONE;DIGIT TWO;DIGIT THREE;DIGIT FOUR;DIGIT FIVE;DIGIT SIX;DIGIT SEVEN;DIGIT EIGHT;\
    DIGIT NINE;LOW LINE;FULL STOP;SOLIDUS;HYPHEN-MINUS;SPACE;COLON;LEFT PARENTHESIS;RIGHT PARENTHESIS;APOSTROPHE;\
    QUOTATION MARK;VERTICAL LINE";

fn named(name: Option<&[u8]>) -> Option<u32> {
    let name = name?.to_ascii_uppercase();
    let char = match (name.strip_prefix(b"LATIN SMALL LETTER "), name.strip_prefix(b"LATIN CAPITAL LETTER "))
    {
        (Some([letter]), _) => letter.to_ascii_lowercase(),
        (_, Some([letter])) => *letter,
        _ => *NAMES.split(';').zip(MARKS).find(|(known, _)| known.as_bytes() == name)?.1,
    };
    Some(u32::from(char))
}

/// Returns a small integer.
pub(super) fn number(text: &[u8]) -> Option<i32> {
    let (digits, radix) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', b'o' | b'O', digits @ ..] => (digits, 8),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2),
        digits => (digits, 10),
    };
    let mut value = 0_i32;
    for digit in digits.iter().filter(|digit| **digit != b'_') {
        let digit = i32::try_from(char::from(*digit).to_digit(radix)?).ok()?;
        value = value.checked_mul(i32::try_from(radix).ok()?)?.checked_add(digit)?;
    }
    Some(value)
}

/// Decodes the content of a string into a view. `from` is the offset of the content.
pub fn decode_text(body: &[u8], from: usize, view: &mut View) {
    let token = Token { kind: TokenKind::String, start: 0, end: 0, flags: ESCAPED, opens: 0, closes: 0 };
    let mut at = 0_usize;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        view.copy(rest.part(..plain), from + at, Obfuscations::NONE, 0);
        at += plain;
        let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let (value, len) = escape(token, rest);
        let start = from + at;
        match value {
            Some(value) => {
                let spelled = len > 2 && (0x20..0x7F).contains(&value);
                let how = if spelled { Obfuscations::ESCAPE } else { Obfuscations::NONE };
                let char = char::from_u32(value).unwrap_or('\u{FFFD}');
                let range = (start, start + len);
                view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), range, how, 0);
            }
            None => view.skip(Obfuscations::ESCAPE),
        }
        at += len.max(1);
    }
}
