//! Visibility between packages: which members can see a capability crate, and which rules apply to each.

use std::collections::{BTreeMap, BTreeSet};

use crate::UndecidedReason;
use crate::config::FenceConfig;
use crate::input::{Package, Sources};
use crate::names::modules::{self, World};
use crate::report::FenceReport;
use crate::syntax::written::Name;

/// Determines which packages are scanned, and for what.
pub(crate) fn read<'a>(
    sources: &'a Sources<'_>,
    config: &FenceConfig,
    report: &mut FenceReport,
) -> World<'a> {
    let packages = &sources.packages;
    let by_name = |names: &[String]| -> BTreeSet<usize> {
        let known = packages.iter().enumerate().filter(|(_, package)| names.contains(&package.name));
        known.map(|(index, _)| index).collect()
    };
    let capability = by_name(&config.capability_crates);
    let races = config.race.as_ref().map(|race| by_name(&race.crates)).unwrap_or_default();
    let wanted = config.capability_crates.iter().chain(config.race.iter().flat_map(|race| &race.crates));
    for name in wanted {
        if !packages.iter().any(|package| package.name == *name) {
            let message = format!("no package of the workspace has the name `{name}`");
            report.undecided.push(UndecidedReason::new("fence/no-match", message));
        }
    }
    if config.capability_crates.is_empty() && config.race.is_none() && config.restricted.is_empty() {
        let message =
            "the config names no capability crate, race type or restricted function, so no rule applies";
        report.undecided.push(UndecidedReason::new("fence/no-match", message));
    }
    let special: BTreeSet<usize> = capability.union(&races).copied().collect();
    let externs: Vec<_> = (0..packages.len()).map(|index| externs(packages, index, &special)).collect();
    let reach: Vec<BTreeSet<usize>> = (0..packages.len()).map(|start| closure(&externs, start)).collect();
    let seeing = |targets: &BTreeSet<usize>| -> BTreeSet<usize> {
        let all = reach.iter().enumerate().filter(|(index, reached)| {
            !targets.contains(index) && (config.assume_all_dependents || !reached.is_disjoint(targets))
        });
        all.map(|(index, _)| index).filter(|_| !targets.is_empty()).collect()
    };
    // The owners of restricted functions.
    let owners = packages.iter().enumerate().filter(|(_, package)| {
        let lib = package.lib_name();
        config.restricted.iter().any(|one| one.path.split("::").next() == lib.as_deref())
    });
    let owners: BTreeSet<usize> = owners.map(|(index, _)| index).collect();
    let (dependents, race_dependents) = (seeing(&capability), seeing(&races));
    let sets = [&special, &owners, &dependents, &race_dependents, &seeing(&owners)];
    let scanned: BTreeSet<usize> = sets.into_iter().flatten().copied().collect();
    let rest = packages.iter().enumerate().filter(|(index, _)| !scanned.contains(index));
    report.summary.not_scanned.extend(rest.map(|(_, package)| {
        let what = if package.member { "member" } else { "package" };
        format!("{what} {} does not depend on a checked crate", package.name)
    }));
    World { packages, externs, scanned, capability, dependents, race_dependents, reach, ..World::default() }
}

/// Returns the names of other crates in a package's code, with their index if they are packages of the workspace.
fn externs(packages: &[Package], index: usize, special: &BTreeSet<usize>) -> BTreeMap<Name, Option<usize>> {
    let mut names = BTreeMap::new();
    let Some(package) = packages.get(index) else { return names };
    for dependency in &package.dependencies {
        let member = match dependency.path.as_ref().map(|path| modules::normal(path)) {
            Some(path) => packages.iter().position(|package| package.dir == path),
            // A patch may replace the registry crate with the member.
            None => special
                .iter()
                .copied()
                .find(|index| packages.get(*index).is_some_and(|package| package.name == dependency.package)),
        };
        let lib = member.and_then(|member| packages.get(member)?.lib_name());
        let name = dependency.rename.clone().or(lib).unwrap_or_else(|| dependency.package.clone());
        let entry = names.entry(Name::from(name.replace('-', "_"))).or_insert(member);
        *entry = entry.or(member);
    }
    if let Some(own) = package.lib_name() {
        names.entry(Name::from(own)).or_insert(Some(index));
    }
    names
}

/// Returns the direct and indirect dependencies of a package.
fn closure(externs: &[BTreeMap<Name, Option<usize>>], start: usize) -> BTreeSet<usize> {
    let direct = |from: usize| {
        let names = externs.get(from).into_iter().flat_map(BTreeMap::values);
        names.flatten().copied().filter(move |to| *to != from)
    };
    let mut seen = BTreeSet::new();
    let mut stack: Vec<usize> = direct(start).collect();
    while let Some(next) = stack.pop() {
        if seen.insert(next) {
            stack.extend(direct(next));
        }
    }
    seen
}
