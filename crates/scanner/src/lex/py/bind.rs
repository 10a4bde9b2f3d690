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

/// Most names of the tables that one name stands for. What is over it is said to be unread.
const OTHERS: usize = 16;

#[derive(Debug, Clone, Default)]
struct Bound {
    val: Val,
    /// What else of the tables it is somewhere in the file.
    others: Vec<Val>,
    /// The token that bound it: a second one makes a constant none.
    at: u32,
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Added {
    Known,
    New,
    TooMany,
}

#[derive(Debug, Default)]
pub(super) struct Bindings<'a> {
    names: BTreeMap<Cow<'a, [u8]>, Bound>,
    /// Members of any object that hold something known.
    members: BTreeMap<Cow<'a, [u8]>, Bound>,
    /// Which walk over the file this is: in each, a name that stands for several things is another one of them.
    pub(super) walk: usize,
    /// How many more walks there are for them.
    pub(super) walks: usize,
    /// Something stands for more than is kept apart.
    pub(super) too_many: bool,
    /// Names that are the file's own below an offset.
    replaced: BTreeMap<Cow<'a, [u8]>, u32>,
    /// Names are deleted somewhere, which brings back what was in their place.
    pub(super) deletes: bool,
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
        self.names.insert(name, Bound { val, at, others: Vec::new() });
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

    /// Gives what a name is bound to; `None` where the file does not bind it.
    #[inline]
    pub(super) fn get(&self, name: &[u8]) -> Option<Val> {
        if self.seen & bloom(name) == 0 {
            return None;
        }
        self.names.get(name).map(|bound| bound.in_walk(self.walk))
    }

    /// Says that a name is the file's own below an offset.
    pub(super) fn replace(&mut self, name: Cow<'a, [u8]>, from: u32) {
        self.replaced.entry(name).or_insert(from);
    }

    /// Says whether a name is the file's own at an offset, and nothing else.
    pub(super) fn is_replaced(&self, name: &[u8], at: u32) -> bool {
        !self.deletes && self.replaced.get(name).is_some_and(|from| *from <= at)
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
        if !val.is_known() {
            return;
        }
        let known = self.members.len();
        let bound = self.members.entry(name).or_insert_with(|| Bound { val, ..Bound::default() });
        let added = bound.add(val);
        self.walks = self.walks.max(bound.others.len());
        self.note(if self.members.len() > known { Added::New } else { added });
    }

    #[inline]
    pub(super) fn member(&self, name: &[u8]) -> Option<Val> {
        if self.members.is_empty() {
            return None;
        }
        self.members.get(name).map(|bound| bound.in_walk(self.walk))
    }
}
