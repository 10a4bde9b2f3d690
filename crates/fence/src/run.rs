//! One run over sources that are at hand: bytes in, findings out.

use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::check::Checker;
use crate::collect::{self, FileTable, Keep, Names};
use crate::config::Config;
use crate::inventory::{self, Inventory};
use crate::marks::Marks;
use crate::parse::{self, Shape, Tree, Unparsed};
use crate::report::{Finding, Report, Site, Undecided};
use crate::resolve::Resolver;
use crate::rule::Off;
use crate::sources::Sources;
use crate::ty::Name;
use crate::words::Words;
use crate::world::{self, FileInfo, World};
use crate::{Rule, allow, manifest};

/// The stack of a worker: what [`parse::check_depth`] lets through fits in it, in builds for tests too.
const STACK: usize = 256 << 20;
/// Bytes of source that are kept between the two looks; past them files are read again.
const KEPT: usize = 4 << 20;
/// Files above this are parsed one at a time: the tree of a file takes many times its bytes.
const LARGE: usize = 192 << 10;

/// How a run is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) threads: usize,
    pub(crate) off: Off,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, off: Off::default() }
    }
}

/// A file's bytes, where they are kept.
type Bytes = BTreeMap<usize, Vec<u8>>;

/// Looks at sources and says what was found.
///
/// # Guarantees
/// The same sources and config give the same report, for any number of threads and any order of files.
#[must_use]
pub fn check(sources: &Sources<'_>, config: &Config) -> Report {
    run(sources, config, Options::default())
}

pub(crate) fn run(sources: &Sources<'_>, config: &Config, options: Options) -> Report {
    let mut report = Report { undecided: sources.faults.clone(), ..Report::default() };
    report.summary.not_scanned.clone_from(&sources.skipped);
    let mut world = members(sources, config, &mut report);
    rules_off(config, &mut report);
    let bytes = read_all(&mut world, sources, config, options);
    let inventory = inventory::read(&world, config);
    inventory_holds(&world, &inventory, config, &mut report);
    let marks = Marks::read(&world);
    let words = Words::read(&world, &inventory, config);
    let mut findings = {
        let pass =
            Pass { world: &world, inventory: &inventory, config, marks: &marks, words: &words, options };
        pass.all(sources, &bytes, &mut report)
    };
    findings.extend(opaque(&world, options.off));
    findings.extend(unparsed(&world, options.off));
    if !options.off.has(Rule::F11) {
        let (more, undecided) = manifest::check(&world, sources, config);
        findings.extend(more);
        report.undecided.extend(undecided);
        findings.extend(forbids(&world, config));
    }
    findings.sort_by(|a, b| a.key().cmp(&b.key()).then_with(|| a.route.cmp(b.route)));
    findings.dedup_by(|b, a| a.key() == b.key());
    let applied = allow::apply(findings, config);
    report.summary.allowed = applied.covered;
    report.findings = applied.findings;
    if options.off.has(Rule::F13) {
        report.findings.retain(|finding| finding.rule != Rule::F13);
    }
    for finding in &report.findings {
        if finding.rule == Rule::F08 && finding.route.starts_with("un") {
            let message = format!("{}: {}", finding.site.file, finding.message);
            report.undecided.push(Undecided::new("F08", message));
        }
    }
    summary(&world, &inventory, config, &mut report);
    report.sort();
    excerpts(&world, sources, &bytes, &mut report);
    report
}

