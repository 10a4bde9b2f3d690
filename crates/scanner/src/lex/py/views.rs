//! The views of a Python file: code without comments and strings, and the text of both.

use super::scan::{Scanned, normal};
use super::text;
use super::token::{ESCAPED, K, RAW, Tok, WIDE};
use crate::lex::Lexed;
use crate::text::Within;
use crate::view::{How, View};

pub(super) fn views(src: &[u8], scanned: &Scanned, out: &mut Lexed) {
    let mut wordy = false;
    for &tok in &scanned.toks {
        let text = super::text_of(src, tok);
        let (start, end) = tok.range();
        match tok.kind {
            K::Name | K::Num => {
                if wordy {
                    out.code.put(b" ", (start, start), How::NONE, 0);
                }
                if tok.flags & WIDE == 0 {
                    out.code.copy(text, start, How::NONE, 0);
                } else {
                    let normal = normal(text);
                    let how = if normal.is_ascii() { How::UNICODE } else { How::NONE };
                    out.code.put(&normal, (start, end), how, 0);
                }
            }
            K::Str => {
                out.code.put(b"''", (start, end), How::NONE, 0);
                string(src, tok, out);
            }
            K::Head | K::Mid | K::Tail => {
                let mark: &[u8] = if tok.kind == K::Mid { b"" } else { b"'" };
                out.code.put(mark, (start, end), How::NONE, 0);
                string(src, tok, out);
            }
            K::Op => out.code.copy(text, start, How::NONE, 0),
            K::Line => out.code.put(b"\n", (start, end), How::NONE, 0),
        }
        wordy = matches!(tok.kind, K::Name | K::Num);
    }
    comments(src, scanned, out);
}

fn string(src: &[u8], tok: Tok, out: &mut Lexed) {
    let (start, end) = tok.body();
    let body = src.get(start..end).unwrap_or_default();
    if body.is_empty() {
        return;
    }
    out.text.begin(Within::String, 0);
    if tok.flags & ESCAPED == 0 || tok.flags & RAW != 0 {
        out.text.raw(body, start, How::NONE);
        return;
    }
    let mut view = View::default();
    text::decode_into(src, tok, How::NONE, &mut view);
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
        let marks = bytes.iter().take_while(|byte| matches!(byte, b'#' | b'!' | b':' | b' ' | b'\t')).count();
        let text = bytes.get(marks..).unwrap_or_default();
        crate::lex::order::part(text, start.saturating_add(marks), &mut out.text);
        out.text.raw(text, start.saturating_add(marks), How::NONE);
        last_end = Some(end);
    }
    out.text.end();
}
