//! Compares the dependencies between crates with the tables in the root Cargo.toml.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::Outcome;
use crate::metadata::{Metadata, closure};

pub(crate) fn check() -> Result<Outcome> {
    let metadata = Metadata::read()?;
    let layers = metadata.workspace("layers")?;
    let rows = metadata.workspace("rows")?;
    let mut wrong = Vec::new();
    let directories: BTreeMap<&str, &str> =
        metadata.members().map(|package| (package.name(), package.directory_name())).collect();
    let mut edges = 0_usize;
    for package in metadata.members() {
        let crate_name = package.directory_name();
        let Some(allowed) = layers.get(crate_name) else {
            wrong.push(format!("crate `{crate_name}` has no row in [workspace.metadata.layers]"));
            continue;
        };
        for name in package.edges() {
            let Some(to) = directories.get(name) else { continue };
            edges = edges.saturating_add(1);
            if !(allowed.contains(*to) || allowed.contains("*")) {
                wrong
                    .push(format!("`{crate_name}` depends on `{to}`, which its row in layers does not list"));
            }
        }
        if let Some(row) = rows.get(crate_name) {
            for name in closure(&package) {
                if !row.contains(&name) {
                    wrong.push(format!(
                        "`{crate_name}` pulls in `{name}`, which its list in rows does not contain"
                    ));
                }
            }
        }
    }
    for (row, allowed) in &layers {
        for name in allowed.iter().filter(|name| *name != "*" && !layers.contains_key(*name)) {
            wrong.push(format!("the row `{row}` in layers lists `{name}`, which has no row"));
        }
    }
    // A row for a planned crate would grant its edges before anyone reviews them.
    for (table, row) in layers.keys().map(|row| ("layers", row)).chain(rows.keys().map(|row| ("rows", row))) {
        if !directories.values().any(|known| known == row) {
            wrong.push(format!("the row `{row}` in {table} is not a crate of this workspace"));
        }
    }
    if directories.is_empty() || edges == 0 {
        wrong.push("cargo metadata shows no crates or no edges: nothing was checked".to_owned());
    }
    let looked_at =
        format!("layers: {} crates, {edges} edges, {} closed rows", directories.len(), rows.len());
    Ok(Outcome { looked_at, wrong })
}
