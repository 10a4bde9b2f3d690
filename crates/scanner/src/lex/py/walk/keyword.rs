//! Keywords, and the names that statements declare.

use super::Walk;
use super::frame::{Elem, In};
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::scope::Kind;
use crate::lex::py::token::{K, Kw};
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
            self.head = (kw, self.at);
        }
        match kw {
            Kw::Def | Kw::Class => {
                // The name is the file's own.
                let name = self.at.saturating_add(1);
                if self.kind_at(name) == Some(K::Name) {
                    self.bind_function(name);
                    self.params = kw == Kw::Def;
                    self.at = self.at.saturating_add(2);
                }
            }
            Kw::For => self.begin_loop(),
            Kw::In => {
                if !self.loop_in()
                    && let Some(frame) = self.top()
                {
                    frame.asks = true;
                    frame.elem.compared = true;
                    frame.elem.operators = frame.elem.operators.saturating_add(1);
                }
            }
            Kw::If if !fresh => {
                if self.frames.last().is_some_and(|frame| frame.kind != In::Statement) {
                    self.end_loop();
                }
                self.begin_condition();
            }
            Kw::Else if !fresh => {
                self.end_condition();
                self.choice();
            }
            Kw::And | Kw::Or => self.choice(),
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
            Kw::If | Kw::Else | Kw::Await => {}
            Kw::Is => {
                if let Some(frame) = self.top() {
                    frame.elem.compared = true;
                    frame.elem.operators = frame.elem.operators.saturating_add(1);
                }
            }
            Kw::As => self.bound_as(),
            _ => {
                if let Some(frame) = self.top() {
                    frame.elem.operators = frame.elem.operators.saturating_add(u32::from(!fresh));
                }
            }
        }
    }

    /// The name of a function or a class is the file's own. A method that gives something known is a member that does.
    fn bind_function(&mut self, name: u32) {
        self.bind(name, Val::default());
        let own = self.scopes.var(self.scopes.at(name));
        let given = self.bindings.get(own.gives);
        if own.kind == Kind::Class
            && given.is_known()
            && let Some(tok) = self.tok(name)
        {
            // A module is no function: who gives it may be a property as well.
            let is_module = self.names.node(given.node).is_some_and(|node| node.module);
            let val = if is_module { given } else { Val::form(Form::Func, own.gives, 0) };
            self.bindings.bind_member(name_of(self.src, tok), val);
        }
    }

    /// `with x as y`.
    fn bound_as(&mut self) {
        let val = self.frames.last().map_or(Val::default(), |frame| frame.elem.val);
        let name = self.at.saturating_add(1);
        let behind = name.saturating_add(1);
        let alone = ![b'.', b'[', b'('].iter().any(|op| self.is_op(behind, *op));
        if self.kind_at(name) == Some(K::Name) && alone && self.head.0 == Kw::With {
            let val = if val.is_known() || val.form == Form::Temp { val } else { self.entered() };
            self.bind(name, val);
            self.at = self.at.saturating_add(2);
        }
    }

    /// What the file's own context managers give.
    fn entered(&self) -> Val {
        let held = self.bindings.member(b"__enter__").or_else(|| self.bindings.member(b"__aenter__"));
        let val = match held {
            Some(held) if held.form == Form::Func => self.bindings.get(held.a),
            Some(held) => held,
            None => Val::default(),
        };
        if val.is_known() { val } else { Val::default() }
    }

    /// A statement begins inside brackets that nothing closed.
    pub(super) fn recover(&mut self) {
        while self.frames.len() > 1 {
            self.close();
        }
        self.end_statement();
    }
}
