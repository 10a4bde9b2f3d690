//! The views of a JavaScript file: code without comments and strings, and the text of both.

use super::escape;
use super::scan::Scanned;
use super::token::{ESCAPED, K, Tok, UNCLOSED};
use crate::lex::Lexed;
use crate::text::Within;
use crate::view::{How, View};

pub(super) fn views(src: &[u8], scanned: &Scanned, out: &mut Lexed) {
    let mut wordy = false;
    for &tok in &scanned.toks {
        let text = super::text_of(src, tok);
        match tok.kind {
            K::Word | K::Private | K::Num => {
                if wordy {
                    out.code.put(b" ", (tok.start as usize, tok.start as usize), How::NONE, 0);
                }
                if tok.flags & ESCAPED == 0 {
                    out.code.copy(text, tok.start as usize, How::NONE, 0);
                } else {
                    let range = (tok.start as usize, tok.end as usize);
                    out.code.put(&escape::decode_identifier(text), range, How::ESCAPE, 0);
                }
            }
            K::Str | K::Tpl | K::TplHead | K::TplMid | K::TplTail | K::JsxText => {
                out.code.put(mark(tok.kind), (tok.start as usize, tok.end as usize), How::NONE, 0);
                text_of(src, tok, out);
            }
            K::Regex => out.code.put(b"/./", (tok.start as usize, tok.end as usize), How::NONE, 0),
            _ => out.code.copy(text, tok.start as usize, How::NONE, 0),
        }
        wordy = matches!(tok.kind, K::Word | K::Private | K::Num);
    }
    comments(src, scanned, out);
}

const fn mark(kind: K) -> &'static [u8] {
    match kind {
        K::TplHead => b"`${",
        K::TplMid => b"}${",
        K::TplTail => b"}`",
        K::JsxText => b"",
        _ => b"''",
    }
}

/// Gives where a string's body starts and ends, its marks dropped.
pub(super) fn body(tok: Tok) -> (usize, usize) {
    let (start, end) = (tok.start as usize, tok.end as usize);
    let close = match tok.kind {
        _ if tok.flags & UNCLOSED != 0 => 0,
        K::TplHead | K::TplMid => 2,
        _ => 1,
    };
    let first = start.saturating_add(1);
    (first, end.saturating_sub(close).max(first))
}

fn text_of(src: &[u8], tok: Tok, out: &mut Lexed) {
    let (start, end) =
        if tok.kind == K::JsxText { (tok.start as usize, tok.end as usize) } else { body(tok) };
    let bytes = src.get(start..end).unwrap_or_default();
    if bytes.is_empty() {
        return;
    }
    out.text.begin(if tok.kind == K::JsxText { Within::Prose } else { Within::String }, 0);
    if tok.flags & ESCAPED == 0 {
        out.text.raw(bytes, start, How::NONE);
        return;
    }
    let mut view = View::default();
    escape::decode_into(bytes, start, 0, &mut view);
    let mut at = 0_usize;
    // Word by word, so that each has its own place.
    for word in view.bytes.split_inclusive(|byte| *byte == b' ') {
        let next = at.saturating_add(word.len());
        let (from, to, how) = view.map.back(at, next);
        out.text.decoded(word, (from, to), how);
        at = next;
    }
}

fn comments(src: &[u8], scanned: &Scanned, out: &mut Lexed) {
    let mut last_end = None;
    for &(start, end) in &scanned.comments {
        let (start, end) = (start as usize, end as usize);
        let bytes = src.get(start..end).unwrap_or_default();
        let joined = last_end.is_some_and(|last: usize| {
            src.get(last..start).is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace))
        });
        if joined {
            out.text.blank((start, start));
        } else {
            out.text.begin(Within::Comment, 0);
        }
        comment(bytes, start, out);
        last_end = Some(end);
    }
    out.text.end();
}

/// Adds a comment without its marks and without what decorates the start of a line.
fn comment(bytes: &[u8], start: usize, out: &mut Lexed) {
    let block = bytes.starts_with(b"/*");
    let inner = if block { bytes.strip_suffix(b"*/").unwrap_or(bytes) } else { bytes };
    let mut at = start;
    for line in inner.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let marks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'*' | b'/' | b'!')).count();
        out.text.blank((at, at.saturating_add(marks)));
        let text = line.get(marks..).unwrap_or_default();
        out.text.raw(text, at.saturating_add(marks), How::NONE);
        at = at.saturating_add(line.len());
    }
}
