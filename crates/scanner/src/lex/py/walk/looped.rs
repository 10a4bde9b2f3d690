//! Loops: what their targets are bound to.

use super::Walk;
use super::frame::{Elem, In, Item, Looped, Tuple};
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::token::K;

/// Most items of a list whose own items are told apart.
const ITEMS: usize = 256;

impl Walk<'_, '_, '_> {
    /// `for`: its targets follow.
    pub(super) fn begin_loop(&mut self) {
        self.end_condition();
        self.end_loop();
        let from = self.at.saturating_add(1);
        if let Some(frame) = self.top() {
            let outer = core::mem::replace(&mut frame.elem, Elem { first: from, ..Elem::default() });
            frame.looped = Some(Looped { outer, from, to: 0, tuple: Tuple::No });
        }
    }

    /// `in`: what the loop goes through follows; says whether it belongs to a loop.
    pub(super) fn loop_in(&mut self) -> bool {
        let at = self.at;
        let Some(frame) = self.top() else { return false };
        let Some(looped) = frame.looped.as_mut().filter(|looped| !looped.is_in()) else { return false };
        looped.to = at;
        frame.elem = Elem { first: at.saturating_add(1), operators: 1, ..Elem::default() };
        true
    }

    /// A comma in what a loop goes through; says whether it is one.
    pub(super) fn loop_comma(&mut self) -> bool {
        if self.frames.last().is_some_and(|frame| frame.looped.is_none()) {
            return false;
        }
        self.end_condition();
        let next = self.at.saturating_add(1);
        let Some(frame) = self.top() else { return false };
        let Some(looped) = frame.looped else { return false };
        if frame.kind != In::Statement {
            return false;
        }
        if looped.is_in() {
            let val = core::mem::replace(&mut frame.elem, Elem { first: next, ..Elem::default() }).val;
            frame.looped = Some(Looped { tuple: Tuple::Yes, ..looped });
            self.bind_targets(looped, &[val]);
        } else {
            frame.elem = Elem { first: next, ..Elem::default() };
        }
        true
    }

    /// Ends the head of a loop: its targets are bound.
    pub(super) fn end_loop(&mut self) {
        self.finish_operand();
        let Some(frame) = self.top() else { return };
        let Some(looped) = frame.looped.take() else { return };
        let outer = Elem { operators: looped.outer.operators.saturating_add(1), ..looped.outer };
        let elem = core::mem::replace(&mut frame.elem, outer);
        if !looped.is_in() {
            return;
        }
        let val = self.chosen(&elem);
        match (looped.tuple, val.form) {
            (Tuple::Yes, _) if elem.operands > 0 => self.bind_targets(looped, &[val]),
            (Tuple::No, Form::List) => {
                let items: Vec<Item> = self.list(val).iter().take(ITEMS).copied().collect();
                if self.spend(items.len()) {
                    self.bind_items(looped, &items);
                }
            }
            (Tuple::No, _) => {
                let val = self.any_item(val);
                self.bind_targets(looped, &[val]);
            }
            (Tuple::Yes, _) => {}
        }
    }

    fn bind_items(&mut self, looped: Looped, items: &[Item]) {
        let targets = self.loop_targets(looped);
        let pairs = targets.len() == 2 && items.iter().all(|item| item.key != 0);
        let vals: Vec<Val> = items.iter().map(|item| item.val).collect();
        match targets.as_slice() {
            // The key and the value of a dictionary.
            [_, value] if pairs => {
                let val = self.either(&vals);
                self.bind_target(*value, val);
            }
            _ => self.bind_targets(looped, &vals),
        }
    }

    /// Binds the targets to one of some values.
    fn bind_targets(&mut self, looped: Looped, vals: &[Val]) {
        if !self.spend(looped.to.saturating_sub(looped.from) as usize) {
            return;
        }
        let targets = self.loop_targets(looped);
        if let [only] = targets.as_slice() {
            let val = self.either(vals);
            return self.bind_target(*only, val);
        }
        if !self.spend(targets.len().saturating_mul(vals.len())) {
            return;
        }
        for (target, index) in targets.iter().zip(0_usize..) {
            let parts = vals.iter().filter(|val| val.form == Form::List);
            let parts: Vec<Val> =
                parts.filter_map(|val| self.list(*val).get(index)).map(|item| item.val).collect();
            let val = self.either(&parts);
            self.bind_target(*target, val);
        }
    }

    fn bind_target(&mut self, at: u32, val: Val) {
        let member = at.checked_sub(1).is_some_and(|before| self.is_op(before, b'.'));
        match self.tok(at) {
            Some(tok) if member => self.bindings.bind_member(name_of(self.src, tok), val),
            _ => self.bind(at, val),
        }
    }

    /// Gives the tokens of the names that a loop binds.
    fn loop_targets(&self, looped: Looped) -> Vec<u32> {
        let ends = |at: u32| at >= looped.to || [b',', b')', b']'].iter().any(|op| self.is_op(at, *op));
        let is_name = |at: &u32| self.kind_at(*at) == Some(K::Name) && ends(at.saturating_add(1));
        (looped.from..looped.to).filter(is_name).collect()
    }
}
