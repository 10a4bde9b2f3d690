//! Shell quoting of an argument list, so that the lexer for shells takes each argument as one word.

use crate::text::view::{Obfuscations, View};

/// The quotes around a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Single quotes, for a word that is completely known.
    Single,
    /// Double quotes, for a word with parts that are known only at run time, so that they are expanded.
    Double,
}

/// Appends a word to a command line, quoted if needed.
pub(crate) fn word(word: &View, quoting: Quoting, at: usize, out: &mut View) {
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b'@' | b'%' | b'+' | b',')
            || *byte >= 0x80
    };
    let bare = !word.bytes.is_empty() && word.bytes.iter().all(plain);
    let quote: &[u8] = match quoting {
        _ if bare => b"",
        Quoting::Single => b"'",
        Quoting::Double => b"\"",
    };
    out.put(quote, (at, at), Obfuscations::NONE, 0);
    for (index, byte) in word.bytes.iter().enumerate() {
        let (start, end, how) = word.map.back(index, index + 1);
        let escaped: &[u8] =
            if quoting == Quoting::Single && *byte == b'\'' { b"'\\''" } else { core::slice::from_ref(byte) };
        if end == start + 1 && escaped.len() == 1 {
            out.copy(escaped, start, how, 0);
        } else {
            out.put(escaped, (start, end), how, 0);
        }
    }
    out.put(quote, (at, at), Obfuscations::NONE, 0);
}
