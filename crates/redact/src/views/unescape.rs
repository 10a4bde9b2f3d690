//! Escapes of JSON and C, URLs, HTML and mail.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use plugward_types::{Part, hex};

use crate::bytes::{AN, HEX, LINE, at, before, is, line_end, line_start, part, past_line_end, run, run_back};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::{View, ViewResults};

/// The maximum length of a line.
const REACH: usize = 64 * 1024;
/// How much of a long line is scanned before and after an escape: no rule reaches further.
const BEFORE: usize = 4 * 1024;
const BEHIND: usize = 16 * 1024;

/// Scans a view of all lines with escapes. For text that was not unescaped before, also a view of all lines
/// with the escapes of mail, and one of form values.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    if let Some(view) = escapes(text) {
        scan.view(&view, wanted);
    }
    if wanted.via.count(Layer::Unescape) > 0 {
        return;
    }
    for view in [mail(text), form(text)].into_iter().flatten() {
        scan.view(&view, wanted);
    }
}

/// Returns the lines with escapes of JSON, C, URLs or HTML, undone.
pub(crate) fn escapes(text: &[u8]) -> Option<View> {
    build(text, next, escape)
}

/// Returns the lines with escapes of mail, undone.
pub(crate) fn mail(text: &[u8]) -> Option<View> {
    build(text, next_printable, printable)
}

/// Returns where the last lines begin whose line ends are escaped, which later text continues.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let mut top = None;
    let mut end = text.len();
    loop {
        let stop = end - run_back(text, end, LINE, 2);
        if stop == end || !matches!(before(text, stop), b'\\' | b'=') {
            return top;
        }
        end = line_start(text, stop, REACH);
        top = Some(end);
    }
}

type Next = fn(&[u8], usize) -> Option<usize>;
type Undo = fn(&[u8], usize) -> Option<Replacement>;

/// The length of an escape, and the bytes that it represents.
struct Replacement {
    length: usize,
    bytes: [u8; 4],
    count: usize,
}

impl Replacement {
    fn byte(length: usize, byte: u8) -> Self {
        Self { length, bytes: [byte, 0, 0, 0], count: 1 }
    }

    const fn nothing(length: usize) -> Self {
        Self { length, bytes: [0; 4], count: 0 }
    }

    fn character(length: usize, code: u32) -> Self {
        let mut bytes = [0; 4];
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        let count = character.encode_utf8(&mut bytes).len();
        Self { length, bytes, count }
    }
}

fn build(text: &[u8], next: Next, undo: Undo) -> Option<View> {
    let mut view: Option<View> = None;
    let mut place = 0;
    while let Some(start) = next(text, place) {
        let line = line_start(text, start, REACH).max(place);
        let view = view.get_or_insert_with(|| View::new(Layer::Unescape, text.len() - line));
        let line = line.max(start.saturating_sub(BEFORE));
        view.part(line);
        place = undo_line(text, line, start, next, undo, view).max(start + 1);
    }
    view
}

/// Returns the form values with `+` for blanks and `%XX` for other bytes, undone.
fn form(text: &[u8]) -> Option<View> {
    let mut view: Option<View> = None;
    let mut done = 0;
    for place in memchr::memchr_iter(b'%', text) {
        if place < done || percent(text, place).is_none() {
            continue;
        }
        let inside =
            |byte: &&u8| is(**byte, AN) || matches!(**byte, b'%' | b'+' | b'-' | b'.' | b'_' | b'*' | b'~');
        let back =
            part(text, place.saturating_sub(REACH).max(done)..place).iter().rev().take_while(inside).count();
        let ahead = part(text, place..place + REACH).iter().take_while(inside).count();
        let value = place - back..place + ahead;
        done = value.end;
        if memchr::memchr(b'+', part(text, value.clone())).is_none() {
            continue;
        }
        let view = view.get_or_insert_with(|| View::new(Layer::Unescape, value.len()));
        view.part(value.start);
        let mut at_byte = value.start;
        while at_byte < value.end {
            let undone = match at(text, at_byte) {
                b'+' => Some(Replacement::byte(1, b' ')),
                b'%' => percent(text, at_byte),
                _ => None,
            };
            if let Some(undone) = undone {
                view.atom(at_byte..at_byte + undone.length, undone.bytes.part(..undone.count));
                at_byte += undone.length;
            } else {
                view.copy(text, at_byte..at_byte + 1);
                at_byte += 1;
            }
        }
    }
    view
}

