//! What the tokens show besides names: gaps, comment ends, identifiers that look like others.

use super::code::body;
use super::scan::Scanned;
use super::token::{ESCAPED, K, Kw, Tok};
use crate::sink::Sink;
use crate::view::How;

/// Blanks in one line, and lines, after which code is out of sight.
const BLANKS: u32 = 200;
const LINES: usize = 1000;

pub(super) fn look(src: &[u8], scanned: &Scanned, code: &[u8], sink: &mut Sink<'_>) {
    let mut end = 0_u32;
    let mut before = [Kw::None; 2];
    for tok in &scanned.toks {
        if tok.start.saturating_sub(end) >= BLANKS {
            gap(src, (end as usize, tok.start as usize), tok, sink);
        }
        end = tok.end;
        match tok.kind {
            K::Word => identifier(src, *tok, code, sink),
            // A specifier is judged as one: a type's loads nothing.
            K::Str if !matches!(before, [_, Kw::From | Kw::Import] | [Kw::Import, _]) => {
                starter(src, *tok, sink);
            }
            _ => {}
        }
        before = [before[1], if tok.kind == K::Word { Kw::of(tok.aux) } else { Kw::None }];
    }
    comment_ends(src, scanned, sink);
}

/// Code after many blanks in a line, or after many blank lines.
fn gap(src: &[u8], range: (usize, usize), tok: &Tok, sink: &mut Sink<'_>) {
    let between = src.get(range.0..range.1).unwrap_or_default();
    let line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let tail = between.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let lines = between.iter().filter(|byte| line_end(byte)).count();
    let blank = between.iter().all(u8::is_ascii_whitespace);
    if tail >= BLANKS as usize || (blank && lines > LINES) {
        sink.shape("obf-offscreen", (tok.start as usize, tok.end as usize), How::NONE);
    }
}

fn identifier(src: &[u8], tok: Tok, code: &[u8], sink: &mut Sink<'_>) {
    let name = super::bind::name_of(src, tok);
    if !name.is_ascii() {
        let how = if tok.flags & ESCAPED == 0 { How::NONE } else { How::ESCAPE };
        let words = &sink.rules.js.words;
        crate::unicode::identifier(&name, (tok.start as usize, tok.end as usize), how, words, code, sink);
    }
}

/// The name of the module that starts programs, as a value of its own.
fn starter(src: &[u8], tok: Tok, sink: &mut Sink<'_>) {
    let (start, end) = body(tok);
    let bytes = src.get(start..end).unwrap_or_default();
    if bytes == b"child_process" || bytes == b"node:child_process" {
        sink.shape("js-child-process-value", (tok.start as usize, tok.end as usize), How::NONE);
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
        let stop = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let code = rest.get(..stop).unwrap_or_default();
        if lone
            && code.iter().any(|byte| !byte.is_ascii_whitespace())
            && !code.trim_ascii_start().starts_with(b"//")
        {
            sink.shape("evasion-line-separator", (end, end.saturating_add(len)), How::NONE);
        }
    }
}
