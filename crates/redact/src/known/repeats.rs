//! Values that were removed before. If one occurs again, it is removed even without the name that identified
//! it.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use zeroize::{Zeroize as _, Zeroizing};

use crate::bytes::{DIGIT, LINE, is, part};
use crate::redacted::finding::{ChecksumCheck, LayerStack, RedactAction};
use crate::redacted::kind::rank;
use crate::rules::{MarkerEncoding, Match};

/// Shorter values occur in ordinary text too often.
const LEAST: usize = 12;
/// A longer value is a block that its own rule finds again.
pub(crate) const LONGEST: usize = 512;
/// The number of values that are stored, the latest ones.
const MOST: usize = 256;
/// Every eighth offset of a text is examined. One of the first eight offsets of each value is among them.
const STRIDE: usize = 8;
/// Bits of a hash for the sieve, and for the chains.
const SIEVE: u32 = 16;
const CHAINS: u32 = 12;
/// Ends a chain.
const NONE: u16 = u16::MAX;

/// The latest values of one text, in a ring buffer.
#[derive(Default)]
pub(crate) struct Repeats {
    values: Vec<(Zeroizing<Vec<u8>>, u16)>,
    /// The slot of the oldest value, once all slots are used.
    oldest: usize,
    index: Index,
}

/// The four bytes at each of the first offsets of each value, by hash. An entry is eight times the slot plus
/// the offset.
#[derive(Default)]
struct Index {
    heads: Vec<u16>,
    nexts: Vec<u16>,
    /// One bit for the hash of each four bytes. Most offsets of a text are dismissed by it alone.
    sieve: Vec<u64>,
    /// Values removed since the sieve was built. Their bits are still set.
    gone: usize,
}

impl Repeats {
    /// Stores the value of a match.
    pub(crate) fn add(&mut self, hit: &Match, value: &[u8]) {
        let fits = (LEAST..=LONGEST).contains(&value.len())
            && hit.action == RedactAction::Removed
            && hit.via.depth() == 0
            && ![rank("unscanned"), rank("k8s-secret")].contains(&hit.rank);
        let telling = || {
            value.iter().any(|byte| is(*byte, DIGIT))
                && !value.iter().any(|byte| is(*byte, LINE))
                && crate::bytes::measure::entropy(value) >= 3.0
        };
        if !fits || self.index.slots(value, 0).any(|slot| self.stands(slot, value)) || !telling() {
            return;
        }
        let value = Zeroizing::new(value.to_vec());
        let slot = if self.values.len() < MOST {
            self.values.push((value, hit.rank));
            self.values.len() - 1
        } else {
            let slot = self.oldest;
            self.oldest = (slot + 1) % MOST;
            let Some(place) = self.values.get_mut(slot) else { return };
            let old = core::mem::replace(place, (value, hit.rank));
            self.index.remove(slot, &old.0);
            slot
        };
        if let Some((value, _)) = self.values.get(slot) {
            self.index.add(slot, value);
        }
        if self.index.gone >= MOST {
            self.index.sift(self.values.iter().map(|(value, _)| value.as_slice()));
        }
    }

    fn stands(&self, slot: usize, value: &[u8]) -> bool {
        self.values.get(slot).is_some_and(|(own, _)| own.as_slice() == value)
    }

    /// Finds the first offset, from `from` on, at which a stored value occurs.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<Match> {
        if self.values.is_empty() {
            return None;
        }
        part(text, from..text.len()).chunks(STRIDE).enumerate().find_map(|(index, chunk)| {
            let four = *chunk.first_chunk::<4>()?;
            if self.index.passes(four) { self.at(four, text, from, from + index * STRIDE) } else { None }
        })
    }

    /// Returns the leftmost, and of those the longest, value around an offset.
    fn at(&self, four: [u8; 4], text: &[u8], from: usize, place: usize) -> Option<Match> {
        let found = self.index.chain(four).filter_map(|entry| {
            let (slot, offset) = (usize::from(entry) / STRIDE, usize::from(entry) % STRIDE);
            let (value, rank) = self.values.get(slot)?;
            let start = place.checked_sub(offset).filter(|start| *start >= from)?;
            part(text, start..text.len()).starts_with(value).then_some((start, value.len(), *rank))
        });
        let (start, length, rank) =
            found.min_by_key(|(start, length, _)| (*start, core::cmp::Reverse(*length)))?;
        Some(hit(start..start + length, rank))
    }
}

