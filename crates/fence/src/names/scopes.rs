//! The meaning of every name in every module, with all imports followed.

use std::collections::BTreeMap;

use crate::names::collect::TypeDef;
use crate::names::modules::World;
use crate::syntax::written::{Name, PathStart};

/// The meaning of a name. A name has several if they are under different `cfg`s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entity {
    Module(usize),
    Type {
        module: usize,
        name: Name,
    },
    /// A function, constant or static.
    Value {
        module: usize,
        name: Name,
    },
    /// An item of a crate that is not scanned, with its whole path.
    Far(Vec<Name>),
}

/// The namespace in which a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespace {
    Type,
    Value,
    /// Imports bring the names of both.
    Both,
}

type Names = BTreeMap<Name, Vec<Entity>>;

/// The names of each module: its own and imported ones, and those of globs, which have lower precedence.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    named: Vec<Names>,
    globs: Vec<Names>,
}

/// The number of rounds in which imports are followed. Each follows a chain of re-exports one module further at least.
const ROUNDS: usize = 32;
/// The number of meanings of one name. Imports that import each other could make more without end.
const MOST_MEANINGS: usize = 16;
/// The length of a path into a crate that is not scanned, for the same reason.
const MOST_SEGMENTS: usize = 12;

impl Scopes {
    pub(crate) fn read(world: &World<'_>) -> Self {
        let mut scopes = Self::default();
        for (module, info) in world.modules.iter().enumerate() {
            let mut names = Names::new();
            if let (Some(table), false) = (world.table(module), info.test) {
                for name in table.types.keys() {
                    add(&mut names, name, Entity::Type { module, name: Name::clone(name) });
                }
                for name in table.fns.iter().map(|sig| &sig.name).chain(table.constants.keys()) {
                    add(&mut names, name, Entity::Value { module, name: Name::clone(name) });
                }
            }
            for (name, children) in &info.children {
                for child in children {
                    add(&mut names, name, Entity::Module(*child));
                }
            }
            scopes.named.push(names);
            scopes.globs.push(Names::new());
        }
        for _ in 0..ROUNDS {
            if !scopes.follow_imports(world) {
                break;
            }
        }
        // rustc accepts no import of an unknown name, so the name belongs to a crate that is not scanned.
        for (module, names) in scopes.named.iter_mut().enumerate() {
            for one in world.table(module).iter().flat_map(|table| &table.uses) {
                if let Some(alias) = &one.alias {
                    let known = names.entry(Name::clone(alias)).or_default();
                    if known.is_empty() {
                        known.push(Entity::Far(one.path.to_vec()));
                    }
                }
            }
        }
        scopes
    }

    /// Follows every import one step, and returns `true` if a name got a new meaning.
    fn follow_imports(&mut self, world: &World<'_>) -> bool {
        let mut changed = false;
        for (module, info) in world.modules.iter().enumerate() {
            let Some(table) = world.table(module).filter(|_| !info.test) else { continue };
            for one in &table.uses {
                let path: Vec<&Name> = one.path.iter().collect();
                let (mut found, used) = self.walk(world, module, &path, one.leading, Namespace::Both);
                if let Some([variant]) = path.get(used..) {
                    found.retain(|of| variants(world, of).any(|name| name == *variant));
                    found.fill(opaque(variant));
                } else if used < path.len() {
                    found.clear();
                }
                let found: Vec<(Name, Entity)> = match &one.alias {
                    Some(alias) => found.into_iter().map(|entity| (Name::clone(alias), entity)).collect(),
                    None => self.glob(world, found),
                };
                let target = if one.alias.is_some() { &mut self.named } else { &mut self.globs };
                let Some(names) = target.get_mut(module) else { continue };
                for (name, entity) in found {
                    changed |= add(names, &name, entity);
                }
            }
        }
        changed
    }

    /// Returns all names of the modules and enums that a glob means.
    fn glob(&self, world: &World<'_>, found: Vec<Entity>) -> Vec<(Name, Entity)> {
        let mut all = Vec::new();
        for entity in found {
            let Entity::Module(from) = entity else {
                all.extend(variants(world, &entity).map(|name| (Name::clone(name), opaque(name))));
                continue;
            };
            let names = [self.named.get(from), self.globs.get(from)].into_iter().flatten().flatten();
            let each = |(name, list): (&Name, &Vec<Entity>)| {
                list.iter().map(|entity| (Name::clone(name), entity.clone())).collect::<Vec<_>>()
            };
            all.extend(names.flat_map(each));
        }
        all
    }

