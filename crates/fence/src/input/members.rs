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
    let edges: Vec<BTreeSet<usize>> =
        packages.iter().map(|package| edges(packages, package, &special)).collect();
    let reach: Vec<BTreeSet<usize>> = (0..packages.len()).map(|start| closure(&edges, start)).collect();
    let seeing = |targets: &BTreeSet<usize>| -> BTreeSet<usize> {
        let all = reach.iter().enumerate();
        all.filter(|(index, reached)| {
            !targets.contains(index) && (config.assume_all_dependents || !reached.is_disjoint(targets))
        })
        .map(|(index, _)| index)
        .collect()
    };
    let dependents = if capability.is_empty() { BTreeSet::new() } else { seeing(&capability) };
    let race_dependents = if races.is_empty() { BTreeSet::new() } else { seeing(&races) };
    // The owners of restricted functions, and the packages that see them.
    let owners: BTreeSet<usize> = packages
        .iter()
        .enumerate()
        .filter(|(_, package)| {
            let lib = package.lib_name();
            config.restricted.iter().any(|one| one.path.split("::").next() == lib.as_deref())
        })
        .map(|(index, _)| index)
        .collect();
    let mut scanned: BTreeSet<usize> = special;
    scanned.extend(&dependents);
    scanned.extend(&race_dependents);
    scanned.extend(&owners);
    if !owners.is_empty() {
        scanned.extend(seeing(&owners));
    }
    for (index, package) in packages.iter().enumerate() {
        if !scanned.contains(&index) {
            let what = if package.member { "member" } else { "package" };
            report
                .summary
                .not_scanned
                .push(format!("{what} {} does not depend on a checked crate", package.name));
        }
    }
    World {
        externs: packages
            .iter()
            .enumerate()
            .map(|(index, package)| externs(packages, index, package, &capability))
            .collect(),
        packages,
        files: Vec::new(),
        by_path: BTreeMap::new(),
        modules: Vec::new(),
        homes: BTreeMap::new(),
        krates: Vec::new(),
        libs: BTreeMap::new(),
        scanned,
        capability,
        dependents,
        race_dependents,
        reach,
    }
}

fn find_dependency(
    packages: &[Package],
    dependency: &crate::input::Dependency,
    special: &BTreeSet<usize>,
) -> Option<usize> {
    if let Some(path) = &dependency.path {
        let path = modules::normal(path);
        return packages.iter().position(|package| package.dir == path);
    }
    // A match by name alone is needed only here: a patch may replace the registry crate with the member.
    special
        .iter()
        .copied()
        .find(|index| packages.get(*index).is_some_and(|package| package.name == dependency.package))
}

fn edges(packages: &[Package], package: &Package, special: &BTreeSet<usize>) -> BTreeSet<usize> {
    package.dependencies.iter().filter_map(|one| find_dependency(packages, one, special)).collect()
}

fn closure(edges: &[BTreeSet<usize>], start: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<usize> = edges.get(start).into_iter().flatten().copied().collect();
    while let Some(next) = stack.pop() {
        if seen.insert(next) {
            stack.extend(edges.get(next).into_iter().flatten().copied());
        }
    }
    seen
}

fn externs(
    packages: &[Package],
    index: usize,
    package: &Package,
    special: &BTreeSet<usize>,
) -> BTreeMap<Name, Option<usize>> {
    let mut names = BTreeMap::new();
    for dependency in &package.dependencies {
        let member = find_dependency(packages, dependency, special);
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
