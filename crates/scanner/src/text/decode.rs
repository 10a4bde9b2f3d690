//! Stage 1: bytes to text. UTF-8, valid or nearly so, is kept; UTF-16 and UTF-32 are transcoded.

use std::borrow::Cow;

use plugward_types::Part;

use crate::text::view::{Obfuscations, View};

/// A file's encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Bytes,
    Utf16 { order: ByteOrder, bom: usize },
    Utf32 { order: ByteOrder, bom: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

/// Detects the encoding by a byte order mark, or else by the positions of NULs in the first 512 bytes.
pub(crate) fn encoding(bytes: &[u8]) -> Encoding {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] => return Encoding::Utf32 { order: ByteOrder::Little, bom: 4 },
        [0, 0, 0xFE, 0xFF, ..] => return Encoding::Utf32 { order: ByteOrder::Big, bom: 4 },
        [0xFF, 0xFE, ..] => return Encoding::Utf16 { order: ByteOrder::Little, bom: 2 },
        [0xFE, 0xFF, ..] => return Encoding::Utf16 { order: ByteOrder::Big, bom: 2 },
        _ => {}
    }
    let head = bytes.head(512);
    if head.len() < 8 || memchr::memchr(0, head).is_none() {
        return Encoding::Bytes;
    }
    let mut nuls = [0_usize; 4];
    for (index, byte) in head.iter().enumerate() {
        if *byte == 0
            && let Some(slot) = nuls.get_mut(index % 4)
        {
            *slot += 1;
        }
    }
    let quarter = head.len() / 4;
    let most = |count: usize| count.saturating_mul(10) >= quarter.saturating_mul(7);
    let few = |count: usize| count.saturating_mul(10) <= quarter.saturating_mul(2);
    match nuls {
        [a, b, c, d] if most(b) && most(c) && most(d) && few(a) => {
            Encoding::Utf32 { order: ByteOrder::Little, bom: 0 }
        }
        [a, b, c, d] if most(a) && most(b) && most(c) && few(d) => {
            Encoding::Utf32 { order: ByteOrder::Big, bom: 0 }
        }
        [a, b, c, d] if most(b) && most(d) && few(a) && few(c) => {
            Encoding::Utf16 { order: ByteOrder::Little, bom: 0 }
        }
        [a, b, c, d] if most(a) && most(c) && few(b) && few(d) => {
            Encoding::Utf16 { order: ByteOrder::Big, bom: 0 }
        }
        _ => Encoding::Bytes,
    }
}

/// Returns `true` if the encoding is UTF-16 or UTF-32.
pub(crate) fn has_wide_encoding(bytes: &[u8]) -> bool {
    encoding(bytes) != Encoding::Bytes
}

/// The text of a file, with a source map if it was transcoded.
#[derive(Debug)]
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, [u8]>,
    pub(crate) view: Option<View>,
    /// The range in the text of the first code units that do not form a character.
    pub(crate) broken: Option<(usize, usize)>,
}

/// Decodes a file.
pub(crate) fn decode(bytes: &[u8]) -> Decoded<'_> {
    let (unit, order, bom) = match encoding(bytes) {
        Encoding::Bytes => return Decoded { text: Cow::Borrowed(bytes), view: None, broken: None },
        Encoding::Utf16 { order, bom } => (2, order, bom),
        Encoding::Utf32 { order, bom } => (4, order, bom),
    };
    let mut view = View::default();
    let mut at = bom;
    let mut broken = None;
    while let Some((char, len)) = read_char(bytes, at, unit, order) {
        let range = (at, at + len);
        if let Some(char) = char {
            view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), range, Obfuscations::ENCODING, 0);
        } else {
            let here = view.bytes.len();
            broken.get_or_insert((here, here + "\u{FFFD}".len()));
            view.put("\u{FFFD}".as_bytes(), range, Obfuscations::ENCODING, 0);
        }
        at = range.1;
    }
    if let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let here = view.bytes.len();
        broken.get_or_insert((here, here + rest.len()));
        view.put(rest, (at, bytes.len()), Obfuscations::ENCODING, 0);
    }
    let text = core::mem::take(&mut view.bytes);
    Decoded { text: Cow::Owned(text), view: Some(view), broken }
}

fn unit_at(bytes: &[u8], at: usize, unit: usize, order: ByteOrder) -> Option<u32> {
    let raw = bytes.get(at..at.checked_add(unit)?)?;
    let sum = |sum: u32, byte: &u8| (sum << 8) | u32::from(*byte);
    Some(match order {
        ByteOrder::Big => raw.iter().fold(0, sum),
        ByteOrder::Little => raw.iter().rev().fold(0, sum),
    })
}

/// Reads one character; an unpaired surrogate or a value beyond Unicode is `None`.
fn read_char(bytes: &[u8], at: usize, unit: usize, order: ByteOrder) -> Option<(Option<char>, usize)> {
    let value = unit_at(bytes, at, unit, order)?;
    if unit == 2 && (0xD800..0xDC00).contains(&value) {
        let next = at.checked_add(2)?;
        if let Some(low @ 0xDC00..=0xDFFF) = unit_at(bytes, next, 2, order) {
            let high = value.saturating_sub(0xD800) << 10;
            let value = 0x1_0000_u32.saturating_add(high).saturating_add(low.saturating_sub(0xDC00));
            return Some((char::from_u32(value), 4));
        }
    }
    Some((char::from_u32(value), unit))
}
