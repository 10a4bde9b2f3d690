//! Names by number.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::names::prefix;

/// Most names that are found without the tree.
const CACHED: usize = 1 << 12;

/// Numbers of names. A tree, so that no choice of names makes it slow, behind a small table of those met last.
#[derive(Debug, Default)]
pub(super) struct NameTable<'a> {
    texts: Vec<Cow<'a, [u8]>>,
    tree: BTreeMap<Cow<'a, [u8]>, u32>,
    cache: Vec<u32>,
}

impl<'a> NameTable<'a> {
    /// Makes a table for a file of so many tokens.
    pub(super) fn new(toks: usize) -> Self {
        let size = (toks / 4).next_power_of_two().clamp(16, CACHED);
        Self { texts: Vec::new(), tree: BTreeMap::new(), cache: vec![u32::MAX; size] }
    }

    pub(super) const fn len(&self) -> usize {
        self.texts.len()
    }

    fn slot(&self, name: &[u8]) -> usize {
        let tail = name.last_chunk::<8>().map_or(0, |tail| u64::from_le_bytes(*tail));
        let mixed = (prefix(name) ^ tail.rotate_left(29) ^ ((name.len() as u64) << 56))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        usize::try_from(mixed >> 40).unwrap_or(0) & self.cache.len().wrapping_sub(1)
    }

    /// Gives a name's number, made if need be.
    pub(super) fn intern(&mut self, name: Cow<'a, [u8]>) -> u32 {
        let slot = self.slot(&name);
        let known = self.cache.get(slot).copied().unwrap_or(u32::MAX);
        if self.texts.get(known as usize).is_some_and(|text| *text == name) {
            return known;
        }
        let number = self.tree.get(&name).copied().unwrap_or_else(|| {
            let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
            self.texts.push(name.clone());
            self.tree.insert(name, number);
            number
        });
        if let Some(cached) = self.cache.get_mut(slot) {
            *cached = number;
        }
        number
    }

    /// Finds a name's number.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        self.tree.get(name).copied()
    }
}
