//! Compares lines of source per crate with the budgets in the root Cargo.toml.
#![expect(clippy::disallowed_methods, reason = "reads this repository's own files")]

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::metadata::{Metadata, root};
use crate::{Outcome, say};

/// The budget of all crates in `crates/` together.
const ALL: &str = "all";

/// Prints a row for each budget. A crate above its budget, and a crate in `crates/` without one, are errors.
pub(crate) fn check() -> Result<Outcome> {
    let metadata = Metadata::read()?;
    let mut budgets = metadata.numbers("sizes")?;
    let crates = root().join("crates");
    let mut members: Vec<(&str, &Path)> = metadata
        .members()
        .map(|package| (package.directory_name(), Path::new(package.directory())))
        .collect();
    members.sort_unstable();
    let mut rows = Vec::new();
    let mut total = 0_u64;
    let mut wrong = Vec::new();
    for (name, directory) in members {
        let is_counted = directory.starts_with(&crates);
        let budget = budgets.remove(name);
        if is_counted || budget.is_some() {
            let lines = count(&directory.join("src"))?;
            total = total.saturating_add(if is_counted { lines } else { 0 });
            rows.push((name, lines, budget));
        }
    }
    rows.push((ALL, total, budgets.remove(ALL)));
    for (name, lines, budget) in &rows {
        let Some(budget) = budget else {
            wrong.push(format!("`{name}` has no budget in [workspace.metadata.sizes]"));
            continue;
        };
        say(&format!("{name:<14} {lines:>7} of {budget:>7}"));
        if lines > budget {
            wrong.push(format!("`{name}` has {lines} lines of source, {} over its budget", lines - budget));
        }
    }
    wrong.extend(budgets.keys().map(|name| format!("the budget `{name}` is not a crate of this workspace")));
    Ok(Outcome { looked_at: format!("sizes: {} budgets, {total} lines of source", rows.len()), wrong })
}

/// Counts the lines of all Rust files in a directory.
fn count(dir: &Path) -> Result<u64> {
    let mut lines = 0_u64;
    for entry in fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            lines = lines.saturating_add(count(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
            lines = lines.saturating_add(u64::try_from(text.lines().count())?);
        }
    }
    Ok(lines)
}
