//! String literals that are adjacent, or joined by an operator.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use crate::bytes::{AN, BLANK, DIGIT, LINE, TOKEN, at, before, is, line_start, part, run_back, skip};
use crate::firewall::scan::{Depth, Scan};
use crate::redacted::finding::Layer;
use crate::views::join::may_begin;
use crate::views::{View, ViewResults};

/// The maximum length of a literal.
const REACH: usize = 1024;
/// The maximum number of joined literals.
const LITERALS: usize = 64;

/// Scans a view of each row of literals.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let mut place = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\'', part(text, place..text.len())) {
        let close = place + found;
        place = close + 1;
        if !is(before(text, close), TOKEN) {
            continue;
        }
        let Some(open) = next_literal(text, close) else { continue };
        let start = literal_start(text, close);
        // What `open` does not hold back must not be read together with later literals.
        if !begins(part(text, start..close)) {
            continue;
        }
        let mut view = View::new(Layer::Concat, 256);
        view.depth = Depth::PrefixedOnly;
        view.copy(text, start..close);
        place = literals(text, open, &mut view);
        scan.view(&view, wanted);
    }
}

/// Returns where the row of literals at the end of the text begins, if a key can begin in one of them.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let mut top = None;
    let mut end = text.len();
    for _ in 0..LITERALS {
        let stop = end - run_back(text, end, LINE | BLANK, 200);
        let sign = part(text, stop.saturating_sub(2)..stop).iter().rev().take_while(|b| joins(**b)).count();
        let close = stop - sign - run_back(text, stop - sign, BLANK, 200);
        let Some(quote) = close.checked_sub(1).filter(|place| matches!(at(text, *place), b'"' | b'\''))
        else {
            break;
        };
        let start = literal_start(text, quote);
        if begins(part(text, start..quote)) {
            top = Some(line_start(text, start, REACH));
        }
        // A literal at the start of its line can continue the previous line.
        let open = start.saturating_sub(1);
        let mark = usize::from(matches!(before(text, open), b'b' | b'f' | b'r' | b'u' | b'@'));
        let head = open - mark - run_back(text, open - mark, BLANK, 200);
        let sign = part(text, head.saturating_sub(2)..head).iter().rev().take_while(|b| joins(**b)).count();
        end = head - sign - run_back(text, head - sign, BLANK, 200);
        if end == 0 || !is(before(text, end), LINE) {
            break;
        }
    }
    top
}

/// Returns `true` if a key can begin in a literal and continue in the next.
///
/// This includes the number and the `:AA` of Telegram, which are not a run.
fn begins(literal: &[u8]) -> bool {
    let number = run_back(literal, literal.len(), DIGIT, 11) >= 8;
    number || memchr::memmem::find(literal, b":AA").is_some() || may_begin(literal)
}

/// Returns `true` for bytes of operators that join literals.
const fn joins(byte: u8) -> bool {
    matches!(byte, b'+' | b'.' | b'&' | b'~' | b'<' | b'|')
}

/// Returns the start of the literal that ends at a quote.
fn literal_start(text: &[u8], close: usize) -> usize {
    let quote = at(text, close);
    let floor = close.saturating_sub(REACH);
    let inside =
        part(text, floor..close).iter().rev().take_while(|byte| **byte != quote && !is(**byte, LINE)).count();
    close - inside
}

/// Appends the literals that follow each other. Returns the offset after the last.
fn literals(text: &[u8], first: usize, view: &mut View) -> usize {
    let mut open = first;
    for _ in 0..LITERALS {
        let quote = at(text, open);
        let inside = part(text, open + 1..open + REACH)
            .iter()
            .take_while(|byte| **byte != quote && !is(**byte, LINE))
            .count();
        let close = open + 1 + inside;
        view.copy(text, open + 1..close);
        if at(text, close) != quote {
            return close;
        }
        match next_literal(text, close) {
            Some(next) => open = next,
            None => return close + 1,
        }
    }
    open
}

/// Returns the opening quote of the next literal, if only an operator, blanks and line ends are between.
fn next_literal(text: &[u8], close: usize) -> Option<usize> {
    let mut place = skip(text, close + 1, BLANK | LINE, 200);
    if at(text, place) == b'\\' && is(at(text, place + 1), LINE) {
        place = skip(text, place + 1, BLANK | LINE, 200);
    }
    let sign = match (at(text, place), at(text, place + 1)) {
        (b'.', b'.') | (b'<', b'<') | (b'|', b'|') | (b'+', b'+') => 2,
        (b'+' | b'.' | b'&' | b'~', _) => 1,
        _ => 0,
    };
    place = skip(text, place + sign, BLANK | LINE, 200);
    // `b"…"`, `f"…"`, `r"…"`.
    if matches!(at(text, place), b'b' | b'f' | b'r' | b'u' | b'@')
        && matches!(at(text, place + 1), b'"' | b'\'')
    {
        place += 1;
    }
    let quote = at(text, place);
    let joined = matches!(quote, b'"' | b'\'') && place > close + 1 && is(at(text, place + 1), TOKEN);
    // `"a""b"` is one literal in some languages and two in others; both are read as one text.
    let touching = place == close + 1 && quote == at(text, close) && is(at(text, place + 1), AN);
    (joined || touching).then_some(place)
}
