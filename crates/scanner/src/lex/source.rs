//! Checks that all programming languages share: identifiers, gaps, comments and strings.

use std::collections::BTreeSet;

use plugward_readers::{Piece, PieceKind, Reading};
use plugward_types::Part;

use super::Lexed;
use crate::rules::names::Words;
use crate::scan::entry::Lens;
use crate::scan::file::read_text;
use crate::scan::sink::{EmbeddedText, Sink, Unread};
use crate::text::Within;
use crate::text::view::{Obfuscations, View};

/// The columns or lines of whitespace after which code is outside of the visible area of an editor.
const COLUMNS: usize = 200;
const LINES: usize = 1000;

/// Decodes the text between a string's quotes into a view. The second argument is its offset.
pub(super) type DecodeText = fn(&[u8], usize, &mut View);

/// How a language writes comments and strings.
pub(super) struct Writing {
    pub(super) lens: Lens,
    /// The bytes that begin or decorate a line of a comment.
    pub(super) comment_marks: &'static [u8],
    pub(super) decode: DecodeText,
}

/// Lexes ranges again that may be code or text.
///
/// Ranges may overlap. What exceeds twice the length of the file is reported as unread, so that the time
/// stays linear.
pub(super) fn second_readings(src: &[u8], reading: &Reading, lens: Lens, sink: &mut Sink<'_>) {
    if let Some(at) = reading.stopped {
        sink.unread.push(Unread { start: at, end: src.len() });
        // Embedded code is limited in depth, so the second reading ends.
        if at > 0 && at < src.len() {
            sink.embed(lens, EmbeddedText::Range(at, src.len()));
        }
    }
    let mut left = src.len().saturating_mul(2);
    for &(start, end) in reading.unsure.iter().filter(|(start, end)| start < end) {
        let (start, end) = (start as usize, end as usize);
        match left.checked_sub(end.saturating_sub(start)) {
            Some(rest) => {
                left = rest;
                sink.embed(lens, EmbeddedText::Range(start, end));
            }
            None => sink.unread.push(Unread { start, end }),
        }
    }
}

/// Reports identifiers in the code view that look like others.
pub(super) fn identifiers(src: &[u8], code: &View, words: &Words, sink: &mut Sink<'_>) {
    if code.bytes.is_ascii() {
        return;
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80;
    let mut plain: Option<BTreeSet<&[u8]>> = None;
    let mut at = 0_usize;
    for word in code.bytes.split(|byte| !is_part(byte)) {
        let start = at;
        at += word.len() + 1;
        if word.is_ascii() {
            continue;
        }
        let (from, to, how) = code.map.back(start, start + word.len());
        let raw = src.part(from..to);
        let name = if how.is_plain() { raw } else { word };
        let twins = plain.get_or_insert_with(|| {
            code.bytes
                .split(|byte| !is_part(byte))
                .filter(|word| word.is_ascii() && !word.is_empty())
                .collect()
        });
        crate::text::unicode::identifier_beside(
            name,
            (from, to),
            how,
            words,
            &|twin| twins.contains(twin),
            sink,
        );
    }
}

/// Returns the ranges outside of comments and strings.
fn code_ranges<'p>(
    src: &[u8],
    pieces: &'p [Piece],
) -> impl Iterator<Item = (usize, usize, Option<PieceKind>)> + use<'p> {
    let end = src.len();
    let mut at = 0_usize;
    let last = core::iter::once((end, end, None));
    let all = pieces.iter().map(|piece| (piece.start as usize, piece.end as usize, Some(piece.kind)));
    all.chain(last).map(move |(start, stop, kind)| {
        let range = (at.min(start), start, kind);
        at = stop;
        range
    })
}

/// Returns the bytes and columns of the whitespace at the start of a text.
fn blank(text: &[u8]) -> Option<(usize, usize)> {
    let first = *text.first()?;
    if first.is_ascii() {
        return (first.is_ascii_whitespace() || first == 0x0B).then_some((1, 1));
    }
    let head = text.get(..text.len().min(4))?;
    let char = head.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next())?;
    match char {
        '\u{FEFF}' => Some((3, 0)),
        // The ideographic space is two columns wide.
        '\u{3000}' => Some((3, 2)),
        char => char.is_whitespace().then(|| (char.len_utf8(), 1)),
    }
}

/// Reports code after many spaces or blank lines, where a reviewer does not see it.
pub(super) fn gaps(src: &[u8], pieces: &[Piece], sink: &mut Sink<'_>) {
    for (start, end, next) in code_ranges(src, pieces) {
        let text = src.part(start..end);
        let mut at = 0_usize;
        let (mut columns, mut lines) = (0_usize, 0_usize);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((len, width)) = blank(rest) else {
                gap(start + at, columns, lines, sink);
                (columns, lines) = (0, 0);
                at += 1;
                continue;
            };
            let is_end = matches!(rest, [b'\n' | b'\r', ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..]);
            columns = if is_end { 0 } else { columns + width };
            lines += usize::from(matches!(rest, [b'\n' | b'\r', ..]));
            at += len;
        }
        if matches!(next, Some(PieceKind::String | PieceKind::Markup)) {
            gap(end, columns, lines, sink);
        }
    }
}

