//! Keys that a hard line wrap split.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;
use std::sync::LazyLock;

use crate::bytes::{
    AN, BLANK, Class, DIGIT, DOT, LINE, LOWER, TOKEN, U64, UPPER, at, before, is, line_start, part,
    past_line_end, run, run_back,
};
use crate::firewall::scan::{Depth, Scan};
use crate::redacted::finding::Layer;
use crate::rules::prefixed::special::changes;
use crate::rules::set::literals;
use crate::views::{View, ViewResults};

/// A run is read this far on either side of a wrap.
const REACH: usize = 512;
/// The maximum number of joined lines.
const LINES: usize = 64;

/// Scans a view around each wrap inside a run that may contain the beginning of a key.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
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
        // A key that is complete before the line end continues only in text that looks random.
        let whole = wanted.ends(end) && !looks_cut(part(text, head.clone()));
        if own || whole || !may_begin(part(text, end - tail..end)) {
            continue;
        }
        let start = lead(text, end - tail);
        let mut view = View::new(Layer::Join, end - start + head.len());
        view.depth = Depth::PrefixedOnly;
        view.copy(text, start..end);
        let width = end - line_start(text, end, 4096);
        place = append(text, head, width, wanted, &mut view).max(next);
        scan.view(&view, wanted);
    }
}

/// Returns where a key begins whose prefix ends in a sign before the run: the number of a Telegram bot and
/// `:`, or the mark of an Azure client secret. Returns the start of the run if there is no prefix.
fn lead(text: &[u8], start: usize) -> usize {
    let digits = run_back(text, start.saturating_sub(1), DIGIT, 11);
    let number = before(text, start) == b':' && (8..=10).contains(&digits);
    let azure = before(text, start) == b'~' && before(text, start - 1) == b'Q';
    if number {
        start - 1 - digits
    } else if azure {
        start - 2 - run_back(text, start - 2, TOKEN, 4)
    } else {
        start
    }
}

/// Returns the run at the start of a line, after its indentation.
fn head(text: &[u8], line: usize) -> Range<usize> {
    let start = line + run(text, line, BLANK, 64);
    start..start + run(text, start, TOKEN, REACH)
}

/// Returns `true` if a run looks like the rest of a random value: long, with digits and letters mixed.
fn looks_cut(run: &[u8]) -> bool {
    run.len() >= 8 && run.iter().any(|byte| is(*byte, DIGIT)) && changes(run) * 4 >= run.len()
}

/// Appends the run at the start of a line, and those of the next lines while each is as wide as the first.
fn append(
    text: &[u8],
    mut head_at: Range<usize>,
    width: usize,
    wanted: &ViewResults,
    view: &mut View,
) -> usize {
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

/// Returns `true` if a key can begin in a run and continue after it.
///
/// That is a literal, or the part of one at the end of the run, at the edge of a word; or random letters and
/// digits.
pub(crate) fn may_begin(tail: &[u8]) -> bool {
    let literal = (0..tail.len()).any(|place| {
        let rest = part(tail, place..tail.len());
        // A single digit at the end of a line does not begin a key.
        if rest.len() == 1 && is(at(rest, 0), DIGIT) {
            return false;
        }
        HEADS.of(at(tail, place)).iter().any(|head| {
            let length = rest.len().min(head.len());
            part(rest, 0..length) == part(head, 0..length)
        }) && !is(before(tail, place), AN)
    });
    // The marks of an Azure client secret and of an Airtable token. Their starts are not in the list of literals.
    let marked = tail.windows(3).any(|three| is(at(three, 0), DIGIT) && three.ends_with(b"Q~"))
        || tail
            .windows(18)
            .any(|head| head.starts_with(b"pat") && head.ends_with(b".") && run(head, 3, AN, 14) == 14);
    let random = part(tail, tail.len() - run_back(tail, tail.len(), U64 | DOT, REACH)..tail.len());
    literal || marked || (looks_cut(random) && has_class(random, LOWER) && has_class(random, UPPER))
}

fn has_class(run: &[u8], class: Class) -> bool {
    run.iter().any(|byte| is(*byte, class))
}

/// How much of a literal is compared.
const HEAD: usize = 5;

/// The prefixes of the literals of keys, by first byte.
struct Heads(Vec<Vec<&'static [u8]>>);

static HEADS: LazyLock<Heads> = LazyLock::new(|| {
    let mut heads = Heads(vec![Vec::new(); 256]);
    for literal in literals().chain(["eyJ"]) {
        let head = part(literal.as_bytes(), 0..HEAD);
        if let Some(list) = heads.0.get_mut(usize::from(at(head, 0)))
            && !list.contains(&head)
        {
            list.push(head);
        }
    }
    heads
});

impl Heads {
    fn of(&self, byte: u8) -> &[&'static [u8]] {
        self.0.get(usize::from(byte)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns where the lines at the end of the text begin that may continue as a wrapped value.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let mut top = None;
    let mut end = text.len();
    while end > 0 {
        let stop = end - run_back(text, end, LINE, 2);
        let line = line_start(text, stop, text.len());
        let tail = run_back(text, stop, TOKEN, stop - line);
        if stop == end || tail == 0 {
            break;
        }
        if begins(text, stop - tail..stop) {
            top = Some(line);
        }
        let indent = run(text, line, BLANK, 64);
        if line + indent + tail != stop {
            break;
        }
        end = line;
    }
    top
}

/// Returns `true` if the run at the end of a line can be the beginning of a wrapped value.
pub(crate) fn begins(text: &[u8], tail: Range<usize>) -> bool {
    let near = tail.start.max(tail.end.saturating_sub(REACH));
    may_begin(part(text, near..tail.end)) || crate::views::runs::goes_on(text, tail)
}
