//! The literals of all patterns of a set in one automaton, and the ranges around them in which matches can start.

use core::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{Pattern, RawMatch, literal, parse};

/// The most sets of literals per pattern that are searched for. A match is possible only near literals of all of them.
const SETS: usize = 2;
/// A set that is expected more often than this in 2^40 bytes is not searched for: too many candidates would be false.
const COMMON: u64 = 1 << 32;
/// Up to this many literals, a table of all transitions is small enough.
const FEW: usize = 512;
/// Ranges at most this far apart are merged, which bounds their number.
const GAP: u32 = 32;

/// Finds where matches of a set of patterns can start.
#[derive(Debug)]
pub(super) struct Filter {
    /// `None` if no pattern has a literal.
    automaton: Option<AhoCorasick>,
    /// The sets that contain each literal. Set `n` belongs to pattern `n / SETS`.
    users: Vec<Vec<u16>>,
    /// The fewest and most bytes of a match before a literal of each set; `None` for a set that is not searched for.
    before: Vec<Option<(usize, usize)>>,
}

/// Positions where matches can start, by one set of literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Starts {
    set: u16,
    first: u32,
    last: u32,
}

impl Filter {
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        let mut wanted: Vec<(Vec<u8>, u16)> = Vec::new();
        let mut before = Vec::new();
        for pattern in patterns {
            // A pattern that does not parse is searched for everywhere, and fails there.
            let mut sets = parse(&pattern.source).map(|hir| literal::required(&hir)).unwrap_or_default();
            sets.retain(|set| set.expected() <= COMMON);
            let mut sets = sets.into_iter();
            for _ in 0..SETS {
                let (number, set) = (small(before.len()), sets.next());
                before.push(set.as_ref().map(|set| set.before));
                wanted.extend(set.into_iter().flat_map(|set| set.texts).map(|text| (text, number)));
            }
        }
        wanted.sort_unstable();
        let (mut texts, mut users) = (Vec::new(), Vec::new());
        for same in wanted.chunk_by(|a, b| a.0 == b.0) {
            texts.extend(same.first().map(|(text, _)| text));
            users.push(same.iter().map(|(_, set)| *set).collect());
        }
        let kind = if texts.len() <= FEW { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
        let automaton = (!texts.is_empty()).then(|| {
            let mut builder = AhoCorasick::builder();
            builder.ascii_case_insensitive(true).match_kind(MatchKind::Standard).kind(Some(kind));
            builder.build(texts).expect("the loader bounds the number and the length of literals")
        });
        Self { automaton, users, before }
    }

    /// Adds all matches of the patterns that look at one of the languages.
    pub(super) fn find(&self, patterns: &[Pattern], hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        let starts = self.starts(patterns, hay, langs);
        for of_one in starts.chunk_by(|a, b| pattern_of(a.set) == pattern_of(b.set)) {
            let ranges = self.ranges(of_one, hay.len());
            let index = of_one.first().map_or(0, |starts| pattern_of(starts.set));
            let Some(pattern) = patterns.get(index).filter(|_| !ranges.is_empty()) else { continue };
            let mut found = |start, end| out.push(RawMatch { pattern: small(index), start, end });
            pattern.lazy().find(hay, &ranges, &mut found);
        }
    }

    /// Returns where matches can start, in order. Too many ranges become one range over everything.
    fn starts(&self, patterns: &[Pattern], hay: &[u8], langs: u8) -> Vec<Starts> {
        let looks = |set: u16| patterns.get(pattern_of(set)).is_some_and(|known| known.langs & langs != 0);
        let sets = || (0_u16..).zip(&self.before).filter(|(set, _)| looks(*set));
        let whole = |(set, _)| Starts { set, first: 0, last: u32::MAX };
        let everywhere =
            |(set, before): &(u16, &Option<_>)| before.is_none() && usize::from(*set) % SETS == 0;
        let mut all: Vec<Starts> = sets().filter(everywhere).map(whole).collect();
        let most = (hay.len() / 2).saturating_add(1 << 12);
        // The index of the last range of each set.
        let mut last_of = vec![usize::MAX; self.before.len()];
        let found = self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(hay));
        for found in found {
            let users = self.users.get(found.pattern().as_usize()).into_iter().flatten();
            for &set in users.filter(|set| looks(**set)) {
                let before = self.before.get(usize::from(set)).copied().flatten().unwrap_or_default();
                let Some(last) = found.start().checked_sub(before.0).map(offset) else { continue };
                let first = offset(found.start().saturating_sub(before.1));
                let Some(at) = last_of.get_mut(usize::from(set)) else { continue };
                if let Some(range) = all.get_mut(*at).filter(|range| range.is_near(first, last)) {
                    range.first = range.first.min(first);
                    range.last = range.last.max(last);
                } else {
                    *at = all.len();
                    all.push(Starts { set, first, last });
                }
            }
            if all.len() > most {
                return sets().map(whole).collect();
            }
        }
        all.sort_unstable();
        all
    }

    /// Returns the ranges of one pattern that have literals of all its sets, in rising order.
    fn ranges(&self, starts: &[Starts], len: usize) -> Vec<Range<usize>> {
        let range = |first: u32, last: u32| first as usize..(last as usize).saturating_add(1).min(len);
        let first_set = |starts: &Starts| usize::from(starts.set) % SETS == 0;
        let (mut one, mut other) = starts.split_at(starts.partition_point(first_set));
        let Some(Starts { set, .. }) = one.first() else { return Vec::new() };
        if self.before.get(usize::from(*set).saturating_add(1)).is_some_and(Option::is_none) {
            return one.iter().map(|starts| range(starts.first, starts.last)).collect();
        }
        let mut ranges = Vec::new();
        while let (Some((a, rest)), Some((b, others))) = (one.split_first(), other.split_first()) {
            let (first, last) = (a.first.max(b.first), a.last.min(b.last));
            if first <= last {
                ranges.push(range(first, last));
            }
            if a.last < b.last { one = rest } else { other = others }
        }
        ranges
    }
}

impl Starts {
    const fn is_near(&self, first: u32, last: u32) -> bool {
        first <= self.last.saturating_add(GAP) && self.first <= last.saturating_add(GAP)
    }
}

fn pattern_of(set: u16) -> usize {
    usize::from(set) / SETS
}

fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

fn offset(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
