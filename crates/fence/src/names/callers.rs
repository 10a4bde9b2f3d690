//! The functions of rule F12: those of the mint, and the restricted ones of the config.

use std::collections::BTreeSet;

use crate::config::FenceConfig;
use crate::names::inventory::{Watched, type_name};
use crate::names::resolve::{KnownType, Resolver, Scope, TypeLocation};
use crate::syntax::written::{Name, WrittenType};

/// Finds the functions with listed callers.
pub(crate) fn read(resolver: &Resolver<'_>, config: &FenceConfig) -> Vec<Watched> {
    let mut watched = Vec::new();
    if !config.mint_callers.is_empty() {
        owners(resolver, config, &mut watched);
    }
    for restricted in &config.restricted {
        find(resolver, &restricted.path, &restricted.callers, &mut watched);
    }
    watched
}

/// Adds the types that own a chokepoint, with all functions that return the owner or a capability.
fn owners(resolver: &Resolver<'_>, config: &FenceConfig, watched: &mut Vec<Watched>) {
    for (index, module) in resolver.world.modules.iter().enumerate() {
        let package = resolver.world.package_of(index);
        if module.test || !resolver.world.capability.contains(&package) {
            continue;
        }
        let Some(table) = resolver.world.table(index) else { continue };
        let home = resolver.world.path_text(index);
        for def in table.impls.iter().filter(|def| def.of_trait.is_none()) {
            let scope = Scope { module: index, frames: &[], own: None };
            let own = resolver.ty(scope, &def.own);
            let owner = format!("{home}::{}", type_name(resolver, &own));
            if !def.fns.iter().any(|sig| config.is_chokepoint(&owner, &sig.name)) {
                continue;
            }
            let KnownType::Own { place, .. } = &own else { continue };
            let mut functions = BTreeSet::new();
            let mut methods = BTreeSet::new();
            for sig in def.fns.iter().filter(|sig| !sig.test) {
                let mints = config.is_chokepoint(&owner, &sig.name) || &*sig.name == "bundle";
                // A function that returns the owner gives access to the mint.
                let makes_owner = !sig.receiver && names_own(&sig.output, &place.2);
                if mints || makes_owner {
                    functions.insert(Name::clone(&sig.name));
                    if sig.receiver {
                        methods.insert(Name::clone(&sig.name));
                    }
                }
            }
            merge(
                watched,
                Watched {
                    owner: Some(place.clone()),
                    module: None,
                    package,
                    functions,
                    methods,
                    callers: config.mint_callers.clone(),
                    shown: owner,
                },
            );
        }
        for sig in table.fns.iter().filter(|sig| !sig.test && config.is_chokepoint(&home, &sig.name)) {
            merge(
                watched,
                Watched {
                    owner: None,
                    module: Some((module.file, module.table)),
                    package,
                    functions: BTreeSet::from([Name::clone(&sig.name)]),
                    methods: BTreeSet::new(),
                    callers: config.mint_callers.clone(),
                    shown: home.clone(),
                },
            );
        }
    }
}

fn names_own(ty: &WrittenType, own: &str) -> bool {
    use crate::syntax::written::WrittenType;
    match ty {
        WrittenType::Path(path) => path.segs.iter().any(|seg| {
            &*seg.name == "Self" || &*seg.name == own || seg.args.iter().any(|arg| names_own(arg, own))
        }),
        WrittenType::Tuple(parts) => parts.iter().any(|part| names_own(part, own)),
        WrittenType::Array(inner) => names_own(inner, own),
        WrittenType::Ref(_) | WrittenType::Ptr(_) | WrittenType::Infer | WrittenType::Other => false,
    }
}

/// Finds one restricted path: `crate::module::Type::function` or `crate::module::function`.
fn find(resolver: &Resolver<'_>, path: &str, callers: &[String], watched: &mut Vec<Watched>) {
    let Some((home, function)) = path.rsplit_once("::") else { return };
    for (index, module) in resolver.world.modules.iter().enumerate() {
        if module.test {
            continue;
        }
        let Some(table) = resolver.world.table(index) else { continue };
        let here = resolver.world.path_text(index);
        let package = resolver.world.package_of(index);
        let base = |owner, module, methods| Watched {
            owner,
            module,
            package,
            functions: BTreeSet::from([Name::from(function)]),
            methods,
            callers: callers.to_vec(),
            shown: home.to_owned(),
        };
        if here == home && table.fns.iter().any(|sig| &*sig.name == function) {
            merge(watched, base(None, Some((module.file, module.table)), BTreeSet::new()));
        }
        for def in &table.impls {
            let Some(sig) = def.fns.iter().find(|sig| &*sig.name == function) else { continue };
            let scope = Scope { module: index, frames: &[], own: None };
            let own = resolver.ty(scope, &def.own);
            let (place, module_of) = match &own {
                KnownType::Own { place, .. } => (place.clone(), defined_in(resolver, place)),
                KnownType::Cap(id) => {
                    let Some(found) = resolver.inventory.types.get(*id) else { continue };
                    let Some(info) = resolver.world.modules.get(found.module) else { continue };
                    ((info.file, info.table, Name::clone(&found.name)), Some(found.module))
                }
                _ => continue,
            };
            let Some(module_of) = module_of else { continue };
            if format!("{}::{}", resolver.world.path_text(module_of), place.2) == home {
                let methods =
                    if sig.receiver { BTreeSet::from([Name::from(function)]) } else { BTreeSet::new() };
                merge(watched, base(Some(place), None, methods));
            }
        }
    }
}

fn defined_in(resolver: &Resolver<'_>, place: &TypeLocation) -> Option<usize> {
    resolver.world.modules.iter().position(|module| module.file == place.0 && module.table == place.1)
}

fn merge(watched: &mut Vec<Watched>, new: Watched) {
    let same =
        |old: &&mut Watched| old.owner == new.owner && old.module == new.module && old.callers == new.callers;
    if let Some(old) = watched.iter_mut().find(same) {
        old.functions.extend(new.functions);
        old.methods.extend(new.methods);
    } else {
        watched.push(new);
    }
}

/// Returns `true` if the function at `path` is one of the callers.
pub(crate) fn is_caller(path: &str, callers: &[String]) -> bool {
    callers.iter().any(|caller| match caller.strip_suffix("::*") {
        Some(module) => path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::")),
        None => {
            path == caller
                || path.strip_prefix(caller.as_str()).is_some_and(|rest| {
                    // A module covers the functions directly in it.
                    rest.strip_prefix("::").is_some_and(|one| !one.contains("::"))
                })
        }
    })
}
