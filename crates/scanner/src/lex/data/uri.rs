//! `data:` URIs in values: decoded, and lexed by their media type.

use plugward_types::{Part, base64, hex};

use super::scalar::Scalar;
use super::tree::Tree;
use crate::scan::entry::Lens;
use crate::scan::sink::EmbeddedText;
use crate::text::view::{Obfuscations, View};

/// Finds the `data:` URIs in a value and passes their content to the lexers.
pub(super) fn embed(tree: &mut Tree<'_, '_>, scalar: &Scalar, how: Obfuscations) {
    if !tree.uris && scalar.copied().is_some() {
        return;
    }
    let bytes = scalar.bytes(tree.src);
    let mut at = 0_usize;
    let mut found: Vec<(Lens, View)> = Vec::new();
    while let Some(more) = bytes.get(at..).and_then(|rest| memchr::memmem::find(rest, b"data:")) {
        let start = at + more + 5;
        let rest = bytes.part(start..);
        let end = rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len());
        let uri = rest.part(..end);
        at = start + end;
        let Some(comma) = memchr::memchr(b',', uri) else { continue };
        let kind = uri.part(..comma).to_ascii_lowercase();
        let Some(lens) = lens(&kind) else { continue };
        let from = start + comma + 1;
        let body = uri.part(comma + 1..);
        let view = decode(scalar, body, from, &kind, how);
        if !view.is_empty() {
            found.push((lens, view));
        }
    }
    for (lens, view) in found {
        tree.sink.embed(lens, EmbeddedText::View(view));
    }
}

pub(crate) const fn is_end(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b')' | b'>' | b'`') || byte.is_ascii_whitespace()
}

/// Returns the lexer for a media type, or `None` for images, sounds and the like.
pub(crate) fn lens(kind: &[u8]) -> Option<Lens> {
    let name = kind.split(|byte| *byte == b';').next().unwrap_or(kind);
    let has = |word: &[u8]| memchr::memmem::find(name, word).is_some();
    if name.starts_with(b"image/") && !has(b"svg")
        || name.starts_with(b"font/")
        || name.starts_with(b"audio/")
    {
        return None;
    }
    Some(if has(b"javascript") || has(b"ecmascript") || has(b"typescript") {
        Lens::Js
    } else if has(b"python") {
        Lens::Py
    } else if has(b"shell") || has(b"x-sh") {
        Lens::Sh
    } else if has(b"json") || has(b"yaml") || has(b"toml") {
        Lens::Data
    } else {
        Lens::Prose
    })
}

fn decode(scalar: &Scalar, body: &[u8], from: usize, kind: &[u8], how: Obfuscations) -> View {
    let how = how.and(Obfuscations::DECODE);
    let mut view = View::default();
    if memchr::memmem::find(kind, b"base64").is_some() {
        base64::decode_each(body, |byte, digits| {
            let (low, high, _) = scalar.back(from + digits.start, from + digits.end);
            view.put(&[byte], (low, high), how, 0);
        });
        return view;
    }
    let mut at = 0_usize;
    while let Some(byte) = body.get(at) {
        let value = hex::percent(body.part(at..));
        let len = if value.is_some() { 3 } else { 1 };
        let start = from + at;
        let (low, high, _) = scalar.back(start, start + len);
        view.put(&[value.unwrap_or(*byte)], (low, high), how, 0);
        at += len;
    }
    view
}
