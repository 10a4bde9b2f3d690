//! Operators, separators, assignments and colons.

use super::super::token::{K, Kw};
use super::{Cur, Frame, In, Prefix, Shape, Val, Walk, small};

impl Walk<'_, '_, '_, '_> {
    pub(super) fn separator(&mut self, kind: K) {
        self.end_expression();
        let Some(frame) = self.top() else { return };
        if matches!(frame.kind, In::Object | In::Class | In::Params) {
            frame.in_value = false;
        }
        if kind == K::Semi {
            frame.declares = false;
            frame.ternaries = 0;
        }
    }

    pub(super) fn question(&mut self, at: usize) {
        let next = self.kind(at.wrapping_add(1));
        let optional =
            matches!(next, Some(K::Colon | K::RParen | K::Comma | K::Assign | K::Semi | K::RBrace));
        if self.typed && optional {
            return;
        }
        self.end_operand();
        if let Some(frame) = self.top() {
            frame.ternaries = frame.ternaries.wrapping_add(1);
            frame.value = Val::default();
            frame.operators = frame.operators.wrapping_add(1);
        }
    }

    pub(super) fn either(&mut self) {
        let text = self.cur.is_some_and(|cur| cur.shape == Shape::Text);
        self.end_operand();
        if let Some(frame) = self.top() {
            frame.joined |= text;
            frame.operators = frame.operators.wrapping_add(1);
        }
    }

    pub(super) fn operator(&mut self, kind: K) {
        let joined = self.cur.is_some_and(|cur| matches!(cur.shape, Shape::Text | Shape::Joined));
        if kind == K::Equality {
            // Compared, not passed on.
            self.cur = None;
        }
        self.end_operand();
        if let Some(frame) = self.top() {
            frame.value = Val::default();
            frame.operators = frame.operators.wrapping_add(1);
            frame.joined |= joined && kind == K::Plus;
            frame.compared = kind == K::Equality;
        }
    }

    pub(super) fn bang(&mut self, at: usize) {
        if self.cur.is_some() && !self.tok(at).newline() {
            return;
        }
        self.end_operand();
    }

    pub(super) fn less(&mut self, at: usize) -> usize {
        if self.typed {
            if self.cur.is_some() {
                if let Some(next) = self.types.call_angles(at) {
                    return next;
                }
            } else if let Some(next) = self.types.angles(at, 0) {
                // A cast, or the type parameters of an arrow function or method.
                return next;
            }
        }
        self.operator(K::Op);
        at.wrapping_add(1)
    }

    pub(super) fn assign(&mut self, at: usize) {
        let target = self.cur.take();
        if let Some(cur) = target {
            // What a pattern is given is no member of what a literal would copy.
            if cur.shape != Shape::Pattern {
                self.written(&cur);
            }
            if cur.shape == Shape::Pattern {
                self.write_pattern(cur.first as usize, 0);
            }
            self.targets.push(cur);
        }
        let field = self.field_before(at, target);
        let Some(frame) = self.top() else { return };
        if let Some(field) = field {
            frame.field = small(field).wrapping_add(1);
        }
        frame.value = Val::default();
        (frame.operators, frame.joined) = (0, false);
        if matches!(frame.kind, In::Class | In::Params | In::Object) {
            frame.in_value = true;
        }
        let declares = frame.declares;
        if let Some(cur) = target.filter(|cur| declares && cur.shape == Shape::Name)
            && self.kind(at) == Some(K::Assign)
        {
            self.declare_here(self.tok(cur.first as usize));
        }
    }

    /// Gives the field of a class that an equals sign gives a value.
    fn field_before(&self, at: usize, target: Option<Cur>) -> Option<usize> {
        let frame = self.frames.last().filter(|frame| frame.kind == In::Class && !frame.in_value)?;
        let end = if frame.annotated == 0 { at } else { frame.annotated as usize };
        let mut key = end.checked_sub(1)?;
        if frame.annotated != 0 && matches!(self.kind(key), Some(K::Bang | K::Question)) {
            key = key.checked_sub(1)?;
        }
        let named = match self.kind(key) {
            Some(K::Word) => target.is_none(),
            Some(K::Private) => target.is_some_and(|cur| cur.first as usize == key),
            _ => false,
        };
        named.then_some(key)
    }

    pub(super) fn update(&mut self, at: usize, kind: K) {
        let before = self.tok(at).newline() && kind == K::IncDec;
        match self.cur {
            Some(cur) if !before => self.written(&cur),
            // In front of what it writes to.
            _ if kind == K::IncDec => {
                self.end_operand();
                (self.prefix, self.prefix_at) = (Prefix::Delete, small(at));
            }
            _ => {}
        }
        if kind == K::OpAssign {
            self.cur = None;
            self.operator(K::Op);
        }
    }

    pub(super) fn colon(&mut self, at: usize) -> usize {
        let next = at.wrapping_add(1);
        let Some(&frame) = self.frames.last() else { return next };
        if frame.ternaries > 0 {
            self.end_operand();
            if let Some(frame) = self.top() {
                frame.ternaries = frame.ternaries.wrapping_sub(1);
            }
            return next;
        }
        if self.typed && self.is_type_colon(at, &frame) {
            if let Some(frame) = self.top().filter(|frame| frame.kind == In::Class) {
                frame.annotated = small(at);
            }
            return self.skip_annotation(next);
        }
        if frame.kind == In::Object {
            if self.cur.is_some_and(|cur| cur.shape == Shape::Text || cur.shape == Shape::Name) {
                self.cur = None;
            }
            self.end_expression();
            let proto = self.is_proto_key(at.wrapping_sub(1));
            if let Some(frame) = self.top() {
                frame.in_value = true;
                frame.copies = proto;
            }
        } else {
            if self.is_label(&frame) {
                self.cur = None;
            }
            self.end_statement();
        }
        next
    }

    /// Says whether a token is the key of an object's prototype.
    fn is_proto_key(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(K::Word | K::Str)) && &*self.key(at) == b"__proto__"
    }

    /// Says whether the name in front of a colon is a label.
    fn is_label(&self, frame: &Frame) -> bool {
        let Some(cur) = self.cur.filter(|cur| cur.shape == Shape::Name && cur.first == cur.last) else {
            return false;
        };
        let at = cur.first as usize;
        let starts = at.checked_sub(1).is_none_or(|before| {
            matches!(self.kind(before), Some(K::Semi | K::LBrace | K::RBrace | K::Colon | K::RParen))
        });
        matches!(frame.kind, In::Block | In::Body)
            && frame.operators == 0
            && (starts || self.tok(at).newline())
            && self.kw(at.wrapping_sub(1)) != Kw::Case
    }

    pub(super) fn is_type_colon(&self, at: usize, frame: &Frame) -> bool {
        match frame.kind {
            In::Params | In::Class => !frame.in_value,
            _ if frame.declares => true,
            // A return type: the colon stands right after a parameter list.
            _ => self.kind(at.wrapping_sub(1)) == Some(K::RParen) && self.cur.is_none(),
        }
    }

    /// Steps over an annotation; the name that it stands at is kept as the operand.
    pub(super) fn skip_annotation(&self, next: usize) -> usize {
        let after_params = self.kind(next.wrapping_sub(2)) == Some(K::RParen);
        let end = if after_params { self.types.skip_return(next) } else { self.types.skip(next) };
        end.unwrap_or(next)
    }
}
