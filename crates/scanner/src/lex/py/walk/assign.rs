//! Assignments.

use super::Walk;
use super::frame::{Cur, Elem, Frame, In, Item, Tuple};
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::token::{K, Kw};
use crate::sink::Own;

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
        if !self.targets.is_empty() {
            let targets = core::mem::take(&mut self.targets);
            for (start, end) in targets {
                let names: Vec<Item> = self.stored.get(start..end).unwrap_or_default().to_vec();
                self.bind_all(&names, &values, if comma { Tuple::Yes } else { Tuple::No });
            }
        }
        self.stored.clear();
        self.head = Kw::None;
        self.params = false;
        if let Some(frame) = self.frames.first_mut() {
            *frame = Frame::new(In::Statement, Cur::default(), 0, self.at);
        }
    }

    /// Binds the targets of one `=` to the values.
    fn bind_all(&mut self, names: &[Item], values: &[Item], tuple: Tuple) {
        let unpacked: Vec<Item> = match names {
            [only] if only.val.form == Form::List => self.list(only.val).to_vec(),
            _ => names.to_vec(),
        };
        let many = unpacked.len() > 1
            || (names.len() == 1 && names.first().is_some_and(|name| name.val.form == Form::List));
        let values: Vec<Item> = match values {
            [only] if many && only.val.form == Form::List && tuple == Tuple::No => {
                self.list(only.val).to_vec()
            }
            _ => values.to_vec(),
        };
        for (target, index) in unpacked.iter().zip(0_usize..) {
            let val = if many {
                values.get(index).map_or(Val::default(), |value| value.val)
            } else if tuple == Tuple::Yes {
                Val::default()
            } else {
                values.first().map_or(Val::default(), |value| value.val)
            };
            let given = values.get(if many { index } else { 0 });
            if let Some(value) = given.filter(|value| self.kind_at(value.first) == Some(K::Name)) {
                self.tell_written(&target.target, *value);
            }
            let key = if target.target.target == 0 { target.key } else { target.target.target };
            let Some(name) = key.checked_sub(1).and_then(|at| self.tok(at)) else { continue };
            if target.target.member {
                self.bindings.bind_member(name_of(self.src, name), val);
            } else {
                self.bindings.bind(name_of(self.src, name), name.start, val);
            }
        }
    }
}
