//! The names of all scanned crates, arranged as the module tree that rustc compiles.

use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, BTreeSet};

use crate::input::{Package, TargetKind};
use crate::names::collect::{FileTable, ModDecl, Table};
use crate::syntax::parse::Unparsed;
use crate::syntax::written::Name;

/// A scanned file: its names, or the reason why there are none.
#[derive(Debug)]
pub(crate) struct FileInfo {
    pub(crate) path: Utf8PathBuf,
    pub(crate) table: Result<FileTable, Unparsed>,
    /// Length and hash of the bytes. The second pass compares them to detect a concurrent change.
    pub(crate) print: (usize, u64),
}

/// A module in a crate, or a block that contains items. A file that several modules name has several.
#[derive(Debug, Clone, Default)]
pub(crate) struct Module {
    pub(crate) krate: usize,
    pub(crate) parent: Option<usize>,
    /// The module or block around a block, whose names the block sees.
    pub(crate) around: Option<usize>,
    pub(crate) path: Vec<Name>,
    pub(crate) file: usize,
    pub(crate) table: usize,
    pub(crate) test: bool,
    /// Child modules by name. Of several, each is under another `cfg`.
    pub(crate) children: BTreeMap<Name, Vec<usize>>,
    /// The blocks with items directly in this module or block.
    pub(crate) blocks: Vec<usize>,
}

/// A target of a package.
#[derive(Debug)]
pub(crate) struct CrateTarget {
    pub(crate) package: usize,
    pub(crate) name: Name,
    pub(crate) root: Option<usize>,
}

/// The scanned crates.
#[derive(Default)]
pub(crate) struct World<'a> {
    pub(crate) packages: &'a [Package],
    pub(crate) files: Vec<FileInfo>,
    pub(crate) by_path: BTreeMap<Utf8PathBuf, usize>,
    pub(crate) modules: Vec<Module>,
    /// The first module that uses a file's table.
    pub(crate) homes: BTreeMap<(usize, usize), usize>,
    pub(crate) krates: Vec<CrateTarget>,
    /// The library crate of each package.
    pub(crate) libs: BTreeMap<usize, usize>,
    /// Names of other crates, by package.
    pub(crate) externs: Vec<BTreeMap<Name, Option<usize>>>,
    /// The packages whose files are read.
    pub(crate) scanned: BTreeSet<usize>,
    pub(crate) capability: BTreeSet<usize>,
    /// The packages that can see a capability crate.
    pub(crate) dependents: BTreeSet<usize>,
    pub(crate) race_dependents: BTreeSet<usize>,
    /// The direct and indirect dependencies of each package.
    pub(crate) reach: Vec<BTreeSet<usize>>,
}

impl World<'_> {
    pub(crate) fn file_table(&self, module: usize) -> Option<&FileTable> {
        self.files.get(self.modules.get(module)?.file)?.table.as_ref().ok()
    }

    pub(crate) fn table(&self, module: usize) -> Option<&Table> {
        self.file_table(module)?.tables.get(self.modules.get(module)?.table)
    }

    pub(crate) fn krate(&self, module: usize) -> Option<&CrateTarget> {
        self.krates.get(self.modules.get(module)?.krate)
    }

    pub(crate) fn package_of(&self, module: usize) -> usize {
        self.krate(module).map_or(0, |krate| krate.package)
    }

    /// Returns the root module of a package's library.
    pub(crate) fn lib_root(&self, package: usize) -> Option<usize> {
        self.krates.get(*self.libs.get(&package)?)?.root
    }

    /// Returns the module around a block, or the module itself.
    pub(crate) fn named(&self, module: usize) -> usize {
        let mut module = module;
        while let Some(around) = self.modules.get(module).and_then(|info| info.around) {
            module = around;
        }
        module
    }

    /// Returns a module's path as text, starting with the crate.
    pub(crate) fn path_text(&self, module: usize) -> String {
        let mut text = self.krate(module).map_or_else(String::new, |krate| krate.name.to_string());
        for part in self.modules.get(module).map(|module| module.path.as_slice()).unwrap_or_default() {
            text.push_str("::");
            text.push_str(part);
        }
        text
    }

    /// Returns the path of a module's file.
    pub(crate) fn file_of(&self, module: usize) -> String {
        let file = self.modules.get(module).and_then(|module| self.files.get(module.file));
        file.map_or_else(String::new, |file| file.path.to_string())
    }

    pub(crate) fn package_name(&self, index: usize) -> &str {
        self.packages.get(index).map_or("", |package| package.name.as_str())
    }
}

