//! What hands on all that a module, the process or the global object is: copies, objects that are made of it, functions that
//! return it.

use std::borrow::Cow;

use super::bind::Val;
use super::token::{Brace, DULL, K, Kw};
use super::walk::{Arg, Cur, Shape, Via, Walk};

/// Tokens of a function that are looked through for what it returns.
const RETURNS: usize = 256;
/// Parentheses around a function that are looked through.
const AROUND: usize = 8;
/// What a function returns is held as a member that no source can write.
const RETURNED: &[u8] = b"()";

impl Walk<'_, '_, '_, '_> {
    /// Gives what of a value a copy of it is as well: what is told by its members.
    pub(super) fn copied(&mut self, val: Val) -> Val {
        let mut all = 0;
        for node in self.bindings.sets.nodes(val.node) {
            if self.nodes.is_whole(self.names, node) {
                all = self.bindings.sets.union(all, node);
            }
        }
        Val::node(all)
    }

    /// Gives what of a value is followed where it is handed on as it is.
    pub(super) fn handed(&mut self, val: Val) -> Val {
        let mut all = self.copied(val).node;
        for node in self.bindings.sets.nodes(val.node) {
            if self.nodes.is_run(node) {
                all = self.bindings.sets.union(all, node);
            }
        }
        Val::node(all)
    }

    /// `Object.assign(o, …)` and the like: the first argument becomes what the others are, and is what the call gives.
    pub(super) fn copies_to_first(&mut self, cur: &Cur, args: [Arg; 3]) -> Val {
        let [first, second, third] = args.map(|arg| self.copied(arg.val));
        let given = self.bindings.sets.either(second, third);
        if given.is_known()
            && cur.via == Via::Direct
            && let Some(name) = self.arguments_of(cur).map(|open| open.wrapping_add(1))
            && self.kind(name) == Some(K::Word)
            && self.kind(name.wrapping_add(1)) == Some(K::Comma)
            && self.kw(name) == Kw::None
        {
            self.bind(u32::try_from(name).unwrap_or(u32::MAX), given);
        }
        self.bindings.sets.either(first, given)
    }

    /// `o.__proto__ = value`.
    pub(super) fn inherits(&mut self, target: &Cur, val: Val) {
        let (first, last) = (target.first as usize, target.last as usize);
        let name = self.kind(first) == Some(K::Word) && self.kw(first) == Kw::None;
        if !name || last != first.wrapping_add(2) || self.text_at(last) != b"__proto__" {
            return;
        }
        let val = self.copied(val);
        if val.is_known() {
            self.bind(target.first, val);
        }
    }

    /// `f = function () {…}` and `f = () => …`.
    pub(super) fn hold_function(&mut self, name: usize) {
        let equals = name.wrapping_add(1);
        if matches!(self.kind(equals), Some(K::Assign | K::EitherAssign)) {
            self.hold_returned(name, equals.wrapping_add(1));
        }
    }

    /// Holds what a function of that name returns, and gives it what calls give.
    pub(super) fn hold_returned(&mut self, name: usize, function: usize) {
        self.take_given(name, function);
        let val = self.returned(function);
        if val.is_known() {
            self.hold(name, Cow::Borrowed(RETURNED), val);
        }
    }

    /// Gives what a call of the file's own function returns.
    pub(super) fn take_returned(&mut self, callee: &Cur) -> Val {
        if matches!(callee.via, Via::Apply | Via::Bind | Via::Then) {
            return Val::default();
        }
        let first = callee.first as usize;
        if callee.shape == Shape::Name && callee.via == Via::Direct {
            return self.held_by(callee.last as usize, RETURNED).unwrap_or_default();
        }
        match self.kind(first) {
            Some(K::LParen) => self.returned(first),
            Some(K::LBrace) => self.returned_in(first),
            _ => Val::default(),
        }
    }

