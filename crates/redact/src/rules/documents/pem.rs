//! Armored private keys: PEM, PGP, and the key files of `PuTTY`.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    ALPHA, AN, B64, BLANK, DIGIT, EQUALS, HYPHEN, LINE, at, before, find, has, has_exact, is, line_end,
    line_start, part, past_line_end, run, run_back, skip,
};
use crate::redacted::kind::rank;
use crate::rules::{Match, MatchContext};
use crate::views::{hidden, join};

/// Finds a key block from its BEGIN line.
pub(crate) fn block(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let label = part(text, word.end..word.end + 64).iter().take_while(|b| is(**b, AN) || **b == b' ').count();
    let name = part(text, word.end..word.end + label);
    let private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    if !private || !has_exact(text, word.end + label, "-----") {
        return;
    }
    let prefix = part(text, line_start(text, word.start, 256)..word.start);
    let body = Body::read(text, word.end + label + 5, prefix, 0);
    if body.bytes >= 40 {
        ctx.hit(rank("pem"), word.start..body.end, out);
    }
}

/// How far before its END line the rest of a block is searched.
const TAIL: usize = 16 * 1024;

/// Finds the lines before an END line whose BEGIN line is missing.
///
/// These are the lines that a stream holds back as a wrapped value until a line of another kind follows.
pub(crate) fn tail(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let label = part(text, word.end..word.end + 64).iter().take_while(|b| is(**b, AN) || **b == b' ').count();
    let end = line_start(text, word.start, 256);
    let alone = part(text, end..word.start).iter().all(|byte| is(*byte, BLANK));
    if !alone || !part(text, word.end..word.end + label).ends_with(b"PRIVATE KEY") {
        return;
    }
    let first = end.saturating_sub(TAIL);
    let Some(top) = join::open(part(text, first..end)) else { return };
    let stop = line_end(text, first + top, TAIL);
    let start = stop - run_back(text, stop, B64 | EQUALS, stop - first);
    let body = part(text, start..end).trim_ascii_end();
    let is_body = body.iter().all(|byte| is(*byte, B64 | EQUALS | LINE | BLANK));
    if is_body && body.len() >= 40 {
        ctx.hit(rank("pem"), start..start + body.len(), out);
    }
}

/// The part of a block after its BEGIN line.
struct Body {
    end: usize,
    bytes: usize,
    /// Whether its END line was read.
    closed: bool,
}

/// After this many bytes that do not continue a block, the block has ended: no header line is longer.
const SETTLED: usize = 512;

/// Returns where the first key begins whose end may follow after the text.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let block = memchr::memmem::find_iter(text, "PRIVATE KEY").find_map(|found| {
        let begin = part(text, found.saturating_sub(64)..found);
        let begin = found - begin.len() + memchr::memmem::rfind(begin, b"-----")?;
        let body = has(text, begin, "-----begin ").then(|| {
            let label =
                part(text, found..found + 64).iter().take_while(|b| is(**b, AN) || **b == b' ').count();
            let prefix = part(text, line_start(text, begin, 256)..begin);
            Body::read(text, found + label + 5, prefix, 0)
        })?;
        (!body.closed && body.end + SETTLED > text.len()).then_some(begin)
    });
    let putty =
        memchr::memchr2_iter(b'P', b'p', text).filter(|place| has(text, *place, PUTTY)).find(|place| {
            let from = place + PUTTY.len();
            let counted = PrivateLines::read(text, from);
            counted.map_or(from + PUTTY_REACH > text.len(), |lines| lines.reaches_end)
        });
    [block, putty].into_iter().flatten().min()
}

impl Body {
    fn read(text: &[u8], from: usize, prefix: &[u8], bytes: usize) -> Self {
        let mut body = Self { end: from, bytes, closed: false };
        let mut place = from;
        loop {
            let start = gap(text, place, prefix);
            if has(text, start, "-----end ") {
                let label = skip(text, start + 9, AN | BLANK, 64);
                body.end = skip(text, label, HYPHEN, 5);
                body.closed = true;
                return body;
            }
            if body.bytes == 0
                && let Some(end) = header(text, start)
            {
                place = end;
                continue;
            }
            let (stop, length) = shown(text, start);
            if length == 0 || (start == place && place == from && bytes == 0) {
                return body;
            }
            // A short run is the last line, or a word of prose after a truncated block.
            let next = gap(text, stop, prefix);
            // A narrow terminal wraps each long line into a long and a short one.
            let again = next > stop && run(text, next, B64, 24) == 24;
            let last = again || has(text, next, "-----end ") || stop >= text.len();
            let sum = at(text, start) == b'=' && length == 5;
            let tail =
                body.bytes >= 40 && next > stop && (before(text, stop) == b'=' || at(text, next) == b'=');
            if length < 24 && !(last || sum || tail) {
                return body;
            }
            body.bytes += length;
            body.end = stop;
            place = stop;
        }
    }
}

