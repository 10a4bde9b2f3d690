//! Brackets: calls, indices, groups, literals, bodies.

use super::super::built::Folded;
use super::super::call::Callee;
use super::super::code::body;
use super::super::escape;
use super::super::follow::Given;
use super::super::token::{Brace, CONTROL, ESCAPED, EXPRESSION, K, Kw, Tok};
use super::again::Left;
use super::{Arg, Cur, Frame, In, Prefix, Shape, Val, Via, Walk, small};
use crate::sink::{Args, FirstArg};
use crate::view::How;

impl Walk<'_, '_, '_, '_> {
    pub(super) fn open_paren(&mut self, at: usize, tok: Tok) {
        if tok.flags & CONTROL != 0 {
            self.end_operand();
            self.push(In::Control, at, None);
            return;
        }
        if let Some(base) = self.cur.take() {
            self.push(In::Call, at, Some(base));
            return;
        }
        let before = at.wrapping_sub(1);
        let keyed = matches!(self.top_kind(), In::Object | In::Class)
            && !self.frames.last().is_some_and(|f| f.in_value);
        let method = keyed
            && matches!(
                self.kind(before),
                Some(K::Word | K::Str | K::Num | K::Private | K::RBracket | K::Gt)
            );
        let arrow = self.types.is_arrow_head(at);
        if method || arrow || self.kw(before) == Kw::Catch {
            self.open_params(at);
        } else {
            self.push(In::Group, at, None);
        }
    }

    pub(super) fn open_brace(&mut self, at: usize, tok: Tok) {
        let kind = match tok.brace() {
            Brace::Object if self.top_kind() == In::Jsx => In::Group,
            Brace::Object => In::Object,
            Brace::Class => In::Class,
            Brace::Body => In::Body,
            Brace::Block => In::Block,
        };
        if kind == In::Class {
            self.extend();
        }
        match kind {
            In::Object | In::Group if self.cur.is_none() => {}
            // A line ended the statement before a block.
            In::Object | In::Group | In::Block => self.end_statement(),
            _ => self.end_operand(),
        }
        if kind == In::Body {
            self.functions = self.functions.wrapping_add(1);
        }
        self.push(kind, at, None);
    }

    /// A class that extends what runs text runs text.
    fn extend(&mut self) {
        let Some(cur) = self.cur.filter(|cur| cur.val.is_known()) else { return };
        let before = (cur.first as usize).wrapping_sub(1);
        if self.kw(before) != Kw::Extends {
            return;
        }
        let args = Args { first: FirstArg::Other, constants: Vec::new() };
        let span = self.span(cur.first, cur.last);
        for node in self.bindings.sets.nodes(cur.val.node) {
            if self.nodes.is_run(node) {
                self.sink.call(self.names, node, cur.own, &args, span, cur.how);
            }
        }
    }

    pub(super) fn end_template(&mut self, at: usize) {
        self.end_expression();
        if self.top_kind() != In::Hole {
            return;
        }
        let Some(frame) = self.frames.pop() else { return };
        if let Some(base) = frame.base {
            let mut args = [Arg::default(); 3];
            if let Some(first) = args.first_mut() {
                first.first = FirstArg::Text;
            }
            self.called(base, args, frame.texts, at);
        } else {
            self.operand(at, Val::default(), Shape::Joined, How::NONE);
            if let Some(cur) = &mut self.cur {
                cur.first = frame.open;
            }
        }
    }

    /// A template right after an operand calls it.
    pub(super) fn tagged(&mut self, at: usize) {
        let Some(base) = self.cur.take() else { return };
        let mut args = [Arg::default(); 3];
        let text = small(at).wrapping_add(1);
        if let Some(first) = args.first_mut() {
            *first = Arg { first: FirstArg::Literal, val: Val { text, ..Val::default() } };
        }
        let texts = small(self.texts.len());
        self.texts.push(small(at));
        self.called(base, args, texts, at);
    }

