//! The encoding that the first lines of a Python file declare.

use plugward_types::{Part, hex};

use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Sink};
use crate::text::view::{Obfuscations, View};

/// Encodings in which ASCII is ASCII and nothing else can be code.
const PLAIN: &[&str] = plugward_types::words![
    "utf8 utf8sig u8 cp65001 ascii usascii 646 ansix341968 latin1 latin l1 iso88591 iso885915 latin9 cp1252",
    "windows1252 8859 cp819 utf8unix utf8dos utf8mac latin1unix",
];

/// Finds the declared encoding: `coding:` or `coding=` in a comment on the first two lines.
fn named(src: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0_usize;
    for _ in 0..2 {
        let rest = src.rest(at);
        let len = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let end = if rest.get(len..).is_some_and(|tail| tail.starts_with(b"\r\n")) { 2 } else { 1 };
        let line = rest.part(..len);
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
        if !text.is_empty() && !text.starts_with(b"#") {
            return None;
        }
        let marked = |found: &usize| matches!(line.get(found + 6), Some(b':' | b'='));
        if let Some(found) = memchr::memmem::find_iter(line, b"coding").find(marked) {
            let from = found + 7;
            let rest = line.part(from..);
            let gap = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let name = rest.part(gap..);
            let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            let len = name.iter().take_while(|byte| part(byte)).count();
            let start = at + from + gap;
            return (len > 0).then_some((start, start + len));
        }
        at += len + end;
    }
    None
}

/// Reports an encoding that hides code, and passes on the decoded text.
///
/// With `# coding: rot13`, Python runs text that reviewers cannot read.
pub(super) fn check(src: &[u8], sink: &mut Sink<'_>) {
    let Some((start, end)) = named(src) else { return };
    let name: String = src
        .part(start..end)
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    if PLAIN.contains(&name.as_str()) {
        return;
    }
    sink.shape("evasion-source-encoding", (start, end), Obfuscations::NONE);
    let view = match name.as_str() {
        "utf7" | "u7" | "unicode11utf7" => utf7(src),
        "rot13" => rotated(src),
        "unicodeescape" => escaped(src, Escapes::All),
        "rawunicodeescape" => escaped(src, Escapes::Unicode),
        "punycode" => punycode(src),
        _ => return,
    };
    sink.embed(Lens::Py, EmbeddedText::View(view));
}

fn put(view: &mut View, value: u32, range: (usize, usize)) {
    let char = char::from_u32(value).unwrap_or('\u{FFFD}');
    view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), range, Obfuscations::ENCODING, 0);
}

fn rotated(src: &[u8]) -> View {
    let turn = |byte: u8| match byte {
        b'a'..=b'm' | b'A'..=b'M' => byte.wrapping_add(13),
        b'n'..=b'z' | b'N'..=b'Z' => byte.wrapping_sub(13),
        _ => byte,
    };
    let turned: Vec<u8> = src.iter().map(|byte| turn(*byte)).collect();
    let mut view = View::default();
    view.copy(&turned, 0, Obfuscations::ENCODING, 0);
    view
}

/// The escapes that an encoding supports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    All,
    Unicode,
}

fn escaped(src: &[u8], which: Escapes) -> View {
    let mut view = View::default();
    let mut at = 0_usize;
    while let Some(rest) = src.get(at..).filter(|rest| !rest.is_empty()) {
        let len = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        view.copy(rest.part(..len), at, Obfuscations::ENCODING, 0);
        at += len;
        let Some(rest) = src.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let (value, len) = one(rest, which);
        match value {
            Some(value) => put(&mut view, value, (at, at + len)),
            None => view.copy(b"\\", at, Obfuscations::ENCODING, 0),
        }
        at += len;
    }
    view
}

fn one(rest: &[u8], which: Escapes) -> (Option<u32>, usize) {
    let fixed = |len: usize| match rest.get(2..len + 2).and_then(hex::number) {
        Some(value) => (Some(value), len + 2),
        None => (None, 1),
    };
    match (rest.get(1), which) {
        (Some(b'u'), _) => fixed(4),
        (Some(b'U'), _) => fixed(8),
        (Some(b'x'), Escapes::All) => fixed(2),
        (Some(b'n'), Escapes::All) => (Some(10), 2),
        (Some(b't'), Escapes::All) => (Some(9), 2),
        (Some(b'r'), Escapes::All) => (Some(13), 2),
        (Some(byte @ (b'\\' | b'\'' | b'"')), Escapes::All) => (Some(u32::from(*byte)), 2),
        (Some(b'0'..=b'7'), Escapes::All) => {
            let digits = rest.iter().skip(1).take(3).take_while(|digit| matches!(digit, b'0'..=b'7'));
            let (value, len) = digits.fold((0_u32, 1_usize), |(value, len), digit| {
                (value.wrapping_mul(8).wrapping_add(u32::from(digit.wrapping_sub(b'0'))), len + 1)
            });
            (Some(value), len)
        }
        _ => (None, 1),
    }
}

