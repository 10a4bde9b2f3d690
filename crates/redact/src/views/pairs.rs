//! Pairs of hex digits with a separator: `73:6b:5f`, `73 6B 5F`, `0x73, 0x6b`.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use plugward_types::hex;
use zeroize::Zeroizing;

use crate::bytes::{AN, BLANK, HEX, LINE, at, before, is, line_start, part, past_line_end, run_back, skip};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::runs::is_telling;
use crate::views::{View, ViewResults};

/// The minimum number of pairs in a row.
const LEAST: usize = 16;
/// The distance between probed offsets. A row of pairs is longer.
const STEP: usize = 24;

/// How the pairs of a row are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PairStyle {
    /// The length of `0x` before each pair, or 0.
    marked: usize,
    sign: u8,
    /// 1 if a blank follows the separator, else 0.
    blank: usize,
}

/// Scans a view of each row of pairs that decodes to text.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let mut place = 0;
    while place + 8 < text.len() {
        place = match at_probe(text, place) {
            Some((start, written)) => row(text, start, written, wanted, scan).max(place + STEP),
            None => place + STEP,
        };
    }
}

/// Returns where the last lines begin that end in pairs, which later text can continue.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let mut top = None;
    let mut end = text.len();
    while end > 0 {
        let stop = end - run_back(text, end, LINE, 2);
        let line = line_start(text, stop, 4096);
        if stop == end || !ends_in_pairs(part(text, line..stop)) {
            break;
        }
        (top, end) = (Some(line), line);
    }
    top
}

/// Returns `true` if a line ends in at least two pairs, with an optional separator.
fn ends_in_pairs(line: &[u8]) -> bool {
    let from = line.len().saturating_sub(12);
    (from..line.len()).any(|pair| {
        written(line, pair).is_some_and(|written| {
            let end = pair + written.length() + written.marked + 2;
            end == line.len() || end + 1 == line.len() && before(line, line.len()) == written.sign
        })
    })
}

/// Finds two pairs written the same way around an offset. Returns the first pair of their line.
fn at_probe(text: &[u8], probe: usize) -> Option<(usize, PairStyle)> {
    (probe..probe + 6).find_map(|pair| {
        let written = written(text, pair)?;
        let mut start = pair;
        let length = written.length();
        while let Some(left) = start.checked_sub(length).filter(|left| written.follows(text, *left)) {
            start = left;
        }
        Some((start, written))
    })
}

/// Returns how a pair and the next one are written.
fn written(text: &[u8], pair: usize) -> Option<PairStyle> {
    let marked = if at(text, pair) == b'0' && matches!(at(text, pair + 1), b'x' | b'X') { 2 } else { 0 };
    let sign = at(text, pair + marked + 2);
    if !matches!(sign, b':' | b' ' | b'-' | b',') {
        return None;
    }
    let blank = usize::from(sign == b',' && at(text, pair + marked + 3) == b' ');
    let written = PairStyle { marked, sign, blank };
    let both = written.follows(text, pair) && written.stands(text, pair + written.length());
    (both && !is(before(text, pair), AN)).then_some(written)
}

impl PairStyle {
    const fn length(self) -> usize {
        self.marked + 3 + self.blank
    }

    /// Returns `true` if a pair is at an offset.
    fn stands(self, text: &[u8], pair: usize) -> bool {
        let mark = self.marked == 0 || at(text, pair) == b'0' && matches!(at(text, pair + 1), b'x' | b'X');
        let digits = pair + self.marked;
        mark && is(at(text, digits), HEX) && is(at(text, digits + 1), HEX) && !is(at(text, digits + 2), AN)
    }

    /// Returns `true` if a pair and the separator after it are at an offset.
    fn follows(self, text: &[u8], pair: usize) -> bool {
        let sign = pair + self.marked + 2;
        self.stands(text, pair)
            && at(text, sign) == self.sign
            && (self.blank == 0 || at(text, sign + 1) == b' ')
    }

    /// Returns the next pair: after the separator, a line end and blanks, or both.
    fn next(self, text: &[u8], pair: usize) -> Option<usize> {
        let end = pair + self.marked + 2;
        let signed = end + usize::from(at(text, end) == self.sign);
        let mut next = signed + if at(text, signed) == b' ' { self.blank } else { 0 };
        if is(at(text, next), LINE) {
            next = skip(text, past_line_end(text, next), BLANK, 40);
        } else if signed == end {
            return None;
        }
        self.stands(text, next).then_some(next)
    }
}

/// Scans one row. Returns where it ends.
fn row(text: &[u8], start: usize, written: PairStyle, wanted: &mut ViewResults, scan: &Scan<'_>) -> usize {
    let digits = |pair: usize| pair + written.marked..pair + written.marked + 2;
    let byte = |pair: usize| hex::decode_pair(part(text, digits(pair))).unwrap_or(0);
    let pairs = || core::iter::successors(Some(start), |pair| written.next(text, *pair));
    let mut head = Zeroizing::new([0; 24]);
    let mut count = 0;
    let mut last = start;
    for pair in pairs() {
        if let Some(slot) = head.get_mut(count) {
            *slot = byte(pair);
        }
        count += 1;
        last = pair;
    }
    let source: Range<usize> = start..digits(last).end;
    if count < LEAST || !is_telling(part(head.as_slice(), 0..count)) {
        return source.end;
    }
    let mut view = View::new(Layer::Hex, count);
    for pair in pairs() {
        view.atom(pair..digits(pair).end, &[byte(pair)]);
    }
    view.whole(source.clone());
    scan.view(&view, wanted);
    source.end
}
