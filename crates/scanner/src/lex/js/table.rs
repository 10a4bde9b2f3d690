//! Names of a file and what is known of each: an open table, so that most names cost one load.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::bind::name_of;
use super::token::{ESCAPED, Tok};
use crate::names::{key, prefix, prefix_at};

/// A name stands at most so many slots behind its own; names made to meet in one slot go to a tree.
const PROBES: usize = 16;
const FEWEST: usize = 32;
/// Groups of keys: words of the filter before the table.
pub(super) const GROUPS: usize = 256;

#[derive(Debug)]
struct Named<'a, T> {
    hash: u64,
    name: Cow<'a, [u8]>,
    value: T,
}

/// Values by name.
#[derive(Debug)]
pub(super) struct Table<'a, T> {
    /// Indices of entries, plus one.
    slots: Vec<u32>,
    entries: Vec<Named<'a, T>>,
    /// One bit a key.
    seen: Vec<u64>,
    crowded: BTreeMap<Cow<'a, [u8]>, u32>,
}

impl<T> Default for Table<'_, T> {
    fn default() -> Self {
        Self { slots: Vec::new(), entries: Vec::new(), seen: Vec::new(), crowded: BTreeMap::new() }
    }
}

/// One bit a key.
#[derive(Clone, Copy)]
pub(super) struct Filter<'t>(&'t [u64; GROUPS]);

