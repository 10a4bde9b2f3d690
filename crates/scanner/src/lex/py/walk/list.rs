//! Lists, tuples and dictionaries of the text, and what is in them.

use super::Walk;
use super::frame::{Cur, Item};
use crate::lex::py::bind::{Form, Val};
use crate::lex::py::text_of;
use crate::lex::py::token::K;

/// Most items of lists that are joined, or looked through for one.
const JOINED: usize = 256;
/// More names of the tables than one value is told to stand for.
const KNOWN: usize = 32;
/// Most lists beside each other, and most items that one call puts in a list.
const PARTS: usize = 16;
/// How long a list may be that grows: the last that was kept, one that takes a name of the tables, and any.
const GROWN_LAST: u32 = 256;
const GROWN_KNOWN: u32 = 64;
const GROWN: u32 = 16;
/// Lists that are kept anew in one walk since they grew.
pub(super) const COPIES: usize = 4096;

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

    /// The items of a list, each with its number.
    pub(super) fn numbered(&mut self, list: Val) -> Val {
        let items: Vec<Item> = self.list(list).iter().take(JOINED).copied().collect();
        if !self.spend(items.len()) {
            return list;
        }
        let pairs = items.iter().map(|item| Item { val: self.keep(&[Item::default(), *item]), ..*item });
        let pairs: Vec<Item> = pairs.map(|item| Item { key: 0, ..item }).collect();
        self.keep(&pairs)
    }

    /// The items of several lists, one of each beside the others.
    pub(super) fn zipped(&mut self, lists: &[Item]) -> Val {
        let lists: Vec<Vec<Item>> = lists
            .iter()
            .take(PARTS)
            .map(|item| self.list(item.val).iter().take(JOINED).copied().collect())
            .collect();
        let rows = lists.iter().map(Vec::len).max().unwrap_or(0);
        if !self.spend(rows.saturating_mul(lists.len())) {
            return Val::default();
        }
        let mut out = Vec::new();
        for row in 0..rows {
            let parts: Vec<Item> =
                lists.iter().map(|list| list.get(row).copied().unwrap_or_default()).collect();
            out.push(Item { val: self.keep(&parts), ..Item::default() });
        }
        self.keep(&out)
    }

    /// Puts more items in the list that a variable holds.
    pub(super) fn grow(&mut self, var: u32, new: &[Item]) {
        let list = self.bindings.get(var);
        if list.form != Form::List || list.is_known() || new.is_empty() {
            return;
        }
        let end = list.a.saturating_add(list.b) as usize;
        let newest = list.walk == self.number && end == self.kept.len();
        let known = new.iter().any(|item| item.val.is_known());
        let val = if newest && list.b < GROWN_LAST {
            self.kept.extend_from_slice(new);
            let more = u32::try_from(new.len()).unwrap_or(u32::MAX);
            Val { b: list.b.saturating_add(more), ..list }
        } else if list.b < if known { GROWN_KNOWN } else { GROWN } {
            let Some(left) = self.copies.checked_sub(1) else {
                self.bindings.too_many |= known;
                return;
            };
            self.copies = left;
            let items: Vec<Item> = self.list(list).iter().chain(new).copied().collect();
            self.keep(&items)
        } else {
            self.bindings.too_many |= known;
            return;
        };
        self.bindings.regrow(var, val);
    }

    /// `x.append(…)` and its like, where a name holds a list or a dictionary of the text.
    pub(super) fn grows(&mut self, callee: &Cur, items: &[Item]) {
        let method = callee.target.saturating_sub(1);
        if callee.first.saturating_add(2) != method || self.kind_at(callee.first) != Some(K::Name) {
            return;
        }
        let var = self.scopes.at(callee.first);
        if self.bindings.get(var).form != Form::List {
            return;
        }
        let Some(name) = self.tok(method).map(|tok| text_of(self.src, tok)) else { return };
        let new: Vec<Item> = match name {
            b"append" | b"appendleft" | b"add" => items.iter().take(1).copied().collect(),
            b"insert" => items.iter().skip(1).take(1).copied().collect(),
            b"extend" | b"update" => {
                let held = items.first().filter(|item| item.val.form == Form::List && item.key == 0);
                let held =
                    held.map(|item| self.list(item.val).iter().take(PARTS).copied().collect::<Vec<_>>());
                let keys = items.iter().filter(|item| item.key != 0).take(PARTS).copied();
                held.unwrap_or_default().into_iter().chain(keys).collect()
            }
            b"setdefault" => match items {
                [key, value] if key.val.form == Form::Text => {
                    vec![Item { key: key.val.a.saturating_add(1), ..*value }]
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        self.grow(var, &new);
    }

    /// `x["name"] = value`, where a name holds a dictionary of the text.
    pub(super) fn grows_by(&mut self, target: &Cur, value: Item) {
        let key = target.index.saturating_sub(1);
        if target.first.saturating_add(2) == key
            && self.kind_at(target.first) == Some(K::Name)
            && value.val.is_any()
        {
            let var = self.scopes.at(target.first);
            self.grow(var, &[Item { key: target.index, spread: 0, ..value }]);
        }
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
        // The same one twice is one.
        let mut known: Vec<Val> = Vec::new();
        for val in vals.iter().filter(|val| val.is_known()) {
            if known.len() <= KNOWN && !known.contains(val) {
                known.push(*val);
            }
        }
        let Some(last) = known.len().checked_sub(1) else {
            let constants: Vec<Val> = vals.iter().flat_map(|val| self.choices(*val)).collect();
            return self.keep_choices(&constants);
        };
        self.bindings.is_one_of(last);
        known.get(self.bindings.walk.min(last)).copied().unwrap_or_default()
    }
}
