//! What string tokens say: escapes decoded, adjacent ones joined.

use super::token::{ESCAPED, K, RAW, Tok};
use crate::view::{How, View};

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
}

/// What an escape stands for, `None` for nothing, and how many bytes it takes.
fn escape(rest: &[u8]) -> (Option<u32>, usize) {
    let plain = |value: u32| (Some(value), 2);
    match rest.get(1) {
        Some(b'\r') if rest.get(2) == Some(&b'\n') => (None, 3),
        Some(b'\n' | b'\r') => (None, 2),
        Some(b'n') => plain(10),
        Some(b't') => plain(9),
        Some(b'r') => plain(13),
        Some(b'a') => plain(7),
        Some(b'b') => plain(8),
        Some(b'f') => plain(12),
        Some(b'v') => plain(11),
        Some(byte @ (b'\\' | b'\'' | b'"')) => plain(u32::from(*byte)),
        Some(b'x') => hex(rest.get(2..4)).map_or((Some(92), 1), |value| (Some(value), 4)),
        Some(b'u') => hex(rest.get(2..6)).map_or((Some(92), 1), |value| (Some(value), 6)),
        Some(b'U') => hex(rest.get(2..10)).map_or((Some(92), 1), |value| (Some(value), 10)),
        Some(b'N') => {
            let end = rest.iter().take(128).position(|byte| *byte == b'}');
            let name = end.and_then(|end| rest.get(3..end));
            match (name.and_then(named), end) {
                (Some(value), Some(end)) => (Some(value), end.saturating_add(1)),
                _ => (Some(92), 1),
            }
        }
        Some(b'0'..=b'7') => {
            let digits = rest.iter().skip(1).take(3).take_while(|digit| matches!(digit, b'0'..=b'7'));
            let (value, len) = digits.fold((0_u32, 1_usize), |(value, len), digit| {
                (
                    value.wrapping_mul(8).wrapping_add(u32::from(digit.wrapping_sub(b'0'))),
                    len.saturating_add(1),
                )
            });
            (Some(value), len)
        }
        _ => (Some(92), 1),
    }
}

/// Characters by name: those that code is made of.
fn named(name: &[u8]) -> Option<u32> {
    let name = name.to_ascii_uppercase();
    let letter = |text: &[u8]| match text {
        [letter] if letter.is_ascii_uppercase() => Some(u32::from(*letter)),
        _ => None,
    };
    if let Some(rest) = name.strip_prefix(b"LATIN SMALL LETTER ") {
        return letter(rest).map(|value| value | 0x20);
    }
    if let Some(rest) = name.strip_prefix(b"LATIN CAPITAL LETTER ") {
        return letter(rest);
    }
    let digits = ["ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"];
    if let Some(rest) = name.strip_prefix(b"DIGIT ") {
        return (48_u32..58).zip(digits).find(|(_, digit)| digit.as_bytes() == rest).map(|(value, _)| value);
    }
    Some(match name.as_slice() {
        b"LOW LINE" => 95,
        b"FULL STOP" => 46,
        b"SOLIDUS" => 47,
        b"HYPHEN-MINUS" => 45,
        b"SPACE" => 32,
        b"COLON" => 58,
        b"LEFT PARENTHESIS" => 40,
        b"RIGHT PARENTHESIS" => 41,
        b"APOSTROPHE" => 39,
        b"QUOTATION MARK" => 34,
        b"VERTICAL LINE" => 124,
        _ => return None,
    })
}

