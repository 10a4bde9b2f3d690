//! Findings about whole files and packages: unreadable files, unsafe code that is not forbidden, build
//! scripts.

use crate::LintRule;
use crate::config::FenceConfig;
use crate::input::TargetKind;
use crate::names::collect::FileTable;
use crate::names::modules::World;
use crate::report::{LintFinding, Site};
use crate::rules::DisabledRules;

pub(crate) fn opaque(world: &World<'_>, off: DisabledRules) -> Vec<LintFinding> {
    if off.has(LintRule::F08) {
        return Vec::new();
    }
    let all = world.opaque.iter();
    all.map(|one| LintFinding {
        item: one.item.clone(),
        ..LintFinding::on_line(
            LintRule::F08,
            one.route,
            one.site.clone(),
            one.end_column,
            one.message.clone(),
        )
    })
    .collect()
}

pub(crate) fn unparsed(world: &World<'_>, off: DisabledRules) -> Vec<LintFinding> {
    if off.has(LintRule::F08) {
        return Vec::new();
    }
    let failed = world.files.iter().filter_map(|file| match &file.table {
        Err(error) if error.line > 0 => Some((file, error)),
        _ => None,
    });
    failed
        .map(|(file, error)| {
            let message = format!("cannot parse this file as Rust: {}", error.what);
            let site = Site { file: file.path.to_string(), line: error.line, column: error.column };
            LintFinding::on_line(LintRule::F08, "unparsed", site, error.column.saturating_add(1), message)
        })
        .collect()
}

/// F11: reports dependents that do not forbid unsafe code.
pub(crate) fn forbids(world: &World<'_>, config: &FenceConfig) -> Vec<LintFinding> {
    if !config.require_forbid_unsafe {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for krate in &world.krates {
        let Some(package) = world.package(krate.package) else { continue };
        let Some(root) = world.modules.get(krate.root) else { continue };
        let sees = world.dependents.contains(&krate.package);
        if !sees || root.test || package.forbids_unsafe {
            continue;
        }
        let Some(file) = world.files.get(root.file) else { continue };
        if file.table.as_ref().is_ok_and(|table: &FileTable| !table.forbids_unsafe) {
            let message =
                format!("`{}` depends on a capability crate and does not forbid unsafe code", krate.name);
            let site = Site { file: file.path.to_string(), line: 1, column: 1 };
            findings.push(LintFinding {
                item: krate.name.to_string(),
                ..LintFinding::on_line(LintRule::F11, "forbid-unsafe", site, 1, message)
            });
        }
    }
    findings
}

/// F11: reports a build script that enables test-only code in every build.
pub(crate) fn flags(world: &World<'_>, config: &FenceConfig) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for module in &world.modules {
        let krate = world.krates.get(module.krate);
        if krate.is_none_or(|krate| krate.kind != TargetKind::Build) || module.table != 0 {
            continue;
        }
        let Some(file) = world.files.get(module.file) else { continue };
        for flag in file.table.iter().flat_map(|table| &table.flags) {
            let plain: String =
                flag.text.chars().filter(|one| !matches!(one, '"' | '\'' | '\\' | '#')).collect();
            let plain = plain.split_whitespace().next().unwrap_or_default();
            if config.is_test_cfg(plain) {
                let message = format!("a build script enables `{plain}`, which only tests may enable");
                let site = Site { file: file.path.to_string(), line: flag.line, column: flag.column };
                findings.push(LintFinding {
                    item: krate.map_or_else(String::new, |krate| krate.name.to_string()),
                    ..LintFinding::on_line(LintRule::F11, "build-script", site, flag.end_column, message)
                });
            }
        }
    }
    findings
}
