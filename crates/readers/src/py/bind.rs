//! Assignment targets: declares their names and binds them.

use super::frame::Operand;
use super::parser::Parser;
use super::token::Token;
use crate::program::{Node, NodeFlags, NodeId, ScopeKind};

impl Parser<'_> {
    /// Declares the names of a target, in the function or the innermost scope, and binds it.
    ///
    /// A name in a class body becomes one of the class entries.
    pub(super) fn assign(&mut self, target: Operand, value: NodeId, end: u32, home: ScopeKind) -> NodeId {
        let mut open = vec![target.node];
        while let Some(id) = open.pop() {
            match self.builder.node(id) {
                Node::Name(name) if home == ScopeKind::Block => self.builder.declare(name),
                Node::Name(name) => {
                    self.builder.declare_in_function(name);
                    if self.statement.is_certain && self.frames.is_empty() {
                        self.builder.mark(id, NodeFlags::CERTAIN);
                    }
                }
                Node::List(items) => open.extend_from_slice(self.builder.items(items)),
                Node::Spread(inner) => open.push(inner),
                _ => {}
            }
        }
        let in_class = self.blocks.last().is_some_and(|block| block.kind == ScopeKind::Class);
        if let Node::Name(name) = self.builder.node(target.node)
            && in_class
            && self.frames.is_empty()
        {
            let key = self.push(Node::Text(name), target.start, target.end);
            let field = self.push(Node::Field { key, value }, target.start, end);
            self.fields.push(field);
        }
        self.builder.mark_target(target.node);
        self.push(Node::Bind { target: target.node, value }, target.start, end)
    }

    /// Binds a name.
    pub(super) fn assign_name(&mut self, name: Token, value: NodeId) {
        let node = self.push_name(name, Node::Name);
        self.assign(Operand { node, start: name.start, end: name.end }, value, name.end, ScopeKind::Function);
    }
}
