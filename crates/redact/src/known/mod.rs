//! Secrets found before a transform, to find them again after it. Wiped when dropped.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

pub(crate) mod index;
pub(crate) mod repeats;
pub(crate) mod spelling;

use core::fmt;
use core::hash::{Hash as _, Hasher as _};
use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};
use std::hash::DefaultHasher;

use zeroize::Zeroizing;

use crate::bytes::part;
use crate::known::index::Index;
use crate::redacted::finding::{ChecksumCheck, LayerStack, RedactAction};
use crate::redacted::kind::rank;
use crate::rules::{MarkerEncoding, Match};

/// Shorter values are not searched for, because they occur in ordinary text.
pub(crate) const SHORTEST: usize = 8;
/// Limits on the number of values, on the bytes of all of them, and on the bytes of one. They bound the
/// memory of a long session.
const MOST: usize = 4096;
const ROOM: usize = 1024 * 1024;
const LONGEST: usize = 8 * 1024;

/// The secrets of a text before a transform.
///
/// # Guarantees
///
/// The type is not `Clone`, its `Debug` prints a count, and the values are wiped when it is dropped. It
/// stores at most 4,096 values or 1 MiB; beyond that the oldest are dropped and counted by
/// [`KnownSecrets::dropped`]. Only the first 8 KiB of a longer value are searched for.
#[derive(Default)]
pub struct KnownSecrets {
    values: ValueList,
    /// The removed bytes as they were in the text.
    raws: ValueList,
    index: Index,
}

impl KnownSecrets {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of stored values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.list.len()
    }

    /// Returns `true` if no value is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of values that were dropped because the limits were reached.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.values.dropped
    }

    /// Stores a value once.
    pub(crate) fn add(&mut self, value: &[u8]) {
        let value = without_armor(value.trim_ascii());
        let value = part(value, 0..LONGEST);
        if value.len() >= SHORTEST
            && let Some(number) = self.values.add(value)
        {
            self.index.add(number, value);
            self.index.forget(self.values.dropped);
        }
    }

    /// Stores bytes as they were in the text. If they are found again unchanged, nothing was laundered.
    pub(crate) fn add_raw(&mut self, raw: &[u8]) {
        // A longer value counts as laundered when it is found again, which errs on the side of a report.
        if raw.len() <= ROOM / 8 {
            let _new = self.raws.add(raw);
        }
        self.add(raw);
    }

    /// Returns `true` if exactly these bytes were removed before.
    pub(crate) fn is_raw(&self, raw: &[u8]) -> bool {
        self.raws.has(raw)
    }

    /// Finds the values, in any spelling, of which a piece ends in a range of a text.
    pub(crate) fn find(&self, text: &[u8], range: Range<usize>, hits: &mut Vec<Match>) {
        self.index.find(text, range, |at| {
            let (sum, via) = (ChecksumCheck::None, LayerStack::default());
            hits.push(Match {
                at,
                rank: rank("known"),
                sum,
                via,
                wide: MarkerEncoding::Bytes,
                action: RedactAction::Removed,
                known: true,
            });
        });
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecrets").field("values", &self.len()).finish_non_exhaustive()
    }
}

/// Returns the body of an armored block. The BEGIN and END lines are not secret and are in many texts.
fn without_armor(value: &[u8]) -> &[u8] {
    const DASHES: &[u8] = b"-----";
    if !value.starts_with(DASHES) {
        return value;
    }
    let find =
        |from: usize| memchr::memmem::find(part(value, from..value.len()), DASHES).map(|place| from + place);
    let start = find(DASHES.len()).map_or(0, |place| place + DASHES.len());
    let end = find(start).unwrap_or(value.len());
    part(value, start..end).trim_ascii()
}

/// Distinct byte strings, the latest ones.
#[derive(Default)]
struct ValueList {
    list: VecDeque<Zeroizing<Vec<u8>>>,
    /// The number of strings with a hash, which rules out most lookups without a comparison.
    hashes: BTreeMap<u64, u32>,
    size: usize,
    dropped: u64,
}

impl ValueList {
    /// Returns the number of a new string, counted from the first ever stored, or `None` if it is stored
    /// already.
    fn add(&mut self, bytes: &[u8]) -> Option<u64> {
        if self.has(bytes) {
            return None;
        }
        let number = self.dropped + u64::try_from(self.list.len()).unwrap_or(u64::MAX);
        *self.hashes.entry(hash(bytes)).or_default() += 1;
        self.size += bytes.len();
        self.list.push_back(Zeroizing::new(bytes.to_vec()));
        while self.list.len() > MOST || self.size > ROOM {
            self.drop_oldest();
        }
        Some(number)
    }

    fn has(&self, bytes: &[u8]) -> bool {
        self.hashes.contains_key(&hash(bytes)) && self.list.iter().any(|own| own.as_slice() == bytes)
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.list.pop_front() else { return };
        let hash = hash(&oldest);
        if self.hashes.get(&hash).is_some_and(|count| *count > 1) {
            self.hashes.entry(hash).and_modify(|count| *count -= 1);
        } else {
            self.hashes.remove(&hash);
        }
        self.size -= oldest.len();
        self.dropped += 1;
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(index: usize) -> String {
        let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("v{:08x}!{:08X}", mixed >> 32, mixed & 0xffff_ffff)
    }

    fn found(known: &KnownSecrets, text: &str) -> Vec<Range<usize>> {
        let mut hits = Vec::new();
        known.find(text.as_bytes(), 0..text.len(), &mut hits);
        hits.into_iter().map(|hit| hit.at).collect()
    }

    #[test]
    fn the_latest_four_thousand_are_found_and_the_dropped_ones_counted() {
        let mut known = KnownSecrets::new();
        for index in 0..5000 {
            known.add(value(index).as_bytes());
            known.add(value(index).as_bytes());
        }
        assert_eq!((known.len(), known.dropped()), (4096, 904));
        for index in [904, 2000, 4999] {
            let text = format!("say {} now", value(index));
            assert!(found(&known, &text).contains(&(4..4 + value(index).len())), "{index}");
        }
        assert!(found(&known, &value(903)).is_empty());
    }

    #[test]
    fn a_mebibyte_is_kept() {
        let mut known = KnownSecrets::new();
        let text = "qX9!vbnm12-Az".repeat(700);
        for index in 0..200 {
            known.add(format!("{index:05}{text}").as_bytes());
        }
        assert_eq!((known.len(), known.dropped()), (128, 72), "each counts with its first 8 KiB");
    }
}