/// Undoes the escapes from the first one to the end of its line. Returns where the line ends.
fn undo_line(text: &[u8], line: usize, first: usize, next: Next, undo: Undo, view: &mut View) -> usize {
    let mut from = line;
    let mut place = first;
    loop {
        let stop = line_end(text, place, REACH);
        while place < stop {
            if let Some(done) = undo(text, place) {
                view.copy(text, from..place);
                view.atom(place..place + done.length, done.bytes.part(..done.count));
                place += done.length;
                from = place;
            } else {
                place += 1;
            }
            // Searches the next escape of this line with memchr. The line end and the byte after it can
            // belong to one.
            let seen = past_line_end(text, stop).max(stop) + 1;
            match next(part(text, 0..seen.max(place)), place).filter(|found| *found < stop) {
                Some(found) if found > place + BEHIND + BEFORE => {
                    view.copy(text, from..place + BEHIND);
                    from = found - BEFORE;
                    view.part(from);
                    place = found;
                }
                Some(found) => place = found.max(place),
                None => break,
            }
        }
        // An escape can include the line end, and then the line continues.
        if place > stop {
            continue;
        }
        let end = past_line_end(text, stop).max(stop);
        view.copy(text, from..end.min(place + BEHIND));
        return end;
    }
}

/// Finds the next escape of JSON, C, URLs or HTML.
fn next(text: &[u8], from: usize) -> Option<usize> {
    let mut place = from;
    while let Some(found) = memchr::memchr3(b'\\', b'%', b'&', part(text, place..text.len())) {
        place += found;
        if escape(text, place).is_some() {
            return Some(place);
        }
        place += 1;
    }
    None
}

fn escape(text: &[u8], place: usize) -> Option<Replacement> {
    match at(text, place) {
        b'\\' => backslash(text, place),
        b'%' => percent(text, place),
        b'&' => entity(text, place),
        _ => None,
    }
}

fn percent(text: &[u8], place: usize) -> Option<Replacement> {
    if at(text, place + 1) == b'u' && run(text, place + 2, HEX, 4) == 4 {
        return Some(Replacement::character(6, number(text, place + 2, 4)));
    }
    hex::percent(part(text, place..place + 3)).map(|byte| Replacement::byte(3, byte))
}

fn number(text: &[u8], from: usize, digits: usize) -> u32 {
    hex::number(part(text, from..from + digits)).unwrap_or(0)
}

fn backslash(text: &[u8], place: usize) -> Option<Replacement> {
    let simple = |byte| Some(Replacement::byte(2, byte));
    match at(text, place + 1) {
        byte @ (b'"' | b'\\' | b'/' | b'\'' | b'`' | b'$' | b'=' | b':' | b'-' | b'_' | b'.' | b'@'
        | b'#' | b' ' | b'&' | b'!') => simple(byte),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'b' => simple(8),
        b'f' | b'v' => simple(b' '),
        b'e' => simple(0x1b),
        b'u' if at(text, place + 2) == b'{' => {
            let digits = run(text, place + 3, HEX, 6);
            (digits > 0 && at(text, place + 3 + digits) == b'}')
                .then(|| Replacement::character(digits + 4, number(text, place + 3, digits)))
        }
        b'u' if run(text, place + 2, HEX, 4) == 4 => {
            Some(Replacement::character(6, number(text, place + 2, 4)))
        }
        b'U' if run(text, place + 2, HEX, 8) == 8 => {
            Some(Replacement::character(10, number(text, place + 2, 8)))
        }
        b'x' if run(text, place + 2, HEX, 2) == 2 => {
            Some(Replacement::byte(4, u8::try_from(number(text, place + 2, 2)).unwrap_or(0)))
        }
        b'0'..=b'7' => {
            let digits = part(text, place + 1..place + 4)
                .iter()
                .take_while(|byte| matches!(byte, b'0'..=b'7'))
                .count();
            let value = part(text, place + 1..place + 1 + digits)
                .iter()
                .fold(0_u32, |sum, byte| sum * 8 + u32::from(byte & 7));
            u8::try_from(value).ok().map(|byte| Replacement::byte(digits + 1, byte))
        }
        b'\n' | b'\r' => Some(Replacement::nothing(past_line_end(text, place + 1) - place)),
        _ => None,
    }
}

