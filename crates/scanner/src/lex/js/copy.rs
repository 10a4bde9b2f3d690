//! What hands on all that a module, the process or the global object is: copies, objects that are made of it, functions that
//! return it.

use std::borrow::Cow;

use super::bind::{Val, name_of};
use super::token::{Brace, DULL, K, Kw};
use super::walk::{Arg, Cur, Via, Walk};
use crate::names::ROOT;

/// Tokens of a function's statements that are looked through for what it returns.
const RETURNS: usize = 256;
/// Parentheses around a function that are looked through.
const AROUND: usize = 8;
/// What a function returns is held as a member. A source that writes one of that name adds to what it may be, and takes nothing away.
const RETURNED: &[u8] = b"()";
/// The same of a parameter that it returns.
const RETURNED_GIVEN: [&[u8]; 3] = [b"()0", b"()1", b"()2"];
/// Members of one name that is returned, and calls among them.
const MEMBERS: usize = 16;
/// Rounds after which what goes through functions is no longer followed: each of them takes two.
pub(super) const HOPS: u32 = 16;

/// What a function returns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Returned {
    val: Val,
    /// Which of its first parameters.
    given: [bool; 3],
}

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

    /// `Object.assign(o, …)` and the like: the first argument, where it is a name, becomes what the next two are, and so is what the
    /// call gives.
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
        if self.round > HOPS {
            return;
        }
        let Returned { val, given } = self.returned(function);
        if val.is_known() {
            self.hold(name, Cow::Borrowed(RETURNED), val);
        }
        for (key, given) in RETURNED_GIVEN.iter().zip(given) {
            if given {
                self.hold(name, Cow::Borrowed(key), Val::node(ROOT));
            }
        }
    }

    /// Gives what a call of the file's own function returns: what it is of its own, and of what this very call gives.
    pub(super) fn take_returned(&mut self, callee: &Cur, args: &[Arg; 3]) -> Val {
        let named = self.named_callee(callee);
        let skipped = match named.map_or(callee.via, |(_, via)| via) {
            Via::Direct | Via::Apply => 0,
            Via::Call => 1,
            Via::Bind | Via::Then => return Val::default(),
        };
        let first = callee.first as usize;
        let applied = named.is_none() && callee.via == Via::Apply;
        let Returned { val, given } = if let Some((name, _)) = named {
            let val = self.held_by(name, RETURNED).unwrap_or_default();
            Returned { val, given: RETURNED_GIVEN.map(|key| self.held_by(name, key).is_some()) }
        } else if !applied && matches!(self.kind(first), Some(K::LParen | K::LBrace)) {
            self.returned(first)
        } else {
            return Val::default();
        };
        let mut all = val;
        let applied = matches!(named, Some((_, Via::Apply)));
        let args = if applied { self.listed(callee, 1) } else { *args };
        for (arg, _) in args.iter().skip(skipped).zip(given).filter(|(_, given)| *given) {
            let handed = self.handed(arg.val);
            all = self.bindings.sets.either(all, handed);
        }
        all
    }

    /// Gives what a function returns that begins at a token, in parentheses there, or whose body does. It is read once a round.
    fn returned(&mut self, function: usize) -> Returned {
        if let Some((known, reads)) = self.returns.get(&function) {
            self.bindings.reads.add(reads);
            return *known;
        }
        // What it depends on counts for all that ask for it.
        let before = self.bindings.reads.start();
        let returned = self.read_returned(function);
        self.returns.insert(function, (returned, self.bindings.reads.since(before)));
        returned
    }

    fn read_returned(&mut self, function: usize) -> Returned {
        let parameters: Vec<Vec<u8>> = self
            .heads_of(function)
            .iter()
            .map(|at| at.map_or_else(Vec::new, |at| name_of(self.src, self.tok(at as usize)).into_owned()))
            .collect();
        let mut returned = Returned::default();
        let body =
            if self.kind(function) == Some(K::LBrace) { Some(function) } else { self.body_of(function) };
        match body {
            Some(body) if self.kind(body) == Some(K::LBrace) => {
                self.returned_in(body, &parameters, &mut returned);
            }
            Some(body) => self.either_of(body, &parameters, &mut returned),
            None => {}
        }
        returned.val = self.handed(returned.val);
        returned
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
    fn returned_in(&mut self, body: usize, parameters: &[Vec<u8>], returned: &mut Returned) {
        let tok = self.tok(body);
        let Some(past) = self.types.past(body) else { return };
        if tok.brace() != Brace::Body || (tok.flags & DULL != 0 && !self.is_whole()) {
            return;
        }
        let end = past.wrapping_sub(1);
        let mut at = body.wrapping_add(1);
        for _ in 0..RETURNS {
            if at >= end {
                break;
            }
            let next = at.wrapping_add(1);
            let inner = self.kind(at) == Some(K::LBrace) && self.tok(at).brace() == Brace::Body;
            if self.kw(at) == Kw::Return && !self.tok(next).newline() {
                self.either_of(next, parameters, returned);
            }
            at = if inner { self.types.past(at).unwrap_or(end) } else { next };
        }
    }

    /// Says whether a name that is often a variable's, such as `self`, may be one here.
    fn may_be_own(&self, at: usize) -> bool {
        let word = self.tok(at).word();
        self.kind(at) == Some(K::Word) && self.nodes.is_weak_global(word) && self.may_declare(word)
    }

    /// Gives what `a.b || (c)` is. What is a parameter's is told apart: calls give it.
    fn either_of(&mut self, from: usize, parameters: &[Vec<u8>], returned: &mut Returned) {
        let mut from = from;
        for _ in 0..AROUND {
            let group = self.kind(from) == Some(K::LParen);
            let mut to = if group { self.types.past(from).unwrap_or(from) } else { from.wrapping_add(1) };
            for _ in 0..MEMBERS {
                match (self.kind(to), self.kind(to.wrapping_add(1))) {
                    (Some(K::Dot), Some(K::Word)) => to = to.wrapping_add(2),
                    (Some(K::LParen), Some(K::Str | K::Tpl)) => match self.types.past(to) {
                        Some(past) => to = past,
                        None => return,
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
                let (mut first, mut last) = (from, to);
                while self.kind(first) == Some(K::LParen) && self.types.past(first) == Some(last) {
                    (first, last) = (first.wrapping_add(1), last.wrapping_sub(1));
                }
                let text = self.text_at(first);
                let parameter =
                    parameters.iter().position(|name| self.kind(first) == Some(K::Word) && name == text);
                if let Some(given) = parameter.and_then(|index| returned.given.get_mut(index)) {
                    *given |= last == first.wrapping_add(1);
                } else {
                    let one = self.plain(first, last);
                    returned.val = self.bindings.sets.either(returned.val, one);
                }
            }
            if self.kind(to) != Some(K::Either) {
                return;
            }
            from = to.wrapping_add(1);
        }
    }
}