/// Reads a line of a body, skipping hidden bytes. Returns where it ends and the number of its visible bytes.
///
/// Otherwise one colored or invisible character would end the block in the plain text, and the view that
/// strips such characters would contain only that line.
fn shown(text: &[u8], start: usize) -> (usize, usize) {
    let digits = |from: usize| run(text, from, B64 | EQUALS, usize::MAX / 2);
    let mut count = digits(start);
    let mut end = start + count;
    loop {
        let next = past_hidden(text, end);
        let more = if count > 0 && next > end { digits(next) } else { 0 };
        if more == 0 {
            return (end, count);
        }
        count += more;
        end = next + more;
    }
}

fn past_hidden(text: &[u8], from: usize) -> usize {
    let mut place = from;
    loop {
        let length = hidden(text, place);
        if length == 0 {
            return place;
        }
        place += length;
    }
}

/// Skips line ends, real or escaped, the prefix of a line, blanks, quotes, concatenation signs and hidden
/// bytes.
fn gap(text: &[u8], from: usize, prefix: &[u8]) -> usize {
    let mut place = from;
    loop {
        let start = place;
        let byte = at(text, place);
        if is(byte, LINE) {
            place = past_line_end(text, place);
            place = past_prefix(text, place, prefix);
        } else if byte == b'\\' {
            let slashes = part(text, place..place + 8).iter().take_while(|b| **b == b'\\').count();
            let escape = at(text, place + slashes);
            if matches!(escape, b'n' | b'r') {
                place += slashes + 1;
            } else if is(escape, LINE) {
                place += slashes;
            }
        } else if is(byte, BLANK)
            || matches!(byte, b'"' | b'\'' | b',' | b'`')
            || (byte == b'+' && is(at(text, place + 1), BLANK | LINE))
        {
            place += 1;
        } else {
            place = past_hidden(text, place);
        }
        if place == start {
            return place;
        }
    }
}

/// Skips text with the shape of the prefix before BEGIN. The lengths of runs of digits and blanks may vary.
pub(crate) fn past_prefix(text: &[u8], from: usize, shape: &[u8]) -> usize {
    let mut place = from;
    let mut index = 0;
    while index < shape.len() {
        let byte = at(shape, index);
        let class = if is(byte, DIGIT) {
            DIGIT
        } else if is(byte, BLANK) {
            BLANK
        } else {
            0
        };
        if class == 0 {
            if at(text, place) != byte {
                return from;
            }
            index += 1;
            place += 1;
        } else {
            let length = run(text, place, class, 80);
            if length == 0 && class == DIGIT {
                return from;
            }
            index = skip(shape, index, class, shape.len());
            place += length;
        }
    }
    place
}

/// Returns the end of a header line such as `Proc-Type: …` before the body.
fn header(text: &[u8], start: usize) -> Option<usize> {
    let name = run(text, start, ALPHA | HYPHEN, 40);
    let escaped = find(text, start..start + 200, "\\n").unwrap_or(usize::MAX);
    (name >= 3 && has_exact(text, start + name, ": ")).then(|| line_end(text, start, 200).min(escaped))
}

/// Returns where a block ends whose beginning is already written.
///
/// `prefix` is the text before BEGIN on its line.
pub(crate) fn goes_on(text: &[u8], prefix: &[u8]) -> usize {
    Body::read(text, 0, prefix, 40).end
}

/// The first words of a `PuTTY` key file.
const PUTTY: &str = "putty-user-key-file";
/// How far after them the private lines are searched.
const PUTTY_REACH: usize = 16 * 1024;

/// Finds the lines of a `PuTTY` key file that `Private-Lines:` counts.
pub(crate) fn putty(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    if let Some(lines) = PrivateLines::read(ctx.text, word.end).filter(|lines| lines.range.len() >= 20) {
        ctx.hit(rank("putty"), lines.range, out);
    }
}

/// The lines that `Private-Lines:` counts.
struct PrivateLines {
    range: Range<usize>,
    /// Whether the text ends before the last of them.
    reaches_end: bool,
}

impl PrivateLines {
    fn read(text: &[u8], from: usize) -> Option<Self> {
        let found = find(text, from..from + PUTTY_REACH, "private-lines:")?;
        let number = skip(text, found + 14, BLANK, 8);
        let digits = run(text, number, DIGIT, 4);
        let count = part(text, number..number + digits)
            .iter()
            .fold(0_usize, |sum, byte| sum * 10 + usize::from(byte - b'0'));
        let prefix = part(text, line_start(text, found, 256)..found);
        let mut place = number + digits;
        let mut lines = Self { range: 0..0, reaches_end: false };
        for _ in 0..count {
            let start = gap(text, place, prefix);
            let length = run(text, start, B64 | EQUALS, 200);
            if length == 0 {
                lines.reaches_end = start >= text.len();
                break;
            }
            if lines.range.is_empty() {
                lines.range.start = start;
            }
            lines.range.end = start + length;
            place = start + length;
        }
        Some(lines)
    }
}
