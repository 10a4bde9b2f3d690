//! Functions and classes.

use super::super::keyword::Keyword;
use super::super::token::{NO_MATE, Token, TokenKind};
use super::Parser;
use super::frame::{Frame, FunctionRole, Members, Role, State};
use crate::program::{FunctionId, Node, NodeId, ScopeKind};

/// Returns the index of a token, or [`NO_MATE`] for `None`.
fn index_of(at: Option<usize>) -> u32 {
    at.and_then(|at| u32::try_from(at).ok()).unwrap_or(NO_MATE)
}

impl Parser<'_> {
    /// Reads `function`, its name, and the parenthesis of its parameters.
    pub(super) fn function(&mut self, role: FunctionRole) {
        let start = self.function_start();
        self.skip(if self.kind(1) == TokenKind::Star { 2 } else { 1 });
        let name = (self.kind(0) == TokenKind::Word).then_some(self.at);
        if name.is_some() {
            if role == FunctionRole::Declaration {
                self.declare_word();
            }
            self.skip(1);
        }
        self.skip_angles();
        if self.kind(0) == TokenKind::LParen {
            self.open_function(role, name, start);
        } else {
            self.separate();
        }
    }

    /// Returns the start of a function, including a preceding `async`.
    pub(super) fn function_start(&self) -> u32 {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.filter(|tok| tok.kw == Keyword::Async).map_or(self.peek(0).start, |tok| tok.start)
    }

    /// Declares the next word.
    pub(super) fn declare_word(&mut self) {
        let name = self.name_of(self.peek(0));
        self.out.builder.declare(name);
    }

    fn push_function(&mut self, role: FunctionRole, name: Option<usize>, start: u32) -> FunctionId {
        let id = self.out.builder.open_function();
        let role = Role::Function(id, role, index_of(name));
        self.frames.push(Frame { role, base: self.values.len(), start, open: NO_MATE });
        id
    }

    /// Opens a function at the parenthesis of its parameters.
    pub(super) fn open_function(&mut self, role: FunctionRole, name: Option<usize>, start: u32) {
        self.push_function(role, name, start);
        if role == FunctionRole::Expression
            && let Some(tok) = name.and_then(|at| self.tokens.get(at)).copied()
        {
            let name = self.name_of(tok);
            self.out.builder.declare(name);
        }
        self.open_bracket(Role::Parameters, self.values.len(), start);
    }

    pub(super) fn end_parameters(&mut self, base: usize) {
        self.declare_values(base, ScopeKind::Block);
        self.move_to_list(base);
        if let Role::Function(id, ..) = self.top().role {
            self.out.builder.set_parameters(id, &self.list);
        }
        self.state = State::Operand;
    }

    /// Continues after the parameters of a function.
    pub(super) fn function_body(&mut self) {
        let Role::Function(id, role, _) = self.top().role else { return };
        let is_arrow = role == FunctionRole::Arrow;
        if is_arrow && self.kind(0) == TokenKind::Colon {
            let next = self.at + 1;
            self.at = self.types.skip_return(next).unwrap_or(next);
        } else {
            self.skip_annotation();
        }
        if is_arrow && self.kind(0) == TokenKind::Arrow {
            self.skip(1);
        }
        match self.kind(0) {
            TokenKind::LBrace => self.block(None),
            // The body is an expression, so the frame becomes an operator.
            _ if is_arrow => self.set_role(Role::Arrow(id)),
            _ => self.pop(),
        }
    }

    /// Reads `x => …`.
    pub(super) fn short_arrow(&mut self, tok: Token) {
        self.push_function(FunctionRole::Arrow, None, self.function_start());
        let base = self.values.len();
        let node = self.name_node(tok);
        self.value(node, tok.start);
        self.end_parameters(base);
        self.skip(1);
        self.function_body();
    }

    pub(super) fn end_function(&mut self, id: FunctionId, role: FunctionRole, name: u32, start: u32) {
        // The name of a function expression is visible only inside the function.
        let is_inside = role == FunctionRole::Expression;
        if !is_inside {
            self.out.builder.close_function();
        }
        let node = self.node(Node::Function(id), start);
        self.bind_name(name, node);
        if is_inside {
            self.out.builder.close_function();
        }
        if role == FunctionRole::Declaration {
            return self.end_heads();
        }
        self.value(node, start);
        if role == FunctionRole::Method {
            self.pop();
        }
    }

    /// Appends `name = value` for a name token.
    fn bind_name(&mut self, name: u32, value: NodeId) {
        if let Some(tok) = self.tokens.get(name as usize).copied() {
            let target = self.name_node(tok);
            self.out.builder.bind(target, value, tok.span());
        }
    }

    /// Reads `class`, its name and its base.
    pub(super) fn class(&mut self, role: FunctionRole, start: u32) {
        self.skip(1);
        if role == FunctionRole::Expression {
            self.out.builder.open_scope(ScopeKind::Block);
        }
        self.open_class(role, start);
        self.skip_angles();
        if self.kw(0) == Keyword::Extends { self.open(Role::Heritage, 1) } else { self.class_body() }
    }

    /// Opens a class or enum at its name.
    pub(super) fn open_class(&mut self, role: FunctionRole, start: u32) {
        let is_named =
            self.kind(0) == TokenKind::Word && !matches!(self.kw(0), Keyword::Extends | Keyword::Implements);
        let name = is_named.then_some(self.at);
        if is_named {
            self.declare_word();
            self.skip(1);
        }
        let role = Role::Class(role, index_of(name));
        self.frames.push(Frame { role, base: self.values.len(), start, open: NO_MATE });
    }

    /// Opens the body of a class, after `extends` and `implements`.
    pub(super) fn class_body(&mut self) {
        if self.top().role == Role::Heritage {
            self.pop();
        }
        if self.kw(0) == Keyword::Implements {
            self.skip_types();
        }
        self.open_members(Members::Class);
    }

    /// Opens the members of a class or enum.
    pub(super) fn open_members(&mut self, kind: Members) {
        let Frame { base, start, .. } = self.top();
        if self.kind(0) != TokenKind::LBrace {
            return self.pop();
        }
        self.open_bracket(Role::Members(kind), base, start);
        self.state = State::Key;
    }

    pub(super) fn end_class(&mut self, role: FunctionRole, name: u32, base: usize, start: u32) {
        let node = self.combine_or_missing(base, start);
        self.bind_name(name, node);
        if role != FunctionRole::Expression {
            return self.end_heads();
        }
        self.out.builder.close_scope();
        self.value(node, start);
    }
}
