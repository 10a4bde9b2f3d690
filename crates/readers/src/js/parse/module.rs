//! Imports and exports.

use super::super::JsTypes;
use super::super::keyword::Keyword;
use super::super::token::{Token, TokenKind};
use super::Parser;
use super::frame::{Role, Statement};
use crate::program::{CallKind, Node, NodeFlags, NodeId, ScopeKind};

/// The part of a module that an import binds.
enum ImportedName {
    Module,
    Default,
    /// The member that the token names.
    Member(Token),
}

/// A name that an import declares.
struct LocalName {
    name: Token,
    imported: ImportedName,
}

impl Parser<'_> {
    /// Reads an `import` statement.
    pub(super) fn import(&mut self, tok: Token) {
        self.skip(1);
        let types = match self.kw(0) {
            Keyword::Type if self.is_typed() && self.is_import_modifier() => JsTypes::Erased,
            _ => JsTypes::None,
        };
        if matches!(self.kw(0), Keyword::Type | Keyword::Defer | Keyword::Source) && self.is_import_modifier()
        {
            self.skip(1);
        }
        if self.kind(0) == TokenKind::Word && self.kind(1) == TokenKind::Assign {
            // `import x = require('m')` is a declaration.
            return self.open(Role::Statement(Statement::Declare(ScopeKind::Block)), 0);
        }
        let locals = self.locals();
        let module = self.specifier(tok.start, types);
        // An imported type is not a value, and its name may also be a global.
        for local in locals.into_iter().filter(|_| types == JsTypes::None) {
            self.bind_local(&local, module);
        }
        self.end_heads();
    }

    /// Returns `true` if the word after `import` is a modifier and not the declared name.
    fn is_import_modifier(&self) -> bool {
        match self.kind(1) {
            TokenKind::Word => self.kw(1) != Keyword::From || self.kw(2) == Keyword::From,
            kind => matches!(kind, TokenKind::LBrace | TokenKind::Star),
        }
    }

    /// Reads the names between `import` and the module.
    fn locals(&mut self) -> Vec<LocalName> {
        let mut locals = Vec::new();
        let mut is_inside = false;
        loop {
            let tok = self.peek(0);
            match tok.kind {
                TokenKind::Word
                    if tok.kw == Keyword::From && !is_inside && self.kind(1) == TokenKind::String =>
                {
                    return locals;
                }
                TokenKind::Star if self.kw(1) == Keyword::As && self.kind(2) == TokenKind::Word => {
                    locals.push(LocalName { name: self.peek(2), imported: ImportedName::Module });
                    self.skip(3);
                }
                TokenKind::LBrace | TokenKind::RBrace if is_inside == (tok.kind == TokenKind::RBrace) => {
                    is_inside = !is_inside;
                    self.skip(1);
                }
                TokenKind::Comma => self.skip(1),
                TokenKind::Word | TokenKind::String if is_inside => locals.extend(self.imported_name()),
                TokenKind::Word if locals.is_empty() => {
                    locals.push(LocalName { name: tok, imported: ImportedName::Default });
                    self.skip(1);
                }
                _ => return locals,
            }
        }
    }

    /// Reads `a`, `a as b`, `type a` or `'a' as b`.
    fn imported_name(&mut self) -> Option<LocalName> {
        let renames = self.kw(1) == Keyword::As && self.kw(2) != Keyword::As;
        let is_type =
            self.is_typed() && self.kw(0) == Keyword::Type && self.kind(1) == TokenKind::Word && !renames;
        self.skip(usize::from(is_type));
        let imported = self.peek(0);
        let is_renamed = self.kw(1) == Keyword::As && self.kind(2) == TokenKind::Word;
        let name = if is_renamed { self.peek(2) } else { imported };
        self.skip(if is_renamed { 3 } else { 1 });
        (name.kind == TokenKind::Word && !is_type)
            .then_some(LocalName { name, imported: ImportedName::Member(imported) })
    }

    /// Reads `from 'm'` or `'m'` and appends the import, unless it only imports types.
    fn specifier(&mut self, start: u32, types: JsTypes) -> Option<NodeId> {
        self.skip(usize::from(self.kw(0) == Keyword::From && self.kind(1) == TokenKind::String));
        let tok = self.peek(0);
        if tok.kind != TokenKind::String {
            return None;
        }
        self.skip(1);
        let module = (types == JsTypes::None).then(|| {
            let text = self.constant_node(tok);
            self.node(Node::Import(text), start)
        });
        if matches!(self.kw(0), Keyword::With | Keyword::Assert) && self.kind(1) == TokenKind::LBrace {
            let open = self.at + 1;
            self.at = self.types.past(open).unwrap_or(open);
        }
        module
    }

    fn bind_local(&mut self, local: &LocalName, module: Option<NodeId>) {
        let target = self.name_of(local.name);
        self.out.builder.declare(target);
        let Some(module) = module else { return };
        let span = local.name.span();
        let name = match local.imported {
            ImportedName::Module => None,
            ImportedName::Default => Some(self.out.builder.text(b"default")),
            ImportedName::Member(tok) if tok.kind == TokenKind::String => Some(self.text_of(tok).0),
            ImportedName::Member(tok) => Some(self.name_of(tok)),
        };
        let value = name.map_or(module, |name| {
            self.out.builder.push(Node::Member { object: module, name }, span, NodeFlags::NONE)
        });
        let target = self.name_node(local.name);
        self.out.builder.bind(target, value, span);
    }

    pub(super) fn export(&mut self) {
        let start = self.peek(0).start;
        self.skip(1);
        let lists = |ahead: usize| matches!(self.kind(ahead), TokenKind::LBrace | TokenKind::Star);
        match self.kw(0) {
            Keyword::Default => self.export_default(),
            Keyword::Type if lists(1) => {
                self.skip(1);
                self.export_from(start, JsTypes::Erased);
            }
            Keyword::As if self.kw(1) == Keyword::Namespace => self.skip(3),
            _ if lists(0) => self.export_from(start, JsTypes::None),
            _ if self.kind(0) == TokenKind::Assign => self.open(Role::Statement(Statement::Used), 1),
            // The declaration that follows is a statement of its own.
            _ => {}
        }
    }

    fn export_default(&mut self) {
        self.skip(1);
        let is_declaration = match self.kw(0) {
            Keyword::Function | Keyword::Class => true,
            Keyword::Async => self.kw(1) == Keyword::Function,
            Keyword::Abstract | Keyword::Interface => self.is_typed() && self.kind(1) == TokenKind::Word,
            _ => self.kind(0) == TokenKind::At,
        };
        if !is_declaration {
            self.open(Role::Statement(Statement::Used), 0);
        }
    }

    /// Reads `* from 'm'`, `* as a from 'm'`, `{ a as b } from 'm'` or `{ a as b }`.
    fn export_from(&mut self, start: u32, types: JsTypes) {
        let names = self.at + 1;
        if self.kind(0) == TokenKind::LBrace {
            self.at = self.types.past(self.at).unwrap_or(names);
        } else {
            self.skip(if self.kw(1) == Keyword::As { 3 } else { 1 });
        }
        let end = self.at;
        if self.kw(0) == Keyword::From
            && let Some(module) = self.specifier(start, types)
        {
            self.hand_on(names, end, module);
        }
        self.end_heads();
    }

    /// Reads the re-exported members of a module, because other files may call them.
    fn hand_on(&mut self, start: usize, end: usize, module: NodeId) {
        let mut at = start;
        while let Some(tok) = self.tokens.get(at).copied().filter(|_| at < end) {
            let before = at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|tok| tok.kind);
            at += 1;
            if !matches!(before, Some(TokenKind::LBrace | TokenKind::Comma))
                || !matches!(tok.kind, TokenKind::Word | TokenKind::String)
            {
                continue;
            }
            let name = if tok.kind == TokenKind::String { self.text_of(tok).0 } else { self.name_of(tok) };
            let member = Node::Member { object: module, name };
            let callee = self.out.builder.push(member, tok.span(), NodeFlags::NONE);
            let any = self.out.builder.push(Node::Unknown, tok.span(), NodeFlags::NONE);
            let arguments = self.out.builder.list(&[any]);
            let call = Node::Call { callee, arguments, kind: CallKind::Plain };
            self.out.builder.push(call, tok.span(), NodeFlags::NONE);
        }
    }
}
