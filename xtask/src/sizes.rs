//! Counts lines of source per crate and prints them next to the budgets in the root Cargo.toml. It never fails.
#![expect(clippy::disallowed_methods, reason = "reads this repository's own files")]

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::metadata::Metadata;
use crate::{Outcome, say};

/// Prints a row for each crate, with the lines that exceed its budget.
pub(crate) fn print() -> Result<Outcome> {
    let metadata = Metadata::read()?;
    let budgets = metadata.numbers("sizes")?;
    let mut members: Vec<String> = metadata.members().map(|package| package.directory().to_owned()).collect();
    members.sort();
    let (mut total, mut over) = (0_u64, 0_usize);
    for member in &members {
        let lines = count(&Path::new(member).join("src"))?;
        total = total.saturating_add(lines);
        let name = member.trim_end_matches('/').rsplit('/').next().unwrap_or(member);
        let budget = budgets.get(name).copied();
        let note = match budget {
            Some(budget) if lines > budget => {
                over = over.saturating_add(1);
                format!("{budget:>7}  over by {}", lines.saturating_sub(budget))
            }
            Some(budget) => format!("{budget:>7}"),
            None => "      -".to_owned(),
        };
        say(format!("{name:<14} {lines:>7} {note}").trim_end());
    }
    let looked_at =
        format!("sizes: {} crates, {total} lines of source, {over} over their budget", members.len());
    Ok(Outcome { looked_at, wrong: Vec::new() })
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
