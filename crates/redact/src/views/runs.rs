//! Runs of base64 and hex digits that decode to text.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use plugward_types::{Part, base64, hex};
use zeroize::Zeroizing;

use crate::bytes::measure::base64;
use crate::bytes::{
    AN, B64_ANY, BLANK, EQUALS, HEX, LINE, UPPER, at, before, classes, is, part, past_line_end, run, run_back,
};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::{View, ViewResults, inflate};

// Shorter runs decode to less than the shortest secret, or are ordinary words.
const LEAST: usize = 20;
const LEAST_HEX: usize = 32;
/// The lengths that the lines of a wrapped run can have.
const WRAPPED: Range<usize> = 20..257;
/// The number of separators after which decoding is tried.
const STARTS: usize = 6;

/// Scans a view of each run that decodes to text or compressed data.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let mut place = 0;
    while let Some(start) = next_run(text, place) {
        let first = start + run(text, start, B64_ANY, text.len());
        let end = wrapped_end(text, start, first);
        if is_hex(text, start..first) {
            // Lines of one width with only hex digits are one run.
            let until = if is_only_hex(text, start..first) { end } else { first };
            hex(text, start..until, wanted, scan);
        }
        if !is_only_hex(text, start..first) {
            base64_run(text, start..end, wanted, scan);
        }
        place = end.max(start + 1);
    }
}

/// Finds the next run of at least 20 bytes. Probes every twentieth byte first.
fn next_run(text: &[u8], from: usize) -> Option<usize> {
    let mut probe = from + LEAST - 1;
    while probe < text.len() {
        if classes(at(text, probe)) & B64_ANY == 0 {
            probe += LEAST;
            continue;
        }
        let back = run_back(text, probe, B64_ANY, probe.saturating_sub(from));
        let start = probe - back;
        let length = run(text, start, B64_ANY, LEAST);
        if length >= LEAST {
            return Some(start);
        }
        probe = start + length + LEAST;
    }
    None
}

/// Continues over line ends while the lines are as long as the first.
fn wrapped_end(text: &[u8], start: usize, first: usize) -> usize {
    let width = first - start;
    let mut end = first + run(text, first, EQUALS, 2);
    if !WRAPPED.contains(&width) || end > first {
        return end;
    }
    let mut line = first;
    loop {
        let next = past_line_end(text, line);
        if next == line {
            return end;
        }
        let next = next + run(text, next, BLANK, 40);
        let length = run(text, next, B64_ANY, width + 1);
        let pad = run(text, next + length, EQUALS, 2);
        // A shorter last line belongs to the run, unless more text follows on that line.
        let stop = at(text, next + length + pad);
        let ends = matches!(
            stop,
            0 | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b',' | b'<' | b')' | b']' | b'}' | b'\\'
        );
        if length == 0 || length > width || (length < width && !ends) {
            return end;
        }
        end = next + length + pad;
        line = next + length;
        if length < width || pad > 0 {
            return end;
        }
    }
}

fn is_only_hex(text: &[u8], range: Range<usize>) -> bool {
    part(text, range).iter().all(|byte| is(*byte, HEX))
}

fn is_hex(text: &[u8], range: Range<usize>) -> bool {
    range.len() >= LEAST_HEX && run(text, range.start, HEX, LEAST_HEX) >= LEAST_HEX
}

fn hex(text: &[u8], range: Range<usize>, wanted: &mut ViewResults, scan: &Scan<'_>) {
    let first = run(text, range.start, HEX, range.len());
    let stop = if range.start + first < range.end && is(at(text, range.start + first), LINE) {
        range.end
    } else {
        range.start + first
    };
    for phase in 0..2 {
        let head = part(text, range.start + phase..range.start + first.min(64));
        if !is_telling_hex(head) {
            continue;
        }
        let mut view = View::new(Layer::Hex, range.len() / 2);
        let mut place = range.start + phase;
        while let Some(raw) = next_pair(text, place, stop) {
            place = raw.end;
            let byte = pair(&[at(text, raw.start), before(text, raw.end)]);
            view.atom(raw, &[byte]);
        }
        view.whole(range.start..stop);
        scan.view(&view, wanted);
        return;
    }
}

/// Returns the next two hex digits. Line ends and blanks may be before and between them.
fn next_pair(text: &[u8], from: usize, stop: usize) -> Option<Range<usize>> {
    let digit = |from: usize| (from..stop).find(|place| is(at(text, *place), HEX));
    let high = digit(from)?;
    let low = digit(high + 1)?;
    Some(high..low + 1)
}

/// Returns `true` if hex digits decode to something worth scanning.
fn is_telling_hex(digits: &[u8]) -> bool {
    let mut head = Zeroizing::new([0; 24]);
    let mut count = 0;
    for (slot, two) in head.iter_mut().zip(digits.chunks_exact(2)) {
        *slot = pair(two);
        count += 1;
    }
    count > 0 && is_telling(part(head.as_slice(), 0..count))
}

fn pair(two: &[u8]) -> u8 {
    hex::decode_pair(two).unwrap_or(0)
}

fn base64_run(text: &[u8], range: Range<usize>, wanted: &mut ViewResults, scan: &Scan<'_>) {
    let first = run(text, range.start, B64_ANY, range.len());
    // Raw deflate has no head, so the whole run is tried. Ordinary text never pays for that.
    let raw = || scan.known.is_some() && inflate::is_raw(&all_digits(part(text, range.clone())));
    let start = first_start(text, range.start..range.start + first, range.end)
        .or_else(|| raw().then_some(range.start));
    if let Some(start) = start {
        decode(text, range.start, start, range.end, wanted, scan);
    }
}