    pub(super) fn called(&mut self, base: Cur, args: [Arg; 3], texts: u32, last: usize) {
        self.give(&base, &args);
        if matches!(self.text_at(base.last as usize), b"__defineGetter__" | b"__defineSetter__") {
            self.written(&base);
        }
        let callee = Callee { cur: base, args, texts };
        let val = self.call(&callee, small(last));
        let returned = self.take_returned(&base, &args);
        let val = self.bindings.sets.either(val, returned);
        self.each(&callee, small(last));
        self.texts.truncate(texts as usize);
        let shape = match base.shape {
            Shape::ToText => Shape::Joined,
            Shape::ToList => Shape::List,
            _ if self.describes(&base) => Shape::Described,
            _ if val.node == self.nodes.string => Shape::Joined,
            _ => Shape::Called,
        };
        self.cur =
            Some(Cur { val, last: small(last), prefix: Prefix::None, shape, via: Via::Direct, ..base });
    }

    fn describes(&self, base: &Cur) -> bool {
        base.val.node != 0 && self.is_any(base.val.node, |node| self.nodes.describers.contains(&node))
    }

    pub(super) fn close(&mut self, at: usize) {
        if self.frames.len() < 2 {
            self.end_statement();
            return;
        }
        // A prefix without an operand reaches no further than its bracket.
        self.prefix = Prefix::None;
        // A group hands its last operand on; whether it is used or called shows later.
        let group = self.top_kind() == In::Group;
        let single = group
            && self.frames.last().is_some_and(|frame| {
                frame.operators == 0 && !frame.function && frame.targets as usize == self.targets.len()
            });
        let inner = if single { self.cur.take() } else { None };
        let last = self.cur.map_or(Val::default(), |cur| cur.val);
        let value = match self.frames.last() {
            Some(frame) if frame.function => Val::node(self.nodes.function),
            Some(frame) if frame.value.is_known() => self.bindings.sets.either(frame.value, last),
            _ => last,
        };
        let joined = self.frames.last().is_some_and(|frame| frame.joined)
            || (!single && self.cur.is_some_and(|cur| matches!(cur.shape, Shape::Text | Shape::Joined)));
        self.end_expression();
        let Some(frame) = self.frames.pop() else { return };
        match frame.kind {
            In::Group => {
                let shape = if joined { Shape::Joined } else { Shape::Called };
                self.close_group(at, &frame, inner, value, shape);
            }
            In::Call => {
                if let Some(base) = frame.base {
                    self.called(base, frame.args, frame.texts, at);
                }
            }
            In::Index => self.close_index(at, &frame),
            In::Array | In::Object => {
                self.operand(at, frame.copied, Shape::Pattern, How::NONE);
                if let Some(cur) = &mut self.cur {
                    (cur.first, cur.alias) = (frame.open, true);
                }
            }
            In::Body => {
                self.functions = self.functions.wrapping_sub(1);
                if frame.entered
                    && let Some(entered) = self.entered.pop()
                {
                    let end = self.tok(frame.open as usize).mate() as usize == at;
                    let left = if end { Left::AtItsEnd } else { Left::Elsewhere };
                    self.again.leave(entered, left, self.sink, &self.bindings.reads, &self.put_in);
                }
                self.close_body(at, &frame);
            }
            In::Class => self.close_body(at, &frame),
            In::Jsx => self.operand(at, Val::default(), Shape::Other, How::NONE),
            In::Block | In::Control | In::Params | In::Hole => {}
        }
    }

    pub(super) fn close_body(&mut self, at: usize, frame: &Frame) {
        if self.tok(at).flags & EXPRESSION != 0 {
            self.operand(at, Val::node(self.nodes.function), Shape::Other, How::NONE);
            if let Some(cur) = &mut self.cur {
                cur.first = frame.open;
            }
        }
    }

