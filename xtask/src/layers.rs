//! Who depends on whom, against the table in the root Cargo.toml.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::Outcome;
use crate::metadata::{Metadata, closure};

pub(crate) fn check() -> Result<Outcome> {
    let metadata = Metadata::read()?;
    let layers = metadata.workspace("layers")?;
    let rows = metadata.workspace("rows")?;
    let mut wrong = Vec::new();
    let folders: BTreeMap<&str, &str> =
        metadata.members().map(|package| (package.name(), package.folder())).collect();
    let mut edges = 0_usize;
    for package in metadata.members() {
        let folder = package.folder();
        let Some(allowed) = layers.get(folder) else {
            wrong.push(format!("crate `{folder}` stands in no row of [workspace.metadata.layers]"));
            continue;
        };
        for name in package.edges() {
            let Some(to) = folders.get(name) else { continue };
            edges = edges.saturating_add(1);
            if !(allowed.contains(*to) || allowed.contains("*")) {
                wrong.push(format!("`{folder}` depends on `{to}`, which its row of layers does not list"));
            }
        }
        if let Some(row) = rows.get(folder) {
            for name in closure(&package) {
                if !row.contains(&name) {
                    wrong.push(format!("`{folder}` pulls in `{name}`, which its row of rows does not list"));
                }
            }
        }
    }
    for (folder, allowed) in &layers {
        for name in allowed.iter().filter(|name| *name != "*" && !layers.contains_key(*name)) {
            wrong.push(format!("the row `{folder}` of layers names `{name}`, which has no row"));
        }
    }
    for folder in rows.keys().filter(|folder| !folders.values().any(|known| known == folder)) {
        wrong.push(format!("the row `{folder}` of rows is no crate of this workspace"));
    }
    if folders.is_empty() || edges == 0 {
        wrong.push("cargo metadata shows no crates or no edges: nothing was checked".to_owned());
    }
    let looked_at = format!("layers: {} crates, {edges} edges, {} closed rows", folders.len(), rows.len());
    Ok(Outcome { looked_at, wrong })
}
