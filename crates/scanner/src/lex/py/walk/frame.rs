//! What the walk keeps of brackets, elements and operands that are open.

use crate::lex::py::bind::Val;
use crate::view::How;

/// Whether the values of a statement are parted by commas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tuple {
    No,
    Yes,
}

/// What an open bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum In {
    Statement,
    Call,
    Index,
    Group,
    List,
    Dict,
    Params,
    Hole,
}

/// The operand that is being read: a chain of members, indices and calls.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four facts of an operand that go on and off on their own")]
pub(super) struct Cur {
    pub(super) val: Val,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) how: How,
    pub(super) active: bool,
    /// A name alone, or a member: the token that binds.
    pub(super) target: u32,
    pub(super) member: bool,
    /// An item under a constant: the first token of that, plus one.
    pub(super) index: u32,
    /// It is the result of a call.
    pub(super) called: bool,
    pub(super) decorator: bool,
}

impl Cur {
    /// Says whether it is a name and nothing behind it.
    pub(super) const fn is_name(&self) -> bool {
        self.target != 0 && !self.member && self.first == self.last
    }
}

/// One element: an argument, an item, a side of an assignment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Elem {
    pub(super) first: u32,
    pub(super) operands: u32,
    /// Operators that join or compare.
    pub(super) operators: u32,
    pub(super) val: Val,
    pub(super) text: bool,
    pub(super) negate: bool,
    /// How many asterisks stand in front.
    pub(super) spread: u8,
    /// A keyword's name or a key's text: its token, plus one.
    pub(super) key: u32,
    /// The name in front of `:=`: its token, plus one.
    pub(super) walrus: u32,
    /// Operands that are names of the tables.
    pub(super) known: usize,
    pub(super) target: Cur,
    /// What `and`, `or` and `else` have parted from what follows, and how many there are.
    pub(super) chosen: Val,
    pub(super) choices: u32,
    /// What stands behind the last of them is compared.
    pub(super) compared: bool,
}

impl Elem {
    /// Says whether nothing of it is read.
    pub(super) const fn is_fresh(&self) -> bool {
        self.operands == 0 && self.operators == 0 && self.choices == 0
    }
}

/// A finished element.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item {
    pub(super) key: u32,
    pub(super) spread: u8,
    pub(super) val: Val,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) target: Cur,
}

/// The head of a loop, up to the end of what it goes through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looped {
    /// The element that it stands in.
    pub(super) outer: Elem,
    /// Its targets: from one token to another, which is 0 as long as `in` is to come.
    pub(super) from: u32,
    pub(super) to: u32,
    /// It goes through values that commas part.
    pub(super) tuple: Tuple,
}

impl Looped {
    /// Says whether what it goes through is read.
    pub(super) const fn is_in(&self) -> bool {
        self.to != 0
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) kind: In,
    pub(super) base: Cur,
    pub(super) cur: Cur,
    pub(super) elem: Elem,
    pub(super) items: usize,
    pub(super) open: u32,
    /// The element that a lambda stands in, while its parameters are read.
    pub(super) lambda: Option<Elem>,
    /// What stands in front of an annotation.
    pub(super) annotated: Option<Cur>,
    /// A loop whose head is read.
    pub(super) looped: Option<Looped>,
    /// The element that a condition stands in, while that is read.
    pub(super) saved: Option<Elem>,
    /// The last keyword was `in`, behind no `for`: a question, no walk.
    pub(super) asks: bool,
    pub(super) comma: bool,
}

impl Frame {
    pub(super) fn new(kind: In, base: Cur, items: usize, open: u32) -> Self {
        Self {
            kind,
            base,
            cur: Cur::default(),
            elem: Elem { first: open.saturating_add(1), ..Elem::default() },
            items,
            open,
            lambda: None,
            annotated: None,
            looped: None,
            saved: None,
            asks: false,
            comma: false,
        }
    }
}
