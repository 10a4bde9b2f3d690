//! Terminal sequences, invisible characters, overstrike and full-width forms.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use crate::bytes::{at, line_end, line_start, part, past_line_end};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::{View, ViewResults};

/// The maximum length of a line.
const LINE: usize = 64 * 1024;
/// Marks in a stripped line of a secret in the following lines, and how much of these is read.
const BLOCKS: &[&[u8]] = &[b"PRIVATE KEY", b"kind: Secret", b"\"kind\": \"Secret\"", b"stringData:"];
const BLOCK: usize = 16 * 1024;
/// A longer sequence is not treated as one.
const SEQUENCE: usize = 4096;

/// The bytes at an offset.
enum Piece {
    /// Bytes that are not displayed.
    Nothing(usize),
    /// Bytes that end in a backspace, which overstrikes the character before.
    Back(usize),
    /// Bytes that represent one ASCII character.
    Full(usize, u8),
    Plain,
}

/// Scans a view of all lines with something to strip.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    if let Some(view) = build(text) {
        scan.view(&view, wanted);
    }
}

/// Returns the lines with something to strip, without it.
pub(crate) fn build(text: &[u8]) -> Option<View> {
    let mut view: Option<View> = None;
    let mut place = 0;
    while let Some(start) = next(text, place) {
        let line = line_start(text, start, LINE).max(place);
        let end = line_end(text, start, LINE);
        let end = past_line_end(text, end).max(end);
        let view = view.get_or_insert_with(|| View::new(Layer::Strip, text.len() - line));
        view.part(line);
        let from = view.bytes.len();
        lines(text, line, start, end, view);
        place = end.max(start + 1);
        // A tool that highlights matches colors the first line of a block and no other.
        let told = part(&view.bytes, from..view.bytes.len());
        if BLOCKS.iter().any(|words| memchr::memmem::find(told, words).is_some()) {
            place = block(text, place, view);
        }
    }
    view
}

/// Adds the following lines of a block to a view. Returns where they end.
fn block(text: &[u8], from: usize, view: &mut View) -> usize {
    let mut place = from;
    while place < text.len() && place - from < BLOCK {
        let end = line_end(text, place, LINE);
        let next = past_line_end(text, end).max(end);
        if next == place {
            break;
        }
        let start = view.bytes.len();
        lines(text, place, place, next, view);
        place = next;
        if memchr::memmem::find(part(&view.bytes, start..view.bytes.len()), b"-----END ").is_some() {
            break;
        }
    }
    place
}

/// Returns the length of the hidden bytes at an offset, or 0 if the byte is displayed.
pub(crate) fn hidden(text: &[u8], place: usize) -> usize {
    match (is_trigger(at(text, place)) && place < text.len()).then(|| piece(text, place)) {
        Some(Piece::Nothing(length)) => length,
        _ => 0,
    }
}

/// Returns where a string sequence begins that can end after the text.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(SEQUENCE + 2);
    memchr::memchr_iter(0x1b, part(text, from..text.len())).map(|place| from + place).find(|place| {
        let string = matches!(at(text, place + 1), b']' | b'P' | b'_' | b'^' | b'X');
        string && memchr::memchr2(0x07, 0x1b, part(text, place + 2..text.len())).is_none()
    })
}

/// Finds the next offset with something to strip. Skips plain ASCII in chunks of 32 bytes.
fn next(text: &[u8], from: usize) -> Option<usize> {
    let mut place = from;
    while place < text.len() {
        let chunk = part(text, place..place + 32);
        // Without a branch, so that the loop is vectorized.
        let odd = |byte: u8| u8::from(byte >= 0x80) | u8::from(byte < 9) | u8::from(byte == 0x1b);
        if chunk.iter().fold(0, |any, byte| any | odd(*byte)) != 0 {
            let found = chunk.iter().enumerate().find_map(|(ahead, byte)| {
                (is_trigger(*byte) && !matches!(piece(text, place + ahead), Piece::Plain))
                    .then_some(place + ahead)
            });
            if found.is_some() {
                return found;
            }
        }
        place += 32;
    }
    None
}

