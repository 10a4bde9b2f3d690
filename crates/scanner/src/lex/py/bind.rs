//! Names that a file binds: aliases of what the rules name, constants, and names that hold something else.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::scan::normal;
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
}

impl Val {
    pub(super) const fn node(node: Node) -> Self {
        Self { node, star: 0, form: Form::Other, a: 0, b: 0 }
    }

    pub(super) const fn form(form: Form, a: u32, b: u32) -> Self {
        Self { node: 0, star: 0, form, a, b }
    }

    pub(super) const fn is_known(self) -> bool {
        self.node != 0
    }

    pub(super) fn is_any(self) -> bool {
        self.node != 0 || self.form != Form::Other
    }
}

#[derive(Debug, Clone, Copy)]
struct Bound {
    val: Val,
    /// The token that bound it: a second one makes a constant none.
    at: u32,
}

#[derive(Debug, Default)]
pub(super) struct Bindings<'a> {
    names: BTreeMap<Cow<'a, [u8]>, Bound>,
    /// Members of any object that hold something known.
    members: BTreeMap<Cow<'a, [u8]>, Val>,
    /// Modules all of whose names are in reach.
    pub(super) stars: Vec<Node>,
    seen: u64,
    pub(super) changes: u32,
    /// How many names and members have come to stand for a name of the tables; it never goes down.
    pub(super) learned: u32,
}

const fn bloom(name: &[u8]) -> u64 {
    match name {
        [] => 0,
        [first, ..] => 1 << ((*first as usize).wrapping_mul(7).wrapping_add(name.len()) % 64),
    }
}

/// Gives a name as the language takes it.
pub(super) fn name_of(src: &[u8], tok: Tok) -> Cow<'_, [u8]> {
    let text = super::text_of(src, tok);
    if tok.flags & WIDE == 0 { Cow::Borrowed(text) } else { Cow::Owned(normal(text)) }
}

impl<'a> Bindings<'a> {
    pub(super) fn bind(&mut self, name: Cow<'a, [u8]>, at: u32, val: Val) {
        if let Some(bound) = self.names.get_mut(&name) {
            let before = bound.val;
            if val.is_known() && !bound.val.is_known() {
                bound.val = val;
                self.learned = self.learned.saturating_add(1);
            } else if !bound.val.is_known() && bound.at != at && bound.val != val {
                bound.val = Val::default();
            } else if bound.at == at && !bound.val.is_known() && bound.val.form == Form::Other {
                bound.val = val;
            }
            if before != bound.val && bound.at == at {
                self.changes = self.changes.wrapping_add(1);
            }
            return;
        }
        self.seen |= bloom(&name);
        if val.is_any() {
            self.changes = self.changes.wrapping_add(1);
        }
        self.learned = self.learned.saturating_add(u32::from(val.is_known()));
        self.names.insert(name, Bound { val, at });
    }

    /// Gives what a name is bound to; `None` where the file does not bind it.
    #[inline]
    pub(super) fn get(&self, name: &[u8]) -> Option<Val> {
        if self.seen & bloom(name) == 0 {
            return None;
        }
        self.names.get(name).map(|bound| bound.val)
    }

    pub(super) fn bind_member(&mut self, name: Cow<'a, [u8]>, val: Val) {
        if !val.is_known() {
            return;
        }
        let before = self.members.insert(name, val);
        self.learned = self.learned.saturating_add(u32::from(before.is_none()));
        if before != Some(val) {
            self.changes = self.changes.wrapping_add(1);
        }
    }

    #[inline]
    pub(super) fn member(&self, name: &[u8]) -> Option<Val> {
        if self.members.is_empty() { None } else { self.members.get(name).copied() }
    }
}