/// Decodes all base64 digits, on whichever lines.
fn all_digits(run: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(run.len() / 4 * 3 + 3));
    base64::decode_each(run, |byte, _| bytes.push(byte));
    bytes
}

/// Returns where base64 text begins in the first line of a run that ends at `end`.
fn first_start(text: &[u8], first: Range<usize>, end: usize) -> Option<usize> {
    let mut from = first.start;
    // The part before a separator may not belong to the encoded text: a path or a name.
    for _ in 0..STARTS {
        if end.saturating_sub(from) < LEAST {
            return None;
        }
        // Base64 text has capitals; a path, a name or a lowercase hash has none.
        if part(text, from..from + 24).iter().any(|byte| is(*byte, UPPER)) {
            let tries = from..from + 4;
            let found = tries.into_iter().find(|at| tells(part(text, *at..(at + 32).min(first.end))));
            if found.is_some() {
                return found;
            }
        }
        from += part(text, from..first.end).iter().position(|byte| !is(*byte, AN))? + 1;
    }
    None
}

/// Returns `true` if the run at the end of a line is base64 or hex that can continue in the next line.
pub(crate) fn goes_on(text: &[u8], tail: Range<usize>) -> bool {
    let width = run_back(text, tail.end, B64_ANY, tail.len());
    let first = tail.end - width..tail.end;
    let digits = part(text, first.clone());
    if is_hex(text, first.clone()) && (0..2).any(|phase| is_telling_hex(part(digits, phase..width.min(64)))) {
        return true;
    }
    WRAPPED.contains(&width) && first_start(text, first.clone(), first.end + LEAST).is_some()
}

fn decode(
    text: &[u8],
    run_start: usize,
    start: usize,
    end: usize,
    wanted: &mut ViewResults,
    scan: &Scan<'_>,
) {
    let mut view = View::new(Layer::Base64, (end - start) / 4 * 3 + 3);
    let (mut hold, mut count, mut from) = (0_u32, 0, start);
    for place in start..end {
        let Some(value) = base64::value(at(text, place)) else { continue };
        if count == 0 {
            from = place;
        }
        hold = (hold << 6) | u32::from(value);
        count += 1;
        if count == 4 {
            view.atom(from..place + 1, hold.to_be_bytes().part(1..));
            (hold, count) = (0, 0);
        }
    }
    let rest = match count {
        2 => hold << 12,
        3 => hold << 6,
        _ => 0,
    };
    let bytes = rest.to_be_bytes();
    view.atom(from..end, bytes.part(1..count.max(1)));
    // A separator before the start belongs to the text around the run.
    let whole_from = if before(text, start) == b'/' || start > run_start + 3 { start } else { run_start };
    view.whole(whole_from..end);
    scan.view(&view, wanted);
}

/// Returns `true` if base64 digits decode to something worth scanning. Stops at the first byte that rules it
/// out.
fn tells(digits: &[u8]) -> bool {
    let mut head = Zeroizing::new([0; 24]);
    let mut count = 0;
    let mut following = 0_u8;
    for (group, slots) in digits.chunks_exact(4).zip(head.chunks_exact_mut(3)) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, digit| (bits << 6) | u32::from(base64::value(*digit).unwrap_or(0)));
        for (slot, byte) in slots.iter_mut().zip(bits.to_be_bytes().iter().skip(1)) {
            *slot = *byte;
            // A byte can continue UTF-8, be half of UTF-16, or begin a compressed stream.
            let fits = match *byte {
                0x20..=0x7e | b'\n' | b'\r' | b'\t' | 0x1b | 0 => following == 0,
                0x80..=0xbf if following > 0 => {
                    following -= 1;
                    true
                }
                0xc2..=0xdf if following == 0 => {
                    following = 1;
                    true
                }
                0xe0..=0xef if following == 0 => {
                    following = 2;
                    true
                }
                0xf0..=0xf4 if following == 0 => {
                    following = 3;
                    true
                }
                _ => false,
            };
            if !fits {
                return (count < 3 || head.starts_with(b"BZh"))
                    && inflate::is_compressed(&base64(part(digits, 0..16), inflate::HEAD));
            }
            count += 1;
        }
    }
    let head = part(head.as_slice(), 0..count);
    count >= 12 && is_telling(head)
}

/// Returns `true` if decoded bytes begin like text, UTF-16, or compressed data.
pub(crate) fn is_telling(head: &[u8]) -> bool {
    inflate::is_compressed(head) || is_text(head) || is_utf16(head)
}

fn is_text(head: &[u8]) -> bool {
    let fits = |byte: &u8| matches!(byte, 0x20..=0x7e | b'\n' | b'\r' | b'\t' | 0x1b) || *byte >= 0x80;
    if !head.iter().all(fits) {
        return false;
    }
    let ascii = head.iter().filter(|byte| **byte < 0x80).count();
    // Bytes outside ASCII count only as UTF-8, whose last character may be cut.
    ascii == head.len()
        || (ascii * 2 >= head.len()
            && core::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true))
}

fn is_utf16(head: &[u8]) -> bool {
    let even = head.iter().step_by(2).filter(|byte| **byte == 0).count();
    let odd = head.iter().skip(1).step_by(2).filter(|byte| **byte == 0).count();
    head.len() >= 12
        && (even * 3 >= head.len() || odd * 3 >= head.len())
        && (even == 0 || odd == 0 || even.abs_diff(odd) > head.len() / 4)
}
