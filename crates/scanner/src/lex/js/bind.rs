//! Names that a file binds: aliases of what the rules name, constants, and declarations of its own.

use core::cell::Cell;
use std::borrow::Cow;
use std::collections::BTreeMap;

use super::sets::Sets;
use super::table::{Table, key_of};
use super::token::{ESCAPED, Tok};
use crate::names::{Node, Word};

/// What an expression is known to be. Its nodes may be sets of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Val {
    /// A name of the tables.
    pub(super) node: Node,
    /// A name whose receiver may be anything.
    pub(super) star: Node,
    /// A constant text: the token's index, plus one.
    pub(super) text: u32,
}

impl Val {
    pub(super) const fn node(node: Node) -> Self {
        Self { node, star: 0, text: 0 }
    }

    pub(super) const fn is_known(self) -> bool {
        self.node != 0 || self.star != 0
    }
}

/// What a variable is bound to: all that it is anywhere.
#[derive(Debug, Clone)]
struct Bound {
    val: Val,
    /// A constant that was bound twice is none; the token tells a second binding from a second round.
    at: u32,
    twice: bool,
    /// What it was when the last round ended.
    ended: Option<(Val, bool)>,
    /// It was read in this round; it came to be something else after that.
    read: Cell<bool>,
    stale: bool,
}

#[derive(Debug, Default)]
pub(super) struct Bindings<'a> {
    /// Names by number.
    names: Table<'a, u32>,
    /// By name and variable.
    bounds: BTreeMap<(u32, u32), Bound>,
    pub(super) sets: Sets,
    /// What members of names hold: by name, variable and member.
    held: BTreeMap<Holder<'a>, BTreeMap<Cow<'a, [u8]>, Val>>,
    /// A member came to hold something else in this round.
    held_anew: bool,
    /// Where the file declares a word itself: by word, ranges of tokens that do not touch, ends by starts.
    decls: BTreeMap<Word, BTreeMap<u32, u32>>,
    /// One bit a word that is declared somewhere.
    declared: u64,
    /// A word came to be declared where it was not.
    declared_anew: bool,
    /// One bit a key: names that were read in this round where they were not bound.
    missed: Missed,
}

/// Words of bits, one bit a key.
#[derive(Debug)]
struct Missed(Vec<Cell<u64>>);

impl Default for Missed {
    fn default() -> Self {
        Self(vec![Cell::new(0); KEYS])
    }
}

const KEYS: usize = 1 << 10;

impl Missed {
    fn cell(&self, key: u16) -> Option<(&Cell<u64>, u64)> {
        self.0.get(usize::from(key >> 6)).map(|cell| (cell, 1 << (key & 63)))
    }

    #[inline]
    fn note(&self, key: u16) {
        if let Some((cell, bit)) = self.cell(key) {
            cell.set(cell.get() | bit);
        }
    }

    fn has(&self, key: u16) -> bool {
        self.cell(key).is_some_and(|(cell, bit)| cell.get() & bit != 0)
    }

    fn clear(&self) {
        for cell in &self.0 {
            cell.set(0);
        }
    }
}

/// A name and which of its variables.
pub(super) type Holder<'a> = (Cow<'a, [u8]>, u32);

/// The bit of a word in a filter.
pub(super) const fn bit(word: Word) -> u64 {
    1 << (word & 63)
}

/// Gives an identifier's name, escapes decoded.
pub(super) fn name_of(src: &[u8], tok: Tok) -> Cow<'_, [u8]> {
    let text = src.get(tok.start as usize..tok.end() as usize).unwrap_or_default();
    if tok.flags & ESCAPED == 0 {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(super::escape::decode_identifier(text))
    }
}

impl<'a> Bindings<'a> {
    /// Ends a round; says whether the next may find something else: something is other than it was when the round began, and was
    /// read before it became so. What went to and fro within a round does so in the next as well.
    pub(super) fn end_round(&mut self) -> bool {
        let mut changed = core::mem::take(&mut self.declared_anew) | core::mem::take(&mut self.held_anew);
        for bound in self.bounds.values_mut() {
            let now = Some((bound.val, bound.twice));
            changed |= bound.stale && bound.ended != now;
            bound.ended = now;
            (bound.read, bound.stale) = (Cell::new(false), false);
        }
        self.missed.clear();
        changed
    }