/// Finds who can see what.
fn members<'a>(sources: &'a Sources<'_>, config: &Config, report: &mut Report) -> World<'a> {
    let packages = &sources.packages;
    let by_name = |names: &[String]| -> BTreeSet<usize> {
        let known = packages.iter().enumerate().filter(|(_, package)| names.contains(&package.name));
        known.map(|(index, _)| index).collect()
    };
    let capability = by_name(&config.capability_crates);
    let races = config.race.as_ref().map(|race| by_name(&race.crates)).unwrap_or_default();
    let wanted = config.capability_crates.iter().chain(config.race.iter().flat_map(|race| &race.crates));
    for name in wanted {
        if !packages.iter().any(|package| package.name == *name) {
            let message = format!("no package of the workspace is named `{name}`");
            report.undecided.push(Undecided::new("fence/no-match", message));
        }
    }
    if config.capability_crates.is_empty() && config.race.is_none() && config.restricted.is_empty() {
        let message = "no capability crate, race type or restricted function is named: nothing is looked for";
        report.undecided.push(Undecided::new("fence/no-match", message));
    }
    let special: BTreeSet<usize> = capability.union(&races).copied().collect();
    let edges: Vec<BTreeSet<usize>> =
        packages.iter().map(|package| edges(packages, package, &special)).collect();
    let reach: Vec<BTreeSet<usize>> = (0..packages.len()).map(|start| closure(&edges, start)).collect();
    let seeing = |targets: &BTreeSet<usize>| -> BTreeSet<usize> {
        let all = reach.iter().enumerate();
        all.filter(|(index, reached)| {
            !targets.contains(index) && (config.assume_all_dependents || !reached.is_disjoint(targets))
        })
        .map(|(index, _)| index)
        .collect()
    };
    let dependents = if capability.is_empty() { BTreeSet::new() } else { seeing(&capability) };
    let race_dependents = if races.is_empty() { BTreeSet::new() } else { seeing(&races) };
    // The owners of restricted functions, and whoever sees them.
    let owners: BTreeSet<usize> = packages
        .iter()
        .enumerate()
        .filter(|(_, package)| {
            let lib = package.lib_name();
            config.restricted.iter().any(|one| one.path.split("::").next() == lib.as_deref())
        })
        .map(|(index, _)| index)
        .collect();
    let mut scanned: BTreeSet<usize> = special;
    scanned.extend(&dependents);
    scanned.extend(&race_dependents);
    scanned.extend(&owners);
    if !owners.is_empty() {
        scanned.extend(seeing(&owners));
    }
    for (index, package) in packages.iter().enumerate() {
        if !scanned.contains(&index) {
            let what = if package.member { "member" } else { "package" };
            report.summary.not_scanned.push(format!("{what} {} sees none of them", package.name));
        }
    }
    World {
        externs: packages
            .iter()
            .enumerate()
            .map(|(index, package)| externs(packages, index, package, &capability))
            .collect(),
        packages,
        files: Vec::new(),
        by_path: BTreeMap::new(),
        modules: Vec::new(),
        krates: Vec::new(),
        libs: BTreeMap::new(),
        opaque: Vec::new(),
        scanned,
        capability,
        dependents,
        race_dependents,
        reach,
    }
}

fn find_dependency(
    packages: &[crate::sources::Package],
    dependency: &crate::sources::Dependency,
    special: &BTreeSet<usize>,
) -> Option<usize> {
    if let Some(path) = &dependency.path {
        let path = world::normal(path);
        return packages.iter().position(|package| package.dir == path);
    }
    // By name alone only where it matters: a patch may put the member in the place of a registry crate.
    special
        .iter()
        .copied()
        .find(|index| packages.get(*index).is_some_and(|package| package.name == dependency.package))
}

fn edges(
    packages: &[crate::sources::Package],
    package: &crate::sources::Package,
    special: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    package.dependencies.iter().filter_map(|one| find_dependency(packages, one, special)).collect()
}

fn closure(edges: &[BTreeSet<usize>], start: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<usize> = edges.get(start).into_iter().flatten().copied().collect();
    while let Some(next) = stack.pop() {
        if seen.insert(next) {
            stack.extend(edges.get(next).into_iter().flatten().copied());
        }
    }
    seen
}

fn externs(
    packages: &[crate::sources::Package],
    index: usize,
    package: &crate::sources::Package,
    special: &BTreeSet<usize>,
) -> BTreeMap<Name, Option<usize>> {
    let mut names = BTreeMap::new();
    for dependency in &package.dependencies {
        let member = find_dependency(packages, dependency, special);
        let lib = member.and_then(|member| packages.get(member)?.lib_name());
        let name = dependency.rename.clone().or(lib).unwrap_or_else(|| dependency.package.clone());
        let entry = names.entry(Name::from(name.replace('-', "_"))).or_insert(member);
        *entry = entry.or(member);
    }
    if let Some(own) = package.lib_name() {
        names.entry(Name::from(own)).or_insert(Some(index));
    }
    names
}

/// Whether a package depends on another one, however far away.
pub(crate) fn sees(world: &World<'_>, package: usize, other: usize) -> bool {
    world.reach.get(package).is_some_and(|reached| reached.contains(&other))
}

