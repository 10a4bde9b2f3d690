//! Separators, and the ends of brackets.

use super::frame::{ASIDE, COMMA, COMPREHENDED, DEFAULT, DICTIONARY, Frame, FrameKind, KEYED};
use super::parser::Parser;
use super::token::{Token, TokenKind};
use crate::program::{CallKind, List, Node};

impl TokenKind {
    /// Returns `true` for tokens that end an expression.
    pub(super) const fn is_separator(self) -> bool {
        use TokenKind::{
            Assign, Close, CloseBrace, Colon, Comma, Hole, HoleEnd, Line, Middle, Semicolon, Tail,
        };
        matches!(
            self,
            Assign | Close | CloseBrace | Colon | Comma | Hole | HoleEnd | Line | Middle | Semicolon | Tail
        )
    }
}

impl Parser<'_> {
    /// Reads a token that does not continue an expression.
    pub(super) fn separator(&mut self, token: Token) {
        let wall = self.wall();
        match token.kind {
            TokenKind::Line => {
                self.unwind();
                self.skip(1);
                self.end_statement();
            }
            TokenKind::Close => self.close_bracket(token),
            TokenKind::CloseBrace | TokenKind::HoleEnd => self.close_brace(token),
            // The next part of an f-string closes an incomplete replacement field.
            TokenKind::Middle | TokenKind::Tail | TokenKind::Hole => match wall {
                Some(FrameKind::Strings) => {}
                Some(_) => self.close_wall(self.end()),
                None => self.skip(1),
            },
            TokenKind::Colon => self.colon(wall),
            TokenKind::Assign => self.assignment(wall),
            TokenKind::Comma | TokenKind::Semicolon if wall.is_some() => {
                // A comma makes parentheses a tuple.
                if wall.is_some_and(|wall| !wall.has_parameters()) {
                    self.change(|frame| frame.state |= COMMA);
                }
                self.end_item();
                self.skip(1);
            }
            TokenKind::Comma => {
                self.statement.is_tuple = COMMA;
                self.has_value = false;
                self.skip(1);
            }
            _ if wall.is_some() => self.end_item(),
            kind => {
                self.skip(usize::from(kind == TokenKind::Semicolon));
                self.end_statement();
            }
        }
    }

    /// Ends an item of the innermost bracket.
    pub(super) fn end_item(&mut self) {
        if let Some(frame) = self.frames.last().copied() {
            match frame.kind {
                FrameKind::Brace if frame.state & KEYED != 0 => self.end_entry(frame),
                FrameKind::Index if frame.extra > 0 => {
                    let parts = self.end_slice(frame);
                    self.put(Node::Mix(parts), frame.start, self.end());
                }
                FrameKind::Parameters | FrameKind::LambdaParameters => self.end_parameter(),
                _ => {}
            }
        }
        self.has_value = false;
    }

    /// Reads a colon: of a header, a lambda, a dictionary entry, a slice, or out of place.
    fn colon(&mut self, wall: Option<FrameKind>) {
        let keyed = self.frames.last().is_some_and(|frame| frame.state & KEYED != 0);
        match wall {
            None => return self.end_header(),
            Some(FrameKind::LambdaParameters) => return self.begin_lambda(),
            Some(FrameKind::Brace) if self.has_value && !keyed => {
                self.change(|frame| frame.state |= KEYED | DICTIONARY);
            }
            Some(FrameKind::Index) => {
                if !self.has_value {
                    self.put_missing();
                }
                self.change(|frame| frame.extra = frame.extra.saturating_add(1));
            }
            Some(_) => self.end_item(),
        }
        self.has_value = false;
        self.skip(1);
    }

    /// Reads `=`: an assignment, a default, or out of place.
    fn assignment(&mut self, wall: Option<FrameKind>) {
        match wall {
            None => self.end_target(),
            Some(wall) if wall.has_parameters() => {
                self.end_parameter();
                self.set_step(DEFAULT);
            }
            // `{x=}` in an f-string.
            Some(FrameKind::Hole) => {}
            Some(_) => self.end_item(),
        }
        self.skip(1);
    }

    /// Combines the last value and the key before it into an entry.
    fn end_entry(&mut self, frame: Frame) {
        if !self.has_value {
            self.put_missing();
        }
        self.change(|frame| frame.state &= !KEYED);
        if self.values.len() < frame.base as usize + 2 {
            return;
        }
        if let (Some(value), Some(key)) = (self.values.pop(), self.values.pop()) {
            self.put(Node::Field { key: key.node, value: value.node }, key.start, value.end);
        }
    }

    /// Reads `)` or `]`. Either one closes either bracket, as in the scanner.
    fn close_bracket(&mut self, token: Token) {
        match self.frames.last().map(|frame| frame.kind) {
            None | Some(FrameKind::Hole | FrameKind::Strings) => self.skip(1),
            Some(FrameKind::LambdaParameters | FrameKind::Clause) => self.close_wall(self.end()),
            Some(_) => {
                self.skip(1);
                self.close_wall(token.end);
            }
        }
    }

    /// Reads `}`, which also closes brackets inside the braces.
    fn close_brace(&mut self, token: Token) {
        let own = if token.kind == TokenKind::HoleEnd { FrameKind::Hole } else { FrameKind::Brace };
        while let Some(wall) = self.wall() {
            if wall == own {
                self.skip(1);
                return self.close_wall(token.end);
            }
            if matches!(wall, FrameKind::Hole | FrameKind::Strings) {
                break;
            }
            self.close_wall(self.end());
        }
        self.skip(1);
    }

    /// Ends the innermost wall and pushes its value.
    pub(super) fn close_wall(&mut self, end: u32) {
        let sliced =
            |frame: &Frame| frame.kind == FrameKind::Index && frame.state & COMMA == 0 && frame.extra > 0;
        let parts = self.frames.last().copied().filter(sliced).map(|frame| self.end_slice(frame));
        if parts.is_none() {
            self.end_item();
        }
        let Some(frame) = self.frames.pop() else { return };
        let base = frame.base as usize;
        match frame.kind {
            FrameKind::Paren | FrameKind::List | FrameKind::Brace => self.close_list(frame, end),
            FrameKind::Call => self.close_call(frame, end),
            FrameKind::Index => self.close_index(frame, end, parts),
            FrameKind::Strings => {
                let items = self.take(base);
                self.put(Node::Join(items), frame.start, end);
            }
            FrameKind::Hole if frame.state & ASIDE == 0 => {
                let value = self.take_one(base, frame.state & COMMA);
                self.values.extend(value);
            }
            FrameKind::Bases => self.close_bases(frame),
            // A lambda without a colon.
            FrameKind::LambdaParameters => {
                self.begin_function(frame.extra as usize);
                self.end_lambda(frame);
            }
            FrameKind::Clause => self.close_clause(frame, end),
            _ => self.values.truncate(base),
        }
        if frame.state & COMPREHENDED != 0 && !frame.kind.has_parameters() {
            self.builder.close_scope();
        }
    }

    fn close_list(&mut self, frame: Frame, end: u32) {
        let base = frame.base as usize;
        let is_group = frame.kind == FrameKind::Paren && frame.state & (COMMA | COMPREHENDED) == 0;
        if is_group && let Some([value]) = self.values.get_mut(base..) {
            (value.start, value.end) = (frame.start, end);
            self.has_value = true;
            return;
        }
        let is_record = frame.state & DICTIONARY != 0 || self.values.len() == base;
        let items = self.take(base);
        let record = is_record && frame.kind == FrameKind::Brace;
        self.put(if record { Node::Record(items) } else { Node::List(items) }, frame.start, end);
    }

    fn close_call(&mut self, frame: Frame, end: u32) {
        let mut arguments = self.take(frame.base as usize + 1);
        let Some(callee) = self.values.pop() else { return };
        if frame.state & COMPREHENDED != 0 {
            let generator = self.push(Node::List(arguments), callee.end, end);
            arguments = self.builder.list(&[generator]);
        }
        let call = Node::Call { callee: callee.node, arguments, kind: CallKind::Plain };
        self.put(call, frame.start, end);
    }

    fn close_index(&mut self, frame: Frame, end: u32, parts: Option<List>) {
        let key = self.take_one(frame.base as usize + 1, frame.state & COMMA);
        let Some(object) = self.values.pop().map(|value| value.node) else { return };
        let node = match parts {
            Some(parts) => Node::Slice { object, parts },
            None => Node::Index { object, key: key.map_or_else(|| self.unknown(), |key| key.node) },
        };
        self.put(node, frame.start, end);
    }

    /// Takes the parts of a slice: start, end and step.
    fn end_slice(&mut self, frame: Frame) -> List {
        const PARTS: usize = 3;
        if !self.has_value {
            self.put_missing();
        }
        let count = frame.extra as usize + 1;
        let base = self.values.len().saturating_sub(count);
        self.values.truncate(base + PARTS);
        while self.values.len() < base + PARTS {
            self.put_missing();
        }
        self.change(|frame| frame.extra = 0);
        self.take(base)
    }
}
