//! Chains of members and calls: what each step resolves to.

use std::borrow::Cow;

use super::super::call::Callee;
use super::super::follow::Given;
use super::super::scan::Flag;
use super::super::token::{ESCAPED, K, Kw, Tok};
use super::{Arg, Cur, In, Prefix, Shape, Val, Via, Walk, small};
use crate::names::{Node, ROOT, Word};
use crate::sink::{FirstArg, Own};
use crate::view::How;

/// Parentheses around a literal that are looked through.
const PARENTHESES: u32 = 64;

impl<'a> Walk<'a, '_, '_, '_> {
    pub(super) fn word(&mut self, at: usize, tok: Tok) -> usize {
        let kw = self.kw(at);
        if matches!(self.top_kind(), In::Object | In::Class)
            && self.prefix != Prefix::Decorator
            && self.is_key(at)
        {
            self.end_expression();
            if let Some(frame) = self.top() {
                (frame.in_value, frame.annotated) = (false, 0);
            }
            return at.wrapping_add(1);
        }
        match kw {
            Kw::None | Kw::This => {}
            _ => {
                if let Some(next) = self.keyword(at, kw) {
                    return next;
                }
            }
        }
        let (val, own, how) = self.root(at, tok, kw);
        self.operand(at, val, Shape::Name, how);
        let word = tok.word();
        let alias = val.node != ROOT && val.node != self.names.global(word);
        if let Some(cur) = &mut self.cur {
            cur.own = own;
            cur.alias = alias;
        }
        at.wrapping_add(1)
    }

    /// Says whether a word in an object or class is a key: before a colon, a parameter list or another key.
    pub(super) fn is_key(&self, at: usize) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let spread = self.kind(at.wrapping_sub(1)) == Some(K::Ellipsis);
        if spread || (frame.in_value && !(frame.kind == In::Class && self.cur.is_some())) {
            return false;
        }
        match self.kind(at.wrapping_add(1)) {
            Some(K::Colon) => frame.ternaries == 0,
            Some(K::LParen) => true,
            Some(K::Word | K::Str | K::Private | K::LBracket) if frame.kind == In::Class => true,
            Some(K::Assign | K::Question | K::Bang | K::Semi) => frame.kind == In::Class,
            Some(K::Lt) => self.typed,
            _ => false,
        }
    }

    /// Resolves the first name of a chain.
    pub(in crate::lex::js) fn root(&mut self, at: usize, tok: Tok, kw: Kw) -> (Val, Own, How) {
        let how = if tok.flags & ESCAPED == 0 { How::NONE } else { How::ESCAPE };
        if kw == Kw::This {
            let val = if self.functions == 0 { Val::node(ROOT) } else { Val::default() };
            return (val, Own::No, how);
        }
        let word = tok.word();
        let declared = word != 0 && self.bindings.is_declared(word, small(at));
        if self.nodes.is_global(word) || (self.nodes.is_weak_global(word) && !declared) {
            return (Val::node(ROOT), if declared { Own::Declared } else { Own::No }, how);
        }
        let node = self.names.global(word);
        // A global that no rule weighs may be the file's own name.
        let weighs = self.weighs(node) && !self.nodes.is_module_word(word);
        let certain = node != 0 && self.is_own(word, at);
        let own = if declared || certain { Own::Declared } else { Own::No };
        let alias = self.bound(at);
        // A parameter, or a function of that name, is no global.
        let function = |val: Val| val == Val::node(self.nodes.function);
        if certain || (weighs && declared && alias.is_some_and(function)) {
            return (alias.unwrap_or_default(), own, how);
        }
        if weighs {
            // What the file gave such a name is one thing that it may be, and the global is another.
            let val = self.bindings.sets.either(Val::node(node), alias.unwrap_or_default());
            return (val, own, how);
        }
        let unsure = alias.is_none_or(|val| val.text != 0);
        if kw == Kw::None && self.frames.last().is_some_and(|frame| frame.exact) {
            self.ask_argument(at, if unsure { Flag::On } else { Flag::Off });
        }
        (alias.filter(|val| node == 0 || val.is_known()).unwrap_or(Val::node(node)), own, how)
    }

    /// Asks for a name among the arguments of a name of the tables. What a timer is given may be a text besides what else it is.
    fn ask_argument(&mut self, at: usize, unsure: Flag) {
        let base = self.frames.last().and_then(|frame| frame.base);
        let nodes = self.nodes;
        let is_any =
            |list: &[Node]| base.is_some_and(|base| self.is_any(base.val.node, |node| list.contains(&node)));
        let timer = is_any(&nodes.timers);
        if timer || unsure == Flag::On {
            let any = timer || is_any(&nodes.prototype_of);
            self.ask(at, if any { Given::Anything } else { Given::Text });
        }
    }

    pub(super) fn dot(&mut self, at: usize) -> usize {
        let next = at.wrapping_add(1);
        let tok = self.tok(next);
        match self.kind(next) {
            Some(K::Word | K::Private) => {
                let word = if tok.kind == K::Word { tok.word() } else { 0 };
                let how = if tok.flags & ESCAPED == 0 { How::NONE } else { How::ESCAPE };
                let before = self.cur;
                self.step(word, how, next);
                self.take_held(before, next);
                self.take_literal(before, next);
                next.wrapping_add(1)
            }
            _ => next,
        }
    }

    /// Moves the chain on by one member.
    pub(super) fn step(&mut self, word: Word, how: How, last: usize) {
        let Some(mut cur) = self.cur.take() else {
            self.operand(last, Val::node(0), Shape::Other, how);
            return;
        };
        let module = |node: Node| self.names.node(node).is_some_and(|data| data.module);
        let modules = self.is_any(cur.val.node, module);
        let via = if modules && self.nodes.is_then(word) { Via::Then } else { self.nodes.via(word) };
        // `Reflect.apply` is a name of its own.
        let own = self.is_any(cur.val.node, |node| self.names.step(node, word) != 0);
        let callable = via == Via::Then
            || (!own && (cur.val.star != 0 || self.is_any(cur.val.node, |node| !module(node))));
        if via != Via::Direct
            && callable
            && self.kind(last.wrapping_add(1)).is_some_and(|k| matches!(k, K::LParen | K::QDot | K::Tpl))
        {
            (cur.via, cur.last) = (via, small(last));
            self.cur = Some(cur);
            return;
        }
        if word == self.nodes.constructor && word != 0 && cur.shape == Shape::Name && !cur.val.is_known() {
            self.ask(cur.last as usize, Given::Anything);
        }
        if cur.shape == Shape::Described {
            let value = *self.name_at(last) == b"value"[..];
            let val = if value { cur.val } else { Val::default() };
            self.cur =
                Some(Cur { val, last: small(last), how: cur.how.and(how), shape: Shape::Other, ..cur });
            return;
        }
        self.leave(&cur);
        let root = if word == self.nodes.constructor && word != 0 { self.literal_root(&cur) } else { None };
        cur.val = self.member_of(cur.val, word);
        if let Some(root) = root {
            cur.val = self.bindings.sets.either(cur.val, Val::node(root));
        }
        cur.how = cur.how.and(how);
        cur.last = small(last);
        cur.alias = false;
        let name = self.name_at(last);
        let shape = self.method(&cur, &name, last);
        (cur.via, cur.shape) = (Via::Direct, shape);
        self.cur = Some(cur);
    }

    /// Gives the name of a member that ends at a token.
    fn name_at(&self, last: usize) -> Cow<'a, [u8]> {
        match self.kind(last) {
            Some(K::Word) => Cow::Borrowed(self.text_at(last)),
            _ => Cow::Owned(self.constant_name(last)),
        }
    }

    /// Gives what a literal is made by.
    fn literal_root(&self, cur: &Cur) -> Option<Node> {
        let [object, array, string] = self.nodes.literals;
        let mut last = cur.last as usize;
        for _ in 0..PARENTHESES {
            match self.kind(last)? {
                K::RParen => last = last.checked_sub(1)?,
                K::RBrace if cur.shape == Shape::Pattern => return Some(object),
                K::RBracket if cur.shape == Shape::Pattern => return Some(array),
                K::Str | K::Tpl if cur.shape == Shape::Text => return Some(string),
                _ => return None,
            }
        }
        None
    }

    /// A chain goes on: what it was so far is a member that was read.
    pub(super) fn leave(&mut self, cur: &Cur) {
        if cur.shape != Shape::Called {
            self.mention(cur);
        }
    }

    pub(in crate::lex::js) fn span(&self, first: u32, last: u32) -> (usize, usize) {
        (self.tok(first as usize).start() as usize, self.tok(last as usize).end() as usize)
    }

    pub(super) fn mention(&mut self, cur: &Cur) {
        if !cur.val.is_known() || cur.prefix == Prefix::Typeof || cur.alias {
            return;
        }
        let span = self.span(cur.first, cur.last);
        for node in self.nodes_of(cur.val) {
            self.sink.member(self.names, node, cur.own, span, cur.how);
        }
    }

    /// Ends the operand that was read: it is one of the values of its expression.
    pub(super) fn end_operand(&mut self) {
        let Some(mut cur) = self.cur.take() else { return };
        if cur.shape == Shape::Described {
            cur.val = Val::default();
        }
        if !matches!(cur.shape, Shape::Called | Shape::Described) {
            self.finish_operand(&cur);
            self.look_at_operand(cur.first, cur.last, cur.val.node, cur.how);
        }
        let Some(frame) = self.frames.last_mut() else { return };
        if core::mem::take(&mut frame.compared) {
            return;
        }
        if cur.val.is_known() {
            let text = frame.value.text;
            frame.value = Val { text, ..self.bindings.sets.either(frame.value, cur.val) };
        }
        let text = cur.val.node == self.nodes.string || cur.prefix == Prefix::Typeof;
        frame.joined |=
            text || matches!(cur.shape, Shape::Joined) || (cur.shape == Shape::Text && frame.operators > 0);
        if cur.val.text != 0 && frame.operators == 0 {
            frame.value.text = cur.val.text;
        }
    }

    pub(super) fn finish_operand(&mut self, cur: &Cur) {
        match cur.prefix {
            Prefix::New | Prefix::Decorator if cur.val.is_known() => {
                let callee = Callee { cur: *cur, args: [Arg::default(); 3], texts: small(self.texts.len()) };
                self.call(&callee, cur.last);
            }
            Prefix::Delete if cur.shape != Shape::Name && !cur.alias => {
                let span = self.span(cur.first, cur.last);
                for node in self.nodes_of(cur.val) {
                    self.sink.removed(self.names, node, cur.own, span, cur.how);
                }
            }
            Prefix::Delete => {}
            _ => self.mention(cur),
        }
    }

    pub(in crate::lex::js) fn written(&mut self, cur: &Cur) {
        // A name, or a member that holds something, is given something else; what it stood for stays as it is.
        if cur.shape == Shape::Name || cur.alias {
            return;
        }
        let span = self.span(cur.first, cur.last);
        for node in self.nodes_of(cur.val) {
            self.sink.assign(self.names, node, cur.own, span, cur.how);
        }
    }

    /// Ends an expression: what was assigned in it is bound.
    pub(in crate::lex::js) fn end_expression(&mut self) {
        let shape = self.cur.map(|cur| cur.shape);
        let literal = self.cur.filter(|cur| cur.shape == Shape::Pattern).map(|cur| cur.first as usize);
        let name =
            self.cur.filter(|cur| cur.shape == Shape::Name && !cur.val.is_known() && cur.val.text == 0);
        self.end_operand();
        let Some(frame) = self.frames.last_mut() else { return };
        let mut inner = frame.value;
        let joined = frame.joined && !frame.function;
        let first = if joined {
            FirstArg::Text
        } else if inner.text != 0 && frame.operators == 0 && !frame.function {
            FirstArg::Literal
        } else {
            FirstArg::Other
        };
        if frame.joined || frame.operators > 0 {
            inner.text = 0;
        }
        let value = match (frame.function, first) {
            (true, _) => Val::node(self.nodes.function),
            (false, FirstArg::Literal) => inner,
            (false, _) => Val { text: 0, ..inner },
        };
        let literal = literal.filter(|_| frame.operators == 0 && !frame.function);
        let field = core::mem::take(&mut frame.field).checked_sub(1);
        let function = frame.function || value.node == self.nodes.function;
        let inside = if frame.function { frame.inside as usize } else { usize::MAX };
        let any = shape.is_some() || frame.operators > 0 || frame.function;
        let targets = frame.targets as usize;
        if any && frame.kind == In::Call {
            if let Some(slot) = frame.args.get_mut(frame.count as usize) {
                *slot = Arg { first, val: value };
            }
            frame.count = frame.count.wrapping_add(1);
        }
        let calls = frame.kind == In::Call;
        let is_copy = core::mem::take(&mut frame.copies);
        frame.value = Val::default();
        (frame.joined, frame.function, frame.operators, frame.compared) = (false, false, 0, false);
        if calls && value.text != 0 {
            self.texts.push(value.text.wrapping_sub(1));
        }
        if is_copy {
            let copied = self.copied(value);
            if let Some(frame) = self.frames.last_mut() {
                frame.copied = self.bindings.sets.either(frame.copied, copied);
            }
        }
        let mut fresh = true;
        while self.targets.len() > targets {
            // What an arrow function's body assigns is no function.
            let value = if self.targets.len() > inside { inner } else { value };
            let Some(target) = self.targets.pop() else { break };
            if let Some(name) = name.filter(|_| self.is_asked(&target)) {
                self.ask(name.last as usize, Given::Anything);
            }
            // A name that is a text counts where it is asked for.
            let string = joined && target.shape == Shape::Name && (self.whole || self.is_asked(&target));
            let string = Val::node(if string { self.nodes.string } else { 0 });
            let value = Val { text: value.text, ..self.bindings.sets.either(value, string) };
            self.bind_target(&target, value);
            let literal = literal.filter(|open| core::mem::take(&mut fresh) || self.may_read(*open));
            if let Some(name) = name.filter(|_| target.shape == Shape::Pattern) {
                self.bind_held(target.first as usize, name.last as usize);
            }
            match (literal, target.shape) {
                (Some(open), Shape::Name) => self.hold_literal(target.last as usize, open),
                (Some(open), Shape::Pattern) => self.bind_literal(target.first as usize, open, 0),
                (None, Shape::Name) if function => self.hold_function(target.last as usize),
                _ => {}
            }
        }
        if let Some(field) = field {
            self.hold_field(field as usize, value);
        }
    }

    /// Says whether a literal may be read once more: what that comes to has a limit, which is told where it is met.
    fn may_read(&self, open: usize) -> bool {
        let tokens = self.types.past(open).unwrap_or(open).wrapping_sub(open);
        self.put_in.set(self.put_in.get().saturating_add(tokens));
        self.put_in.get() <= super::most_put_in(self.src)
    }

    /// Says whether the value of a target was asked for.
    fn is_asked(&self, target: &Cur) -> bool {
        let tok = self.tok(target.last as usize);
        target.shape == Shape::Name
            && self.asked.holds(self.src, tok, || self.variable(target.last), &self.bindings.reads)
    }

    pub(super) fn end_statement(&mut self) {
        self.end_expression();
        // A word in front of an operand waits for none of the next statement.
        if self.prefix != Prefix::Decorator {
            self.prefix = Prefix::None;
        }
        if let Some(frame) = self.top() {
            frame.declares = false;
            if frame.kind == In::Class {
                (frame.in_value, frame.annotated) = (false, 0);
            }
        }
    }
}
