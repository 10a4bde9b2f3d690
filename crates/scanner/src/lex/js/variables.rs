//! What is known of each variable of one name: most names have one.

use std::collections::BTreeMap;

/// Values by variable. The first stands by itself, so that a name with one variable costs no further look.
#[derive(Debug)]
pub(super) struct Variables<V> {
    first: Option<(u32, V)>,
    more: BTreeMap<u32, V>,
}

impl<V> Default for Variables<V> {
    fn default() -> Self {
        Self { first: None, more: BTreeMap::new() }
    }
}

impl<V> Variables<V> {
    pub(super) fn get(&self, variable: u32) -> Option<&V> {
        match &self.first {
            Some((first, value)) if *first == variable => Some(value),
            _ if self.more.is_empty() => None,
            _ => self.more.get(&variable),
        }
    }

    /// Gives what is known of a variable, made if need be.
    pub(super) fn entry(&mut self, variable: u32, make: impl FnOnce() -> V) -> &mut V {
        match &mut self.first {
            Some((first, _)) if *first != variable => self.more.entry(variable).or_insert_with(make),
            first => &mut first.get_or_insert_with(|| (variable, make())).1,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &V)> {
        let first = self.first.iter().map(|(variable, value)| (*variable, value));
        first.chain(self.more.iter().map(|(variable, value)| (*variable, value)))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut V)> {
        let first = self.first.iter_mut().map(|(variable, value)| (*variable, value));
        first.chain(self.more.iter_mut().map(|(variable, value)| (*variable, value)))
    }
}
