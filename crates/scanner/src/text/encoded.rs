//! Encoded runs and `data:` URIs in any text: base64, base64url, hexadecimal and percent-encoding, decoded and scanned
//! again.
//!
//! A run counts from 24 bytes on, and only if nine tenths of the decoded bytes are printable text: shorter runs match too
//! many names and paths. All passes are linear.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use plugward_types::{Part, base64, hex};

use crate::engine::ShortRegex;
use crate::inventory::{self, EntryState, magic, names};
use crate::lex::data::uri;
use crate::scan::entry::Lens;
use crate::text::decode;
use crate::text::view::{Obfuscations, View};

/// The shortest run that is decoded.
const RUN: usize = 24;
/// The number of percent triples from which a run counts as encoded.
const TRIPLES: usize = 3;
/// The longest line of an encoded block, and the largest indentation of one.
const MAX_LINE: usize = 1024;
/// How many encoded bytes are decoded to see whether a run is text, before all of it is decoded.
const SAMPLE: usize = 32;

/// One decoded run: its text and the lenses that read it. A run of a binary kind has no lens.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) view: View,
    pub(crate) lenses: Vec<Lens>,
    pub(crate) binary: Option<EntryState>,
}

/// Whether a lens of the file reads `data:` URIs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uris {
    Here,
    Elsewhere,
}

/// Finds the encoded runs in a text.
pub(crate) fn find(text: &[u8], uris: Uris) -> Vec<Decoded> {
    let mut out = Vec::new();
    runs(text, &mut out);
    percent(text, &mut out);
    bytes_apart(text, &mut out);
    if uris == Uris::Here {
        addresses(text, &mut out);
    }
    out
}

const fn is_encoded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

/// Returns the length of the run at the start of a text.
fn run_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_encoded(**byte)).count()
}

/// Finds base64 and hexadecimal runs.
fn runs(text: &[u8], out: &mut Vec<Decoded>) {
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..)
        && let Some(skip) = rest.iter().position(|byte| is_encoded(*byte))
    {
        let start = at + skip;
        let width = run_length(text.part(start..));
        at = start + width;
        // A shorter run does not continue on the next line.
        if width >= RUN {
            at = run_end(text, at, width.min(MAX_LINE));
            let run = text.get(start..at).filter(|_| !is_address(text, start));
            if let Some(decoded) = run.and_then(decoded) {
                push(&decoded, (start, at), out);
            }
        }
    }
}

