//! The capability types, the functions that construct them, and the other types that rules watch.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::FenceConfig;
use crate::names::collect::{FnSig, ImplDef, Shape, TypeDef};
use crate::names::modules::World;
use crate::names::resolve::{KnownType, Meaning, Namespace, Resolver, Scope, TypeLocation};
use crate::syntax::written::{Name, Path, WrittenType};

/// A capability type.
#[derive(Debug, Clone)]
pub(crate) struct CapabilityType {
    pub(crate) name: Name,
    pub(crate) module: usize,
    /// The form of its literal. Enums have variants instead, unions have neither.
    pub(crate) shape: Option<Shape>,
    pub(crate) variants: BTreeSet<Name>,
}

/// The kind of `impl` that a constructor is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Inherent,
    OfTrait,
}

/// Everything that the rules need from the source of the capability crates.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    pub(crate) types: Vec<CapabilityType>,
    places: BTreeMap<TypeLocation, usize>,
    names: BTreeMap<Name, usize>,
    /// Constructors by type.
    pub(crate) constructors: BTreeMap<usize, BTreeMap<Name, Origin>>,
    /// Free functions that construct, by module and name, with the type that they return.
    pub(crate) free: BTreeMap<(usize, Name), usize>,
    /// Associated functions of other types of a capability crate that construct.
    pub(crate) factories: BTreeMap<TypeLocation, BTreeMap<Name, usize>>,
    /// Names of the traits whose impls for capability types construct.
    pub(crate) remakers: BTreeSet<Name>,
    pub(crate) race: BTreeSet<TypeLocation>,
    pub(crate) grant: BTreeSet<TypeLocation>,
    /// Enums that an impl for a capability type uses as an associated type.
    pub(crate) ops: BTreeSet<TypeLocation>,
    /// Watched functions by owner, which is a type or a module.
    pub(crate) watched: Vec<Watched>,
    /// The number of chokepoint functions found. Zero means that the config matches nothing.
    pub(crate) chokepoints: usize,
}

/// Functions that only listed callers may call.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    /// The type; `None` for a free function.
    pub(crate) owner: Option<TypeLocation>,
    /// The file and table of a free function's module.
    pub(crate) module: Option<(usize, usize)>,
    pub(crate) package: usize,
    pub(crate) functions: BTreeSet<Name>,
    /// Methods among the functions. A call of one counts by name, because its receiver's type is not known.
    pub(crate) methods: BTreeSet<Name>,
    pub(crate) callers: Vec<String>,
    pub(crate) shown: String,
}

impl Inventory {
    pub(crate) fn at(&self, place: &TypeLocation) -> Option<usize> {
        self.places.get(place).copied()
    }

    pub(crate) fn by_name(&self, name: &Name) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(crate) fn home_of(&self, name: &Name) -> Option<(usize, Name)> {
        let found = self.types.get(self.by_name(name)?)?;
        Some((found.module, Name::clone(&found.name)))
    }

    pub(crate) fn name(&self, id: usize) -> String {
        self.types.get(id).map_or_else(String::new, |found| found.name.to_string())
    }

    pub(crate) fn shape(&self, id: usize) -> Option<Shape> {
        self.types.get(id)?.shape
    }

    pub(crate) fn has_variant(&self, id: usize, variant: &str) -> bool {
        self.types.get(id).is_some_and(|ty| ty.variants.contains(variant))
    }

    pub(crate) fn origin(&self, id: usize, function: &str) -> Option<Origin> {
        self.constructors.get(&id)?.get(function).copied()
    }
}

/// Reads the inventory of the capability crates.
pub(crate) fn read(world: &World<'_>, config: &FenceConfig) -> Inventory {
    let mut inventory = Inventory::default();
    types(world, config, &mut inventory);
    let found = {
        // The signatures are resolved against the types found so far, so the order of these steps matters.
        let resolver = Resolver::new(world, &inventory);
        Functions::read(&resolver, config)
    };
    inventory.constructors = found.constructors;
    inventory.free = found.free;
    inventory.factories = found.factories;
    inventory.remakers = found.remakers;
    inventory.ops = found.ops;
    inventory.chokepoints = found.chokepoints;
    let watched = {
        let resolver = Resolver::new(world, &inventory);
        crate::names::callers::read(&resolver, config)
    };
    inventory.watched = watched;
    inventory
}

