//! Operands: names, texts, numbers.

use super::Walk;
use super::frame::{Cur, In};
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::scope::{Kind, NONE};
use crate::lex::py::token::{FIRST, Kw, Tok};
use crate::names::{Node, Word};
use crate::sink::Own;
use crate::view::How;

impl Walk<'_, '_, '_> {
    pub(super) fn string(&mut self) {
        let at = self.at;
        let next_to = self.frames.last().is_some_and(|frame| {
            frame.cur.active
                && matches!(frame.cur.val.form, Form::Text | Form::Joined)
                && frame.cur.val.b.saturating_add(1) == at
        });
        if next_to {
            if let Some(frame) = self.top() {
                frame.cur.val.b = at;
                frame.cur.last = at;
            }
        } else {
            self.operand(Val::form(Form::Text, at, at), How::NONE);
        }
    }

    /// Starts an operand.
    pub(super) fn operand(&mut self, val: Val, how: How) {
        self.finish_operand();
        let at = self.at;
        if let Some(frame) = self.top() {
            let decorator = core::mem::take(&mut frame.cur.decorator);
            frame.cur = Cur { val, first: at, last: at, how, active: true, decorator, ..Cur::default() };
            if frame.elem.is_fresh() && frame.elem.spread == 0 {
                frame.elem.first = at;
            }
        }
    }

    pub(super) fn name(&mut self, tok: Tok) {
        let kw = Kw::of(tok.aux);
        if kw != Kw::None && kw != Kw::Print {
            if tok.flags & FIRST != 0
                && kw.begins()
                && self.frames.len() > 1
                && !self.frames.iter().any(|frame| frame.kind == In::Hole)
            {
                self.recover();
            }
            return self.keyword(kw);
        }
        let at = self.at;
        if let Some(subject) = self.scopes.subject(at) {
            if self.subject.is_none() && self.fresh() {
                self.head = (Kw::None, at);
                self.subject = Some(subject);
                return;
            }
            self.captured(at, subject);
        }
        let found = self.resolve(at, tok.aux);
        self.operand(found.val, Self::wide(tok));
        let next = self.tok(at.saturating_add(1));
        let called = next.is_some_and(|next| next.is_op(b'('));
        let assigned = next.is_some_and(|next| next.is_op(b'='));
        if let Some(frame) = self.top() {
            frame.cur.target = at.saturating_add(1);
        }
        if found.by == By::Language && !called && !assigned && !self.scopes.binds(at) {
            let span = tok.range();
            self.sink.member(self.names, found.val.node, Own::No, span, Self::wide(tok));
        }
    }

    /// A name that a pattern captures: what is matched, or a part of it.
    fn captured(&mut self, at: u32, subject: u32) {
        let matched = self.bindings.get(subject);
        let beside = self.is_op(at.saturating_add(1), b',') || self.is_op(at.saturating_sub(1), b',');
        let whole = self.frames.len() == 1 && !beside;
        let val = if whole { matched } else { self.any_item(matched) };
        self.bind(at, val);
    }

    /// Gives what the name at a token stands for.
    pub(super) fn resolve(&mut self, at: u32, word: Word) -> Resolved {
        let var = self.scopes.at(at);
        self.value(var, at, word)
    }

    /// Gives what a variable is at a token.
    pub(super) fn value(&mut self, var: u32, at: u32, word: Word) -> Resolved {
        let own = self.scopes.var(var);
        let file = |val| Resolved { val, by: By::File };
        let mut val = self.bindings.get(var);
        if own.given != NONE
            && let given = self.given(own.given)
            && given.is_any()
        {
            val = if val.is_known() { self.bindings.or_else(var, given) } else { given };
        }
        let sure = own.declared && self.is_sure(var, own.kind, at, word);
        if val.is_any() {
            // Where it may still be what the language has, it is that as well.
            let other = match own.kind {
                _ if sure => 0,
                Kind::Module => self.unbound(word, None),
                Kind::Local | Kind::Class => self.names.global(word),
            };
            return match (other, val.is_known()) {
                (0, _) => file(val),
                (other, true) => file(self.bindings.or_else(var, Val::node(other))),
                (other, false) => Resolved { val: Val::node(other), by: By::Language },
            };
        }
        if own.gives != NONE && self.bindings.get(own.gives).is_any() {
            let builtin = self.names.global(word);
            if !sure && builtin != 0 {
                // In another walk it is the function.
                self.bindings.is_one_of(1);
                if self.bindings.walk == 0 {
                    return Resolved { val: Val::node(builtin), by: By::Language };
                }
            }
            return file(Val::form(Form::Func, own.gives, 0));
        }
        if sure {
            return file(Val::default());
        }
        match own.kind {
            Kind::Class => self.value(own.outer, at, word),
            Kind::Local => Resolved { val: Val::node(self.names.global(word)), by: By::Language },
            Kind::Module => {
                // Code that is handed to an executor sees what its surroundings imported.
                let bound = own.declared || (self.scopes.loose && self.bindings.is_bound(var));
                let tok = self.tok(at).filter(|_| self.sink.depth > 0 && !bound);
                let name = tok.map(|tok| name_of(self.src, tok));
                let val = Val::node(self.unbound(word, name.as_deref()));
                let by = if self.scopes.loose && bound { By::File } else { By::Language };
                Resolved { val, by }
            }
        }
    }

    /// Gives what a parameter is called with, here or where an earlier function of the name is called.
    fn given(&self, var: u32) -> Val {
        let val = self.bindings.get(var);
        let before = self.scopes.var(var).given;
        if val.is_any() || before == NONE { val } else { self.bindings.get(before) }
    }

    /// Says whether a variable is certainly the file's own at a token.
    fn is_sure(&self, var: u32, kind: Kind, at: u32, word: Word) -> bool {
        self.scopes.sure_since(var, at).is_some_and(|since| {
            // What a module gives with all its names comes in its place.
            let mut stars = self.bindings.stars.iter().filter(|(_, star)| *star > since);
            kind == Kind::Local || !stars.any(|(module, _)| self.step(*module, word) != 0)
        })
    }

    /// Gives what a name is that nothing has certainly bound. A name that is given may be a module.
    pub(super) fn unbound(&self, word: Word, name: Option<&[u8]>) -> Node {
        if word != 0 && word == self.nodes.builtins_word {
            return self.nodes.builtins;
        }
        let node = self.names.global(word);
        if node != 0 {
            return node;
        }
        let mut stars = self.bindings.stars.iter().map(|(module, _)| self.step(*module, word));
        let star = stars.find(|node| *node != 0);
        star.or_else(|| name.map(|name| self.names.module(name))).unwrap_or(0)
    }
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    pub(super) val: Val,
    by: By,
}

/// Who gave a name its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    File,
    Language,
}