impl Index {
    /// Returns the entries of four bytes, and some others with the same hash.
    fn chain(&self, four: [u8; 4]) -> impl Iterator<Item = u16> + '_ {
        let first = self.heads.get(hash(four, CHAINS)).copied().filter(|entry| *entry != NONE);
        core::iter::successors(first, |entry| {
            self.nexts.get(usize::from(*entry)).copied().filter(|entry| *entry != NONE)
        })
    }

    /// Returns the slots of values that may have the same four bytes at an offset.
    fn slots(&self, value: &[u8], place: usize) -> impl Iterator<Item = usize> + '_ {
        let four = part(value, place..value.len()).first_chunk::<4>().copied();
        let entries = four.into_iter().flat_map(|four| self.chain(four)).map(usize::from);
        entries.filter(move |entry| entry % STRIDE == place).map(|entry| entry / STRIDE)
    }

    fn passes(&self, four: [u8; 4]) -> bool {
        let bit = hash(four, SIEVE);
        self.sieve.get(bit >> 6).is_some_and(|word| (word >> (bit & 63)) & 1 == 1)
    }

    fn add(&mut self, slot: usize, value: &[u8]) {
        if self.heads.is_empty() {
            self.heads = vec![NONE; 1 << CHAINS];
            self.nexts = vec![NONE; MOST * STRIDE];
            self.sieve = vec![0; 1 << (SIEVE - 6)];
        }
        for (entry, four) in fours(slot, value) {
            let head = self.heads.get_mut(hash(four, CHAINS));
            if let (Some(head), Some(next)) = (head, self.nexts.get_mut(usize::from(entry))) {
                *next = core::mem::replace(head, entry);
            }
            self.pass(four);
        }
    }

    fn pass(&mut self, four: [u8; 4]) {
        let bit = hash(four, SIEVE);
        if let Some(word) = self.sieve.get_mut(bit >> 6) {
            *word |= 1 << (bit & 63);
        }
    }

    fn remove(&mut self, slot: usize, value: &[u8]) {
        for (entry, four) in fours(slot, value) {
            let next = self.nexts.get(usize::from(entry)).copied().unwrap_or(NONE);
            let before = self.chain(four).find(|own| self.nexts.get(usize::from(*own)) == Some(&entry));
            let link = match before {
                Some(own) => self.nexts.get_mut(usize::from(own)),
                None => self.heads.get_mut(hash(four, CHAINS)).filter(|head| **head == entry),
            };
            if let Some(link) = link {
                *link = next;
            }
        }
        self.gone += 1;
    }

    /// Rebuilds the sieve from the stored values.
    fn sift<'v>(&mut self, values: impl Iterator<Item = &'v [u8]>) {
        self.gone = 0;
        self.sieve.fill(0);
        for value in values {
            fours(0, value).for_each(|(_, four)| self.pass(four));
        }
    }
}

/// Returns the four bytes at each of the first offsets of a value, with their entries.
fn fours(slot: usize, value: &[u8]) -> impl Iterator<Item = (u16, [u8; 4])> + '_ {
    let entry = move |place: usize| u16::try_from(slot * STRIDE + place).unwrap_or(NONE);
    let fours = value.windows(4).take(STRIDE).enumerate();
    fours.filter_map(move |(place, four)| Some((entry(place), *four.first_chunk::<4>()?)))
}

fn hit(at: Range<usize>, rank: u16) -> Match {
    Match {
        at,
        rank,
        sum: ChecksumCheck::None,
        via: LayerStack::default(),
        wide: MarkerEncoding::Bytes,
        action: RedactAction::Removed,
        known: false,
    }
}

fn hash(four: [u8; 4], bits: u32) -> usize {
    let mixed = u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> (32 - bits);
    usize::try_from(mixed).unwrap_or(0)
}

/// Wiped, because it contains bits of four bytes of each value.
impl Drop for Index {
    fn drop(&mut self) {
        self.sieve.zeroize();
    }
}

/// Adds to the matches of a whole text, in order, the places between them where one of them occurs again.
#[cfg(feature = "json")]
pub(crate) fn add(text: &[u8], groups: Vec<Match>) -> Vec<Match> {
    let mut repeats = Repeats::default();
    let mut all = Vec::with_capacity(groups.len());
    let mut from = 0;
    let between = |repeats: &Repeats, mut from: usize, until: usize, all: &mut Vec<Match>| {
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
    fn a_value_that_went_is_found_no_more_and_every_kept_one_is() {
        let mut repeats = Repeats::default();
        // Many share their beginnings, so that chains are long and links are taken out of their middle.
        let value = |index: usize| format!("{}-{index:05}-qX9!vb", ["tok", "key"][index % 2]);
        for index in 0..3000 {
            repeats.add(&hit(0..1, 5), value(index).as_bytes());
            repeats.add(&hit(0..1, 5), value(index).as_bytes());
            for (old, stays) in [(index.wrapping_sub(256), false), (index.saturating_sub(255), true)] {
                if old < 3000 {
                    let text = format!("say {}.", value(old));
                    let found = repeats.next(text.as_bytes(), 0).map(|hit| hit.at);
                    assert_eq!(found, stays.then(|| 4..text.len() - 1), "{old} after {index}");
                }
            }
        }
        assert_eq!(repeats.values.len(), MOST, "each once");
        let chained: usize = (0..1 << CHAINS)
            .map(|head| {
                let first = repeats.index.heads[head];
                core::iter::successors((first != NONE).then_some(first), |entry| {
                    Some(repeats.index.nexts[usize::from(*entry)]).filter(|next| *next != NONE)
                })
                .count()
            })
            .sum();
        assert_eq!(chained, MOST * STRIDE);
    }

    #[test]
    fn short_dull_and_decoded_values_are_not_kept() {
        let mut repeats = Repeats::default();
        for value in ["short-1", "aaaaaaaaaaaa1", "no digit in this", "two\nlines 12345"] {
            repeats.add(&hit(0..1, 5), value.as_bytes());
            assert_eq!(repeats.next(value.as_bytes(), 0), None, "{value}");
        }
        let decoded = Match { via: LayerStack::default().laundered(), ..hit(0..1, 5) };
        repeats.add(&decoded, b"qX9!vbnm12-qX9!vbnm12");
        assert_eq!(repeats.next(b"qX9!vbnm12-qX9!vbnm12", 0), None);
    }
}
