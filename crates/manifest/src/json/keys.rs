//! Which keys of an object stand there already.

use core::hash::BuildHasher as _;
use std::hash::RandomState;

use plugward_types::Span;

use super::Member;

/// Objects of so few keys are looked through.
const FEW: usize = 8;
/// The room that a table begins with; each next one has twice as much.
const ROOM: usize = 32;

/// The keys of one object that is being read.
///
/// A file of one MiB can hold 80,000 keys that differ in their last bytes alone, or 170,000 that do not differ: to sort
/// them costs more than to read them. The hash is keyed with randomness, so that nobody can choose keys that collide;
/// what is found does not depend on it. A place of the table is one byte of the hash, so that the bytes of a large
/// object stay near at hand; the number of the member is only fetched where that byte agrees.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// A byte of each hash, never zero; zero where the place is free.
    tags: Vec<u8>,
    /// The number of the member at each place.
    numbers: Vec<u32>,
    /// The hash of each member, for the next larger table.
    hashes: Vec<u64>,
}

impl Keys {
    /// Finds the member before that has the key; where there is none, the key is taken to be that of the next member.
    pub(super) fn first_of(
        &mut self,
        before: &[Member<'_>],
        key: &str,
        hasher: &RandomState,
    ) -> Option<Span> {
        if before.len() < FEW {
            return before.iter().find(|member| member.key == key).map(Member::key_span);
        }
        // At most five eighths of it are full.
        if self.tags.len().saturating_mul(5) / 8 <= before.len() {
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

    fn grow(&mut self, before: &[Member<'_>], hasher: &RandomState) {
        let room = self.tags.len().saturating_mul(2).max(ROOM);
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
            // A file has fewer bytes than that.
            *number = u32::try_from(index).unwrap_or(u32::MAX);
        }
    }

    /// The place that a hash is looked for first. The room is a power of two.
    fn home(&self, hash: u64) -> usize {
        usize::try_from(hash & 0xFFFF_FFFF).unwrap_or(0) & self.tags.len().saturating_sub(1)
    }

    fn after(&self, at: usize) -> usize {
        at.wrapping_add(1) & self.tags.len().saturating_sub(1)
    }
}

/// The byte of a hash that a place keeps: of its upper half, since the lower one says where.
fn tag(hash: u64) -> u8 {
    u8::try_from(hash >> 56).unwrap_or(u8::MAX).max(1)
}
