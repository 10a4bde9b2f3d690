//! `import` and `global`.

use super::parser::Parser;
use super::text;
use super::token::{Token, TokenKind};
use crate::program::{Node, NodeFlags, NodeId};

impl Parser<'_> {
    /// Reads the name of a module with leading dots, up to `next`. Returns the import and the first part of
    /// the name.
    fn module(&mut self, next: Option<TokenKind>) -> Option<(NodeId, Option<Token>)> {
        let start = self.token(0)?.start;
        let (mut raw, mut name) = (Vec::new(), Vec::new());
        let (mut first, mut before) = (None, TokenKind::Dot);
        while let Some(token) = self.token(0) {
            match token.kind {
                TokenKind::Dot => {}
                TokenKind::Name if before == TokenKind::Dot => first = first.or(Some(token)),
                _ => break,
            }
            raw.extend_from_slice(token.text(self.source));
            before = token.kind;
            self.skip(1);
        }
        if raw.is_empty() || next.is_some_and(|next| next != self.kind(0)) {
            return None;
        }
        text::normalize(&raw, &mut name);
        let flags = if name == raw { NodeFlags::NONE } else { NodeFlags::ESCAPED };
        let name = self.builder.text(&name);
        let end = self.end();
        let name = self.push(Node::Text(name), start, end);
        self.builder.mark(name, flags);
        Some((self.push(Node::Import(name), self.statement.start, end), first))
    }

    /// Reads `as name`.
    fn alias(&mut self) -> Option<Token> {
        let name =
            self.token(1).filter(|name| self.kind(0) == TokenKind::As && name.kind == TokenKind::Name)?;
        self.skip(2);
        Some(name)
    }

    /// Reads `import a.b, c as d`.
    pub(super) fn import(&mut self) {
        self.skip(1);
        while let Some((import, first)) = self.module(None) {
            let is_whole = first.is_some_and(|first| first.end == self.end());
            if let Some(name) = self.alias().or(first.filter(|_| is_whole)) {
                self.assign_name(name, import);
            } else if let Some(name) = first {
                let module = self.push_name(name, Node::Module);
                self.assign_name(name, module);
            }
            if self.kind(0) != TokenKind::Comma {
                break;
            }
            self.skip(1);
        }
        self.end_statement();
    }

    /// Reads `from a.b import c as d, e`. Other text after `from` is read as expressions.
    pub(super) fn import_from(&mut self) {
        self.skip(1);
        let start = self.at;
        let Some((import, _)) = self.module(Some(TokenKind::Import)) else {
            self.at = start;
            return;
        };
        self.skip(1);
        self.skip(usize::from(self.kind(0) == TokenKind::OpenParen));
        while let Some(token) = self.token(0) {
            match token.kind {
                TokenKind::Comma | TokenKind::Close => self.skip(1),
                TokenKind::Name | TokenKind::Star => self.member_of(import, token),
                _ => break,
            }
        }
        self.end_statement();
    }

    /// Binds a member of a module. `*` stands for all names.
    fn member_of(&mut self, import: NodeId, token: Token) {
        self.skip(1);
        let (name, flags) = self.name(token);
        let member = Node::Member { object: import, name };
        let member = self.builder.push(member, token.range(), flags);
        if token.kind == TokenKind::Star {
            return self.builder.mark(member, NodeFlags::STATEMENT);
        }
        let name = self.alias().unwrap_or(token);
        self.assign_name(name, member);
    }

    /// Reads `global a, b`. In the scope of the file, the statement has no effect.
    pub(super) fn outside(&mut self) {
        let is_global = self.token(0).is_some_and(|token| token.text(self.source) == b"global");
        self.skip(1);
        while let Some(token) =
            self.token(0).filter(|token| matches!(token.kind, TokenKind::Name | TokenKind::Comma))
        {
            if token.kind == TokenKind::Name && !self.blocks.is_empty() {
                let (name, _) = self.name(token);
                if is_global {
                    self.builder.declare_global(name);
                } else {
                    self.builder.declare_outside(name);
                }
            }
            self.skip(1);
        }
        self.end_statement();
    }
}