const fn is_trigger(byte: u8) -> bool {
    matches!(byte, 0 | 0x08 | 0x1b | 0xc2 | 0xcd | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf3)
}

fn lines(text: &[u8], line: usize, first: usize, end: usize, view: &mut View) {
    let mut from = line;
    let mut place = first;
    while place < end {
        if !is_trigger(at(text, place)) {
            place += 1;
            continue;
        }
        let (length, out) = match piece(text, place) {
            Piece::Plain => {
                place += 1;
                continue;
            }
            Piece::Nothing(length) => (length, None),
            Piece::Full(length, byte) => (length, Some(byte)),
            Piece::Back(length) => {
                // Neither the backspace nor the character before it is displayed.
                view.copy(text, from..place.saturating_sub(1).max(from));
                place += length;
                from = place;
                continue;
            }
        };
        view.copy(text, from..place);
        if let Some(byte) = out {
            view.atom(place..place + length, &[byte]);
        }
        place += length;
        from = place;
    }
    view.copy(text, from..end.max(from));
}

/// Classifies the bytes at an offset.
fn piece(text: &[u8], place: usize) -> Piece {
    let next = |ahead: usize| at(text, place + ahead);
    match (at(text, place), next(1), next(2)) {
        (0, ..) => Piece::Nothing(1),
        (0x08, ..) => Piece::Back(1),
        (0x1b, ..) => sequence(text, place).map_or(Piece::Plain, Piece::Nothing),
        // Soft hyphen; combining grapheme joiner.
        (0xc2, 0xad, _) | (0xcd, 0x8f, _) => Piece::Nothing(2),
        // C1 control sequence introducer.
        (0xc2, 0x9b, _) => csi(text, place + 2).map_or(Piece::Plain, |end| Piece::Nothing(end - place)),
        // Hangul fillers, Mongolian variation selectors; zero width, joiners, direction marks, line separators,
        // invisible operators, isolates; byte order mark, variation selectors, half-width filler.
        (0xe1, 0x85, 0x9f | 0xa0)
        | (0xe1, 0xa0, 0x8b..=0x8f)
        | (0xe3, 0x85, 0xa4)
        | (0xe2, 0x80, 0x8b..=0x8f | 0xa8..=0xae)
        | (0xe2, 0x81, 0xa0..=0xaf)
        | (0xef, 0xbb, 0xbf)
        | (0xef, 0xb8, 0x80..=0x8f)
        | (0xef, 0xbe, 0xa0) => Piece::Nothing(3),
        (0xef, 0xbc, low @ 0x81..=0xbf) => Piece::Full(3, low - 0x60),
        (0xef, 0xbd, low @ 0x80..=0x9e) => Piece::Full(3, low - 0x20),
        // Tags, further variation selectors.
        (0xf3, 0xa0, 0x80..=0x87) => Piece::Nothing(4),
        _ => Piece::Plain,
    }
}

/// Returns the length of an escape sequence.
fn sequence(text: &[u8], place: usize) -> Option<usize> {
    let end = match at(text, place + 1) {
        b'[' => csi(text, place + 2)?,
        b']' | b'P' | b'_' | b'^' | b'X' => string_end(text, place + 2)?,
        b'(' | b')' | b'*' | b'+' | b'#' | b'%' | b' ' => place + 3,
        0x30..=0x7e => place + 2,
        _ => return None,
    };
    Some(end - place)
}

/// Returns the end of a control sequence whose parameters begin at an offset.
fn csi(text: &[u8], from: usize) -> Option<usize> {
    let inside = part(text, from..from + 64).iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
    (0x40..0x7f).contains(&at(text, from + inside)).then_some(from + inside + 1)
}

/// Returns the end of a string sequence: after BEL or `ESC \`.
fn string_end(text: &[u8], from: usize) -> Option<usize> {
    let inside = part(text, from..from + SEQUENCE);
    let place = memchr::memchr2(0x07, 0x1b, inside)?;
    if at(inside, place) == 0x07 {
        Some(from + place + 1)
    } else {
        (at(inside, place + 1) == b'\\').then_some(from + place + 2)
    }
}
