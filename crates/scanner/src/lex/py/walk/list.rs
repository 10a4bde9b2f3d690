//! Lists, tuples and dictionaries of the text, and what is in them.

use super::Walk;
use super::frame::Item;
use crate::lex::py::bind::{Form, Val};
use crate::lex::py::text_of;

/// Most items of lists that are joined, or looked through for one.
const JOINED: usize = 256;

impl Walk<'_, '_, '_> {
    /// Keeps items as a list.
    pub(super) fn keep(&mut self, items: &[Item]) -> Val {
        let start = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        self.kept.extend_from_slice(items);
        Val { walk: self.number, ..Val::form(Form::List, start, count) }
    }

    /// Keeps the items of a literal; of those behind asterisks, what they hold.
    pub(super) fn keep_literal(&mut self, items: &[Item]) -> Val {
        let spreads = items.iter().any(|item| item.spread > 0 && item.val.form == Form::List);
        if !spreads {
            return self.keep(items);
        }
        let mut all: Vec<Item> = Vec::new();
        for item in items {
            if item.spread > 0 && item.val.form == Form::List {
                let inner: Vec<Item> = self.list(item.val).iter().take(JOINED).copied().collect();
                if !self.spend(inner.len()) {
                    return self.keep(items);
                }
                all.extend(inner);
            } else {
                all.push(*item);
            }
        }
        self.keep(&all)
    }

    /// Gives the items of a list that was closed.
    pub(super) fn list(&self, list: Val) -> &[Item] {
        let end = list.a.saturating_add(list.b);
        let items = match self.number.checked_sub(list.walk) {
            Some(0) => &self.kept,
            Some(1) => &self.before,
            _ => return &[],
        };
        items.get(list.a as usize..end as usize).unwrap_or_default()
    }

    /// Two lists with a sign between them, as one.
    pub(super) fn joined_lists(&mut self, a: Val, b: Val) -> Val {
        let items: Vec<Item> = self.list(a).iter().chain(self.list(b)).take(JOINED).copied().collect();
        if !self.spend(items.len()) {
            return a;
        }
        self.keep(&items)
    }

    /// Gives an item of a literal by its number or key; where that is not constant, any that is known.
    pub(super) fn picked(&mut self, list: Val, item: Item, name: Option<&[u8]>) -> Val {
        let items = self.list(list);
        if let Some(name) = name {
            let found = items.iter().rev().find(|item| item.key != 0 && self.key_text(item.key) == name);
            let found = found.map(|item| item.val);
            return found.unwrap_or_else(|| self.loose_item(list));
        }
        let text = self.tok(item.first).map(|tok| text_of(self.src, tok)).unwrap_or_default();
        let number = core::str::from_utf8(text).ok().and_then(|text| text.parse::<usize>().ok());
        let minus = item.first.checked_sub(1).is_some_and(|before| self.is_op(before, b'-'));
        let alone = item.first == item.last;
        let found = match number.filter(|_| alone) {
            Some(number) if minus => items.len().checked_sub(number).and_then(|at| items.get(at)),
            Some(number) => items.get(number),
            None => return self.any_item(list),
        };
        let found = found.map(|item| item.val);
        found.unwrap_or_else(|| self.loose_item(list))
    }

    /// What a list whose items are not all told apart holds somewhere.
    fn loose_item(&mut self, list: Val) -> Val {
        let spread = self.list(list).iter().take(JOINED).any(|item| item.spread > 0);
        if spread { self.any_item(list) } else { Val::default() }
    }

    /// Gives what any item of a list is, or of what stands for one.
    pub(super) fn any_item(&mut self, list: Val) -> Val {
        match list.form {
            Form::List => {
                let vals: Vec<Val> = self.list(list).iter().take(JOINED).map(|item| item.val).collect();
                self.either(&vals)
            }
            // A function that gives a module or a function by and by.
            _ if self.names.node(list.node).is_some_and(|node| node.module || !node.is_parent()) => {
                Val::node(list.node)
            }
            _ => Val::default(),
        }
    }

    /// Gives one of several values: what is known, in each walk another.
    pub(super) fn either(&mut self, vals: &[Val]) -> Val {
        if !self.spend(vals.len()) {
            return Val::default();
        }
        if let [only] = vals {
            return *only;
        }
        let known: Vec<Val> = vals.iter().filter(|val| val.is_known()).copied().collect();
        let Some(last) = known.len().checked_sub(1) else {
            let constants: Vec<Val> = vals.iter().flat_map(|val| self.choices(*val)).collect();
            return self.keep_choices(&constants);
        };
        self.bindings.is_one_of(last);
        known.get(self.bindings.walk.min(last)).copied().unwrap_or_default()
    }
}