    /// Gives what a function that begins at a token, or in parentheses there, returns.
    fn returned(&mut self, function: usize) -> Val {
        let Some(body) = self.body_of(function) else { return Val::default() };
        if self.kind(body) == Some(K::LBrace) {
            return self.returned_in(body);
        }
        let val = self.either_of(body);
        self.handed(val)
    }

    /// Gives where the body of a function is.
    fn body_of(&self, function: usize) -> Option<usize> {
        let mut at = function;
        for _ in 0..AROUND {
            if self.kind(at) != Some(K::LParen) || self.types.is_arrow_head(at) {
                break;
            }
            at = at.wrapping_add(1);
        }
        if self.kw(at) == Kw::Async {
            at = at.wrapping_add(1);
        }
        if self.kind(at) == Some(K::Word) && self.kind(at.wrapping_add(1)) == Some(K::Arrow) {
            return Some(at.wrapping_add(2));
        }
        if self.kw(at) == Kw::Function {
            at = at.wrapping_add(1);
            if self.kind(at) == Some(K::Word) {
                at = at.wrapping_add(1);
            }
            if self.is_typed() && self.kind(at) == Some(K::Lt) {
                at = self.types.angles(at, 0)?;
            }
        }
        if self.kind(at) != Some(K::LParen) {
            return None;
        }
        let mut body = self.types.past(at)?;
        if self.is_typed() && self.kind(body) == Some(K::Colon) {
            body = self.types.skip_return(body.wrapping_add(1))?;
        }
        match self.kind(body)? {
            K::Arrow => Some(body.wrapping_add(1)),
            K::LBrace if self.tok(body).brace() == Brace::Body => Some(body),
            _ => None,
        }
    }

    /// Gives what the statements of a body return: names with members, and modules that are asked for.
    fn returned_in(&mut self, body: usize) -> Val {
        let tok = self.tok(body);
        let Some(past) = self.types.past(body) else { return Val::default() };
        if tok.brace() != Brace::Body || (tok.flags & DULL != 0 && !self.is_whole()) {
            return Val::default();
        }
        let end = past.wrapping_sub(1);
        let mut val = Val::default();
        let mut at = body.wrapping_add(1);
        for _ in 0..RETURNS {
            if at >= end {
                break;
            }
            let next = at.wrapping_add(1);
            let inner = self.kind(at) == Some(K::LBrace) && self.tok(at).brace() == Brace::Body;
            if self.kw(at) == Kw::Return && !self.tok(next).newline() {
                let one = self.either_of(next);
                val = self.bindings.sets.either(val, one);
            }
            at = if inner { self.types.past(at).unwrap_or(end) } else { next };
        }
        self.handed(val)
    }

    /// Says whether a name that is often a variable's, such as `self`, may be one here.
    fn may_be_own(&self, at: usize) -> bool {
        let word = self.tok(at).word();
        self.kind(at) == Some(K::Word) && self.nodes.is_weak_global(word) && self.may_declare(word)
    }

    /// Gives what `a.b || c` is.
    fn either_of(&mut self, from: usize) -> Val {
        let mut val = Val::default();
        let mut from = from;
        for _ in 0..AROUND {
            let mut to = from.wrapping_add(1);
            loop {
                match (self.kind(to), self.kind(to.wrapping_add(1))) {
                    (Some(K::Dot), Some(K::Word)) => to = to.wrapping_add(2),
                    (Some(K::LParen), Some(K::Str | K::Tpl)) => match self.types.past(to) {
                        Some(past) => to = past,
                        None => return val,
                    },
                    _ => break,
                }
            }
            let ends = match self.kind(to) {
                None
                | Some(K::Semi | K::Comma | K::RBrace | K::RParen | K::RBracket | K::Either | K::Colon) => {
                    true
                }
                Some(_) => self.tok(to).newline(),
            };
            if ends && !self.may_be_own(from) {
                let one = self.plain(from, to);
                val = self.bindings.sets.either(val, one);
            }
            if self.kind(to) != Some(K::Either) {
                return val;
            }
            from = to.wrapping_add(1);
        }
        val
    }
}
