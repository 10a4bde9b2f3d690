//! Decoders of encoded payloads: percent escapes and rot13.

use plugward_types::{Part, hex};

/// Decodes `%41` and, like `unescape`, `%u0041`.
pub(super) fn percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.first() {
        let digits = rest.strip_prefix(b"%u").and_then(|rest| rest.get(..4));
        let len = if let Some(char) = digits.and_then(hex::number).and_then(char::from_u32) {
            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            6
        } else if let Some(byte) = hex::percent(rest) {
            out.push(byte);
            3
        } else {
            out.push(*first);
            1
        };
        rest = rest.part(len..);
    }
    out
}

pub(super) fn rot13(text: &[u8]) -> Vec<u8> {
    let turn =
        |byte: u8, first: u8| byte.wrapping_sub(first).wrapping_add(13).wrapping_rem(26).wrapping_add(first);
    text.iter()
        .map(|byte| match byte {
            b'a'..=b'z' => turn(*byte, b'a'),
            b'A'..=b'Z' => turn(*byte, b'A'),
            _ => *byte,
        })
        .collect()
}
