//! One run over given sources, from bytes to findings.

pub(crate) mod coverage;
pub(crate) mod fence;
pub(crate) mod second_pass;
pub(crate) mod word_filter;

use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::LintRule;
use crate::config::{FenceConfig, allow};
use crate::input::{Sources, members};
use crate::names::collect::{self, CfgFlag, CollectOptions, FileTable, NameInterner};
use crate::names::inventory::{self, Inventory};
use crate::names::macro_index::MacroIndex;
use crate::names::modules::{self, FileInfo, World};
use crate::report::{FenceReport, UndecidedReason};
use crate::rules::{DisabledRules, manifest, packages};
use crate::run::second_pass::SecondPass;
use crate::run::word_filter::WordFilter;
use crate::syntax::parse::{self, FileShape, Tree, Unparsed};

/// The stack size of a worker. Everything that the depth check accepts fits in it, also in debug builds.
const STACK: usize = 256 << 20;
/// Bytes of source that are kept between the two passes. Files past this budget are read again.
const KEPT: usize = 4 << 20;
/// Larger files are parsed one at a time, since a syntax tree takes many times the bytes of its file.
const LARGE: usize = 96 << 10;

/// The settings of a run that are not part of the config.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunOptions {
    pub(crate) threads: usize,
    /// The stack size of a worker in bytes. Only a test sets another one than [`STACK`].
    pub(crate) stack: usize,
    pub(crate) off: DisabledRules,
}

impl Default for RunOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, stack: STACK, off: DisabledRules::default() }
    }
}

/// The kept bytes of files, by file index.
pub(crate) type Bytes = BTreeMap<usize, Vec<u8>>;

/// Checks sources and returns the report.
///
/// # Guarantees
/// The same sources and config give the same report, for any number of threads and any order of files.
#[must_use]
pub fn check(sources: &Sources<'_>, config: &FenceConfig) -> FenceReport {
    run(sources, config, RunOptions::default())
}

pub(crate) fn run(sources: &Sources<'_>, config: &FenceConfig, options: RunOptions) -> FenceReport {
    let mut report = FenceReport { undecided: sources.faults.clone(), ..FenceReport::default() };
    report.summary.not_scanned.clone_from(&sources.skipped);
    let mut world = members::read(sources, config, &mut report);
    rules_off(config, &mut report);
    let bytes = read_all(&mut world, sources, config, options, &mut report);
    let inventory = inventory::read(&world, config);
    coverage::check(&world, &inventory, config, &mut report);
    let marks = MacroIndex::read(&world);
    let words = WordFilter::read(&world, &inventory, config);
    let mut findings = {
        let pass = SecondPass {
            world: &world,
            inventory: &inventory,
            config,
            marks: &marks,
            words: &words,
            options,
        };
        pass.all(sources, &bytes, &mut report)
    };
    findings.extend(packages::opaque(&world, options.off));
    findings.extend(packages::unparsed(&world, options.off));
    if !options.off.has(LintRule::F11) {
        let (more, undecided) = manifest::check(&world, sources, config);
        findings.extend(more);
        report.undecided.extend(undecided);
        findings.extend(packages::forbids(&world, config));
        findings.extend(packages::flags(&world, config));
    }
    findings.sort_by(|a, b| a.key().cmp(&b.key()).then_with(|| a.route.cmp(b.route)));
    // Several targets may compile one file, which then has the same finding several times.
    findings.dedup_by(|b, a| a.key() == b.key());
    let applied = allow::apply(findings, config);
    report.summary.allowed = applied.covered;
    report.findings = applied.findings;
    if options.off.has(LintRule::F13) {
        report.findings.retain(|finding| finding.rule != LintRule::F13);
    }
    for finding in &report.findings {
        // Code that could not be read may contain anything, so the run is undecided as well.
        if finding.rule == LintRule::F08 && finding.route.starts_with("un") {
            let message = format!("{}: {}", finding.site.file, finding.message);
            report.undecided.push(UndecidedReason::new("F08", message));
        }
    }
    summary(&world, &inventory, config, &mut report);
    report.sort();
    excerpts(&world, sources, &bytes, &mut report);
    report
}

