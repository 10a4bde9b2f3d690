//! The second pass over one file: a syntax visitor that applies the rules.

mod construct;
mod definitions;
mod derives;
mod items;
mod macros;
mod race;
mod types;
mod visitor;

use proc_macro2::Span;
use std::rc::Rc;

use crate::LintRule;
use crate::config::FenceConfig;
use crate::names::collect::{self, CollectOptions, NameInterner};
use crate::names::inventory::{Inventory, Watched};
use crate::names::modules::World;
use crate::names::resolve::{Frame, KnownType, Namespace, Resolution, Resolver, Scope};
use crate::report::{LintFinding, Site};
use crate::rules::DisabledRules;
use crate::syntax::written::{Name, Path, Segment, WrittenType};
use crate::syntax::{cfg, parse};

/// The rules that apply to the package of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a set of rules, and any of them may apply together"
)]
pub(crate) struct AppliedRules {
    /// Rules F01 to F08: a dependent outside the capability crates.
    pub(crate) dependent: bool,
    /// Rules F09 and F10.
    pub(crate) capability: bool,
    /// Rule E01.
    pub(crate) race: bool,
    /// Rule F05 alone, for macros that a dependent can call.
    pub(crate) macros: bool,
}

/// A local variable.
#[derive(Debug, Clone)]
struct Local {
    name: Name,
    ty: KnownType,
    /// The call whose result the variable holds, if it may report a race.
    race: Option<race::RaceCall>,
    /// The call that the variable, a closure, returns the result of.
    gives: Option<race::RaceCall>,
}

/// The enclosing function.
#[derive(Debug, Clone)]
struct FnContext {
    output: KnownType,
    takes_grant: bool,
    chokepoint: bool,
    test_feature: bool,
}

/// The visitor of one module of one file.
pub(crate) struct Checker<'c> {
    pub(crate) resolver: &'c Resolver<'c>,
    world: &'c World<'c>,
    inventory: &'c Inventory,
    pub(crate) config: &'c FenceConfig,
    pub(crate) macros: &'c crate::names::macro_index::MacroIndex,
    off: DisabledRules,
    applies: AppliedRules,
    watched: Vec<&'c Watched>,
    module: usize,
    frames: Vec<Frame>,
    owns: Vec<KnownType>,
    items: Vec<String>,
    fns: Vec<FnContext>,
    locals: Vec<Local>,
    /// The index of this function's first local. Those before it belong to an enclosing function.
    floor: usize,
    /// Greater than zero in the initializer of a binding whose written type contains no capability.
    other_type: u32,
    /// The remaining nesting depth for macro arguments.
    budget: u32,
    route: Option<&'static str>,
    /// The type of the first argument of the next closure.
    closure_input: KnownType,
    /// `true` in the body of a `macro_rules!`, in which other findings become F05.
    in_rules: bool,
    names: NameInterner,
    out: Vec<LintFinding>,
    pub(crate) grants: Vec<LintFinding>,
}

impl<'c> Checker<'c> {
    pub(crate) fn new(
        resolver: &'c Resolver<'c>,
        config: &'c FenceConfig,
        macros: &'c crate::names::macro_index::MacroIndex,
        off: DisabledRules,
        module: usize,
    ) -> Self {
        let world = resolver.world;
        let package = world.package_of(module);
        let capability = world.capability.contains(&package);
        let applies = AppliedRules {
            dependent: world.dependents.contains(&package) && !capability,
            capability,
            race: world.race_dependents.contains(&package),
            macros: world.suppliers.contains(&package),
        };
        let watched = resolver
            .inventory
            .watched
            .iter()
            .filter(|watched| {
                watched.package != package && crate::input::members::sees(world, package, watched.package)
            })
            .collect();
        Self {
            resolver,
            world,
            inventory: resolver.inventory,
            config,
            macros,
            off,
            applies,
            watched,
            module,
            frames: Vec::new(),
            owns: Vec::new(),
            items: Vec::new(),
            fns: Vec::new(),
            locals: Vec::new(),
            floor: 0,
            other_type: 0,
            budget: crate::syntax::depth::MAX_CHAIN,
            route: None,
            closure_input: KnownType::Unknown,
            in_rules: false,
            names: NameInterner::default(),
            out: Vec::new(),
            grants: Vec::new(),
        }
    }

