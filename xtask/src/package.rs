//! Packages the published crates, and builds each from its package alone.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::Outcome;
use crate::metadata::{Metadata, Package, root};

/// The crates that are packaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Those that depend on no other crate of the workspace.
    Leaves,
    All,
}

pub(crate) fn run(selection: Selection) -> Result<Outcome> {
    let metadata = Metadata::read()?;
    let members: BTreeSet<&str> = metadata.members().map(|package| package.name()).collect();
    let published: Vec<Package<'_>> = metadata.members().filter(Package::is_published).collect();
    let mut wrong = Vec::new();
    for package in &published {
        front_page(package, &members, &mut wrong)?;
    }
    let is_selected = |package: &&Package<'_>| {
        selection == Selection::All || package.edges().iter().all(|edge| !members.contains(edge))
    };
    let names: Vec<&str> = published.iter().filter(is_selected).map(Package::name).collect();
    #[expect(clippy::disallowed_methods, reason = "this program starts cargo and nothing else")]
    let mut cargo = Command::new("cargo");
    // Packages are checked before a commit too.
    cargo.args(["package", "--quiet", "--locked", "--allow-dirty"]).current_dir(root());
    let status =
        cargo.args(names.iter().flat_map(|name| ["-p", name])).status().context("start cargo package")?;
    if !status.success() {
        wrong.push(format!("cargo package of {}: {status}", names.join(", ")));
    }
    let looked_at = format!("package: {} of {} published crates", names.len(), published.len());
    Ok(Outcome { looked_at, wrong })
}

/// Checks that the examples of a front page name no crate of the workspace but their own.
fn front_page(package: &Package<'_>, members: &BTreeSet<&str>, wrong: &mut Vec<String>) -> Result<()> {
    let readme = std::path::Path::new(package.directory()).join("README.md");
    #[expect(clippy::disallowed_methods, reason = "a repository check reads the repository")]
    let page = std::fs::read_to_string(&readme).with_context(|| format!("read {}", readme.display()))?;
    let code = page.split("```").skip(1).step_by(2);
    let words = code.flat_map(|code| code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
    // The names of crates in code. A word without `_` is a command or a field.
    let named: BTreeSet<String> =
        words.filter(|word| word.contains('_')).map(|word| word.replace('_', "-")).collect();
    let own = package.name();
    for name in named.iter().filter(|name| members.contains(name.as_str()) && *name != own) {
        wrong.push(format!("the front page of {own} names {name}: re-export what its examples need"));
    }
    Ok(())
}
