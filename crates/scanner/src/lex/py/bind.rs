//! What variables hold: aliases of what the rules name, constants, and something else.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::scan::normal;
use super::scope::{NAMELESS, NONE};
use super::token::{Tok, WIDE};
use crate::names::Node;

/// What a value is besides a name of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    #[default]
    Other,
    /// A constant text, from one token to another.
    Text,
    /// A text joined with something else.
    Joined,
    /// A path put together, from one token to another.
    Path,
    /// A list, tuple or dictionary: where its items begin, and how many there are.
    List,
    True,
    False,
    /// The names of a module or of the file, as a dictionary.
    Space,
    /// A function that takes a member whose name is a constant.
    Getter,
    /// A function that calls a member whose name is a constant.
    Caller,
    /// A function of the file: the variable that holds what it gives.
    Func,
    /// One of several constants: where they begin, and how many there are.
    Either,
    /// A folder of its own that the system gave.
    Temp,
    /// A method that asks a list or a dictionary: where its items begin, and how many there are.
    Asked,
}

/// What an expression is known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Val {
    /// A name of the tables.
    pub(super) node: Node,
    /// A name whose receiver may be anything.
    pub(super) star: Node,
    pub(super) form: Form,
    pub(super) a: u32,
    pub(super) b: u32,
    /// The walk whose items it points at.
    pub(super) walk: u8,
}

impl Val {
    pub(super) const fn node(node: Node) -> Self {
        Self { node, star: 0, form: Form::Other, a: 0, b: 0, walk: 0 }
    }

    pub(super) const fn form(form: Form, a: u32, b: u32) -> Self {
        Self { node: 0, star: 0, form, a, b, walk: 0 }
    }

    pub(super) const fn is_known(self) -> bool {
        self.node != 0
    }

    pub(super) fn is_any(self) -> bool {
        self.node != 0 || self.form != Form::Other
    }
}

/// Most names of the tables that one name stands for. What is over it is said to be unread.
const OTHERS: usize = 16;

/// No token.
const NEVER: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Bound {
    val: Val,
    /// What else of the tables it is somewhere in the file.
    others: Vec<Val>,
    /// The token that bound it: a second one makes a constant none.
    at: u32,
}

impl Default for Bound {
    fn default() -> Self {
        Self { val: Val::default(), others: Vec::new(), at: NEVER }
    }
}

impl Bound {
    /// Gives what it is in one of the walks over the file.
    fn in_walk(&self, number: usize) -> Val {
        number.checked_sub(1).and_then(|index| self.others.get(index)).copied().unwrap_or(self.val)
    }

    /// Takes one more name of the tables; says whether it is news.
    fn add(&mut self, val: Val) -> Added {
        if val == self.val || self.others.contains(&val) {
            Added::Known
        } else if self.others.len() >= OTHERS {
            Added::TooMany
        } else {
            self.others.push(val);
            Added::New
        }
    }

    /// Takes a name of the tables, be it the first.
    fn add_any(&mut self, val: Val) {
        if self.val.is_known() {
            self.add(val);
        } else {
            self.val = val;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Added {
    Known,
    New,
    TooMany,
}

#[derive(Debug, Default)]
pub(super) struct Bindings<'a> {
    /// By variable.
    vars: Vec<Bound>,
    /// Names by number: what any variable of the name is known to hold.
    named: BTreeMap<u32, Bound>,
    /// Members of any object that hold something known.
    members: BTreeMap<Cow<'a, [u8]>, Bound>,
    /// Names of classes that are bound to a constant.
    constants: BTreeMap<Cow<'a, [u8]>, Bound>,
    /// Which walk over the file this is: in each, a name that stands for several things is another one of them.
    pub(super) walk: usize,
    /// How many more walks there are for them.
    pub(super) walks: usize,
    /// Something stands for more than is kept apart.
    pub(super) too_many: bool,
    /// Modules all of whose names are in reach, and the last token that says so.
    pub(super) stars: Vec<(Node, u32)>,
    pub(super) changes: u32,
    /// How many variables and members have come to stand for a name of the tables; it never goes down.
    pub(super) learned: u32,
}

/// Gives a name as the language takes it.
pub(super) fn name_of(src: &[u8], tok: Tok) -> Cow<'_, [u8]> {
    let text = super::text_of(src, tok);
    if tok.flags & WIDE == 0 { Cow::Borrowed(text) } else { Cow::Owned(normal(text)) }
}

impl<'a> Bindings<'a> {
    pub(super) fn new(vars: usize) -> Self {
        Self { vars: vec![Bound::default(); vars], ..Self::default() }
    }

