//! Operators, commas and colons.

use super::Walk;
use super::frame::{Elem, In};
use crate::lex::py::bind::{Form, Val};
use crate::lex::py::token::{K, Tok, pair};

impl Walk<'_, '_, '_> {
    pub(super) fn op(&mut self, tok: Tok) {
        let at = self.at;
        match tok.aux {
            op if op == u16::from(b'.') => {
                if self.frames.last().is_some_and(|frame| frame.cur.active)
                    && let Some(name) = self.tok(at.saturating_add(1)).filter(|next| next.kind == K::Name)
                {
                    self.at = at.saturating_add(1);
                    self.member(name);
                    self.at = at.saturating_add(2);
                }
            }
            op if op == u16::from(b'(') => {
                let called = self.frames.last().is_some_and(|frame| frame.cur.active);
                let kind = if core::mem::take(&mut self.params) {
                    In::Params
                } else if called {
                    In::Call
                } else {
                    In::Group
                };
                self.open(kind);
            }
            op if op == u16::from(b'[') => {
                let index = self.frames.last().is_some_and(|frame| frame.cur.active) && !self.params;
                self.open(if index { In::Index } else { In::List });
            }
            op if op == u16::from(b'{') => {
                let hole = self.tok(at.saturating_sub(1)).is_some_and(|before| {
                    at > 0 && matches!(before.kind, K::Head | K::Mid) && before.end == tok.start
                });
                self.open(if hole { In::Hole } else { In::Dict });
            }
            op if op == u16::from(b')') || op == u16::from(b']') || op == u16::from(b'}') => {
                if self.frames.len() > 1 {
                    self.close();
                }
            }
            op if op == u16::from(b',') => self.comma(),
            op if op == u16::from(b';') => self.end_statement(),
            op if op == u16::from(b'=') => self.assign(),
            op if op == pair(b':', b'=') => self.walrus(),
            op if op == u16::from(b':') => self.colon(),
            op if op == u16::from(b'@') && self.fresh() => {
                if let Some(frame) = self.top() {
                    frame.cur.decorator = true;
                }
            }
            op => self.operator(op),
        }
    }

    fn operator(&mut self, op: u16) {
        self.finish_operand();
        let [low, high] = op.to_le_bytes();
        let writes = low == b'=' && !matches!(high, b'=' | b'!' | b'<' | b'>' | 0);
        if writes {
            self.tell_assign();
            if matches!(high, b'+' | b'|')
                && self.frames.len() == 1
                && let Some(frame) = self.frames.last_mut()
                && frame.elem.target.is_name()
                && frame.elem.val.form == Form::List
                && frame.elem.val.b < 64
            {
                // What follows comes behind what the name holds.
                frame.elem.operators = frame.elem.operators.saturating_add(1);
                self.augmented = frame.elem.target.target.checked_sub(1);
            }
            return;
        }
        if let Some(frame) = self.top() {
            let first = frame.elem.operands == 0 && frame.elem.operators == 0;
            frame.elem.compared |= matches!((high, low), (b'=' | b'!' | b'<' | b'>', b'='))
                || (high == 0 && matches!(low, b'<' | b'>'));
            let stars = match op {
                op if op == u16::from(b'*') => 1,
                op if op == pair(b'*', b'*') => 2,
                _ => 0,
            };
            if first && stars > 0 {
                frame.elem.spread = stars;
            } else if !(first && matches!(low, b'-' | b'+' | b'~') && high == 0) {
                frame.elem.operators = frame.elem.operators.saturating_add(1);
            }
        }
    }

    /// Ends a parameter of a lambda.
    fn parameter(&mut self) {
        self.finish_operand();
        let first = self.at.saturating_add(1);
        let Some(frame) = self.top() else { return };
        let elem = core::mem::replace(&mut frame.elem, Elem { first, ..Elem::default() });
        let (key, val) =
            if elem.key == 0 { (elem.target.target, Val::default()) } else { (elem.key, elem.val) };
        if let Some(name) = key.checked_sub(1) {
            self.bind(name, val);
        }
    }

    fn comma(&mut self) {
        if self.frames.last().is_some_and(|frame| frame.lambda.is_some()) {
            self.parameter();
            return;
        }
        if self.loop_comma() {
            return;
        }
        self.finish_element();
        if let Some(frame) = self.top() {
            frame.comma = true;
        }
    }

    fn colon(&mut self) {
        if self.frames.last().is_some_and(|frame| frame.lambda.is_some()) {
            self.parameter();
            if let Some(frame) = self.top()
                && let Some(outer) = frame.lambda.take()
            {
                frame.elem = outer;
            }
            return;
        }
        self.finish_operand();
        let at = self.at;
        let compound = self.head.0.is_compound() || self.subject.is_some();
        let Some(frame) = self.frames.last_mut() else { return };
        match frame.kind {
            In::Dict if frame.elem.val.form == Form::Text && frame.elem.operators == 0 => {
                let key = frame.elem.val.a.saturating_add(1);
                frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
            }
            In::Dict => {
                frame.elem =
                    Elem { first: at.saturating_add(1), spread: frame.elem.spread, ..Elem::default() }
            }
            In::Params => {
                // An annotation: the name stays.
                if frame.elem.key == 0 {
                    let key = frame.elem.target.target;
                    frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
                }
            }
            In::Statement if compound => {
                self.end_statement();
            }
            In::Statement => {
                frame.annotated = Some(frame.elem.target);
                frame.elem = Elem { first: at.saturating_add(1), ..Elem::default() };
            }
            _ => frame.elem = Elem { first: at.saturating_add(1), key: frame.elem.key, ..Elem::default() },
        }
    }

    fn walrus(&mut self) {
        self.finish_operand();
        let first = self.at.saturating_add(1);
        if let Some(frame) = self.frames.last_mut() {
            let walrus = frame.elem.target.target;
            frame.elem = Elem { first, walrus, ..Elem::default() };
        }
    }
}
