//! What a path means where it stands.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::collect::{FileTable, Shape, Table, TypeDef, Use};
use crate::inventory::Inventory;
use crate::ty::{Lead, Name, Path, Seg, Ty};
use crate::world::World;

/// A type, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RTy {
    /// A capability type, by its number in the inventory.
    Cap(usize),
    /// Another type of a scanned crate, by file, table and name.
    Own {
        place: PlaceOf,
        args: Vec<Self>,
    },
    /// A type from elsewhere.
    Far {
        path: Vec<Name>,
        args: Vec<Self>,
    },
    Ref(Box<Self>),
    Ptr(Box<Self>),
    Tuple(Vec<Self>),
    Array(Box<Self>),
    /// `_`: whatever the compiler finds.
    Infer,
    Unknown,
}

/// Where a type is defined: file, table in it, name.
pub(crate) type PlaceOf = (usize, usize, Name);

/// Which of a name's meanings is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ns {
    Type,
    Value,
}

/// What a path names, and the number of segments that were used for it.
#[derive(Debug, Clone)]
pub(crate) struct Res {
    pub(crate) what: What,
    pub(crate) used: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Type(RTy),
    /// `<T as Trait>`: the type, and the trait's path as far as it is known.
    Qualified {
        own: RTy,
        of_trait: Vec<Name>,
        args: Vec<RTy>,
    },
    /// A variant that was imported by itself.
    Variant(RTy),
    Module,
    /// A function, constant or static of a scanned crate.
    Value {
        module: usize,
        name: Name,
    },
    /// Something of another crate, with its whole path.
    Far(Vec<Name>),
    Local,
    Nothing,
}

/// Names that a block adds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub(crate) names: Option<Rc<FileTable>>,
    pub(crate) generics: BTreeSet<Name>,
}

/// Where a name is looked up.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) module: usize,
    pub(crate) frames: &'s [Frame],
    pub(crate) own: Option<&'s RTy>,
}

#[derive(Debug, Clone)]
enum Found {
    Def { module: usize, name: Name },
    FrameDef { frame: usize, name: Name },
    Variant { of: Box<Self> },
    Module(usize),
    Value { module: usize, name: Name },
    Far(Vec<Name>),
    Local,
    Nothing,
}

/// Steps that one question may take; past them a name counts as unresolved.
const FUEL: u32 = 20_000;
const DEPTH: u32 = 48;

pub(crate) struct Resolver<'w> {
    pub(crate) world: &'w World<'w>,
    pub(crate) inventory: &'w Inventory,
    known: RefCell<BTreeMap<(usize, Name, Ns), Found>>,
    active: RefCell<BTreeSet<(usize, Name, Ns)>>,
    fuel: Cell<u32>,
}

impl<'w> Resolver<'w> {
    pub(crate) fn new(world: &'w World<'w>, inventory: &'w Inventory) -> Self {
        Self {
            world,
            inventory,
            known: RefCell::default(),
            active: RefCell::default(),
            fuel: Cell::new(FUEL),
        }
    }

    /// Says what a path names.
    pub(crate) fn resolve(&self, scope: Scope<'_>, path: &Path, ns: Ns) -> Res {
        self.fuel.set(FUEL);
        self.active.borrow_mut().clear();
        self.path(scope, path, ns, 0)
    }

    /// Says what a type is.
    pub(crate) fn ty(&self, scope: Scope<'_>, ty: &Ty) -> RTy {
        self.fuel.set(FUEL);
        self.active.borrow_mut().clear();
        self.rty(scope, ty, &BTreeMap::new(), 0)
    }

    fn path(&self, scope: Scope<'_>, path: &Path, ns: Ns, depth: u32) -> Res {
        if let Some((own, position)) = &path.qself {
            let own = self.rty(scope, own, &BTreeMap::new(), depth.saturating_add(1));
            if *position == 0 {
                return Res { what: What::Type(own), used: 0 };
            }
            let segs = path.segs.get(..*position).unwrap_or_default();
            let (found, used) = self.walk(scope, segs, path.leading, Ns::Type, depth);
            let of_trait = match found {
                Found::Far(full) => full,
                Found::Def { name, .. } if used == segs.len() => vec![name],
                _ => segs.iter().map(|seg| Name::clone(&seg.name)).collect(),
            };
            let args = segs.last().map(|seg| self.args(scope, seg, depth)).unwrap_or_default();
            return Res { what: What::Qualified { own, of_trait, args }, used: *position };
        }
        let (found, used) = self.walk(scope, &path.segs, path.leading, ns, depth);
        let seg = used.checked_sub(1).and_then(|at| path.segs.get(at));
        Res { what: self.expand(scope, found, seg, depth), used }
    }

