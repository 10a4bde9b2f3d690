//! From places of literals to matches: windows of one pattern, merged, then searched once.

use memchr::memmem::Finder;
use regex_automata::Input;

use super::literal::overlapping;
use super::{Pattern, Places, RawMatch, near};

/// Where matches of one pattern may start, in rising order and never touching.
#[derive(Debug, Default)]
struct Starts {
    ranges: Vec<(usize, usize)>,
    sorted: Order,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Order {
    #[default]
    Rising,
    Mixed,
}

/// Collects candidates of all patterns over one haystack.
#[derive(Debug)]
pub(super) struct Windows {
    starts: Vec<Starts>,
    pub(super) places: Places,
}

impl Windows {
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        Self { starts: patterns.iter().map(|_| Starts::default()).collect(), places: Places::default() }
    }

    /// Notes a literal at a place. `before` is how many bytes of the match may stand in front of it.
    #[inline]
    pub(super) fn note(&mut self, pattern: u16, max: usize, at: usize, before: (usize, usize)) {
        if let Some(starts) = self.starts.get_mut(usize::from(pattern)) {
            starts.note(max, at, before);
        }
    }

    /// Searches each window of a pattern that looks at one of the languages once, with the haystack around it as context.
    pub(super) fn verify(mut self, patterns: &[Pattern], hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        for ((starts, pattern), index) in self.starts.iter_mut().zip(patterns).zip(0_u16..) {
            if starts.ranges.is_empty() || pattern.langs & langs == 0 {
                continue;
            }
            search(pattern, index, starts.sorted(), hay, out);
        }
    }
}

/// Searches for a pattern whose literals have one head in the windows around them.
pub(super) fn search_headed(pattern: &Pattern, index: u16, head: &[u8], hay: &[u8], out: &mut Vec<RawMatch>) {
    let mut starts = Starts::default();
    for at in overlapping(&Finder::new(head), hay) {
        let rest = hay.get(at..).unwrap_or_default();
        let stands = pattern.shape.literals.iter().filter(|literal| rest.starts_with(&literal.bytes));
        stands.for_each(|literal| starts.note(pattern.shape.max, at, literal.before));
    }
    search(pattern, index, starts.sorted(), hay, out);
}

/// Searches for a pattern where its matches may start, with the haystack around as context.
fn search(pattern: &Pattern, index: u16, mut starts: near::Starts, hay: &[u8], out: &mut Vec<RawMatch>) {
    if starts.is_empty() {
        return;
    }
    for near in pattern.near() {
        near.narrow(hay, &mut starts);
    }
    // Nothing is read twice, however close the literals stand.
    near::merge(&mut starts, pattern.shape.max);
    let mut from = 0_usize;
    for (first, last) in starts {
        let end = last.saturating_add(pattern.shape.max).min(hay.len());
        from = from.max(first);
        while from <= last {
            let input = Input::new(hay).span(from..end);
            let Some(found) = pattern.regex().search(&input) else { break };
            // What starts later belongs to a later window, where its end is not cut off.
            if found.start() > last {
                break;
            }
            out.push(RawMatch { pattern: index, start: found.start(), end: found.end() });
            from = found.end();
        }
    }
}

impl Starts {
    #[inline]
    fn note(&mut self, max: usize, at: usize, before: (usize, usize)) {
        let Some(last) = at.checked_sub(before.0) else { return };
        let first = at.saturating_sub(before.1);
        if let Some(range) = self.ranges.last_mut() {
            if first >= range.0 && first <= range.1.saturating_add(max) {
                range.1 = range.1.max(last);
                return;
            }
            if first < range.0 {
                self.sorted = Order::Mixed;
            }
        }
        self.ranges.push((first, last));
    }

    /// Takes the ranges in rising order.
    fn sorted(&mut self) -> near::Starts {
        let mut ranges = core::mem::take(&mut self.ranges);
        if self.sorted == Order::Mixed {
            ranges.sort_unstable();
        }
        ranges
    }
}