fn rules_off(config: &FenceConfig, report: &mut FenceReport) {
    let mut off = |rules: &[LintRule], why: &str| {
        report.summary.off.extend(rules.iter().map(|rule| (*rule, why.to_owned())));
    };
    if config.capability_crates.is_empty() {
        let all = [
            LintRule::F01,
            LintRule::F02,
            LintRule::F03,
            LintRule::F04,
            LintRule::F05,
            LintRule::F06,
            LintRule::F07,
            LintRule::F09,
        ];
        off(&all, "no capability crate in the config");
        off(&[LintRule::F11], "no capability crate in the config");
    }
    if config.grant_type.is_none() {
        off(&[LintRule::F10], "no `grant-type` in the config");
    }
    if config.mint_callers.is_empty() && config.restricted.is_empty() {
        off(&[LintRule::F12], "no callers in the config");
    }
    if config.race.is_none() {
        off(&[LintRule::E01], "no `race` type in the config");
    }
}

/// Reads and parses every file of the scanned packages, and the files that those include.
fn read_all(
    world: &mut World<'_>,
    sources: &Sources<'_>,
    config: &FenceConfig,
    options: RunOptions,
    report: &mut FenceReport,
) -> Bytes {
    let mut bytes = Bytes::new();
    let mut kept = 0_usize;
    let owners: BTreeSet<&str> =
        config.restricted.iter().filter_map(|one| one.path.split("::").next()).collect();
    let keep_of = |world: &World<'_>, package: usize| {
        let lib = world.package(package).and_then(crate::input::Package::lib_name);
        CollectOptions {
            signatures: world.capability.contains(&package)
                || lib.is_some_and(|lib| owners.contains(lib.as_str()))
                || world.race_dependents.contains(&package),
            fields: world.race_dependents.contains(&package),
        }
    };
    let mut todo: Vec<(camino::Utf8PathBuf, usize, FileShape)> = Vec::new();
    for package in &world.scanned {
        for file in world.package(*package).map(|package| package.files.as_slice()).unwrap_or_default() {
            todo.push((file.clone(), *package, FileShape::Module));
        }
    }
    loop {
        todo.retain(|(path, ..)| !world.by_path.contains_key(path));
        todo.sort();
        todo.dedup_by(|a, b| a.0 == b.0);
        // The longest files go first, so that their trees are dropped before the tables of all others have
        // grown.
        todo.sort_by_cached_key(|(path, ..)| (std::cmp::Reverse((sources.sizer)(path)), path.clone()));
        let work: Vec<_> =
            todo.iter().map(|(path, package, shape)| (path, keep_of(world, *package), *shape)).collect();
        // Each worker has its own interner, because sharing one would need a lock for every name.
        let done = parallel(&work, options, |(path, keep, shape), names: &mut NameInterner| {
            read_names(path, *keep, *shape, sources, &config.type_glob, names)
        });
        let done = match done {
            Ok(done) => done,
            Err(undecided) => {
                report.undecided.push(undecided);
                return bytes;
            }
        };
        for ((path, ..), (info, text)) in todo.iter().zip(done) {
            let index = world.files.len();
            if kept.saturating_add(text.len()) <= KEPT {
                kept = kept.saturating_add(text.len());
                bytes.insert(index, text);
            }
            world.files.push(info);
            world.by_path.insert(path.clone(), index);
        }
        let wanted = modules::assemble(world, sources);
        if wanted.is_empty() {
            return bytes;
        }
        todo = wanted.into_iter().map(|one| (one.path, one.package, FileShape::Included)).collect();
    }
}

/// Applies a function to items on several threads. The results keep the order of the items.
///
/// # Errors
/// `fence/threads` if no thread could be started, so that the items were not looked at.
pub(crate) fn parallel<T: Sync, R: Send, S: Default>(
    items: &[T],
    options: RunOptions,
    work: impl Fn(&T, &mut S) -> R + Sync,
) -> Result<Vec<R>, UndecidedReason> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let mut failure = None;
    std::thread::scope(|scope| {
        for _ in 0..options.threads.clamp(1, items.len().max(1)) {
            let body = || {
                let mut state = S::default();
                let mut own = Vec::new();
                loop {
                    // A shared counter balances the load better than fixed ranges, since files differ in size
                    // by orders of magnitude.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    own.push((index, work(item, &mut state)));
                }
                done.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
            };
            if let Err(error) =
                std::thread::Builder::new().stack_size(options.stack).spawn_scoped(scope, body)
            {
                failure = Some(error);
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A thread that cannot be started costs only time, because the others take its items. Without any thread
    // nothing was checked, and a report without findings would pass for a clean one. The caller's own thread is
    // no substitute: its stack may be too small for a deep syntax tree.
    if done.len() < items.len() {
        let cause = failure.map_or_else(String::new, |error| format!(": {error}"));
        let message = format!("{} files not checked, since no thread could be started{cause}", items.len());
        return Err(UndecidedReason::new("fence/threads", message));
    }
    // The order of completion depends on timing, and the report must not.
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, answer)| answer).collect())
}

