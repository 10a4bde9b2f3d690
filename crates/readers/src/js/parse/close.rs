//! Ends of expressions and brackets.

use plugward_types::Part;

use super::super::token::{NO_MATE, Token, TokenKind};
use super::Parser;
use super::frame::{Frame, Loop, Role, State, Statement};
use crate::program::{CallKind, Node, NodeFlags, NodeId, ScopeKind};

impl Parser<'_> {
    /// Ends an expression at a line break or at a token that cannot continue it.
    pub(super) fn separate(&mut self) {
        self.reduce_above(0);
        match self.top().role {
            Role::Statement(_) | Role::Field => self.pop(),
            Role::Heritage => self.class_body(),
            _ => self.settle(),
        }
    }

    /// Sets the state in which the innermost frame continues.
    pub(super) fn settle(&mut self) {
        self.state = match self.top().role {
            Role::Block { .. } => State::Statement,
            Role::Members(_) => State::Key,
            _ => State::Operand,
        };
    }

    pub(super) fn comma(&mut self) {
        let top = self.top();
        // A hole in an array takes an index: `[, a]`.
        if top.role == Role::Array && self.state == State::Operand {
            let node = self.missing();
            self.value(node, top.start);
        }
        self.reduce_above(0);
        self.skip(1);
        match self.top().role {
            Role::Field => return self.pop(),
            Role::Statement(Statement::Plain | Statement::Declare(_))
            | Role::For(Loop::First | Loop::Next, _) => {
                self.end_part();
            }
            _ => {}
        }
        self.settle();
    }

    pub(super) fn semicolon(&mut self) {
        self.reduce_above(0);
        self.skip(1);
        match self.top().role {
            Role::Statement(_) | Role::Field => return self.pop(),
            Role::For(_, declare) => {
                self.end_part();
                self.set_role(Role::For(Loop::Next, declare));
            }
            _ => {}
        }
        self.settle();
    }

    /// Ends one of the comma-separated expressions of a statement or loop head.
    fn end_part(&mut self) {
        let Frame { role, base, .. } = self.top();
        match role {
            Role::Statement(Statement::Declare(scope)) | Role::For(Loop::First, Some(scope)) => {
                self.declare_values(base, scope);
            }
            _ => self.mark_statements(base, self.values.len()),
        }
        self.values.truncate(base);
    }

    /// Marks operands with unused values.
    pub(super) fn mark_statements(&mut self, start: usize, end: usize) {
        for value in self.values.part(start..end) {
            self.out.builder.mark(value.node, NodeFlags::STATEMENT);
        }
    }

    /// Takes the operands from an index on as one expression, with the value of the last.
    pub(super) fn combine(&mut self, base: usize, start: u32) -> Option<NodeId> {
        if self.values.len().saturating_sub(base) < 2 {
            return self.pop_value(base).map(|value| value.node);
        }
        self.mark_statements(base, self.values.len().saturating_sub(1));
        let list = self.take(base);
        Some(self.node(Node::Last(list), start))
    }

    pub(super) fn combine_or_missing(&mut self, base: usize, start: u32) -> NodeId {
        match self.combine(base, start) {
            Some(node) => node,
            None => self.missing(),
        }
    }

    /// Closes a bracket and everything open inside it.
    pub(super) fn close(&mut self, tok: Token) {
        match tok.kind {
            TokenKind::TemplateMiddle | TokenKind::TemplateTail if self.templates > 0 => {
                return self.close_hole(tok);
            }
            TokenKind::JsxEnd if self.elements > 0 => {
                self.pop_until(|role| role == Role::Element);
                self.skip(1);
                return self.pop();
            }
            _ => {}
        }
        let mate = tok.mate();
        if mate == NO_MATE {
            // An unmatched closing bracket.
            self.skip(1);
            return self.separate();
        }
        // Frames opened after the matching bracket are incomplete.
        while self.frames.len() > 1 && self.top().open > mate {
            self.pop();
        }
        self.skip(1);
        let Frame { role, open, .. } = self.top();
        if open != mate {
            return self.settle();
        }
        self.pop();
        match role {
            Role::Parameters => self.function_body(),
            Role::Computed(kind) => self.after_key(kind),
            _ => {}
        }
    }

    fn close_hole(&mut self, tok: Token) {
        self.pop_until(|role| matches!(role, Role::Template | Role::Tagged));
        self.template_part(tok);
        self.skip(1);
        if tok.kind == TokenKind::TemplateTail {
            self.pop();
        }
    }

    pub(super) fn pop_until(&mut self, is_end: impl Fn(Role) -> bool) {
        while self.frames.len() > 1 && !is_end(self.top().role) {
            self.pop();
        }
    }

    /// Closes everything.
    pub(super) fn unwind(&mut self) {
        self.pop_until(|_| false);
        self.state = State::Statement;
    }

    /// Closes the innermost frame, complete or not.
    pub(super) fn pop(&mut self) {
        if self.frames.len() < 2 {
            return;
        }
        let Some(frame) = self.frames.pop() else { return };
        let Frame { role, base, start, .. } = frame;
        match role {
            Role::Decorator(state) => {
                if let Some(callee) = self.combine(base, start) {
                    let arguments = self.out.builder.list(&[]);
                    self.node(Node::Call { callee, arguments, kind: CallKind::Decorator }, start);
                }
                self.state = state;
            }
            Role::Statement(statement) => self.end_statement(statement, base, start),
            Role::Field => self.end_field(base, start),
            Role::Heritage => {
                if let Some(node) = self.combine(base, start) {
                    // A class inherits the members of its base.
                    self.push(Node::Spread(node), start);
                    let arguments = self.out.builder.list(&[]);
                    let call = Node::Call { callee: node, arguments, kind: CallKind::New };
                    let call = self.node(call, start);
                    self.push(Node::Spread(call), start);
                }
            }
            Role::Group | Role::Computed(_) => {
                let node = self.combine_or_missing(base, start);
                self.value(node, start);
            }
            Role::Arguments(_) | Role::Import | Role::Array | Role::Index | Role::Template => {
                self.end_bracket(frame);
            }
            Role::Tagged => self.end_tagged(base, start),
            Role::Element => self.end_element(base, start),
            Role::ElementHole => self.settle(),
            Role::Head => {
                self.values.truncate(base);
                self.settle();
            }
            Role::For(part, scope) => self.end_for(part, scope, base, start),
            Role::Parameters => self.end_parameters(base),
            Role::Catch => {
                self.declare_values(base, ScopeKind::Block);
                self.values.truncate(base);
                self.settle();
            }
            Role::Block { scopes, heads } => self.end_block(scopes, heads),
            Role::Members(_) => self.end_members(base, start),
            Role::Function(id, role, name) => self.end_function(id, role, name, start),
            Role::Class(role, name) => self.end_class(role, name, base, start),
            _ => self.reduce(frame),
        }
    }

    fn end_bracket(&mut self, frame: Frame) {
        let Frame { role, base, start, .. } = frame;
        let first = base + 1;
        let node = match role {
            Role::Arguments(kind) => {
                let arguments = self.take(first);
                let Some(callee) = self.pop_value(base) else { return };
                Node::Call { callee: callee.node, arguments, kind }
            }
            Role::Import => {
                // The options of `import()` are evaluated but not used.
                self.values.truncate(first);
                Node::Import(self.combine_or_missing(base, start))
            }
            Role::Index => {
                let key = self.combine_or_missing(first, start);
                let Some(object) = self.pop_value(base) else { return };
                Node::Index { object: object.node, key }
            }
            Role::Template => {
                self.templates = self.templates.saturating_sub(1);
                Node::Join(self.take(base))
            }
            _ => Node::List(self.take(base)),
        };
        self.push(node, start);
    }

    /// Handles a tagged template, which calls its tag with the texts and the values.
    fn end_tagged(&mut self, base: usize, start: u32) {
        self.templates = self.templates.saturating_sub(1);
        let first = base + 1;
        let is_text = |id: NodeId| matches!(self.out.builder.node(id), Node::Text(_));
        let parts = self.values.part(first..);
        let holes: Vec<_> = parts.iter().copied().filter(|part| !is_text(part.node)).collect();
        if !(holes.is_empty() && parts.len() == 1) {
            let from = parts.first().map_or(start, |part| part.start);
            let list = self.take(first);
            self.push(Node::Join(list), from);
            self.values.extend(holes);
        }
        self.end_bracket(Frame { role: Role::Arguments(CallKind::Plain), base, start, open: NO_MATE });
    }

    fn end_element(&mut self, base: usize, start: u32) {
        self.elements = self.elements.saturating_sub(1);
        let node = if self.values.len() > base { Node::Mix(self.take(base)) } else { Node::Unknown };
        self.push(node, start);
    }
}
