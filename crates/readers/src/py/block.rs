//! The bodies of functions and classes.

use super::frame::{Frame, FrameKind, Operand};
use super::parser::Parser;
use super::statement::{Statement, StatementKind};
use super::token::TokenKind;
use crate::program::{CallKind, Node, NodeFlags, NodeId, ScopeKind};

/// The body of a function or class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) kind: ScopeKind,
    /// The indentation of its lines, once there is one.
    pub(super) body: u32,
    /// The statement that opens it.
    statement: Statement,
    decorators: usize,
}

impl Parser<'_> {
    /// Reads `def` or `class` to the bracket after the name.
    pub(super) fn open_definition(&mut self, kind: StatementKind) {
        self.statement.kind = kind;
        self.statement.fields = self.fields.len();
        self.skip(1);
        if self.kind(0) == TokenKind::Name {
            self.statement.name = self.token(0);
            self.skip(1);
        }
        match self.kind(0) {
            TokenKind::OpenParen => self.open_header(),
            // Type parameters are read as a list.
            next => self.statement.is_generic = next == TokenKind::OpenBracket,
        }
    }

    /// Opens the bracket after the name of a function or class.
    pub(super) fn open_header(&mut self) {
        self.skip(1);
        self.values.clear();
        self.statement.is_generic = false;
        if self.statement.kind == StatementKind::Def {
            self.open_parameters(FrameKind::Parameters, self.statement.start);
        } else {
            self.open(FrameKind::Bases, self.statement.start, 0, 0);
        }
    }

    /// Stores the bases of a class as its first entries.
    pub(super) fn close_bases(&mut self, frame: Frame) {
        for value in self.values.split_off((frame.base as usize).min(self.values.len())) {
            let entry = match self.builder.node(value.node) {
                Node::Field { .. } => continue,
                Node::Spread(_) => value.node,
                _ => self.push(Node::Spread(value.node), value.start, value.end),
            };
            self.fields.push(entry);
        }
        self.has_value = false;
    }

    /// Opens the body of the function or class that the statement defines.
    pub(super) fn open_block(&mut self, kind: ScopeKind) {
        if kind == ScopeKind::Function {
            self.begin_function(0);
        } else {
            self.builder.open_scope(kind);
        }
        let decorators = core::mem::take(&mut self.pending);
        self.blocks.push(Block { kind, body: u32::MAX, statement: self.statement, decorators });
    }

    /// Closes the blocks that end before a line with this indentation.
    pub(super) fn close_blocks(&mut self, indent: u32) {
        while let Some(block) = self.blocks.pop_if(|block| block.statement.indent >= indent) {
            self.close_block(block);
        }
    }

    fn close_block(&mut self, block: Block) {
        let end = self.end();
        let node = if block.kind == ScopeKind::Function {
            let function = self.builder.current_function();
            self.builder.close_function();
            function.map_or(Node::Unknown, Node::Function)
        } else {
            self.builder.close_scope();
            let fields = self.fields.split_off(block.statement.fields.min(self.fields.len()));
            Node::Record(self.builder.list(&fields))
        };
        let node = self.push(node, block.statement.start, end);
        self.define(block, node, end);
        // Decorators without a definition are on top of the stack.
        let count = self.decorators.len().saturating_sub(core::mem::take(&mut self.pending));
        self.decorators.truncate(count);
        let own = self.decorators.split_off(count.saturating_sub(block.decorators));
        if !own.is_empty() {
            let node = own.into_iter().rev().fold(node, |node, callee| {
                let arguments = self.builder.list(&[node]);
                let call = Node::Call { callee, arguments, kind: CallKind::Decorator };
                self.builder.push(call, self.builder.span(callee), NodeFlags::NONE)
            });
            self.define(block, node, end);
        }
    }

    /// Binds the name of a function or class.
    fn define(&mut self, block: Block, node: NodeId, end: u32) {
        if let Some(name) = block.statement.name {
            let target = self.push_name(name, Node::Name);
            self.statement.is_certain = block.statement.is_certain;
            let target = Operand { node: target, start: block.statement.start, end: name.end };
            self.assign(target, node, end, ScopeKind::Function);
        }
    }
}
