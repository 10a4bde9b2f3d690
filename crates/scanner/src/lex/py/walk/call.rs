//! What a call does and gives.

use super::Walk;
use super::frame::{Cur, Item};
use crate::lex::py::bind::{Form, Val, name_of};
use crate::lex::py::scope::NAMELESS;
use crate::lex::py::token::{K, Kw};
use crate::names::{Node, ROOT};
use crate::sink::{Hit, Own};
use crate::view::How;

/// Arguments that go to parameters.
const CALLED: usize = 64;
/// Tokens of a lambda's parameters that are looked through.
const LAMBDA: u32 = 64;
/// Arguments that are looked at for one of several constants.
const CHOSEN: usize = 8;

impl Walk<'_, '_, '_> {
    /// Tells the rules of a call, with each constant that its first argument of several may be, and gives what it returns.
    pub(super) fn call(&mut self, callee: &Cur, items: &[Item], last: u32) -> Val {
        let choice = items.iter().take(CHOSEN).position(|item| item.val.form == Form::Either);
        let place = choice.filter(|_| callee.val.node != 0 || callee.val.star != 0);
        let vals = place.and_then(|place| items.get(place)).map(|item| self.choices(item.val));
        let (Some(place), Some(vals)) = (place, vals.filter(|vals| !vals.is_empty())) else {
            return self.call_with(callee, items, last);
        };
        let mut items = items.to_vec();
        let mut given = Val::default();
        let start = self.sink.hits.len();
        for val in vals {
            if let Some(item) = items.get_mut(place) {
                item.val = val;
            }
            let before = self.sink.hits.len();
            given = self.call_with(callee, &items, last);
            // The same again is no news.
            let new = self.sink.hits.split_off(before);
            let known = self.sink.hits.get(start..).unwrap_or_default();
            let new: Vec<Hit> = new.into_iter().filter(|hit| !known.contains(hit)).collect();
            self.sink.hits.extend(new);
        }
        given
    }

    fn call_with(&mut self, callee: &Cur, items: &[Item], last: u32) -> Val {
        let val = callee.val;
        self.fill(callee, items);
        if callee.member {
            self.grows(callee, items);
        }
        let span = self.span(callee.first, last);
        match val.form {
            Form::Getter | Form::Caller => return self.taken(callee, items, last),
            Form::Space => {
                let first = items.first().map_or(Val::default(), |item| item.val);
                let (name, how) = self.text(first);
                let name = (first.form == Form::Text).then_some(name);
                let found = self.in_space(val, name.as_deref());
                self.undone = how;
                if !self.is_op(last.saturating_add(1), b'(') {
                    self.sink.member(self.names, found.node, Own::No, span, callee.how.and(how));
                    self.sink.member(self.names, found.star, Own::No, span, callee.how.and(how));
                }
                return found;
            }
            Form::Text | Form::Joined | Form::List => return val,
            Form::Func => {
                if val.star != 0 {
                    self.tell(Val { node: 0, form: Form::Other, ..val }, callee.how, items, span);
                }
                return self.bindings.get(val.a);
            }
            Form::Asked => {
                let held = Val { form: Form::List, ..val };
                let Some(item) = items.first().copied() else { return self.any_item(held) };
                let (name, how) = self.text(item.val);
                self.undone = how;
                return self.picked(held, item, (item.val.form == Form::Text).then_some(name.as_slice()));
            }
            Form::Path if val.star == 0 => return Val { b: last, ..val },
            _ => {}
        }
        if val.node != 0 || val.star != 0 {
            self.tell(val, callee.how, items, span);
            if self.is_op(callee.first, b'(') && self.kw(callee.first.saturating_add(1)) == Kw::Lambda {
                // A lambda that is called gives what it stands for.
                return val;
            }
            return self.special(val.node, callee, items, last);
        }
        Val::default()
    }

    pub(super) fn text(&mut self, val: Val) -> (Vec<u8>, How) {
        if val.form == Form::Text { self.constant(val) } else { (Vec::new(), How::NONE) }
    }

    fn special(&mut self, node: Node, callee: &Cur, items: &[Item], last: u32) -> Val {
        let nodes = self.nodes;
        if node == 0 {
            return Val::default();
        }
        let span = self.span(callee.first, last);
        let first = items.first().map_or(Val::default(), |item| item.val);
        if nodes.imports.contains(&node) {
            return self.imported(first, callee, span);
        }
        if nodes.getattr.contains(&node) {
            return self.got(callee, items, span);
        }
        if node == nodes.setattr {
            self.set(callee, items, span);
            return Val::default();
        }
        if nodes.spaces.contains(&node) {
            if node == nodes.vars && first.node != 0 {
                return Val::form(Form::Space, first.node, 0);
            }
            return if items.is_empty() { Val::form(Form::Space, ROOT, 0) } else { Val::default() };
        }
        if node == nodes.getter || node == nodes.caller {
            let form = if node == nodes.getter { Form::Getter } else { Form::Caller };
            return if first.form == Form::Text { Val { form, ..first } } else { Val::default() };
        }
        if nodes.partial.contains(&node) {
            if first.is_known() {
                let rest = items.get(1..).unwrap_or_default();
                self.tell(first, callee.how, rest, span);
                self.runs(first.node, rest);
            }
            return first;
        }
        if self.names.node(node).is_some_and(|node| node.module) {
            // A module is no function: what is called gives it.
            return Val::node(node);
        }
        if node == nodes.next {
            return self.any_item(first);
        }
        if node == nodes.enumerate && first.form == Form::List {
            return self.numbered(first);
        }
        if node == nodes.zip && first.form == Form::List {
            return self.zipped(items);
        }
        if nodes.splitters.contains(&node) || nodes.keepers.contains(&node) {
            return first;
        }
        if nodes.temps.contains(&node) {
            return Val::form(Form::Temp, 0, 0);
        }
        if nodes.paths.contains(&node) && first.form == Form::Temp {
            return first;
        }
        if nodes.paths.contains(&node) {
            return Val::form(Form::Path, callee.first, last);
        }
        if nodes.classes.contains(&node) {
            return Val::node(node);
        }
        if nodes.files.contains(&node) {
            let given = items.iter().find(|item| item.key == 0 && item.val.form == Form::Text);
            let places = given.map(|item| self.constant(item.val).0);
            if let Some(Ok(file)) = places.map(String::from_utf8) {
                self.sink.named.push(file);
            }
        }
        if node == nodes.bool_call {
            return match first.form {
                Form::True | Form::Text => Val::form(Form::True, 0, 0),
                Form::False => Val::form(Form::False, 0, 0),
                _ => Val::default(),
            };
        }
        if node == nodes.dict_call {
            return self.keep_literal(items);
        }
        self.runs(node, items);
        Val::default()
    }

    /// What a lambda is called with where it stands goes to its parameters.
    fn fill_lambda(&mut self, from: u32, items: &[Item]) {
        let (mut at, mut open, mut place) = (from, 0_u32, 0_usize);
        let mut names: Vec<(u32, usize)> = Vec::new();
        let mut fresh = true;
        while let Some(tok) = self.tok(at).filter(|_| at < from.saturating_add(LAMBDA)) {
            match tok.kind {
                K::Name if fresh && open == 0 => {
                    names.push((at, place));
                    fresh = false;
                }
                _ if tok.is_op(b'(') || tok.is_op(b'[') || tok.is_op(b'{') => open = open.saturating_add(1),
                _ if tok.is_op(b')') || tok.is_op(b']') || tok.is_op(b'}') => open = open.saturating_sub(1),
                _ if tok.is_op(b':') && open == 0 => break,
                _ if tok.is_op(b',') && open == 0 => {
                    let mark =
                        self.is_op(at.saturating_sub(1), b'*') || self.is_op(at.saturating_sub(1), b'/');
                    place = place.saturating_add(usize::from(!mark));
                    fresh = true;
                }
                _ => {}
            }
            at = at.saturating_add(1);
        }
        for (name, place) in names {
            let Some(tok) = self.tok(name) else { continue };
            let own = name_of(self.src, tok);
            let keyed = items.iter().find(|item| item.key != 0 && self.key_text(item.key) == *own);
            let given = keyed.or_else(|| items.get(place).filter(|item| item.key == 0 && item.spread == 0));
            if let Some(val) = given.map(|item| item.val).filter(|val| val.is_any()) {
                self.bind(name, val);
            }
        }
    }

    /// What a function of the file is called with goes to its parameters.
    fn fill(&mut self, callee: &Cur, items: &[Item]) {
        if callee.target == 0
            && self.is_op(callee.first, b'(')
            && self.kw(callee.first.saturating_add(1)) == Kw::Lambda
        {
            return self.fill_lambda(callee.first.saturating_add(2), items);
        }
        if !items.iter().any(|item| item.val.is_known() && item.spread == 0) {
            return;
        }
        let Some(target) = callee.target.checked_sub(1) else { return };
        let (args, arity) = if callee.member {
            let Some(tok) = self.tok(target) else { return };
            self.scopes.method(&name_of(self.src, tok))
        } else {
            let own = self.scopes.var(self.scopes.at(target));
            (own.args, own.arity)
        };
        for (item, place) in items.iter().take(CALLED).zip(0_u32..) {
            if !item.val.is_known() || item.spread > 0 {
                continue;
            }
            let place = if item.key == 0 {
                Some(place)
            } else {
                let name = self.scopes.name(&self.key_text(item.key));
                (0..arity).find(|place| {
                    name.is_some() && Some(self.scopes.var(args.saturating_add(*place)).name) == name
                })
            };
            if let Some(place) = place.filter(|place| *place < arity) {
                self.bindings.bind(args.saturating_add(place), NAMELESS, item.first, item.val);
            }
        }
    }
}
