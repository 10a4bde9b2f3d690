//! Conditions for a complete run. A config that matches nothing would otherwise look like a clean workspace.

use std::collections::BTreeSet;

use crate::config::FenceConfig;
use crate::names::inventory::Inventory;
use crate::names::modules::World;
use crate::report::{FenceReport, UndecidedReason};

/// Reports a run as undecided if it covered nothing, or if a configured name matches nothing.
pub(crate) fn check(
    world: &World<'_>,
    inventory: &Inventory,
    config: &FenceConfig,
    report: &mut FenceReport,
) {
    let mut say =
        |code: &'static str, message: String| report.undecided.push(UndecidedReason::new(code, message));
    let files: usize =
        world.scanned.iter().filter_map(|index| world.packages.get(*index)).map(|one| one.files.len()).sum();
    if files < config.min_files {
        say("fence/no-files", format!("found {files} source files, expected at least {}", config.min_files));
    }
    for index in &world.capability {
        let name = world.package_name(*index);
        let mut homes = inventory.types.iter().filter_map(|ty| world.homes.get(&(ty.0, ty.1)));
        let has = homes.any(|home| world.package_of(*home) == *index);
        if !has {
            say("fence/no-type", format!("no type of `{name}` matches `{}`", config.type_glob));
        }
    }
    if !world.capability.is_empty() && inventory.chokepoints == 0 {
        let what = if config.chokepoint.is_empty() {
            "a function named `mint`".to_owned()
        } else {
            config.chokepoint.join(", ")
        };
        say("fence/no-chokepoint", format!("no capability crate has a chokepoint: expected {what}"));
    }
    if let Some(grant) = config.grant_type.as_ref().filter(|_| inventory.grant.is_empty()) {
        say("fence/no-grant", format!("no capability crate defines `{grant}`, the value of `grant-type`"));
    }
    if let Some(race) = &config.race
        && inventory.race.is_empty()
    {
        say("fence/no-match", format!("no race crate defines {:?}, the value of `race.type`", race.ty));
    }
    for excluded in &config.exclude_types {
        let known = world.modules.iter().enumerate().any(|(index, _)| {
            world.capability.contains(&world.package_of(index))
                && world.table(index).is_some_and(|table| table.types.contains_key(excluded.as_str()))
        });
        if !known {
            say(
                "fence/no-match",
                format!("no capability crate defines `{excluded}`, which `exclude-types` lists"),
            );
        }
    }
    watched_hold(world, inventory, config, &mut |message| say("fence/no-match", message));
}

fn watched_hold(
    world: &World<'_>,
    inventory: &Inventory,
    config: &FenceConfig,
    say: &mut impl FnMut(String),
) {
    for restricted in &config.restricted {
        let function = restricted.path.rsplit("::").next().unwrap_or_default();
        let found = inventory
            .watched
            .iter()
            .any(|one| one.callers == restricted.callers && one.functions.contains(function));
        if !found {
            say(format!("no crate defines `{}`, which `restricted` lists", restricted.path));
        }
    }
    // The paths of all modules and types.
    let mut known: BTreeSet<String> = BTreeSet::new();
    for index in 0..world.modules.len() {
        let path = world.path_text(index);
        let types = world.table(index).into_iter().flat_map(|table| table.types.keys());
        known.extend(types.map(|name| format!("{path}::{name}")));
        known.insert(path);
    }
    for caller in config.mint_callers.iter().chain(config.restricted.iter().flat_map(|one| &one.callers)) {
        let found = match caller.strip_suffix("::*") {
            Some(path) => known.contains(path),
            // A function is found through its module, or through its type.
            None => {
                known.contains(caller)
                    || caller.rsplit_once("::").is_some_and(|(home, _)| known.contains(home))
            }
        };
        if !found {
            say(format!("the caller `{caller}` is not a module or function of the workspace"));
        }
    }
}
