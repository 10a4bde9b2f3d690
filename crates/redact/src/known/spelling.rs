//! The spellings that a transform can give a value.
#![expect(clippy::arithmetic_side_effects, reason = "counts over slices of bounded length")]

use plugward_types::{base64, hex};
use zeroize::Zeroizing;

use crate::bytes::{AN, DIGIT, is, part};

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
/// text. Signs between the letters and digits of an encoding are left out, as in the view that removes them.
///
/// Spellings that differ only in case or in the base64 alphabet are given once, because the index folds both.
pub(crate) fn spellings(value: &[u8]) -> Vec<Spelling> {
    let mut all: Vec<Spelling> = Vec::new();
    let mut add = |bytes: Zeroizing<Vec<u8>>, form: Form| {
        // Without its signs, a password can be a word that ordinary text contains.
        let is_word = !bytes.iter().any(|byte| is(*byte, DIGIT)) && bytes.len() < value.len();
        if !is_word && !all.iter().any(|own| own.bytes == bytes) {
            all.push(Spelling { bytes, form });
        }
    };
    add(Zeroizing::new(value.to_vec()), form(16, 8));
    let backwards: Zeroizing<Vec<u8>> = Zeroizing::new(value.iter().rev().copied().collect());
    for offset in 0..3 {
        add(base64_inside(value, offset), form(20, 8));
        add(base64_inside(&backwards, offset), Form { order: Order::Backwards, ..form(20, 8) });
    }
    add(backwards, Form { order: Order::Backwards, ..form(16, 8) });
    add(each(value, |out, byte| push_hex(out, b"", byte)), form(32, 16));
    add(each(value, percent), form(16, 8));
    add(each(value, json), form(16, 8));
    // The letters and digits of a spelling, which stay when a view removes the signs between them.
    for offset in 0..3 {
        add(letters(&base64_inside(value, offset)), form(20, 8));
    }
    add(letters(value), form(16, 8));
    add(letters(&each(value, percent)), form(16, 8));
    add(each(value, decimal), form(32, 16));
    for (before, sixteen) in [(&b"x"[..], 48), (b"0x", 64), (b"u00", 80)] {
        add(each(value, |out, byte| push_hex(out, before, byte)), form(sixteen, 24));
    }
    all
}

/// Returns the letters and digits of bytes.
fn letters(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(Vec::with_capacity(bytes.len()));
    out.extend(bytes.iter().filter(|byte| is(**byte, AN)));
    out
}

/// Writes each byte of a value in a form.
fn each(value: &[u8], form: impl Fn(&mut Vec<u8>, u8)) -> Zeroizing<Vec<u8>> {
    // Room for the longest form: a buffer that grows would leave its bytes behind.
    let mut out = Zeroizing::new(Vec::with_capacity(value.len() * 8));
    for byte in value {
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
    fn no_buffer_grows() {
        let value: Vec<u8> = (0..=127).map(|index| 127 + index).collect();
        for spelled in spellings(&value) {
            assert!(spelled.bytes.len() <= value.len() * 8, "{:?}", spelled.form);
        }
    }
}
