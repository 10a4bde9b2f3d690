//! The names of all scanned crates, arranged as the module tree that rustc compiles.

use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, BTreeSet};

use crate::input::{Package, Sources, TargetKind};
use crate::names::collect::{FileTable, Include, ModDecl, Table};
use crate::report::Site;
use crate::syntax::parse::Unparsed;
use crate::syntax::written::Name;

/// A scanned file: its names, or the reason why there are none.
#[derive(Debug)]
pub(crate) struct FileInfo {
    pub(crate) path: Utf8PathBuf,
    pub(crate) table: Result<FileTable, Unparsed>,
    /// Length and hash of the bytes. The second pass compares them to detect a concurrent change.
    pub(crate) print: (usize, u64),
    pub(crate) statements: bool,
}

/// A module in a crate. A file that several modules include has several.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) krate: usize,
    pub(crate) parent: Option<usize>,
    pub(crate) path: Vec<Name>,
    pub(crate) file: usize,
    pub(crate) table: usize,
    pub(crate) test: bool,
    pub(crate) children: BTreeMap<Name, Vec<usize>>,
    /// Included files. They see the names of this module, and it sees theirs.
    pub(crate) merged: Vec<usize>,
    /// The `include!` or `#[path]` that pulled the file in.
    pub(crate) via: Vec<Site>,
}

/// A target of a package.
#[derive(Debug)]
pub(crate) struct CrateTarget {
    pub(crate) package: usize,
    pub(crate) name: Name,
    pub(crate) root: usize,
    pub(crate) kind: TargetKind,
}

/// A problem with the location of a file, found while the module tree was built.
#[derive(Debug)]
pub(crate) struct OpaqueCode {
    pub(crate) site: Site,
    pub(crate) end_column: u32,
    pub(crate) route: &'static str,
    pub(crate) message: String,
    pub(crate) item: String,
}

/// The scanned crates.
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
    pub(crate) opaque: Vec<OpaqueCode>,
    /// The packages whose files are read.
    pub(crate) scanned: BTreeSet<usize>,
    pub(crate) capability: BTreeSet<usize>,
    /// The packages that can see a capability crate.
    pub(crate) dependents: BTreeSet<usize>,
    pub(crate) race_dependents: BTreeSet<usize>,
    /// Packages whose macros a dependent can call. The bodies of those macros are checked.
    pub(crate) suppliers: BTreeSet<usize>,
    /// The direct and indirect dependencies of each package.
    pub(crate) reach: Vec<BTreeSet<usize>>,
}

/// An `include!`d or `#[path]`ed file that has to be read before the module tree is complete.
pub(crate) struct PendingFile {
    pub(crate) path: Utf8PathBuf,
    pub(crate) package: usize,
}

impl World<'_> {
    pub(crate) fn table(&self, module: usize) -> Option<&Table> {
        let module = self.modules.get(module)?;
        self.files.get(module.file)?.table.as_ref().ok()?.tables.get(module.table)
    }

    pub(crate) fn package_of(&self, module: usize) -> usize {
        let krate = self.modules.get(module).map_or(0, |module| module.krate);
        self.krates.get(krate).map_or(0, |krate| krate.package)
    }

    pub(crate) fn krate_name(&self, module: usize) -> Name {
        let krate = self.modules.get(module).map_or(0, |module| module.krate);
        self.krates.get(krate).map_or_else(|| Name::from(""), |krate| Name::clone(&krate.name))
    }

    /// Returns a module's path as text, starting with the crate.
    pub(crate) fn path_text(&self, module: usize) -> String {
        let mut text = self.krate_name(module).to_string();
        for part in self.modules.get(module).map(|module| module.path.as_slice()).unwrap_or_default() {
            text.push_str("::");
            text.push_str(part);
        }
        text
    }

    /// Returns `true` if an unresolved name in this package may mean a capability type.
    pub(crate) fn may_mean(&self, package: usize) -> bool {
        [&self.dependents, &self.capability, &self.suppliers].iter().any(|set| set.contains(&package))
    }

    pub(crate) fn package(&self, index: usize) -> Option<&Package> {
        self.packages.get(index)
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
    let mut joined = Utf8PathBuf::new();
    for part in out {
        joined.push(part);
    }
    joined
}

