//! Soft keywords: `match`, `case`, `type`, and `exec` of Python 2.
//!
//! They are keywords only at the start of a statement.

use super::frame::Operand;
use super::parser::Parser;
use super::statement::StatementKind;
use super::token::{Token, TokenKind};
use crate::program::{CallKind, Node, NodeFlags};

/// The most tokens that are inspected to distinguish `match (x):` from a call.
const LOOKAHEAD: usize = 128;

/// Returns the number of open brackets after a token.
const fn nested(depth: usize, kind: TokenKind) -> usize {
    match kind {
        TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace => depth.saturating_add(1),
        TokenKind::Close | TokenKind::CloseBrace => depth.saturating_sub(1),
        _ => depth,
    }
}

impl Parser<'_> {
    /// Reads a name at the start of a statement.
    pub(super) fn soft_keyword(&mut self, token: Token) {
        let next = self.kind(1);
        let is_operand = matches!(
            next,
            TokenKind::Name | TokenKind::Number | TokenKind::OpenBrace | TokenKind::String | TokenKind::Head
        );
        match token.text(self.source) {
            b"exec" if is_operand => {
                let node = self.push_name(token, Node::Name);
                self.targets.push(Operand { node, start: token.start, end: token.end });
                self.statement.kind = StatementKind::Exec;
                self.skip(1);
            }
            b"type" if next == TokenKind::Name => self.skip(1),
            b"match" if is_operand || self.has_colon() => {
                self.statement.kind = StatementKind::Match;
                self.skip(1);
            }
            b"case" if is_operand => self.pattern(),
            b"case" if self.has_colon() => {
                // `case[f()]: type` contains a call. It is read both as a pattern and as an expression.
                let start = self.at;
                self.pattern();
                self.at = start;
                self.skip(1);
            }
            _ => {}
        }
    }

    /// Returns `true` if a colon follows the brackets or operators after the next token.
    fn has_colon(&self) -> bool {
        let begins = matches!(
            self.kind(1),
            TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::Minus | TokenKind::Star
        );
        let most = if begins { LOOKAHEAD } else { 0 };
        let mut depth = 0;
        for kind in (1..most).map(|distance| self.kind(distance)) {
            depth = nested(depth, kind);
            match kind {
                TokenKind::Colon if depth == 0 => return true,
                TokenKind::Assign if depth == 0 => break,
                TokenKind::Line => break,
                _ => {}
            }
        }
        false
    }

    /// Reads a pattern after `case`. The names in it are bound to the subject or parts of it.
    fn pattern(&mut self) {
        self.skip(1);
        self.statement.kind = StatementKind::Other;
        let mut depth = 0;
        let mut before = TokenKind::Line;
        while let Some(token) = self.token(0) {
            depth = nested(depth, token.kind);
            match token.kind {
                TokenKind::Colon | TokenKind::If if depth == 0 => break,
                TokenKind::Line => break,
                TokenKind::Name if before != TokenKind::Dot => self.capture(token),
                _ => {}
            }
            before = token.kind;
            self.skip(1);
        }
        self.skip(usize::from(self.kind(0) == TokenKind::If));
    }

    /// Binds a name of a pattern, unless it is a class, a constant or an attribute.
    fn capture(&mut self, name: Token) {
        let is_other = matches!(self.kind(1), TokenKind::Dot | TokenKind::OpenParen | TokenKind::Assign)
            || matches!(name.text(self.source), b"_" | b"None" | b"True" | b"False");
        if !is_other {
            let value = self.subject.unwrap_or_else(|| self.unknown());
            self.assign_name(name, value);
        }
    }

    /// Appends the call for `exec code in names` of Python 2.
    pub(super) fn exec(&mut self) {
        let Some(callee) = self.targets.first().copied() else { return };
        let end = self.values.last().map_or(callee.end, |value| value.end);
        let arguments = self.take(0);
        let call = Node::Call { callee: callee.node, arguments, kind: CallKind::Plain };
        let call = self.push(call, callee.start, end);
        self.builder.mark(call, NodeFlags::STATEMENT);
    }
}
