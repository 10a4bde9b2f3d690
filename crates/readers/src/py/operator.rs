//! Tokens after a value.

use super::frame::FrameKind;
use super::parser::Parser;
use super::statement::StatementKind;
use super::token::{Token, TokenKind};
use crate::program::Node;

impl Parser<'_> {
    /// Reads the token after a value. If it does not continue the expression, it begins the next item or
    /// statement.
    pub(super) fn after_value(&mut self, token: Token) {
        let base = self.values.len().saturating_sub(1);
        match token.kind {
            TokenKind::Dot => self.member(),
            TokenKind::OpenParen if self.statement.is_generic && self.frames.is_empty() => self.open_header(),
            TokenKind::OpenParen => self.open_bracket(token, FrameKind::Call, base),
            TokenKind::OpenBracket => self.open_bracket(token, FrameKind::Index, base),
            TokenKind::Logic => self.binary(FrameKind::Either),
            TokenKind::Plus => self.binary(FrameKind::Join),
            TokenKind::Minus => self.binary(FrameKind::Difference),
            TokenKind::Percent => self.binary(FrameKind::Format),
            TokenKind::Star | TokenKind::Slash | TokenKind::At => self.binary(FrameKind::Product),
            TokenKind::Power => self.binary(FrameKind::Power),
            TokenKind::Compare | TokenKind::Is => self.binary(FrameKind::Compare),
            TokenKind::Not if self.kind(1) == TokenKind::In => {
                self.skip(1);
                self.binary(FrameKind::Compare);
            }
            TokenKind::In => self.contained(),
            TokenKind::Walrus => self.low(FrameKind::Walrus),
            TokenKind::As if matches!(self.statement.kind, StatementKind::With | StatementKind::Except) => {
                self.reduce_above(1);
                self.low(FrameKind::As);
            }
            TokenKind::If => self.condition(token),
            TokenKind::Else => self.otherwise(token),
            TokenKind::For if self.clause(token) => {}
            TokenKind::Augment => self.augment(token),
            TokenKind::Async => self.skip(1),
            // `!r` in a replacement field.
            TokenKind::Other => {
                let is_conversion = self.wall() == Some(FrameKind::Hole) && self.kind(1).is_word();
                self.skip(if is_conversion { 2 } else { 1 });
            }
            _ => self.separator(token),
        }
    }

    /// Reads `.name`.
    fn member(&mut self) {
        self.skip(1);
        let Some(token) = self.token(0).filter(|token| token.kind.is_word()) else { return };
        let Some(object) = self.values.pop() else { return };
        let (name, flags) = self.name(token);
        self.skip(1);
        let node = self.push(Node::Member { object: object.node, name }, object.start, token.end);
        self.builder.mark(node, flags);
        self.push_value(node, object.start, token.end);
    }

    /// Opens a binary operator, or continues a chain of the same operator.
    fn binary(&mut self, kind: FrameKind) {
        self.reduce_above(kind.precedence());
        let top = self.frames.last().filter(|frame| frame.kind.precedence() == kind.precedence());
        if top.is_some_and(|frame| frame.kind == kind && kind != FrameKind::Format) {
            self.has_value = false;
            return self.skip(1);
        }
        self.reduce_above(kind.precedence().saturating_sub(1));
        self.low(kind);
    }

    /// Opens an operator after its first operand.
    fn low(&mut self, kind: FrameKind) {
        let start = self.values.last().map_or(0, |value| value.start);
        self.open(kind, start, self.values.len().saturating_sub(1), 0);
        self.skip(1);
    }

    /// Reads `in`: a comparison, or the end of a loop's target.
    fn contained(&mut self) {
        self.reduce_above(FrameKind::Compare.precedence());
        // `for a, *b in c`.
        if self.frames.last().is_some_and(|frame| frame.kind == FrameKind::Spread) {
            self.reduce_above(0);
        }
        if self.end_clause_target() {
            return self.skip(1);
        }
        match self.statement.kind {
            StatementKind::ForTarget if self.frames.is_empty() => {
                let target = self.take_statement();
                self.targets.extend(target);
                self.statement.kind = StatementKind::For;
            }
            StatementKind::Exec if self.frames.is_empty() => {}
            _ => return self.binary(FrameKind::Compare),
        }
        self.has_value = false;
        self.skip(1);
    }

    /// Reads `if` after a value. `a if b else c if d else e` is one choice of three values.
    fn condition(&mut self, token: Token) {
        self.reduce_above(FrameKind::Condition.precedence());
        if self.clause(token) {
            return;
        }
        match self.frames.last_mut() {
            Some(frame) if frame.kind == FrameKind::Otherwise => {
                frame.kind = FrameKind::Condition;
                self.has_value = false;
                self.skip(1);
            }
            _ => self.low(FrameKind::Condition),
        }
    }

    /// Reads `else` after a value.
    fn otherwise(&mut self, token: Token) {
        while let Some(frame) = self.frames.last_mut().filter(|frame| frame.kind.precedence() > 0) {
            if frame.kind == FrameKind::Condition {
                frame.kind = FrameKind::Otherwise;
                self.values.pop();
                self.has_value = false;
                return self.skip(1);
            }
            let precedence = frame.kind.precedence();
            self.reduce_above(precedence.saturating_sub(1));
        }
        self.separator(token);
    }

    /// Reads `target += value` and other augmented assignments.
    fn augment(&mut self, token: Token) {
        if self.wall().is_some() || self.statement.kind != StatementKind::Expression {
            return self.separator(token);
        }
        let target = self.take_statement();
        self.targets.extend(target);
        self.statement.kind = match token.text(self.source) {
            b"+=" => StatementKind::AddAssign,
            b"%=" => StatementKind::FormatAssign,
            _ => StatementKind::OtherAssign,
        };
        self.has_value = false;
        self.skip(1);
    }
}
