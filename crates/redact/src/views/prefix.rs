//! Lines that share a prefix: line numbers, diff signs, comment marks, container names, timestamps.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    BLANK, LINE, TOKEN, at, before, is, line_end, line_start, part, past_line_end, run, run_back,
};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::rules::documents::pem::past_prefix;
use crate::views::{View, ViewResults};

/// A line must end in a run of at least this many token bytes.
const TAIL: usize = 16;
/// The maximum length of a prefix.
const LONGEST: usize = 200;

/// Scans a view of each group of two or more lines that share a prefix and end in a token, and of each group
/// around the kind of a Kubernetes Secret.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    documents(text, wanted, scan);
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

/// Returns the length of the text before the token at the end of a line.
fn prefix_of(text: &[u8], line: usize, end: usize) -> Option<usize> {
    let stop = end - run_back(text, end, BLANK, 8);
    let tail = run_back(text, stop, TOKEN, 400);
    let prefix = (stop - tail).checked_sub(line)?;
    // A prefix ends in a blank or a sign, never inside a word.
    let ends = is(before(text, line + prefix), BLANK)
        || matches!(
            before(text, line + prefix),
            b'|' | b'>' | b'#' | b'*' | b';' | b':' | b'"' | b'(' | b'['
        );
    (tail >= TAIL && (1..=LONGEST).contains(&prefix) && ends).then_some(prefix)
}

fn group(
    text: &[u8],
    line: usize,
    end: usize,
    prefix: usize,
    wanted: &mut ViewResults,
    scan: &Scan<'_>,
) -> usize {
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

/// Visits the lines that share the prefix of a first one. Returns where the next line begins.
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

/// The number of lines, and of bytes, that are read around the kind of a document.
const LINES: usize = 400;
const REACH: usize = 16 * 1024;

/// Scans a view of the lines around each `kind: Secret` with a prefix other than blanks and a diff sign.
fn documents(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let mut done = 0;
    for place in memchr::memmem::find_iter(text, b"kind: Secret") {
        let line = line_start(text, place, LONGEST);
        let Some(shape) = shape_of(part(text, line..place)).filter(|_| place >= done) else { continue };
        let body = |line: usize| body_of(text, line, shape);
        // First to the start of the group, then to its end.
        let mut lines = vec![line];
        let mut first = line;
        while first > 0 && lines.len() < LINES && line - first < REACH {
            let end = first - usize::from(first > 0);
            let end = end - usize::from(end > 0 && at(text, end) == b'\n' && before(text, end) == b'\r');
            let above = line_start(text, end, REACH);
            if body(above).is_none() || above >= first {
                break;
            }
            lines.push(above);
            first = above;
        }
        lines.reverse();
        let mut next = past_line_end(text, line_end(text, line, REACH));
        while next < text.len() && lines.len() < 2 * LINES && next - line < REACH {
            if body(next).is_none() {
                break;
            }
            lines.push(next);
            let end = line_end(text, next, REACH);
            next = past_line_end(text, end).max(end + 1);
        }
        done = next;
        document(text, &lines, shape, wanted, scan);
    }
}

/// Scans the lines of a document without the prefix and the indentation that all of them share.
fn document(text: &[u8], lines: &[usize], shape: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let bodies = || lines.iter().filter_map(|line| body_of(text, *line, shape));
    let blanks = |body: usize| run(text, body, BLANK, 80);
    let filled = bodies().filter(|body| !is(at(text, body + blanks(*body)), LINE));
    let shared = filled.map(blanks).min().unwrap_or(0);
    let mut view = View::new(Layer::Prefix, 1024);
    for body in bodies() {
        let end = line_end(text, body, REACH);
        view.copy(text, body + shared.min(blanks(body))..past_line_end(text, end));
    }
    scan.view(&view, wanted);
}

/// Returns a prefix without the blanks at its end, unless it is only blanks and a diff sign.
fn shape_of(prefix: &[u8]) -> Option<&[u8]> {
    let shape = part(prefix, 0..prefix.len() - run_back(prefix, prefix.len(), BLANK, prefix.len()));
    let plain = shape.is_empty() || matches!(shape, b"+" | b"-") || shape.contains(&b'"');
    (!plain && prefix.len() > shape.len() && prefix.len() < LONGEST).then_some(shape)
}

/// Returns where a line continues after the prefix.
fn body_of(text: &[u8], line: usize, shape: &[u8]) -> Option<usize> {
    let body = past_prefix(text, line, shape);
    (body > line && (is(at(text, body), BLANK | LINE) || body >= text.len())).then_some(body)
}

/// Returns where the first prefixed `data:` begins whose kind may follow after the text.
pub(crate) fn document_open(text: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(text, b"ata:").find_map(|found| {
        let key = found - run_back(text, found, crate::bytes::ALPHA, 10);
        let line = line_start(text, key, LONGEST);
        let named = matches!(part(text, key..found + 4), b"data:" | b"stringData:");
        let bare = is(at(text, found + 4), LINE) || found + 4 >= text.len();
        if !named || !bare || text.len() - key > 2 * REACH {
            return None;
        }
        let shape = shape_of(part(text, line..key))?;
        let mut next = past_line_end(text, line_end(text, key, REACH));
        while next < text.len() {
            body_of(text, next, shape)?;
            let end = line_end(text, next, REACH);
            next = past_line_end(text, end).max(end + 1);
        }
        Some(line)
    })
}

/// Returns where the group at the end of the text begins, if one of its lines can continue.
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
