//! The meaning of a path or a written type in its scope.

use std::cell::Cell;

use crate::names::collect::TypeDef;
use crate::names::inventory::Inventory;
use crate::names::modules::World;
pub(crate) use crate::names::scopes::Namespace;
use crate::names::scopes::{Entity, Scopes};
use crate::syntax::written::{Name, Path, PathStart, WrittenType};

/// A type as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KnownType {
    /// A capability type, by its index in the inventory.
    Cap(usize),
    /// Another type of a scanned crate.
    Own {
        place: TypeLocation,
        args: Vec<Self>,
    },
    /// A type of a crate that is not scanned.
    Far {
        path: Vec<Name>,
        args: Vec<Self>,
    },
    /// A reference or a pointer.
    Ref(Box<Self>),
    /// A tuple, an array or a slice.
    Parts(Vec<Self>),
    Unknown,
}

/// The definition of a type: file, table in the file, name.
pub(crate) type TypeLocation = (usize, usize, Name);

/// The meaning of a path, and the number of segments that were used for it.
#[derive(Debug, Clone)]
pub(crate) struct Resolution {
    pub(crate) what: Meaning,
    pub(crate) used: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    Type(KnownType),
    /// A function, constant or static of a scanned crate.
    Value {
        module: usize,
        name: Name,
    },
    /// An item of a crate that is not scanned, with its whole path.
    Far(Vec<Name>),
    /// A module, a type parameter, or an unknown name.
    Other,
}

/// The position from which a name is looked up.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) module: usize,
    /// The type parameters in scope.
    pub(crate) generics: &'s [Name],
    /// The type that `Self` means.
    pub(crate) own: Option<&'s KnownType>,
}

impl Scope<'_> {
    /// Creates the scope of a module's items.
    pub(crate) const fn of(module: usize) -> Self {
        Self { module, generics: &[], own: None }
    }
}

/// The number of types that one lookup may visit. Aliases can double the size of a type with each step.
const FUEL: u32 = 2_000;

pub(crate) struct Resolver<'w> {
    pub(crate) world: &'w World<'w>,
    pub(crate) scopes: &'w Scopes,
    pub(crate) inventory: &'w Inventory,
    fuel: Cell<u32>,
}

impl<'w> Resolver<'w> {
    pub(crate) const fn new(world: &'w World<'w>, scopes: &'w Scopes, inventory: &'w Inventory) -> Self {
        Self { world, scopes, inventory, fuel: Cell::new(FUEL) }
    }

    /// Resolves a path.
    pub(crate) fn resolve(&self, scope: Scope<'_>, path: &Path, ns: Namespace) -> Resolution {
        self.fuel.set(FUEL);
        self.path(scope, path, ns)
    }

    /// Resolves a type.
    pub(crate) fn ty(&self, scope: Scope<'_>, ty: &WrittenType) -> KnownType {
        self.fuel.set(FUEL);
        self.written(scope, ty)
    }

    fn path(&self, scope: Scope<'_>, path: &Path, ns: Namespace) -> Resolution {
        if let Some((own, position)) = &path.qself {
            return Resolution { what: Meaning::Type(self.written(scope, own)), used: *position };
        }
        let Some(first) = path.segs.first() else { return Resolution { what: Meaning::Other, used: 0 } };
        let plain = path.leading == PathStart::Name;
        if plain && &*first.name == "Self" {
            return Resolution { what: scope.own.cloned().map_or(Meaning::Other, Meaning::Type), used: 1 };
        }
        if plain && scope.generics.contains(&first.name) {
            return Resolution { what: Meaning::Other, used: 1 };
        }
        let names: Vec<&Name> = path.segs.iter().map(|seg| &seg.name).collect();
        let (found, used) = self.scopes.walk(self.world, scope.module, &names, path.leading, ns);
        let args = || {
            let seg = used.checked_sub(1).and_then(|at| path.segs.get(at));
            seg.into_iter().flat_map(|seg| &seg.args).map(|arg| self.written(scope, arg)).collect::<Vec<_>>()
        };
        let mut meanings: Vec<Meaning> = Vec::new();
        for entity in found {
            match entity {
                Entity::Type { module, name } => {
                    meanings.extend(self.types(module, &name, &args()).into_iter().map(Meaning::Type));
                }
                Entity::Value { module, name } => meanings.push(Meaning::Value { module, name }),
                Entity::Far(path) => meanings.push(Meaning::Far(path)),
                Entity::Module(_) => meanings.push(Meaning::Other),
            }
        }
        if meanings.is_empty() && plain && names.len() == 1 {
            meanings.extend(self.unresolved(scope, &first.name).map(Meaning::Type));
        }
        Resolution { what: choose(meanings), used }
    }

