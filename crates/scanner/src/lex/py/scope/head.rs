//! The words that statements begin with.

use super::Kind;
use super::read::{Body, Function, Of, Reader, Soft};
use crate::lex::py::text_of;
use crate::lex::py::token::{K, Kw, Tok};

impl Reader<'_, '_> {
    /// Reads the head of a statement; gives where to go on.
    pub(super) fn begin_statement(&mut self, at: u32) -> u32 {
        let next = at.saturating_add(1);
        let kw = self.kw(at);
        self.statement.kw = kw;
        match kw {
            Kw::Import => return self.import(next),
            Kw::From => return self.import_from(next),
            Kw::Def => return self.function(at),
            Kw::Async if self.kw(next) == Kw::Def => {
                self.statement.kw = Kw::Def;
                return self.function(next);
            }
            Kw::Async => self.statement.kw = self.kw(next),
            Kw::Class => return self.class(at),
            Kw::Del => self.deleted(next),
            Kw::Global => self.shared(next, Of::Global),
            Kw::Nonlocal => self.shared(next, Of::Nonlocal),
            Kw::None => self.soft(at),
            _ => {}
        }
        at
    }

    fn text(&self, at: u32) -> &[u8] {
        self.tok(at).filter(|tok| tok.kind == K::Name).map_or(&[], |tok| text_of(self.src, tok))
    }

    /// `match`, `case`, `type`.
    fn soft(&mut self, at: u32) {
        let next = at.saturating_add(1);
        match self.text(at) {
            b"case" if self.blocks.last().is_some_and(|block| block.body == Body::Match) => {
                self.statement.soft = Soft::Case;
                self.captures(next);
            }
            b"match" if self.tok(next).is_some_and(starts_value) => self.statement.soft = Soft::Match,
            b"type" => {
                let behind = at.saturating_add(2);
                if (self.is_op(behind, b'=') || self.is_op(behind, b'['))
                    && let Some(name) = self.bind(next, self.scope(), Of::Own)
                {
                    self.bound.push(name);
                }
            }
            _ => {}
        }
    }

    /// `import a.b as c, d`.
    fn import(&mut self, from: u32) -> u32 {
        let scope = self.scope();
        let mut at = from;
        while self.id(at).is_some() {
            let mut name = at;
            at = at.saturating_add(1);
            while self.is_op(at, b'.') {
                at = at.saturating_add(2);
            }
            if self.kw(at) == Kw::As && self.id(at.saturating_add(1)).is_some() {
                name = at.saturating_add(1);
                at = at.saturating_add(2);
            }
            let bound = self.bind(name, scope, Of::Own);
            self.bound.extend(bound);
            if !self.is_op(at, b',') {
                break;
            }
            at = at.saturating_add(1);
        }
        at
    }

    /// `from a.b import c as d, e`.
    fn import_from(&mut self, from: u32) -> u32 {
        let scope = self.scope();
        let mut at = from;
        while self.kw(at) != Kw::Import {
            let dotted = self.tok(at).is_some_and(|tok| tok.kind == K::Name || tok.is_op(b'.'));
            if !dotted {
                return at;
            }
            at = at.saturating_add(1);
        }
        at = at.saturating_add(1);
        let bracket = self.is_op(at, b'(');
        at = at.saturating_add(u32::from(bracket));
        while self.id(at).is_some() {
            let mut name = at;
            at = at.saturating_add(1);
            if self.kw(at) == Kw::As && self.id(at.saturating_add(1)).is_some() {
                name = at.saturating_add(1);
                at = at.saturating_add(2);
            }
            let bound = self.bind(name, scope, Of::Own);
            self.bound.extend(bound);
            if !self.is_op(at, b',') {
                break;
            }
            at = at.saturating_add(1);
        }
        at.saturating_add(u32::from(bracket && self.is_op(at, b')')))
    }

    /// `def`: its name, its type parameters; the parameters come with their bracket.
    fn function(&mut self, at: u32) -> u32 {
        let place = at.saturating_add(1);
        let outer = self.scope();
        let Some(name) = self.bind(place, outer, Of::Own) else {
            self.found.loose = true;
            return place;
        };
        let scope = self.new_scope(Kind::Local);
        self.head.push(name);
        self.found.functions.push(Function { scope, outer, name });
        self.found.gives.push((at, scope));
        self.statement.owns = scope;
        self.params = scope;
        let next = place.saturating_add(1);
        if self.is_op(next, b'[') {
            self.type_params(next, scope);
        }
        next
    }

    fn class(&mut self, at: u32) -> u32 {
        let place = at.saturating_add(1);
        let Some(name) = self.bind(place, self.scope(), Of::Own) else {
            self.found.loose = true;
            return place;
        };
        self.statement.class = Some(name);
        let next = place.saturating_add(1);
        if self.is_op(next, b'[') {
            let types = self.new_scope(Kind::Local);
            self.type_params(next, types);
            self.statement.types = types;
        }
        let scope = self.new_scope(Kind::Class);
        self.found.classes.push(Function { scope, outer: self.scope(), name });
        self.statement.owns = scope;
        next
    }
}

/// Says whether a value begins with a token, so that the word in front of it is a keyword.
fn starts_value(tok: Tok) -> bool {
    match tok.kind {
        K::Name => !matches!(
            Kw::of(tok.aux),
            Kw::In | Kw::Is | Kw::And | Kw::Or | Kw::If | Kw::Else | Kw::For | Kw::As
        ),
        K::Num | K::Str | K::Head => true,
        K::Op => [b'(', b'[', b'{', b'-', b'*', b'~', b'+'].iter().any(|op| tok.is_op(*op)),
        K::Mid | K::Tail | K::Line => false,
    }
}