    /// Visits a tree, and returns the findings and the literals of the grant type.
    pub(crate) fn run(mut self, tree: &parse::Tree) -> (Vec<LintFinding>, Vec<LintFinding>) {
        match tree {
            parse::Tree::Items(file) => {
                for attr in &file.attrs {
                    self.attribute(attr);
                }
                self.module_items(&file.items);
            }
            parse::Tree::Statements(list) => {
                self.block_frame(list);
                for stmt in list {
                    syn::visit::Visit::visit_stmt(&mut self, stmt);
                }
            }
        }
        (self.out, self.grants)
    }

    /// Opens a frame with the names that a block defines.
    fn block_frame(&mut self, stmts: &[syn::Stmt]) {
        let keep = CollectOptions { fields: true, ..CollectOptions::default() };
        let table = collect::block(stmts, keep, &mut self.names);
        self.frames.push(Frame { names: Some(Rc::new(table)), ..Frame::default() });
    }

    fn resolve(&self, path: &Path, ns: Namespace) -> Resolution {
        self.resolver.resolve(self.scope(), path, ns)
    }

    fn scope(&self) -> Scope<'_> {
        Scope { module: self.module, frames: &self.frames, own: self.owns.last() }
    }

    fn ty(&self, ty: &syn::Type) -> KnownType {
        self.resolver.ty(self.scope(), &WrittenType::of(ty))
    }

    fn item_path(&self) -> String {
        let mut path = self.world.path_text(self.module);
        for item in &self.items {
            path.push_str("::");
            path.push_str(item);
        }
        path
    }

    /// Records a finding, unless its rule is disabled.
    fn report(
        &mut self,
        rule: LintRule,
        route: &'static str,
        span: Span,
        ty: Option<usize>,
        message: String,
    ) {
        // In a macro body the finding is about what every expansion does, which is rule F05.
        let made = matches!(rule, LintRule::F01 | LintRule::F02 | LintRule::F03 | LintRule::F04);
        let rule = if self.in_rules && made { LintRule::F05 } else { rule };
        if self.off.has(rule) {
            return;
        }
        let finding = self.finding(rule, route, span, ty, message);
        self.out.push(finding);
    }

    /// Reports code of a dependent that makes a capability. `message` gets the name of the type.
    fn report_made(
        &mut self,
        rule: LintRule,
        route: &'static str,
        span: Span,
        made: Option<usize>,
        message: impl FnOnce(&str) -> String,
    ) {
        if let Some(id) = made
            && self.applies.dependent
        {
            let message = message(&self.type_name(id));
            self.report(rule, route, span, made, message);
        }
    }

    /// F03: reports a general constructor.
    fn report_general(&mut self, route: &'static str, span: Span, made: Option<usize>, name: &str) {
        self.report_made(LintRule::F03, route, span, made, |ty| format!("`{name}` makes a `{ty}` here"));
    }

    fn finding(
        &self,
        rule: LintRule,
        route: &'static str,
        span: Span,
        ty: Option<usize>,
        message: String,
    ) -> LintFinding {
        let (line, column) = parse::start(span);
        let (end_line, end_column) = parse::end(span);
        let world = self.world;
        let (file, via) = world.modules.get(self.module).map_or_else(
            || (String::new(), Vec::new()),
            |module| {
                let path = world.files.get(module.file).map_or_else(String::new, |f| f.path.to_string());
                (path, module.via.clone())
            },
        );
        LintFinding {
            rule,
            route: self.route.unwrap_or(route),
            ty: ty.map(|id| self.inventory.name(id)),
            site: Site { file, line, column },
            end_line,
            end_column,
            item: self.item_path(),
            message,
            via,
        }
    }

    /// Returns `true` if an associated function of this name makes a value of a capability type.
    fn constructs(&self, id: usize, function: &str) -> bool {
        self.inventory.origin(id, function).is_some() || construct::general::general(function).is_some()
    }

    fn type_name(&self, id: usize) -> String {
        self.inventory.name(id)
    }

    /// Returns `true` if attributes restrict an item to test builds.
    fn skips(attrs: &[syn::Attribute]) -> bool {
        cfg::is_test(attrs)
    }

    /// Returns `true` if attributes mark a function as a test.
    fn is_test_function(&self, attrs: &[syn::Attribute]) -> bool {
        attrs.iter().any(|attr| {
            if matches!(attr.meta, syn::Meta::NameValue(_)) {
                return false;
            }
            let path = Path::of(attr.path());
            let names: Vec<&str> = path.segs.iter().map(|seg| &*seg.name).collect();
            let plain = matches!(names.as_slice(), ["test" | "bench"]);
            let (found, used) = self.attribute_target(&path);
            match found {
                Some(full) => self.config.test_attributes.contains(&full) || is_core_test(&full),
                // No item has the name, so it is the compiler's `#[test]` or a listed path as written.
                None => used && (plain || self.config.test_attributes.contains(&names.join("::"))),
            }
        })
    }

    /// Returns the whole path of an attribute that an import names, and whether no local item can hide the
    /// name.
    fn attribute_target(&self, path: &Path) -> (Option<String>, bool) {
        use crate::names::resolve::Meaning;
        let join = |full: &[Name]| full.iter().map(ToString::to_string).collect::<Vec<_>>().join("::");
        if let [only] = path.segs.as_slice() {
            // Attributes are in the macro namespace. A function of that name does not hide one, but an
            // import may bring one.
            let Some(import) = self.import_named(&only.name) else { return (None, true) };
            return match self.resolve(&import, Namespace::Type).what {
                Meaning::Far(full) => (Some(join(&full)), true),
                _ => (None, false),
            };
        }
        match self.resolve(path, Namespace::Value).what {
            Meaning::Far(full) => (Some(join(&full)), true),
            Meaning::Nothing => (None, true),
            _ => (None, false),
        }
    }

    /// Returns the path of an import of this name, in the module or an enclosing block.
    fn import_named(&self, name: &Name) -> Option<Path> {
        let blocks = self.frames.iter().rev().filter_map(|frame| frame.names.as_ref()?.tables.first());
        let here = self.world.table(self.module);
        let found =
            blocks.chain(here).flat_map(|table| &table.uses).find(|one| one.alias.as_ref() == Some(name))?;
        let segs =
            found.path.iter().map(|name| Segment { name: Name::clone(name), args: Vec::new() }).collect();
        Some(Path { leading: found.leading, qself: None, segs })
    }

    fn local(&self, name: &str) -> Option<&Local> {
        let own = self.locals.get(self.floor..).unwrap_or_default();
        own.iter().rev().find(|local| &*local.name == name)
    }

    fn bind(&mut self, name: Name, ty: KnownType, race: Option<race::RaceCall>) {
        self.locals.push(Local { name, ty, race, gives: None });
    }
}

/// Returns `true` if a function makes values from raw memory. `before` is the name before its own in the
/// path.
pub(crate) fn is_unsafe(before: &str, name: &str) -> bool {
    construct::raw_memory::is_unsafe(before, name)
}

/// Returns `true` if a function of this name counts as a general constructor, or as one from raw memory.
pub(crate) fn is_general_name(name: &str) -> bool {
    construct::general::general(name).is_some() || construct::raw_memory::is_unsafe_name(name)
}

fn is_core_test(full: &str) -> bool {
    let builtin = ["core::", "std::"].iter().any(|krate| full.starts_with(krate));
    builtin && ["::test", "::bench"].iter().any(|name| full.ends_with(name))
}