    fn expand(&self, scope: Scope<'_>, found: Found, seg: Option<&Seg>, depth: u32) -> What {
        match found {
            Found::Def { .. } | Found::FrameDef { .. } => {
                let args = seg.map(|seg| self.args(scope, seg, depth)).unwrap_or_default();
                What::Type(self.def(scope, &found, args, depth))
            }
            Found::Variant { of } => What::Variant(self.def(scope, &of, Vec::new(), depth)),
            Found::Module(_) => What::Module,
            Found::Value { module, name } => What::Value { module, name },
            Found::Far(path) => What::Far(path),
            Found::Local => What::Local,
            Found::Nothing => match seg {
                Some(seg) if &*seg.name == "Self" => scope.own.cloned().map_or(What::Nothing, What::Type),
                _ => What::Nothing,
            },
        }
    }

    fn args(&self, scope: Scope<'_>, seg: &Seg, depth: u32) -> Vec<RTy> {
        seg.args.iter().map(|arg| self.rty(scope, arg, &BTreeMap::new(), depth.saturating_add(1))).collect()
    }

    fn def(&self, scope: Scope<'_>, found: &Found, args: Vec<RTy>, depth: u32) -> RTy {
        if depth > DEPTH {
            return RTy::Unknown;
        }
        match found {
            Found::Def { module, name } => {
                let Some(info) = self.world.modules.get(*module) else { return RTy::Unknown };
                let place = (info.file, info.table, Name::clone(name));
                if let Some(id) = self.inventory.at(&place) {
                    return RTy::Cap(id);
                }
                match self.world.table(*module).and_then(|table| table.types.get(name)) {
                    Some(TypeDef::Alias(alias)) => {
                        let inside = Scope { module: *module, frames: &[], own: None };
                        self.rty(inside, &alias.ty, &zip(&alias.params, args), depth.saturating_add(1))
                    }
                    _ => RTy::Own { place, args },
                }
            }
            Found::FrameDef { frame, name } => {
                let frames = scope.frames.get(..=*frame).unwrap_or_default();
                let table = frames.last().and_then(block_table);
                match table.and_then(|table| table.types.get(name)) {
                    Some(TypeDef::Alias(alias)) => {
                        let inside = Scope { frames, ..scope };
                        self.rty(inside, &alias.ty, &zip(&alias.params, args), depth.saturating_add(1))
                    }
                    _ => RTy::Own { place: (usize::MAX, *frame, Name::clone(name)), args },
                }
            }
            _ => RTy::Unknown,
        }
    }

    fn rty(&self, scope: Scope<'_>, ty: &Ty, subst: &BTreeMap<Name, RTy>, depth: u32) -> RTy {
        if depth > DEPTH {
            return RTy::Unknown;
        }
        let deeper = depth.saturating_add(1);
        match ty {
            Ty::Ref(inner) => RTy::Ref(Box::new(self.rty(scope, inner, subst, deeper))),
            Ty::Ptr(inner) => RTy::Ptr(Box::new(self.rty(scope, inner, subst, deeper))),
            Ty::Array(inner) => RTy::Array(Box::new(self.rty(scope, inner, subst, deeper))),
            Ty::Tuple(parts) => {
                RTy::Tuple(parts.iter().map(|part| self.rty(scope, part, subst, deeper)).collect())
            }
            Ty::Infer => RTy::Infer,
            Ty::Other => RTy::Unknown,
            Ty::Path(path) => self.path_ty(scope, path, subst, depth),
        }
    }