impl Filter<'_> {
    /// Says whether there may be a name with such a key.
    #[inline]
    pub(super) fn has(self, key: u16) -> bool {
        let (word, bit) = bit_of(key);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

#[inline]
const fn mix(head: u64, tail: u64, len: usize) -> u64 {
    (head ^ tail.rotate_left(29) ^ ((len as u64) << 56)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Gives the group of a key.
#[inline]
pub(super) fn group_of(key: u16) -> usize {
    usize::from(key >> 8)
}

/// The filter's word of a key, and the bit in it.
#[inline]
fn bit_of(key: u16) -> (usize, u64) {
    (group_of(key), 1 << ((key >> 2) & 63))
}

pub(super) fn key_of(name: &[u8]) -> u16 {
    key(prefix(name), name.len())
}

fn hash(name: &[u8]) -> u64 {
    let tail = name.last_chunk::<8>().map_or(0, |tail| u64::from_le_bytes(*tail));
    mix(prefix(name), if name.len() > 8 { tail } else { 0 }, name.len())
}

/// The same of a name that stands in a text.
#[inline]
fn hash_at(src: &[u8], start: usize, end: usize) -> u64 {
    let len = end.wrapping_sub(start);
    let tail = if len > 8 { prefix_at(src, end.wrapping_sub(8), end) } else { 0 };
    mix(prefix_at(src, start, end), tail, len)
}

impl<'a, T> Table<'a, T> {
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Gives all names in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Cow<'a, [u8]>, &T)> {
        self.entries.iter().map(|entry| (&entry.name, &entry.value))
    }

    /// Gives all names, what is known of them to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Cow<'a, [u8]>, &mut T)> {
        self.entries.iter_mut().map(|entry| (&entry.name, &mut entry.value))
    }

    /// Gives the same names with other values.
    pub(super) fn map<U>(self, mut change: impl FnMut(T) -> U) -> Table<'a, U> {
        let Self { slots, entries, seen, crowded } = self;
        let change = |Named { hash, name, value }| Named { hash, name, value: change(value) };
        Table { slots, entries: entries.into_iter().map(change).collect(), seen, crowded }
    }

    /// Forgets all names.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.crowded.clear();
        self.slots.fill(0);
        self.seen.fill(0);
    }

    /// Gives the groups of keys that names are in.
    pub(super) fn groups(&self) -> impl Iterator<Item = usize> {
        self.seen.iter().zip(0_usize..).filter(|(word, _)| **word != 0).map(|(_, group)| group)
    }

    /// Gives the filter of the names, if there are any.
    pub(super) fn filter(&self) -> Option<Filter<'_>> {
        self.seen.first_chunk().map(Filter)
    }

    /// Says whether there may be a name with such a key.
    #[inline]
    pub(super) fn may_hold(&self, key: u16) -> bool {
        let (word, bit) = bit_of(key);
        self.seen.get(word).is_some_and(|word| word & bit != 0)
    }

    fn home(&self, hash: u64) -> usize {
        usize::try_from(hash >> 32).unwrap_or(0) & self.slots.len().wrapping_sub(1)
    }

    fn find(&self, hash: u64, name: &[u8]) -> Option<usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let home = self.home(hash);
        for step in 0..PROBES {
            let index = (*self.slots.get(home.wrapping_add(step) & mask)?).checked_sub(1)? as usize;
            if self.entries.get(index).is_some_and(|known| known.hash == hash && known.name == name) {
                return Some(index);
            }
        }
        self.crowded.get(name).map(|index| *index as usize)
    }

    fn value(&self, hash: u64, name: &[u8]) -> Option<&T> {
        self.entries.get(self.find(hash, name)?).map(|entry| &entry.value)
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<&T> {
        if self.may_hold(key_of(name)) { self.value(hash(name), name) } else { None }
    }

    /// Gives what is known of an identifier.
    #[inline]
    pub(super) fn get_at(&self, src: &[u8], tok: Tok) -> Option<&T> {
        if !self.may_hold(tok.key(src)) {
            return None;
        }
        if tok.flags & ESCAPED != 0 {
            return self.get(&name_of(src, tok));
        }
        let (start, end) = (tok.start() as usize, tok.end() as usize);
        self.value(hash_at(src, start, end), src.get(start..end).unwrap_or_default())
    }

    /// Gives what is known of a name, made if need be.
    pub(super) fn entry(&mut self, name: Cow<'a, [u8]>, make: impl FnOnce() -> T) -> Option<&mut T> {
        let hash = hash(&name);
        let known = if self.may_hold(key_of(&name)) { self.find(hash, &name) } else { None };
        let index = known.unwrap_or_else(|| {
            self.entries.push(Named { hash, name, value: make() });
            let index = self.entries.len().wrapping_sub(1);
            if self.entries.len().wrapping_mul(2) > self.slots.len() {
                self.grow();
            } else {
                self.place(index);
            }
            index
        });
        self.entries.get_mut(index).map(|entry| &mut entry.value)
    }

    fn grow(&mut self) {
        let size = self.entries.len().wrapping_mul(4).next_power_of_two().max(FEWEST);
        self.slots.clear();
        self.slots.resize(size, 0);
        self.seen.resize(GROUPS, 0);
        self.crowded.clear();
        for index in 0..self.entries.len() {
            self.place(index);
        }
    }

    fn place(&mut self, index: usize) {
        let Some(entry) = self.entries.get(index) else { return };
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let (word, bit) = bit_of(key_of(&entry.name));
        if let Some(word) = self.seen.get_mut(word) {
            *word |= bit;
        }
        let mask = self.slots.len().wrapping_sub(1);
        let home = self.home(entry.hash);
        for step in 0..PROBES {
            if let Some(slot) = self.slots.get_mut(home.wrapping_add(step) & mask).filter(|slot| **slot == 0)
            {
                *slot = number.wrapping_add(1);
                return;
            }
        }
        self.crowded.insert(entry.name.clone(), number);
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::Table;

    proptest! {
        #[test]
        fn it_holds_what_a_tree_holds(names in prop::collection::vec("[ab]{0,12}", 0..400)) {
            let mut table = Table::default();
            let mut tree = BTreeMap::new();
            for (name, at) in names.iter().zip(0_u32..) {
                let value = table.entry(Cow::Borrowed(name.as_bytes()), || at).copied();
                prop_assert_eq!(value, Some(*tree.entry(name.as_bytes()).or_insert(at)));
            }
            for name in &names {
                prop_assert_eq!(table.get(name.as_bytes()), tree.get(name.as_bytes()));
            }
            prop_assert_eq!(table.get(b"c"), None);
            prop_assert_eq!(table.iter().count(), tree.len());
        }
    }

    #[test]
    fn names_that_meet_in_one_slot_are_told_apart() {
        // First and last 8 bytes and the length are the same: so is the hash.
        let names: Vec<String> = (0..2000).map(|index| format!("aaaaaaaa{index:05}bbbbbbbb")).collect();
        let mut table = Table::default();
        for (name, at) in names.iter().zip(0_u32..) {
            table.entry(Cow::Borrowed(name.as_bytes()), || at);
        }
        for (name, at) in names.iter().zip(0_u32..) {
            assert_eq!(table.get(name.as_bytes()), Some(&at));
        }
        table.clear();
        assert_eq!(table.get(b"aaaaaaaa00000bbbbbbbb"), None);
    }
}
