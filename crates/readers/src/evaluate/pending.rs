//! Which expressions may have to be computed again.
//!
//! A round changes few values. Each change marks the expressions that use it, and a round visits only marked
//! ones, in their order. An expression whose dependencies are not known in advance, such as a call, is visited
//! in every round.

use super::Language;
use super::constant::Constant;
use crate::program::{Node, NodeFlags, NodeId, Program, Variable};

/// The end of a chain of readers, and the user of an expression that nothing uses.
const NONE: u32 = u32::MAX;

/// A set of expressions.
#[derive(Debug)]
struct Set(Vec<u64>);

impl Set {
    fn of(size: usize, bits: u64) -> Self {
        Self(vec![bits; size.div_ceil(64)])
    }

    fn insert(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index / 64) {
            *word |= 1 << (index % 64);
        }
    }

    fn remove(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index / 64) {
            *word &= !(1 << (index % 64));
        }
    }

    fn has(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 != 0)
    }
}

/// The readers of each variable, or of each name.
#[derive(Debug)]
struct Readers {
    /// The first reader.
    first: Vec<u32>,
    /// Whether the readers were marked in this pass.
    is_marked: Vec<bool>,
    /// Those whose readers were marked in this pass.
    changed: Vec<usize>,
}

impl Readers {
    fn new(size: usize) -> Self {
        Self { first: vec![NONE; size], is_marked: vec![false; size], changed: Vec::new() }
    }
}

/// The expressions that have to be visited, and the users of each value.
#[derive(Debug)]
pub(super) struct Pending {
    marked: Set,
    /// Expressions that are visited in every round.
    always: Set,
    /// By expression: the one that uses it as an operand.
    users: Vec<u32>,
    variables: Readers,
    names: Readers,
    /// By reader: the next one of the same variable or name.
    next: Vec<u32>,
    /// The bindings and returns, in order.
    pub(super) bindings: Vec<NodeId>,
    /// Whether every expression was marked in this pass.
    is_all: bool,
    size: usize,
}

impl Pending {
    /// Creates the set of all expressions of a program.
    pub(super) fn new(program: &Program, language: Language) -> Self {
        let size = program.len();
        let mut pending = Self {
            marked: Set::of(size, u64::MAX),
            always: Set::of(size, 0),
            users: vec![NONE; size],
            variables: Readers::new(program.variables()),
            names: Readers::new(program.texts.len()),
            next: vec![NONE; size],
            bindings: Vec::new(),
            is_all: false,
            size,
        };
        for index in (0..size).rev() {
            pending.add(program, index, language);
        }
        pending.bindings.reverse();
        pending
    }

    /// Makes every round visit the members, because they may change without a change of the object.
    pub(super) fn always_visit_members(&mut self, program: &Program) {
        for id in program.ids() {
            if matches!(program.node(id), Node::Global(_) | Node::Member { .. }) {
                self.always.insert(id.index());
            }
        }
    }

    fn add(&mut self, program: &Program, index: usize, language: Language) {
        match program.node(NodeId::from_index(index)) {
            Node::Unknown | Node::Text(_) | Node::Number(_) | Node::Module(_) | Node::Delete(_) => {}
            Node::Join(list)
            | Node::Mix(list)
            | Node::Either(list)
            | Node::Last(list)
            | Node::List(list)
            | Node::Record(list) => self.uses(index, program.items(list)),
            Node::Field { key, value } => self.uses(index, &[key, value]),
            Node::Spread(value) | Node::Import(value) => self.uses(index, &[value]),
            Node::Return { value, .. } => {
                self.bindings.push(NodeId::from_index(index));
                self.uses(index, &[value]);
            }
            Node::Variable(variable) => {
                // A Python variable may also be a name of an outer scope.
                let is_read = !program.flags(NodeId::from_index(index)).has(NodeFlags::TARGET);
                if language == Language::Python && is_read {
                    self.always.insert(index);
                }
                link(&mut self.variables, variable.index(), &mut self.next, index);
            }
            Node::Global(name) | Node::Member { name, .. } => {
                link(&mut self.names, name.index(), &mut self.next, index);
                if let Node::Member { object, .. } = program.node(NodeId::from_index(index)) {
                    self.uses(index, &[object]);
                }
            }
            Node::Bind { target, value } => {
                self.bindings.push(NodeId::from_index(index));
                match program.node(target) {
                    Node::Variable(_) | Node::Global(_) => self.uses(index, &[value]),
                    _ => self.always.insert(index),
                }
            }
            Node::Index { .. }
            | Node::Slice { .. }
            | Node::Format { .. }
            | Node::Call { .. }
            | Node::Element(_)
            | Node::Function(_)
            | Node::Name(_) => self.always.insert(index),
        }
    }

