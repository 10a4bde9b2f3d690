//! The second pass over one file: a syntax visitor that applies the rules.

mod definitions;
mod items;
mod macros;
mod paths;
mod patterns;
mod race;
mod types;
mod visitor;

use plugward_types::Part;
use proc_macro2::Span;

use crate::LintRule;
use crate::config::{FenceConfig, RaceConfig};
use crate::names::inventory::{Inventory, Watched};
use crate::names::modules::World;
use crate::names::resolve::{KnownType, Meaning, Namespace, Resolution, Resolver, Scope};
use crate::report::{LintFinding, Site};
use crate::rules::source::race::RaceCall;
use crate::syntax::parse;
use crate::syntax::written::{Name, Path, WrittenType};

/// A local variable.
#[derive(Debug, Clone)]
struct Local {
    name: Name,
    ty: KnownType,
    /// The call whose result the variable holds, or that it makes as a closure, if that may report a race.
    race: Option<RaceCall>,
}

/// The enclosing function.
#[derive(Debug, Clone, Copy)]
struct FnContext {
    takes_grant: bool,
    chokepoint: bool,
    test_feature: bool,
}

/// The visitor of one module of one file.
pub(crate) struct Checker<'c> {
    resolver: &'c Resolver<'c>,
    world: &'c World<'c>,
    inventory: &'c Inventory,
    config: &'c FenceConfig,
    /// The package can see a capability crate.
    dependent: bool,
    /// The package is a capability crate.
    capability: bool,
    /// The race type, if the package can see it.
    race: Option<&'c RaceConfig>,
    watched: Vec<&'c Watched>,
    module: usize,
    generics: Vec<Name>,
    owns: Vec<KnownType>,
    /// The enclosing `impl` is one of a trait.
    of_trait: bool,
    items: Vec<String>,
    fns: Vec<FnContext>,
    locals: Vec<Local>,
    /// The index of this function's first local. Those before it belong to an enclosing function.
    floor: usize,
    /// The remaining nesting depth for macro arguments.
    budget: u32,
    out: Vec<LintFinding>,
}

impl<'c> Checker<'c> {
    pub(crate) fn new(resolver: &'c Resolver<'c>, config: &'c FenceConfig, module: usize) -> Self {
        let world = resolver.world;
        let package = world.package_of(module);
        let capability = world.capability.contains(&package);
        let seen = world.reach.get(package);
        let watched = resolver.inventory.watched.iter().filter(|watched| {
            watched.package != package && seen.is_some_and(|seen| seen.contains(&watched.package))
        });
        Self {
            resolver,
            world,
            inventory: resolver.inventory,
            config,
            dependent: world.dependents.contains(&package) && !capability,
            capability,
            race: config.race.as_ref().filter(|_| world.race_dependents.contains(&package)),
            watched: watched.collect(),
            module,
            generics: Vec::new(),
            owns: Vec::new(),
            of_trait: false,
            items: Vec::new(),
            fns: Vec::new(),
            locals: Vec::new(),
            floor: 0,
            budget: crate::syntax::depth::MAX_CHAIN,
            out: Vec::new(),
        }
    }

    /// Visits a tree, and returns the findings.
    pub(crate) fn run(mut self, tree: &syn::File) -> Vec<LintFinding> {
        self.module_items(&tree.items);
        self.out
    }

    fn scope(&self) -> Scope<'_> {
        Scope { generics: &self.generics, own: self.owns.last(), ..Scope::of(self.module) }
    }

    fn resolve(&self, path: &Path, ns: Namespace) -> Resolution {
        self.resolver.resolve(self.scope(), path, ns)
    }

    fn ty(&self, ty: &syn::Type) -> KnownType {
        self.resolver.ty(self.scope(), &WrittenType::of(ty))
    }

    /// Returns the last name of the path that a path resolves to, which an import may have renamed.
    fn last_name(&self, path: &syn::Path) -> String {
        let written = Path::of(path);
        match self.resolve(&written, Namespace::Type).what {
            Meaning::Far(full) => full.last().map_or_else(String::new, ToString::to_string),
            _ => crate::syntax::peel::last_name(path),
        }
    }

    fn item_path(&self) -> String {
        let mut path = self.world.path_text(self.module);
        for item in &self.items {
            path.push_str("::");
            path.push_str(item);
        }
        path
    }

    fn report(
        &mut self,
        rule: LintRule,
        route: &'static str,
        span: Span,
        ty: Option<usize>,
        message: String,
    ) {
        let (line, column) = parse::start(span);
        let (end_line, end_column) = parse::end(span);
        self.out.push(LintFinding {
            rule,
            route,
            ty: ty.map(|id| self.inventory.name(id)),
            site: Site { file: self.world.file_of(self.module), line, column },
            end_line,
            end_column,
            item: self.item_path(),
            message,
        });
    }

    fn local(&self, name: &str) -> Option<&Local> {
        let own = self.locals.part(self.floor..);
        own.iter().rev().find(|local| &*local.name == name)
    }
}
