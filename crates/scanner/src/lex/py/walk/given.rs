//! Calls that give a module or a member by its name.

use std::borrow::Cow;

use super::Walk;
use super::frame::{Cur, Item};
use crate::lex::py::bind::{Form, Val};
use crate::sink::Own;

impl Walk<'_, '_, '_> {
    /// A module that is asked for by a call.
    pub(super) fn imported(&mut self, name: Val, callee: &Cur, span: (usize, usize)) -> Val {
        if name.form != Form::Text {
            return Val::default();
        }
        let (text, how) = self.text(name);
        self.told(&text, span, callee.how.and(how));
        self.undone = how;
        let import = self.names.find("__import__");
        if callee.val.node == import {
            // It gives the outermost package.
            let top = text.split(|byte| *byte == b'.').next().unwrap_or_default();
            return Val::node(self.module(top));
        }
        Val::node(self.module(&text))
    }

    /// `getattr(x, "n")`.
    pub(super) fn got(&mut self, callee: &Cur, items: &[Item], span: (usize, usize)) -> Val {
        let (base, name) = (items.first().map_or(Val::default(), |item| item.val), items.get(1));
        let Some(name) = name else { return Val::default() };
        if name.val.form != Form::Text {
            let node = if base.node == 0 { 0 } else { self.names.step(base.node, self.names.computed) };
            self.sink.member(self.names, node, Own::No, span, callee.how);
            return Val::default();
        }
        let (text, how) = self.text(name.val);
        let word = self.names.words.get(&text);
        let found = self.member_of(base, word);
        self.undone = how;
        if !self.is_op(self.at.saturating_add(1), b'(') {
            self.sink.member(self.names, found.node, Own::No, span, callee.how.and(how));
            self.sink.member(self.names, found.star, Own::No, span, callee.how.and(how));
        }
        found
    }

    pub(super) fn set(&mut self, callee: &Cur, items: &[Item], span: (usize, usize)) {
        if let [base, name, rest @ ..] = items {
            let (text, how) = self.text(name.val);
            if let Some(given) = rest.first().filter(|_| name.val.form == Form::Text) {
                self.bindings.bind_member(Cow::Owned(text.clone()), given.val);
            }
            let word = self.names.words.get(&text);
            let found = self.member_of(base.val, word);
            self.sink.assign(self.names, found.node, Own::No, span, callee.how.and(how));
            self.sink.assign(self.names, found.star, Own::No, span, callee.how.and(how));
        }
    }

    /// `attrgetter("n")(x)` and `methodcaller("n", …)(x)`.
    pub(super) fn taken(&mut self, callee: &Cur, items: &[Item], last: u32) -> Val {
        let base = items.first().map_or(Val::default(), |item| item.val);
        let (text, how) = self.constant(Val { form: Form::Text, ..callee.val });
        self.undone = how;
        let how = callee.how.and(how);
        let parts = text.split(|byte| *byte == b'.');
        let found = parts.fold(base, |val, part| self.member_of(val, self.names.words.get(part)));
        let span = self.span(callee.first, last);
        if callee.val.form == Form::Caller {
            self.tell(found, how, items.get(1..).unwrap_or_default(), span);
            return Val::default();
        }
        if !self.is_op(last.saturating_add(1), b'(') {
            self.sink.member(self.names, found.node, Own::No, span, how);
        }
        found
    }
}