    /// Takes an unresolved name for the capability type of that name, in packages that can see it.
    fn unresolved(&self, scope: Scope<'_>, name: &Name) -> Option<KnownType> {
        let package = self.world.package_of(scope.module);
        let sees = [&self.world.dependents, &self.world.capability].iter().any(|set| set.contains(&package));
        self.inventory.by_name(name).filter(|_| sees).map(KnownType::Cap)
    }

    /// Resolves the definitions of one name. Each of several is under another `cfg`.
    pub(crate) fn types(&self, module: usize, name: &Name, args: &[KnownType]) -> Vec<KnownType> {
        let (Some(info), Some(table)) = (self.world.modules.get(module), self.world.table(module)) else {
            return Vec::new();
        };
        let place = (info.file, info.table, Name::clone(name));
        // Identity is the place of the definition, not the name, so every alias leads here.
        if let Some(id) = self.inventory.at(&place) {
            return vec![KnownType::Cap(id)];
        }
        let defs = table.types.get(name).into_iter().flatten();
        defs.map(|def| match def {
            TypeDef::Alias(ty) => self.written(Scope::of(module), ty),
            _ => KnownType::Own { place: place.clone(), args: args.to_vec() },
        })
        .collect()
    }

    fn written(&self, scope: Scope<'_>, ty: &WrittenType) -> KnownType {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        match ty {
            _ if left == 0 => KnownType::Unknown,
            WrittenType::Ref(inner) => KnownType::Ref(Box::new(self.written(scope, inner))),
            WrittenType::Parts(parts) => {
                KnownType::Parts(parts.iter().map(|part| self.written(scope, part)).collect())
            }
            WrittenType::Other => KnownType::Unknown,
            WrittenType::Path(path) => self.path_type(scope, path),
        }
    }

    fn path_type(&self, scope: Scope<'_>, path: &Path) -> KnownType {
        let found = self.path(scope, path, Namespace::Type);
        let whole = found.used == path.segs.len();
        let args = || {
            let args = path.segs.last().into_iter().flat_map(|seg| &seg.args);
            args.map(|arg| self.written(scope, arg)).collect()
        };
        match found.what {
            // Otherwise it is an associated type, which is a blind spot.
            Meaning::Type(ty) if whole && path.qself.is_none() => ty,
            Meaning::Far(path) => KnownType::Far { path, args: args() },
            // A type of the prelude.
            Meaning::Other if found.used == 1 && path.qself.is_none() => KnownType::Far {
                path: path.segs.iter().map(|seg| Name::clone(&seg.name)).collect(),
                args: args(),
            },
            _ => KnownType::Unknown,
        }
    }
}

/// Chooses between meanings under different `cfg`s: a capability first, then an item of the workspace.
fn choose(mut meanings: Vec<Meaning>) -> Meaning {
    let capability = meanings.iter().position(|one| match one {
        Meaning::Type(ty) => ty.names_a_capability(),
        _ => false,
    });
    let near = || meanings.iter().position(|one| !matches!(one, Meaning::Far(_)));
    match capability.or_else(near) {
        Some(at) => meanings.swap_remove(at),
        None => meanings.into_iter().next().unwrap_or(Meaning::Other),
    }
}

impl KnownType {
    /// Returns the last name of a type of a crate that is not scanned.
    pub(crate) fn far_name(&self) -> Option<&str> {
        match self {
            Self::Far { path, .. } => path.last().map(|name| &**name),
            _ => None,
        }
    }

    /// Returns the types inside this one: type arguments, tuple parts, elements and referents.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Own { args, .. } | Self::Far { args, .. } | Self::Parts(args) => args,
            Self::Ref(inner) => std::slice::from_ref(&**inner),
            Self::Cap(_) | Self::Unknown => &[],
        }
    }

    /// Returns `true` if the type contains a capability type anywhere, also behind references.
    pub(crate) fn names_a_capability(&self) -> bool {
        matches!(self, Self::Cap(_)) || self.parts().iter().any(Self::names_a_capability)
    }

    /// Returns a capability type that this type contains by value at any depth.
    pub(crate) fn capability(&self) -> Option<usize> {
        match self {
            Self::Cap(id) => Some(*id),
            Self::Ref(_) => None,
            Self::Far { .. } if self.far_name() == Some("PhantomData") => None,
            _ => self.parts().iter().find_map(Self::capability),
        }
    }
}