/// Returns the end of a run, given its first line. The lines of an encoded block have one width, so a run that fills its
/// line continues on the next.
fn run_end(text: &[u8], mut end: usize, mut width: usize) -> usize {
    loop {
        let rest = text.part(end..);
        let gap = match rest {
            [b'\\', b'n' | b'\n', ..] | [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            _ => return end,
        };
        let blanks = rest.part(gap..).iter().take(MAX_LINE);
        let blanks = blanks.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let next = end + gap + blanks;
        let more = run_length(text.part(next..));
        let after = text.get(next + more).copied().unwrap_or(b'\n');
        let closed = matches!(after, b'\n' | b'\r' | b'=' | b'"' | b'\'' | b'`' | b'\\');
        if width < RUN || more == 0 || more > width || !closed {
            return end;
        }
        end = next + more;
        if more < width {
            return end;
        }
        width = more;
    }
}

/// Returns `true` if a run is the body of a `data:` URI, which is decoded with its media type instead.
fn is_address(text: &[u8], start: usize) -> bool {
    text.get(..start).is_some_and(|head| head.ends_with(b";base64,"))
}

/// Bytes that are written one by one, as two hexadecimal digits each: `49 67 6e`, `\x49\x67`, `0x49, 0x67`, `49:67`.
static APART: LazyLock<ShortRegex> = LazyLock::new(|| {
    let digits = "[0-9A-Fa-f]{2}";
    let more =
        [" ", r"\\x", ", 0x", ":"].map(|mark| format!("(?:{mark}{digits}){{{},}}", RUN.saturating_sub(1)));
    ShortRegex::built_in(format!("{digits}(?:{})", more.join("|")))
});

fn bytes_apart(text: &[u8], out: &mut Vec<Decoded>) {
    for run in APART.get().find_iter(text) {
        let digits = text.part(run.range());
        // The separator after the first byte is the separator between all of them.
        let unit = digits.iter().skip(2).position(u8::is_ascii_hexdigit).unwrap_or(0);
        let unit = if digits.get(2) == Some(&b',') { 6 } else { unit + 2 };
        let bytes = digits.chunks(unit).filter_map(|pair| hex::decode_pair(pair.head(2))).collect();
        if let Some(decoded) = printable(bytes) {
            push(&decoded, (run.start(), run.end()), out);
        }
    }
}

/// Decodes a run as hexadecimal or base64; `None` if the result is not text.
fn decoded(run: &[u8]) -> Option<Vec<u8>> {
    let tight: Cow<'_, [u8]> =
        if run.iter().all(|byte| is_encoded(*byte)) { Cow::Borrowed(run) } else { Cow::Owned(tight(run)) };
    if tight.iter().all(u8::is_ascii_hexdigit) && tight.len().is_multiple_of(2) {
        let bytes: Vec<u8> = tight.chunks_exact(2).filter_map(hex::decode_pair).collect();
        if let Some(text) = printable(bytes) {
            return Some(text);
        }
    }
    // A prefix without a separator, such as a path, shifts the groups of four.
    (0_usize..4).find_map(|shift| {
        let body = tight.get(shift..)?;
        // The sample is in the middle of the run and starts at a whole group.
        let middle = (body.len().saturating_sub(SAMPLE) / 2) & !3;
        let sample = body.get(middle..)?;
        let shown = match sample.first_chunk() {
            Some(sample) => looks_printable(&base64::decode_block(sample)),
            None => looks_printable(&base64::decode_lenient(sample)),
        };
        shown.then(|| printable(base64::decode_lenient(body))).flatten()
    })
}

/// Returns a run without its line breaks, literal or escaped.
fn tight(run: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(run.len());
    let mut at = 0_usize;
    while let Some(byte) = run.get(at) {
        if *byte == b'\\' {
            at += 2;
            continue;
        }
        if is_encoded(*byte) {
            out.push(*byte);
        }
        at += 1;
    }
    out
}

const fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

/// Returns `true` if a sample may be text. It is a cheap test before decoding: UTF-8 or UTF-16 text has few other bytes.
fn looks_printable(sample: &[u8]) -> bool {
    let mut bytes = [b' '; SAMPLE];
    bytes.iter_mut().zip(sample).for_each(|(to, byte)| *to = *byte);
    let count = bytes.iter().fold([0_u8; 3], |[odd, nuls, high], &byte| {
        let is = |mark: u8| u8::from(byte == mark);
        let shown = u8::from(byte.wrapping_sub(b' ') < 0x5F) | is(b'\t') | is(b'\n') | is(b'\r');
        [odd.wrapping_add(1 ^ shown), nuls.wrapping_add(is(0)), high.wrapping_add(byte >> 7)]
    });
    let [odd, nuls, high] = count.map(usize::from);
    let wide = nuls == odd && nuls.saturating_mul(5) >= sample.len().saturating_mul(2);
    // A sample of text in another script cuts at most its first and last character.
    let cut = || sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
    odd.saturating_mul(4) <= sample.len() || wide || (high == odd && cut() <= 6)
}

/// Returns the bytes if nine tenths of them are printable text.
fn printable(bytes: Vec<u8>) -> Option<Vec<u8>> {
    let text =
        if decode::has_wide_encoding(&bytes) { decode::decode(&bytes).text.into_owned() } else { bytes };
    let (mut good, mut all) = (0_usize, 0_usize);
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars() {
            all += char.len_utf8();
            let shown = match u8::try_from(char) {
                Ok(byte) if byte < 0x80 => is_printable(byte),
                _ => !char.is_control(),
            };
            if shown {
                good += char.len_utf8();
            }
        }
        all += chunk.invalid().len();
    }
    (all >= RUN / 2 && good.saturating_mul(10) >= all.saturating_mul(9)).then_some(text)
}

fn push(bytes: &[u8], span: (usize, usize), out: &mut Vec<Decoded>) {
    let mut view = View::default();
    view.put(bytes, span, Obfuscations::DECODE, 0);
    out.push(Decoded { lenses: guess(bytes), view, binary: None });
}

/// Finds percent-encoded text.
fn percent(text: &[u8], out: &mut Vec<Decoded>) {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"%-_.~+/!*,?=&:@#".contains(byte);
    let mut at = 0_usize;
    while let Some(more) = memchr::memchr(b'%', text.part(at..)) {
        let first = at + more;
        if hex::percent(text.part(first..)).is_none() {
            at = first + 1;
            continue;
        }
        let head = text.part(at..first);
        let start = first.saturating_sub(head.iter().rev().take_while(|byte| part(byte)).count());
        let tail = text.part(first..);
        let end = first + tail.iter().take_while(|byte| part(byte)).count();
        at = end.max(first + 1);
        let run = text.part(start..end);
        if run.len() < RUN {
            continue;
        }
        let (bytes, triples) = unescaped(run);
        if triples >= TRIPLES
            && let Some(bytes) = printable(bytes)
        {
            push(&bytes, (start, end), out);
        }
    }
}

fn unescaped(run: &[u8]) -> (Vec<u8>, usize) {
    let (mut bytes, mut triples, mut at) = (Vec::with_capacity(run.len()), 0_usize, 0_usize);
    while let Some(byte) = run.get(at) {
        let value = hex::percent(run.part(at..));
        bytes.push(value.unwrap_or(*byte));
        triples += usize::from(value.is_some());
        at += if value.is_some() { 3 } else { 1 };
    }
    (bytes, triples)
}