fn types(world: &World<'_>, config: &FenceConfig, inventory: &mut Inventory) {
    let mut seen = BTreeSet::new();
    for (index, module) in world.modules.iter().enumerate() {
        let package = world.package_of(index);
        if module.test {
            continue;
        }
        let Some(table) = world.table(index) else { continue };
        let name_of = |package: usize| world.package(package).map_or("", |found| found.name.as_str());
        if let Some(race) = &config.race
            && race.crates.iter().any(|wanted| wanted == name_of(package))
        {
            for (name, def) in &table.types {
                if **name == *race.ty && !matches!(def, TypeDef::Alias(_) | TypeDef::Trait) {
                    inventory.race.insert((module.file, module.table, Name::clone(name)));
                }
            }
        }
        if !world.capability.contains(&package) {
            continue;
        }
        for (name, def) in &table.types {
            let place = (module.file, module.table, Name::clone(name));
            if config.grant_type.as_deref() == Some(&**name) {
                inventory.grant.insert(place.clone());
            }
            let (shape, variants) = match def {
                TypeDef::Struct(shape) => (Some(*shape), BTreeSet::new()),
                TypeDef::Enum(variants) => {
                    (None, variants.iter().map(|(name, _)| Name::clone(name)).collect())
                }
                TypeDef::Union => (Some(Shape::Braced), BTreeSet::new()),
                TypeDef::Alias(_) | TypeDef::Trait | TypeDef::OpaqueCode => continue,
            };
            if !config.is_capability(name) || !seen.insert(place.clone()) {
                continue;
            }
            let id = inventory.types.len();
            inventory.types.push(CapabilityType { name: Name::clone(name), module: index, shape, variants });
            inventory.places.insert(place, id);
            inventory.names.entry(Name::clone(name)).or_insert(id);
        }
    }
}

#[derive(Default)]
struct Functions {
    constructors: BTreeMap<usize, BTreeMap<Name, Origin>>,
    free: BTreeMap<(usize, Name), usize>,
    factories: BTreeMap<TypeLocation, BTreeMap<Name, usize>>,
    remakers: BTreeSet<Name>,
    ops: BTreeSet<TypeLocation>,
    chokepoints: usize,
}

impl Functions {
    fn read(resolver: &Resolver<'_>, config: &FenceConfig) -> Self {
        let mut found = Self::default();
        for (index, module) in resolver.world.modules.iter().enumerate() {
            if !resolver.world.capability.contains(&resolver.world.package_of(index)) || module.test {
                continue;
            }
            let Some(table) = resolver.world.table(index) else { continue };
            for def in &table.impls {
                let scope = Scope { module: index, frames: &[], own: None };
                let own = resolver.ty(scope, &def.own);
                found.implementation(resolver, config, index, &own, def);
            }
            for sig in table.fns.iter().filter(|sig| !sig.test) {
                found.free_function(resolver, config, index, sig);
            }
        }
        found
    }

    fn implementation(
        &mut self,
        resolver: &Resolver<'_>,
        config: &FenceConfig,
        module: usize,
        own: &KnownType,
        def: &ImplDef,
    ) {
        let scope = Scope { module, frames: &[], own: Some(own) };
        let owner = type_name(resolver, own);
        let home = format!("{}::{owner}", resolver.world.path_text(module));
        for sig in def.fns.iter().filter(|sig| !sig.test) {
            if config.is_chokepoint(&home, &sig.name) {
                self.chokepoints = self.chokepoints.saturating_add(1);
            }
        }
        if let KnownType::Own { place, .. } = own {
            self.factory(resolver, config, scope, &home, place, def);
        }
        let KnownType::Cap(id) = own else { return };
        for ty in &def.types {
            if let KnownType::Own { place, .. } = resolver.ty(scope, ty) {
                self.ops.insert(place);
            }
        }
        let origin = if def.of_trait.is_some() { Origin::OfTrait } else { Origin::Inherent };
        let mut sigs: Vec<FnSig> = def.fns.clone();
        if let Some(path) = &def.of_trait {
            sigs.extend(provided(resolver, scope, path));
        }
        for sig in sigs.iter().filter(|sig| !sig.test && !sig.receiver) {
            if config.is_chokepoint(&home, &sig.name) {
                continue;
            }
            if gives(&resolver.ty(scope, &sig.output), *id) {
                if let Some(last) = def.of_trait.as_ref().and_then(|path| path.segs.last()) {
                    self.remakers.insert(Name::clone(&last.name));
                }
                let known = self.constructors.entry(*id).or_default();
                let entry = known.entry(Name::clone(&sig.name)).or_insert(origin);
                if origin == Origin::Inherent {
                    *entry = Origin::Inherent;
                }
            }
        }
    }