    /// Follows a path through modules as far as it leads, and returns the number of segments used.
    pub(crate) fn walk(
        &self,
        world: &World<'_>,
        from: usize,
        names: &[&Name],
        leading: PathStart,
        ns: Namespace,
    ) -> (Vec<Entity>, usize) {
        let Some(first) = names.first() else { return (Vec::new(), 0) };
        let wanted = |used: usize| if used == names.len() { ns } else { Namespace::Type };
        let mut used = 1;
        let mut found = match &***first {
            _ if leading == PathStart::Colons => external(world, from, first),
            "crate" | "$crate" => {
                world.krate(from).and_then(|krate| krate.root).map(Entity::Module).into_iter().collect()
            }
            "self" => vec![Entity::Module(world.named(from))],
            "super" => above(world, from),
            _ => self.first(world, from, first, wanted(used)),
        };
        while let Some(next) = names.get(used) {
            if found.iter().any(|one| !matches!(one, Entity::Module(_) | Entity::Far(_))) {
                break;
            }
            let after = used.saturating_add(1);
            let step = |one: Entity| match one {
                Entity::Module(module) if &***next == "super" => above(world, module),
                Entity::Module(module) if &***next == "self" => vec![Entity::Module(module)],
                Entity::Module(module) => self.in_module(module, next, wanted(after)),
                Entity::Far(mut path) => {
                    path.push(Name::clone(next));
                    vec![Entity::Far(path)]
                }
                _ => Vec::new(),
            };
            found = found.into_iter().flat_map(step).collect();
            if found.is_empty() {
                break;
            }
            used = after;
        }
        (found, used)
    }

    /// Looks up the first name of a path in the blocks from the inside out, the module, and other crates.
    fn first(&self, world: &World<'_>, from: usize, name: &Name, ns: Namespace) -> Vec<Entity> {
        let mut at = Some(from);
        while let Some(module) = at {
            let found = self.in_module(module, name, ns);
            if !found.is_empty() {
                return found;
            }
            at = world.modules.get(module).and_then(|info| info.around);
        }
        external(world, from, name)
    }

    fn in_module(&self, module: usize, name: &Name, ns: Namespace) -> Vec<Entity> {
        let scopes = [&self.named, &self.globs].into_iter();
        let lists = scopes.filter_map(|scope| scope.get(module)?.get(name));
        let is_value = |one: &&Entity| matches!(one, Entity::Value { .. });
        let mut found = lists.map(|list| -> Vec<Entity> {
            match ns {
                Namespace::Type => list.iter().filter(|one| !is_value(one)).cloned().collect(),
                // A function hides a tuple struct of the same name from an outer scope.
                Namespace::Value if list.iter().any(|one| is_value(&one)) => {
                    list.iter().filter(is_value).cloned().collect()
                }
                Namespace::Value | Namespace::Both => list.clone(),
            }
        });
        found.find(|list| !list.is_empty()).unwrap_or_default()
    }

    /// Returns all names of all modules with their meanings.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Name, &Entity)> {
        let names = self.named.iter().chain(&self.globs).flatten();
        names.flat_map(|(name, list)| list.iter().map(move |entity| (name, entity)))
    }
}

fn add(names: &mut Names, name: &Name, entity: Entity) -> bool {
    let known = names.entry(Name::clone(name)).or_default();
    let long = matches!(&entity, Entity::Far(path) if path.len() > MOST_SEGMENTS);
    if long || known.len() >= MOST_MEANINGS || known.contains(&entity) {
        return false;
    }
    known.push(entity);
    true
}

fn variants<'w>(world: &'w World<'_>, of: &Entity) -> impl Iterator<Item = &'w Name> {
    let defs = match of {
        Entity::Type { module, name } => world.table(*module).and_then(|table| table.types.get(name)),
        _ => None,
    };
    defs.into_iter().flatten().flat_map(|def| match def {
        TypeDef::Data(variants) => variants.as_slice(),
        _ => &[],
    })
}

/// Returns the meaning of an imported variant, which no rule watches but which hides other items of its name.
fn opaque(variant: &Name) -> Entity {
    Entity::Far(vec![Name::clone(variant)])
}

fn above(world: &World<'_>, module: usize) -> Vec<Entity> {
    let module = world.named(module);
    let parent = world.modules.get(module).and_then(|info| info.parent);
    let root = || world.krate(module).and_then(|krate| krate.root);
    parent.or_else(root).map(Entity::Module).into_iter().collect()
}

/// Resolves the name of another crate: a dependency, the package's own library, or an `extern crate`.
fn external(world: &World<'_>, from: usize, name: &Name) -> Vec<Entity> {
    let externs = world.externs.get(world.package_of(from));
    // An `extern crate` of the root gives a crate another name in all modules.
    let root = world.krate(from).and_then(|krate| world.table(krate.root?));
    let mut uses = root.into_iter().flat_map(|table| &table.uses);
    let renamed = uses.find(|one| {
        one.leading == PathStart::Colons && one.path.len() == 1 && one.alias.as_ref() == Some(name)
    });
    let names = renamed.and_then(|one| one.path.first()).into_iter().chain([name]);
    let found = names.into_iter().find_map(|name| match externs?.get(name) {
        Some(package) => {
            let root = package.and_then(|package| world.lib_root(package));
            Some(root.map_or_else(|| Entity::Far(vec![Name::clone(name)]), Entity::Module))
        }
        None if matches!(&**name, "std" | "core" | "alloc") => Some(Entity::Far(vec![Name::clone(name)])),
        None => None,
    });
    found.into_iter().collect()
}
