//! Which variable a name is, where a file has several of one name.
//!
//! Only what is certain is told apart: parameters, `var` and functions in a function, `let`, `const` and classes in a block. Any
//! other name is that
//! of the code around it, and what is taken for one variable stands for all that either is.

mod own;
mod reader;

use core::cell::Cell;
use core::cmp::Reverse;

use super::scan::Flag;
use super::table::Table;
use super::token::{NO_MATE, Tok};
use reader::Reader;

/// The variable of the file itself.
pub(super) const OUTER: u32 = 0;

/// No token.
const NONE: u32 = u32::MAX;
/// Where the range of an arrow's body ends is not known yet.
const PENDING: u32 = u32::MAX - 1;
/// The variables of a file.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    /// By name: the range of its steps, and the one that was asked for last: the walk goes on from there.
    names: Table<'a, (u32, u32, Cell<u32>)>,
    /// From which token on a name is which variable.
    steps: Vec<(u32, u32)>,
    /// By name: the range of its entries in the next list.
    owned: Table<'a, (u32, u32)>,
    /// From which token to which a name is the file's own. The ranges of one name do not meet.
    owns: Vec<(u32, u32)>,
}

impl<'a> Scopes<'a> {
    /// Goes through all tokens of a file.
    pub(super) fn new(src: &'a [u8], toks: &[Tok], typed: Flag) -> Self {
        let mut reader = Reader::new(src, toks, typed);
        let mut quiet = true;
        for (tok, at) in toks.iter().zip(0_u32..) {
            if quiet && reader::is_quiet(*tok) {
                continue;
            }
            reader.token(at, *tok);
            quiet = reader.is_quiet();
        }
        // An arrow's body may be the last of the file.
        reader.end_arrows(u32::try_from(toks.len()).unwrap_or(NONE), Tok::END, Flag::Off);
        reader.finish()
    }

    /// Says whether a name is certainly the file's own at a token.
    pub(super) fn is_own(&self, src: &[u8], tok: Tok, at: u32) -> bool {
        let Some((start, end)) = self.owned.get_at(src, tok) else { return false };
        let owns = self.owns.get(*start as usize..*end as usize).unwrap_or_default();
        let next = owns.partition_point(|(from, _)| *from <= at);
        next.checked_sub(1).and_then(|index| owns.get(index)).is_some_and(|(_, end)| at < *end)
    }

    /// Says which variable a name is at a token.
    #[inline]
    pub(super) fn variable(&self, src: &[u8], tok: Tok, at: u32) -> u32 {
        let Some((start, end, last)) = self.names.get_at(src, tok) else { return OUTER };
        let steps = self.steps.get(*start as usize..*end as usize).unwrap_or_default();
        let is_step = |index: usize| {
            let begun =
                index.checked_sub(1).and_then(|index| steps.get(index)).is_none_or(|step| step.0 <= at);
            begun && steps.get(index).is_none_or(|step| step.0 > at)
        };
        let known = last.get() as usize;
        let next = if is_step(known) { known } else { steps.partition_point(|(from, _)| *from <= at) };
        last.set(u32::try_from(next).unwrap_or(0));
        next.checked_sub(1).and_then(|index| steps.get(index)).map_or(OUTER, |(_, variable)| *variable)
    }
}

/// A name that is declared for a range of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    name: u32,
    /// Where it is declared.
    at: u32,
    start: u32,
    end: u32,
}

impl<'a> Reader<'a, '_> {
    /// Sorts what was found into steps by name.
    fn finish(self) -> Scopes<'a> {
        let Self { mut found, names, mut loose, owns, .. } = self;
        let mut all = Vec::new();
        let owned = ranges_of(owns, &mut all);
        loose.sort_unstable();
        // A range in which the name may be that of the code around it is none.
        let is_loose = |found: &Found| {
            let next = loose.partition_point(|place| *place < (found.name, found.start));
            loose.get(next).is_some_and(|(name, at)| *name == found.name && *at < found.end)
        };
        found.retain(|found| found.end > found.start && found.end < NO_MATE && !is_loose(found));
        found.sort_unstable_by_key(|found| (found.name, found.start, Reverse(found.end)));
        found.dedup_by_key(|found| (found.name, found.start, found.end));
        let mut ranges = vec![(0, 0); names.len()];
        let mut steps: Vec<(u32, u32)> = Vec::with_capacity(found.len().saturating_mul(2));
        let mut variable = OUTER;
        for group in found.chunk_by(|one, other| one.name == other.name) {
            let from = steps.len();
            let mut open: Vec<(u32, u32)> = Vec::new();
            for own in group {
                leave(&mut open, own.start, from, &mut steps);
                // A variable and a parameter of the same function are one.
                if open.last().is_some_and(|(end, _)| *end == own.end) {
                    continue;
                }
                variable = variable.saturating_add(1);
                put(from, &mut steps, (own.start, variable));
                open.push((own.end, variable));
            }
            leave(&mut open, NONE, from, &mut steps);
            let range = (u32::try_from(from).unwrap_or(0), u32::try_from(steps.len()).unwrap_or(0));
            if let Some(slot) = group.first().and_then(|own| ranges.get_mut(own.name as usize)) {
                *slot = range;
            }
        }
        let names = names.map(|name| {
            let (start, end) = ranges.get(name as usize).copied().unwrap_or_default();
            (start, end, Cell::new(0))
        });
        Scopes { names, steps, owned, owns: all }
    }
}

/// Sorts where names are the file's own by name; ranges that meet are one.
fn ranges_of<'a>(owns: Table<'a, Vec<(u32, u32)>>, all: &mut Vec<(u32, u32)>) -> Table<'a, (u32, u32)> {
    owns.map(|mut ranges| {
        ranges.sort_unstable();
        let from = all.len();
        for (start, end) in ranges {
            match all.get_mut(from..).and_then(<[_]>::last_mut).filter(|last| last.1 >= start) {
                Some(last) => last.1 = last.1.max(end),
                None => all.push((start, end)),
            }
        }
        (u32::try_from(from).unwrap_or(NONE), u32::try_from(all.len()).unwrap_or(NONE))
    })
}

/// Ends the ranges that are over before a token.
fn leave(open: &mut Vec<(u32, u32)>, at: u32, from: usize, steps: &mut Vec<(u32, u32)>) {
    while let Some(&(end, _)) = open.last().filter(|(end, _)| *end <= at) {
        open.pop();
        let around = open.last().map_or(OUTER, |(_, variable)| *variable);
        put(from, steps, (end, around));
    }
}

/// Adds a step; two of one name at one token are the later one.
fn put(from: usize, steps: &mut Vec<(u32, u32)>, step: (u32, u32)) {
    let own = steps.len() > from;
    match steps.last_mut().filter(|last| own && last.0 == step.0) {
        Some(last) => *last = step,
        None => steps.push(step),
    }
}
