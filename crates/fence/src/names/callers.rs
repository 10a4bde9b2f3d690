//! The functions of rule F12: those of the mint, and the restricted ones of the config.

use crate::config::FenceConfig;
use crate::names::collect::FnSig;
use crate::names::inventory::{Owner, Watched, type_name};
use crate::names::resolve::{Resolver, Scope};
use crate::syntax::written::{Name, WrittenType};

/// The functions with listed callers, and the number of chokepoint functions.
pub(crate) struct Callers {
    pub(crate) watched: Vec<Watched>,
    pub(crate) chokepoints: usize,
}

/// Finds the functions with listed callers.
pub(crate) fn read(resolver: &Resolver<'_>, config: &FenceConfig) -> Callers {
    let (mut watched, mut chokepoints) = (Vec::new(), 0_usize);
    for (index, module) in resolver.world.modules.iter().enumerate().filter(|(_, module)| !module.test) {
        let Some(table) = resolver.world.table(index) else { continue };
        let here = resolver.world.path_text(index);
        let capability = resolver.world.capability.contains(&resolver.world.package_of(index));
        let mut sets = vec![(Owner::Module(module.file, module.table), here.clone(), &table.fns, false)];
        for def in &table.impls {
            let own = resolver.ty(Scope::of(index), &def.own);
            let Some(place) = resolver.inventory.place_of(&own) else { continue };
            let Some(home) = resolver.world.homes.get(&(place.0, place.1)) else { continue };
            let shown =
                format!("{}::{}", resolver.world.path_text(*home), type_name(resolver.inventory, &own));
            sets.push((Owner::Type(place), shown, &def.fns, def.inherent));
        }
        for (owner, shown, fns, inherent) in sets {
            let mut watch = |callers: &[String], is_watched: &dyn Fn(&FnSig) -> bool| {
                let found: Vec<&FnSig> = fns.iter().filter(|sig| is_watched(sig)).collect();
                let names = |all: &[&FnSig]| all.iter().map(|sig| Name::clone(&sig.name)).collect();
                let methods: Vec<&FnSig> = found.iter().copied().filter(|sig| sig.receiver).collect();
                if !found.is_empty() {
                    watched.push(Watched {
                        owner: owner.clone(),
                        package: resolver.world.package_of(index),
                        functions: names(&found),
                        methods: names(&methods),
                        callers: callers.to_vec(),
                        shown: shown.clone(),
                    });
                }
            };
            let mints = |sig: &FnSig| !sig.test && config.is_chokepoint(&shown, &sig.name);
            let mints_here = fns.iter().filter(|sig| capability && mints(sig)).count();
            chokepoints = chokepoints.saturating_add(mints_here);
            if mints_here > 0 && !config.mint_callers.is_empty() {
                let own = shown.rsplit("::").next().unwrap_or_default();
                watch(&config.mint_callers, &|sig| {
                    // A function that returns the owner gives access to the mint.
                    let makes_owner = inherent && !sig.receiver && names_own(&sig.output, own);
                    !sig.test && (mints(sig) || inherent && &*sig.name == "bundle" || makes_owner)
                });
            }
            for one in &config.restricted {
                watch(&one.callers, &|sig| one.path.rsplit_once("::") == Some((&shown, &sig.name)));
            }
        }
    }
    Callers { watched, chokepoints }
}

fn names_own(ty: &WrittenType, own: &str) -> bool {
    match ty {
        WrittenType::Path(path) => path.segs.iter().any(|seg| {
            matches!(&*seg.name, "Self")
                || &*seg.name == own
                || seg.args.iter().any(|arg| names_own(arg, own))
        }),
        WrittenType::Parts(parts) => parts.iter().any(|part| names_own(part, own)),
        WrittenType::Ref(_) | WrittenType::Other => false,
    }
}

/// Returns `true` if the function at `path` is one of the callers.
pub(crate) fn is_caller(path: &str, callers: &[String]) -> bool {
    callers.iter().any(|caller| {
        let below = |module: &str| path.strip_prefix(module)?.strip_prefix("::");
        match caller.strip_suffix("::*") {
            Some(module) => below(module).is_some(),
            // A module covers the functions directly in it.
            None => path == caller || below(caller).is_some_and(|one| !one.contains("::")),
        }
    })
}
