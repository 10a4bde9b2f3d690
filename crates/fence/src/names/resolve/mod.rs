//! Name resolution: the meaning of a path in its scope.

mod lookup;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::names::collect::{Alias, FileTable, Table, TypeDef};
use crate::names::inventory::Inventory;
use crate::names::modules::World;
use crate::syntax::written::{Name, Path, PathStart, Segment, WrittenType};
use lookup::DEPTH;

/// A type as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KnownType {
    /// A capability type, by its index in the inventory.
    Cap(usize),
    /// Another type of a scanned crate, by file, table and name.
    Own {
        place: TypeLocation,
        args: Vec<Self>,
    },
    /// A type of a crate that is not scanned.
    Far {
        path: Vec<Name>,
        args: Vec<Self>,
    },
    Ref(Box<Self>),
    Ptr(Box<Self>),
    Tuple(Vec<Self>),
    Array(Box<Self>),
    /// `_`, which the compiler infers.
    Infer,
    Unknown,
}

/// The definition of a type: file, table in the file, name.
pub(crate) type TypeLocation = (usize, usize, Name);

/// The namespace in which a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Namespace {
    Type,
    Value,
}

/// The meaning of a path, and the number of segments that were used for it.
#[derive(Debug, Clone)]
pub(crate) struct Resolution {
    pub(crate) what: Meaning,
    pub(crate) used: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    Type(KnownType),
    /// `<T as Trait>`: the type, and the trait's path as far as it is known.
    Qualified {
        own: KnownType,
        of_trait: Vec<Name>,
        args: Vec<KnownType>,
    },
    /// A variant that was imported by name.
    Variant(KnownType),
    Module,
    /// A function, constant or static of a scanned crate.
    Value {
        module: usize,
        name: Name,
    },
    /// An item of a crate that is not scanned, with its whole path.
    Far(Vec<Name>),
    Local,
    Nothing,
}

/// The syntax that opened a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FrameKind {
    #[default]
    Block,
    /// A module inside a block. `self` means it, and `super` leaves it.
    Module,
}

/// The names that a block adds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub(crate) names: Option<Rc<FileTable>>,
    /// The table of those names in use: the block's own, or that of a module in the block.
    pub(crate) table: usize,
    pub(crate) generics: BTreeSet<Name>,
    pub(crate) of: FrameKind,
}

/// The position from which a name is looked up.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) module: usize,
    pub(crate) frames: &'s [Frame],
    pub(crate) own: Option<&'s KnownType>,
}

#[derive(Debug, Clone)]
enum NameBinding {
    Def {
        module: usize,
        name: Name,
    },
    FrameDef {
        frame: usize,
        name: Name,
    },
    Variant {
        of: Box<Self>,
    },
    Module(usize),
    Value {
        module: usize,
        name: Name,
    },
    /// A type that is already resolved.
    Ready(KnownType),
    Far(Vec<Name>),
    Local,
    Nothing,
}

impl NameBinding {
    fn known(self) -> Option<Self> {
        (!matches!(self, Self::Nothing)).then_some(self)
    }
}

/// The number of steps that one lookup may take. Globs that import each other can make lookup exponential.
/// Past the limit the name counts as unresolved.
const FUEL: u32 = 20_000;

pub(crate) struct Resolver<'w> {
    pub(crate) world: &'w World<'w>,
    pub(crate) inventory: &'w Inventory,
    known: RefCell<BTreeMap<(usize, Name, Namespace), NameBinding>>,
    active: RefCell<BTreeSet<(usize, Name, Namespace)>>,
    fuel: Cell<u32>,
    /// The number of nested lookups, at most [`DEPTH`].
    depth: Cell<u32>,
}

/// One level of nested lookups, until it is dropped.
struct LookupLevel<'r>(&'r Cell<u32>);

impl Drop for LookupLevel<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl<'w> Resolver<'w> {
    pub(crate) fn new(world: &'w World<'w>, inventory: &'w Inventory) -> Self {
        Self {
            world,
            inventory,
            known: RefCell::default(),
            active: RefCell::default(),
            fuel: Cell::new(FUEL),
            depth: Cell::new(0),
        }
    }

    /// Resolves a path.
    pub(crate) fn resolve(&self, scope: Scope<'_>, path: &Path, ns: Namespace) -> Resolution {
        self.fuel.set(FUEL);
        self.active.borrow_mut().clear();
        self.path(scope, path, ns)
    }

    /// Resolves a type.
    pub(crate) fn ty(&self, scope: Scope<'_>, ty: &WrittenType) -> KnownType {
        self.fuel.set(FUEL);
        self.active.borrow_mut().clear();
        self.rty(scope, ty, &BTreeMap::new())
    }

