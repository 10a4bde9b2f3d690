//! Elements: operands with what stands between them.

use super::Walk;
use super::frame::{Cur, In, Item};
use crate::lex::py::bind::{Form, Val};

impl Walk<'_, '_, '_> {
    /// Ends an operand: what it is becomes what its element is, if it is the first.
    pub(super) fn finish_operand(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        if !frame.cur.active {
            return;
        }
        let (cur, asks) = (frame.cur, frame.asks);
        let elem = frame.elem;
        let other = cur.val.node != 0 && elem.known > 0 && elem.val.node != cur.val.node;
        if other && elem.operators == 0 {
            self.bindings.is_one_of(elem.known);
        }
        let walk = self.bindings.walk;
        let mut sum = None;
        if cur.val.node != 0
            && self.nodes.environ.contains(&cur.val.node)
            && !asks
            && !self.scopes.binds(cur.last)
            && !self.is_op(cur.last.saturating_add(1), b'=')
        {
            let span = self.span(cur.first, cur.last);
            self.sink.shape("py-env-bulk", span, cur.how);
        }
        if cur.decorator && cur.val.node != 0 && !cur.called {
            self.call(&cur, &[], cur.last);
        }
        if let Some(frame) = self.top() {
            frame.cur.active = false;
            frame.asks = false;
            let elem = &mut frame.elem;
            elem.text |= matches!(cur.val.form, Form::Text | Form::Joined);
            let place = elem.known;
            elem.known = place.saturating_add(usize::from(cur.val.node != 0));
            if elem.operands == 0 {
                elem.val = cur.val;
                elem.target = cur;
            } else if elem.val.form == Form::Path {
                elem.val.b = cur.last;
                elem.target = Cur::default();
            } else {
                if elem.text && elem.operators > 0 {
                    // The text goes from its first part to this one.
                    if matches!(elem.val.form, Form::Text | Form::Joined) && elem.val.walk == 0 {
                        elem.val.b = cur.last;
                    } else if elem.val.node == 0 {
                        elem.val = Val { a: elem.first, b: cur.last, walk: 0, ..elem.val };
                    }
                    elem.val.form = Form::Joined;
                }
                // One of several: in each walk another.
                if cur.val.node != 0 && (elem.val.node == 0 || (place <= walk && elem.operators == 0)) {
                    elem.val.node = cur.val.node;
                }
                elem.target = Cur::default();
                if (elem.val.form, cur.val.form) == (Form::List, Form::List) && elem.operators > 0 {
                    sum = Some((elem.val, cur.val));
                }
            }
            elem.operands = elem.operands.saturating_add(1);
        }
        if let Some((a, b)) = sum {
            let both = self.joined_lists(a, b);
            if let Some(frame) = self.top() {
                frame.elem.val = both;
            }
        }
    }

    /// Ends an element.
    pub(super) fn finish_element(&mut self) {
        self.end_condition();
        self.end_loop();
        let last = self.at.saturating_sub(1);
        let Some(frame) = self.frames.last_mut() else { return };
        frame.asks = false;
        let mut elem = core::mem::take(&mut frame.elem);
        let kind = frame.kind;
        if elem.operands == 0 && elem.choices == 0 {
            return;
        }
        if elem.negate {
            elem.val.form = match elem.val.form {
                Form::True | Form::Text => Form::False,
                Form::False => Form::True,
                other => other,
            };
        } else if elem.operators > 0 && matches!(elem.val.form, Form::True | Form::False) {
            elem.val.form = if elem.operands > 1 { Form::True } else { elem.val.form };
        }
        elem.val = self.chosen(&elem);
        if elem.choices > 0 {
            elem.target = Cur::default();
        }
        if let Some(name) = elem.walrus.checked_sub(1) {
            self.bind(name, elem.val);
        }
        let item = Item {
            key: elem.key,
            spread: elem.spread,
            val: elem.val,
            first: elem.first,
            last,
            target: elem.target,
        };
        if kind == In::Params {
            if let Some(name) = elem.key.checked_sub(1) {
                self.bind(name, elem.val);
            } else if elem.operators == 0
                && let Some(name) = elem.target.target.checked_sub(1)
            {
                self.bind(name, Val::default());
            }
        }
        self.items.push(item);
    }
}
