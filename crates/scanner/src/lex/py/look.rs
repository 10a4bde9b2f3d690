//! What the tokens show besides names: identifiers that look like others, comments that end oddly.

use std::collections::BTreeSet;

use super::scan::{Scanned, normal};
use super::token::{K, WIDE};
use crate::sink::Sink;
use crate::view::{How, View};

pub(super) fn look(src: &[u8], scanned: &Scanned, sink: &mut Sink<'_>) {
    let mut plain: Option<BTreeSet<&[u8]>> = None;
    for tok in &scanned.toks {
        if tok.flags & WIDE != 0 && tok.kind == K::Name {
            let name = super::text_of(src, *tok);
            // What the language itself takes for another name is that name.
            let hidden = core::str::from_utf8(name).is_ok_and(crate::unicode::has_zero_width);
            if hidden || !normal(name).is_ascii() {
                let words = &sink.rules.py.words;
                let twins = plain.get_or_insert_with(|| names(src, scanned));
                let is_name = |twin: &[u8]| twins.contains(twin);
                crate::unicode::identifier_beside(name, tok.range(), How::NONE, words, &is_name, sink);
            }
        }
    }
    comment_ends(src, scanned, sink);
    joined_runs(src, scanned, sink);
}

/// All names of a file that are ASCII.
fn names<'a>(src: &'a [u8], scanned: &Scanned) -> BTreeSet<&'a [u8]> {
    let plain = scanned.toks.iter().filter(|tok| tok.kind == K::Name && tok.flags & WIDE == 0);
    plain.map(|tok| super::text_of(src, *tok)).collect()
}

/// Texts that stand side by side are one: an encoded run may go over many of them.
fn joined_runs(src: &[u8], scanned: &Scanned, sink: &mut Sink<'_>) {
    for texts in scanned.toks.split(|tok| tok.kind != K::Str).filter(|texts| texts.len() > 1) {
        let mut view = View::default();
        for tok in texts {
            let (start, end) = tok.body();
            view.copy(src.get(start..end).unwrap_or_default(), start, How::NONE, 0);
        }
        crate::passes::joined_encoded(&view, sink);
    }
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