static DATA: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"data:"));
/// The longest media type that is recognized.
const MAX_TYPE: usize = 128;

/// Finds `data:` URIs and reads each as its media type declares.
fn addresses(text: &[u8], out: &mut Vec<Decoded>) {
    let mut at = 0_usize;
    while let Some(more) = text.get(at..).and_then(|rest| DATA.find(rest)) {
        let start = at + more;
        let rest = text.part(start + 5..);
        let end = rest.iter().position(|byte| uri::is_end(*byte)).unwrap_or(rest.len());
        at = start + 5 + end;
        let body = rest.part(..end);
        // `data:` is a common key. A URI has a media type, an encoding, or neither before its comma.
        let Some(comma) = memchr::memchr(b',', body) else { continue };
        if comma >= MAX_TYPE {
            continue;
        }
        let kind = body.part(..comma).to_ascii_lowercase();
        let typed = kind.is_empty() || kind.first() == Some(&b';') || memchr::memchr(b'/', &kind).is_some();
        // A `data:` URI with an image type is code if code loads it as code.
        let loaded = typed && is_loaded(text, start);
        let lens = uri::lens(&kind).filter(|_| typed).or(loaded.then_some(Lens::Js));
        let Some(lens) = lens.map(|lens| if loaded && lens == Lens::Prose { Lens::Js } else { lens }) else {
            continue;
        };
        let body = body.part(comma + 1..);
        let coded = memchr::memmem::find(&kind, b"base64").is_some();
        let bytes = if coded { base64::decode_lenient(body) } else { unescaped(body).0 };
        if bytes.is_empty() {
            continue;
        }
        let mut view = View::default();
        view.put(&bytes, (start, at), Obfuscations::DECODE, 0);
        let named = lens != Lens::Prose || memchr::memmem::find(&kind, b"html").is_some();
        let binary = if named { None } else { binary(&bytes) };
        let lenses = match binary {
            _ if named => vec![lens],
            Some(_) => Vec::new(),
            None => guess(&bytes),
        };
        if lenses.is_empty() {
            texts(&bytes, (start, at), out);
        }
        out.push(Decoded { view, lenses, binary });
    }
}

/// Returns `true` if the text right before a URI loads it as code: `import(`, `new Worker(`, `from`, a script's `src`.
fn is_loaded(text: &[u8], start: usize) -> bool {
    let head = text.part(start.saturating_sub(48)..start);
    let words: [&[u8]; 8] =
        [b"import", b"Worker", b"importScripts", b"require", b"from", b"<script", b"addModule", b"register"];
    words.iter().any(|word| memchr::memmem::find(head, word).is_some())
}

/// The shortest text between other bytes that is read.
const TEXT: usize = 64;

/// Finds text between the bytes of a binary kind: code can follow the header of an image.
fn texts(bytes: &[u8], span: (usize, usize), out: &mut Vec<Decoded>) {
    for run in bytes.split(|byte| !is_printable(*byte)).filter(|run| run.len() >= TEXT) {
        let lenses = guess(run);
        if lenses.len() > 1 {
            let mut view = View::default();
            view.put(run, span, Obfuscations::DECODE, 0);
            out.push(Decoded { view, lenses, binary: None });
        }
    }
}

/// Returns the kind of bytes that identify themselves as binary: a WebAssembly module, a font.
fn binary(bytes: &[u8]) -> Option<EntryState> {
    let found = magic::find(bytes, "").filter(|_| !decode::has_wide_encoding(bytes))?;
    inventory::looks_binary(bytes).then_some(found.state)
}

/// Returns the lenses for a decoded text without a file name.
pub(crate) fn guess(text: &[u8]) -> Vec<Lens> {
    if let Some(lens) = names::shebang(text) {
        return vec![lens];
    }
    let start = text.trim_ascii_start();
    match start {
        [b'{' | b'[', rest @ ..]
            if matches!(rest.trim_ascii_start().first(), Some(b'"' | b'{' | b'[' | b']' | b'}')) =>
        {
            return vec![Lens::Data];
        }
        [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'!' | b'?', ..] => return vec![Lens::Prose],
        _ => {}
    }
    let mut lenses = vec![Lens::Prose];
    if memchr::memchr2(b'(', b'`', start).is_some() || memchr::memmem::find(start, b"import").is_some() {
        lenses.extend([Lens::Js, Lens::Py, Lens::Sh]);
    }
    let shell = start.windows(2).any(|pair| {
        matches!(pair, [b'|' | b';' | b'&' | b'`' | b'$', _] | [b' ', b'-' | b'/' | b'~' | b'>'])
    });
    if shell && !lenses.contains(&Lens::Sh) {
        lenses.push(Lens::Sh);
    }
    lenses
}
