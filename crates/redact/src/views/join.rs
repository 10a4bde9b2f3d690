//! Keys that a hard line wrap cut in two.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use super::{View, Wanted};
use crate::bytes::{
    AN, BLANK, DIGIT, LINE, TOKEN, at, before, is, line_start, part, past_line_end, run, run_back,
};
use crate::found::Layer;
use crate::rules::special::changes;
use crate::scan::Scan;

/// A run is read so far on either side of a wrap.
const REACH: usize = 512;
/// So many lines are joined.
const LINES: usize = 64;

/// A view around each wrap inside a run that may hold the beginning of a key.
pub(crate) fn views(text: &[u8], wanted: &mut Wanted, scan: &Scan<'_>) {
    let mut place = 0;
    while let Some(found) = memchr::memchr2(b'\n', b'\r', part(text, place..text.len())) {
        let end = place + found;
        let next = past_line_end(text, end);
        place = next;
        let tail = run_back(text, end, TOKEN, REACH);
        if tail == 0 {
            continue;
        }
        let head = head(text, next);
        let own = head.is_empty() || wanted.begins(head.start) || tail + head.len() < 16;
        // A key that is whole before the line end goes on only in what looks like the rest of one.
        let whole = wanted.ends(end) && !looks_cut(part(text, head.clone()));
        if own || whole || !may_begin(part(text, end - tail..end)) {
            continue;
        }
        let mut view = View::new(Layer::Join, tail + head.len());
        view.prefixed_only = true;
        view.copy(text, end - tail..end);
        let width = end - line_start(text, end, 4096);
        place = append(text, head, width, wanted, &mut view).max(next);
        scan.view(&view, wanted);
    }
}

/// Gives the run at the head of a line, behind its indent.
fn head(text: &[u8], line: usize) -> Range<usize> {
    let start = line + run(text, line, BLANK, 64);
    start..start + run(text, start, TOKEN, REACH)
}

/// Tells whether a run looks like the rest of a random value: long, with digits and letters mixed.
fn looks_cut(run: &[u8]) -> bool {
    run.len() >= 8 && run.iter().any(|byte| is(*byte, DIGIT)) && changes(run) * 4 >= run.len()
}

/// Appends the run at the head of a line, and those of the next lines as long as each line is as wide as the first.
fn append(text: &[u8], mut head_at: Range<usize>, width: usize, wanted: &Wanted, view: &mut View) -> usize {
    for _ in 0..LINES {
        view.copy(text, head_at.clone());
        let next = past_line_end(text, head_at.end);
        let more = head(text, next);
        let wide = head_at.end - line_start(text, head_at.end, 4096) >= width;
        let rest = looks_cut(part(text, more.clone())) || more.len() + 8 >= width;
        if next == head_at.end || !rest || !wide || wanted.begins(more.start) {
            break;
        }
        head_at = more;
    }
    head_at.start
}

/// Tells whether a key may begin in a run, or go through it: two first bytes of a literal at the edge of a word.
fn may_begin(tail: &[u8]) -> bool {
    tail.iter().enumerate().any(|(place, byte)| {
        // Most bytes begin no literal.
        if !is_first(*byte) {
            return false;
        }
        let edge = !is(before(tail, place), AN);
        edge && FIRST
            .iter()
            .any(|two| at(two, 0) == *byte && (place + 1 == tail.len() || at(two, 1) == at(tail, place + 1)))
    }) && !tail.iter().all(|byte| is(*byte, LINE))
}

const fn is_first(byte: u8) -> bool {
    matches!(
        byte,
        b'A' | b'C' | b'E' | b'G' | b'H' | b'I' | b'L' | b'N' | b'P' | b'S' | b'a'..=b'i' | b'l'..=b'p' | b'r'..=b'y'
    )
}

/// The first two bytes of the literals of keys.
const FIRST: &[&[u8]] = &[
    b"AK", b"AS", b"AB", b"AC", b"A3", b"gh", b"gi", b"gl", b"xo", b"xa", b"sk", b"rk", b"wh", b"pp", b"gs",
    b"cs", b"nv", b"r8", b"hf", b"ap", b"ls", b"wa", b"AI", b"ya", b"GO", b"np", b"py", b"ci", b"ru", b"CL",
    b"oy", b"dc", b"cm", b"do", b"da", b"LT", b"pu", b"hv", b"fm", b"fo", b"HR", b"rn", b"vc", b"na", b"sb",
    b"ps", b"dp", b"ts", b"SW", b"sh", b"SG", b"li", b"NR", b"ey", b"PM", b"fi", b"sn", b"dt", b"EZ", b"nt",
    b"rd", b"sq", b"ml", b"ph", b"pn", b"po", b"xk", b"sg", b"bk", b"CC", b"AT", b"op", b"ic", b"AP", b"AG",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_look_lets_every_first_byte_through() {
        assert!(FIRST.iter().all(|two| is_first(at(two, 0))));
    }
}