    /// Records the operands of an expression.
    fn uses(&mut self, index: usize, operands: &[NodeId]) {
        for operand in operands {
            let user = self.users.get_mut(operand.index());
            // Few operands have a second user, which is visited in every round.
            match user {
                Some(user) if *user == NONE => *user = u32::try_from(index).unwrap_or(NONE),
                Some(_) | None => self.always.insert(index),
            }
        }
    }

    /// Marks the expression that uses the value of this one.
    pub(super) fn mark_user(&mut self, node: NodeId) {
        if let Some(user) = self.users.get(node.index()).filter(|user| **user != NONE) {
            self.marked.insert(*user as usize);
        }
    }

    /// Marks the reads of a variable.
    pub(super) fn mark_variable(&mut self, variable: Variable) {
        mark(&mut self.variables, variable.index(), &self.next, &mut self.marked);
    }

    /// Marks the reads of a name. Texts that constant folding creates have none.
    pub(super) fn mark_name(&mut self, name: Constant) {
        mark(&mut self.names, name.index(), &self.next, &mut self.marked);
    }

    /// Marks every expression.
    pub(super) fn mark_all(&mut self) {
        if !self.is_all {
            self.is_all = true;
            self.marked.0.fill(u64::MAX);
        }
    }

    /// Ends a pass over the program. The next one visits the readers of what changed in this one.
    pub(super) fn end_pass(&mut self) {
        if core::mem::take(&mut self.is_all) {
            self.marked.0.fill(u64::MAX);
        }
        for readers in [&mut self.variables, &mut self.names] {
            for index in core::mem::take(&mut readers.changed) {
                if let Some(is_marked) = readers.is_marked.get_mut(index) {
                    *is_marked = false;
                }
                mark_chain(readers, index, &self.next, &mut self.marked);
            }
        }
    }

    /// Removes the mark of an expression. Returns `false` if it need not be visited.
    pub(super) fn take(&mut self, node: NodeId) -> bool {
        let is_marked = self.marked.has(node.index());
        self.marked.remove(node.index());
        is_marked || self.always.has(node.index())
    }

    /// Returns the first expression from an index on that has to be visited.
    pub(super) fn next(&self, from: usize) -> Option<NodeId> {
        let mut at = from / 64;
        let mut mask = u64::MAX << (from % 64);
        loop {
            let word = (self.marked.0.get(at)? | self.always.0.get(at)?) & mask;
            if word != 0 {
                let index = at * 64 + word.trailing_zeros() as usize;
                return (index < self.size).then(|| NodeId::from_index(index));
            }
            (at, mask) = (at + 1, u64::MAX);
        }
    }
}

/// Adds a reader to the front of a chain.
fn link(readers: &mut Readers, index: usize, next: &mut [u32], reader: usize) {
    if let (Some(first), Some(next)) = (readers.first.get_mut(index), next.get_mut(reader)) {
        *next = core::mem::replace(first, u32::try_from(reader).unwrap_or(NONE));
    }
}

/// Marks the readers of a changed variable or name, once in each pass.
///
/// A pass visits an expression once. Readers that it has not visited yet keep their mark, and the others are marked at its
/// end. A name that changes often does not make a pass quadratic.
fn mark(readers: &mut Readers, index: usize, next: &[u32], marked: &mut Set) {
    let Some(is_marked) = readers.is_marked.get_mut(index) else { return };
    if !core::mem::replace(is_marked, true) {
        readers.changed.push(index);
        mark_chain(readers, index, next, marked);
    }
}

fn mark_chain(readers: &Readers, index: usize, next: &[u32], marked: &mut Set) {
    let mut at = readers.first.get(index).copied().unwrap_or(NONE) as usize;
    while let Some(after) = next.get(at) {
        marked.insert(at);
        at = *after as usize;
    }
}
