//! The marker that replaces a secret.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use crate::bytes::{BLANK, DIGIT, LOWER, at, is, part, skip};
use crate::firewall::settings::MarkerStyle;
use crate::rules::MarkerEncoding;

const OPEN: &[u8] = b"[REDACTED";

/// Returns the length of the marker at an offset, or 0 if there is none.
pub(crate) fn length_at(text: &[u8], from: usize) -> usize {
    if !part(text, from..from + OPEN.len()).eq(OPEN) {
        return 0;
    }
    let mut place = from + OPEN.len();
    if at(text, place) == b':' {
        place = skip(text, place + 1, LOWER | DIGIT | crate::bytes::HYPHEN, 48);
    }
    if at(text, place) == b']' { place + 1 - from } else { 0 }
}

/// Returns `true` if a value consists of markers and blanks.
pub(crate) fn is_marker(value: &[u8]) -> bool {
    if !value.contains(&b'[') {
        return false;
    }
    let mut place = 0;
    let mut markers = 0;
    while place < value.len() {
        let length = length_at(value, place);
        if length > 0 {
            markers += 1;
            place += length;
        } else if is(at(value, place), BLANK | crate::bytes::LINE) || matches!(at(value, place), b'"' | b'\'')
        {
            place += 1;
        } else {
            return false;
        }
    }
    markers > 0
}

/// Writes a marker in the surrounding encoding and returns its length.
pub(crate) fn write(out: &mut Vec<u8>, marker: MarkerStyle, kind: &str, wide: MarkerEncoding) -> usize {
    let text = match marker {
        MarkerStyle::Kind => format!("[REDACTED:{kind}]"),
        MarkerStyle::Plain => "[REDACTED]".to_owned(),
    };
    let before = out.len();
    for byte in text.bytes() {
        match wide {
            MarkerEncoding::Bytes => out.push(byte),
            MarkerEncoding::Little => out.extend([byte, 0]),
            MarkerEncoding::Big => out.extend([0, byte]),
        }
    }
    out.len() - before
}

/// Writes the color sequences of a removed value, so that colors stay balanced.
///
/// Only `ESC [ digits ; : m` of at most 24 bytes: a longer sequence could carry text.
pub(crate) fn keep_colors(out: &mut Vec<u8>, raw: &[u8]) {
    for start in memchr::memchr_iter(0x1b, raw) {
        if at(raw, start + 1) != b'[' {
            continue;
        }
        let inside = part(raw, start + 2..start + 24);
        let length =
            inside.iter().take_while(|byte| is(**byte, DIGIT) || matches!(byte, b';' | b':')).count();
        if at(raw, start + 2 + length) == b'm' {
            out.extend_from_slice(part(raw, start..start + 3 + length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_known_again() {
        assert!(is_marker(b"[REDACTED:github]"));
        assert!(is_marker(b"[REDACTED] [REDACTED:jwt]"));
        assert!(!is_marker(b"[REDACTED:github]x"));
        assert!(!is_marker(b"[REDACTED:Not A SecretKind]"));
        assert!(!is_marker(b""));
    }

    #[test]
    fn only_colors_are_kept() {
        let mut out = Vec::new();
        keep_colors(&mut out, b"a\x1b[31mb\x1b]8;;https://x\x1b\\c\x1b[2Kd\x1b[0m");
        assert_eq!(out, b"\x1b[31m\x1b[0m");
    }
}
