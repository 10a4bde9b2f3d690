//! What a call is given where its arguments stand in a literal, one of several constants, or one by one.

use std::borrow::Cow;

use super::bind::Val;
use super::built::iterates;
use super::call::Callee;
use super::token::{K, Kw};
use super::walk::{Arg, Cur, Prefix, Shape, Via, Walk};
use crate::sink::FirstArg;
use crate::view::How;

/// Conditions in one another that are looked through for constants.
const DEPTH: u32 = 8;
/// Elements of a literal that are looked at.
const ELEMENTS: usize = 64;

impl<'a> Walk<'a, '_, '_, '_> {
    /// Gives the opening parenthesis of a call.
    pub(super) fn arguments_of(&self, cur: &Cur) -> Option<usize> {
        let next = (cur.last as usize).wrapping_add(1);
        match self.kind(next)? {
            K::LParen => Some(next),
            K::QDot if self.kind(next.wrapping_add(1)) == Some(K::LParen) => Some(next.wrapping_add(1)),
            _ => None,
        }
    }

    /// Gives the arguments that stand in an array among the arguments of a call: `f.apply(o, […])`, `f(...[…])`. They are taken for
    /// texts where they are no literal.
    pub(super) fn listed(&mut self, cur: &Cur, index: usize) -> [Arg; 3] {
        let unknown = [Arg { first: FirstArg::Text, val: Val::default() }; 3];
        let array = self.arguments_of(cur).and_then(|open| self.entry(open, index));
        match array.filter(|(from, to)| self.is_list(*from, *to)) {
            Some((from, _)) => self.elements(from),
            None => unknown,
        }
    }

    /// Gives the arguments of a call that are spread out of a literal.
    pub(super) fn spread(&mut self, cur: &Cur) -> Option<[Arg; 3]> {
        let open = self.arguments_of(cur)?;
        let list = open.wrapping_add(2);
        if self.kind(open.wrapping_add(1)) != Some(K::Ellipsis) || self.kind(list) != Some(K::LBracket) {
            return None;
        }
        let (_, to) = self.entry(open, 0)?;
        self.is_list(list, to).then(|| self.elements(list))
    }

    fn is_list(&self, from: usize, to: usize) -> bool {
        self.kind(from) == Some(K::LBracket) && self.types.past(from) == Some(to)
    }

    /// Gives where an entry of a bracket begins and ends.
    pub(super) fn entry(&self, open: usize, index: usize) -> Option<(usize, usize)> {
        let end = self.types.past(open)?.wrapping_sub(1);
        let mut from = open.wrapping_add(1);
        for _ in 0..index {
            from = self.entry_end(from, end).wrapping_add(1);
        }
        (from < end).then(|| (from, self.entry_end(from, end)))
    }

    /// Gives the first elements of an array as arguments; their texts are among the call's.
    fn elements(&mut self, open: usize) -> [Arg; 3] {
        let mut args = [Arg::default(); 3];
        for (slot, index) in args.iter_mut().zip(0_usize..) {
            let Some((from, to)) = self.entry(open, index) else { break };
            *slot = self.listed_element(from, to);
        }
        args
    }

    fn listed_element(&mut self, from: usize, to: usize) -> Arg {
        let val = self.value_of(from, to);
        if val.text != 0 {
            self.texts.push(val.text.wrapping_sub(1));
            return Arg { first: FirstArg::Literal, val };
        }
        let joined = !val.is_known() && self.joins_text(from, to);
        Arg { first: if joined { FirstArg::Text } else { FirstArg::Other }, val }
    }

    /// Says whether a text is part of an expression, arguments, literals and bodies in it left aside.
    fn joins_text(&self, from: usize, to: usize) -> bool {
        let mut at = from;
        let mut operand = false;
        while at < to {
            let inner = match self.kind(at) {
                Some(K::Str | K::Tpl | K::TplHead | K::Ellipsis) => return true,
                Some(K::LBrace | K::LBracket) => true,
                Some(K::LParen) => operand,
                _ => false,
            };
            operand = inner || matches!(self.kind(at), Some(K::Word | K::RParen));
            at = if inner { self.types.past(at).unwrap_or(to) } else { at.wrapping_add(1) };
        }
        false
    }

    /// Gives what an element of a literal is: a constant, a name or a member of one.
    pub(super) fn value_of(&mut self, from: usize, to: usize) -> Val {
        let constant = match self.kind(from) {
            Some(K::Str | K::Tpl) if to == from.wrapping_add(1) => u32::try_from(to).unwrap_or(0),
            Some(K::Word) if to == from.wrapping_add(1) => self.bound(from).map_or(0, |val| val.text),
            _ => 0,
        };
        Val { text: constant, ..self.plain(from, to) }
    }

    /// Gives the constants that an expression may be; `None` in front of them where it may be something else as well.
    pub(super) fn choices(&self, from: usize, to: usize) -> (bool, Vec<(Vec<u8>, How)>) {
        let mut found = Vec::new();
        let all = self.choose((from, to), 0, &mut found);
        (all, found)
    }

    fn choose(&self, (from, to): (usize, usize), depth: u32, found: &mut Vec<(Vec<u8>, How)>) -> bool {
        if depth > DEPTH || found.len() > ELEMENTS {
            return false;
        }
        if self.kind(from) == Some(K::LParen) && self.types.past(from) == Some(to) {
            let inside = (from.wrapping_add(1), to.wrapping_sub(1));
            return self.choose(inside, depth.wrapping_add(1), found);
        }
        let next = depth.wrapping_add(1);
        let (mut question, mut open, mut at) = (None, 0_u32, from);
        let mut either = None;
        while at < to {
            match self.kind(at) {
                Some(K::Question) => {
                    question = question.or(Some(at));
                    open = open.wrapping_add(1);
                }
                Some(K::Colon) if open == 1 => {
                    let first = question.unwrap_or(at).wrapping_add(1);
                    let one = self.choose((first, at), next, found);
                    return self.choose((at.wrapping_add(1), to), next, found) && one;
                }
                Some(K::Colon) => open = open.saturating_sub(1),
                Some(K::Either) if open == 0 => either = either.or(Some(at)),
                Some(K::LParen | K::LBracket | K::LBrace) => {
                    at = self.types.past(at).unwrap_or(to);
                    continue;
                }
                _ => {}
            }
            at = at.wrapping_add(1);
        }
        if let Some(at) = either {
            let one = self.choose((from, at), next, found);
            return self.choose((at.wrapping_add(1), to), next, found) && one;
        }
        let constant = if depth == 0 { None } else { self.constant_between(from, to) };
        let known = constant.is_some();
        found.extend(constant);
        known
    }

    /// Binds the names of a pattern to what stands at their places in a literal.
    pub(super) fn bind_literal(&mut self, pattern: usize, literal: usize, depth: u32) {
        let kind = self.kind(pattern);
        if depth > DEPTH || kind != self.kind(literal) || !matches!(kind, Some(K::LBracket | K::LBrace)) {
            return;
        }
        for index in 0..ELEMENTS {
            let Some((from, to)) = self.entry(pattern, index) else { return };
            if self.kind(from) == Some(K::Ellipsis) {
                return;
            }
            let Some((target, value)) = (if kind == Some(K::LBracket) {
                self.entry(literal, index).map(|value| (from, value))
            } else {
                self.keyed(literal, from, to)
            }) else {
                continue;
            };
            self.bind_place(target, value, depth);
        }
    }

    /// Binds a name or a pattern to what stands between two tokens.
    pub(super) fn bind_place(&mut self, target: usize, (from, to): (usize, usize), depth: u32) {
        match self.kind(target) {
            Some(K::Word) => {
                let val = self.value_of(from, to);
                let (Ok(at), true) = (u32::try_from(target), val.is_known() || val.text != 0) else { return };
                self.bind(at, val);
            }
            Some(K::LBracket | K::LBrace) => self.bind_literal(target, from, depth.wrapping_add(1)),
            _ => {}
        }
    }

    /// Gives the target of an entry of an object pattern, and the value of that key in a literal.
    fn keyed(&self, literal: usize, from: usize, to: usize) -> Option<(usize, (usize, usize))> {
        let (key, target) = self.entry_key(from, to)?;
        Some((target, self.value_at(literal, &key)?))
    }

    /// Gives the key of an entry of an object, and where its value or target stands: `a`, `a: b`, `["a"]: b`.
    pub(super) fn entry_key(&self, from: usize, to: usize) -> Option<(Cow<'a, [u8]>, usize)> {
        let next = from.wrapping_add(1);
        let (key, after) = match self.kind(from)? {
            K::Word | K::Str => (self.key(from), next),
            K::LBracket if self.kind(from.wrapping_add(2)) == Some(K::RBracket) => {
                let (key, _) = self.constant_between(next, from.wrapping_add(2))?;
                (Cow::Owned(key), from.wrapping_add(3))
            }
            _ => return None,
        };
        let colon = after < to && self.kind(after) == Some(K::Colon);
        Some((key, if colon { after.wrapping_add(1) } else { from }))
    }

    /// Binds the names of a pattern to what the members of a name hold.
    pub(super) fn bind_held(&mut self, pattern: usize, name: usize) {
        if self.kind(name) != Some(K::Word) || !self.bindings.may_hold(self.src, self.tok(name)) {
            return;
        }
        let list = self.kind(pattern) == Some(K::LBracket);
        let Some(past) = self.types.past(pattern) else { return };
        let (mut from, end) = (pattern.wrapping_add(1), past.wrapping_sub(1));
        for index in 0..ELEMENTS {
            if from >= end {
                return;
            }
            let to = self.entry_end(from, end);
            let key = if list {
                Some((Cow::Owned(index.to_string().into_bytes()), from))
            } else {
                self.entry_key(from, to)
            };
            if let Some((key, target)) = key
                && self.kind(target) == Some(K::Word)
                && let Some(val) = self.held_by(name, &key)
                && let Ok(at) = u32::try_from(target)
            {
                self.bind(at, val);
            }
            from = to.wrapping_add(1);
        }
    }

    /// Gives where the value of a key in an object literal stands.
    pub(super) fn value_at(&self, literal: usize, wanted: &[u8]) -> Option<(usize, usize)> {
        let end = self.types.past(literal)?.wrapping_sub(1);
        let mut at = literal.wrapping_add(1);
        for _ in 0..ELEMENTS {
            let to = self.entry_end(at, end);
            if at >= end {
                return None;
            }
            if let Some((_, value)) = self.entry_key(at, to).filter(|(key, _)| **key == *wanted) {
                return Some((value, to));
            }
            at = to.wrapping_add(1);
        }
        None
    }

    /// `for (… of […])` binds to each element.
    pub(super) fn bind_each(&mut self, target: &Cur, list: usize) {
        if self.kind(list) != Some(K::LBracket) {
            return;
        }
        let at = if target.shape == Shape::Pattern { target.first } else { target.last };
        for index in 0..ELEMENTS {
            let Some(value) = self.entry(list, index) else { return };
            self.bind_place(at as usize, value, 0);
        }
    }

    /// Writes to members that stand in a pattern.
    pub(super) fn write_pattern(&mut self, open: usize, depth: u32) {
        let mut index = 0_usize;
        let Some(past) = self.types.past(open).filter(|_| depth <= DEPTH) else { return };
        let (mut from, end) = (open.wrapping_add(1), past.wrapping_sub(1));
        while from < end && index < ELEMENTS {
            let to = self.entry_end(from, end);
            let mut target = from;
            if self.kind(target) == Some(K::Ellipsis) {
                target = target.wrapping_add(1);
            } else if self.kind(open) == Some(K::LBrace) {
                let key = if self.kind(target) == Some(K::LBracket) {
                    self.types.past(target).unwrap_or(to)
                } else {
                    target.wrapping_add(1)
                };
                target = if self.kind(key) == Some(K::Colon) { key.wrapping_add(1) } else { to };
            }
            match self.kind(target) {
                Some(K::LBracket | K::LBrace) if target < to => {
                    self.write_pattern(target, depth.wrapping_add(1));
                }
                Some(K::Word) if target < to => self.write_member(target, to),
                _ => {}
            }
            from = to.wrapping_add(1);
            index = index.wrapping_add(1);
        }
    }

    fn write_member(&mut self, from: usize, to: usize) {
        let end = (from..to).find(|at| self.kind(*at) == Some(K::Assign)).unwrap_or(to);
        let val = self.chain(from, end);
        let Some(last) = end.checked_sub(1).filter(|last| *last > from) else { return };
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let cur = Cur { val, first: small(from), last: small(last), ..Cur::default() };
        self.written(&cur);
    }

    /// A class that extends what runs text runs text too: `class A extends Function {}`.
    pub(super) fn bind_class(&mut self, name: usize) {
        let from = name.wrapping_add(2);
        let to = (from..from.wrapping_add(ELEMENTS)).find(|at| self.kind(*at) == Some(K::LBrace));
        let Some(to) = to else { return };
        let (chain, plain) = (self.chain(from, to), self.plain(from, to));
        let val = self.bindings.sets.either(chain, plain);
        let val = self.handed(val);
        if let Some(at) = u32::try_from(name).ok().filter(|_| val.is_known()) {
            self.bind(at, val);
        }
    }

    /// Gives what a chain of constant members is.
    fn chain(&mut self, from: usize, to: usize) -> Val {
        let tok = self.tok(from);
        let (mut val, ..) = self.root(from, tok, self.kw(from));
        let mut at = from.wrapping_add(1);
        while at < to {
            let next = at.wrapping_add(1);
            match (self.kind(at), self.kind(next)) {
                (Some(K::Dot | K::QDot), Some(K::Word)) => {
                    val = self.member_of(val, self.tok(next).word());
                    at = next.wrapping_add(1);
                }
                (Some(K::LBracket), _) => {
                    let past = self.types.past(at).unwrap_or(to);
                    let name = self.constant_between(next, past.wrapping_sub(1));
                    let word = name.map_or(self.names.computed, |(name, _)| self.names.words.get(&name));
                    val = self.member_of(val, word);
                    at = past;
                }
                _ => return Val::default(),
            }
        }
        val
    }

    /// A function that is handed to what calls it with each element: `[…].map(f)`.
    pub(super) fn each(&mut self, callee: &Callee, last: u32) {
        let cur = &callee.cur;
        let [first, ..] = callee.args;
        let nodes = self.nodes;
        if cur.via != Via::Direct
            || !first.val.is_known()
            || !self.is_any(first.val.node, |node| nodes.is_run(node))
            || self.kind(cur.last as usize) != Some(K::Word)
            || !iterates(self.text_at(cur.last as usize))
        {
            return;
        }
        let first = first.val;
        let array = self.types.past(cur.first as usize).filter(|past| {
            self.kind(cur.first as usize) == Some(K::LBracket) && past.wrapping_add(1) == cur.last as usize
        });
        let mut given = Cur { val: first, shape: Shape::Other, prefix: Prefix::None, ..*cur };
        given.via = Via::Direct;
        let each: Vec<Arg> = match array {
            Some(_) => {
                let places = (0..ELEMENTS).map_while(|index| self.entry(cur.first as usize, index));
                let places: Vec<_> = places.collect();
                places.into_iter().map(|(from, to)| self.listed_element(from, to)).collect()
            }
            None => vec![Arg { first: FirstArg::Other, val: Val::default() }],
        };
        for arg in each {
            let args = [arg, Arg::default(), Arg::default()];
            self.call(&Callee { cur: given, args, texts: callee.texts }, last);
        }
    }

    /// What a promise of a module resolves to is given to the first function that `then` is given.
    pub(super) fn resolve(&mut self, cur: &Cur) {
        let Some((from, _)) = self.arguments_of(cur).and_then(|open| self.entry(open, 0)) else { return };
        let val = Val { text: 0, ..cur.val };
        let mut at = from;
        if self.kw(at) == Kw::Async {
            at = at.wrapping_add(1);
        }
        if self.kind(at) == Some(K::Word) && self.kind(at.wrapping_add(1)) == Some(K::Arrow) {
            self.bind(u32::try_from(at).unwrap_or(u32::MAX), val);
            return;
        }
        if self.kw(at) == Kw::Function {
            at = at.wrapping_add(1);
            while matches!(self.kind(at), Some(K::Op | K::Word)) {
                at = at.wrapping_add(1);
            }
        } else if !self.types.is_arrow_head(at) {
            return;
        }
        let Some((first, _)) = self.entry(at, 0) else { return };
        match self.kind(first) {
            Some(K::Word) => self.bind(u32::try_from(first).unwrap_or(u32::MAX), val),
            Some(K::LBrace) => self.bind_pattern(first, val, 0),
            _ => {}
        }
    }
}
