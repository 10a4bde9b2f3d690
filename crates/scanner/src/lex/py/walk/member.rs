//! Members and items of what is known.

use std::borrow::Cow;

use super::Walk;
use super::frame::{Cur, Item};
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::token::{K, Tok};
use crate::names::{ROOT, Word};
use crate::sink::Own;
use crate::view::How;

impl Walk<'_, '_, '_> {
    /// `.name` behind an operand.
    pub(super) fn member(&mut self, name: Tok) {
        let text = name_of(self.src, name);
        self.member_named(&text, name.aux, Self::wide(name));
        let at = self.at;
        if let Some(frame) = self.top() {
            frame.cur.target = at.saturating_add(1);
            frame.cur.member = true;
        }
    }

    /// Goes from the operand to one of its members, by whatever way.
    fn member_named(&mut self, name: &[u8], word: Word, how: How) {
        let at = self.at;
        let Some(cur) = self.frames.last().map(|frame| frame.cur) else { return };
        let mut val = self.member_of(cur.val, word);
        let mut told = val.node;
        if !val.is_any()
            && let Some(held) = self.bindings.member(name)
        {
            val = Val { star: val.star, ..held };
            told = 0;
        }
        if !val.is_any()
            && cur.first == cur.last
            && let Some(held) = self.bindings.constant(name)
            && self.is_own(cur.first)
        {
            val = Val { star: val.star, ..held };
            if held.form == Form::Text {
                // It stands elsewhere: what is joined with it does not go on from there.
                val.walk = 1;
            }
        }
        let how = cur.how.and(how);
        if let Some(frame) = self.top() {
            frame.cur.val = val;
            frame.cur.last = at;
            frame.cur.how = how;
            frame.cur.called = false;
            frame.cur.decorator = cur.decorator;
        }
        let called = self.is_op(at.saturating_add(1), b'(') || cur.decorator;
        let written = self.is_op(at.saturating_add(1), b'=');
        // What it holds was told where it was bound.
        if !called && !written && (told != 0 || val.star != 0) {
            let span = self.span(cur.first, at);
            self.sink.member(self.names, told, Own::No, span, how);
            self.sink.member(self.names, val.star, Own::No, span, how);
        }
    }

    /// Says whether a name is an object's own or that of a class.
    fn is_own(&self, at: u32) -> bool {
        self.tok(at).is_some_and(|tok| match crate::lex::py::text_of(self.src, tok) {
            b"self" | b"cls" => true,
            name => name.first().is_some_and(u8::is_ascii_uppercase),
        })
    }

    /// What a member of a value is.
    pub(super) fn member_of(&self, base: Val, word: Word) -> Val {
        let nodes = self.nodes;
        if word != 0 && word == nodes.dict {
            return Val { node: 0, star: 0, form: Form::Space, a: base.node, b: 0, walk: 0 };
        }
        if nodes.is_space(word) {
            return Val { node: 0, star: self.names.star(word), form: Form::Space, a: ROOT, b: 0, walk: 0 };
        }
        if word != 0 && word == nodes.asked && base.node != 0 && self.step(base.node, word) == 0 {
            // Called with a name, it gives the member of that name.
            return Val::form(Form::Space, base.node, 0);
        }
        if base.form == Form::Space {
            // A member of a dictionary: only what it is asked by.
            return if nodes.asks(word) { base } else { Val::default() };
        }
        if base.node != 0 && base.node == nodes.modules && nodes.asks(word) {
            return Val { form: Form::Space, ..base };
        }
        if base.form == Form::Path && base.star == 0 {
            return if nodes.keeps_path(word) { base } else { Val { star: self.names.star(word), ..base } };
        }
        if base.form == Form::List && nodes.asks(word) {
            return Val { form: Form::Asked, ..base };
        }
        if base.form == Form::List && nodes.keeps_list(word) {
            return base;
        }
        if matches!(base.form, Form::Text | Form::Joined) {
            let kept = nodes.keeps_text(word);
            return if kept { base } else { Val { star: self.names.star(word), ..Val::default() } };
        }
        if word != 0 && word == nodes.call && base.node != 0 {
            return base;
        }
        let mut node = if base.node == 0 { 0 } else { self.step(base.node, word) };
        if node == 0 {
            // What another module imported is its member.
            node = nodes.reached(word);
        }
        let star = if word == 0 {
            self.names.step(base.star, 0)
        } else {
            let next = self.names.step(base.star, word);
            if next == 0 { self.names.star(word) } else { next }
        };
        Val { node, star, ..Val::default() }
    }

    pub(super) fn index(&mut self, base: Cur, item: Item, last: u32) {
        let mut cur = Cur { last, called: false, target: 0, index: 0, ..base };
        let constant = item.val.form == Form::Text;
        let (name, how) = if constant { self.constant(item.val) } else { (Vec::new(), How::NONE) };
        let word = if constant { self.names.words.get(&name) } else { self.names.computed };
        cur.how = cur.how.and(how);
        let written = self.is_op(last.saturating_add(1), b'=');
        let asked = base.val.node != 0 && base.val.node == self.nodes.modules;
        if constant && written {
            cur.index = item.val.a.saturating_add(1);
            // An item of what holds an object's members is a member.
            cur.member = base.val.form == Form::Space;
        }
        if asked && written {
            cur.val = Val::node(self.names.step(base.val.node, word));
        } else if base.val.form == Form::Space || asked {
            cur.val = self.in_space(base.val, constant.then_some(name.as_slice()));
            if !constant && base.val.form == Form::Space && base.val.a != ROOT {
                let node = self.names.step(base.val.a, self.names.computed);
                let span = self.span(base.first, last);
                self.sink.member(self.names, node, Own::No, span, cur.how);
            }
        } else if base.val.form == Form::List && !(constant && written) {
            cur.val = self.picked(base.val, item, constant.then_some(name.as_slice()));
        } else if base.val.node != 0 {
            let node = self.step(base.val.node, word);
            cur.val = Val::node(node);
        } else if constant && written {
            cur.val = Val { star: self.names.star(word), ..Val::default() };
        } else {
            cur.val = Val::default();
        }
        if constant
            && !written
            && !cur.val.is_any()
            && self.bindings.has_members()
            && let Some(held) = self.bindings.member(&Self::item_name(&name))
        {
            cur.val = held;
        }
        let (val, how) = (cur.val, cur.how);
        if let Some(top) = self.top() {
            top.cur = cur;
        }
        let called = self.is_op(last.saturating_add(1), b'(');
        if !called && !written && (val.node != 0 || val.star != 0) {
            let span = self.span(base.first, last);
            self.sink.member(self.names, val.node, Own::No, span, how);
            self.sink.member(self.names, val.star, Own::No, span, how);
        }
    }

    /// Gives the name under which members are kept that are items.
    fn item_name(key: &[u8]) -> Vec<u8> {
        [b"[", key].concat()
    }

    /// An item under a constant holds a value, of whatever dictionary.
    pub(super) fn bind_item(&mut self, target: &Cur, val: Val) {
        let Some(first) = target.index.checked_sub(1).filter(|_| val.is_known()) else { return };
        let last = target.last.saturating_sub(1).max(first);
        let (name, _) = self.constant(Val::form(Form::Text, first, last));
        if target.member {
            self.bindings.bind_member(Cow::Owned(name.clone()), val);
        }
        self.bindings.bind_member(Cow::Owned(Self::item_name(&name)), val);
    }

    /// Gives what a dictionary of names holds under a constant.
    pub(super) fn in_space(&mut self, space: Val, name: Option<&[u8]>) -> Val {
        let Some(name) = name else { return Val::default() };
        if space.node != 0 && space.node == self.nodes.modules {
            return Val::node(self.module(name));
        }
        let word = self.names.words.get(name);
        if space.a == 0 {
            return Val { star: self.names.star(word), ..Val::default() };
        }
        if space.a != ROOT {
            return Val::node(self.step(space.a, word));
        }
        let at = self.at;
        let number = self.scopes.name(name);
        let mut found = match number {
            Some(number) => self.value(self.scopes.module(number), at, word).val,
            None => Val::node(self.unbound(word, Some(name).filter(|_| self.sink.depth > 0))),
        };
        if let Some(number) = number.filter(|_| !found.is_any()) {
            found = self.bindings.named(number);
        }
        // The names of another file hold what that file imported.
        if found.is_any() || number.is_some() { found } else { Val::node(self.nodes.reached(word)) }
    }

    /// Gives the text of a keyword or a key.
    pub(super) fn key_text(&self, key: u32) -> Vec<u8> {
        let Some(tok) = key.checked_sub(1).and_then(|at| self.tok(at)) else { return Vec::new() };
        if tok.kind == K::Name {
            name_of(self.src, tok).into_owned()
        } else {
            crate::lex::py::text::constant(self.src, &[tok]).0
        }
    }

    /// Gives a constant text.
    pub(super) fn constant(&mut self, val: Val) -> (Vec<u8>, How) {
        let toks = self.toks(val.a, val.b);
        let cost = toks.iter().map(|tok| (tok.end.saturating_sub(tok.start)) as usize / 16).sum::<usize>();
        if toks.len() > 4096 || !self.spend(toks.len().saturating_add(cost)) {
            return (Vec::new(), How::NONE);
        }
        crate::lex::py::text::constant(self.src, toks)
    }
}
