//! Name lookup: enclosing blocks first, then the module with its imports and globs, then other crates.

use crate::names::collect::{Import, Shape, Table, TypeDef};
use crate::names::resolve::{Frame, FrameKind, NameBinding, Namespace, Resolver, Scope, block_table};
use crate::syntax::written::{Name, PathStart, Segment};

/// The recursion limit of one lookup. Import cycles and generated code would otherwise exhaust the stack.
pub(super) const DEPTH: u32 = 160;

impl Resolver<'_> {
    /// Follows a path through modules as far as it leads, and returns the number of segments used.
    pub(super) fn walk(
        &self,
        scope: Scope<'_>,
        segs: &[Segment],
        leading: PathStart,
        ns: Namespace,
    ) -> (NameBinding, usize) {
        let names: Vec<&Name> = segs.iter().map(|seg| &seg.name).collect();
        self.names(scope, &names, leading, ns)
    }

    fn names(
        &self,
        scope: Scope<'_>,
        names: &[&Name],
        leading: PathStart,
        ns: Namespace,
    ) -> (NameBinding, usize) {
        let Some(first) = names.first() else { return (NameBinding::Nothing, 0) };
        let Some(_level) = self.enter().filter(|_| self.burn()) else { return (NameBinding::Nothing, 0) };
        if leading == PathStart::Name
            && let Some(inside) = self.in_block_module(scope, names, ns)
        {
            return inside;
        }
        let single = names.len() == 1;
        let wanted = if single { ns } else { Namespace::Type };
        // Each module of a block that encloses the scope takes one `super`.
        let walls = scope.frames.iter().filter(|frame| frame.of == FrameKind::Module).count();
        let mut used = 1;
        let mut found = match &***first {
            _ if leading == PathStart::Colons => self.external(scope.module, first, leading),
            "crate" | "$crate" => self.root(scope.module),
            "self" => NameBinding::Module(scope.module),
            // For path lookup, a module in a block is inside the module that contains the block.
            "super" if walls > 0 => {
                used = walls;
                NameBinding::Module(scope.module)
            }
            "super" => self.above(scope.module),
            "Self" => return (NameBinding::Nothing, 1),
            _ => self.first(scope, first, wanted),
        };
        if matches!(found, NameBinding::Nothing)
            && single
            && self.world.may_mean(self.world.package_of(scope.module))
            && leading == PathStart::Name
            && let Some((module, name)) = self.inventory.home_of(first)
        {
            return (NameBinding::Def { module, name }, 1);
        }
        while let Some(next) = names.get(used) {
            let last = used.saturating_add(1) == names.len();
            let wanted = if last { ns } else { Namespace::Type };
            found = match found {
                NameBinding::Module(module) if &***next == "super" => self.above(module),
                NameBinding::Module(module) if &***next == "self" => NameBinding::Module(module),
                NameBinding::Module(module) => self.in_module(module, next, wanted),
                NameBinding::Far(mut path) => {
                    path.push(Name::clone(next));
                    NameBinding::Far(path)
                }
                other => return (other, used),
            };
            used = used.saturating_add(1);
        }
        (found, used)
    }

    /// Resolves a path that starts with `self` in a module of a block, or with the name of such a module.
    fn in_block_module(
        &self,
        scope: Scope<'_>,
        names: &[&Name],
        ns: Namespace,
    ) -> Option<(NameBinding, usize)> {
        let [first, rest @ ..] = names else { return None };
        if rest.is_empty() || scope.frames.is_empty() {
            return None;
        }
        let supers = names.iter().take_while(|name| &****name == "super").count();
        if supers > 0 {
            return self.above_in_block(scope, names, supers, ns);
        }
        let frames = scope.frames.iter().enumerate().rev().find_map(|(index, frame)| {
            let here = scope.frames.get(..=index)?;
            if &***first == "self" && frame.of == FrameKind::Module {
                return Some(here.to_vec());
            }
            let table = block_table(frame)?.mods.iter().find(|one| one.name == **first)?.inline?;
            let of = FrameKind::Module;
            let module = Frame { table, of, names: frame.names.clone(), ..Frame::default() };
            Some([here, &[module]].concat())
        })?;
        let (found, used) = self.in_frames(scope, &frames, rest, ns);
        Some((found, used.saturating_add(1)))
    }

    /// Resolves `super` from a module of a block to the enclosing module of the same block.
    fn above_in_block(
        &self,
        scope: Scope<'_>,
        names: &[&Name],
        supers: usize,
        ns: Namespace,
    ) -> Option<(NameBinding, usize)> {
        let modules: Vec<usize> = scope
            .frames
            .iter()
            .enumerate()
            .filter(|(_, frame)| frame.of == FrameKind::Module)
            .map(|(index, _)| index)
            .collect();
        let at = modules.get(modules.len().checked_sub(supers.checked_add(1)?)?)?;
        let frames = scope.frames.get(..=*at)?.to_vec();
        let rest = names.get(supers..).filter(|rest| !rest.is_empty())?;
        let (found, used) = self.in_frames(scope, &frames, rest, ns);
        Some((found, used.saturating_add(supers)))
    }

    fn in_frames(
        &self,
        scope: Scope<'_>,
        frames: &[Frame],
        rest: &[&Name],
        ns: Namespace,
    ) -> (NameBinding, usize) {
        let inside = Scope { frames, ..scope };
        let (found, used) = self.names(inside, rest, PathStart::Name, ns);
        // A frame index is only valid with these frames, so the definition is resolved before returning.
        let found = match found {
            NameBinding::FrameDef { .. } => NameBinding::Ready(self.def(inside, &found, Vec::new())),
            NameBinding::Variant { of } => {
                NameBinding::Variant { of: Box::new(NameBinding::Ready(self.def(inside, &of, Vec::new()))) }
            }
            other => other,
        };
        (found, used)
    }

    /// Chooses between definitions under different `cfg`s: a capability first, else the first definition.
    fn weigh(&self, scope: Scope<'_>, mut found: Vec<NameBinding>) -> NameBinding {
        if found.len() > 1 {
            let cap = found.iter().position(|one| match one {
                NameBinding::Def { .. } | NameBinding::FrameDef { .. } => {
                    self.def(scope, one, Vec::new()).names_a_capability()
                }
                NameBinding::Variant { of } => self.def(scope, of, Vec::new()).names_a_capability(),
                _ => false,
            });
            // A definition in the workspace says more than the name of a crate that is not scanned.
            let near = || found.iter().position(|one| !matches!(one, NameBinding::Far(_)));
            if let Some(at) = cap.or_else(near) {
                return found.swap_remove(at);
            }
        }
        found.into_iter().next().unwrap_or(NameBinding::Nothing)
    }

    fn burn(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    fn root(&self, module: usize) -> NameBinding {
        let krate = self.world.modules.get(module).map(|module| module.krate);
        match krate.and_then(|krate| self.world.krates.get(krate)) {
            Some(krate) if krate.root != usize::MAX => NameBinding::Module(krate.root),
            _ => NameBinding::Nothing,
        }
    }

    fn above(&self, module: usize) -> NameBinding {
        self.world
            .modules
            .get(module)
            .and_then(|module| module.parent)
            .map_or_else(|| self.root(module), NameBinding::Module)
    }

    /// Looks up the first name of a path in the blocks from the inside out, the module, and other crates.
    fn first(&self, scope: Scope<'_>, name: &Name, ns: Namespace) -> NameBinding {
        let frames = scope.frames.iter().enumerate().rev();
        frames
            .map(|(index, frame)| self.in_frame(scope, index, frame, name, ns))
            .find_map(NameBinding::known)
            .or_else(|| self.in_module(scope.module, name, ns).known())
            .unwrap_or_else(|| self.external(scope.module, name, PathStart::Name))
    }

    fn in_frame(
        &self,
        scope: Scope<'_>,
        index: usize,
        frame: &Frame,
        name: &Name,
        ns: Namespace,
    ) -> NameBinding {
        if frame.generics.contains(name) {
            return NameBinding::Local;
        }
        let Some(table) = block_table(frame) else { return NameBinding::Nothing };
        if ns == Namespace::Value && table.values.contains(name) {
            return NameBinding::Local;
        }
        let mut found = Vec::new();
        if table.types.contains_key(name) {
            found.push(NameBinding::FrameDef { frame: index, name: Name::clone(name) });
        }
        if !self.burn() {
            return NameBinding::Nothing;
        }
        // An import in a block sees the enclosing scopes, but not itself.
        let outside = Scope { frames: scope.frames.get(..index).unwrap_or_default(), ..scope };
        let whole = Scope { frames: scope.frames.get(..=index).unwrap_or_default(), ..scope };
        for one in &table.uses {
            if one.alias.as_ref() == Some(name) {
                let inside = if one.path.first() == Some(name) { outside } else { whole };
                found.push(self.import(inside, one, ns));
            }
        }
        if found.is_empty() { self.in_globs(outside, table, name, ns) } else { self.weigh(scope, found) }
    }

    fn in_globs(&self, scope: Scope<'_>, table: &Table, name: &Name, ns: Namespace) -> NameBinding {
        let globs = table.uses.iter().filter(|one| one.alias.is_none());
        let found = globs.map(|one| self.glob(scope, one, name, ns)).find_map(NameBinding::known);
        found.unwrap_or(NameBinding::Nothing)
    }

    fn import(&self, scope: Scope<'_>, one: &Import, ns: Namespace) -> NameBinding {
        let names: Vec<&Name> = one.path.iter().collect();
        let (found, used) = self.import_names(scope, &names, one.leading, ns);
        match names.get(used) {
            None => found,
            Some(_) if used.saturating_add(1) == names.len() => match found {
                NameBinding::Def { .. } | NameBinding::FrameDef { .. } => {
                    NameBinding::Variant { of: Box::new(found) }
                }
                _ => NameBinding::Far(one.path.to_vec()),
            },
            Some(_) => NameBinding::Far(one.path.to_vec()),
        }
    }

    /// Resolves the path of an import, which starts at the crate root in the 2015 edition.
    fn import_names(
        &self,
        scope: Scope<'_>,
        names: &[&Name],
        leading: PathStart,
        ns: Namespace,
    ) -> (NameBinding, usize) {
        let package = self.world.package(self.world.package_of(scope.module));
        if package.is_some_and(|package| package.edition_2015)
            && let NameBinding::Module(root) = self.root(scope.module)
        {
            let at_root = Scope { module: root, frames: &[], own: None };
            return self.names(at_root, names, PathStart::Name, ns);
        }
        // rustc accepts no import of an unknown name, so the name belongs to another crate.
        match self.names(scope, names, leading, ns) {
            (NameBinding::Nothing, _) => {
                (NameBinding::Far(names.iter().map(|name| Name::clone(name)).collect()), names.len())
            }
            found => found,
        }
    }

    fn glob(&self, scope: Scope<'_>, one: &Import, name: &Name, ns: Namespace) -> NameBinding {
        let names: Vec<&Name> = one.path.iter().collect();
        let target = if names.is_empty() && one.leading == PathStart::Colons {
            return NameBinding::Nothing;
        } else if names.is_empty() {
            self.root(scope.module)
        } else {
            let (found, used) = self.import_names(scope, &names, one.leading, Namespace::Type);
            if used < names.len() { NameBinding::Nothing } else { found }
        };
        match target {
            NameBinding::Module(module) => self.in_module(module, name, ns),
            NameBinding::Def { .. } | NameBinding::FrameDef { .. } => {
                let has = self
                    .variants(scope, &target)
                    .is_some_and(|variants| variants.iter().any(|(known, _)| known == name));
                if has { NameBinding::Variant { of: Box::new(target) } } else { NameBinding::Nothing }
            }
            _ => NameBinding::Nothing,
        }
    }

    fn variants<'s>(&'s self, scope: Scope<'s>, of: &NameBinding) -> Option<&'s [(Name, Shape)]> {
        let table = match of {
            NameBinding::Def { module, .. } => self.world.table(*module)?,
            NameBinding::FrameDef { frame, .. } => scope.frames.get(*frame).and_then(block_table)?,
            _ => return None,
        };
        let (NameBinding::Def { name, .. } | NameBinding::FrameDef { name, .. }) = of else { return None };
        match table.types.get(name)? {
            TypeDef::Enum(variants) => Some(variants),
            _ => None,
        }
    }

    fn in_module(&self, module: usize, name: &Name, ns: Namespace) -> NameBinding {
        let key = (module, Name::clone(name), ns);
        if let Some(found) = self.known.borrow().get(&key) {
            return found.clone();
        }
        let Some(_level) = self.enter().filter(|_| self.burn()) else { return NameBinding::Nothing };
        // Two globs that import each other would look the name up without end.
        if !self.active.borrow_mut().insert(key.clone()) {
            return NameBinding::Nothing;
        }
        let found = self.search(module, name, ns);
        self.active.borrow_mut().remove(&key);
        // Inside a cycle of imports `Nothing` only means that this way around failed. It is cached for the
        // outermost lookup alone.
        if !matches!(found, NameBinding::Nothing) || self.active.borrow().is_empty() {
            self.known.borrow_mut().insert(key, found.clone());
        }
        found
    }

    fn search(&self, module: usize, name: &Name, ns: Namespace) -> NameBinding {
        let Some(table) = self.world.table(module) else { return NameBinding::Nothing };
        let value = ns == Namespace::Value && table.values.contains(name);
        if value {
            return NameBinding::Value { module, name: Name::clone(name) };
        }
        let mut found = Vec::new();
        if table.types.contains_key(name) {
            found.push(NameBinding::Def { module, name: Name::clone(name) });
        }
        let info = self.world.modules.get(module);
        let children = info.and_then(|info| info.children.get(name)).and_then(|list| list.first());
        found.extend(children.map(|child| NameBinding::Module(*child)));
        let scope = Scope { module, frames: &[], own: None };
        for one in table.uses.iter().filter(|one| one.alias.as_ref() == Some(name)) {
            found.extend(self.import(scope, one, ns).known());
        }
        for merged in info.map(|info| info.merged.as_slice()).unwrap_or_default() {
            found.extend(self.in_module(*merged, name, ns).known());
        }
        if found.is_empty() { self.in_globs(scope, table, name, ns) } else { self.weigh(scope, found) }
    }

    /// Resolves the name of another crate: `extern crate`, a dependency, or the package's own library.
    fn external(&self, module: usize, name: &Name, leading: PathStart) -> NameBinding {
        let package = self.world.package_of(module);
        if let NameBinding::Module(root) = self.root(module)
            && let Some(table) = self.world.table(root)
        {
            let renamed = table.uses.iter().find(|one| {
                one.leading == PathStart::Colons
                    && one.path.len() == 1
                    && one.alias.as_ref() == Some(name)
                    && one.path.first() != Some(name)
            });
            if let Some(target) = renamed.and_then(|one| one.path.first()) {
                return self.external(module, target, PathStart::Colons);
            }
            if leading == PathStart::Colons
                && self.world.package(package).is_some_and(|package| package.edition_2015)
            {
                let found = self.in_module(root, name, Namespace::Type);
                if !matches!(found, NameBinding::Nothing) {
                    return found;
                }
            }
        }
        match self.world.externs.get(package).and_then(|externs| externs.get(name)) {
            Some(Some(other)) => {
                let lib = self.world.libs.get(other).and_then(|krate| self.world.krates.get(*krate));
                match lib {
                    Some(krate) if krate.root != usize::MAX => NameBinding::Module(krate.root),
                    _ => NameBinding::Far(vec![Name::clone(name)]),
                }
            }
            Some(None) => NameBinding::Far(vec![Name::clone(name)]),
            None if matches!(&**name, "std" | "core" | "alloc") => NameBinding::Far(vec![Name::clone(name)]),
            None => NameBinding::Nothing,
        }
    }
}