/// Decodes UTF-7, in which `+…-` is UTF-16 in base64.
fn utf7(src: &[u8]) -> View {
    let mut view = View::default();
    let mut at = 0_usize;
    while let Some(rest) = src.get(at..).filter(|rest| !rest.is_empty()) {
        let len = memchr::memchr(b'+', rest).unwrap_or(rest.len());
        view.copy(rest.part(..len), at, Obfuscations::ENCODING, 0);
        at += len;
        let Some(rest) = src.get(at + 1..) else { break };
        let digit = |byte: u8| match byte {
            b'A'..=b'Z' => Some(byte.wrapping_sub(b'A')),
            b'a'..=b'z' => Some(byte.wrapping_sub(b'a').wrapping_add(26)),
            b'0'..=b'9' => Some(byte.wrapping_sub(b'0').wrapping_add(52)),
            b'+' => Some(62),
            b'/' => Some(63),
            _ => None,
        };
        let len = rest.iter().position(|byte| digit(*byte).is_none()).unwrap_or(rest.len());
        let closed = usize::from(rest.get(len) == Some(&b'-'));
        let end = at + 1 + len + closed;
        if len == 0 {
            put(&mut view, 43, (at, end.max(at + 1)));
        }
        let (mut bits, mut count) = (0_u64, 0_u32);
        let mut high = None;
        for (byte, place) in rest.iter().take(len).zip(at + 1..) {
            bits = ((bits << 6) | u64::from(digit(*byte).unwrap_or(0))) & 0xFFFF_FFFF;
            count = count.saturating_add(6);
            if count < 16 {
                continue;
            }
            count = count.saturating_sub(16);
            let unit = u32::try_from((bits >> count) & 0xFFFF).unwrap_or(0);
            let range = (place.saturating_sub(2).max(at), place + 1);
            match (high.take(), unit) {
                (None, 0xD800..=0xDBFF) => high = Some(unit),
                (Some(first), 0xDC00..=0xDFFF) => {
                    let first: u32 = first;
                    let value =
                        (first.saturating_sub(0xD800) << 10).saturating_add(unit.saturating_sub(0xDC00));
                    put(&mut view, value.saturating_add(0x1_0000), range);
                }
                (_, unit) => put(&mut view, unit, range),
            }
        }
        at = end.max(at + 1);
    }
    view
}

/// Decodes Punycode: plain characters, a hyphen, and the positions of the others. Only short files are
/// decoded, because the algorithm is quadratic.
fn punycode(src: &[u8]) -> View {
    const MOST: usize = 1 << 14;
    let mut view = View::default();
    let cut = memchr::memrchr(b'-', src);
    let (plain, rest) = src.split_at(cut.unwrap_or(0));
    let mut chars: Vec<char> = plain.iter().map(|byte| char::from(*byte)).collect();
    let digits = rest.strip_prefix(b"-").unwrap_or(rest).trim_ascii();
    if src.len() <= MOST {
        insert(&mut chars, digits);
    }
    let text: String = chars.into_iter().collect();
    view.put(text.as_bytes(), (0, src.len()), Obfuscations::ENCODING, 0);
    view
}

/// Inserts the characters that the digits encode (RFC 3492, section 6.2).
fn insert(chars: &mut Vec<char>, digits: &[u8]) {
    let (mut code, mut at, mut bias) = (128_u32, 0_u32, 72_u32);
    let mut rest = digits.iter();
    let mut first = true;
    while rest.len() > 0 {
        let before = at;
        let (mut weight, mut k) = (1_u32, 36_u32);
        loop {
            let digit = match rest.next() {
                Some(byte @ (b'a'..=b'z' | b'A'..=b'Z')) => u32::from((byte | 0x20).wrapping_sub(b'a')),
                Some(byte @ b'0'..=b'9') => u32::from(byte.wrapping_sub(b'0')).saturating_add(26),
                _ => return,
            };
            let Some(next) = digit.checked_mul(weight).and_then(|step| at.checked_add(step)) else { return };
            at = next;
            let low = k.saturating_sub(bias).clamp(1, 26);
            if digit < low {
                break;
            }
            let Some(next) = weight.checked_mul(36_u32.saturating_sub(low)) else { return };
            weight = next;
            k = k.saturating_add(36);
        }
        let len = u32::try_from(chars.len()).unwrap_or(u32::MAX).saturating_add(1);
        let mut delta = at.saturating_sub(before).checked_div(if first { 700 } else { 2 }).unwrap_or(0);
        first = false;
        delta = delta.saturating_add(delta.checked_div(len).unwrap_or(0));
        let mut k = 0_u32;
        while delta > 455 {
            delta = delta.checked_div(35).unwrap_or(0);
            k = k.saturating_add(36);
        }
        let share = delta.saturating_mul(36).checked_div(delta.saturating_add(38)).unwrap_or(0);
        bias = k.saturating_add(share);
        code = code.saturating_add(at.checked_div(len).unwrap_or(0));
        at = at.checked_rem(len).unwrap_or(0);
        let Some(char) = char::from_u32(code) else { return };
        let place = usize::try_from(at).unwrap_or(0).min(chars.len());
        chars.insert(place, char);
        at = at.saturating_add(1);
    }
}