/// Builds the module tree, and returns the files that it needs and that are not read yet.
pub(crate) fn assemble(world: &mut World<'_>, sources: &Sources<'_>) -> Vec<PendingFile> {
    world.modules.clear();
    world.homes.clear();
    world.krates.clear();
    world.libs.clear();
    world.opaque.clear();
    // The tree is built again after each round of reading, since a new file can add modules anywhere.
    let mut builder = Builder { world, wanted: Vec::new(), reached: BTreeSet::new() };
    let scanned: Vec<usize> = builder.world.scanned.iter().copied().collect();
    for package in &scanned {
        builder.package(*package, sources);
    }
    for package in &scanned {
        builder.orphans(*package);
    }
    builder.wanted
}

struct Builder<'w, 'a> {
    world: &'w mut World<'a>,
    wanted: Vec<PendingFile>,
    reached: BTreeSet<usize>,
}

/// The directories in which the files of a module's children are looked up.
#[derive(Clone)]
struct ChildDirs {
    /// The directory for `mod x;`.
    children: Utf8PathBuf,
    /// The directory that `#[path]` and `include!` are relative to.
    relative_to: Utf8PathBuf,
}

struct NewModule<'v> {
    krate: usize,
    parent: Option<usize>,
    path: Vec<Name>,
    test: bool,
    via: &'v [Site],
}

impl Builder<'_, '_> {
    fn package(&mut self, package: usize, sources: &Sources<'_>) {
        let Some(info) = sources.packages.get(package) else { return };
        for target in &info.targets {
            let krate = self.world.krates.len();
            let name = Name::from(target.name.replace('-', "_"));
            self.world.krates.push(CrateTarget { package, name, root: usize::MAX, kind: target.kind });
            // A test target outside `tests/` may be a file that another target compiles as well.
            let below_tests = target.root.starts_with(info.dir.join("tests"));
            let test = target.kind == TargetKind::Test && below_tests;
            let Some(file) = self.file(&target.root, package) else { continue };
            let dir = parent(&target.root);
            let place = ChildDirs { children: dir.clone(), relative_to: dir };
            let new = NewModule { krate, parent: None, path: Vec::new(), test, via: &[] };
            let root = self.module(file, 0, new, &place, 0);
            if let Some(slot) = self.world.krates.get_mut(krate) {
                slot.root = root;
            }
            if target.kind.is_library() {
                self.world.libs.insert(package, krate);
            }
        }
    }

    /// Adds files that no `mod` reaches at the module that their path suggests.
    fn orphans(&mut self, package: usize) {
        let Some(info) = self.world.packages.get(package) else { return };
        let own: Vec<usize> = self
            .world
            .krates
            .iter()
            .enumerate()
            .filter(|(_, krate)| krate.package == package)
            .map(|(index, _)| index)
            .collect();
        let krate = self.world.libs.get(&package).copied().or_else(|| own.first().copied());
        let krate = krate.unwrap_or_else(|| {
            let name = Name::from(info.name.replace('-', "_"));
            self.world.krates.push(CrateTarget { package, name, root: usize::MAX, kind: TargetKind::Lib });
            self.world.krates.len().saturating_sub(1)
        });
        let (dir, files) = (info.dir.clone(), info.files.clone());
        for path in files {
            let Some(&file) = self.world.by_path.get(&path) else { continue };
            if self.reached.contains(&file) {
                continue;
            }
            // A file that no `mod` names can still be compiled by a later edit, so it is checked as part of
            // the library.
            let test = path.starts_with(dir.join("tests"));
            let inside = path.strip_prefix(dir.join("src")).unwrap_or(&path).with_extension("");
            let mut names: Vec<Name> =
                inside.components().map(|part| Name::from(part.as_str().replace('-', "_"))).collect();
            if names.last().is_some_and(|last| &**last == "mod") {
                names.pop();
            }
            let parent = self.nearest(krate, &names);
            let place = place_of(&path);
            let new = NewModule { krate, parent, path: names, test, via: &[] };
            self.module(file, 0, new, &place, 0);
        }
    }

