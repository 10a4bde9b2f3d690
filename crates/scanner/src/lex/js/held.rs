//! What members of the file's own objects hold, and what a function that is called where it stands is given.

use std::borrow::Cow;

use super::bind::{Holder, Val, name_of};
use super::token::{K, Kw, Tok};
use super::walk::{Arg, Cur, Shape, Via, Walk};

/// Tokens of a class in front of its body.
const HEAD: usize = 24;

impl<'a> Walk<'a, '_, '_, '_> {
    /// `o.p = value` and `o["p"] = value`.
    pub(super) fn hold_member(&mut self, target: &Cur, val: Val) {
        let (first, last) = (target.first as usize, target.last as usize);
        let member = match (self.kind(first.wrapping_add(1)), self.kind(first.wrapping_add(2))) {
            (Some(K::Dot), Some(K::Word)) if first.wrapping_add(2) == last => self.key(last),
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
        let Some(past) = self.types.past(open).filter(|_| self.kind(open) == Some(K::LBrace)) else { return };
        let end = past.wrapping_sub(1);
        let mut at = open.wrapping_add(1);
        while at < end {
            let entry = self.entry_end(at, end);
            let colon = self.kind(at.wrapping_add(1)) == Some(K::Colon);
            let from = if colon { at.wrapping_add(2) } else { at };
            if matches!(self.kind(at), Some(K::Word | K::Str)) {
                let val = self.plain(from, entry);
                let member = self.key(at);
                self.hold(name, member, val);
            }
            at = entry.wrapping_add(1);
        }
    }

    /// Gives what a name with members, or a module that is asked for, is.
    pub(super) fn plain(&mut self, from: usize, to: usize) -> Val {
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
        if tok.kind == K::Word { name_of(self.src, tok) } else { Cow::Owned(self.constant(at).0) }
    }

    fn is_held(&self, val: Val) -> bool {
        let function = self.nodes.function;
        self.is_any(val.node, |node| node != function) || val.star != 0
    }

    fn hold(&mut self, holder: usize, member: Cow<'a, [u8]>, val: Val) {
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
        if !self.bindings.holds_any() {
            return;
        }
        let Some(cur) = before.filter(|cur| cur.shape == Shape::Name) else { return };
        let at = cur.last as usize;
        let holder = self.holder(at, self.tok(at));
        let key = self.key(member);
        if let Some(val) = self.bindings.held(&holder, &key) {
            self.add_val(val);
        }
    }

    /// Binds the parameters of a function that is called where it stands to what it is given.
    pub(super) fn give(&mut self, callee: &Cur, args: &[Arg; 3]) {
        let skipped = match callee.via {
            Via::Direct => 0,
            Via::Call => 1,
            Via::Apply | Via::Bind | Via::Then => return,
        };
        let given = args.iter().skip(skipped);
        if self.kind(callee.first as usize) != Some(K::LParen)
            || !given.clone().any(|arg| self.is_held(arg.val))
        {
            return;
        }
        let given: Vec<Val> = given.map(|arg| arg.val).collect();
        for (at, val) in self.parameters_of(callee.first as usize).into_iter().zip(given) {
            if let Some(at) = at.filter(|_| self.is_held(val)) {
                self.bind(at, Val { text: 0, ..val });
            }
        }
    }

    /// Gives the first parameters of a function in parentheses, those that are names.
    fn parameters_of(&self, group: usize) -> Vec<Option<u32>> {
        let small = |at: usize| u32::try_from(at).ok();
        let mut at = group.wrapping_add(1);
        while self.kind(at) == Some(K::LParen) && !self.types.is_arrow_head(at) {
            at = at.wrapping_add(1);
        }
        if self.kw(at) == Kw::Async {
            at = at.wrapping_add(1);
        }
        if self.kw(at) == Kw::Function {
            at = at.wrapping_add(1);
            while matches!(self.kind(at), Some(K::Op | K::Word)) {
                at = at.wrapping_add(1);
            }
        } else if self.kind(at.wrapping_add(1)) == Some(K::Arrow) {
            return vec![small(at)];
        } else if !self.types.is_arrow_head(at) {
            return Vec::new();
        }
        let Some(past) = self.types.past(at) else { return Vec::new() };
        let end = past.wrapping_sub(1);
        let mut found = Vec::new();
        at = at.wrapping_add(1);
        while at < end && found.len() < 3 {
            let name = self.kind(at) == Some(K::Word);
            found.push(if name { small(at) } else { None });
            at = self.entry_end(at, end).wrapping_add(1);
        }
        found
    }
}
