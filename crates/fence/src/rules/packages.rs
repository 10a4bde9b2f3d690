//! Findings about whole files and packages: unreadable files, and unsafe code that is not forbidden.

use crate::LintRule;
use crate::config::FenceConfig;
use crate::names::modules::World;
use crate::report::{LintFinding, Site};

/// F08: reports files that are not Rust.
pub(crate) fn unparsed(world: &World<'_>) -> Vec<LintFinding> {
    let failed = world.files.iter().filter_map(|file| Some((file, file.table.as_ref().err()?)));
    failed
        .map(|(file, error)| {
            let message = format!("cannot parse this file as Rust: {}", error.what);
            let site = Site { file: file.path.to_string(), line: error.line, column: error.column };
            LintFinding::on_line(LintRule::F08, "unparsed", site, error.column.saturating_add(1), message)
        })
        .collect()
}

/// F11: reports capability crates and their dependents that do not forbid unsafe code.
///
/// With unsafe code a value can be made of bytes, which no other rule sees.
pub(crate) fn forbids(world: &World<'_>, config: &FenceConfig) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for krate in world.krates.iter().filter(|_| config.require_forbid_unsafe) {
        let concerned = [&world.dependents, &world.capability].iter().any(|set| set.contains(&krate.package));
        let by_manifest = world.packages.get(krate.package).is_none_or(|package| package.forbids_unsafe);
        let Some(root) = krate.root.filter(|_| concerned && !by_manifest) else { continue };
        let test = world.modules.get(root).is_none_or(|module| module.test);
        if !test && world.file_table(root).is_some_and(|table| !table.forbids_unsafe) {
            let message =
                format!("`{}` can make a capability with unsafe code, which it does not forbid", krate.name);
            let site = Site { file: world.file_of(root), line: 1, column: 1 };
            findings.push(LintFinding {
                item: krate.name.to_string(),
                ..LintFinding::on_line(LintRule::F11, "forbid-unsafe", site, 1, message)
            });
        }
    }
    findings
}
