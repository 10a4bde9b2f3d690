//! Operands: names, texts, numbers.

use super::Walk;
use super::frame::{Cur, In};
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::token::{FIRST, Kw, Tok};
use crate::names::Word;
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
            if frame.elem.operands == 0 && frame.elem.operators == 0 && frame.elem.spread == 0 {
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
        let name = name_of(self.src, tok);
        let val = self.resolve(&name, tok.aux);
        self.operand(val, Self::wide(tok));
        let at = self.at;
        let next = self.tok(at.saturating_add(1));
        let called = next.is_some_and(|next| next.is_op(b'('));
        let assigned = next.is_some_and(|next| next.is_op(b'='));
        let direct = self.bindings.get(&name).is_none();
        if let Some(frame) = self.top() {
            frame.cur.target = at.saturating_add(1);
        }
        if direct && !called && !assigned {
            let span = tok.range();
            self.sink.member(self.names, val.node, Own::No, span, Self::wide(tok));
        }
    }

    /// Gives what a name stands for.
    pub(super) fn resolve(&self, name: &[u8], word: Word) -> Val {
        if let Some(val) = self.bindings.get(name) {
            if val.is_any() {
                return val;
            }
            // A name that the file binds to something else may still be the builtin above that place.
            let node = self.names.global(word);
            let here = self.tok(self.at).map_or(0, |tok| tok.start);
            let own = !self.nodes.is_executor(node) || self.bindings.is_replaced(name, here);
            return if own { Val::default() } else { Val::node(node) };
        }
        if word != 0 && word == self.nodes.builtins_word {
            return Val::node(self.nodes.builtins);
        }
        let node = self.names.global(word);
        if node != 0 {
            return Val::node(node);
        }
        let star =
            self.bindings.stars.iter().map(|module| self.names.step(*module, word)).find(|node| *node != 0);
        if let Some(node) = star {
            return Val::node(node);
        }
        // Code that is handed to an executor sees what its surroundings imported.
        if self.sink.depth > 0 { Val::node(self.names.module(name)) } else { Val::default() }
    }
}
