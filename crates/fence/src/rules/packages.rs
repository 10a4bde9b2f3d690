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
        rule: LintRule::F08,
        route: one.route,
        ty: None,
        site: one.site.clone(),
        end_line: one.site.line,
        end_column: one.end_column,
        item: one.item.clone(),
        message: one.message.clone(),
        via: Vec::new(),
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
            LintFinding {
                rule: LintRule::F08,
                route: "unparsed",
                ty: None,
                site: Site { file: file.path.to_string(), line: error.line, column: error.column },
                end_line: error.line,
                end_column: error.column.saturating_add(1),
                item: String::new(),
                message,
                via: Vec::new(),
            }
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
            findings.push(LintFinding {
                rule: LintRule::F11,
                route: "forbid-unsafe",
                ty: None,
                site: Site { file: file.path.to_string(), line: 1, column: 1 },
                end_line: 1,
                end_column: 1,
                item: krate.name.to_string(),
                message: format!(
                    "`{}` depends on a capability crate and does not forbid unsafe code",
                    krate.name
                ),
                via: Vec::new(),
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
            let feature = plain.strip_prefix("feature=");
            let test_only =
                feature.is_some_and(|name| config.test_only_features.iter().any(|known| known == name));
            if plain == "test" || test_only {
                findings.push(LintFinding {
                    rule: LintRule::F11,
                    route: "build-script",
                    ty: None,
                    site: Site { file: file.path.to_string(), line: flag.line, column: flag.column },
                    end_line: flag.line,
                    end_column: flag.end_column,
                    item: krate.map_or_else(String::new, |krate| krate.name.to_string()),
                    message: format!("a build script enables `{plain}`, which only tests may enable"),
                    via: Vec::new(),
                });
            }
        }
    }
    findings
}