pub(crate) fn fingerprint(bytes: &[u8]) -> (usize, u64) {
    // The fingerprint detects an edit during the run. It does not have to resist an attacker who can write to
    // the workspace.
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    (bytes.len(), hasher.finish())
}

/// Reads a file and collects its names.
fn read_names(
    path: &Utf8Path,
    keep: CollectOptions,
    shape: FileShape,
    sources: &Sources<'_>,
    glob: &str,
    names: &mut NameInterner,
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
            // Line 0 marks an included file that does not exist. The finding then belongs to its `include!`.
            let line = u32::from(shape == FileShape::Module);
            return (missing("no such file".to_owned(), line), Vec::new());
        }
        Err(error) => return (missing(format!("cannot read the file: {error}"), 1), Vec::new()),
    };
    let mut statements = false;
    let alone = one_at_a_time(&bytes);
    // Whether a type of this file may contain a capability must be known before the tree exists.
    let matches = word_filter::matches_glob(&bytes, glob);
    let keep = CollectOptions { fields: keep.fields || matches, signatures: keep.signatures || matches };
    let table = if shape == FileShape::Module {
        collect::while_parsed(&bytes, keep, names)
    } else {
        match parse::parse(&bytes, shape) {
            Ok(Tree::Items(file)) => Ok(collect::file(&file.items, &file.attrs, keep, names)),
            Ok(Tree::Statements(list)) => {
                statements = true;
                Ok(collect::block(&list, keep, names))
            }
            Err(unparsed) => Err(unparsed),
        }
    };
    let table = table.map(|table: FileTable| FileTable { flags: flags(&bytes), ..table });
    // The lock is released only after the tree is gone.
    drop(alone);
    parse::forget_spans();
    let info = FileInfo { path: path.to_path_buf(), table, print: fingerprint(&bytes), statements };
    (info, bytes)
}

/// Returns the `cfg`s that a build script sets. Few files contain the word, so others are not parsed for it.
fn flags(bytes: &[u8]) -> Vec<CfgFlag> {
    if memchr::memmem::find(bytes, b"rustc-cfg").is_none() {
        return Vec::new();
    }
    parse::tokens(bytes).map(collect::flags_of).unwrap_or_default()
}

/// Takes a lock while a large file is parsed, to bound peak memory.
pub(crate) fn one_at_a_time(bytes: &[u8]) -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    (bytes.len() > LARGE).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

fn summary(world: &World<'_>, inventory: &Inventory, _: &FenceConfig, report: &mut FenceReport) {
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

/// Copies the lines with findings into the report, for the text format.
fn excerpts(world: &World<'_>, sources: &Sources<'_>, bytes: &Bytes, report: &mut FenceReport) {
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

#[cfg(test)]
mod tests {
    use super::{RunOptions, STACK, parallel};

    #[test]
    fn items_are_done_in_order_on_any_number_of_threads() {
        for threads in [0, 1, 3, 100] {
            let options = RunOptions { threads, stack: STACK, ..RunOptions::default() };
            let doubled = parallel(&[1, 2, 3], options, |item, (): &mut ()| item * 2);
            assert_eq!(doubled.unwrap(), [2, 4, 6]);
        }
    }

    #[test]
    fn a_run_without_threads_is_undecided() {
        // No address space has room for this stack, so the system refuses the thread.
        let options = RunOptions { stack: 1 << (usize::BITS - 2), ..RunOptions::default() };
        let files = [("caps/src/lib.rs".to_owned(), b"pub struct NetCapability;".to_vec())];
        let files = files.into_iter().collect();
        let packages = [crate::PackageSpec::new("caps", "caps")];
        let sources = crate::Sources::in_memory(&packages, &files);
        let report = super::run(&sources, &crate::FenceConfig::for_crates(&["caps"]), options);
        assert!(
            report.undecided.iter().any(|reason| reason.code == "fence/threads"),
            "{:?}",
            report.undecided
        );
        assert_eq!(report.exit_code(), 2);
    }
}
