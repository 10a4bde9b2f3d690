//! Import and export statements, and what destructuring binds.

use super::bind::Val;
use super::token::{K, Kw, Tok};
use super::walk::{Cur, Shape, Walk};
use crate::names::Word;
use crate::sink::{Args, FirstArg, Own};
use crate::view::How;

/// Patterns nested deeper than this bind nothing further; every name in them was seen as code.
const MAX_PATTERN: u32 = 32;

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl Walk<'_, '_, '_, '_> {
    /// Reads `import` in any form; `None` where it is a call or `import.meta`, which are operands.
    pub(super) fn import(&mut self, at: usize) -> Option<usize> {
        let mut next = at.wrapping_add(1);
        match self.kind(next)? {
            K::LParen | K::Dot => return None,
            K::Str => {
                self.end_expression();
                self.specifier(next, small(at));
                return Some(next.wrapping_add(1));
            }
            _ => {}
        }
        self.end_expression();
        let from = self.find_from(next)?;
        let typed = self.is_typed() && self.kw(next) == Kw::Type && self.is_type_clause(next);
        if typed {
            return Some(from.wrapping_add(2));
        }
        if matches!(self.kw(next), Kw::Defer | Kw::Source)
            && self.kind(next.wrapping_add(1)) != Some(K::Comma)
            && self.kw(next.wrapping_add(1)) != Kw::From
        {
            next = next.wrapping_add(1);
        }
        let module = self.specifier(from.wrapping_add(1), small(at));
        let val = Val::node(module);
        while next < from {
            match self.kind(next)? {
                K::Word => {
                    self.bind_name(next, val);
                    next = next.wrapping_add(1);
                }
                K::Op => {
                    // `* as name`
                    self.bind_name(next.wrapping_add(2), val);
                    next = next.wrapping_add(3);
                }
                K::LBrace => {
                    let end = self.types.past(next).unwrap_or(from);
                    self.import_names(next.wrapping_add(1), end.min(from), val);
                    next = end;
                }
                _ => next = next.wrapping_add(1),
            }
        }
        Some(from.wrapping_add(2))
    }

    /// Says whether `import type` is the statement and `type` no name.
    fn is_type_clause(&self, at: usize) -> bool {
        let next = at.wrapping_add(1);
        match self.kind(next) {
            Some(K::LBrace | K::Op) => true,
            Some(K::Word) => self.kw(next) != Kw::From || self.kw(next.wrapping_add(1)) == Kw::From,
            _ => false,
        }
    }

    /// Finds `from "…"` of a clause. A clause is short but for its braces, which are jumped.
    fn find_from(&self, start: usize) -> Option<usize> {
        let mut at = start;
        for _ in 0..12 {
            match self.kind(at)? {
                K::Word if self.kw(at) == Kw::From && self.kind(at.wrapping_add(1)) == Some(K::Str) => {
                    return Some(at);
                }
                K::LBrace => at = self.types.past(at)?,
                K::Word | K::Comma | K::Op => at = at.wrapping_add(1),
                _ => return None,
            }
        }
        None
    }

    /// Binds `a`, `a as b`, `"a" as b` between two tokens.
    fn import_names(&mut self, start: usize, end: usize, val: Val) {
        let mut at = start;
        while at < end {
            let name = at;
            if !matches!(self.kind(at), Some(K::Word | K::Str)) {
                at = at.wrapping_add(1);
                continue;
            }
            if self.kw(at) == Kw::Type
                && matches!(self.kind(at.wrapping_add(1)), Some(K::Word))
                && self.kw(at.wrapping_add(1)) != Kw::As
            {
                // A type alone: nothing is bound.
                at = self.skip_to_comma(at, end);
                continue;
            }
            let member = self.member_val(val, name);
            let local = if self.kw(at.wrapping_add(1)) == Kw::As { at.wrapping_add(2) } else { at };
            self.mention_member(name, local, member);
            self.bind_name(local, member);
            at = self.skip_to_comma(local, end);
        }
    }

    fn skip_to_comma(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && self.kind(at) != Some(K::Comma) {
            at = at.wrapping_add(1);
        }
        at.wrapping_add(1)
    }

    /// Resolves a member by the name that a token holds.
    fn member_val(&mut self, base: Val, at: usize) -> Val {
        let tok = self.tok(at);
        let word = match tok.kind {
            K::Word => tok.word(),
            K::Str => self.names.words.get(&self.constant(at).0),
            _ => 0,
        };
        self.member_of(base, word)
    }

    fn mention_member(&mut self, first: usize, last: usize, val: Val) {
        let span = self.span(small(first), small(last));
        for node in self.nodes_of(val) {
            self.sink.member(self.names, node, Own::No, span, How::NONE);
        }
    }

    fn bind_name(&mut self, at: usize, val: Val) {
        let tok: Tok = self.tok(at);
        if self.kind(at) != Some(K::Word) {
            return;
        }
        if !val.is_known() {
            self.declare_here(tok);
        }
        self.bind(small(at), val);
    }

    /// Reads `export`; gives the token to go on with.
    pub(super) fn export(&mut self, at: usize) -> usize {
        self.end_expression();
        let mut next = at.wrapping_add(1);
        if self.is_typed()
            && self.kw(next) == Kw::Type
            && matches!(self.kind(next.wrapping_add(1)), Some(K::LBrace | K::Op))
        {
            return self.find_from(next.wrapping_add(1)).map_or(next, |from| from.wrapping_add(2));
        }
        if !matches!(self.kind(next), Some(K::Op | K::LBrace)) {
            return next;
        }
        match self.find_from(next) {
            Some(from) => {
                let module = self.specifier(from.wrapping_add(1), small(at));
                if self.kind(next) == Some(K::LBrace) && module != 0 {
                    self.export_names((next.wrapping_add(1), from), Val::node(module));
                }
                next = from.wrapping_add(2);
                next
            }
            None => next,
        }
    }

    /// Members of a module that another file is handed: what calls of them do may be done there.
    fn export_names(&mut self, (start, end): (usize, usize), module: Val) {
        let mut at = start;
        while at < end {
            if matches!(self.kind(at), Some(K::Word | K::Str)) && self.kw(at) != Kw::Type {
                let member = self.member_val(module, at);
                self.mention_member(at, at, member);
                let span = self.span(small(at), small(at));
                let args = Args { first: FirstArg::Other, constants: Vec::new() };
                for node in self.nodes_of(member) {
                    self.sink.call(self.names, node, Own::No, &args, span, How::NONE);
                }
            }
            at = self.skip_to_comma(at, end);
        }
    }

    /// Binds what was assigned.
    pub(super) fn bind_target(&mut self, target: &Cur, val: Val) {
        match target.shape {
            Shape::Name => self.bind_name_cur(target, val),
            Shape::Pattern => self.bind_pattern(target.first as usize, val, 0),
            Shape::Other => {
                self.inherits(target, val);
                self.hold_member(target, val);
            }
            _ => {}
        }
    }

    fn bind_name_cur(&mut self, target: &Cur, val: Val) {
        let tok = self.tok(target.last as usize);
        if tok.kind != K::Word {
            return;
        }
        self.bind(target.last, val);
    }

    /// Binds the names of a pattern that starts at a bracket.
    pub(super) fn bind_pattern(&mut self, open: usize, val: Val, depth: u32) {
        let Some(past) = self.types.past(open) else { return };
        if depth > MAX_PATTERN {
            return;
        }
        let end = past.wrapping_sub(1);
        let kind = self.tok(open).kind;
        let mut at = open.wrapping_add(1);
        while at < end {
            let entry = self.entry_end(at, end);
            self.bind_entry(at, entry, val, kind, depth);
            at = entry.wrapping_add(1);
        }
    }

    /// Finds the comma that ends an entry, brackets jumped.
    pub(super) fn entry_end(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            match self.kind(at) {
                Some(K::Comma) => return at,
                Some(K::LBrace | K::LBracket | K::LParen) => at = self.types.past(at).unwrap_or(end),
                _ => at = at.wrapping_add(1),
            }
        }
        end
    }

    fn bind_entry(&mut self, start: usize, end: usize, val: Val, kind: K, depth: u32) {
        if self.kind(start) == Some(K::Ellipsis) {
            self.bind_name(start.wrapping_add(1), val);
            return;
        }
        if kind != K::LBrace {
            return;
        }
        let (member, after) = match self.kind(start) {
            Some(K::LBracket) => {
                let past = self.types.past(start).unwrap_or(end);
                let word = self.constant_word(start.wrapping_add(1), past.wrapping_sub(1));
                (self.member_of(val, word), past)
            }
            Some(K::Word | K::Str) => (self.member_val(val, start), start.wrapping_add(1)),
            _ => return,
        };
        let target =
            if self.kind(after) == Some(K::Colon) && after < end { after.wrapping_add(1) } else { start };
        self.mention_member(start, target.max(after.wrapping_sub(1)), member);
        match self.kind(target) {
            Some(K::LBrace | K::LBracket) if target != start => {
                self.bind_pattern(target, member, depth.wrapping_add(1));
            }
            Some(K::Word) => self.bind_name(target, member),
            _ => {}
        }
    }

    fn constant_word(&self, from: usize, to: usize) -> Word {
        match self.constant_between(from, to) {
            Some((name, _)) => self.names.words.get(&name),
            None => self.names.computed,
        }
    }
}
