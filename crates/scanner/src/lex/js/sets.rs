//! Sets of names: what a name that is bound more than once may stand for.
//!
//! A node with the highest bit set is no node of the tables but a set of them. A set is kept once, so that two sets are
//! the same where their numbers are.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::bind::Val;
use crate::names::{Node, Word};

/// The mark of a set.
const SET: Node = 1 << 31;
/// Most names of one set. What is over it is said to be unread.
const MEMBERS: usize = 32;
/// Most sets of one file.
const SETS: usize = 1 << 14;

/// The sets of one file.
#[derive(Debug, Default)]
pub(super) struct Sets {
    lists: Vec<Rc<[Node]>>,
    numbers: BTreeMap<Rc<[Node]>, Node>,
    /// Members of sets that were asked for before.
    known: BTreeMap<(Node, Node, Word), Val>,
    overflow: bool,
}

/// The nodes that a value may be, one after the other.
#[derive(Debug, Clone)]
pub(super) enum Nodes {
    One(Option<Node>),
    Many(Rc<[Node]>, usize),
}

impl Iterator for Nodes {
    type Item = Node;

    #[inline]
    fn next(&mut self) -> Option<Node> {
        match self {
            Self::One(node) => node.take(),
            Self::Many(list, at) => {
                let node = list.get(*at).copied();
                *at = at.wrapping_add(1);
                node
            }
        }
    }
}

impl Sets {
    /// Says whether a set had no room for all that a name may stand for.
    pub(super) const fn is_over(&self) -> bool {
        self.overflow
    }

    /// Says whether a node is a set.
    #[inline]
    pub(super) const fn is_set(node: Node) -> bool {
        node & SET != 0
    }

    /// Gives the nodes that a node stands for: none, itself, or those of the set.
    #[inline]
    pub(super) fn nodes(&self, node: Node) -> Nodes {
        if !Self::is_set(node) {
            return Nodes::One((node != 0).then_some(node));
        }
        match self.lists.get((node & !SET) as usize) {
            Some(list) => Nodes::Many(Rc::clone(list), 0),
            None => Nodes::One(None),
        }
    }

    /// Gives the values that a value may be, one by one.
    pub(super) fn each(&self, val: Val) -> impl Iterator<Item = Val> + use<> {
        let (mut nodes, mut stars) = (self.nodes(val.node), self.nodes(val.star));
        core::iter::from_fn(move || {
            let (node, star) = (nodes.next(), stars.next());
            (node.is_some() || star.is_some()).then(|| Val {
                node: node.unwrap_or(0),
                star: star.unwrap_or(0),
                text: 0,
            })
        })
    }

    /// Says whether something holds for one of the nodes.
    #[inline]
    pub(super) fn any(&self, node: Node, holds: impl Fn(Node) -> bool) -> bool {
        if Self::is_set(node) { self.nodes(node).any(holds) } else { node != 0 && holds(node) }
    }

    /// Gives what stands for the nodes of both.
    #[inline]
    pub(super) fn union(&mut self, one: Node, other: Node) -> Node {
        if one == other || other == 0 {
            one
        } else if one == 0 {
            other
        } else {
            self.joined(one, other)
        }
    }

    #[cold]
    fn joined(&mut self, one: Node, other: Node) -> Node {
        let mut list: Vec<Node> = self.nodes(one).collect();
        for node in self.nodes(other) {
            if let Err(at) = list.binary_search(&node) {
                list.insert(at, node);
            }
        }
        if list.len() > MEMBERS {
            self.overflow = true;
            return one;
        }
        let list: Rc<[Node]> = Rc::from(list);
        if let Some(&number) = self.numbers.get(&list) {
            return number;
        }
        let Some(number) = Node::try_from(self.lists.len()).ok().filter(|_| self.lists.len() < SETS) else {
            self.overflow = true;
            return one;
        };
        self.lists.push(Rc::clone(&list));
        self.numbers.insert(list, number | SET);
        number | SET
    }

    /// Gives a value that is one of two; it has the first one's text.
    #[inline]
    pub(super) fn either(&mut self, one: Val, other: Val) -> Val {
        Val { node: self.union(one.node, other.node), star: self.union(one.star, other.star), text: one.text }
    }

    /// Gives a member of a value: `step` gives that of one node, `star` that of one whose receiver may be anything, 0 for any
    /// receiver.
    #[inline]
    pub(super) fn member(
        &mut self,
        val: Val,
        word: Word,
        step: impl Fn(Node) -> Node,
        star: impl Fn(Node) -> Node,
    ) -> Val {
        if Self::is_set(val.node) || Self::is_set(val.star) {
            return self.members(val, word, step, star);
        }
        let node = if val.node == 0 { 0 } else { step(val.node) };
        Val { node, star: star(val.star), text: 0 }
    }

    #[cold]
    fn members(
        &mut self,
        val: Val,
        word: Word,
        step: impl Fn(Node) -> Node,
        star: impl Fn(Node) -> Node,
    ) -> Val {
        let key = (val.node, val.star, word);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let mut member = Val::default();
        for node in self.nodes(val.node) {
            member.node = self.union(member.node, step(node));
        }
        if val.star == 0 {
            member.star = star(0);
        }
        for node in self.nodes(val.star) {
            member.star = self.union(member.star, star(node));
        }
        if self.known.len() < SETS {
            self.known.insert(key, member);
        }
        member
    }
}
