//! Putting changes into a pins file, and leaving all else in it as it was.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::PluginId;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::edit::{Clash, clash, finish, fresh, int, order, set, set_or_remove, shelf, table, time};
use crate::model::{Format, Model, NamePin, VERSION};
use crate::pin::{McpPin, Pin};
use crate::revoked::Revoked;
use crate::scope::Scope;

const HEAD: &str = "# The plugins that were agreed to on this machine; written by plugward. To change it: plugward accept, forget,\n\
                    # deny, allow. A pin that is removed by hand is enrolled again at the next start.\n";

/// Renders the new model over the old text, which the old model was read from.
pub(crate) fn render(old_text: &str, old: &Model, new: &Model) -> Result<String, Clash> {
    let mut doc = match old.format {
        Format::Two if !old_text.is_empty() => {
            old_text.parse::<DocumentMut>().map_err(|error| error.message().to_owned())?
        }
        // Version 1 is kept as a file of its own; what was in it stands in the model.
        Format::One | Format::Two => fresh(HEAD, VERSION),
    };
    let blank = Model::default();
    let old = if old.format == Format::One { &blank } else { old };
    let root = doc.as_table_mut();
    let locks = |model: &Model| {
        model.locks.iter().map(|(scope, lock)| (scope.to_string(), lock.to_string())).collect()
    };
    strings(root, "locks", &locks(old), &locks(new))?;
    revoked(root, old.revoked.len(), &new.revoked)?;
    pins(root, &old.pins, &new.pins)?;
    let names = |model: &Model| model.v1.iter().map(|(name, pin)| (name.clone(), name_hex(pin))).collect();
    strings(root, "v1", &names(old), &names(new))?;
    let end = table(root, "end")?;
    set(end, "pins", int(new.count()));
    set(end, "serial", int(new.serial));
    order(root, &["locks", "revoked", "pins", "v1"], "pins");
    Ok(finish(&doc))
}

fn name_hex(pin: &NamePin) -> String {
    pin.manifest.hex()
}

fn strings(
    root: &mut Table,
    key: &str,
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
) -> Result<(), Clash> {
    if old == new {
        return Ok(());
    }
    let table = table(root, key)?;
    for gone in old.keys().filter(|name| !new.contains_key(*name)) {
        table.remove(gone);
    }
    for (name, text) in new.iter().filter(|(name, text)| old.get(*name) != Some(*text)) {
        set(table, name, Value::from(text.as_str()));
    }
    if table.is_empty() {
        root.remove(key);
    }
    Ok(())
}

/// Revocations are only ever added.
fn revoked(root: &mut Table, there: usize, new: &[Revoked]) -> Result<(), Clash> {
    const KEY: &str = "revoked";
    for entry in new.iter().skip(there) {
        if root.get(KEY).is_none() {
            root.insert(KEY, Item::ArrayOfTables(ArrayOfTables::new()));
        }
        let mut made = Table::new();
        let texts = [
            ("tree", entry.tree.map(|tree| tree.to_string())),
            ("manifest", entry.manifest.map(|manifest| manifest.to_string())),
            ("binary", entry.binary.map(|binary| binary.to_string())),
            ("id", entry.id.as_ref().map(ToString::to_string)),
            ("signer", entry.signer.clone()),
            ("reason", Some(entry.reason.clone())),
        ];
        for (key, text) in texts {
            set_or_remove(&mut made, key, text.map(Value::from));
        }
        let versions: Array = entry.versions.iter().map(String::as_str).collect();
        set_or_remove(&mut made, "versions", (!versions.is_empty()).then_some(Value::Array(versions)));
        set_or_remove(&mut made, "since", entry.since.and_then(time));
        match root.get_mut(KEY) {
            Some(Item::ArrayOfTables(tables)) => tables.push(made),
            Some(Item::Value(Value::Array(array))) => array.push(made.into_inline_table()),
            _ => return Err(clash(KEY)),
        }
    }
    Ok(())
}

type Shelves = BTreeMap<Scope, BTreeMap<PluginId, Pin>>;

fn pins(root: &mut Table, old: &Shelves, new: &Shelves) -> Result<(), Clash> {
    const KEY: &str = "pins";
    let (none, mut found) = (BTreeMap::new(), BTreeSet::new());
    found.extend(old.keys());
    found.extend(new.keys());
    for scope in found {
        let (old, new) = (old.get(scope).unwrap_or(&none), new.get(scope).unwrap_or(&none));
        if old == new {
            continue;
        }
        let scope = shelf(shelf(root, KEY)?, scope.as_str())?;
        for gone in old.keys().filter(|id| !new.contains_key(*id)) {
            scope.remove(gone.as_str());
        }
        for (id, pin) in new.iter().filter(|(id, pin)| old.get(*id) != Some(*pin)) {
            write_pin(table(scope, id.as_str())?, old.get(id), pin)?;
        }
    }
    Ok(())
}

pub(crate) fn write_pin(table: &mut dyn TableLike, old: Option<&Pin>, pin: &Pin) -> Result<(), Clash> {
    let facts = pin.facts.as_ref();
    let exclude: Option<Array> = facts.map(|facts| facts.exclude.iter().map(String::as_str).collect());
    let shared: Option<InlineTable> = facts.map(|facts| {
        facts.shared.iter().map(|(name, tree)| (name.as_str(), Value::from(tree.to_string()))).collect()
    });
    let values = [
        ("manifest", facts.and_then(|facts| facts.manifest).map(|digest| digest.to_string().into())),
        ("entry", facts.and_then(|facts| facts.entry).map(|digest| digest.to_string().into())),
        ("tree", facts.map(|facts| facts.tree.to_string().into())),
        ("exclude", exclude.filter(|names| !names.is_empty()).map(Value::Array)),
        ("shared", shared.filter(|trees| !trees.is_empty()).map(Value::InlineTable)),
        ("surface", facts.and_then(|facts| facts.surface).map(|digest| digest.to_string().into())),
        ("state", Some(pin.state.as_str().into())),
        ("via", Some(pin.via.as_str().into())),
        ("signer", facts.and_then(|facts| facts.signer.as_deref()).map(Value::from)),
        ("at", time(pin.at)),
        ("by", pin.by.as_deref().map(Value::from)),
        ("previous", pin.previous.map(|tree| tree.to_string().into())),
        ("denied", pin.denied.map(|tree| tree.to_string().into())),
    ];
    for (key, value) in values {
        set_or_remove(table, key, value);
    }
    let none = BTreeMap::new();
    let old = old.map_or(&none, |old| &old.mcp);
    if *old == pin.mcp {
        return Ok(());
    }
    let servers = shelf(table, "mcp")?;
    for gone in old.keys().filter(|server| !pin.mcp.contains_key(*server)) {
        servers.remove(gone);
    }
    for (server, mcp) in pin.mcp.iter().filter(|(server, mcp)| old.get(*server) != Some(*mcp)) {
        write_mcp(crate::edit::table(servers, server)?, mcp);
    }
    if servers.is_empty() {
        table.remove("mcp");
    }
    Ok(())
}

fn write_mcp(table: &mut dyn TableLike, pin: &McpPin) {
    let items: InlineTable =
        pin.items.iter().map(|(name, digest)| (name.as_str(), Value::from(digest.to_string()))).collect();
    set(table, "set", pin.set.to_string().into());
    set(table, "key", pin.key.to_string().into());
    set_or_remove(table, "items", (!items.is_empty()).then_some(Value::InlineTable(items)));
}
