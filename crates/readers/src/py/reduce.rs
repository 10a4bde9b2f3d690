//! Operators with complete operands.

use plugward_types::Part;

use super::frame::{Frame, FrameKind, MINUS, Operand};
use super::parser::Parser;
use super::statement::StatementKind;
use crate::program::{List, Node, ScopeKind};

impl Parser<'_> {
    /// Applies the innermost operators that bind more tightly than `precedence`.
    pub(super) fn reduce_above(&mut self, precedence: u8) {
        while let Some(frame) = self.frames.pop_if(|frame| frame.kind.precedence() > precedence) {
            self.reduce(frame);
        }
    }

    /// Applies an operator. If an operand is missing, the result is the other one.
    fn reduce(&mut self, frame: Frame) {
        let base = frame.base as usize;
        let count = self.values.len().saturating_sub(base);
        self.has_value = count > 0;
        if let Some(first) = self.values.get_mut(base) {
            first.start = first.start.min(frame.start);
        }
        match frame.kind {
            FrameKind::Either | FrameKind::Otherwise if count > 1 => self.combine(base, Node::Either),
            FrameKind::Join if count > 1 => self.combine(base, Node::Join),
            FrameKind::Format | FrameKind::Walrus | FrameKind::As if count > 1 => self.pair(frame),
            FrameKind::Spread if count > 0 => {
                if let Some(value) = self.values.pop() {
                    self.put(Node::Spread(value.node), value.start, value.end);
                }
            }
            FrameKind::Keyword => self.keyword(frame),
            FrameKind::Yield => self.yielded(frame),
            FrameKind::LambdaBody => self.end_lambda(frame),
            FrameKind::Unary if count > 0 => self.unary(frame),
            FrameKind::Not if count > 0 => self.negate(base),
            FrameKind::Product if count > 1 && self.is_path(base) => self.join_path(base),
            _ if count > 1 => self.combine(base, Node::Mix),
            _ => {}
        }
    }

    /// Replaces the values after `base` by one.
    fn combine(&mut self, base: usize, make: fn(List) -> Node) {
        let values = self.values.part(base..);
        let start = values.first().map_or(0, |value| value.start);
        let end = values.last().map_or(0, |value| value.end);
        let items = self.take(base);
        self.put(make(items), start, end);
    }

    /// Applies `not`. `not False` is true; other results are unknown.
    fn negate(&mut self, base: usize) {
        let operand = self.values.last().copied();
        let text = operand.and_then(|value| self.source.get(value.start as usize..value.end as usize));
        match (operand, text.map(|text| text.strip_prefix(b"not").unwrap_or(text).trim_ascii())) {
            (Some(value), Some(b"False" | b"None" | b"0")) => {
                self.values.pop();
                let name = self.builder.text(b"True");
                self.put(Node::Name(name), value.start, value.end);
            }
            _ => self.combine(base, Node::Mix),
        }
    }

    /// Returns `true` if a slash joins paths, as in `pathlib`.
    fn is_path(&self, base: usize) -> bool {
        let values = self.values.part(base..);
        let is_text =
            |value: &Operand| matches!(self.builder.node(value.node), Node::Text(_) | Node::Join(_));
        let between = |pair: &[Operand]| {
            let [left, right] = pair else { return false };
            // In a text that is not Python, values can overlap.
            let gap = self.source.get(left.end as usize..right.start as usize);
            gap.is_some_and(|gap| gap.trim_ascii() == b"/")
        };
        values.iter().any(is_text) && values.windows(2).all(between)
    }

    fn join_path(&mut self, base: usize) {
        let values = self.values.split_off(base.min(self.values.len()));
        let start = values.first().map_or(0, |value| value.start);
        let end = values.last().map_or(0, |value| value.end);
        let slash = self.builder.text(b"/");
        let mut items = Vec::new();
        for value in values {
            if !items.is_empty() {
                items.push(self.push(Node::Text(slash), value.start, value.start));
            }
            items.push(value.node);
        }
        let items = self.builder.list(&items);
        self.put(Node::Join(items), start, end);
    }

    /// Applies a sign. The minus of a small integer is part of its value.
    fn unary(&mut self, frame: Frame) {
        match self.values.last().map(|value| (*value, self.builder.node(value.node))) {
            Some((value, Node::Number(number))) if frame.state == MINUS => {
                self.values.pop();
                self.put(Node::Number(number.wrapping_neg()), value.start, value.end);
            }
            _ => self.combine(frame.base as usize, Node::Mix),
        }
    }

    /// Appends a keyword argument.
    fn keyword(&mut self, frame: Frame) {
        let value = self.take_last(frame.base as usize);
        let value = value.map_or_else(|| self.unknown(), |value| value.node);
        let Some(name) = self.tokens.get(frame.extra as usize).copied() else { return };
        let key = self.push_name(name, Node::Text);
        self.put(Node::Field { key, value }, frame.start, self.end());
    }

    /// Formats a template, or binds the target of `:=` or `as`. The exception of `except` is unknown.
    fn pair(&mut self, frame: Frame) {
        let (Some(right), Some(left)) = (self.values.pop(), self.values.pop()) else { return };
        let (target, value) = match frame.kind {
            FrameKind::Format => {
                let node = Node::Format { template: left.node, value: right.node };
                return self.put(node, left.start, right.end);
            }
            FrameKind::Walrus => (left, right.node),
            _ if self.statement.kind == StatementKind::With => (right, left.node),
            _ => (right, self.unknown()),
        };
        let node = self.assign(target, value, right.end, ScopeKind::Function);
        if self.statement.kind == StatementKind::Except {
            // Python removes the name of an exception after the block.
            self.push(Node::Delete(target.node), right.start, right.end);
        }
        self.push_value(node, left.start, right.end);
    }

    /// Appends a yielded value. The value of `yield` itself is unknown.
    fn yielded(&mut self, frame: Frame) {
        let value = self.take_last(frame.base as usize);
        if let (Some(value), Some(function)) = (value, self.builder.current_function()) {
            self.push(Node::Return { function, value: value.node }, frame.start, value.end);
        }
        let unknown = self.unknown();
        self.push_value(unknown, frame.start, self.end());
    }
}