/// Adds a string's text to a view. Escapes of printable ASCII are disguises; a joined line inside a word too.
pub(super) fn decode_into(src: &[u8], tok: Tok, how: How, view: &mut View) {
    let (start, end) = tok.body();
    let body = src.get(start..end).unwrap_or_default();
    let braces = matches!(tok.kind, K::Head | K::Mid | K::Tail);
    if tok.flags & ESCAPED == 0 || tok.flags & RAW != 0 {
        if braces && memchr::memchr2(b'{', b'}', body).is_some() {
            return unbraced(body, start, how, view);
        }
        view.copy(body, start, how, 0);
        return;
    }
    let mut at = 0_usize;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        view.copy(rest.get(..plain).unwrap_or_default(), start.saturating_add(at), how, 0);
        at = at.saturating_add(plain);
        let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let (value, len) = escape(rest);
        let from = start.saturating_add(at);
        let range = (from, from.saturating_add(len));
        if let Some(value) = value {
            let spelled = len > 2 && (0x20..0x7F).contains(&value);
            let how = if spelled { how.and(How::ESCAPE) } else { how };
            let char = char::from_u32(value).unwrap_or('\u{FFFD}');
            view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), range, how, 0);
        } else {
            view.skip(How::ESCAPE);
        }
        at = at.saturating_add(len.max(1));
    }
}

/// `{{` and `}}` are one brace.
fn unbraced(body: &[u8], start: usize, how: How, view: &mut View) {
    let mut at = start;
    for part in body.split_inclusive(|byte| matches!(byte, b'{' | b'}')) {
        let doubled = matches!(part, [b'{' | b'}']) && view.bytes.last() == part.first();
        if !doubled {
            view.copy(part, at, how, 0);
        }
        at = at.saturating_add(part.len());
    }
}

/// What stands for a hole.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hole {
    Shell,
    Python,
}

impl Hole {
    const fn mark(self) -> &'static [u8] {
        match self {
            Self::Shell => b"${x}",
            Self::Python => b"x_",
        }
    }
}

/// Renders the tokens of a text: strings decoded, what is not known as a hole. Gives whether there is no hole.
pub(super) fn render(src: &[u8], toks: &[Tok], hole: Hole, view: &mut View) -> bool {
    let mut exact = true;
    let mut open = false;
    let mut parts = 0_usize;
    for tok in toks {
        if !tok.is_string() {
            // A plus, a bracket and a line's end join; everything else is a value.
            let joins = tok.kind == K::Line || (tok.kind == K::Op && matches!(tok.aux, 0x2B | 0x28 | 0x29));
            if !joins {
                open = true;
            }
            continue;
        }
        let range = tok.range();
        if open {
            view.put(hole.mark(), (range.0, range.0), How::NONE, 0);
            (open, exact) = (false, false);
        }
        let how = if parts > 0 && tok.kind == K::Str { How::FOLD } else { How::NONE };
        decode_into(src, *tok, how, view);
        parts = parts.saturating_add(1);
    }
    if open {
        let at = toks.last().map_or(0, |tok| tok.end as usize);
        view.put(hole.mark(), (at, at), How::NONE, 0);
        exact = false;
    }
    exact
}

/// Gives a constant text and what had to be undone to read it.
pub(super) fn constant(src: &[u8], toks: &[Tok]) -> (Vec<u8>, How) {
    let mut view = View::default();
    render(src, toks, Hole::Python, &mut view);
    let how = if view.is_empty() { How::NONE } else { view.map.back(0, view.bytes.len()).2 };
    (view.bytes, how)
}

/// Gives the constant parts of a path, with a slash wherever a join or an operator puts one.
pub(super) fn path(src: &[u8], toks: &[Tok]) -> (Vec<u8>, How) {
    let mut out = Vec::new();
    let mut undone = How::NONE;
    for tok in toks {
        if tok.is_string() {
            let (text, how) = constant(src, core::slice::from_ref(tok));
            let text =
                if out.last() == Some(&b'/') { text.strip_prefix(b"/").unwrap_or(&text) } else { &text };
            out.extend_from_slice(text);
            undone = undone.and(how);
        } else if tok.kind == K::Op && matches!(tok.aux, 0x2C | 0x2F) && out.last() != Some(&b'/') {
            out.push(b'/');
        }
    }
    (out, undone)
}
