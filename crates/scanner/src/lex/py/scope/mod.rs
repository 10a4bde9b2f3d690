//! Which variable a name is: modules, functions, lambdas, comprehensions and classes have names of their own.
//!
//! Two passes over the tokens of a file: `read` finds the scopes and what each binds, `settle` says of each name which
//! variable it is. Where the file is not what the language reads, all names are those of the file, and no name is certain.

mod flow;
mod head;
mod level;
mod line;
mod names;
mod read;
mod settle;
mod space;
mod target;

use std::collections::BTreeMap;

use super::token::Tok;
use names::NameTable;

/// What a variable belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// The file, or nothing in it: what its builtins are.
    #[default]
    Module,
    Class,
    /// A function, a lambda or a comprehension.
    Local,
}

/// A variable.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Var {
    pub(super) kind: Kind,
    /// The file binds it.
    pub(super) declared: bool,
    /// What a name of a class is where the class has not bound it.
    pub(super) outer: u32,
    /// What calling it gives: a variable of its own.
    pub(super) gives: u32,
    /// What it is called with: the first of so many variables, one for each place.
    pub(super) args: u32,
    pub(super) arity: u32,
    /// What a parameter is called with.
    pub(super) given: u32,
    /// The number of its name.
    pub(super) name: u32,
    /// Where it is certainly bound: a range of `sure`.
    sure: (u32, u32),
}

/// No name.
pub(super) const NAMELESS: u32 = u32::MAX;
/// Most parameters of a function that calls fill.
const PLACES: u32 = 64;

/// No variable: a member, a keyword.
pub(super) const NONE: u32 = 0;

/// Set where a token binds or declares, and reads nothing.
const BINDS: u32 = 1 << 31;

/// The variables of a file.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    /// By token: which variable a name is, and at `return` and `yield` what its function gives.
    slots: Vec<u32>,
    vars: Vec<Var>,
    /// Ranges of tokens in which a variable is certainly bound, by variable.
    sure: Vec<(u32, u32)>,
    names: NameTable<'a>,
    /// By name: its variable of the file.
    modules: Vec<u32>,
    /// By token of a `match`, a `case` or what it captures: the variable that holds what is matched.
    subjects: BTreeMap<u32, u32>,
    /// By number of a method's name: what methods of that name are called with.
    methods: BTreeMap<u32, (u32, u32)>,
    /// The file is not what the language reads: all names are those of the file.
    pub(super) loose: bool,
}

impl<'a> Scopes<'a> {
    /// Goes through all tokens of a file.
    pub(super) fn new(src: &'a [u8], toks: &[Tok]) -> Self {
        settle::settle(read::Reader::new(src, toks).run())
    }

    /// Gives how many variables there are.
    pub(super) const fn len(&self) -> usize {
        self.vars.len()
    }

    /// Says which variable a token is.
    #[inline]
    pub(super) fn at(&self, tok: u32) -> u32 {
        self.slots.get(tok as usize).map_or(NONE, |slot| slot & !BINDS)
    }

    /// Says whether a token binds or declares, and reads nothing.
    pub(super) fn binds(&self, tok: u32) -> bool {
        self.slots.get(tok as usize).is_some_and(|slot| slot & BINDS != 0)
    }

    #[inline]
    pub(super) fn var(&self, var: u32) -> Var {
        self.vars.get(var as usize).copied().unwrap_or_default()
    }

    /// Gives the number of a name; `None` where the file has no such name.
    pub(super) fn name(&self, name: &[u8]) -> Option<u32> {
        self.names.find(name)
    }

    /// Gives the variable that holds what is matched where a token is read.
    pub(super) fn subject(&self, tok: u32) -> Option<u32> {
        if self.subjects.is_empty() { None } else { self.subjects.get(&tok).copied() }
    }

    /// Gives what methods of a name are called with: the first variable, and how many there are.
    pub(super) fn method(&self, name: &[u8]) -> (u32, u32) {
        let number = if self.methods.is_empty() { None } else { self.names.find(name) };
        number.and_then(|number| self.methods.get(&number)).copied().unwrap_or_default()
    }

    /// Gives the file's own variable of a name.
    pub(super) fn module(&self, name: u32) -> u32 {
        self.modules.get(name as usize).copied().unwrap_or(NONE)
    }

    /// Says since which token a variable is certainly bound at a token; `None` where it is not certain.
    pub(super) fn sure_since(&self, var: u32, at: u32) -> Option<u32> {
        let (start, end) = self.var(var).sure;
        let ranges = self.sure.get(start as usize..end as usize).unwrap_or_default();
        let next = ranges.partition_point(|(from, _)| *from <= at);
        let range = next.checked_sub(1).and_then(|index| ranges.get(index));
        range.filter(|(_, to)| at < *to).map(|(from, _)| *from)
    }
}
