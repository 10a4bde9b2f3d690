//! Shell quoting of an argument list, so that the lexer for shells takes each argument as one word.

use crate::view::{How, View};

/// Whether a word is completely known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exact {
    Yes,
    /// The word has parts that are known only at run time.
    No,
}

/// Appends a word to a command line, quoted if needed.
pub(crate) fn word(word: &View, exact: Exact, at: usize, out: &mut View) {
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b'@' | b'%' | b'+' | b',')
            || *byte >= 0x80
    };
    let bare = !word.bytes.is_empty() && word.bytes.iter().all(plain);
    let quote: &[u8] = match exact {
        _ if bare => b"",
        Exact::Yes => b"'",
        Exact::No => b"\"",
    };
    out.put(quote, (at, at), How::NONE, 0);
    for (index, byte) in word.bytes.iter().enumerate() {
        let (start, end, how) = word.map.back(index, index.saturating_add(1));
        let escaped: &[u8] =
            if exact == Exact::Yes && *byte == b'\'' { b"'\\''" } else { core::slice::from_ref(byte) };
        if end == start.saturating_add(1) && escaped.len() == 1 {
            out.copy(escaped, start, how, 0);
        } else {
            out.put(escaped, (start, end), how, 0);
        }
    }
    out.put(quote, (at, at), How::NONE, 0);
}