/// Resolves `.` and `..` in a path without file system access.
pub(crate) fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut out: Vec<&str> = Vec::new();
    for part in path.components() {
        match part.as_str() {
            "." => {}
            ".." if out.last().is_some_and(|last| *last != ".." && *last != "/") => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

/// Builds the module tree, and returns the files with their packages that it needs and that are not read yet.
pub(crate) fn assemble(world: &mut World<'_>) -> Vec<(Utf8PathBuf, usize)> {
    world.modules.clear();
    world.homes.clear();
    world.krates.clear();
    world.libs.clear();
    // The tree is built again after each round of reading, since a new file can add modules anywhere.
    let mut builder = Builder { world, wanted: Vec::new(), reached: BTreeSet::new() };
    for package in builder.world.scanned.clone() {
        builder.package(package);
    }
    for package in builder.world.scanned.clone() {
        builder.orphans(package);
    }
    builder.wanted
}

struct Builder<'w, 'a> {
    world: &'w mut World<'a>,
    wanted: Vec<(Utf8PathBuf, usize)>,
    reached: BTreeSet<usize>,
}

/// The directories in which the files of a module's children are looked up.
#[derive(Clone)]
struct ChildDirs {
    /// The directory for `mod x;`.
    children: Utf8PathBuf,
    /// The directory that `#[path]` is relative to.
    relative_to: Utf8PathBuf,
}

impl Builder<'_, '_> {
    fn package(&mut self, package: usize) {
        let packages = self.world.packages;
        let Some(info) = packages.get(package) else { return };
        for target in &info.targets {
            let krate = self.world.krates.len();
            let name = Name::from(target.name.replace('-', "_"));
            self.world.krates.push(CrateTarget { package, name, root: None });
            if target.kind == TargetKind::Library {
                self.world.libs.insert(package, krate);
            }
            // A test target outside `tests/` may be a file that another target compiles as well.
            let below_tests = target.root.starts_with(info.dir.join("tests"));
            let test = target.kind == TargetKind::Test && below_tests;
            let Some(file) = self.file(&target.root, package) else { continue };
            let dir = parent(&target.root);
            let place = ChildDirs { children: dir.clone(), relative_to: dir };
            let root = self.module(Module { krate, file, test, ..Module::default() }, &place, 0);
            if let Some(slot) = self.world.krates.get_mut(krate) {
                slot.root = Some(root);
            }
        }
    }

    /// Adds files that no `mod` reaches to the library, below the module that their path suggests.
    ///
    /// A macro may declare their module.
    fn orphans(&mut self, package: usize) {
        let packages = self.world.packages;
        let Some(info) = packages.get(package) else { return };
        let own = || self.world.krates.iter().position(|krate| krate.package == package);
        let Some(krate) = self.world.libs.get(&package).copied().or_else(own) else { return };
        for path in &info.files {
            let Some(&file) = self.world.by_path.get(path) else { continue };
            if self.reached.contains(&file) {
                continue;
            }
            let test = path.starts_with(info.dir.join("tests"));
            let inside = path.strip_prefix(info.dir.join("src")).unwrap_or(path).with_extension("");
            let mut names: Vec<Name> =
                inside.components().map(|part| Name::from(part.as_str().replace('-', "_"))).collect();
            if names.last().is_some_and(|last| &**last == "mod") {
                names.pop();
            }
            let mut parent = self.world.krates.get(krate).and_then(|krate| krate.root);
            for part in names.iter().take(names.len().saturating_sub(1)) {
                let above = parent.and_then(|at| self.world.modules.get(at));
                let below = above.and_then(|above| above.children.get(part)?.first().copied());
                parent = below.or(parent);
            }
            let new = Module { krate, parent, path: names, file, test, ..Module::default() };
            self.module(new, &place_of(path), 0);
        }
    }

    fn file(&mut self, path: &Utf8Path, package: usize) -> Option<usize> {
        let path = normal(path);
        if let Some(file) = self.world.by_path.get(&path) {
            return Some(*file);
        }
        self.wanted.push((path, package));
        None
    }

    /// Adds a module with everything below it, and returns its index.
    fn module(&mut self, new: Module, place: &ChildDirs, depth: u32) -> usize {
        let (index, file) = (self.world.modules.len(), new.file);
        self.reached.insert(file);
        // The first module wins, so that the report does not depend on the order of later targets.
        self.world.homes.entry((file, new.table)).or_insert(index);
        self.world.modules.push(new.clone());
        let whole = self.world.file_table(index);
        let test = new.test || new.table == 0 && whole.is_some_and(|file| file.test);
        // A file that declares itself would recurse without end. rustc rejects it as well.
        let found = self.world.table(index).filter(|_| depth <= 128);
        let (mods, blocks) =
            found.map(|found| (found.mods.clone(), found.blocks.clone())).unwrap_or_default();
        let next = depth.saturating_add(1);
        let below = Module { parent: Some(self.world.named(index)), around: None, test, ..new.clone() };
        let mut children: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
        for declared in mods {
            let mut new = Module { test: test || declared.test, ..below.clone() };
            new.path.push(Name::clone(&declared.name));
            let added = children.entry(Name::clone(&declared.name)).or_default();
            if let Some(table) = declared.inline {
                let dir = place.children.join(&*declared.name);
                let place = ChildDirs { children: dir.clone(), relative_to: dir };
                added.push(self.module(Module { table, ..new }, &place, next));
            } else {
                for (file, place) in self.declared_files(index, &declared, place) {
                    added.push(self.module(Module { file, table: 0, ..new.clone() }, &place, next));
                }
            }
        }
        let block = Module { around: Some(index), test, ..new };
        let blocks =
            blocks.into_iter().map(|(_, table)| self.module(Module { table, ..block.clone() }, place, next));
        let blocks = blocks.collect();
        if let Some(module) = self.world.modules.get_mut(index) {
            (module.children, module.blocks, module.test) = (children, blocks, test);
        }
        index
    }

    /// Returns the files that `mod x;` may mean.
    fn declared_files(
        &mut self,
        module: usize,
        declared: &ModDecl,
        place: &ChildDirs,
    ) -> Vec<(usize, ChildDirs)> {
        let package = self.world.package_of(module);
        let mut found = Vec::new();
        for path in &declared.paths {
            let path = normal(&place.relative_to.join(path));
            if let Some(file) = self.file(&path, package) {
                // The children of a file named by `#[path]` are next to it.
                let dir = parent(&path);
                found.push((file, ChildDirs { children: dir.clone(), relative_to: dir }));
            }
        }
        let flat = place.children.join(format!("{}.rs", declared.name));
        let nested = place.children.join(&*declared.name).join("mod.rs");
        for path in [flat, nested] {
            if let Some(file) = self.world.by_path.get(&normal(&path)) {
                found.push((*file, place_of(&path)));
            }
        }
        found
    }
}

fn parent(path: &Utf8Path) -> Utf8PathBuf {
    path.parent().map(Utf8Path::to_path_buf).unwrap_or_default()
}

/// Returns the directory of a file's child modules: `a/b` for `a/b.rs`, `a` for `a/mod.rs`.
fn place_of(path: &Utf8Path) -> ChildDirs {
    let dir = parent(path);
    let children = match path.file_stem() {
        Some("mod" | "lib" | "main") | None => dir.clone(),
        Some(stem) => dir.join(stem),
    };
    ChildDirs { children, relative_to: dir }
}