fn rules_off(config: &Config, report: &mut Report) {
    let mut off = |rules: &[Rule], why: &str| {
        report.summary.off.extend(rules.iter().map(|rule| (*rule, why.to_owned())));
    };
    if config.capability_crates.is_empty() {
        let all = [Rule::F01, Rule::F02, Rule::F03, Rule::F04, Rule::F05, Rule::F06, Rule::F07, Rule::F09];
        off(&all, "no capability crate is named");
        off(&[Rule::F11], "no capability crate is named");
    }
    if config.grant_type.is_none() {
        off(&[Rule::F10], "no `grant-type` is named");
    }
    if config.mint_callers.is_empty() && config.restricted.is_empty() {
        off(&[Rule::F12], "no callers are named");
    }
    if config.race.is_none() {
        off(&[Rule::E01], "no `race` type is named");
    }
}

/// Reads and parses every file of the scanned packages, and what those pull in.
fn read_all(world: &mut World<'_>, sources: &Sources<'_>, config: &Config, options: Options) -> Bytes {
    let mut bytes = Bytes::new();
    let mut kept = 0_usize;
    let owners: BTreeSet<&str> =
        config.restricted.iter().filter_map(|one| one.path.split("::").next()).collect();
    let keep_of = |world: &World<'_>, package: usize| {
        let lib = world.package(package).and_then(crate::sources::Package::lib_name);
        Keep {
            signatures: world.capability.contains(&package)
                || lib.is_some_and(|lib| owners.contains(lib.as_str()))
                || world.race_dependents.contains(&package),
            fields: world.race_dependents.contains(&package),
        }
    };
    let mut todo: Vec<(camino::Utf8PathBuf, usize, Shape)> = Vec::new();
    for package in &world.scanned {
        for file in world.package(*package).map(|package| package.files.as_slice()).unwrap_or_default() {
            todo.push((file.clone(), *package, Shape::Module));
        }
    }
    loop {
        todo.retain(|(path, ..)| !world.by_path.contains_key(path));
        todo.sort();
        todo.dedup_by(|a, b| a.0 == b.0);
        // The longest first: their trees are gone before the tables of all others have grown.
        todo.sort_by_cached_key(|(path, ..)| (std::cmp::Reverse((sources.sizer)(path)), path.clone()));
        let work: Vec<_> =
            todo.iter().map(|(path, package, shape)| (path, keep_of(world, *package), *shape)).collect();
        let done = parallel(&work, options.threads, |(path, keep, shape), names: &mut Names| {
            first_look(path, *keep, *shape, sources, names)
        });
        for ((path, ..), (info, text)) in todo.iter().zip(done) {
            let index = world.files.len();
            if kept.saturating_add(text.len()) <= KEPT {
                kept = kept.saturating_add(text.len());
                bytes.insert(index, text);
            }
            world.files.push(info);
            world.by_path.insert(path.clone(), index);
        }
        let wanted = world::assemble(world, sources);
        if wanted.is_empty() {
            return bytes;
        }
        todo = wanted.into_iter().map(|one| (one.path, one.package, Shape::Included)).collect();
    }
}

/// Runs over items on several threads; the answers keep the order of the items.
fn parallel<T: Sync, R: Send, S: Default>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T, &mut S) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let lost = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            let body = || {
                let mut state = S::default();
                let mut own = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    own.push((index, work(item, &mut state)));
                }
                if let Ok(mut done) = done.lock() {
                    done.extend(own);
                }
            };
            if std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body).is_err() {
                lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, answer)| answer).collect()
}

fn fingerprint(bytes: &[u8]) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    (bytes.len(), hasher.finish())
}

