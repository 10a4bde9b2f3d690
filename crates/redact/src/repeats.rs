//! Values that were cut out: where they stand again later, they are cut out without the name that told of them.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};

use zeroize::Zeroizing;

use crate::bytes::{DIGIT, LINE, is, part};
use crate::found::{ChecksumCheck, Did, Via};
use crate::kind::rank;
use crate::rules::{Hit, Wide};

/// A shorter value stands in ordinary text too often.
const LEAST: usize = 12;
/// A longer one is a block with marks of its own.
pub(crate) const LONGEST: usize = 512;
/// So many values are kept, the latest.
const MOST: usize = 256;
/// Bits of the sieve.
const SIEVE: u32 = 16;
/// Every eighth place of a text is looked at: one of the first eight places of each value is among them.
const STRIDE: usize = 8;

/// The latest values of one text, in the order in which they stood there.
#[derive(Default)]
pub(crate) struct Repeats {
    values: VecDeque<(Zeroizing<Vec<u8>>, u16)>,
    /// The values by four bytes of them, with the offset of these.
    heads: BTreeMap<[u8; 4], Vec<(usize, usize)>>,
    /// One bit for the hash of each four bytes: most places of a text are passed by it alone.
    sieve: Vec<u64>,
}

impl Repeats {
    /// Keeps the value of a hit.
    pub(crate) fn add(&mut self, hit: &Hit, value: &[u8]) {
        let fits = (LEAST..=LONGEST).contains(&value.len())
            && hit.did == Did::Cut
            && hit.via.depth() == 0
            && ![rank("unscanned"), rank("k8s-secret")].contains(&hit.rank);
        let telling = || {
            value.iter().any(|byte| is(*byte, DIGIT))
                && !value.iter().any(|byte| is(*byte, LINE))
                && crate::proof::entropy(value) >= 3.0
        };
        if !fits || self.values.iter().any(|(own, _)| own.as_slice() == value) || !telling() {
            return;
        }
        if self.values.len() >= MOST {
            self.values.pop_front();
        }
        self.values.push_back((Zeroizing::new(value.to_vec()), hit.rank));
        self.index();
    }

    fn index(&mut self) {
        self.heads.clear();
        self.sieve = vec![0; 1 << (SIEVE - 6)];
        for (index, (value, _)) in self.values.iter().enumerate() {
            for (offset, four) in value.windows(4).take(STRIDE).enumerate() {
                let Some(four) = four.first_chunk::<4>() else { continue };
                self.heads.entry(*four).or_default().push((index, offset));
                let hash = hash(*four);
                if let Some(word) = self.sieve.get_mut(hash >> 6) {
                    *word |= 1 << (hash & 63);
                }
            }
        }
    }

    /// Finds the first place of a text from an offset on at which a value stands again.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<Hit> {
        if self.values.is_empty() {
            return None;
        }
        part(text, from..text.len()).chunks(STRIDE).enumerate().find_map(|(index, chunk)| {
            let four = *chunk.first_chunk::<4>()?;
            let hash = hash(four);
            let passes = self.sieve.get(hash >> 6).is_some_and(|word| (word >> (hash & 63)) & 1 == 1);
            if passes { self.at(four, text, from, from + index * STRIDE) } else { None }
        })
    }

    /// Gives the leftmost of the values around a place, the longest of those.
    fn at(&self, four: [u8; 4], text: &[u8], from: usize, place: usize) -> Option<Hit> {
        let found = self.heads.get(&four)?.iter().filter_map(|(index, offset)| {
            let (value, rank) = self.values.get(*index)?;
            let start = place.checked_sub(*offset).filter(|start| *start >= from)?;
            part(text, start..text.len()).starts_with(value).then_some((start, value.len(), *rank))
        });
        let (start, length, rank) =
            found.min_by_key(|(start, length, _)| (*start, core::cmp::Reverse(*length)))?;
        Some(hit(start..start + length, rank))
    }
}

fn hit(at: Range<usize>, rank: u16) -> Hit {
    Hit {
        at,
        rank,
        sum: ChecksumCheck::None,
        via: Via::default(),
        wide: Wide::Bytes,
        did: Did::Cut,
        known: false,
    }
}

fn hash(head: [u8; 4]) -> usize {
    let mixed = u32::from_le_bytes(head).wrapping_mul(0x9e37_79b1) >> (32 - SIEVE);
    usize::try_from(mixed).unwrap_or(0)
}

/// Adds to the hits of a whole text, in order, the places between them at which one of them stands again.
#[cfg(feature = "json")]
pub(crate) fn add(text: &[u8], groups: Vec<Hit>) -> Vec<Hit> {
    let mut repeats = Repeats::default();
    let mut all = Vec::with_capacity(groups.len());
    let mut from = 0;
    let between = |repeats: &Repeats, mut from: usize, until: usize, all: &mut Vec<Hit>| {
        while let Some(hit) = repeats.next(part(text, 0..until), from) {
            from = hit.at.end;
            all.push(hit);
        }
    };
    for group in groups {
        between(&repeats, from, group.at.start, &mut all);
        from = group.at.end.max(from);
        repeats.add(&group, part(text, group.at.clone()));
        all.push(group);
    }
    between(&repeats, from, text.len(), &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_values_are_found_again() {
        let mut repeats = Repeats::default();
        let value = |index: usize| format!("v{index:04}-qX9!vbnm12");
        for index in 0..300 {
            repeats.add(&hit(0..1, 5), value(index).as_bytes());
        }
        let text = format!("a {} b {} c", value(3), value(299));
        let found = repeats.next(text.as_bytes(), 0);
        assert_eq!(found.map(|hit| (hit.at, hit.rank)), Some((21..37, 5)), "the first 44 were dropped");
        assert_eq!(repeats.next(text.as_bytes(), 22), None);
    }

    #[test]
    fn short_dull_and_decoded_values_are_not_kept() {
        let mut repeats = Repeats::default();
        for value in ["short-1", "aaaaaaaaaaaa1", "no digit in this", "two\nlines 12345"] {
            repeats.add(&hit(0..1, 5), value.as_bytes());
            assert_eq!(repeats.next(value.as_bytes(), 0), None, "{value}");
        }
        let decoded = Hit { via: Via::default().laundered(), ..hit(0..1, 5) };
        repeats.add(&decoded, b"qX9!vbnm12-qX9!vbnm12");
        assert_eq!(repeats.next(b"qX9!vbnm12-qX9!vbnm12", 0), None);
    }
}