    /// Returns the deepest module above a path, so that `super` works in a file that no `mod` names.
    fn nearest(&self, krate: usize, path: &[Name]) -> Option<usize> {
        let root = self.world.krates.get(krate)?.root;
        let mut at = (root != usize::MAX).then_some(root)?;
        for part in path.iter().take(path.len().saturating_sub(1)) {
            match self.world.modules.get(at)?.children.get(part).and_then(|list| list.first()) {
                Some(next) => at = *next,
                None => break,
            }
        }
        Some(at)
    }

    fn file(&mut self, path: &Utf8Path, package: usize) -> Option<usize> {
        let path = normal(path);
        if let Some(file) = self.world.by_path.get(&path) {
            return Some(*file);
        }
        self.wanted.push(PendingFile { path, package });
        None
    }

    fn module(
        &mut self,
        file: usize,
        table: usize,
        new: NewModule<'_>,
        place: &ChildDirs,
        depth: u32,
    ) -> usize {
        self.reached.insert(file);
        let index = self.world.modules.len();
        let NewModule { krate, parent, path, test, via } = new;
        let whole = self.world.files.get(file).and_then(|file| file.table.as_ref().ok());
        let test = test || table == 0 && whole.is_some_and(|file| file.test);
        // The first module wins, so that the report does not depend on the order of later targets.
        self.world.homes.entry((file, table)).or_insert(index);
        self.world.modules.push(Module {
            krate,
            parent,
            path: path.clone(),
            file,
            table,
            test,
            children: BTreeMap::new(),
            merged: Vec::new(),
            via: via.to_vec(),
        });
        // A file that declares itself would recurse without end. rustc rejects it as well.
        if depth > 128 {
            return index;
        }
        let Some(found) = self.world.table(index) else { return index };
        let (mods, includes) = (found.mods.clone(), found.includes.clone());
        for declared in mods {
            let mut below = path.clone();
            below.push(Name::clone(&declared.name));
            let mut children = Vec::new();
            let test = test || declared.test;
            if let Some(inline) = declared.inline {
                let place = ChildDirs {
                    children: place.children.join(&*declared.name),
                    relative_to: place.children.join(&*declared.name),
                };
                let new = NewModule { krate, parent: Some(index), path: below, test, via };
                children.push(self.module(file, inline, new, &place, depth.saturating_add(1)));
            } else {
                for (child, place, site) in self.declared_files(index, &declared, place) {
                    let mut via = via.to_vec();
                    via.extend(site);
                    let new = NewModule { krate, parent: Some(index), path: below.clone(), test, via: &via };
                    children.push(self.module(child, 0, new, &place, depth.saturating_add(1)));
                }
            }
            if let Some(module) = self.world.modules.get_mut(index) {
                module.children.entry(declared.name).or_default().extend(children);
            }
        }
        self.join_alternatives(index);
        for include in includes {
            self.include(index, &include, place, depth);
        }
        index
    }

    /// Merges modules of one name under different `cfg`s, so that each also offers the names of the others.
    fn join_alternatives(&mut self, index: usize) {
        let Some(module) = self.world.modules.get(index) else { return };
        let several: Vec<Vec<usize>> =
            module.children.values().filter(|list| list.len() > 1).cloned().collect();
        for list in several {
            for one in &list {
                if let Some(module) = self.world.modules.get_mut(*one) {
                    module.merged.extend(list.iter().filter(|other| *other != one));
                }
            }
        }
    }

    /// Returns the files that `mod x;` may mean.
    fn declared_files(
        &mut self,
        module: usize,
        declared: &ModDecl,
        place: &ChildDirs,
    ) -> Vec<(usize, ChildDirs, Option<Site>)> {
        let package = self.world.package_of(module);
        let mut found = Vec::new();
        for attr in &declared.paths {
            let path = normal(&place.relative_to.join(&attr.value));
            let site = self.site(module, attr.line, attr.column);
            let width = u32::try_from(attr.value.chars().count()).unwrap_or(0).saturating_add(2);
            if let Some(problem) = self.forbidden_path(&path, package) {
                // The attribute is the finding. The file itself belongs to another crate.
                self.opaque(module, &site, width, "path", problem);
                continue;
            }
            if let Some(file) = self.file(&path, package) {
                // The children of a file named by `#[path]` are next to it.
                let dir = parent(&path);
                let place = ChildDirs { children: dir.clone(), relative_to: dir };
                found.push((file, place, Some(site)));
            }
        }
        if declared.usual_place {
            let flat = place.children.join(format!("{}.rs", declared.name));
            let nested = place.children.join(&*declared.name).join("mod.rs");
            for path in [flat, nested] {
                if let Some(file) = self.world.by_path.get(&normal(&path)).copied() {
                    found.push((file, place_of(&path), None));
                }
            }
        }
        found
    }

