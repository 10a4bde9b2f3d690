//! Assignments.

use super::Walk;
use super::frame::{Cur, Elem, Frame, In, Item, Tuple};
use crate::lex::py::bind::{Form, name_of};
use crate::lex::py::scope::NAMELESS;
use crate::lex::py::token::{K, Kw};
use crate::sink::Own;

/// Names that one value which gives several is bound to.
const PARTS: usize = 8;

impl Walk<'_, '_, '_> {
    pub(super) fn assign(&mut self) {
        self.finish_operand();
        let at = self.at;
        let Some(frame) = self.frames.last_mut() else { return };
        match frame.kind {
            _ if frame.lambda.is_some() => {
                let key = frame.elem.target.target;
                frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
            }
            In::Call | In::Params => {
                let key = if frame.elem.key == 0 { frame.elem.target.target } else { frame.elem.key };
                frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
            }
            In::Statement => {
                if let Some(target) = frame.annotated.take() {
                    let (val, first) = (target.val, target.first);
                    frame.elem = Elem { target, val, first, operands: 1, ..Elem::default() };
                }
                // A name alone is bound anew; what it stood for stays as it is.
                if !self.frames.last().is_some_and(|frame| frame.elem.target.is_name()) {
                    self.tell_assign();
                }
                self.finish_element();
                let start = self.stored.len();
                let from = self.frames.last().map_or(0, |frame| frame.items);
                let items = self.items.split_off(from.min(self.items.len()));
                self.stored.extend(items);
                self.targets.push((start, self.stored.len()));
                if let Some(frame) = self.top() {
                    frame.elem.first = at.saturating_add(1);
                    frame.comma = false;
                }
            }
            _ => {}
        }
    }

    /// Tells the rules what a statement writes to.
    pub(super) fn tell_assign(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let target = frame.elem.target;
        if target.val.node != 0 || target.val.star != 0 {
            let span = self.span(target.first, target.last);
            self.sink.assign(self.names, target.val.node, Own::No, span, target.how);
            self.sink.assign(self.names, target.val.star, Own::No, span, target.how);
        }
    }

    pub(super) fn end_statement(&mut self) {
        if self.frames.len() > 1 {
            // A statement's end stands only outside of brackets; a semicolon inside ends an element.
            self.finish_element();
            return;
        }
        self.finish_element();
        let comma = self.frames.last().is_some_and(|frame| frame.comma);
        let values = core::mem::take(&mut self.items);
        if let Some(subject) = self.subject.take()
            && self.scopes.subject(self.head.1) == Some(subject)
            && self.tok(self.head.1).is_some_and(|tok| crate::lex::py::text_of(self.src, tok) == b"match")
        {
            let val = match values.as_slice() {
                [only] if !comma => only.val,
                _ => self.keep(&values),
            };
            self.bindings.bind(subject, NAMELESS, self.head.1, val);
        }
        if let Some(name) = self.augmented.take()
            && let [only] = values.as_slice()
            && only.val.form == Form::List
        {
            self.bindings.regrow(self.scopes.at(name), only.val);
        }
        if matches!(self.head.0, Kw::Return | Kw::Yield) {
            self.gives(&values, if comma { Tuple::Yes } else { Tuple::No });
        }
        if !self.targets.is_empty() {
            let targets = core::mem::take(&mut self.targets);
            for (start, end) in targets {
                let names: Vec<Item> = self.stored.get(start..end).unwrap_or_default().to_vec();
                self.bind_all(&names, &values, if comma { Tuple::Yes } else { Tuple::No });
            }
        }
        self.stored.clear();
        self.head = (Kw::None, self.at);
        self.params = false;
        if let Some(frame) = self.frames.first_mut() {
            *frame = Frame::new(In::Statement, Cur::default(), 0, self.at);
        }
    }

    /// What a function gives.
    fn gives(&mut self, values: &[Item], tuple: Tuple) {
        let at = self.head.1;
        let val = match values {
            [only] if tuple == Tuple::No && only.spread == 0 => only.val,
            _ => self.keep(values),
        };
        self.bind(at, val);
    }

    /// Binds the targets of one `=` to the values.
    fn bind_all(&mut self, names: &[Item], values: &[Item], tuple: Tuple) {
        let mut left: Vec<(Item, Item)> = Vec::new();
        match names {
            [only] if !self.is_pattern(only) && tuple == Tuple::No && only.spread == 0 => {
                left.extend(values.first().map(|value| (*only, *value)));
            }
            [only] if !self.is_pattern(only) && only.spread == 0 => {
                let val = self.keep(values);
                left.push((*only, Item { val, ..Item::default() }));
            }
            [only] if self.is_pattern(only) => {
                let targets = self.list(only.val).to_vec();
                let values = self.unpacked(values, tuple);
                self.pair(&targets, &values, &mut left);
            }
            _ => {
                let values = self.unpacked(values, tuple);
                self.pair(names, &values, &mut left);
            }
        }
        while let Some((target, value)) = left.pop() {
            if self.is_pattern(&target) {
                let targets = self.list(target.val).to_vec();
                let values = self.unpacked(&[value], Tuple::No);
                self.pair(&targets, &values, &mut left);
            } else {
                self.bind_one(&target, value);
            }
        }
    }

    /// Says whether a target is a list of targets, and no name of a list.
    fn is_pattern(&self, target: &Item) -> bool {
        let bracket = self.is_op(target.first, b'(') || self.is_op(target.first, b'[');
        target.val.form == Form::List && target.target.target == 0 && bracket
    }

    /// Gives the values that several targets are bound to.
    fn unpacked(&mut self, values: &[Item], tuple: Tuple) -> Vec<Item> {
        match values {
            [only] if only.val.form == Form::List && tuple == Tuple::No => self.list(only.val).to_vec(),
            [only] if tuple == Tuple::No => {
                // What gives modules one by one gives one to each.
                let val = self.any_item(only.val);
                if val.is_known() { vec![Item { val, ..*only }; PARTS] } else { Vec::new() }
            }
            _ => values.to_vec(),
        }
    }

    /// Pairs targets with values: one behind an asterisk takes all that the others leave.
    fn pair(&mut self, targets: &[Item], values: &[Item], out: &mut Vec<(Item, Item)>) {
        if !self.spend(targets.len()) {
            return;
        }
        let star = targets.iter().position(|target| target.spread == 1);
        let behind = star.map_or(0, |at| targets.len().saturating_sub(at).saturating_sub(1));
        let last = values.len().saturating_sub(behind);
        for (target, at) in targets.iter().zip(0_usize..) {
            let value = match star {
                Some(star) if at == star => {
                    let val = self.keep(values.get(star..last).unwrap_or_default());
                    Item { val, ..Item::default() }
                }
                Some(star) if at > star => {
                    let from_end = targets.len().saturating_sub(at);
                    let place = values.len().checked_sub(from_end);
                    place.and_then(|place| values.get(place)).copied().unwrap_or_default()
                }
                _ => values.get(at).copied().unwrap_or_default(),
            };
            out.push((Item { spread: 0, ..*target }, value));
        }
    }

    fn bind_one(&mut self, target: &Item, value: Item) {
        if self.kind_at(value.first) == Some(K::Name) {
            self.tell_written(&target.target, value);
        }
        if target.target.index != 0 {
            self.grows_by(&target.target, value);
            return self.bind_item(&target.target, value.val);
        }
        let key = if target.target.target == 0 { target.key } else { target.target.target };
        let Some(name) = key.checked_sub(1) else { return };
        if !target.target.member {
            self.bind(name, value.val);
        } else if let Some(tok) = self.tok(name) {
            self.bindings.unbind_constant(&name_of(self.src, tok));
            self.bindings.bind_member(name_of(self.src, tok), value.val);
        }
    }
}