    /// Opens a level of nested lookups; `None` past the limit.
    fn enter(&self) -> Option<LookupLevel<'_>> {
        let depth = self.depth.get();
        (depth <= DEPTH).then(|| {
            self.depth.set(depth.saturating_add(1));
            LookupLevel(&self.depth)
        })
    }

    fn path(&self, scope: Scope<'_>, path: &Path, ns: Namespace) -> Resolution {
        if let Some((own, position)) = &path.qself {
            let own = self.rty(scope, own, &BTreeMap::new());
            if *position == 0 {
                return Resolution { what: Meaning::Type(own), used: 0 };
            }
            let segs = path.segs.get(..*position).unwrap_or_default();
            let (found, used) = self.walk(scope, segs, path.leading, Namespace::Type);
            let of_trait = match found {
                NameBinding::Far(full) => full,
                NameBinding::Def { name, .. } if used == segs.len() => vec![name],
                _ => segs.iter().map(|seg| Name::clone(&seg.name)).collect(),
            };
            let args = segs.last().map(|seg| self.args(scope, seg)).unwrap_or_default();
            return Resolution { what: Meaning::Qualified { own, of_trait, args }, used: *position };
        }
        let (found, used) = self.walk(scope, &path.segs, path.leading, ns);
        let seg = used.checked_sub(1).and_then(|at| path.segs.get(at));
        Resolution { what: self.expand(scope, found, seg), used }
    }

    fn expand(&self, scope: Scope<'_>, found: NameBinding, seg: Option<&Segment>) -> Meaning {
        match found {
            NameBinding::Def { .. } | NameBinding::FrameDef { .. } => {
                let args = seg.map(|seg| self.args(scope, seg)).unwrap_or_default();
                Meaning::Type(self.def(scope, &found, args))
            }
            NameBinding::Ready(ty) => Meaning::Type(ty),
            NameBinding::Variant { of } => Meaning::Variant(self.def(scope, &of, Vec::new())),
            NameBinding::Module(_) => Meaning::Module,
            NameBinding::Value { module, name } => Meaning::Value { module, name },
            NameBinding::Far(path) => Meaning::Far(path),
            NameBinding::Local => Meaning::Local,
            NameBinding::Nothing => match seg {
                Some(seg) if &*seg.name == "Self" => {
                    scope.own.cloned().map_or(Meaning::Nothing, Meaning::Type)
                }
                _ => Meaning::Nothing,
            },
        }
    }

    fn args(&self, scope: Scope<'_>, seg: &Segment) -> Vec<KnownType> {
        seg.args.iter().map(|arg| self.rty(scope, arg, &BTreeMap::new())).collect()
    }

    fn def(&self, scope: Scope<'_>, found: &NameBinding, args: Vec<KnownType>) -> KnownType {
        match found {
            NameBinding::Ready(ty) => ty.clone(),
            NameBinding::Def { module, name } => {
                let Some(info) = self.world.modules.get(*module) else { return KnownType::Unknown };
                let place = (info.file, info.table, Name::clone(name));
                // Identity is the place of the definition, not the name, so every alias leads here.
                if let Some(id) = self.inventory.at(&place) {
                    return KnownType::Cap(id);
                }
                let inside = Scope { module: *module, frames: &[], own: None };
                self.meaning(inside, self.world.table(*module), place, args)
            }
            NameBinding::FrameDef { frame, name } => {
                let frames = scope.frames.get(..=*frame).unwrap_or_default();
                let inside = Scope { frames, ..scope };
                // No file has this number. The index of the frame tells apart types of the same name in
                // nested blocks.
                let place = (usize::MAX, *frame, Name::clone(name));
                self.meaning(inside, frames.last().and_then(block_table), place, args)
            }
            _ => KnownType::Unknown,
        }
    }

    /// Resolves a definition to a type. Of several under different `cfg`s, a capability has precedence.
    fn meaning(
        &self,
        inside: Scope<'_>,
        table: Option<&Table>,
        place: TypeLocation,
        args: Vec<KnownType>,
    ) -> KnownType {
        let Some(table) = table else { return KnownType::Own { place, args } };
        let others = table.also.get(&place.2).map(Vec::as_slice).unwrap_or_default();
        let mut first = None;
        for def in table.types.get(&place.2).into_iter().chain(others) {
            let ty = match def {
                TypeDef::Alias(alias) => self.alias(inside, alias, &args),
                _ => KnownType::Own { place: place.clone(), args: args.clone() },
            };
            if others.is_empty() || ty.names_a_capability() {
                return ty;
            }
            first = first.or(Some(ty));
        }
        first.unwrap_or(KnownType::Own { place, args })
    }

    fn alias(&self, inside: Scope<'_>, alias: &Alias, args: &[KnownType]) -> KnownType {
        let mut given = args.iter();
        let mut known: BTreeMap<Name, KnownType> = BTreeMap::new();
        for (param, otherwise) in &alias.params {
            let ty = match (given.next(), otherwise) {
                (Some(arg), _) => arg.clone(),
                (None, Some(ty)) => self.rty(inside, ty, &known),
                (None, None) => KnownType::Infer,
            };
            known.insert(Name::clone(param), ty);
        }
        self.rty(inside, &alias.ty, &known)
    }

    fn rty(&self, scope: Scope<'_>, ty: &WrittenType, subst: &BTreeMap<Name, KnownType>) -> KnownType {
        let Some(_level) = self.enter() else { return KnownType::Unknown };
        match ty {
            WrittenType::Ref(inner) => KnownType::Ref(Box::new(self.rty(scope, inner, subst))),
            WrittenType::Ptr(inner) => KnownType::Ptr(Box::new(self.rty(scope, inner, subst))),
            WrittenType::Array(inner) => KnownType::Array(Box::new(self.rty(scope, inner, subst))),
            WrittenType::Tuple(parts) => {
                KnownType::Tuple(parts.iter().map(|part| self.rty(scope, part, subst)).collect())
            }
            WrittenType::Infer => KnownType::Infer,
            WrittenType::Other => KnownType::Unknown,
            WrittenType::Path(path) => self.path_ty(scope, path, subst),
        }
    }

    fn path_ty(&self, scope: Scope<'_>, path: &Path, subst: &BTreeMap<Name, KnownType>) -> KnownType {
        if path.qself.is_none()
            && let [only] = path.segs.as_slice()
            && let Some(known) = subst.get(&only.name)
        {
            return known.clone();
        }
        if path.qself.is_some() {
            // An associated type: blind spot B05.
            return KnownType::Unknown;
        }
        let (found, used) = self.walk(scope, &path.segs, path.leading, Namespace::Type);
        let last = path.segs.last();
        let args: Vec<KnownType> = last
            .map(|seg| seg.args.iter().map(|arg| self.rty(scope, arg, subst)).collect())
            .unwrap_or_default();
        if used < path.segs.len() && !matches!(found, NameBinding::Far(_)) {
            return KnownType::Unknown;
        }
        match found {
            NameBinding::Def { .. } | NameBinding::FrameDef { .. } | NameBinding::Ready(_) => {
                self.def(scope, &found, args)
            }
            NameBinding::Far(path) => KnownType::Far { path, args },
            NameBinding::Local
            | NameBinding::Module(_)
            | NameBinding::Value { .. }
            | NameBinding::Variant { .. } => KnownType::Unknown,
            NameBinding::Nothing => match path.segs.as_slice() {
                [only] if &*only.name == "Self" => scope.own.cloned().unwrap_or(KnownType::Unknown),
                [only] if path.leading == PathStart::Name => self.unresolved(scope, &only.name, args),
                _ => KnownType::Far {
                    path: path.segs.iter().map(|seg| Name::clone(&seg.name)).collect(),
                    args,
                },
            },
        }
    }

    /// Takes an unresolved name for the capability type of that name, in packages that can see it.
    fn unresolved(&self, scope: Scope<'_>, name: &Name, args: Vec<KnownType>) -> KnownType {
        match self.inventory.by_name(name) {
            Some(id) if self.world.may_mean(self.world.package_of(scope.module)) => KnownType::Cap(id),
            _ => KnownType::Far { path: vec![Name::clone(name)], args },
        }
    }
}

