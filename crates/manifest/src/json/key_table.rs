//! Finds duplicate keys while an object is parsed.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::hash::BuildHasher as _;
use std::hash::RandomState;

use plugward_types::Span;

use super::JsonMember;

/// Objects with fewer keys are searched linearly, which is faster than hashing.
const FEW: usize = 8;
/// The size of the first table; each following one is twice as large.
const ROOM: usize = 32;

/// A hash table over the keys of the object that is being parsed.
///
/// A file of 1 MiB can contain 80,000 different keys, for which sorting costs more than parsing. The hash is keyed with
/// random bytes, so that an attacker cannot choose keys that collide; the result does not depend on it. Each slot is
/// one byte of the hash, which keeps the table of a large object in the cache; the member is compared only if that byte
/// matches.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    /// One byte of each hash, which is never zero; zero marks a free slot.
    tags: Vec<u8>,
    /// The index of the member in each slot.
    numbers: Vec<u32>,
    /// The hash of each member, for the next larger table.
    hashes: Vec<u64>,
}

impl KeyTable {
    /// Returns the key's first occurrence; if there is none, the key is added as that of the next member.
    pub(super) fn first_of(
        &mut self,
        before: &[JsonMember<'_>],
        key: &str,
        hasher: &RandomState,
    ) -> Option<Span> {
        if before.len() < FEW {
            return before.iter().find(|member| member.key == key).map(JsonMember::key_span);
        }
        // The table stays at most five eighths full, so that probe sequences stay short.
        if self.tags.len() * 5 / 8 <= before.len() {
            self.grow(before, hasher);
        }
        let hash = hasher.hash_one(key);
        let tag = tag(hash);
        let mut at = self.home(hash);
        loop {
            let found = *self.tags.get(at)?;
            if found == 0 {
                self.fill(at, hash, before.len());
                self.hashes.push(hash);
                return None;
            }
            if found == tag
                && let Some(member) = self.numbers.get(at).and_then(|number| before.get(*number as usize))
                && member.key == key
            {
                return Some(member.key_span());
            }
            at = self.after(at);
        }
    }

    /// Doubles the table and inserts the known hashes again.
    fn grow(&mut self, before: &[JsonMember<'_>], hasher: &RandomState) {
        let room = (self.tags.len() * 2).max(ROOM);
        self.tags = vec![0; room];
        self.numbers = vec![0; room];
        if self.hashes.is_empty() {
            self.hashes.extend(before.iter().map(|member| hasher.hash_one(&*member.key)));
        }
        for index in 0..self.hashes.len() {
            let hash = self.hashes.get(index).copied().unwrap_or_default();
            let mut at = self.home(hash);
            while self.tags.get(at).is_some_and(|other| *other != 0) {
                at = self.after(at);
            }
            self.fill(at, hash, index);
        }
    }

    fn fill(&mut self, at: usize, hash: u64, index: usize) {
        if let (Some(free), Some(number)) = (self.tags.get_mut(at), self.numbers.get_mut(at)) {
            *free = tag(hash);
            // The limit of bytes is 4 GiB, so an index fits 32 bits.
            *number = u32::try_from(index).unwrap_or(u32::MAX);
        }
    }

    /// Returns the first slot for a hash. The size of the table is a power of two.
    fn home(&self, hash: u64) -> usize {
        usize::try_from(hash & 0xFFFF_FFFF).unwrap_or(0) & (self.tags.len() - 1)
    }

    /// Returns the next slot (linear probing).
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.tags.len() - 1)
    }
}

/// Returns the byte of a hash that its slot stores: from the upper half, because the lower half selects the slot.
fn tag(hash: u64) -> u8 {
    u8::try_from(hash >> 56).unwrap_or(u8::MAX).max(1)
}