    /// Gives all variables that are bound.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Cow<'a, [u8]>, u32, Val)> {
        self.names.iter().flat_map(|(name, number)| {
            let own = self.bounds.range((*number, 0)..=(*number, u32::MAX));
            own.map(move |((_, variable), bound)| (name, *variable, bound.val))
        })
    }

    /// Says that a member of a name holds a value.
    pub(super) fn hold(&mut self, holder: Holder<'a>, member: Cow<'a, [u8]>, val: Val) {
        let known = self.held.entry(holder).or_default().entry(member).or_default();
        let both = self.sets.either(*known, val);
        self.held_anew |= both != *known;
        *known = both;
    }

    /// Says whether a member of any name holds something.
    pub(super) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Gives what a member of a name holds.
    pub(super) fn held(&self, holder: &Holder<'a>, member: &[u8]) -> Option<Val> {
        self.held.get(holder)?.get(member).copied()
    }

    /// Gives the variables whose members hold something.
    pub(super) fn holders(&self) -> impl Iterator<Item = &Holder<'a>> {
        self.held.keys()
    }

    /// Says whether a name is bound anywhere.
    pub(super) fn holds(&self, name: &[u8]) -> bool {
        let holds = self.names.get(name).is_some();
        if !holds {
            self.missed.note(key_of(name));
        }
        holds
    }

    /// Binds a variable at a token. Of known values all count.
    pub(super) fn bind(&mut self, name: Cow<'a, [u8]>, variable: u32, at: u32, val: Val) {
        let known = val.is_known() || val.text != 0;
        let missed = self.missed.has(key_of(&name));
        let own_key = key_of(&name);
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let Some(&mut number) = self.names.entry(name, || next) else { return };
        let key = (number, variable);
        if !known && !self.bounds.contains_key(&key) {
            // Were it bound here already, this would be its second value.
            self.missed.note(own_key);
            return;
        }
        let fresh = || Bound { val, at, twice: false, ended: None, read: Cell::new(missed), stale: missed };
        let bound = self.bounds.entry(key).or_insert_with(fresh);
        let before = (bound.val, bound.twice);
        if bound.at != at && (val.text != bound.val.text) {
            bound.twice = true;
        }
        if val.is_known() {
            bound.val = self.sets.either(bound.val, val);
        }
        if bound.twice {
            bound.val.text = 0;
        } else if bound.at == at {
            // What stood for a constant in an earlier round may have turned out to be none.
            bound.val.text = val.text;
        }
        bound.stale |= bound.read.get() && before != (bound.val, bound.twice);
    }

    /// Gives what an identifier is bound to. `variable` says which of its name it is, if the name is bound at all.
    #[inline]
    pub(super) fn get(&self, src: &[u8], tok: Tok, variable: impl FnOnce() -> u32) -> Option<Val> {
        let bound = self.names.get_at(src, tok).and_then(|number| self.bounds.get(&(*number, variable())));
        match bound {
            Some(bound) => bound.read.set(true),
            None => self.missed.note(tok.key()),
        }
        bound.map(|bound| bound.val)
    }

    /// Says that the file declares a table word itself between two tokens. Ranges that meet become one, so that however many
    /// there are, each costs a step down a tree.
    pub(super) fn declare(&mut self, word: Word, start: u32, end: u32) {
        self.declared |= bit(word);
        if word == 0 || start >= end {
            return;
        }
        let ranges = self.decls.entry(word).or_default();
        let (mut start, mut end) = (start, end);
        while let Some((&from, &to)) = ranges.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            if from <= start && to >= end {
                return;
            }
            ranges.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        ranges.insert(start, end);
        self.declared_anew = true;
    }

    pub(super) fn is_declared(&self, word: Word, at: u32) -> bool {
        let before = || self.decls.get(&word)?.range(..=at).next_back();
        self.declared & bit(word) != 0 && before().is_some_and(|(_, end)| at < *end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Bindings;

    proptest! {
        #[test]
        fn what_lies_in_a_range_is_declared(ranges in prop::collection::vec((0_u32..60, 0_u32..60), 0..40)) {
            let mut bindings = Bindings::default();
            for (start, end) in &ranges {
                bindings.declare(3, *start, *end);
            }
            for at in 0..60 {
                let inside = ranges.iter().any(|(start, end)| (*start..*end).contains(&at));
                prop_assert_eq!(bindings.is_declared(3, at), inside, "{}", at);
                prop_assert!(!bindings.is_declared(4, at));
            }
        }
    }
}
