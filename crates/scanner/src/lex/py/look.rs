//! What the tokens show besides names: identifiers that look like others, comments that end oddly.

use super::scan::{Scanned, normal};
use super::token::WIDE;
use crate::sink::Sink;
use crate::view::How;

pub(super) fn look(src: &[u8], scanned: &Scanned, code: &[u8], sink: &mut Sink<'_>) {
    for tok in &scanned.toks {
        if tok.flags & WIDE != 0 && tok.kind == super::token::K::Name {
            let name = super::text_of(src, *tok);
            // What the language itself takes for another name is that name.
            let hidden = core::str::from_utf8(name).is_ok_and(crate::unicode::has_zero_width);
            if hidden || !normal(name).is_ascii() {
                let words = &sink.rules.py.words;
                crate::unicode::identifier(name, tok.range(), How::NONE, words, code, sink);
            }
        }
    }
    comment_ends(src, scanned, sink);
}

/// A comment that ends at a lone carriage return, with code behind it, in a file whose lines end otherwise.
fn comment_ends(src: &[u8], scanned: &Scanned, sink: &mut Sink<'_>) {
    if memchr::memchr(b'\r', src).is_none() || memchr::memchr(b'\n', src).is_none() {
        return;
    }
    for &(_, end) in &scanned.comments {
        let end = end as usize;
        let Some(b"\r") = src.get(end..end.saturating_add(1)) else { continue };
        let rest = src.get(end.saturating_add(1)..).unwrap_or_default();
        if rest.first() == Some(&b'\n') {
            continue;
        }
        let stop = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let code = rest.get(..stop).unwrap_or_default().trim_ascii_start();
        if !code.is_empty() && !code.starts_with(b"#") {
            sink.shape("evasion-line-separator", (end, end.saturating_add(1)), How::NONE);
        }
    }
}
