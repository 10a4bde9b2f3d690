//! Lines that share a prefix: line numbers, diff signs, comment marks, container names, time stamps.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use super::{View, Wanted};
use crate::bytes::{BLANK, TOKEN, before, is, line_end, part, past_line_end, run_back};
use crate::found::Layer;
use crate::rules::pem::past_prefix;
use crate::scan::Scan;

/// A line ends in a run of at least this many token bytes.
const TAIL: usize = 16;
/// A prefix has at most this many bytes.
const LONGEST: usize = 200;

/// A view of each group of two lines or more that share a prefix and end in a token.
pub(crate) fn views(text: &[u8], wanted: &mut Wanted, scan: &Scan<'_>) {
    let mut line = 0;
    while line < text.len() {
        let end = line_end(text, line, text.len());
        let next = past_line_end(text, end).max(end + 1);
        line = match prefix_of(text, line, end) {
            Some(prefix) => group(text, line, end, prefix, wanted, scan).max(next),
            None => next,
        };
    }
}

/// Gives the length of what stands before the token at the end of a line.
fn prefix_of(text: &[u8], line: usize, end: usize) -> Option<usize> {
    let stop = end - run_back(text, end, BLANK, 8);
    let tail = run_back(text, stop, TOKEN, 400);
    let prefix = (stop - tail).checked_sub(line)?;
    // A prefix ends in a blank or a sign; inside a word there is none.
    let ends = is(before(text, line + prefix), BLANK)
        || matches!(
            before(text, line + prefix),
            b'|' | b'>' | b'#' | b'*' | b';' | b':' | b'"' | b'(' | b'['
        );
    (tail >= TAIL && (1..=LONGEST).contains(&prefix) && ends).then_some(prefix)
}

fn group(text: &[u8], line: usize, end: usize, prefix: usize, wanted: &mut Wanted, scan: &Scan<'_>) -> usize {
    let mut view = View::new(Layer::Prefix, 256);
    view.copy(text, line + prefix..end);
    let mut last = end;
    let mut rows = 1;
    let place = walk(text, line, end, prefix, |place, body| {
        view.copy(text, last..place);
        view.copy(text, body.clone());
        rows += 1;
        last = body.end;
    });
    if rows >= 2 {
        scan.view(&view, wanted);
    }
    place
}

/// Goes over the lines that belong to a first one; gives where the next line begins.
fn walk(
    text: &[u8],
    line: usize,
    end: usize,
    prefix: usize,
    mut row: impl FnMut(usize, Range<usize>),
) -> usize {
    let shape = part(text, line..line + prefix);
    let mut place = past_line_end(text, end);
    let mut rows = 1;
    while place < text.len() && rows < 4096 {
        let stop = line_end(text, place, 4096);
        let start = past_prefix(text, place, shape);
        let body = part(text, start..stop);
        if start == place || body.is_empty() || !body.trim_ascii_end().iter().all(|byte| is(*byte, TOKEN)) {
            break;
        }
        row(place, start..stop);
        rows += 1;
        let next = past_line_end(text, stop);
        if next == stop {
            return stop;
        }
        place = next;
    }
    place
}

/// Gives where the group begins that the text ends in, if one of its rows may be the beginning of more.
pub(crate) fn open(text: &[u8], begins: impl Fn(Range<usize>) -> bool) -> Option<usize> {
    let mut line = 0;
    while line < text.len() {
        let end = line_end(text, line, text.len());
        let next = past_line_end(text, end).max(end + 1);
        let Some(prefix) = prefix_of(text, line, end) else {
            line = next;
            continue;
        };
        let mut any = begins(line + prefix..end);
        let after = walk(text, line, end, prefix, |_, body| any |= begins(body)).max(next);
        if after >= text.len() {
            return any.then_some(line);
        }
        line = after;
    }
    None
}
