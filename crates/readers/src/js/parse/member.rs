//! Members of objects, classes and enums.

use super::super::keyword::Kw;
use super::super::token::{K, Tok};
use super::Parser;
use super::frame::{FunctionRole, Members, Role, State};
use crate::program::{Node, ScopeKind};

/// Returns `true` for words that may precede a class member.
const fn modifies(kw: Kw) -> bool {
    let grants = matches!(kw, Kw::Public | Kw::Private | Kw::Protected | Kw::Readonly);
    grants || matches!(kw, Kw::Static | Kw::Abstract | Kw::Override | Kw::Declare | Kw::Accessor)
}

impl Parser<'_> {
    /// Reads the key of a member, and the modifiers before it.
    pub(super) fn key(&mut self, tok: Tok) {
        let Role::Members(kind) = self.top().role else { return self.separate() };
        let is_class = kind == Members::Class;
        match tok.kind {
            K::Comma | K::Semi | K::Star => self.skip(1),
            K::At => self.open(Role::Decorator(State::Key), 1),
            // Handles an index signature: `[key: string]: T`.
            K::LBracket if is_class && self.is_typed() && self.kind(2) == K::Colon => {
                self.at = self.types.past(self.at).unwrap_or(self.at.saturating_add(1));
                self.skip_annotation();
            }
            K::LBracket => {
                self.open(Role::Field, 0);
                self.open_group(Role::Computed(kind));
            }
            K::Word if tok.kw == Kw::Static && is_class && self.kind(1) == K::LBrace => {
                self.skip(1);
                self.block(Some(ScopeKind::Function));
            }
            K::Word if self.is_modifier(tok.kw, kind) => self.skip(1),
            K::Word | K::Private | K::Str | K::Num if self.is_member(tok.kind, kind) => {
                self.plain_key(tok, kind);
            }
            // The brace may open a block instead of an object.
            _ => self.state = State::Operand,
        }
    }

    fn is_modifier(&self, kw: Kw, kind: Members) -> bool {
        let is_known = match kw {
            Kw::Get | Kw::Set | Kw::Async => true,
            kw => kind == Members::Class && modifies(kw),
        };
        match self.kind(1) {
            K::Word | K::Private | K::Str | K::Num | K::LBracket => is_known,
            K::Star => matches!(kw, Kw::Static | Kw::Async),
            _ => false,
        }
    }

    /// Returns `true` if the next token is the key of a member.
    fn is_member(&self, key: K, kind: Members) -> bool {
        match self.kind(1) {
            K::Colon | K::Assign | K::Question | K::Bang | K::Lt => true,
            K::Comma | K::RBrace => key == K::Word || kind != Members::Object,
            K::LParen if kind == Members::Object => {
                let after = self.types.past(self.at.saturating_add(1)).and_then(|after| self.toks.get(after));
                after.is_none_or(|tok| matches!(tok.kind, K::LBrace | K::Colon))
            }
            _ => kind != Members::Object,
        }
    }

    /// Reads a key that is a word, a text or a number.
    fn plain_key(&mut self, tok: Tok, kind: Members) {
        self.open(Role::Field, 0);
        let key = match tok.kind {
            K::Private => K::Word,
            kind => kind,
        };
        let node = self.constant_node(tok);
        self.value(node, tok.start);
        self.skip(1);
        let is_short = matches!(self.kind(0), K::Comma | K::RBrace | K::Assign);
        if is_short && kind == Members::Object && key == K::Word {
            // `{ a = 1 }` is a pattern with a default value.
            let name = self.name_node(tok);
            return self.value(name, tok.start);
        }
        self.after_key(kind);
    }

    /// Continues after the key of a member, with its value, type or parameters.
    pub(super) fn after_key(&mut self, kind: Members) {
        if matches!(self.kind(0), K::Question | K::Bang) {
            self.skip(1);
        }
        self.skip_angles();
        if kind == Members::Class {
            self.skip_annotation();
        }
        match self.kind(0) {
            K::LParen => self.open_function(FunctionRole::Method, None, self.peek(0).start),
            K::Colon | K::Assign => self.skip_to_operand(1),
            _ => self.pop(),
        }
    }

    /// Ends a member. A declared member without a value is dropped.
    pub(super) fn end_field(&mut self, base: usize, start: u32) {
        let value = self.combine_or_missing(base.saturating_add(1), start);
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
