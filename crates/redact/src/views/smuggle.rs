//! Bytes that are written as invisible characters: tags, and variation selectors.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use crate::bytes::{at, line_end, line_start, part};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::{View, ViewResults};

/// The maximum length of a line.
const LINE: usize = 64 * 1024;
/// The minimum number of characters in a line. The flag of a region has six tags.
const LEAST: usize = 8;
/// The first two bytes of tags and of the 240 further variation selectors.
const PLANE: &[u8] = &[0xf3, 0xa0];
/// The number of variation selectors before the further ones.
const FIRST: u8 = 16;

/// The byte that the first of the further variation selectors stands for. Both numberings are in use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    FromZero,
    FromSixteen,
}

/// Scans a view of the invisible bytes of each line.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let mut place = 0;
    while let Some(found) = memchr::memmem::find(part(text, place..text.len()), PLANE) {
        let start = line_start(text, place + found, LINE).max(place);
        let end = line_end(text, place + found, LINE).max(place + found + 1);
        for numbering in [Numbering::FromZero, Numbering::FromSixteen] {
            let mut view = View::new(Layer::Strip, (end - start) / 4);
            let mut next = start;
            while next < end {
                let (length, byte) = character(text, next, numbering);
                if let Some(byte) = byte {
                    view.atom(next..next + length, &[byte]);
                }
                next += length;
            }
            if view.bytes.len() >= LEAST {
                scan.view(&view, wanted);
            }
        }
        place = end;
    }
}

/// Returns the length of a character, and the byte that it stands for.
fn character(text: &[u8], place: usize, numbering: Numbering) -> (usize, Option<u8>) {
    let next = |ahead: usize| at(text, place + ahead);
    match (at(text, place), next(1), next(2), next(3)) {
        // The last one asks for an emoji, and is common.
        (0xef, 0xb8, low @ 0x80..=0x8e, _) => (3, Some(low & 0xf)),
        (0xf3, 0xa0, high @ 0x80..=0x81, low) => (4, Some((high & 1) << 6 | low & 0x3f)),
        (0xf3, 0xa0, high @ 0x84..=0x87, low) => {
            let number = (high & 3) << 6 | low & 0x3f;
            (4, Some(if numbering == Numbering::FromZero { number } else { number.wrapping_add(FIRST) }))
        }
        _ => (1, None),
    }
}