    fn path_ty(&self, scope: Scope<'_>, path: &Path, subst: &BTreeMap<Name, RTy>, depth: u32) -> RTy {
        let deeper = depth.saturating_add(1);
        if path.qself.is_none()
            && let [only] = path.segs.as_slice()
            && let Some(known) = subst.get(&only.name)
        {
            return known.clone();
        }
        if path.qself.is_some() {
            // An associated type: blind spot B05.
            return RTy::Unknown;
        }
        let (found, used) = self.walk(scope, &path.segs, path.leading, Ns::Type, depth);
        let last = path.segs.last();
        let args: Vec<RTy> = last
            .map(|seg| seg.args.iter().map(|arg| self.rty(scope, arg, subst, deeper)).collect())
            .unwrap_or_default();
        if used < path.segs.len() && !matches!(found, Found::Far(_)) {
            return RTy::Unknown;
        }
        match found {
            Found::Def { .. } | Found::FrameDef { .. } => self.def(scope, &found, args, depth),
            Found::Far(path) => RTy::Far { path, args },
            Found::Local | Found::Module(_) | Found::Value { .. } | Found::Variant { .. } => RTy::Unknown,
            Found::Nothing => match path.segs.as_slice() {
                [only] if &*only.name == "Self" => scope.own.cloned().unwrap_or(RTy::Unknown),
                [only] if path.leading == Lead::Name => self.unresolved(scope, &only.name, args),
                _ => RTy::Far { path: path.segs.iter().map(|seg| Name::clone(&seg.name)).collect(), args },
            },
        }
    }

    /// A name that nothing resolves counts as the capability type of that name, in a dependent.
    fn unresolved(&self, scope: Scope<'_>, name: &Name, args: Vec<RTy>) -> RTy {
        let package = self.world.package_of(scope.module);
        let sees = self.world.dependents.contains(&package) || self.world.capability.contains(&package);
        match self.inventory.by_name(name) {
            Some(id) if sees => RTy::Cap(id),
            _ => RTy::Far { path: vec![Name::clone(name)], args },
        }
    }

    /// Follows a path as far as modules and types go.
    fn walk(&self, scope: Scope<'_>, segs: &[Seg], leading: Lead, ns: Ns, depth: u32) -> (Found, usize) {
        let names: Vec<&Name> = segs.iter().map(|seg| &seg.name).collect();
        self.names(scope, &names, leading, ns, depth)
    }

    fn names(&self, scope: Scope<'_>, names: &[&Name], leading: Lead, ns: Ns, depth: u32) -> (Found, usize) {
        let Some(first) = names.first() else { return (Found::Nothing, 0) };
        if depth > DEPTH || !self.burn() {
            return (Found::Nothing, 0);
        }
        let single = names.len() == 1;
        let wanted = if single { ns } else { Ns::Type };
        let mut used = 1;
        let mut found = match &***first {
            _ if leading == Lead::Colons => self.external(scope.module, first, leading),
            "crate" | "$crate" => self.root(scope.module),
            "self" => Found::Module(scope.module),
            "super" => self.above(scope.module),
            "Self" => return (Found::Nothing, 1),
            _ => self.first(scope, first, wanted, depth),
        };
        if matches!(found, Found::Nothing) && single {
            let package = self.world.package_of(scope.module);
            let sees = self.world.dependents.contains(&package) || self.world.capability.contains(&package);
            if sees
                && leading == Lead::Name
                && let Some((module, name)) = self.inventory.home_of(first)
            {
                return (Found::Def { module, name }, 1);
            }
        }
        while let Some(next) = names.get(used) {
            let last = used.saturating_add(1) == names.len();
            let wanted = if last { ns } else { Ns::Type };
            found = match found {
                Found::Module(module) if &***next == "super" => self.above(module),
                Found::Module(module) if &***next == "self" => Found::Module(module),
                Found::Module(module) => self.in_module(module, next, wanted, depth.saturating_add(1)),
                Found::Far(mut path) => {
                    path.push(Name::clone(next));
                    Found::Far(path)
                }
                other => return (other, used),
            };
            used = used.saturating_add(1);
        }
        (found, used)
    }

