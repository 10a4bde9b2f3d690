//! What members of the file's own objects hold, and what a function that is called where it stands is given.

use std::borrow::Cow;
use std::rc::Rc;

use super::bind::{Holder, Val, name_of};
use super::token::{Brace, K, Kw, Tok};
use super::walk::{Arg, Cur, Prefix, Shape, Via, Walk};
use crate::names::ROOT;

/// Tokens of a class in front of its body.
const HEAD: usize = 24;
/// What a call gives is held as members. A source that writes one of those adds to what it may be, and takes nothing away.
const GIVEN: [&[u8]; 3] = [b"(0", b"(1", b"(2"];
/// Elements of a list that are looked at.
const ELEMENTS: usize = 64;

impl<'a> Walk<'a, '_, '_, '_> {
    /// `o.p = value` and `o["p"] = value`.
    pub(super) fn hold_member(&mut self, target: &Cur, val: Val) {
        let (first, last) = (target.first as usize, target.last as usize);
        let member = match (self.kind(first.wrapping_add(1)), self.kind(first.wrapping_add(2))) {
            (Some(K::Dot), Some(K::Word | K::Private)) if first.wrapping_add(2) == last => self.key(last),
            (Some(K::LBracket), Some(K::Str | K::Tpl)) if first.wrapping_add(3) == last => {
                self.key(first.wrapping_add(2))
            }
            _ => return,
        };
        self.hold(first, member, val);
    }

    /// A field of a class.
    pub(super) fn hold_field(&mut self, at: usize, val: Val) {
        let member = self.key(at);
        if self.is_held(val) {
            self.bindings.hold((Cow::Borrowed(b"this"), 0), member.clone(), val);
            if let Some(name) = self.class_around() {
                self.hold(name, member, val);
            }
        }
    }

    /// Gives the name of the class whose body is open.
    fn class_around(&self) -> Option<usize> {
        let open = self.open_bracket();
        let class =
            (0..HEAD).filter_map(|back| open.checked_sub(back)).find(|at| self.kw(*at) == Kw::Class)?;
        let name = class.wrapping_add(1);
        (self.kind(name) == Some(K::Word) && self.kw(name) != Kw::Extends).then_some(name)
    }

    /// The members of an object literal that a name is given.
    pub(super) fn hold_literal(&mut self, name: usize, open: usize) {
        let Some(past) = self.types.past(open) else { return };
        if self.kind(open) == Some(K::LBracket) {
            return self.hold_elements(name, open);
        }
        let end = past.wrapping_sub(1);
        let mut at = open.wrapping_add(1);
        while at < end {
            let entry = self.entry_end(at, end);
            if let Some((member, from)) = self.entry_key(at, entry) {
                let val = self.plain(from, entry);
                self.hold(name, member, val);
            }
            at = entry.wrapping_add(1);
        }
    }

    /// The first elements of a list that a name is given.
    fn hold_elements(&mut self, name: usize, open: usize) {
        let Some(past) = self.types.past(open) else { return };
        let (mut from, end) = (open.wrapping_add(1), past.wrapping_sub(1));
        for index in 0..ELEMENTS {
            if from >= end {
                return;
            }
            let to = self.entry_end(from, end);
            let val = self.plain(from, to);
            if self.is_held(val) {
                self.hold(name, Cow::Owned(index.to_string().into_bytes()), val);
            }
            from = to.wrapping_add(1);
        }
    }

    /// Goes on with what stands at a literal's key or place: `{ a: f }.a`, `[f][0]`.
    pub(super) fn take_literal(&mut self, before: Option<Cur>, member: usize) {
        let Some(cur) = before.filter(|cur| cur.shape == Shape::Pattern && cur.prefix == Prefix::None) else {
            return;
        };
        let open = cur.first as usize;
        if self.types.past(open) != Some(cur.last.wrapping_add(1) as usize) {
            return;
        }
        let place = if self.kind(open) == Some(K::LBracket) {
            let index = core::str::from_utf8(self.text_at(member)).ok().and_then(|text| text.parse().ok());
            index.filter(|index| *index < ELEMENTS).and_then(|index| self.entry(open, index))
        } else {
            let key = self.key(member);
            self.value_at(open, &key)
        };
        if let Some((from, to)) = place {
            let val = self.value_of(from, to);
            self.add_val(val);
        }
    }

    /// Gives what a name with members, or a module that is asked for, is.
    pub(super) fn plain(&mut self, from: usize, to: usize) -> Val {
        let (mut from, mut to) = (from, to);
        while self.kind(from) == Some(K::LParen) && self.types.past(from) == Some(to) {
            (from, to) = (from.wrapping_add(1), to.wrapping_sub(1));
        }
        let tok = self.tok(from);
        if tok.kind != K::Word || !matches!(self.kw(from), Kw::None) {
            return Val::default();
        }
        let (mut val, ..) = self.root(from, tok, Kw::None);
        let mut at = from.wrapping_add(1);
        while at < to {
            let next = at.wrapping_add(1);
            match (self.kind(at), self.kind(next)) {
                (Some(K::Dot), Some(K::Word)) => val = self.member_of(val, self.tok(next).word()),
                (Some(K::LParen), Some(K::Str | K::Tpl)) if self.types.past(at) == Some(to) => {
                    let loads = self.is_any(val.node, |node| self.nodes.is_loader(node));
                    let text = self.constant(next).0;
                    return if loads { Val::node(self.module_of(&text)) } else { Val::default() };
                }
                _ => return Val::default(),
            }
            at = next.wrapping_add(1);
        }
        val
    }

    /// The name of a member as its token writes it.
    pub(super) fn key(&self, at: usize) -> Cow<'a, [u8]> {
        let tok = self.tok(at);
        if matches!(tok.kind, K::Word | K::Private) {
            name_of(self.src, tok)
        } else {
            Cow::Owned(self.constant(at).0)
        }
    }

    fn is_held(&self, val: Val) -> bool {
        let function = self.nodes.function;
        self.is_any(val.node, |node| node != function) || val.star != 0
    }

    pub(super) fn hold(&mut self, holder: usize, member: Cow<'a, [u8]>, val: Val) {
        let tok = self.tok(holder);
        if tok.kind == K::Word && self.is_held(val) {
            let holder = self.holder(holder, tok);
            self.bindings.hold(holder, member, Val { text: 0, ..val });
        }
    }

    /// All that is `this` is one holder; any other is its variable.
    fn holder(&self, at: usize, tok: Tok) -> Holder<'a> {
        if self.kw(at) == Kw::This {
            return (Cow::Borrowed(b"this"), 0);
        }
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        (name_of(self.src, tok), self.variable(at))
    }

    /// Goes on with what a member of a name was given.
    pub(super) fn take_held(&mut self, before: Option<Cur>, member: usize) {
        let Some(cur) = before.filter(|cur| cur.shape == Shape::Name) else { return };
        if !self.bindings.may_hold(self.src, self.tok(cur.last as usize)) {
            return;
        }
        let number = self.kind(member) == Some(K::Num);
        let key = if number { Cow::Borrowed(self.text_at(member)) } else { self.key(member) };
        if let Some(val) = self.held_by(cur.last as usize, &key) {
            self.add_val(val);
        }
    }

    /// Gives what a member of a name holds.
    pub(super) fn held_by(&self, at: usize, member: &[u8]) -> Option<Val> {
        if !self.bindings.may_hold(self.src, self.tok(at)) {
            return None;
        }
        self.bindings.held(&self.holder(at, self.tok(at)), member)
    }

    /// Binds the parameters of a function that is called where it stands to what it is given.
    pub(super) fn give(&mut self, callee: &Cur, args: &[Arg; 3]) {
        if let Some((name, via)) = self.named_callee(callee) {
            let (skipped, args) = match via {
                Via::Direct => (0, *args),
                Via::Call | Via::Bind => (1, *args),
                Via::Apply => (0, self.listed(callee, 1)),
                Via::Then => return,
            };
            return self.give_named(name, args.iter().skip(skipped).map(|arg| arg.val));
        }
        let skipped = match callee.via {
            Via::Direct => 0,
            Via::Call => 1,
            Via::Apply | Via::Bind | Via::Then => return,
        };
        let given = args.iter().skip(skipped);
        if !matches!(self.kind(callee.first as usize), Some(K::LParen | K::LBrace))
            || !given.clone().any(|arg| self.is_held(arg.val))
        {
            return;
        }
        let given: Vec<Val> = given.map(|arg| arg.val).collect();
        for (at, val) in self.heads_of(callee.first as usize).iter().zip(given) {
            let at = *at;
            if let Some(at) = at.filter(|_| self.is_held(val)) {
                self.bind(at, Val { text: 0, ..val });
            }
        }
    }

    /// Gives the name of what is called, and how: `f()`, `f.call()`, `f.apply()`, `f.bind()`.
    pub(super) fn named_callee(&self, callee: &Cur) -> Option<(usize, Via)> {
        let last = callee.last as usize;
        let name = callee.first as usize;
        if name.wrapping_add(2) == last
            && matches!(self.kind(name.wrapping_add(1)), Some(K::Dot | K::QDot))
            && self.kind(name) == Some(K::Word)
            && self.kw(name) == Kw::None
        {
            let via = self.nodes.via(self.tok(last).word());
            return (via != Via::Direct).then_some((name, via));
        }
        (callee.shape == Shape::Name && callee.via == Via::Direct).then_some((last, Via::Direct))
    }

    /// Holds what a function of the file's is given by a call, until its parameters are read. The global object is given to
    /// many functions that read what any object has: where it goes by parameters of a name is not followed.
    fn give_named(&mut self, name: usize, given: impl Iterator<Item = Val>) {
        if self.round > super::copy::HOPS {
            return;
        }
        for (val, key) in given.zip(GIVEN) {
            let val = self.handed(val);
            if val.is_known() && !self.is_any(val.node, |node| node == ROOT) {
                self.hold(name, Cow::Borrowed(key), val);
            }
        }
    }

    /// Binds the parameters of a function to what calls of its name give.
    pub(super) fn take_given(&mut self, name: usize, function: usize) {
        if !self.bindings.may_hold(self.src, self.tok(name)) {
            return;
        }
        let given = GIVEN.map(|key| self.held_by(name, key));
        if given.iter().all(Option::is_none) {
            return;
        }
        for (at, val) in self.heads_of(function).iter().zip(given) {
            if let (&Some(at), Some(val)) = (at, val) {
                self.bind(at, val);
            }
        }
    }

    /// Gives the first parameters of a function, those that are names. They are read once a round.
    pub(super) fn heads_of(&mut self, function: usize) -> Rc<[Option<u32>]> {
        if let Some(known) = self.heads.get(&function) {
            return Rc::clone(known);
        }
        let read = if matches!(self.kind(function), Some(K::LParen | K::LBrace)) {
            self.parameters_of(function)
        } else {
            self.parameters_at(function)
        };
        let read: Rc<[Option<u32>]> = Rc::from(read);
        self.heads.insert(function, Rc::clone(&read));
        read
    }

    /// Gives the first parameters of a function in parentheses, those that are names.
    fn parameters_of(&self, group: usize) -> Vec<Option<u32>> {
        if self.kind(group) == Some(K::LBrace) {
            // A function's body, which is called: its parameters stand in front of it.
            let head = self.tok(group.wrapping_sub(1));
            if self.tok(group).brace() != Brace::Body || head.kind != K::RParen {
                return Vec::new();
            }
            return self.names_of(head.mate() as usize);
        }
        let arrow = self.types.is_arrow_head(group);
        self.parameters_at(if arrow { group } else { group.wrapping_add(1) })
    }

    /// Gives the first parameters of a function that begins at a token, or in parentheses there.
    fn parameters_at(&self, function: usize) -> Vec<Option<u32>> {
        let small = |at: usize| u32::try_from(at).ok();
        let mut at = function;
        while self.kind(at) == Some(K::LParen) && !self.types.is_arrow_head(at) {
            at = at.wrapping_add(1);
        }
        if self.kw(at) == Kw::Async {
            at = at.wrapping_add(1);
        }
        if self.is_typed() && self.kind(at) == Some(K::Lt) {
            at = self.types.angles(at, 0).unwrap_or(at);
        }
        if self.kw(at) == Kw::Function {
            at = at.wrapping_add(1);
            while matches!(self.kind(at), Some(K::Op | K::Word)) {
                at = at.wrapping_add(1);
            }
            if self.is_typed() && self.kind(at) == Some(K::Lt) {
                at = self.types.angles(at, 0).unwrap_or(at);
            }
        } else if self.kind(at.wrapping_add(1)) == Some(K::Arrow) {
            return vec![small(at)];
        } else if !self.types.is_arrow_head(at) {
            return Vec::new();
        }
        self.names_of(at)
    }

    /// Gives the first parameters of a list, those that are names.
    fn names_of(&self, open: usize) -> Vec<Option<u32>> {
        let small = |at: usize| u32::try_from(at).ok();
        let Some(past) = self.types.past(open) else { return Vec::new() };
        let end = past.wrapping_sub(1);
        let mut found = Vec::new();
        let mut at = open.wrapping_add(1);
        if self.is_typed() && self.kw(at) == Kw::This {
            at = self.entry_end(at, end).wrapping_add(1);
        }
        while at < end && found.len() < 3 {
            let name = self.kind(at) == Some(K::Word);
            found.push(if name { small(at) } else { None });
            at = self.entry_end(at, end).wrapping_add(1);
        }
        found
    }
}