fn block_table(frame: &Frame) -> Option<&Table> {
    frame.names.as_ref()?.tables.get(frame.table)
}

impl KnownType {
    /// Returns the last name of a type of a crate that is not scanned.
    pub(crate) fn far_name(&self) -> Option<&str> {
        match self {
            Self::Far { path, .. } => path.last().map(|name| &**name),
            _ => None,
        }
    }

    /// Returns the types inside this one: type arguments, tuple parts, elements and pointer targets.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Own { args, .. } | Self::Far { args, .. } | Self::Tuple(args) => args,
            Self::Ref(inner) | Self::Ptr(inner) | Self::Array(inner) => std::slice::from_ref(&**inner),
            Self::Cap(_) | Self::Infer | Self::Unknown => &[],
        }
    }

    /// Returns the types inside this one by value, which excludes pointer targets and `PhantomData`.
    pub(crate) fn owned_parts(&self) -> &[Self] {
        match self {
            Self::Ref(_) | Self::Ptr(_) => &[],
            Self::Far { .. } if self.far_name() == Some("PhantomData") => &[],
            _ => self.parts(),
        }
    }

    /// Returns `true` if the type contains a capability type anywhere, also behind references.
    pub(crate) fn names_a_capability(&self) -> bool {
        matches!(self, Self::Cap(_)) || self.parts().iter().any(Self::names_a_capability)
    }
}