    fn burn(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    fn root(&self, module: usize) -> Found {
        let krate = self.world.modules.get(module).map(|module| module.krate);
        match krate.and_then(|krate| self.world.krates.get(krate)) {
            Some(krate) if krate.root != usize::MAX => Found::Module(krate.root),
            _ => Found::Nothing,
        }
    }

    fn above(&self, module: usize) -> Found {
        self.world
            .modules
            .get(module)
            .and_then(|module| module.parent)
            .map_or_else(|| self.root(module), Found::Module)
    }

    /// The first name of a path: blocks from the inside out, the module, then other crates.
    fn first(&self, scope: Scope<'_>, name: &Name, ns: Ns, depth: u32) -> Found {
        for (index, frame) in scope.frames.iter().enumerate().rev() {
            match self.in_frame(scope, index, frame, name, ns, depth) {
                Found::Nothing => {}
                found => return found,
            }
        }
        match self.in_module(scope.module, name, ns, depth.saturating_add(1)) {
            Found::Nothing => self.external(scope.module, name, Lead::Name),
            found => found,
        }
    }

    fn in_frame(
        &self,
        scope: Scope<'_>,
        index: usize,
        frame: &Frame,
        name: &Name,
        ns: Ns,
        depth: u32,
    ) -> Found {
        if frame.generics.contains(name) {
            return Found::Local;
        }
        let Some(table) = block_table(frame) else { return Found::Nothing };
        if ns == Ns::Value && table.values.contains(name) {
            return Found::Local;
        }
        if table.types.contains_key(name) {
            return Found::FrameDef { frame: index, name: Name::clone(name) };
        }
        if !self.burn() || depth > DEPTH {
            return Found::Nothing;
        }
        // An import in a block sees what stands around it, and not itself.
        let outside = Scope { frames: scope.frames.get(..index).unwrap_or_default(), ..scope };
        let whole = Scope { frames: scope.frames.get(..=index).unwrap_or_default(), ..scope };
        for one in &table.uses {
            if one.alias.as_ref() == Some(name) {
                let inside = if one.path.first() == Some(name) { outside } else { whole };
                return self.import(inside, one, ns, depth.saturating_add(1));
            }
        }
        for one in table.uses.iter().filter(|one| one.alias.is_none()) {
            match self.glob(outside, one, name, ns, depth.saturating_add(1)) {
                Found::Nothing => {}
                found => return found,
            }
        }
        Found::Nothing
    }

    fn import(&self, scope: Scope<'_>, one: &Use, ns: Ns, depth: u32) -> Found {
        let names: Vec<&Name> = one.path.iter().collect();
        let (found, used) = self.import_names(scope, &names, one.leading, ns, depth);
        match names.get(used) {
            None => found,
            Some(_) if used.saturating_add(1) == names.len() => match found {
                Found::Def { .. } | Found::FrameDef { .. } => Found::Variant { of: Box::new(found) },
                _ => Found::Far(one.path.to_vec()),
            },
            Some(_) => Found::Far(one.path.to_vec()),
        }
    }

    /// In the 2015 edition, imports start at the crate's root.
    fn import_names(
        &self,
        scope: Scope<'_>,
        names: &[&Name],
        leading: Lead,
        ns: Ns,
        depth: u32,
    ) -> (Found, usize) {
        let package = self.world.package(self.world.package_of(scope.module));
        if package.is_some_and(|package| package.edition_2015)
            && let Found::Module(root) = self.root(scope.module)
        {
            let at_root = Scope { module: root, frames: &[], own: None };
            return self.names(at_root, names, Lead::Name, ns, depth);
        }
        // A single name in `use` is never the unresolved kind.
        match self.names(scope, names, leading, ns, depth) {
            (Found::Nothing, _) => {
                (Found::Far(names.iter().map(|name| Name::clone(name)).collect()), names.len())
            }
            found => found,
        }
    }

    fn glob(&self, scope: Scope<'_>, one: &Use, name: &Name, ns: Ns, depth: u32) -> Found {
        let names: Vec<&Name> = one.path.iter().collect();
        let target = if names.is_empty() && one.leading == Lead::Colons {
            return Found::Nothing;
        } else if names.is_empty() {
            self.root(scope.module)
        } else {
            let (found, used) = self.import_names(scope, &names, one.leading, Ns::Type, depth);
            if used < names.len() { Found::Nothing } else { found }
        };
        match target {
            Found::Module(module) => self.in_module(module, name, ns, depth.saturating_add(1)),
            Found::Def { .. } | Found::FrameDef { .. } => {
                let has = self
                    .variants(scope, &target)
                    .is_some_and(|variants| variants.iter().any(|(known, _)| known == name));
                if has { Found::Variant { of: Box::new(target) } } else { Found::Nothing }
            }
            _ => Found::Nothing,
        }
    }

    fn variants<'s>(&'s self, scope: Scope<'s>, of: &Found) -> Option<&'s [(Name, Shape)]> {
        let table = match of {
            Found::Def { module, .. } => self.world.table(*module)?,
            Found::FrameDef { frame, .. } => scope.frames.get(*frame).and_then(block_table)?,
            _ => return None,
        };
        let (Found::Def { name, .. } | Found::FrameDef { name, .. }) = of else { return None };
        match table.types.get(name)? {
            TypeDef::Enum(variants) => Some(variants),
            _ => None,
        }
    }

    fn in_module(&self, module: usize, name: &Name, ns: Ns, depth: u32) -> Found {
        let key = (module, Name::clone(name), ns);
        if let Some(found) = self.known.borrow().get(&key) {
            return found.clone();
        }
        if depth > DEPTH || !self.burn() || !self.active.borrow_mut().insert(key.clone()) {
            return Found::Nothing;
        }
        let found = self.search(module, name, ns, depth);
        self.active.borrow_mut().remove(&key);
        if !matches!(found, Found::Nothing) || self.active.borrow().is_empty() {
            self.known.borrow_mut().insert(key, found.clone());
        }
        found
    }

    fn search(&self, module: usize, name: &Name, ns: Ns, depth: u32) -> Found {
        let Some(table) = self.world.table(module) else { return Found::Nothing };
        let value = ns == Ns::Value && table.values.contains(name);
        if value {
            return Found::Value { module, name: Name::clone(name) };
        }
        if table.types.contains_key(name) {
            return Found::Def { module, name: Name::clone(name) };
        }
        let info = self.world.modules.get(module);
        if let Some(child) = info.and_then(|info| info.children.get(name)).and_then(|list| list.first()) {
            return Found::Module(*child);
        }
        let scope = Scope { module, frames: &[], own: None };
        let mut far = Found::Nothing;
        for one in table.uses.iter().filter(|one| one.alias.as_ref() == Some(name)) {
            match self.import(scope, one, ns, depth.saturating_add(1)) {
                Found::Nothing => {}
                found @ Found::Far(_) => far = found,
                found => return found,
            }
        }
        if !matches!(far, Found::Nothing) {
            return far;
        }
        for merged in info.map(|info| info.merged.as_slice()).unwrap_or_default() {
            match self.in_module(*merged, name, ns, depth.saturating_add(1)) {
                Found::Nothing => {}
                found => return found,
            }
        }
        for one in table.uses.iter().filter(|one| one.alias.is_none()) {
            match self.glob(scope, one, name, ns, depth.saturating_add(1)) {
                Found::Nothing => {}
                found => return found,
            }
        }
        Found::Nothing
    }

    /// Another crate's name: `extern crate`, dependencies, the package's own library.
    fn external(&self, module: usize, name: &Name, leading: Lead) -> Found {
        let package = self.world.package_of(module);
        if let Found::Module(root) = self.root(module)
            && let Some(table) = self.world.table(root)
        {
            let renamed = table.uses.iter().find(|one| {
                one.leading == Lead::Colons
                    && one.path.len() == 1
                    && one.alias.as_ref() == Some(name)
                    && one.path.first() != Some(name)
            });
            if let Some(target) = renamed.and_then(|one| one.path.first()) {
                return self.external(module, target, Lead::Colons);
            }
            if leading == Lead::Colons
                && self.world.package(package).is_some_and(|package| package.edition_2015)
            {
                let found = self.in_module(root, name, Ns::Type, 1);
                if !matches!(found, Found::Nothing) {
                    return found;
                }
            }
        }
        match self.world.externs.get(package).and_then(|externs| externs.get(name)) {
            Some(Some(other)) => {
                let lib = self.world.libs.get(other).and_then(|krate| self.world.krates.get(*krate));
                match lib {
                    Some(krate) if krate.root != usize::MAX => Found::Module(krate.root),
                    _ => Found::Far(vec![Name::clone(name)]),
                }
            }
            Some(None) => Found::Far(vec![Name::clone(name)]),
            None if matches!(&**name, "std" | "core" | "alloc") => Found::Far(vec![Name::clone(name)]),
            None => Found::Nothing,
        }
    }
}

fn block_table(frame: &Frame) -> Option<&Table> {
    frame.names.as_ref()?.tables.first()
}

fn zip(params: &[Name], args: Vec<RTy>) -> BTreeMap<Name, RTy> {
    let mut args = args.into_iter();
    params.iter().map(|param| (Name::clone(param), args.next().unwrap_or(RTy::Infer))).collect()
}

impl RTy {
    /// Gives the last name of a type from elsewhere.
    pub(crate) fn far_name(&self) -> Option<&str> {
        match self {
            Self::Far { path, .. } => path.last().map(|name| &**name),
            _ => None,
        }
    }
}
