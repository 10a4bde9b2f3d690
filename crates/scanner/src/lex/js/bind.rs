//! Names that a file binds: aliases of what the rules name, constants, and declarations of its own.

use core::cell::Cell;
use std::borrow::Cow;
use std::collections::BTreeMap;

use super::reads::{News, Of, Read, Reads, Set, When};
use super::sets::Sets;
use super::table::{Table, key_of};
use super::token::{ESCAPED, Tok};
use super::variables::Variables;
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

#[derive(Debug)]
pub(super) struct Bindings<'a> {
    names: Table<'a, Name>,
    pub(super) sets: Sets,
    /// What members of names hold.
    held: Table<'a, Variables<BTreeMap<Cow<'a, [u8]>, Val>>>,
    /// Names of which a member holds something.
    holders: Set,
    /// Where the file declares a word itself: by word, ranges of tokens that do not touch, ends by starts.
    decls: BTreeMap<Word, BTreeMap<u32, u32>>,
    /// One bit a word that is declared somewhere.
    declared: u64,
    /// What was read in this round: variables where they were not bound, members, declarations.
    missed: Set,
    /// What came to be something else in this round.
    pub(super) news: News,
    /// All that was read.
    pub(super) reads: Reads,
}

/// A name and what its variables are bound to.
#[derive(Debug)]
struct Name {
    /// It was not known when the round began.
    fresh: bool,
    bounds: Variables<Bound>,
}

/// A name and which of its variables.
pub(super) type Holder<'a> = (Cow<'a, [u8]>, u32);

/// The bit of a word in a filter.
pub(super) const fn bit(word: Word) -> u64 {
    1 << (word & 63)
}

/// Gives an identifier's name, escapes decoded.
pub(super) fn name_of(src: &[u8], tok: Tok) -> Cow<'_, [u8]> {
    let text = src.get(tok.start() as usize..tok.end() as usize).unwrap_or_default();
    if tok.flags & ESCAPED == 0 {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(super::escape::decode_identifier(text))
    }
}

impl<'a> Bindings<'a> {
    /// Nothing is bound in a file of so many tokens yet.
    pub(super) fn of(toks: usize) -> Self {
        Self {
            names: Table::default(),
            sets: Sets::default(),
            held: Table::default(),
            holders: Set::of(toks),
            decls: BTreeMap::new(),
            declared: 0,
            missed: Set::of(toks),
            news: News::of(toks),
            reads: Reads::default(),
        }
    }

    /// Ends a round: the next may find something else by what is other than it was when the round began, and was read before it
    /// became so. What went to and fro within a round does so in the next as well.
    pub(super) fn end_round(&mut self) {
        for (name, known) in self.names.iter_mut() {
            let key = key_of(name);
            let mut any = None;
            for (variable, bound) in known.bounds.iter_mut() {
                let now = Some((bound.val, bound.twice));
                if bound.ended != now {
                    let when = if bound.stale { When::Read } else { When::Unread };
                    self.news.add(Read::variable(Of::Value, key, variable), when);
                    any = Some(any.unwrap_or(false) | bound.stale);
                }
                bound.ended = now;
                (bound.read, bound.stale) = (Cell::new(false), false);
            }
            // Where no variable of a name was known, the name was read.
            if let Some(stale) = any.filter(|_| core::mem::take(&mut known.fresh)) {
                self.news.add(Read::name(Of::Value, key), if stale { When::Read } else { When::Unread });
            }
        }
        self.missed.clear();
    }

    /// Starts a round.
    pub(super) fn begin_round(&mut self) {
        self.news.clear();
        self.reads.forget();
    }

    /// Notes that something is read.
    #[inline]
    fn note(&self, read: Read) {
        self.missed.add(read);
        self.reads.note(read);
    }

    /// Notes that something came to be something else.
    fn comes(&self, read: Read) {
        self.news.add(read, if self.missed.has(read) { When::Read } else { When::Unread });
    }

    /// Gives all variables that are bound.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Cow<'a, [u8]>, u32, Val)> {
        self.names.iter().flat_map(|(name, known)| {
            known.bounds.iter().map(move |(variable, bound)| (name, variable, bound.val))
        })
    }

    /// Says that a member of a name holds a value.
    pub(super) fn hold(&mut self, holder: Holder<'a>, member: Cow<'a, [u8]>, val: Val) {
        let key = key_of(&holder.0);
        let (name, variable) = holder;
        let Some(members) = self.held.entry(name, Variables::default) else { return };
        let known = members.entry(variable, BTreeMap::new).entry(member).or_default();
        let both = self.sets.either(*known, val);
        if both != core::mem::replace(known, both) {
            let name = Read::name(Of::Members, key);
            self.holders.add(name);
            self.comes(name);
            self.comes(Read::variable(Of::Members, key, variable));
        }
    }

    /// Says whether members of a name may hold something.
    #[inline]
    pub(super) fn may_hold(&self, src: &[u8], tok: Tok) -> bool {
        let name = Read::name(Of::Members, tok.key(src));
        let holds = self.holders.has(name);
        if !holds {
            self.note(name);
        }
        holds
    }

    /// Gives what a member of a name holds.
    pub(super) fn held(&self, holder: &Holder<'a>, member: &[u8]) -> Option<Val> {
        self.note(Read::variable(Of::Members, key_of(&holder.0), holder.1));
        self.held.get(&holder.0)?.get(holder.1)?.get(member).copied()
    }

    /// Gives the variables whose members hold something.
    pub(super) fn holders(&self) -> impl Iterator<Item = (&Cow<'a, [u8]>, u32)> {
        self.held.iter().flat_map(|(name, members)| members.iter().map(move |(variable, _)| (name, variable)))
    }

    /// Says whether a name is bound anywhere.
    pub(super) fn holds(&self, name: &[u8]) -> bool {
        let holds = self.names.get(name).is_some();
        if !holds {
            self.note(Read::name(Of::Value, key_of(name)));
        }
        holds
    }

    /// Binds a variable at a token. Of known values all count.
    pub(super) fn bind(&mut self, name: Cow<'a, [u8]>, variable: u32, at: u32, val: Val) {
        let known = val.is_known() || val.text != 0;
        let own = key_of(&name);
        let read = Read::variable(Of::Value, own, variable);
        let fresh = || Name { fresh: true, bounds: Variables::default() };
        let Some(named) = self.names.entry(name, fresh) else { return };
        let unknown = named.fresh && self.missed.has(Read::name(Of::Value, own));
        let missed = unknown || self.missed.has(read);
        if !known && named.bounds.get(variable).is_none() {
            // Were it bound here already, this would be its second value.
            self.note(read);
            return;
        }
        let fresh = || Bound { val, at, twice: false, ended: None, read: Cell::new(missed), stale: missed };
        let bound = named.bounds.entry(variable, fresh);
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
        let Some(name) = self.names.get_at(src, tok) else {
            self.note(Read::name(Of::Value, tok.key(src)));
            return None;
        };
        let variable = variable();
        let read = Read::variable(Of::Value, tok.key(src), variable);
        if let Some(bound) = name.bounds.get(variable) {
            bound.read.set(true);
            self.reads.note(read);
            Some(bound.val)
        } else {
            self.note(read);
            None
        }
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
        self.comes(Read::name(Of::Declared, word));
    }

    pub(super) fn is_declared(&self, word: Word, at: u32) -> bool {
        self.note(Read::name(Of::Declared, word));
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
            let mut bindings = Bindings::of(60);
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
