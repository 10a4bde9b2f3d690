//! Linear passes over a text or a code view that regexes cannot express.

use plugward_types::Part;

use crate::scan::sink::Sink;
use crate::text::view::{Obfuscations, View};

/// An encoded run of this length is data that a reviewer cannot read.
const ENCODED: usize = 512;
/// The number of names of the form `_0x…` in one file from which it counts as obfuscated.
pub(crate) const HEX_NAMES: usize = 10;
/// The length from which a run of symbols counts as obfuscated.
pub(crate) const SYMBOLS: usize = 100;

/// Finds long encoded runs in a text.
pub(crate) fn long_encoded(text: &[u8], sink: &mut Sink<'_>) {
    encoded_runs(text, &mut |start, end| sink.shape("obf-long-encoded", (start, end), Obfuscations::NONE));
}

/// Does the same for a value that is joined from several texts, if a run spans more than one of them.
pub(crate) fn joined_encoded(view: &View, sink: &mut Sink<'_>) {
    encoded_runs(&view.bytes, &mut |start, end| {
        let (from, to, how) = view.map.back(start, end);
        if to.saturating_sub(from) > end.saturating_sub(start) {
            sink.shape("obf-long-encoded", (from, to), how);
        }
    });
}

/// Finds runs, each over the lines of one block.
fn encoded_runs(text: &[u8], found: &mut dyn FnMut(usize, usize)) {
    let mut at = 0_usize;
    while let Some(skip) = text.get(at..).and_then(|rest| rest.iter().position(|byte| is_encoded(*byte))) {
        let start = at + skip;
        let width = run_length(text.part(start..));
        at = start + width;
        if LINE.contains(&width) {
            while let Some((line, end)) = line_after(text, at) {
                if end.saturating_sub(line) <= width {
                    at = end;
                }
                if end.saturating_sub(line) != width {
                    break;
                }
            }
        }
        let run = text.part(start..at);
        let is_one = run.len() == width;
        if run.len() >= ENCODED && is_dense(run) && (is_one || !is_list(run, width)) && !is_known(text, start)
        {
            found(start, at);
        }
    }
}

/// The line lengths of a block that a tool wraps.
const LINE: core::ops::RangeInclusive<usize> = 60..=128;
/// The longest separator between two lines: a line end and blanks.
const LINE_GAP: usize = 16;

const fn is_encoded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Returns the length of the run at the start of a text.
fn run_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_encoded(**byte)).count()
}

/// Returns `true` if the bytes are one line end, with blanks or a backslash around it.
fn is_line_gap(gap: &[u8]) -> bool {
    gap.len() <= LINE_GAP
        && memchr::memchr_iter(b'\n', gap).count() == 1
        && gap.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\\'))
}

fn line_after(text: &[u8], end: usize) -> Option<(usize, usize)> {
    let tail = text.get(end..)?;
    let gap = tail.iter().take(LINE_GAP).take_while(|byte| !is_encoded(**byte)).count();
    is_line_gap(tail.get(..gap)?).then_some(())?;
    let start = end + gap;
    let line = text.get(start..)?;
    let len = run_length(line.get(..LINE.end() + 1).unwrap_or(line));
    (len > 0).then_some((start, start + len))
}

/// Returns `true` for a list of digests, one per line.
fn is_list(run: &[u8], width: usize) -> bool {
    let digests = matches!(width, 64 | 96 | 128);
    digests && run.iter().filter(|byte| is_encoded(**byte)).all(u8::is_ascii_hexdigit)
}

/// Returns `true` if a run has digits, and letters of both cases or hexadecimal digits only. Words and rulers do not.
fn is_dense(run: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| run.iter().filter(|byte| is(byte)).count();
    let (upper, lower, digits) =
        (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
    let tenth = run.len() / 20;
    digits > tenth
        && ((upper > tenth && lower > tenth)
            || count(u8::is_ascii_hexdigit) == count(|byte| is_encoded(*byte)))
}

/// Returns `true` if the text right before a run names a known kind: an image, integrity hash, certificate or source map.
fn is_known(text: &[u8], start: usize) -> bool {
    let head = text.part(start.saturating_sub(80)..start);
    let image =
        memchr::memmem::rfind(head, b"data:image/").or_else(|| memchr::memmem::rfind(head, b"data:font/"));
    let map = memchr::memmem::rfind(head, b"sourceMappingURL=data:");
    let pem = memchr::memmem::rfind(head, b"-----BEGIN CERTIFICATE");
    image.is_some_and(|_| head.ends_with(b"base64,")) || map.is_some() || pem.is_some()
}

/// Finds names and symbols that only an obfuscator writes.
pub(crate) fn code(view: &View, sink: &mut Sink<'_>) {
    hex_names(view, sink);
    symbols(view, sink);
}

fn hex_names(view: &View, sink: &mut Sink<'_>) {
    let mut seen: Vec<&[u8]> = Vec::new();
    let mut first = None;
    for at in memchr::memmem::find_iter(&view.bytes, b"_0x") {
        let rest = view.bytes.part(at + 3..);
        let len = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let name = rest.part(..len);
        if len >= 3 && !seen.contains(&name) {
            seen.push(name);
            first.get_or_insert((at, at + 3 + len));
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
            at += SYMBOLS / 2;
            continue;
        }
        let head = view.bytes.part(..at);
        let start = at.saturating_sub(head.iter().rev().take_while(|byte| symbol(byte)).count());
        let tail = view.bytes.part(at..);
        let end = at + tail.iter().take_while(|byte| symbol(byte)).count();
        let run = view.bytes.part(start..end);
        let joined = run.contains(&b'+') && run.contains(&b'!');
        if run.len() >= SYMBOLS && joined {
            let (start, end, how) = view.map.back(start, end);
            sink.shape("obf-symbol-only", (start, end), how);
        }
        at = end + SYMBOLS / 2;
    }
}