fn gap(at: usize, columns: usize, lines: usize, sink: &mut Sink<'_>) {
    if columns >= COLUMNS || lines > LINES {
        sink.shape("obf-offscreen", (at, at + 1), Obfuscations::NONE);
    }
}

/// Adds comments and strings to the text view.
pub(super) fn texts(src: &[u8], pieces: &[Piece], writing: &Writing, out: &mut Lexed, sink: &mut Sink<'_>) {
    let mut comment_end = None;
    for piece in pieces {
        let (start, end) = (piece.start as usize, piece.end as usize);
        let bytes = src.part(start..end);
        if piece.kind == PieceKind::Comment {
            let gap = comment_end.and_then(|last: usize| src.get(last..start));
            if gap.is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace)) {
                out.text.blank((start, start));
            } else {
                drain(out, sink);
                out.text.begin(Within::Comment, 0);
            }
            comment(bytes, start, writing.comment_marks, out);
            comment_end = Some(end);
            continue;
        }
        comment_end = None;
        drain(out, sink);
        if piece.kind == PieceKind::Markup {
            out.text.begin(Within::Prose, 0);
            out.text.raw(bytes, start, Obfuscations::NONE);
        } else {
            string(src, *piece, writing, out);
        }
    }
    out.text.end();
    drain(out, sink);
}

/// Has pending text scanned, which bounds the memory for large files.
fn drain(out: &mut Lexed, sink: &mut Sink<'_>) {
    if let Some(read) = out.text.drain() {
        read_text(&read, sink);
    }
}

/// Returns the lengths of a string's opening and closing quotes.
pub(super) fn marks(bytes: &[u8]) -> (usize, usize) {
    let prefix = bytes.iter().take(3).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (open, quote) = match bytes.part(prefix..) {
        [b'}', ..] => (1, b'}'),
        [one, two, three, ..] if one == two && two == three && *one != b'`' => (3, *one),
        [one, ..] => (1, *one),
        [] => (0, 0),
    };
    let start = prefix + open;
    let body = bytes.part(start..);
    let close = match body {
        [.., b'$', b'{'] => 2,
        [.., b'{'] => 1,
        [.., one, two, three] if open == 3 && one == two && two == three && *three == quote => 3,
        [.., last] if *last == quote || quote == b'}' && matches!(last, b'`' | b'\'' | b'"') => 1,
        _ => 0,
    };
    (start, close)
}

fn string(src: &[u8], piece: Piece, writing: &Writing, out: &mut Lexed) {
    let start = piece.start as usize;
    let bytes = src.part(start..piece.end as usize);
    let (open, close) = marks(bytes);
    let body = bytes.part(open..bytes.len().saturating_sub(close));
    if body.is_empty() {
        return;
    }
    let start = start + open;
    out.text.begin(Within::String, 0);
    if !piece.is_escaped {
        out.text.raw(body, start, Obfuscations::NONE);
        return;
    }
    let mut view = View::default();
    (writing.decode)(body, start, &mut view);
    let mut at = 0_usize;
    // One step per word, so that a match maps to the words it covers.
    for word in view.bytes.split_inclusive(|byte| *byte == b' ') {
        let next = at + word.len();
        let (from, to, how) = view.map.back(at, next);
        out.text.decoded(word, (from, to), how);
        at = next;
    }
}

/// Adds a comment without its marks and the decoration of its lines.
fn comment(bytes: &[u8], start: usize, marks: &[u8], out: &mut Lexed) {
    let inner = if bytes.starts_with(b"/*") { bytes.strip_suffix(b"*/").unwrap_or(bytes) } else { bytes };
    let mut at = start;
    for line in inner.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let marks = line.iter().take_while(|byte| marks.contains(byte)).count();
        out.text.blank((at, at + marks));
        let text = line.part(marks..);
        crate::lex::prose::imperative::separate(text, at + marks, &mut out.text);
        out.text.raw(text, at + marks, Obfuscations::NONE);
        at += line.len();
    }
}

/// Reports line comments that end at a character that most editors do not show as a line break, with code
/// after it.
pub(super) fn comment_ends(src: &[u8], pieces: &[Piece], mark: &[u8], sink: &mut Sink<'_>) {
    let has_feed = memchr::memchr(b'\n', src).is_some();
    let has_return = memchr::memchr(b'\r', src).is_some() && has_feed;
    let has_separator = mark == b"//" && memchr::memmem::find(src, b"\xE2\x80").is_some();
    if !has_return && !has_separator {
        // A file that uses only CR is in the old Macintosh format.
        return;
    }
    for piece in pieces.iter().filter(|piece| piece.kind == PieceKind::Comment) {
        let (start, end) = (piece.start as usize, piece.end as usize);
        if !src.get(start..end).is_some_and(|text| text.starts_with(mark)) {
            continue;
        }
        let len = match src.part(end..) {
            [b'\r', b'\n', ..] | [] => 0,
            [b'\r', ..] => 1,
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
            _ => 0,
        };
        let rest = src.part(end + len..);
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0C)).count();
        let code = rest.part(blanks..);
        if len > 0 && !matches!(code, [] | [b'\n' | b'\r', ..]) && !code.starts_with(mark) {
            sink.shape("evasion-line-separator", (end, end + len), Obfuscations::NONE);
        }
    }
}
