//! Checks that each test in THREAT-MODEL.md exists.

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
    for directory in ["crates", "tests", "xtask", "tools", "examples"] {
        collect(&root().join(directory), &mut sources)?;
    }
    let mut wrong: Vec<String> = named
        .iter()
        .filter(|name| !sources.contains(&format!("fn {name}(")))
        .map(|name| format!("THREAT-MODEL.md lists the test `{name}`, which does not exist"))
        .collect();
    if named.is_empty() {
        wrong.push("THREAT-MODEL.md lists no test (expected `test:name`)".to_owned());
    }
    Ok(Outcome { looked_at: format!("threats: {} tests", named.len()), wrong })
}

fn collect(directory: &Path, into: &mut String) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a repository check reads the repository")]
    let entries = std::fs::read_dir(directory);
    for entry in entries.with_context(|| format!("list {}", directory.display()))? {
        let entry = entry.context("list the sources")?;
        let path = entry.path();
        if entry.file_type().context("list the sources")?.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            #[expect(clippy::disallowed_methods, reason = "a repository check reads the repository")]
            let source = std::fs::read_to_string(&path);
            into.push_str(&source.with_context(|| format!("read {}", path.display()))?);
        }
    }
    Ok(())
}
