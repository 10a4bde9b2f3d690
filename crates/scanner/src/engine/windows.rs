//! From places of literals to matches: windows of one pattern, merged, then searched once.

use memchr::memmem::Finder;

use super::literal::overlapping;
use super::near::{self, Range};
use super::{Lines, Pattern, Places, RawMatch};

/// Where matches of one pattern may start, in rising order and never touching.
#[derive(Debug, Default)]
struct Starts {
    ranges: Vec<Range>,
    sorted: Order,
    /// Bytes that hold no line feed, as far as was looked.
    clear: (usize, usize),
}

/// What of a pattern says how far a match reaches around a literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// The longest match.
    max: usize,
    lines: Lines,
}

impl Reach {
    pub(super) const fn of(pattern: &Pattern) -> Self {
        Self { max: pattern.shape.max, lines: pattern.lines }
    }
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

    /// Notes a literal at a place of the haystack. `before` is how many bytes of the match may stand in front of it.
    #[inline]
    pub(super) fn note(&mut self, pattern: u16, reach: Reach, hay: &[u8], at: usize, before: (usize, usize)) {
        if let Some(starts) = self.starts.get_mut(usize::from(pattern)) {
            starts.note(reach, hay, at, before);
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
        stands.for_each(|literal| starts.note(Reach::of(pattern), hay, at, literal.before));
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
    let max = pattern.shape.max;
    near::merge(&mut starts, max);
    let mut from = 0_usize;
    for Range { first, last, end } in starts {
        let end = last.saturating_add(max).min(end);
        from = from.max(first);
        while from <= last {
            let Some((start, end)) = pattern.find_at(hay, from..=last, end) else { break };
            out.push(RawMatch { pattern: index, start, end });
            from = end;
        }
    }
}

impl Starts {
    #[inline]
    fn note(&mut self, reach: Reach, hay: &[u8], at: usize, before: (usize, usize)) {
        let Some(last) = at.checked_sub(before.0) else { return };
        let (mut first, mut end) =
            (at.saturating_sub(before.1), last.saturating_add(reach.max).min(hay.len()));
        if reach.lines == Lines::One {
            (first, end) = self.line(hay, at, (first, end));
        }
        if first > last {
            return;
        }
        if let Some(range) = self.ranges.last_mut() {
            if first >= range.first && range.overlaps(first) {
                range.last = range.last.max(last);
                range.end = range.end.max(end);
                return;
            }
            if first < range.first {
                self.sorted = Order::Mixed;
            }
        }
        self.ranges.push(Range { first, last, end });
    }

    /// Cuts a window to the line of a place, line feeds on both sides included. Each byte is looked at once, unless the places
    /// fall back.
    fn line(&mut self, hay: &[u8], at: usize, (first, end): (usize, usize)) -> (usize, usize) {
        if at < self.clear.0 || at > self.clear.1 {
            self.clear = (at, at);
        }
        if first < self.clear.0 {
            let back = memchr::memrchr(b'\n', hay.get(first..self.clear.0).unwrap_or_default());
            self.clear.0 = back.map_or(first, |back| first.saturating_add(back).saturating_add(1));
        }
        if end > self.clear.1 {
            let ahead = memchr::memchr(b'\n', hay.get(self.clear.1..end).unwrap_or_default());
            self.clear.1 = ahead.map_or(end, |ahead| self.clear.1.saturating_add(ahead));
        }
        // Beyond what is clear a line feed stands, or nothing was asked for.
        let (start, stop) = (self.clear.0.saturating_sub(1), self.clear.1.saturating_add(1));
        (first.max(start), end.min(stop))
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