const ENTITIES: &[(&[u8], u8)] = &[
    (b"quot;", b'"'),
    (b"amp;", b'&'),
    (b"lt;", b'<'),
    (b"gt;", b'>'),
    (b"apos;", b'\''),
    (b"nbsp;", b' '),
    (b"equals;", b'='),
    (b"colon;", b':'),
    (b"sol;", b'/'),
    (b"plus;", b'+'),
    (b"lowbar;", b'_'),
    (b"UnderBar;", b'_'),
    (b"hyphen;", b'-'),
    (b"dash;", b'-'),
    (b"period;", b'.'),
    (b"commat;", b'@'),
    (b"num;", b'#'),
    (b"excl;", b'!'),
    (b"percnt;", b'%'),
    (b"ast;", b'*'),
    (b"Tab;", b'\t'),
    (b"NewLine;", b'\n'),
    (b"lpar;", b'('),
    (b"rpar;", b')'),
    (b"dollar;", b'$'),
];

fn entity(text: &[u8], place: usize) -> Option<Replacement> {
    if at(text, place + 1) == b'#' {
        let hex = matches!(at(text, place + 2), b'x' | b'X');
        let from = place + 2 + usize::from(hex);
        let digits = run(text, from, if hex { HEX } else { crate::bytes::DIGIT }, 8);
        let base = if hex { 16 } else { 10 };
        let code = part(text, from..from + digits).iter().fold(0_u32, |sum, byte| {
            sum.saturating_mul(base).saturating_add(u32::from(hex::value(*byte).unwrap_or(0)))
        });
        let end = from + digits + usize::from(at(text, from + digits) == b';');
        return (digits > 0).then(|| Replacement::character(end - place, code));
    }
    let name = part(text, place + 1..place + 10);
    ENTITIES
        .iter()
        .find(|(entity, _)| name.starts_with(entity))
        .map(|(entity, byte)| Replacement::byte(entity.len() + 1, *byte))
}

/// Finds the next escape of quoted-printable: a soft line end, or `=3D`, `=5F`, `=2D` and the like.
fn next_printable(text: &[u8], from: usize) -> Option<usize> {
    let mut place = from;
    while let Some(found) = memchr::memchr(b'=', part(text, place..text.len())) {
        place += found;
        if soft(text, place) || (printable(text, place).is_some() && at(text, place + 1) <= b'7') {
            return Some(place);
        }
        place += 1;
    }
    None
}

/// Returns `true` for a soft line end: `=` after a word on a line as long as mail lines, and not the padding
/// of base64.
fn soft(text: &[u8], place: usize) -> bool {
    if !is(at(text, place + 1), LINE) || !is(before(text, place), crate::bytes::TOKEN & !crate::bytes::EQUALS)
    {
        return false;
    }
    if at(text, past_line_end(text, place + 1)) <= b' ' {
        return false;
    }
    let line = part(text, line_start(text, place, 100)..place);
    // The padding at the end of a line of base64 is not a soft line end.
    let digits = run_back(text, place, crate::bytes::B64, 100);
    // Nor is the padding after a prefix, except near the width of mail: there one length in four looks padded
    // by chance.
    let padded = digits % 4 == 3 && (digits == line.len() || digits >= 16 && line.len() < 73);
    (60..=76).contains(&line.len()) && !padded
}

fn printable(text: &[u8], place: usize) -> Option<Replacement> {
    if at(text, place) != b'=' {
        return None;
    }
    if soft(text, place) {
        return Some(Replacement::nothing(past_line_end(text, place + 1) - place));
    }
    let (high, low) = (at(text, place + 1), at(text, place + 2));
    let capital = |byte: u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    let byte = hex::decode_pair(&[high, low]).filter(|_| capital(high) && capital(low))?;
    Some(Replacement::byte(3, byte))
}
