//! Members of objects, classes and enums.

use super::super::keyword::Keyword;
use super::super::token::{Token, TokenKind};
use super::Parser;
use super::frame::{FunctionRole, Members, Role, State};
use crate::program::{Node, ScopeKind};

/// Returns `true` for words that may precede a class member.
const fn modifies(kw: Keyword) -> bool {
    let grants = matches!(kw, Keyword::Public | Keyword::Private | Keyword::Protected | Keyword::Readonly);
    grants
        || matches!(
            kw,
            Keyword::Static | Keyword::Abstract | Keyword::Override | Keyword::Declare | Keyword::Accessor
        )
}

impl Parser<'_> {
    /// Reads the key of a member, and the modifiers before it.
    pub(super) fn key(&mut self, tok: Token) {
        let Role::Members(kind) = self.top().role else { return self.separate() };
        let is_class = kind == Members::Class;
        match tok.kind {
            TokenKind::Comma | TokenKind::Semi | TokenKind::Star => self.skip(1),
            TokenKind::At => self.open(Role::Decorator(State::Key), 1),
            // Handles an index signature: `[key: string]: T`.
            TokenKind::LBracket if is_class && self.is_typed() && self.kind(2) == TokenKind::Colon => {
                self.at = self.types.past(self.at).unwrap_or(self.at + 1);
                self.skip_annotation();
            }
            TokenKind::LBracket => {
                self.open(Role::Field, 0);
                self.open_group(Role::Computed(kind));
            }
            TokenKind::Word if tok.kw == Keyword::Static && is_class && self.kind(1) == TokenKind::LBrace => {
                self.skip(1);
                self.block(Some(ScopeKind::Function));
            }
            TokenKind::Word if self.is_modifier(tok.kw, kind) => self.skip(1),
            TokenKind::Word | TokenKind::Private | TokenKind::String | TokenKind::Number
                if self.is_member(tok.kind, kind) =>
            {
                self.plain_key(tok, kind);
            }
            // The brace may open a block instead of an object.
            _ => self.state = State::Operand,
        }
    }

    fn is_modifier(&self, kw: Keyword, kind: Members) -> bool {
        let is_known = match kw {
            Keyword::Get | Keyword::Set | Keyword::Async => true,
            kw => kind == Members::Class && modifies(kw),
        };
        match self.kind(1) {
            TokenKind::Word
            | TokenKind::Private
            | TokenKind::String
            | TokenKind::Number
            | TokenKind::LBracket => is_known,
            TokenKind::Star => matches!(kw, Keyword::Static | Keyword::Async),
            _ => false,
        }
    }

    /// Returns `true` if the next token is the key of a member.
    fn is_member(&self, key: TokenKind, kind: Members) -> bool {
        match self.kind(1) {
            TokenKind::Colon | TokenKind::Assign | TokenKind::Question | TokenKind::Bang | TokenKind::Lt => {
                true
            }
            TokenKind::Comma | TokenKind::RBrace => key == TokenKind::Word || kind != Members::Object,
            TokenKind::LParen if kind == Members::Object => {
                let after = self.types.past(self.at + 1).and_then(|after| self.tokens.get(after));
                after.is_none_or(|tok| matches!(tok.kind, TokenKind::LBrace | TokenKind::Colon))
            }
            _ => kind != Members::Object,
        }
    }

    /// Reads a key that is a word, a text or a number.
    fn plain_key(&mut self, tok: Token, kind: Members) {
        self.open(Role::Field, 0);
        let key = match tok.kind {
            TokenKind::Private => TokenKind::Word,
            kind => kind,
        };
        let node = self.constant_node(tok);
        self.value(node, tok.start);
        self.skip(1);
        let is_short = matches!(self.kind(0), TokenKind::Comma | TokenKind::RBrace | TokenKind::Assign);
        if is_short && kind == Members::Object && key == TokenKind::Word {
            // `{ a = 1 }` is a pattern with a default value.
            let name = self.name_node(tok);
            return self.value(name, tok.start);
        }
        self.after_key(kind);
    }

    /// Continues after the key of a member, with its value, type or parameters.
    pub(super) fn after_key(&mut self, kind: Members) {
        if matches!(self.kind(0), TokenKind::Question | TokenKind::Bang) {
            self.skip(1);
        }
        self.skip_angles();
        if kind == Members::Class {
            self.skip_annotation();
        }
        match self.kind(0) {
            TokenKind::LParen => self.open_function(FunctionRole::Method, None, self.peek(0).start),
            TokenKind::Colon | TokenKind::Assign => self.skip_to_operand(1),
            _ => self.pop(),
        }
    }

    /// Ends a member. A declared member without a value is dropped.
    pub(super) fn end_field(&mut self, base: usize, start: u32) {
        let value = self.combine_or_missing(base + 1, start);
        if let Some(key) = self.pop_value(base) {
            self.push(Node::Field { key: key.node, value }, start);
        }
        self.state = State::Key;
    }

    /// Ends the members of an object or class. Invalid code may have expressions among them.
    pub(super) fn end_members(&mut self, base: usize, start: u32) {
        for index in base..self.values.len() {
            let Some(value) = self.values.get(index).copied() else { break };
            if !matches!(self.out.builder.node(value.node), Node::Field { .. } | Node::Spread(_)) {
                let key = self.missing();
                let node = self.node(Node::Field { key, value: value.node }, value.start);
                if let Some(value) = self.values.get_mut(index) {
                    value.node = node;
                }
            }
        }
        let list = self.take(base);
        self.push(Node::Record(list), start);
        if let Role::Class(..) = self.top().role {
            self.pop();
        }
    }
}