    /// Binds a variable at a token.
    pub(super) fn bind(&mut self, var: u32, name: u32, at: u32, val: Val) {
        if val.is_known() && name != NAMELESS {
            self.named.entry(name).or_default().add_any(val);
        }
        let Some(bound) = self.vars.get_mut(var as usize).filter(|_| var != NONE) else { return };
        let before = bound.val;
        if bound.at == NEVER {
            bound.at = at;
            bound.val = val;
            self.learned = self.learned.saturating_add(u32::from(val.is_known()));
            self.changes = self.changes.wrapping_add(u32::from(val.is_any()));
            return;
        }
        if val.is_known() && bound.val.is_known() {
            let added = bound.add(val);
            self.walks = self.walks.max(bound.others.len());
            self.note(added);
            return;
        }
        if val.is_known() {
            bound.val = val;
            self.learned = self.learned.saturating_add(1);
        } else if !bound.val.is_known() && bound.at != at && bound.val != val {
            bound.val = Val::default();
        } else if bound.at == at && !bound.val.is_known() && bound.val.form == Form::Other {
            bound.val = val;
        } else if bound.at == at
            && matches!((bound.val.form, val.form), (Form::List, Form::List) | (Form::Either, Form::Either))
        {
            // The items of a list lie elsewhere in each walk.
            bound.val = val;
            return;
        }
        if before != bound.val && bound.at == at {
            self.changes = self.changes.wrapping_add(1);
        }
    }

    const fn note(&mut self, added: Added) {
        match added {
            Added::Known => {}
            Added::New => {
                self.changes = self.changes.wrapping_add(1);
                self.learned = self.learned.saturating_add(1);
            }
            Added::TooMany => self.too_many = true,
        }
    }

    /// The list that a variable holds has more items.
    pub(super) fn regrow(&mut self, var: u32, val: Val) {
        if let Some(bound) = self.vars.get_mut(var as usize).filter(|_| var != NONE)
            && bound.val.form == Form::List
            && bound.others.is_empty()
        {
            bound.val = val;
        }
    }

    /// Binds a name of a class to a constant; two of them are none.
    pub(super) fn bind_constant(&mut self, name: Cow<'a, [u8]>, at: u32, val: Val) {
        let fresh = Bound { val, at, ..Bound::default() };
        let bound = self.constants.entry(name).or_insert(fresh);
        if bound.at == at {
            bound.val = val;
        } else {
            bound.at = NEVER;
        }
    }

    /// A member that is written to is no constant of its class.
    pub(super) fn unbind_constant(&mut self, name: &[u8]) {
        if self.constants.is_empty() {
            return;
        }
        if let Some(bound) = self.constants.get_mut(name).filter(|bound| bound.at != NEVER) {
            bound.at = NEVER;
            self.changes = self.changes.wrapping_add(1);
        }
    }

    /// Gives what a name of a class is bound to, if that is one constant.
    pub(super) fn constant(&self, name: &[u8]) -> Option<Val> {
        if self.constants.is_empty() {
            return None;
        }
        self.constants.get(name).filter(|bound| bound.at != NEVER).map(|bound| bound.val)
    }

    /// Gives what a variable is bound to.
    #[inline]
    pub(super) fn get(&self, var: u32) -> Val {
        self.vars.get(var as usize).map_or(Val::default(), |bound| bound.in_walk(self.walk))
    }

    /// Says whether anything is bound to a variable.
    pub(super) fn is_bound(&self, var: u32) -> bool {
        self.vars.get(var as usize).is_some_and(|bound| bound.at != NEVER)
    }

    /// Gives what any variable of a name is known to hold.
    pub(super) fn named(&mut self, name: u32) -> Val {
        let Some(bound) = self.named.get(&name) else { return Val::default() };
        let (val, others) = (bound.in_walk(self.walk), bound.others.len());
        self.is_one_of(others);
        val
    }

    /// Gives what a variable is, or in one more walk what its name is besides.
    pub(super) fn or_else(&mut self, var: u32, other: Val) -> Val {
        let Some(bound) = self.vars.get(var as usize) else { return other };
        if bound.val == other || bound.others.contains(&other) {
            return bound.in_walk(self.walk);
        }
        let last = bound.others.len().saturating_add(1);
        let val = if self.walk == last { other } else { bound.in_walk(self.walk) };
        self.is_one_of(last);
        val
    }

    /// Says that all names of a module are in reach.
    pub(super) fn star(&mut self, module: Node, at: u32) {
        if let Some(known) = self.stars.iter_mut().find(|known| known.0 == module) {
            known.1 = known.1.max(at);
        } else {
            self.stars.push((module, at));
            self.changes = self.changes.wrapping_add(1);
        }
    }

    /// Says that an expression is one of several names of the tables.
    pub(super) fn is_one_of(&mut self, number: usize) {
        if number <= OTHERS {
            self.walks = self.walks.max(number);
        } else {
            self.too_many = true;
        }
    }

    pub(super) fn bind_member(&mut self, name: Cow<'a, [u8]>, val: Val) {
        if !val.is_known() && val.form != Form::Func {
            return;
        }
        let known = self.members.len();
        let bound = self.members.entry(name).or_insert_with(|| Bound { val, ..Bound::default() });
        let added = bound.add(val);
        self.walks = self.walks.max(bound.others.len());
        self.note(if self.members.len() > known { Added::New } else { added });
    }

    /// Says whether any member holds something known.
    pub(super) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    #[inline]
    pub(super) fn member(&self, name: &[u8]) -> Option<Val> {
        if self.members.is_empty() {
            return None;
        }
        self.members.get(name).map(|bound| bound.in_walk(self.walk))
    }
}
