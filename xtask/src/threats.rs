//! THREAT-MODEL.md names the tests that hold each answer; each must exist.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::Outcome;
use crate::metadata::{root, text};

pub(crate) fn check() -> Result<Outcome> {
    let model = text("THREAT-MODEL.md")?;
    let named: BTreeSet<&str> = model
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|code| code.strip_prefix("test:"))
        .map(|name| name.rsplit("::").next().unwrap_or(name))
        .collect();
    let mut sources = String::new();
    for folder in ["crates", "tests", "xtask", "examples"] {
        collect(&root().join(folder), &mut sources)?;
    }
    let mut wrong: Vec<String> = named
        .iter()
        .filter(|name| !sources.contains(&format!("fn {name}(")))
        .map(|name| format!("THREAT-MODEL.md names the test `{name}`, which does not exist"))
        .collect();
    if named.is_empty() {
        wrong.push("THREAT-MODEL.md names no test (written as `test:name`)".to_owned());
    }
    Ok(Outcome { looked_at: format!("threats: {} tests named", named.len()), wrong })
}

fn collect(folder: &Path, into: &mut String) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a repository check reads the repository")]
    let entries = std::fs::read_dir(folder);
    for entry in entries.with_context(|| format!("list {}", folder.display()))? {
        let entry = entry.context("list the sources")?;
        let path = entry.path();
        if entry.file_type().context("list the sources")?.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            #[expect(clippy::disallowed_methods, reason = "a repository check reads the repository")]
            let source = std::fs::read_to_string(&path);
            into.push_str(&source.with_context(|| format!("read {}", path.display()))?);
        }
    }
    Ok(())
}
