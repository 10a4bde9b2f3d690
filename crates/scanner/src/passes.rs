//! Linear passes over a text or a code view that no regex does.

use crate::sink::Sink;
use crate::view::{How, View};

/// An encoded run that long is data that nobody reads.
const ENCODED: usize = 512;
/// Names of the form `_0x…` in one file.
pub(crate) const HEX_NAMES: usize = 10;
/// Symbols in one run.
pub(crate) const SYMBOLS: usize = 100;

/// Finds encoded runs: one probe every `ENCODED / 2` bytes, then the run around it.
pub(crate) fn long_encoded(text: &[u8], sink: &mut Sink<'_>) {
    let encoded =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
    let mut at = ENCODED / 2;
    while let Some(byte) = text.get(at) {
        // The first probe of a long run has as much of it behind it.
        let behind = text.get(at.saturating_add(ENCODED / 4));
        if !encoded(byte) || !behind.is_some_and(encoded) {
            at = at.saturating_add(ENCODED / 2);
            continue;
        }
        let head = text.get(..at).unwrap_or_default();
        let start = at.saturating_sub(head.iter().rev().take_while(|byte| encoded(byte)).count());
        let tail = text.get(at..).unwrap_or_default();
        let end = at.saturating_add(tail.iter().take_while(|byte| encoded(byte)).count());
        let run = text.get(start..end).unwrap_or_default();
        if run.len() >= ENCODED && is_dense(run) && !is_known(text, start) {
            sink.shape("obf-long-encoded", (start, end), How::NONE);
        }
        at = end.saturating_add(ENCODED / 2);
    }
}

/// Encoded data has digits, and letters of both cases or hex digits alone; words and rulers do not.
fn is_dense(run: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| run.iter().filter(|byte| is(byte)).count();
    let (upper, lower, digits) =
        (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
    let tenth = run.len() / 20;
    digits > tenth && ((upper > tenth && lower > tenth) || count(u8::is_ascii_hexdigit) == run.len())
}

/// Images, integrity hashes, certificates and source maps say what they are right in front.
fn is_known(text: &[u8], start: usize) -> bool {
    let head = text.get(start.saturating_sub(80)..start).unwrap_or_default();
    let image =
        memchr::memmem::rfind(head, b"data:image/").or_else(|| memchr::memmem::rfind(head, b"data:font/"));
    let map = memchr::memmem::rfind(head, b"sourceMappingURL=data:");
    let pem = memchr::memmem::rfind(head, b"-----BEGIN CERTIFICATE");
    image.is_some_and(|_| head.ends_with(b"base64,")) || map.is_some() || pem.is_some()
}

/// Looks at a code view: names and symbols that only a tool writes.
pub(crate) fn code(view: &View, sink: &mut Sink<'_>) {
    hex_names(view, sink);
    symbols(view, sink);
}

fn hex_names(view: &View, sink: &mut Sink<'_>) {
    let mut seen: Vec<&[u8]> = Vec::new();
    let mut first = None;
    for at in memchr::memmem::find_iter(&view.bytes, b"_0x") {
        let rest = view.bytes.get(at.saturating_add(3)..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let name = rest.get(..len).unwrap_or_default();
        if len >= 3 && !seen.contains(&name) {
            seen.push(name);
            first.get_or_insert((at, at.saturating_add(3).saturating_add(len)));
        }
        if seen.len() >= HEX_NAMES {
            break;
        }
    }
    if let Some((start, end)) = first.filter(|_| seen.len() >= HEX_NAMES) {
        let (start, end, how) = view.map.back(start, end);
        sink.shape("obf-hex-names", (start, end), how);
    }
}

fn symbols(view: &View, sink: &mut Sink<'_>) {
    let symbol = |byte: &u8| matches!(byte, b'[' | b']' | b'(' | b')' | b'!' | b'+');
    let mut at = SYMBOLS / 2;
    while let Some(byte) = view.bytes.get(at) {
        if !symbol(byte) {
            at = at.saturating_add(SYMBOLS / 2);
            continue;
        }
        let head = view.bytes.get(..at).unwrap_or_default();
        let start = at.saturating_sub(head.iter().rev().take_while(|byte| symbol(byte)).count());
        let tail = view.bytes.get(at..).unwrap_or_default();
        let end = at.saturating_add(tail.iter().take_while(|byte| symbol(byte)).count());
        let run = view.bytes.get(start..end).unwrap_or_default();
        let joined = run.contains(&b'+') && run.contains(&b'!');
        if run.len() >= SYMBOLS && joined {
            let (start, end, how) = view.map.back(start, end);
            sink.shape("obf-symbol-only", (start, end), how);
        }
        at = end.saturating_add(SYMBOLS / 2);
    }
}
