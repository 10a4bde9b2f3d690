//! One run over given sources, from bytes to findings.

pub(crate) mod coverage;
pub(crate) mod fence;
pub(crate) mod second_pass;
pub(crate) mod word_filter;

use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::LintRule;
use crate::config::{FenceConfig, allow};
use crate::input::{Sources, members};
use crate::names::collect;
use crate::names::inventory::{self, Inventory};
use crate::names::modules::{self, FileInfo, World};
use crate::names::resolve::Resolver;
use crate::names::scopes::Scopes;
use crate::report::{FenceReport, UndecidedReason};
use crate::rules::{manifest, packages};
use crate::run::second_pass::SecondPass;
use crate::run::word_filter::WordFilter;
use crate::syntax::parse::{self, Unparsed};

/// The stack size of a worker. Everything that the depth check accepts fits in it, also in debug builds.
const STACK: usize = 256 << 20;

/// The settings of a run that are not part of the config.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunOptions {
    pub(crate) threads: usize,
    /// The stack size of a worker in bytes. Only a test sets another one than [`STACK`].
    pub(crate) stack: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, stack: STACK }
    }
}

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
    read_all(&mut world, sources, options, &mut report);
    let scopes = Scopes::read(&world);
    let inventory = inventory::read(&world, &scopes, config);
    coverage::check(&world, &inventory, config, &mut report);
    let words = WordFilter::read(&Resolver::new(&world, &scopes, &inventory), config);
    let pass = SecondPass { world: &world, scopes: &scopes, inventory: &inventory, config, words: &words };
    let mut findings = pass.all(sources, options, &mut report.undecided);
    findings.extend(packages::unparsed(&world));
    let (more, undecided) = manifest::check(&world, sources, config);
    findings.extend(more);
    report.undecided.extend(undecided);
    findings.extend(packages::forbids(&world, config));
    findings.sort_by(|a, b| a.key().cmp(&b.key()).then_with(|| a.route.cmp(b.route)));
    // Several targets may compile one file, which then has the same finding several times.
    findings.dedup_by(|b, a| a.key() == b.key());
    let applied = allow::apply(findings, config);
    report.summary.allowed = applied.covered;
    report.findings = applied.findings;
    for finding in &report.findings {
        // Code that could not be read may contain anything, so the run is undecided as well.
        if finding.rule == LintRule::F08 && finding.route.starts_with("un") {
            let message = format!("{}: {}", finding.site.file, finding.message);
            report.undecided.push(UndecidedReason::new("F08", message));
        }
    }
    summary(&world, &inventory, &mut report);
    report.sort();
    excerpts(sources, &mut report);
    report
}

fn rules_off(config: &FenceConfig, report: &mut FenceReport) {
    use LintRule::{E01, F01, F07, F09, F10, F11, F12};
    let no_callers = config.mint_callers.is_empty() && config.restricted.is_empty();
    for (is_off, rules, why) in [
        (config.capability_crates.is_empty(), &[F01, F07, F09, F11][..], "no capability crate in the config"),
        (config.grant_type.is_none(), &[F10], "no `grant-type` in the config"),
        (no_callers, &[F12], "no callers in the config"),
        (config.race.is_none(), &[E01], "no `race` type in the config"),
    ] {
        let rules = rules.iter().filter(|_| is_off);
        report.summary.off.extend(rules.map(|rule| (*rule, why.to_owned())));
    }
}

/// Reads and parses every file of the scanned packages, and the files that `#[path]` adds.
fn read_all(world: &mut World<'_>, sources: &Sources<'_>, options: RunOptions, report: &mut FenceReport) {
    let mut todo: BTreeMap<Utf8PathBuf, usize> = BTreeMap::new();
    for package in &world.scanned {
        let files = world.packages.get(*package).map(|package| package.files.as_slice());
        todo.extend(files.unwrap_or_default().iter().map(|file| (file.clone(), *package)));
    }
    while !todo.is_empty() {
        let work: Vec<&Utf8PathBuf> = todo.keys().collect();
        let done = parallel(&work, options, |path| read_names(path, sources));
        match done {
            Ok(done) => {
                for info in done {
                    world.by_path.insert(info.path.clone(), world.files.len());
                    world.files.push(info);
                }
            }
            Err(undecided) => return report.undecided.push(undecided),
        }
        todo = modules::assemble(world).into_iter().collect();
    }
}

/// Applies a function to items on several threads. The results keep the order of the items.
///
/// # Errors
/// `fence/threads` if no thread could be started, so that the items were not looked at.
pub(crate) fn parallel<T: Sync, R: Send>(
    items: &[T],
    options: RunOptions,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, UndecidedReason> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let mut failure = None;
    std::thread::scope(|scope| {
        for _ in 0..options.threads.clamp(1, items.len().max(1)) {
            let body = || {
                let mut own = Vec::new();
                loop {
                    // A shared counter balances the load better than fixed ranges, since files differ in size
                    // by orders of magnitude.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    own.push((index, work(item)));
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
fn read_names(path: &Utf8Path, sources: &Sources<'_>) -> FileInfo {
    let bytes = (sources.reader)(path).map_err(|error| error.to_string());
    let bytes = bytes.and_then(|bytes| bytes.ok_or_else(|| "no such file".to_owned()));
    let print = bytes.as_ref().map_or((0, 0), |bytes| fingerprint(bytes));
    let table = match bytes {
        Ok(bytes) => parse::parse(&bytes).map(|file| collect::file(&file)),
        Err(error) => Err(Unparsed { line: 1, column: 1, what: format!("cannot read the file: {error}") }),
    };
    parse::forget_spans();
    FileInfo { path: path.to_path_buf(), table, print }
}

fn summary(world: &World<'_>, inventory: &Inventory, report: &mut FenceReport) {
    report.summary.files = world.files.len();
    report.summary.parsed = world.files.iter().filter(|file| file.table.is_ok()).count();
    report.summary.unparsed = report.summary.files.saturating_sub(report.summary.parsed);
    report.summary.types.extend(inventory.types.iter().map(|ty| ty.2.to_string()));
    report.summary.types.sort();
    report.summary.not_scanned.sort();
    report.summary.off.sort();
}

/// Copies the lines with findings into the report, for the text format.
fn excerpts(sources: &Sources<'_>, report: &mut FenceReport) {
    let mut wanted: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for finding in &report.findings {
        wanted.entry(&finding.site.file).or_default().insert(finding.site.line);
    }
    let mut excerpts = BTreeMap::new();
    for (file, lines) in wanted {
        let Ok(Some(bytes)) = (sources.reader)(Utf8Path::new(file)) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let shown = (1_u32..).zip(text.lines()).filter(|(number, _)| lines.contains(number));
        excerpts.insert(file.to_owned(), shown.map(|(number, line)| (number, line.to_owned())).collect());
    }
    report.excerpts = excerpts;
}

#[cfg(test)]
mod tests {
    use super::RunOptions;

    #[test]
    fn a_run_without_threads_is_undecided() {
        // No address space has room for this stack, so the system refuses the thread.
        let options = RunOptions { stack: 1 << (usize::BITS - 2), ..RunOptions::default() };
        let files = [("caps/src/lib.rs".to_owned(), b"pub struct NetCapability;".to_vec())].into();
        let packages = [crate::PackageSpec::new("caps", "caps")];
        let sources = crate::Sources::in_memory(&packages, &files);
        let report = super::run(&sources, &crate::FenceConfig::for_crates(&["caps"]), options);
        assert!(report.undecided.iter().any(|reason| reason.code == "fence/threads"), "{report:?}");
        assert_eq!(report.exit_code(), 2);
    }
}
