//! From places of literals to matches: windows of one pattern, merged, then searched once.

use regex_automata::Input;

use super::{Pattern, Places, RawMatch};

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
        let Some(last) = at.checked_sub(before.0) else { return };
        let first = at.saturating_sub(before.1);
        let Some(starts) = self.starts.get_mut(usize::from(pattern)) else { return };
        if let Some(range) = starts.ranges.last_mut() {
            if first >= range.0 && first <= range.1.saturating_add(max) {
                range.1 = range.1.max(last);
                return;
            }
            if first < range.0 {
                starts.sorted = Order::Mixed;
            }
        }
        starts.ranges.push((first, last));
    }

    /// Searches each window of a pattern that looks at one of the languages once, with the haystack around it as context.
    pub(super) fn verify(mut self, patterns: &[Pattern], hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        for ((starts, pattern), index) in self.starts.iter_mut().zip(patterns).zip(0_u16..) {
            if starts.ranges.is_empty() || pattern.langs & langs == 0 {
                continue;
            }
            let ranges = starts.merged(pattern.shape.max);
            let mut from = 0_usize;
            for (first, last) in ranges {
                let end = last.saturating_add(pattern.shape.max).min(hay.len());
                from = from.max(first);
                let span = Input::new(hay).span(from..end);
                if !pattern.parts().iter().all(|part| part.is_match(span.clone())) {
                    continue;
                }
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
    }
}

impl Starts {
    fn merged(&mut self, max: usize) -> Vec<(usize, usize)> {
        let mut ranges = core::mem::take(&mut self.ranges);
        if self.sorted == Order::Rising {
            return ranges;
        }
        ranges.sort_unstable();
        let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(range) if first <= range.1.saturating_add(max) => range.1 = range.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        merged
    }
}
