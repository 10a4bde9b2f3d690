//! Comprehensions and generator expressions.
//!
//! They are read in the order of the source. The element precedes the clauses that bind its names, so the
//! bracket opens their scope. The iterable of the first clause is outside of that scope: `[x for x in x]` has
//! two variables.

use super::frame::{
    CLAUSED, COMMA, COMPREHENDED, CONDITION, FIRST_ITERABLE, Frame, FrameKind, ITERABLE, TARGET,
};
use super::parser::Parser;
use super::token::{Token, TokenKind};
use crate::program::{Node, ScopeKind};

impl Parser<'_> {
    /// Reads `for` or `if` of a comprehension; returns `false` elsewhere.
    pub(super) fn clause(&mut self, token: Token) -> bool {
        let is_condition = token.kind == TokenKind::If;
        self.reduce_above(if is_condition { FrameKind::Condition.precedence() } else { 0 });
        if self.frames.last().is_some_and(|frame| frame.kind == FrameKind::Clause) {
            self.close_wall(self.end());
        }
        let Some(bracket) = self.frames.last().filter(|frame| !frame.kind.has_parameters()) else {
            return false;
        };
        if bracket.state & COMPREHENDED == 0 || (is_condition && bracket.state & CLAUSED == 0) {
            return false;
        }
        self.end_item();
        self.open(FrameKind::Clause, token.start, self.values.len(), 0);
        self.change(|frame| frame.extra = if is_condition { CONDITION } else { TARGET });
        self.skip(1);
        true
    }

    /// Ends the target of a clause before `in`. Returns `false` if the innermost wall has none.
    pub(super) fn end_clause_target(&mut self) -> bool {
        let [.., bracket, clause] = self.frames.as_mut_slice() else { return false };
        if clause.kind != FrameKind::Clause || clause.extra != TARGET {
            return false;
        }
        let (base, is_tuple) = (clause.base as usize, clause.state & COMMA);
        let is_first = bracket.state & CLAUSED == 0;
        bracket.state |= CLAUSED;
        (clause.state, clause.extra) = (0, if is_first { FIRST_ITERABLE } else { ITERABLE });
        match self.take_one(base, is_tuple) {
            Some(target) => self.values.push(target),
            None => self.put_missing(),
        }
        if is_first {
            self.builder.suspend_scope();
        }
        self.has_value = false;
        true
    }

    /// Ends a clause: assigns the elements of its iterable to its target.
    pub(super) fn close_clause(&mut self, frame: Frame, end: u32) {
        let base = frame.base as usize;
        self.has_value = false;
        if !matches!(frame.extra, ITERABLE | FIRST_ITERABLE) {
            return self.values.truncate(base);
        }
        let iterable = self.take_one(base + 1, frame.state & COMMA);
        let iterable = iterable.map_or_else(|| self.unknown(), |value| value.node);
        let element = self.push(Node::Element(iterable), frame.start, end);
        if frame.extra == FIRST_ITERABLE {
            self.builder.resume_scope();
        }
        if let Some(target) = self.take_last(base) {
            self.assign(target, element, end, ScopeKind::Block);
        }
    }
}
