//! The spellings that a transform can give a value.
#![expect(clippy::arithmetic_side_effects, reason = "counts over slices of bounded length")]

use plugward_types::{base64, hex};
use zeroize::Zeroizing;

use crate::bytes::{AN, BLANK, LINE, is, part};

/// A longer value is only searched in the encodings that tools produce, to bound the size of the index.
const SHORT: usize = 512;

/// One spelling of a value.
pub(crate) struct Spelling {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) form: Form,
}

/// The shape of a spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// The number of bytes for sixteen bytes of the value.
    pub(crate) sixteen: usize,
    /// The number of bytes hashed at once: 8, 16 or 24.
    pub(crate) window: usize,
    pub(crate) order: Order,
}

/// The order of the bytes of a spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Forwards,
    Backwards,
}

const fn form(sixteen: usize, window: usize) -> Form {
    Form { sixteen, window, order: Order::Forwards }
}

/// Returns a value as it is, reversed, and in every encoding whose output does not depend on the surrounding
/// text.
///
/// Spellings that differ only in case or in the base64 alphabet are given once, because the index folds both.
pub(crate) fn spellings(value: &[u8]) -> Vec<Spelling> {
    let mut all: Vec<Spelling> = Vec::new();
    let mut add = |bytes: Zeroizing<Vec<u8>>, form: Form| {
        if !all.iter().any(|own| own.bytes == bytes) {
            all.push(Spelling { bytes, form });
        }
    };
    add(Zeroizing::new(value.to_vec()), form(16, 8));
    let backwards = Zeroizing::new(value.iter().rev().copied().collect());
    add(backwards, Form { order: Order::Backwards, ..form(16, 8) });
    for offset in 0..3 {
        add(base64_inside(value, offset), form(20, 8));
    }
    let joined = each(value, b"", |out, byte| {
        if !is(byte, BLANK | LINE) {
            out.push(byte);
        }
    });
    add(joined, form(16, 8));
    add(each(value, b"", |out, byte| push_hex(out, b"", byte)), form(32, 16));
    add(each(value, b"", |out, byte| push_hex(out, b"%", byte)), form(48, 16));
    add(each(value, b"", percent), form(16, 8));
    add(each(value, b"", json), form(16, 8));
    if value.len() > SHORT {
        return all;
    }
    for sign in [b" ", b":", b"-"] {
        add(each(value, sign, |out, byte| push_hex(out, b"", byte)), form(48, 16));
    }
    add(each(value, b"", |out, byte| push_hex(out, b"\\u00", byte)), form(96, 24));
    add(each(value, b"", |out, byte| push_hex(out, b"\\x", byte)), form(64, 24));
    add(each(value, b" ", |out, byte| push_hex(out, b"\\x", byte)), form(80, 24));
    add(each(value, b", ", |out, byte| push_hex(out, b"0x", byte)), form(96, 24));
    add(each(value, b",", |out, byte| push_hex(out, b"0x", byte)), form(80, 24));
    for (before, between) in
        [("&#", &b";"[..]), ("", b","), ("", b", "), ("", b" "), ("", b"\n"), ("", b"-"), ("", b":")]
    {
        add(
            each(value, between, |out, byte| {
                out.extend(before.bytes());
                decimal(out, byte);
            }),
            form(16 * (before.len() + between.len() + 2), if before.is_empty() { 16 } else { 24 }),
        );
    }
    for sign in [b" ", b"-", b".", b",", b"\n"] {
        add(each(value, sign, Vec::push), form(32, 8));
    }
    all
}

/// Writes each byte of a value in a form, with a separator between.
fn each(value: &[u8], between: &[u8], form: impl Fn(&mut Vec<u8>, u8)) -> Zeroizing<Vec<u8>> {
    // Room for the longest form: a buffer that grows would leave its bytes behind.
    let mut out = Zeroizing::new(Vec::with_capacity(value.len() * (8 + between.len())));
    for (place, byte) in value.iter().enumerate() {
        if place > 0 {
            out.extend_from_slice(between);
        }
        form(&mut out, *byte);
    }
    out
}

fn push_hex(out: &mut Vec<u8>, before: &[u8], byte: u8) {
    out.extend_from_slice(before);
    out.extend(hex::digits_of(byte));
}

fn decimal(out: &mut Vec<u8>, byte: u8) {
    if byte >= 100 {
        out.push(b'0' + byte / 100);
    }
    if byte >= 10 {
        out.push(b'0' + byte / 10 % 10);
    }
    out.push(b'0' + byte % 10);
}

fn percent(out: &mut Vec<u8>, byte: u8) {
    if is(byte, AN) || matches!(byte, b'-' | b'_' | b'.' | b'~') {
        out.push(byte);
    } else {
        push_hex(out, b"%", byte);
    }
}

fn json(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' | b'/' => out.extend([b'\\', byte]),
        b'\n' => out.extend(b"\\n"),
        b'\r' => out.extend(b"\\r"),
        b'\t' => out.extend(b"\\t"),
        plain => out.push(plain),
    }
}

/// Returns the base64 digits that depend on the value alone if it is `offset` bytes after a group of three.
fn base64_inside(value: &[u8], offset: usize) -> Zeroizing<Vec<u8>> {
    let mut padded = Zeroizing::new(Vec::with_capacity(value.len() + offset));
    padded.resize(offset, 0);
    padded.extend_from_slice(value);
    let whole = padded.len() / 3 * 3;
    let mut digits = Zeroizing::new(Vec::with_capacity(whole / 3 * 4));
    for group in padded.as_chunks().0 {
        digits.extend(base64::digits_of(*group));
    }
    // The first digits also depend on the byte before the value.
    let mixed = match offset {
        0 => 0,
        1 => 2,
        _ => 3,
    };
    Zeroizing::new(part(&digits, mixed..digits.len()).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_at_three_offsets() {
        // "secret-value" after 0, 1 and 2 other bytes, as any encoder gives it.
        let value = b"secret-value";
        let has = |hay: &str, offset| {
            let inside = base64_inside(value, offset);
            hay.contains(&String::from_utf8(inside.to_vec()).unwrap())
        };
        assert!(has("c2VjcmV0LXZhbHVl", 0));
        assert!(has("eHNlY3JldC12YWx1ZQ==", 1));
        assert!(has("eHhzZWNyZXQtdmFsdWU=", 2));
    }

    #[test]
    fn spellings_hold_hex_percent_and_backwards() {
        let all: Vec<String> =
            spellings(b"ab!\"9").iter().map(|s| String::from_utf8(s.bytes.to_vec()).unwrap()).collect();
        for spelled in [
            "6162212239",
            "%61%62%21%22%39",
            "ab%21%229",
            "9\"!ba",
            "\\u0061\\u0062\\u0021\\u0022\\u0039",
            "97,98,33,34,57",
            "&#97;&#98;&#33;&#34;&#57",
            "ab!\\\"9",
            "0x61, 0x62, 0x21, 0x22, 0x39",
            "61:62:21:22:39",
        ] {
            assert!(all.iter().any(|s| s == spelled), "{spelled}");
        }
        assert_eq!(all.iter().filter(|s| *s == "ab!\"9").count(), 1, "one of each");
    }

    #[test]
    fn no_buffer_grows() {
        let value: Vec<u8> = (0..=127).map(|index| 127 + index).collect();
        for spelled in spellings(&value) {
            assert!(spelled.bytes.len() <= value.len() * 8, "{:?}", spelled.form);
        }
    }
}
