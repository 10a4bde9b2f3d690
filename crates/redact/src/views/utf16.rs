//! UTF-16 in either byte order, with or without a byte order mark.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{at, part};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::rules::MarkerEncoding;
use crate::views::{View, ViewResults};

/// The minimum number of units with a NUL in the same half.
const UNITS: usize = 8;

/// Scans a view of each stretch in which every other byte is NUL.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    for (range, order) in stretches(text) {
        let mut view = View::new(Layer::Utf16, range.len() / 2 + 64);
        view.wide = order;
        for unit in range.step_by(2) {
            decode(text, unit, order, &mut view);
        }
        scan.view(&view, wanted);
    }
}

/// Returns the stretches of UTF-16 in a text with their byte order.
pub(crate) fn stretches(text: &[u8]) -> impl Iterator<Item = (Range<usize>, MarkerEncoding)> + '_ {
    let mut place = 0;
    core::iter::from_fn(move || {
        while let Some(found) = memchr::memchr(0, part(text, place..text.len())) {
            let nul = place + found;
            let big = stretch(text, nul, MarkerEncoding::Big);
            let little = nul.checked_sub(1).map_or(0, |start| stretch(text, start, MarkerEncoding::Little));
            let (start, length, order) = if little >= big && nul > 0 {
                (nul - 1, little, MarkerEncoding::Little)
            } else {
                (nul, big, MarkerEncoding::Big)
            };
            place = (start + length).max(nul + 1);
            if length >= 2 * UNITS {
                return Some((start..start + length, order));
            }
            place = nul + 1;
        }
        None
    })
}

/// Returns the first NUL outside any stretch, or the byte before it, which can begin one.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    let outside = |range: Range<usize>| {
        memchr::memchr(0, part(text, range.clone())).map(|place| (range.start + place).saturating_sub(1))
    };
    for (range, _) in stretches(text) {
        if let Some(place) = outside(from..range.start) {
            return Some(place);
        }
        from = range.end;
    }
    outside(from..text.len())
}

/// Moves an offset after a line end to the border of its unit. Returns `None` if half of the unit is missing.
pub(crate) fn border(text: &[u8], offset: usize) -> Option<usize> {
    if offset == 0 || memchr::memchr(0, text).is_none() {
        return Some(offset);
    }
    let inside = stretches(text).find(|(range, _)| range.contains(&(offset - 1)));
    match inside {
        Some((range, _)) if (offset - range.start) % 2 == 1 => (offset < text.len()).then_some(offset + 1),
        _ => Some(offset),
    }
}

/// Returns the length of the stretch of units from an offset. It may contain other scripts.
fn stretch(text: &[u8], start: usize, order: MarkerEncoding) -> usize {
    let mut place = start;
    let mut end = start;
    let mut misses = 0;
    while place + 1 < text.len() && misses < 16 {
        let (high, low) = halves(text, place, order);
        if high == 0 && (low >= 0x20 || matches!(low, b'\n' | b'\r' | b'\t' | 0x1b)) {
            misses = 0;
            end = place + 2;
        } else if high == 0 || (place == start) {
            break;
        } else {
            misses += 1;
        }
        place += 2;
    }
    end - start
}

fn halves(text: &[u8], place: usize, order: MarkerEncoding) -> (u8, u8) {
    if order == MarkerEncoding::Big {
        (at(text, place), at(text, place + 1))
    } else {
        (at(text, place + 1), at(text, place))
    }
}

fn decode(text: &[u8], place: usize, order: MarkerEncoding, view: &mut View) {
    let (high, low) = halves(text, place, order);
    let raw = place..place + 2;
    if high == 0 && low < 0x80 {
        view.atom(raw, &[low]);
    } else {
        let mut buffer = [0; 4];
        let unit = (u32::from(high) << 8) | u32::from(low);
        let character = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
        view.atom(raw, character.encode_utf8(&mut buffer).as_bytes());
    }
}
