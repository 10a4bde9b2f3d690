//! `data:` URIs in values: decoded, and lexed by their media type.

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
        let rest = bytes.get(start..).unwrap_or_default();
        let end = rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len());
        let uri = rest.get(..end).unwrap_or_default();
        at = start + end;
        let Some(comma) = memchr::memchr(b',', uri) else { continue };
        let kind = uri.get(..comma).unwrap_or_default().to_ascii_lowercase();
        let Some(lens) = lens(&kind) else { continue };
        let from = start + comma + 1;
        let body = uri.get(comma + 1..).unwrap_or_default();
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
    let name = kind.split(|byte| *byte == b';').next().unwrap_or_default();
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
        base64_at(scalar, body, from, how, &mut view);
        return view;
    }
    let mut at = 0_usize;
    while let Some(byte) = body.get(at) {
        let digits = body.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let value = digits.and_then(crate::text::encoded::hex);
        let len = if value.is_some() { 3 } else { 1 };
        let start = from + at;
        let (low, high, _) = scalar.back(start, start + len);
        view.put(&[value.unwrap_or(*byte)], (low, high), how, 0);
        at += len;
    }
    view
}

fn base64_at(scalar: &Scalar, body: &[u8], from: usize, how: Obfuscations, view: &mut View) {
    quads(body, |out, first, end| {
        let (low, high, _) = scalar.back(from + first, from + end);
        view.put(&[out], (low, high), how, 0);
    });
}

/// Decodes base64 leniently: accepts both alphabets, skips other bytes and does not require padding.
pub(crate) fn base64(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len().saturating_mul(3) / 4);
    // Full blocks of digits are decoded 32 at a time, without a check per byte.
    let (blocks, _) = body.as_chunks::<32>();
    let digits = |block: &&[u8; 32]| block.iter().all(|byte| value(*byte) < NONE);
    let whole = blocks.iter().take_while(digits).map(|block| out.extend_from_slice(&self::block(block)));
    let rest = body.get(whole.count().saturating_mul(32)..).unwrap_or_default();
    quads(rest, |byte, _, _| out.push(byte));
    out
}

/// Decodes a block of 32 base64 digits.
pub(crate) fn block(digits: &[u8; 32]) -> [u8; 24] {
    let mut out = [0; 24];
    for (to, from) in out.as_chunks_mut::<3>().0.iter_mut().zip(digits.as_chunks::<4>().0) {
        let [_, bytes @ ..] =
            from.iter().fold(0, |bits, digit| bits << 6 | u32::from(value(*digit))).to_be_bytes();
        *to = bytes;
    }
    out
}

/// The value of each base64 digit, a larger number for other bytes, and `END` for padding.
const VALUES: [u8; 256] = values();
const NONE: u8 = 64;
const END: u8 = 65;

const fn values() -> [u8; 256] {
    let mut table = [NONE; 256];
    let mut index = 0_usize;
    while index < 256 {
        #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "index is below 256")]
        {
            let byte = index as u8;
            table[index] = match byte {
                b'A'..=b'Z' => byte.wrapping_sub(b'A'),
                b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
                b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                b'=' => END,
                _ => NONE,
            };
        }
        index += 1;
    }
    table
}

fn value(digit: u8) -> u8 {
    VALUES.get(usize::from(digit)).copied().unwrap_or(NONE)
}

/// Reports each decoded byte with its range in the source.
pub(crate) fn quads(body: &[u8], mut each: impl FnMut(u8, usize, usize)) {
    let (mut bits, mut held, mut first) = (0_u32, 0_u32, 0_usize);
    for (at, byte) in body.iter().enumerate() {
        let value = value(*byte);
        if value >= NONE {
            if value == END {
                break;
            }
            continue;
        }
        if held == 0 {
            first = at;
        }
        bits = (bits << 6 | u32::from(value)) & 0xFFFF;
        held = held.wrapping_add(6);
        if held >= 8 {
            held = held.wrapping_sub(8);
            let [.., out] = (bits >> held).to_be_bytes();
            let from = core::mem::replace(&mut first, at);
            each(out, from, at + 1);
        }
    }
}