/// Reads a file and takes its names.
fn first_look(
    path: &Utf8Path,
    keep: Keep,
    shape: Shape,
    sources: &Sources<'_>,
    names: &mut Names,
) -> (FileInfo, Vec<u8>) {
    let missing = |what: String, line: u32| FileInfo {
        path: path.to_path_buf(),
        table: Err(Unparsed { line, column: 1, what }),
        print: (0, 0),
        statements: false,
    };
    let bytes = match (sources.reader)(path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let line = u32::from(shape == Shape::Module);
            return (missing("the file is not there".to_owned(), line), Vec::new());
        }
        Err(error) => return (missing(format!("the file cannot be read: {error}"), 1), Vec::new()),
    };
    let mut statements = false;
    let alone = one_at_a_time(&bytes);
    let table = match parse::parse(&bytes, shape) {
        Ok(Tree::Items(file)) => Ok(collect::file(&file.items, &file.attrs, keep, names)),
        Ok(Tree::Statements(list)) => {
            statements = true;
            Ok(collect::block(&list, keep, names))
        }
        Err(unparsed) => Err(unparsed),
    };
    drop(alone);
    parse::forget_spans();
    let info = FileInfo { path: path.to_path_buf(), table, print: fingerprint(&bytes), statements };
    (info, bytes)
}

/// Holds the other workers off while a large file is parsed.
fn one_at_a_time(bytes: &[u8]) -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    (bytes.len() > LARGE).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

struct Pass<'p> {
    world: &'p World<'p>,
    inventory: &'p Inventory,
    config: &'p Config,
    marks: &'p Marks,
    words: &'p Words,
    options: Options,
}

/// What a second look at a file gives.
#[derive(Default)]
struct Looked {
    findings: Vec<Finding>,
    grants: Vec<Finding>,
    changed: bool,
}

impl Pass<'_> {
    fn all(&self, sources: &Sources<'_>, bytes: &Bytes, report: &mut Report) -> Vec<Finding> {
        let mut modules: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, module) in self.world.modules.iter().enumerate() {
            if module.table == 0 && !module.test {
                modules.entry(module.file).or_default().push(index);
            }
        }
        let work: Vec<(usize, Vec<usize>)> = modules.into_iter().collect();
        let looked = parallel(&work, self.options.threads, |(file, modules), (): &mut ()| {
            self.second_look(*file, modules, sources, bytes)
        });
        let mut findings = Vec::new();
        let mut grants = Vec::new();
        for ((file, _), one) in work.iter().zip(looked) {
            findings.extend(one.findings);
            grants.extend(one.grants);
            if one.changed {
                let path = self.world.files.get(*file).map_or("", |file| file.path.as_str());
                let message = format!("{path} changed while it was looked at");
                report.undecided.push(Undecided::new("fence/changed", message));
            }
        }
        self.grants(grants, &mut findings, report);
        findings
    }

    fn second_look(&self, file: usize, modules: &[usize], sources: &Sources<'_>, bytes: &Bytes) -> Looked {
        let Some(info) = self.world.files.get(file) else { return Looked::default() };
        if info.table.is_err() {
            return Looked::default();
        }
        let read;
        let text = if let Some(kept) = bytes.get(&file) {
            kept.as_slice()
        } else {
            match (sources.reader)(&info.path) {
                Ok(Some(fresh)) => read = fresh,
                Ok(None) | Err(_) => return Looked { changed: true, ..Looked::default() },
            }
            read.as_slice()
        };
        let capability =
            modules.iter().any(|module| self.world.capability.contains(&self.world.package_of(*module)));
        if !capability && !self.words.in_text(text) {
            return Looked::default();
        }
        if fingerprint(text) != info.print {
            return Looked { changed: true, ..Looked::default() };
        }
        let shape = if info.statements { Shape::Included } else { Shape::Module };
        let mut looked = Looked::default();
        let alone = one_at_a_time(text);
        if let Ok(tree) = parse::parse(text, shape) {
            let resolver = Resolver::new(self.world, self.inventory);
            for module in modules {
                let checker = Checker::new(&resolver, self.config, self.marks, self.options.off, *module);
                let (findings, grants) = checker.run(&tree);
                looked.findings.extend(findings);
                looked.grants.extend(grants);
            }
        }
        drop(alone);
        parse::forget_spans();
        looked
    }

    /// F10: one literal of the grant, in the chokepoint.
    fn grants(&self, mut grants: Vec<Finding>, findings: &mut Vec<Finding>, report: &mut Report) {
        if self.config.grant_type.is_none() || self.options.off.has(Rule::F10) {
            return;
        }
        grants.sort_by(|a, b| a.key().cmp(&b.key()));
        grants.dedup_by(|b, a| a.key() == b.key());
        let (inside, outside): (Vec<_>, Vec<_>) =
            grants.into_iter().partition(|grant| grant.route == "second-grant");
        if inside.is_empty() && outside.is_empty() {
            let name = self.config.grant_type.as_deref().unwrap_or_default();
            let message = format!("no literal of `{name}` in a capability crate");
            report.undecided.push(Undecided::new("fence/no-grant", message));
        }
        findings.extend(outside);
        findings.extend(inside.into_iter().skip(1));
    }
}

