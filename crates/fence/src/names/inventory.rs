//! The capability types, and the other types and functions that rules watch.

use std::collections::BTreeSet;

use crate::config::FenceConfig;
use crate::names::callers;
use crate::names::collect::TypeDef;
use crate::names::modules::World;
use crate::names::resolve::{KnownType, Resolver, TypeLocation};
use crate::names::scopes::Scopes;
use crate::syntax::written::Name;

/// Everything that the rules need from the source of the capability crates.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    /// The capability types.
    pub(crate) types: Vec<TypeLocation>,
    pub(crate) race: BTreeSet<TypeLocation>,
    pub(crate) grant: BTreeSet<TypeLocation>,
    /// Watched functions by owner, which is a type or a module.
    pub(crate) watched: Vec<Watched>,
    /// The number of chokepoint functions found. Zero means that the config matches nothing.
    pub(crate) chokepoints: usize,
}

/// Functions that only listed callers may call.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) owner: Owner,
    pub(crate) package: usize,
    pub(crate) functions: BTreeSet<Name>,
    /// Methods among the functions. A call of one counts by name, because its receiver's type is not known.
    pub(crate) methods: BTreeSet<Name>,
    pub(crate) callers: Vec<String>,
    /// The path of the owner, for messages.
    pub(crate) shown: String,
}

/// What a watched function belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    Type(TypeLocation),
    /// A module, by file and table.
    Module(usize, usize),
}

impl Inventory {
    pub(crate) fn at(&self, place: &TypeLocation) -> Option<usize> {
        self.types.iter().position(|known| known == place)
    }

    pub(crate) fn by_name(&self, name: &Name) -> Option<usize> {
        self.types.iter().position(|known| known.2 == *name)
    }

    pub(crate) fn name(&self, id: usize) -> String {
        self.types.get(id).map_or_else(String::new, |place| place.2.to_string())
    }

    /// Returns the definition of a type of a scanned crate.
    pub(crate) fn place_of(&self, ty: &KnownType) -> Option<TypeLocation> {
        match ty {
            KnownType::Own { place, .. } => Some(place.clone()),
            KnownType::Cap(id) => self.types.get(*id).cloned(),
            _ => None,
        }
    }
}

/// Reads the inventory of the capability crates.
pub(crate) fn read(world: &World<'_>, scopes: &Scopes, config: &FenceConfig) -> Inventory {
    let mut inventory = types(world, config);
    // Signatures are resolved against the types found so far, so the order of these steps matters.
    let callers::Callers { watched, chokepoints } =
        callers::read(&Resolver::new(world, scopes, &inventory), config);
    inventory.watched = watched;
    inventory.chokepoints = chokepoints;
    inventory
}

fn types(world: &World<'_>, config: &FenceConfig) -> Inventory {
    let mut inventory = Inventory::default();
    for (index, module) in world.modules.iter().enumerate().filter(|(_, module)| !module.test) {
        let package = world.package_of(index);
        let is_race = config
            .race
            .as_ref()
            .filter(|race| race.crates.iter().any(|name| name == world.package_name(package)));
        let types = world.table(index).into_iter().flat_map(|table| &table.types);
        for (name, def) in types.flat_map(|(name, defs)| defs.iter().map(move |def| (name, def))) {
            let place = (module.file, module.table, Name::clone(name));
            if !matches!(def, TypeDef::Data(_)) {
                continue;
            }
            if is_race.is_some_and(|race| **name == *race.ty) {
                inventory.race.insert(place.clone());
            }
            if !world.capability.contains(&package) {
                continue;
            }
            if config.grant_type.as_deref() == Some(&**name) {
                inventory.grant.insert(place.clone());
            }
            if config.is_capability(name) && !inventory.types.contains(&place) {
                inventory.types.push(place);
            }
        }
    }
    inventory
}

/// Returns the last name of a type as text.
pub(crate) fn type_name(inventory: &Inventory, ty: &KnownType) -> String {
    match ty {
        KnownType::Cap(_) | KnownType::Own { .. } => {
            inventory.place_of(ty).map_or_else(String::new, |place| place.2.to_string())
        }
        KnownType::Ref(inner) => type_name(inventory, inner),
        _ => ty.far_name().unwrap_or("_").to_owned(),
    }
}