    fn forbidden_path(&self, path: &Utf8Path, package: usize) -> Option<String> {
        if path.starts_with("..") || path.is_absolute() {
            return Some(format!("`#[path]` names {path}, which is outside the workspace"));
        }
        let owner = self.owner(path)?;
        (owner != package && self.world.capability.contains(&owner))
            .then(|| format!("`#[path]` includes {path} of a capability crate in another crate"))
    }

    /// Returns the package with the deepest directory that contains a path.
    fn owner(&self, path: &Utf8Path) -> Option<usize> {
        self.world
            .packages
            .iter()
            .enumerate()
            .filter(|(_, package)| path.starts_with(&package.dir))
            .max_by_key(|(_, package)| package.dir.components().count())
            .map(|(index, _)| index)
    }

    fn site(&self, module: usize, line: u32, column: u32) -> Site {
        let file = self.world.modules.get(module).map_or(0, |module| module.file);
        let file = self.world.files.get(file).map_or_else(String::new, |file| file.path.to_string());
        Site { file, line, column }
    }

    fn opaque(&mut self, module: usize, site: &Site, width: u32, route: &'static str, message: String) {
        if self.world.modules.get(module).is_some_and(|module| module.test) {
            return;
        }
        let item = self.world.path_text(module);
        let end_column = site.column.saturating_add(width);
        self.world.opaque.push(OpaqueCode { site: site.clone(), end_column, route, message, item });
    }

    fn opaque_include(
        &mut self,
        include: &Include,
        module: usize,
        site: &Site,
        route: &'static str,
        message: String,
    ) {
        if !include.test {
            self.opaque(module, site, include.end_column.saturating_sub(include.column), route, message);
        }
    }

    fn include(&mut self, module: usize, include: &Include, place: &ChildDirs, depth: u32) {
        let site = self.site(module, include.line, include.column);
        let Some(text) = &include.path else {
            let message = "`include!` with a computed path cannot be read".to_owned();
            self.opaque_include(include, module, &site, "include-computed", message);
            return;
        };
        let package = self.world.package_of(module);
        // `include!` is relative to its own file, also inside an inline module.
        let here = parent(Utf8Path::new(&site.file));
        let path = normal(&here.join(text));
        if path.starts_with("..") || path.is_absolute() {
            let message = format!("`include!` names {path}, which is outside the workspace");
            self.opaque_include(include, module, &site, "include-outside", message);
            return;
        }
        let Some(file) = self.file(&path, package) else { return };
        if self
            .world
            .files
            .get(file)
            .is_some_and(|file| file.table.as_ref().is_err_and(|error| error.line == 0))
        {
            let message = format!("`include!` names {path}, which does not exist");
            self.opaque_include(include, module, &site, "include-missing", message);
            return;
        }
        let mut via: Vec<Site> = Vec::new();
        let (krate, for_tests, below) = match self.world.modules.get(module) {
            Some(module) => {
                via.extend(module.via.iter().cloned());
                (module.krate, module.test || include.test, module.path.clone())
            }
            None => return,
        };
        via.push(site);
        let parent = self.world.modules.get(module).and_then(|module| module.parent);
        let new = NewModule { krate, parent, path: below, test: for_tests, via: &via };
        let included = self.module(file, 0, new, place, depth.saturating_add(1));
        if let Some(inner) = self.world.modules.get_mut(included) {
            // An included file and its module see each other's names, in both directions.
            inner.merged.push(module);
        }
        if let Some(outer) = self.world.modules.get_mut(module) {
            outer.merged.push(included);
        }
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