fn opaque(world: &World<'_>, off: Off) -> Vec<Finding> {
    if off.has(Rule::F08) {
        return Vec::new();
    }
    let all = world.opaque.iter();
    all.map(|one| Finding {
        rule: Rule::F08,
        route: one.route,
        ty: None,
        site: one.site.clone(),
        end_line: one.site.line,
        end_column: one.end_column,
        item: one.item.clone(),
        message: one.message.clone(),
        via: Vec::new(),
    })
    .collect()
}

fn unparsed(world: &World<'_>, off: Off) -> Vec<Finding> {
    if off.has(Rule::F08) {
        return Vec::new();
    }
    let failed = world.files.iter().filter_map(|file| match &file.table {
        Err(error) if error.line > 0 => Some((file, error)),
        _ => None,
    });
    failed
        .map(|(file, error)| {
            let message = format!("this file is not read as Rust: {}", error.what);
            Finding {
                rule: Rule::F08,
                route: "unparsed",
                ty: None,
                site: Site { file: file.path.to_string(), line: error.line, column: error.column },
                end_line: error.line,
                end_column: error.column.saturating_add(1),
                item: String::new(),
                message,
                via: Vec::new(),
            }
        })
        .collect()
}

/// F11: dependents that do not forbid unsafe code.
fn forbids(world: &World<'_>, config: &Config) -> Vec<Finding> {
    if !config.require_forbid_unsafe {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for krate in &world.krates {
        let Some(package) = world.package(krate.package) else { continue };
        let Some(root) = world.modules.get(krate.root) else { continue };
        let sees = world.dependents.contains(&krate.package);
        if !sees || root.test || package.forbids_unsafe {
            continue;
        }
        let Some(file) = world.files.get(root.file) else { continue };
        if file.table.as_ref().is_ok_and(|table: &FileTable| !table.forbids_unsafe) {
            findings.push(Finding {
                rule: Rule::F11,
                route: "forbid-unsafe",
                ty: None,
                site: Site { file: file.path.to_string(), line: 1, column: 1 },
                end_line: 1,
                end_column: 1,
                item: krate.name.to_string(),
                message: format!("`{}` sees a capability crate and does not forbid unsafe code", krate.name),
                via: Vec::new(),
            });
        }
    }
    findings
}

/// A run that looked at nothing is no answer.
fn inventory_holds(world: &World<'_>, inventory: &Inventory, config: &Config, report: &mut Report) {
    let mut say = |code: &'static str, message: String| report.undecided.push(Undecided::new(code, message));
    let files: usize =
        world.scanned.iter().filter_map(|index| world.package(*index)).map(|one| one.files.len()).sum();
    if files < config.min_files {
        say(
            "fence/no-files",
            format!("{files} source files were seen, and at least {} are expected", config.min_files),
        );
    }
    for index in &world.capability {
        let name = world.package(*index).map_or("", |package| package.name.as_str());
        let has = inventory.types.iter().any(|ty| world.package_of(ty.module) == *index);
        if !has {
            say("fence/no-type", format!("no type of `{name}` matches `{}`", config.type_glob));
        }
    }
    if !world.capability.is_empty() && inventory.chokepoints == 0 {
        let what = if config.chokepoint.is_empty() {
            "named `mint`".to_owned()
        } else {
            config.chokepoint.join(", ")
        };
        say("fence/no-chokepoint", format!("no function of a capability crate is {what}"));
    }
    if let Some(race) = &config.race
        && inventory.race.is_empty()
    {
        say("fence/no-match", format!("`race.type` is {:?}, and no race crate defines it", race.ty));
    }
    for excluded in &config.exclude_types {
        let known = world.modules.iter().enumerate().any(|(index, _)| {
            world.capability.contains(&world.package_of(index))
                && world.table(index).is_some_and(|table| table.types.contains_key(excluded.as_str()))
        });
        if !known {
            say(
                "fence/no-match",
                format!("`exclude-types` names `{excluded}`, and no capability crate has it"),
            );
        }
    }
    watched_hold(world, inventory, config, &mut say);
}

fn watched_hold(
    world: &World<'_>,
    inventory: &Inventory,
    config: &Config,
    say: &mut impl FnMut(&'static str, String),
) {
    for restricted in &config.restricted {
        let function = restricted.path.rsplit("::").next().unwrap_or_default();
        let found = inventory
            .watched
            .iter()
            .any(|one| one.callers == restricted.callers && one.functions.contains(function));
        if !found {
            say("fence/no-match", format!("`restricted` names `{}`, which nothing defines", restricted.path));
        }
    }
    let callers = config.mint_callers.iter().chain(config.restricted.iter().flat_map(|one| &one.callers));
    let modules: BTreeSet<String> = (0..world.modules.len()).map(|index| world.path_text(index)).collect();
    for caller in callers {
        let path = caller.strip_suffix("::*").unwrap_or(caller);
        // A function is known by its module, or by its type's module.
        let mut home = Some(path);
        let mut found = false;
        for _ in 0..3 {
            found |= home.is_some_and(|home| modules.contains(home));
            home = home.and_then(|home| home.rsplit_once("::")).map(|(outer, _)| outer);
        }
        let exact = modules.contains(path);
        let below_module = caller.ends_with("::*");
        if !(exact || !below_module && found || below_module && has_type(world, path)) {
            say("fence/no-match", format!("the caller `{caller}` is no module or function of the workspace"));
        }
    }
}

fn has_type(world: &World<'_>, path: &str) -> bool {
    let Some((home, name)) = path.rsplit_once("::") else { return false };
    (0..world.modules.len()).any(|index| {
        world.path_text(index) == home
            && world.table(index).is_some_and(|table| table.types.contains_key(name))
    })
}

fn summary(world: &World<'_>, inventory: &Inventory, _: &Config, report: &mut Report) {
    report.summary.files =
        world.files.iter().filter(|file| !matches!(&file.table, Err(error) if error.line == 0)).count();
    report.summary.parsed = world.files.iter().filter(|file| file.table.is_ok()).count();
    report.summary.unparsed = report.summary.files.saturating_sub(report.summary.parsed);
    report.summary.types = inventory.types.iter().map(|ty| ty.name.to_string()).collect();
    report.summary.types.sort();
    let mut constructors: Vec<String> = inventory
        .constructors
        .iter()
        .flat_map(|(id, names)| names.keys().map(|name| format!("{}::{name}", inventory.name(*id))))
        .chain(inventory.free.keys().map(|(module, name)| format!("{}::{name}", world.path_text(*module))))
        .collect();
    constructors.sort();
    constructors.dedup();
    report.summary.constructors = constructors;
    report.summary.not_scanned.sort();
    report.summary.off.sort();
}

/// Keeps the lines that findings stand on, for the form that shows them.
fn excerpts(world: &World<'_>, sources: &Sources<'_>, bytes: &Bytes, report: &mut Report) {
    let mut wanted: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for finding in &report.findings {
        wanted.entry(&finding.site.file).or_default().insert(finding.site.line);
    }
    let manifests = sources.root.iter().chain(sources.manifests.iter().flatten()).chain(&sources.lock);
    let manifests: BTreeMap<&str, &str> = manifests
        .chain(&sources.cargo_config)
        .map(|manifest| (manifest.path.as_str(), manifest.text.as_str()))
        .collect();
    let mut excerpts = BTreeMap::new();
    for (file, lines) in wanted {
        let kept = world.by_path.get(Utf8Path::new(file)).and_then(|index| bytes.get(index));
        let text = match (manifests.get(file), kept) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(kept)) => String::from_utf8_lossy(kept).into_owned(),
            (None, None) => match (sources.reader)(Utf8Path::new(file)) {
                Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
                Ok(None) | Err(_) => continue,
            },
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let shown = text.lines().enumerate().filter_map(|(index, line)| {
            let number = u32::try_from(index).ok()?.checked_add(1)?;
            lines.contains(&number).then(|| (number, line.to_owned()))
        });
        excerpts.insert(file.to_owned(), shown.collect());
    }
    report.excerpts = excerpts;
}
