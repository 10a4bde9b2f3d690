//! Imports and exports.

use super::super::JsTypes;
use super::super::keyword::Kw;
use super::super::token::{K, Tok};
use super::Parser;
use super::frame::{Role, Statement};
use crate::program::{CallKind, Node, NodeFlags, NodeId, ScopeKind};

/// The part of a module that an import binds.
enum Imported {
    Module,
    Default,
    /// The member that the token names.
    Member(Tok),
}

/// A name that an import declares.
struct Local {
    name: Tok,
    imported: Imported,
}

impl Parser<'_> {
    /// Reads an `import` statement.
    pub(super) fn import(&mut self, tok: Tok) {
        self.skip(1);
        let types = match self.kw(0) {
            Kw::Type if self.is_typed() && self.is_import_modifier() => JsTypes::Erased,
            _ => JsTypes::None,
        };
        if matches!(self.kw(0), Kw::Type | Kw::Defer | Kw::Source) && self.is_import_modifier() {
            self.skip(1);
        }
        if self.kind(0) == K::Word && self.kind(1) == K::Assign {
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
            K::Word => self.kw(1) != Kw::From || self.kw(2) == Kw::From,
            kind => matches!(kind, K::LBrace | K::Star),
        }
    }

    /// Reads the names between `import` and the module.
    fn locals(&mut self) -> Vec<Local> {
        let mut locals = Vec::new();
        let mut is_inside = false;
        loop {
            let tok = self.peek(0);
            match tok.kind {
                K::Word if tok.kw == Kw::From && !is_inside && self.kind(1) == K::Str => return locals,
                K::Star if self.kw(1) == Kw::As && self.kind(2) == K::Word => {
                    locals.push(Local { name: self.peek(2), imported: Imported::Module });
                    self.skip(3);
                }
                K::LBrace | K::RBrace if is_inside == (tok.kind == K::RBrace) => {
                    is_inside = !is_inside;
                    self.skip(1);
                }
                K::Comma => self.skip(1),
                K::Word | K::Str if is_inside => locals.extend(self.imported_name()),
                K::Word if locals.is_empty() => {
                    locals.push(Local { name: tok, imported: Imported::Default });
                    self.skip(1);
                }
                _ => return locals,
            }
        }
    }

    /// Reads `a`, `a as b`, `type a` or `'a' as b`.
    fn imported_name(&mut self) -> Option<Local> {
        let renames = self.kw(1) == Kw::As && self.kw(2) != Kw::As;
        let is_type = self.is_typed() && self.kw(0) == Kw::Type && self.kind(1) == K::Word && !renames;
        self.skip(usize::from(is_type));
        let imported = self.peek(0);
        let is_renamed = self.kw(1) == Kw::As && self.kind(2) == K::Word;
        let name = if is_renamed { self.peek(2) } else { imported };
        self.skip(if is_renamed { 3 } else { 1 });
        (name.kind == K::Word && !is_type).then_some(Local { name, imported: Imported::Member(imported) })
    }

    /// Reads `from 'm'` or `'m'` and appends the import, unless it only imports types.
    fn specifier(&mut self, start: u32, types: JsTypes) -> Option<NodeId> {
        self.skip(usize::from(self.kw(0) == Kw::From && self.kind(1) == K::Str));
        let tok = self.peek(0);
        if tok.kind != K::Str {
            return None;
        }
        self.skip(1);
        let module = (types == JsTypes::None).then(|| {
            let text = self.constant_node(tok);
            self.node(Node::Import(text), start)
        });
        if matches!(self.kw(0), Kw::With | Kw::Assert) && self.kind(1) == K::LBrace {
            let open = self.at.saturating_add(1);
            self.at = self.types.past(open).unwrap_or(open);
        }
        module
    }

    fn bind_local(&mut self, local: &Local, module: Option<NodeId>) {
        let target = self.name_of(local.name);
        self.out.builder.declare(target);
        let Some(module) = module else { return };
        let span = local.name.span();
        let name = match local.imported {
            Imported::Module => None,
            Imported::Default => Some(self.out.builder.text(b"default")),
            Imported::Member(tok) if tok.kind == K::Str => Some(self.text_of(tok).0),
            Imported::Member(tok) => Some(self.name_of(tok)),
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
        let lists = |ahead: usize| matches!(self.kind(ahead), K::LBrace | K::Star);
        match self.kw(0) {
            Kw::Default => self.export_default(),
            Kw::Type if lists(1) => {
                self.skip(1);
                self.export_from(start, JsTypes::Erased);
            }
            Kw::As if self.kw(1) == Kw::Namespace => self.skip(3),
            _ if lists(0) => self.export_from(start, JsTypes::None),
            _ if self.kind(0) == K::Assign => self.open(Role::Statement(Statement::Used), 1),
            // The declaration that follows is a statement of its own.
            _ => {}
        }
    }

    fn export_default(&mut self) {
        self.skip(1);
        let is_declaration = match self.kw(0) {
            Kw::Function | Kw::Class => true,
            Kw::Async => self.kw(1) == Kw::Function,
            Kw::Abstract | Kw::Interface => self.is_typed() && self.kind(1) == K::Word,
            _ => self.kind(0) == K::At,
        };
        if !is_declaration {
            self.open(Role::Statement(Statement::Used), 0);
        }
    }

    /// Reads `* from 'm'`, `* as a from 'm'`, `{ a as b } from 'm'` or `{ a as b }`.
    fn export_from(&mut self, start: u32, types: JsTypes) {
        let names = self.at.saturating_add(1);
        if self.kind(0) == K::LBrace {
            self.at = self.types.past(self.at).unwrap_or(names);
        } else {
            self.skip(if self.kw(1) == Kw::As { 3 } else { 1 });
        }
        let end = self.at;
        if self.kw(0) == Kw::From
            && let Some(module) = self.specifier(start, types)
        {
            self.hand_on(names, end, module);
        }
        self.end_heads();
    }

    /// Reads the re-exported members of a module, because other files may call them.
    fn hand_on(&mut self, start: usize, end: usize, module: NodeId) {
        let mut at = start;
        while let Some(tok) = self.toks.get(at).copied().filter(|_| at < end) {
            let before = at.checked_sub(1).and_then(|at| self.toks.get(at)).map(|tok| tok.kind);
            at = at.saturating_add(1);
            if !matches!(before, Some(K::LBrace | K::Comma)) || !matches!(tok.kind, K::Word | K::Str) {
                continue;
            }
            let name = if tok.kind == K::Str { self.text_of(tok).0 } else { self.name_of(tok) };
            let member = Node::Member { object: module, name };
            let callee = self.out.builder.push(member, tok.span(), NodeFlags::NONE);
            let any = self.out.builder.push(Node::Unknown, tok.span(), NodeFlags::NONE);
            let arguments = self.out.builder.list(&[any]);
            let call = Node::Call { callee, arguments, kind: CallKind::Plain };
            self.out.builder.push(call, tok.span(), NodeFlags::NONE);
        }
    }
}
