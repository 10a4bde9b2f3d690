//! Which keys of an object stand there already.

use core::hash::BuildHasher as _;
use std::hash::RandomState;

use plugward_types::Span;

use super::Member;

/// Objects of so few keys are looked through.
const FEW: usize = 8;

/// The keys of one object that is being read, in a table of (part of the hash, number of the member + 1).
///
/// A file of one MiB can hold 80,000 keys that differ in their last bytes alone, or 170,000 that do not differ: to sort
/// them costs more than to read them. The hash is keyed with randomness, so that nobody can choose keys that collide;
/// what is found does not depend on it.
#[derive(Debug, Default)]
pub(super) struct Keys {
    slots: Vec<u64>,
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
        // At most half of it is full.
        if self.slots.len() / 2 <= before.len() {
            self.grow(before, hasher);
        }
        let tag = tag(key, hasher);
        let mut at = self.home(tag);
        loop {
            let slot = self.slots.get_mut(at)?;
            if *slot == 0 {
                *slot = tag | number(before.len());
                return None;
            }
            if *slot & TAG == tag
                && let Some(member) = member(*slot, before)
                && member.key == key
            {
                return Some(member.key_span());
            }
            at = self.after(at);
        }
    }

    fn grow(&mut self, before: &[Member<'_>], hasher: &RandomState) {
        let room = before.len().saturating_mul(4).next_power_of_two();
        let old = core::mem::replace(&mut self.slots, vec![0; room]);
        if old.is_empty() {
            for (index, member) in before.iter().enumerate() {
                self.put(tag(&member.key, hasher) | number(index));
            }
        } else {
            old.into_iter().filter(|slot| *slot != 0).for_each(|slot| self.put(slot));
        }
    }

    fn put(&mut self, slot: u64) {
        let mut at = self.home(slot & TAG);
        while self.slots.get(at).is_some_and(|other| *other != 0) {
            at = self.after(at);
        }
        if let Some(free) = self.slots.get_mut(at) {
            *free = slot;
        }
    }

    /// The slot that a tag is looked for first. The room is a power of two, and at most 2^32.
    fn home(&self, tag: u64) -> usize {
        usize::try_from(tag >> 32).unwrap_or(0) & self.slots.len().saturating_sub(1)
    }

    fn after(&self, at: usize) -> usize {
        at.wrapping_add(1) & self.slots.len().saturating_sub(1)
    }
}

/// The half of a slot that is of the hash.
const TAG: u64 = 0xFFFF_FFFF_0000_0000;

fn tag(key: &str, hasher: &RandomState) -> u64 {
    hasher.hash_one(key) & TAG
}

/// The half of a slot that is the member's; never zero.
fn number(index: usize) -> u64 {
    u64::from(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
}

fn member<'m, 'a>(slot: u64, before: &'m [Member<'a>]) -> Option<&'m Member<'a>> {
    before.get(usize::try_from(slot & !TAG).ok()?.checked_sub(1)?)
}
