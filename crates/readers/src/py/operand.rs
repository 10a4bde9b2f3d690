//! Tokens at which an operand may start.

use super::frame::{ASIDE, COMPREHENDED, DICTIONARY, FrameKind, MINUS};
use super::parser::Parser;
use super::text;
use super::token::{COMPREHENSION, SPEC, Token, TokenKind};
use crate::program::offset;
use crate::program::{Node, ScopeKind};

impl Parser<'_> {
    /// Reads the start of an operand. A separator ends an item or bracket; other tokens are skipped.
    pub(super) fn operand(&mut self, token: Token) {
        let base = self.values.len();
        match token.kind {
            TokenKind::Name => self.name_operand(token),
            TokenKind::Number => {
                let number = text::number(token.text(self.source));
                self.put(number.map_or(Node::Unknown, Node::Number), token.start, token.end);
                self.skip(1);
            }
            TokenKind::String if !matches!(self.kind(1), TokenKind::String | TokenKind::Head) => {
                self.put_text(token);
                self.skip(1);
            }
            TokenKind::String | TokenKind::Head => self.open(FrameKind::Strings, token.start, base, 0),
            TokenKind::OpenParen => self.open_bracket(token, FrameKind::Paren, base),
            TokenKind::OpenBracket => self.open_bracket(token, FrameKind::List, base),
            TokenKind::OpenBrace => self.open_bracket(token, FrameKind::Brace, base),
            TokenKind::Lambda => {
                self.skip(1);
                self.open_parameters(FrameKind::LambdaParameters, token.start);
            }
            TokenKind::Not => self.prefix(FrameKind::Not, token, 0),
            TokenKind::Yield => {
                self.skip(usize::from(self.kind(1) == TokenKind::From));
                self.prefix(FrameKind::Yield, token, 0);
            }
            TokenKind::Minus => self.prefix(FrameKind::Unary, token, MINUS),
            TokenKind::Plus => self.prefix(FrameKind::Unary, token, 0),
            TokenKind::Star => self.prefix(FrameKind::Spread, token, 0),
            TokenKind::Power => {
                self.change(|frame| frame.state |= DICTIONARY);
                self.prefix(FrameKind::Spread, token, 0);
            }
            TokenKind::Dot if self.kind(1) == TokenKind::Dot && self.kind(2) == TokenKind::Dot => {
                self.skip(3);
                self.put(Node::Unknown, token.start, self.end());
            }
            kind if kind.is_separator() => self.separator(token),
            TokenKind::For | TokenKind::If if self.clause(token) => {}
            TokenKind::Else | TokenKind::For | TokenKind::If if self.frames.is_empty() => {
                self.end_statement();
            }
            kind if kind.begins_statement() && self.frames.is_empty() => self.end_statement(),
            _ => self.skip(1),
        }
    }

    /// Reads a name, or the name of a keyword argument.
    fn name_operand(&mut self, token: Token) {
        let wall = self.frames.last().map(|frame| frame.kind);
        if matches!(wall, Some(FrameKind::Call | FrameKind::Bases)) && self.kind(1) == TokenKind::Assign {
            self.open(FrameKind::Keyword, token.start, self.values.len(), 0);
            let at = offset(self.at);
            self.change(|frame| frame.extra = at);
            return self.skip(2);
        }
        let node = self.push_name(token, Node::Name);
        self.push_value(node, token.start, token.end);
        self.skip(1);
    }

    /// Opens a prefix operator. Repeated operators share a frame, so that they take no memory.
    fn prefix(&mut self, kind: FrameKind, token: Token, state: u8) {
        self.skip(1);
        match self.frames.last_mut() {
            Some(frame) if frame.kind == kind => frame.state = 0,
            _ => self.open(kind, token.start, self.values.len(), state),
        }
    }

    /// Opens a bracket before or after its first value. A comprehension has a scope that begins with its
    /// element.
    pub(super) fn open_bracket(&mut self, token: Token, kind: FrameKind, base: usize) {
        self.skip(1);
        let start = self.values.get(base).map_or(token.start, |value| value.start);
        self.open(kind, start, base, 0);
        if token.has(COMPREHENSION) {
            self.change(|frame| frame.state |= COMPREHENDED);
            self.builder.open_scope(ScopeKind::Block);
        }
    }

    /// Reads the next of several adjacent strings, or the next part of an f-string.
    pub(super) fn piece(&mut self, token: Token) {
        match token.kind {
            TokenKind::String | TokenKind::Head | TokenKind::Middle | TokenKind::Tail => {
                let is_text = !token.has(SPEC) && !token.body(self.source).is_empty();
                if is_text || token.kind == TokenKind::String {
                    self.put_text(token);
                }
                self.skip(1);
                match (token.kind, self.kind(0)) {
                    (TokenKind::Head | TokenKind::Middle, _) | (_, TokenKind::String | TokenKind::Head) => {}
                    _ => self.close_wall(token.end),
                }
            }
            TokenKind::Hole => {
                self.skip(1);
                let aside = if token.has(SPEC) { ASIDE } else { 0 };
                self.open(FrameKind::Hole, token.start, self.values.len(), aside);
            }
            TokenKind::HoleEnd => self.skip(1),
            _ => self.close_wall(self.end()),
        }
    }
}
