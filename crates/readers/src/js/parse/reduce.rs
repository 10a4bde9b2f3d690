//! Operators with complete operands.

use super::Parser;
use super::frame::{Binary, Frame, Role};
use crate::program::{CallKind, FunctionId, List, Node, NodeFlags, NodeId};

impl Parser<'_> {
    /// Applies operators that bind more tightly than a precedence.
    pub(super) fn reduce_above(&mut self, precedence: u8) {
        while self.top().role.precedence() > precedence {
            self.pop();
        }
    }

    /// Applies an operator. If operands are missing, the result is the value of the others.
    pub(super) fn reduce(&mut self, frame: Frame) {
        let Frame { role, base, start, .. } = frame;
        let several = self.values.len().saturating_sub(base) > 1;
        match role {
            Role::Binary(binary) if several => {
                let list = self.take(base);
                self.push(combined(binary, list), start);
            }
            Role::Then | Role::Else if several => {
                let list = self.take(base);
                self.push(Node::Either(list), start);
            }
            Role::Assign(binary) if several => self.end_assign(binary, base, start),
            Role::Binary(_) | Role::Then | Role::Else | Role::Assign(_) => {}
            Role::Arrow(id) => self.end_short_arrow(id, base, start),
            _ => {
                if let Some(value) = self.pop_value(base) {
                    self.end_prefix(role, value.node, start);
                }
            }
        }
    }

    fn end_prefix(&mut self, role: Role, operand: NodeId, start: u32) {
        let node = match (role, self.out.builder.node(operand)) {
            (Role::New, _) => {
                let arguments = self.out.builder.list(&[]);
                Node::Call { callee: operand, arguments, kind: CallKind::New }
            }
            (Role::Spread, _) => Node::Spread(operand),
            (Role::Delete, _) => Node::Delete(operand),
            (Role::NamePart, _) => {
                self.value(operand, start);
                return self.step();
            }
            (Role::Minus, Node::Number(number)) => Node::Number(number.saturating_neg()),
            (Role::Yield, _) => {
                if let Some(function) = self.out.builder.current_function() {
                    self.node(Node::Return { function, value: operand }, start);
                }
                Node::Unknown
            }
            (Role::Typeof, _) => {
                // `typeof` returns a text with an unknown value.
                let list = self.out.builder.list(&[operand]);
                let mixed = self.node(Node::Mix(list), start);
                let empty = self.out.builder.text(b"");
                let empty = self.node(Node::Text(empty), start);
                Node::Join(self.out.builder.list(&[empty, mixed]))
            }
            _ => Node::Mix(self.out.builder.list(&[operand])),
        };
        self.push(node, start);
    }

    /// Applies `++` or `--`: assigns an unknown value that depends on the operand.
    pub(super) fn step(&mut self) {
        let Some(target) = self.values.pop() else { return };
        let read = self.read_of(target.node);
        let list = self.out.builder.list(&[read]);
        let value = self.node(Node::Mix(list), target.start);
        self.bind(target.node, value, target.start);
    }

    /// Appends a target again, as a read.
    fn read_of(&mut self, target: NodeId) -> NodeId {
        let span = self.out.builder.span(target);
        self.out.builder.push(self.out.builder.node(target), span, NodeFlags::NONE)
    }

    /// Appends `target = value` as an operand.
    fn bind(&mut self, target: NodeId, value: NodeId, start: u32) {
        let span = (start as usize, self.end() as usize);
        let node = self.out.builder.bind(target, value, span);
        self.value(node, start);
    }

    fn end_assign(&mut self, binary: Option<Binary>, base: usize, start: u32) {
        let Some(value) = self.pop_value(base) else { return };
        let Some(target) = self.pop_value(base) else { return };
        let mut node = value.node;
        if let Some(binary) = binary {
            let read = self.read_of(target.node);
            let list = self.out.builder.list(&[read, value.node]);
            node = self.node(combined(binary, list), start);
        }
        self.bind(target.node, node, start);
    }

    fn end_short_arrow(&mut self, id: FunctionId, base: usize, start: u32) {
        if let Some(value) = self.pop_value(base) {
            self.node(Node::Return { function: id, value: value.node }, value.start);
        }
        self.out.builder.close_function();
        self.push(Node::Function(id), start);
    }
}

const fn combined(binary: Binary, list: List) -> Node {
    match binary {
        Binary::Join => Node::Join(list),
        Binary::Either => Node::Either(list),
        Binary::Subtract | Binary::Multiply | Binary::Compare => Node::Mix(list),
    }
}