    /// Records associated functions: `Maker::make() -> T` constructs just as `T::make()` does.
    fn factory(
        &mut self,
        resolver: &Resolver<'_>,
        config: &FenceConfig,
        scope: Scope<'_>,
        home: &str,
        place: &TypeLocation,
        def: &ImplDef,
    ) {
        for sig in def.fns.iter().filter(|sig| !sig.test && !sig.receiver) {
            if config.is_chokepoint(home, &sig.name) {
                continue;
            }
            if let Some(id) = made_from_nothing(resolver, scope, sig) {
                self.factories.entry(place.clone()).or_default().insert(Name::clone(&sig.name), id);
            }
        }
    }

    fn free_function(&mut self, resolver: &Resolver<'_>, config: &FenceConfig, module: usize, sig: &FnSig) {
        let scope = Scope { module, frames: &[], own: None };
        if config.is_chokepoint(&resolver.world.path_text(module), &sig.name) {
            self.chokepoints = self.chokepoints.saturating_add(1);
            return;
        }
        if let Some(id) = made_from_nothing(resolver, scope, sig) {
            self.free.insert((module, Name::clone(&sig.name)), id);
        }
    }
}

/// Returns the capability type that a function returns without taking one.
fn made_from_nothing(resolver: &Resolver<'_>, scope: Scope<'_>, sig: &FnSig) -> Option<usize> {
    let output = resolver.ty(scope, &sig.output);
    let takes = |id: usize| sig.inputs.iter().any(|input| gives(&resolver.ty(scope, input), id));
    (0..resolver.inventory.types.len()).find(|id| gives(&output, *id) && !takes(*id))
}

/// Returns the functions that a trait of a capability crate provides to every implementer.
fn provided(resolver: &Resolver<'_>, scope: Scope<'_>, path: &Path) -> Vec<FnSig> {
    let res = resolver.resolve(scope, path, Namespace::Type);
    let Meaning::Type(KnownType::Own { place, .. }) = res.what else { return Vec::new() };
    let table = resolver.world.files.get(place.0).and_then(|file| file.table.as_ref().ok());
    let table = table.and_then(|file| file.tables.get(place.1));
    table.and_then(|table| table.traits.get(&place.2)).cloned().unwrap_or_default()
}

/// Returns `true` if a type contains a value of a capability type at any depth.
pub(crate) fn gives(ty: &KnownType, id: usize) -> bool {
    match ty {
        KnownType::Cap(found) => *found == id,
        KnownType::Ref(_) | KnownType::Ptr(_) => false,
        _ => ty.parts().iter().any(|part| gives(part, id)),
    }
}

/// Returns the last name of a type as text.
pub(crate) fn type_name(resolver: &Resolver<'_>, ty: &KnownType) -> String {
    match ty {
        KnownType::Cap(id) => resolver.inventory.name(*id),
        KnownType::Own { place, .. } => place.2.to_string(),
        KnownType::Far { path, .. } => path.last().map_or_else(String::new, ToString::to_string),
        KnownType::Ref(inner) | KnownType::Ptr(inner) | KnownType::Array(inner) => type_name(resolver, inner),
        KnownType::Tuple(_) | KnownType::Infer | KnownType::Unknown => "_".to_owned(),
    }
}

/// Returns the last name of an impl's type as written, for the paths of items.
pub(crate) fn written_name(ty: &WrittenType) -> String {
    match ty {
        WrittenType::Path(path) => path.segs.last().map_or_else(String::new, |seg| seg.name.to_string()),
        WrittenType::Ref(inner) | WrittenType::Ptr(inner) | WrittenType::Array(inner) => written_name(inner),
        WrittenType::Tuple(_) | WrittenType::Infer | WrittenType::Other => "_".to_owned(),
    }
}
