//! Changing a stored TOML file, and leaving all else in it as it was.

use std::collections::BTreeSet;

use toml_edit::{Datetime, DocumentMut, Item, Table, TableLike, Value};

use crate::time::Timestamp;

/// What is in the way of a change.
pub(crate) type Clash = String;

/// Makes a document with some lines of comment and a version.
pub(crate) fn fresh(head: &str, version: i64) -> DocumentMut {
    let mut doc = DocumentMut::new();
    doc.decor_mut().set_prefix(head);
    doc.as_table_mut().insert("version", Item::Value(Value::from(version)));
    doc
}

/// Renders a document so that its last line has an end.
pub(crate) fn finish(doc: &DocumentMut) -> String {
    let text = doc.to_string();
    if text.ends_with('\n') { text } else { format!("{text}\n") }
}

pub(crate) fn int(number: u64) -> Value {
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) fn time(at: Timestamp) -> Option<Value> {
    at.to_string().parse::<Datetime>().ok().map(Value::from)
}

pub(crate) fn clash(key: &str) -> Clash {
    format!("{} is no table", key.chars().take(120).flat_map(char::escape_default).collect::<String>())
}

/// Gives a table by name, and makes it where it is not there.
pub(crate) fn table<'t>(parent: &'t mut dyn TableLike, key: &str) -> Result<&'t mut dyn TableLike, Clash> {
    if parent.get(key).is_none() {
        parent.insert(key, Item::Table(Table::new()));
    }
    parent.get_mut(key).and_then(Item::as_table_like_mut).ok_or_else(|| clash(key))
}

/// Gives a table that holds tables alone, and so needs no header of its own.
pub(crate) fn shelf<'t>(parent: &'t mut dyn TableLike, key: &str) -> Result<&'t mut dyn TableLike, Clash> {
    if parent.get(key).is_none() {
        let mut made = Table::new();
        made.set_implicit(true);
        parent.insert(key, Item::Table(made));
    }
    table(parent, key)
}

/// Sets a value, and leaves comments and spaces around the old one.
pub(crate) fn set(table: &mut dyn TableLike, key: &str, value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

pub(crate) fn set_or_remove(table: &mut dyn TableLike, key: &str, value: Option<Value>) {
    match value {
        Some(value) => set(table, key, value),
        None => {
            table.remove(key);
        }
    }
}

/// Gives every table its place: the known ones, then those that we do not know, then `[end]`. The one that is named
/// `sorted` has its entries by scope and id.
pub(crate) fn order(root: &mut Table, known: &[&str], sorted: &str) {
    let mut next = 0;
    let mut rest: Vec<String> = root.iter().map(|(key, _)| key.to_owned()).collect();
    rest.retain(|key| key != "end" && !known.contains(&key.as_str()));
    let keys = known.iter().map(|key| (*key).to_owned()).chain(rest).chain(["end".to_owned()]);
    for key in keys {
        let Some(item) = root.get_mut(&key) else { continue };
        let levels = if key == sorted { 2 } else { 0 };
        place(item, levels, &mut next);
    }
}

/// Numbers an item's tables, each before those below it; `sorted` levels of it by name, the others as they stand.
fn place(item: &mut Item, sorted: u8, next: &mut isize) {
    match item {
        Item::Table(table) => {
            *next = next.saturating_add(1);
            table.set_position(Some(*next));
            if sorted > 0 {
                let names: BTreeSet<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
                for name in names {
                    if let Some(item) = table.get_mut(&name) {
                        place(item, sorted.saturating_sub(1), next);
                    }
                }
            } else {
                for (_, item) in table.iter_mut() {
                    place(item, 0, next);
                }
            }
        }
        Item::ArrayOfTables(tables) => {
            for table in tables.iter_mut() {
                *next = next.saturating_add(1);
                table.set_position(Some(*next));
                for (_, item) in table.iter_mut() {
                    place(item, 0, next);
                }
            }
        }
        Item::None | Item::Value(_) => {}
    }
}