    pub(super) fn close_group(
        &mut self,
        at: usize,
        frame: &Frame,
        inner: Option<Cur>,
        value: Val,
        shape: Shape,
    ) {
        let first = if self.prefix == Prefix::None { frame.open } else { self.prefix_at };
        let prefix = core::mem::take(&mut self.prefix);
        let mut cur = inner.unwrap_or(Cur { val: value, shape, ..Cur::default() });
        cur.first = first;
        cur.last = small(at);
        if prefix != Prefix::None {
            cur.prefix = prefix;
        }
        self.cur = Some(cur);
    }

    pub(super) fn close_index(&mut self, at: usize, frame: &Frame) {
        let Some(base) = frame.base else { return };
        self.cur = Some(base);
        // The index was ended as an expression; its value stands in the tokens.
        let open = frame.open as usize;
        let constant = self.constant_between(open.wrapping_add(1), at);
        if self.is_parent(base.val) && at == open.wrapping_add(2) {
            let name = open.wrapping_add(1);
            if self.kind(name) == Some(K::Word) {
                self.ask(name, Given::Text);
            }
        }
        if let Some((name, how)) = constant {
            let word = self.names.words.get(&name);
            self.step(word, how, at);
            if at == open.wrapping_add(2) && matches!(self.kind(open.wrapping_add(1)), Some(K::Str | K::Tpl))
            {
                self.take_held(Some(base), open.wrapping_add(1));
                self.take_literal(Some(base), open.wrapping_add(1));
            }
        } else {
            let built = self.folded(open.wrapping_add(1), at);
            if built.is_some() {
                let span = self.span(small(open), small(at));
                self.sink.shape("obf-name-building", span, How::NONE);
            }
            if let Some(Folded::Text(name)) = built {
                let word = self.names.words.get(&name);
                self.step(word, How::FOLD, at);
                return;
            }
            let numeric = at == open.wrapping_add(2) && self.kind(open.wrapping_add(1)) == Some(K::Num);
            let word = if numeric { 0 } else { self.names.computed };
            self.step(word, How::NONE, at);
            if numeric {
                self.take_held(Some(base), open.wrapping_add(1));
                self.take_literal(Some(base), open.wrapping_add(1));
            }
        }
    }

    /// Gives the constant text between two tokens: one literal, or one name that is bound to one.
    pub(in crate::lex::js) fn constant_between(&self, from: usize, to: usize) -> Option<(Vec<u8>, How)> {
        let (mut from, mut to) = (from, to);
        while to > from.wrapping_add(2)
            && self.kind(from) == Some(K::LParen)
            && self.types.past(from) == Some(to)
        {
            (from, to) = (from.wrapping_add(1), to.wrapping_sub(1));
        }
        // Of several the last one counts.
        let mut entry = self.entry_end(from, to);
        while entry < to {
            from = entry.wrapping_add(1);
            entry = self.entry_end(from, to);
        }
        if self.typed && matches!(self.kw(from.wrapping_add(1)), Kw::As | Kw::Satisfies) {
            to = from.wrapping_add(1);
        }
        if to != from.wrapping_add(1) {
            return None;
        }
        match self.kind(from)? {
            K::Str | K::Tpl => Some(self.constant(from)),
            K::Word => {
                let val = self.bound(from)?;
                (val.text != 0).then(|| self.constant(val.text.wrapping_sub(1) as usize))
            }
            _ => None,
        }
    }

    /// Gives the constant name of an index that ends at a token; nothing where it is none.
    pub(super) fn constant_name(&self, close: usize) -> Vec<u8> {
        let open = self.tok(close).mate() as usize;
        if self.kind(close) != Some(K::RBracket) || open >= close {
            return Vec::new();
        }
        self.constant_between(open.wrapping_add(1), close).map_or_else(Vec::new, |(name, _)| name)
    }

    /// Decodes a constant's token.
    pub(in crate::lex::js) fn constant(&self, at: usize) -> (Vec<u8>, How) {
        let tok = self.tok(at);
        let (start, end) = body(tok);
        let bytes = self.src.get(start..end).unwrap_or_default();
        if tok.flags & ESCAPED == 0 { (bytes.to_vec(), How::NONE) } else { escape::decode(bytes) }
    }
}
