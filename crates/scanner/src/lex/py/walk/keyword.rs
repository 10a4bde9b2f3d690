//! Keywords, and the names that statements declare.

use super::Walk;
use super::frame::Elem;
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::token::{K, Kw, Tok};
use crate::view::How;

impl Walk<'_, '_, '_> {
    pub(super) fn keyword(&mut self, kw: Kw) {
        let fresh = self.fresh();
        match kw {
            Kw::Import if fresh => {
                self.import();
                return;
            }
            Kw::From if fresh => {
                self.import_names();
                return;
            }
            Kw::True => return self.operand(Val::form(Form::True, 0, 0), How::NONE),
            Kw::False | Kw::None_ => return self.operand(Val::form(Form::False, 0, 0), How::NONE),
            _ => {}
        }
        self.finish_operand();
        if fresh {
            self.head = kw;
        }
        match kw {
            Kw::Def | Kw::Class => {
                // The name is the file's own.
                if let Some(name) = self.tok(self.at.saturating_add(1)).filter(|tok| tok.kind == K::Name) {
                    self.bindings.bind(name_of(self.src, name), name.start, Val::default());
                    self.replaced(self.at, name);
                    self.params = kw == Kw::Def;
                    self.at = self.at.saturating_add(2);
                }
            }
            Kw::For => {
                if let Some(frame) = self.top() {
                    frame.looping = true;
                }
            }
            Kw::In => {
                if let Some(frame) = self.top() {
                    frame.asks = !frame.looping;
                    frame.looping = false;
                    frame.elem.operators = frame.elem.operators.saturating_add(1);
                }
            }
            Kw::Del if fresh => {
                self.bindings.deletes = true;
            }
            Kw::Not => {
                if let Some(frame) = self.top() {
                    frame.elem.negate = !frame.elem.negate;
                }
            }
            Kw::Lambda => {
                let first = self.at.saturating_add(1);
                if let Some(frame) = self.top() {
                    let outer = core::mem::replace(&mut frame.elem, Elem { first, ..Elem::default() });
                    frame.lambda.get_or_insert(outer);
                }
            }
            Kw::And | Kw::Or | Kw::If | Kw::Else | Kw::Await => {}
            Kw::As => self.bound_as(),
            _ => {
                if let Some(frame) = self.top() {
                    frame.elem.operators = frame.elem.operators.saturating_add(u32::from(!fresh));
                }
            }
        }
    }

    /// Notes that a statement gives a name to something of the file's own, if it does so for the whole file below it: it begins a line
    /// that belongs to nothing.
    pub(super) fn replaced(&mut self, statement: u32, name: Tok) {
        let start = self.tok(statement).map_or(0, |tok| tok.start as usize);
        let before = self.src.get(..start).unwrap_or_default();
        let lines = before.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        if before.is_empty() || lines.is_some_and(|line| !line.ends_with(b"\\")) {
            self.bindings.replace(name_of(self.src, name), name.end);
        }
    }

    /// `with x as y`.
    fn bound_as(&mut self) {
        let val = self.frames.last().map_or(Val::default(), |frame| frame.elem.val);
        let name = self.tok(self.at.saturating_add(1)).filter(|tok| tok.kind == K::Name);
        if let Some(name) = name.filter(|_| self.head == Kw::With) {
            let val = if val.is_known() { val } else { Val::default() };
            self.bindings.bind(name_of(self.src, name), name.start, val);
            self.at = self.at.saturating_add(2);
        }
    }

    /// A statement begins inside brackets that nothing closed.
    pub(super) fn recover(&mut self) {
        while self.frames.len() > 1 {
            self.close();
        }
        self.end_statement();
    }
}
