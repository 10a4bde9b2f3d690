//! What the tokens show besides names: gaps, comment ends, identifiers that look like others.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::bind::name_of;
use super::code::{body, token_at};
use super::scan::{GAP, Scanned};
use super::token::{ESCAPED, K, Kw, Tok};
use crate::engine::{Places, hint};
use crate::sink::Sink;
use crate::view::How;

/// Lines after which code is out of sight.
const LINES: usize = 1000;

pub(super) fn look(src: &[u8], scanned: &Scanned, places: Option<&Places>, sink: &mut Sink<'_>) {
    for &(index, start) in &scanned.gaps {
        if let Some(tok) = scanned.toks.get(index as usize) {
            gap(src, (start as usize, tok.start() as usize), *tok, sink);
        }
    }
    identifiers(src, scanned, sink);
    unseen_blanks(src, scanned, sink);
    match places {
        Some(places) => {
            let mut last = None;
            for place in places.sorted(hint::STARTER) {
                let index = token_at(&scanned.toks, place);
                if let Some(index) = index.filter(|_| index != last) {
                    starter(src, &scanned.toks, index, sink);
                }
                last = index;
            }
        }
        None => {
            for index in 0..scanned.toks.len() {
                starter(src, &scanned.toks, index, sink);
            }
        }
    }
    comment_ends(src, scanned, sink);
}

/// Code after many blanks in a line, or after many blank lines.
fn gap(src: &[u8], range: (usize, usize), tok: Tok, sink: &mut Sink<'_>) {
    let between = src.get(range.0..range.1).unwrap_or_default();
    let line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let tail = blank_columns(between);
    let lines = between.iter().filter(|byte| line_end(byte)).count();
    let blank = between.iter().all(u8::is_ascii_whitespace);
    if tail >= GAP || (blank && lines > LINES) {
        sink.shape("obf-offscreen", (tok.start() as usize, tok.end() as usize), How::NONE);
    }
}

/// How many columns are blank right in front of a token, in its line.
fn blank_columns(between: &[u8]) -> usize {
    let last = between.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty());
    let blanks = last.map_or("", |chunk| chunk.valid()).chars().rev();
    blanks
        .map_while(|char| match char {
            // It takes two columns.
            '\u{3000}' => Some(2_usize),
            // It takes none.
            '\u{FEFF}' => Some(0),
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => None,
            _ => char.is_whitespace().then_some(1),
        })
        .fold(0, usize::saturating_add)
}

/// A mark without width that the language takes for a blank, right beside a word.
fn unseen_blanks(src: &[u8], scanned: &Scanned, sink: &mut Sink<'_>) {
    let toks = &scanned.toks;
    for at in memchr::memmem::find_iter(src, b"\xEF\xBB\xBF").filter(|at| *at > 0) {
        let next = toks.partition_point(|tok| (tok.start() as usize) <= at);
        let before = next.checked_sub(1).and_then(|before| toks.get(before));
        let end = at.saturating_add(3);
        // Between marks it is no more than a blank; between words it makes one of them look like what it is not.
        let head = toks.get(next).is_some_and(|tok| tok.kind == K::Word && tok.start() as usize == end);
        let behind = before.is_some_and(|tok| tok.kind == K::Word && tok.end() as usize <= at);
        if head && behind {
            sink.shape("unicode-zero-width-code", (at, end), How::NONE);
        }
    }
}

/// Identifiers that are not ASCII, beside those of the file that are.
fn identifiers(src: &[u8], scanned: &Scanned, sink: &mut Sink<'_>) {
    let mut plain = None;
    for &index in &scanned.identifiers {
        let Some(&tok) = scanned.toks.get(index as usize) else { continue };
        let name = name_of(src, tok);
        if !name.is_ascii() {
            let how = if tok.flags & ESCAPED == 0 { How::NONE } else { How::ESCAPE };
            let words = &sink.rules.js.words;
            let twins = plain.get_or_insert_with(|| all_names(src, &scanned.toks));
            let span = (tok.start() as usize, tok.end() as usize);
            crate::unicode::identifier_beside(&name, span, how, words, &|twin| twins.contains(twin), sink);
        }
    }
}

/// All names of a file that are ASCII.
fn all_names<'a>(src: &'a [u8], toks: &[Tok]) -> BTreeSet<Cow<'a, [u8]>> {
    let names = toks.iter().filter(|tok| matches!(tok.kind, K::Word | K::Private));
    names
        .map(|tok| match name_of(src, *tok) {
            Cow::Borrowed(name) => Cow::Borrowed(name.strip_prefix(b"#").unwrap_or(name)),
            owned @ Cow::Owned(_) => owned,
        })
        .filter(|name| name.is_ascii())
        .collect()
}

/// The name of the module that starts programs, as a value of its own.
fn starter(src: &[u8], toks: &[Tok], index: usize, sink: &mut Sink<'_>) {
    let Some(&tok) = toks.get(index).filter(|tok| tok.kind == K::Str) else { return };
    let (start, end) = body(tok);
    if !matches!(src.get(start..end), Some(b"child_process" | b"node:child_process")) {
        return;
    }
    let before = |back: usize| {
        let tok = index.checked_sub(back).and_then(|at| toks.get(at));
        tok.filter(|tok| tok.kind == K::Word).map_or(Kw::None, |tok| Kw::of(tok.word()))
    };
    // A specifier is judged as one: a type's loads nothing.
    if !matches!((before(2), before(1)), (_, Kw::From | Kw::Import) | (Kw::Import, _)) {
        sink.shape("js-child-process-value", (tok.start() as usize, tok.end() as usize), How::NONE);
    }
}

/// A line comment that ends where most readers see no line end, with code behind it.
fn comment_ends(src: &[u8], scanned: &Scanned, sink: &mut Sink<'_>) {
    let odd = memchr::memchr2(b'\r', 0xE2, src).is_some();
    if !odd || memchr::memchr(b'\n', src).is_none() && memchr::memchr(b'\r', src).is_some() {
        // A file wholly in CR is an old file.
        if !odd || memchr::memmem::find(src, b"\xE2\x80").is_none() {
            return;
        }
    }
    for &(start, end) in &scanned.comments {
        let (start, end) = (start as usize, end as usize);
        if src.get(start..start.saturating_add(2)) != Some(b"//") {
            continue;
        }
        let (len, lone) = match src.get(end..).unwrap_or_default() {
            [b'\r', b'\n', ..] | [] => (0, false),
            [b'\r', ..] => (1, true),
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => (3, true),
            _ => (0, false),
        };
        let rest = src.get(end.saturating_add(len)..).unwrap_or_default();
        let blanks = |rest: &[u8]| rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0C)).count();
        let code = if lone { rest.get(blanks(rest)..).unwrap_or_default() } else { &[] };
        if !matches!(code, [] | [b'\n' | b'\r', ..] | [b'/', b'/', ..]) {
            sink.shape("evasion-line-separator", (end, end.saturating_add(len)), How::NONE);
        }
    }
}
