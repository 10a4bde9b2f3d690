//! Values of which one counts: `and`, `or`, and conditions.

use super::Walk;
use super::frame::{Elem, Item};
use crate::lex::py::bind::{Form, Val};

/// Most constants that one value stands for.
const CHOICES: usize = 16;

impl Walk<'_, '_, '_> {
    /// `and`, `or` and `else`: what stands in front of it is one of several values.
    pub(super) fn choice(&mut self) {
        self.finish_operand();
        let Some(frame) = self.frames.last() else { return };
        let elem = frame.elem;
        let chosen = self.chosen(&elem);
        if let Some(frame) = self.top() {
            frame.elem = Elem {
                chosen,
                choices: elem.choices.saturating_add(1),
                known: elem.known,
                first: elem.first,
                spread: elem.spread,
                key: elem.key,
                walrus: elem.walrus,
                ..Elem::default()
            };
        }
    }

    /// Gives what an element is with all of its values.
    pub(super) fn chosen(&mut self, elem: &Elem) -> Val {
        let mut val = elem.val;
        if elem.compared || elem.negate {
            // A comparison gives none of what it compares.
            val = Val { node: 0, star: 0, ..val };
        }
        if elem.choices == 0 {
            return val;
        }
        let chosen = elem.chosen;
        match (chosen.is_known(), val.is_known()) {
            (false, true) => val,
            (true, false) => chosen,
            (true, true) => {
                if chosen.node == val.node {
                    return chosen;
                }
                let place = elem.known.saturating_sub(1);
                self.bindings.is_one_of(place);
                if place <= self.bindings.walk { val } else { chosen }
            }
            (false, false) => self.constants_of(chosen, val),
        }
    }

    /// Two values that are no names of the tables, as one.
    fn constants_of(&mut self, one: Val, other: Val) -> Val {
        if one == other {
            return one;
        }
        match (one.form, other.form) {
            (Form::True | Form::Func, _) | (Form::False, Form::False) => one,
            (_, Form::True | Form::Func) => other,
            _ => {
                let both: Vec<Val> = self.choices(one).into_iter().chain(self.choices(other)).collect();
                self.keep_choices(&both)
            }
        }
    }

    /// Keeps constants as one value.
    pub(super) fn keep_choices(&mut self, vals: &[Val]) -> Val {
        if vals.is_empty() || !self.spend(vals.len()) {
            return Val::default();
        }
        let items: Vec<Item> =
            vals.iter().take(CHOICES).map(|val| Item { val: *val, ..Item::default() }).collect();
        Val { form: Form::Either, ..self.keep(&items) }
    }

    /// Gives the constants that a value stands for.
    pub(super) fn choices(&self, val: Val) -> Vec<Val> {
        match val.form {
            Form::Either => self.list(val).iter().map(|item| item.val).collect(),
            Form::Text | Form::Joined | Form::List | Form::Path => vec![val],
            _ => Vec::new(),
        }
    }

    /// Begins a condition: it is no part of the element that it stands in.
    pub(super) fn begin_condition(&mut self) {
        self.finish_operand();
        let first = self.at.saturating_add(1);
        if let Some(frame) = self.top()
            && frame.saved.is_none()
        {
            let elem = core::mem::replace(&mut frame.elem, Elem { first, ..Elem::default() });
            frame.saved = Some(elem);
        }
    }

    /// Ends a condition.
    pub(super) fn end_condition(&mut self) {
        self.finish_operand();
        if let Some(frame) = self.top()
            && let Some(elem) = frame.saved.take()
        {
            frame.elem = elem;
        }
    }
}
