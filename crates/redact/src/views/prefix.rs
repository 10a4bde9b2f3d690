//! Lines that share a prefix: line numbers, diff signs, comment marks, container names, time stamps.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

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
    let shape = part(text, line..line + prefix);
    let mut view = View::new(Layer::Prefix, 256);
    view.copy(text, line + prefix..end);
    let mut place = past_line_end(text, end);
    let mut last = end;
    let mut rows = 1;
    while place < text.len() && rows < 4096 {
        let stop = line_end(text, place, 4096);
        let start = past_prefix(text, place, shape);
        let body = part(text, start..stop);
        if start == place || body.is_empty() || !body.trim_ascii_end().iter().all(|byte| is(*byte, TOKEN)) {
            break;
        }
        view.copy(text, last..place);
        view.copy(text, start..stop);
        rows += 1;
        last = stop;
        let next = past_line_end(text, stop);
        if next == stop {
            place = stop;
            break;
        }
        place = next;
    }
    if rows >= 2 {
        scan.view(&view, wanted);
    }
    place
}
