//! The scan of all files of one plugin.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

pub(crate) mod cache;
mod connections;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod findings;
pub(crate) mod gate;
mod once;
pub(crate) mod options;
pub(crate) mod report;
pub(crate) mod sink;
pub(crate) mod snippet;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use plugward_types::{BehaviorEvidence, Part, Severity};

use self::file::{FileRecord, Reading};
use self::findings::{Place, Placed};
use crate::Profile;
use crate::ScanError;
use crate::inventory::crates;
use crate::inventory::names;
use crate::inventory::roles::{self, FileFacts, Roles};
use crate::known::credentials;
use crate::known::modules;
use crate::rules::Rules;
use crate::scan::entry::{Content, Entry, Lens};
use crate::scan::error::ScanErrorKind;
use crate::scan::options::ScanOptions;
use crate::scan::report::{FileState, ScanReport, ScanSummary};
use crate::scan::sink::{CodePart, Hit, Lowered, Named, Sink};
use crate::text::view::Obfuscations;

/// Scans all files of one plugin.
///
/// # Guarantees
///
/// After `Ok`, every given entry has one state, the raw rules read every byte of every file, and every byte of a file with
/// a lens was lexed within the limits. For fixed rules, time is linear in the number of bytes.
///
/// # Errors
///
/// `scan/duplicate-path`, `scan/too-many`, `scan/too-large`, and `scan/internal` for a worker that panicked. An error never
/// comes with a partial report.
///
/// HyperAgent's scan (see `docs/source-documents.md`) returns an empty list if its guest is missing; here that failure is
/// an error.
pub fn scan(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entries: &[Entry<'_>],
) -> Result<ScanReport, ScanError> {
    let order = check(options, entries)?;
    let entries = &crates::raised(entries);
    let readings = readings(options, entries, &order);
    let mut results = run(rules, options, entries, &order, &readings)?;
    named(rules, options, entries, (&order, &readings), &mut results)?;
    // A host's cache can panic here, too.
    let roles = || roles_of(rules, options, entries, &order, &results);
    let roles = std::panic::catch_unwind(std::panic::AssertUnwindSafe(roles));
    let roles = roles.map_err(|_shown| internal("the references between files"))?;
    let near = connections::conditions(rules, &results, &roles.references);
    let mut report = ScanReport {
        profile: options.profile,
        rules: rules.digest(),
        findings: Vec::new(),
        ends: Vec::new(),
        files: Vec::new(),
        summary: ScanSummary { files: order.len() as u64, ..ScanSummary::default() },
        behaviors: Vec::new(),
    };
    let mut placed: Vec<Placed> = Vec::new();
    for (((index, record), role), near) in order.iter().zip(&results).zip(roles.of).zip(&near) {
        let Some(entry) = entries.get(*index) else { continue };
        let file = Place { entry, record, role, near };
        let found = findings::make(rules, options, &file, &mut report.summary);
        report.summary.bytes = report.summary.bytes.saturating_add(record.bytes);
        placed.extend(found.placed);
        report.behaviors.extend(found.behaviors);
        report.files.push(FileState {
            path: entry.path.to_owned(),
            state: record.state,
            lens: record.lens,
            kind: record.role,
            role,
            bytes: record.bytes,
            digest: record.digest,
        });
    }
    declared_hosts(entries, &mut placed, &mut report.summary);
    if options.profile == Profile::General {
        once::once_per_host(entries, &mut placed, &mut report.summary);
    }
    placed.sort();
    (report.findings, report.ends) = placed.into_iter().map(|Placed { finding, end }| (finding, end)).unzip();
    limit_evidence(&mut report.behaviors);
    Ok(report)
}

/// Ends of the names of files in which a host without a URL is in quotes.
const CODE_FILES: &[&str] = &["py", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

/// Drops findings about secrets sent to a host that another file of the plugin mentions.
fn declared_hosts(entries: &[Entry<'_>], placed: &mut Vec<Placed>, summary: &mut ScanSummary) {
    let undeclared = |one: &Placed| {
        one.finding.rule.as_str() == findings::UNDECLARED && one.finding.severity == Severity::Warning
    };
    let files = entry::bytes_by_path(entries);
    let host_of = |one: &Placed| {
        let finding = &one.finding;
        let own = files.get(finding.path.as_str()).copied().unwrap_or_default();
        let text = own.part(finding.span.start..finding.span.end);
        let is_code = CODE_FILES.iter().any(|end| finding.path.ends_with(end));
        crate::known::hosts::first(text).or_else(|| {
            let bare =
                if is_code { crate::known::hosts::first_quoted } else { crate::known::hosts::first_word };
            bare(text)
        })
    };
    let mut named: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for one in placed.iter().filter(|one| undeclared(one)) {
        named.extend(host_of(one).map(|host| (host, BTreeSet::new())));
    }
    // Most plugins send no secret, and then no file has to be searched.
    if !named.is_empty()
        && let Ok(search) = aho_corasick::AhoCorasick::new(named.keys())
    {
        let mut sets: Vec<&mut BTreeSet<&str>> = named.values_mut().collect();
        for (path, bytes) in &files {
            for found in search.find_overlapping_iter(*bytes) {
                sets.get_mut(found.pattern().as_usize()).map(|set| set.insert(path));
            }
        }
    }
    placed.retain(|one| {
        if !undeclared(one) {
            return true;
        }
        let path = one.finding.path.as_str();
        // A computed host is not mentioned anywhere, which proves nothing.
        let declared = host_of(one).is_none_or(|host| {
            crate::known::hosts::is_local(&host)
                || crate::known::hosts::is_issuer(&host)
                || named.get(&host).is_some_and(|files| files.iter().any(|file| *file != path))
                || credentials::is_issued_by(files.get(path).copied().unwrap_or_default(), &host)
        });
        if declared {
            summary.warning = summary.warning.saturating_sub(1);
        }
        !declared
    });
}

/// The most places of one behavior that a report lists.
const EVIDENCE: usize = 20;

/// Keeps the first places of each behavior, preferring executed code.
fn limit_evidence(evidence: &mut Vec<BehaviorEvidence>) {
    evidence.sort_by(|a, b| {
        let key = |one: &BehaviorEvidence| (one.behavior, core::cmp::Reverse(one.role));
        key(a).cmp(&key(b)).then_with(|| a.cmp(b))
    });
    evidence.dedup_by(|a, b| a.behavior == b.behavior && a.path == b.path && a.line == b.line);
    let mut count = (None, 0_usize);
    evidence.retain(|one| {
        count = if count.0 == Some(one.behavior) { (count.0, count.1 + 1) } else { (Some(one.behavior), 1) };
        count.1 <= EVIDENCE
    });
}

/// Returns the roles of the files, in the order of paths.
///
/// They are recorded like the matches, because the search for references reads every file.
fn roles_of(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entries: &[Entry<'_>],
    order: &[usize],
    results: &[FileRecord],
) -> Roles {
    let sorted: Vec<Entry<'_>> = order.iter().filter_map(|index| entries.get(*index)).copied().collect();
    let runs = |one: &&Named| one.part != CodePart::Settings;
    let paths = |record: &FileRecord| record.named.iter().filter(runs).map(|one| one.path.clone()).collect();
    let named: Vec<Vec<String>> = results.iter().map(paths).collect();
    let facts: Vec<FileFacts<'_>> = results
        .iter()
        .zip(&named)
        .map(|(record, named)| FileFacts { named, loads_computed: loads_computed(rules, record) })
        .collect();
    let Some(cache) = options.cache else { return roles::roles(&sorted, &facts) };
    let key = cache::roles_key(&sorted, &facts);
    let known = cache.get(&key).and_then(|record| cache::decode_roles(&key, &record, sorted.len()));
    known.unwrap_or_else(|| {
        let roles = roles::roles(&sorted, &facts);
        if let Some(record) = cache::encode_roles(&key, &roles) {
            cache.put(&key, &record);
        }
        roles
    })
}

/// Returns `true` if code loads other code whose name is known only at run time.
fn loads_computed(rules: &Rules, record: &FileRecord) -> bool {
    record.hits.iter().any(|hit| {
        let rule = rules.matcher(hit.matcher).and_then(|known| rules.table.get(usize::from(known.rule)));
        rule.is_some_and(|rule| COMPUTED.contains(&rule.id.as_str()))
    })
}

/// The rules for code with a computed name.
const COMPUTED: &[&str] = &["load/computed", "py/dynamic-import"];

/// Checks the limits and returns the entries' order by path.
fn check(options: &ScanOptions<'_>, entries: &[Entry<'_>]) -> Result<Vec<usize>, ScanError> {
    let limit = options.limits.entries;
    if entries.len() > limit {
        return Err(ScanError::new(ScanErrorKind::TooMany { actual: entries.len(), limit }));
    }
    let size = |entry: &Entry<'_>| match entry.content {
        Content::Bytes { bytes, .. } => bytes.len() as u64,
        _ => 0,
    };
    let actual = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(size(entry)));
    if actual > options.limits.bytes {
        return Err(ScanError::new(ScanErrorKind::TooLarge { actual, limit: options.limits.bytes }));
    }
    let mut order: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate() {
        if order.insert(entry.path, index).is_some() {
            return Err(ScanError::new(ScanErrorKind::DuplicatePath { path: entry.path.to_owned() }));
        }
    }
    Ok(order.into_values().collect())
}

/// Distributes the plugin's limit of lexed bytes in the order of paths, so that the result does not depend on threads.
fn readings(options: &ScanOptions<'_>, entries: &[Entry<'_>], order: &[usize]) -> Vec<Reading> {
    let mut left = options.limits.lexed;
    order
        .iter()
        .map(|index| match entries.get(*index).map(|entry| entry.content) {
            Some(Content::Bytes { bytes, .. }) => {
                let cost = bytes.len().min(options.limits.file) as u64;
                match left.checked_sub(cost) {
                    Some(rest) => {
                        left = rest;
                        Reading::Full
                    }
                    None => Reading::Raw,
                }
            }
            _ => Reading::Full,
        })
        .collect()
}

/// Detectors of secrets that are sent.
const CREDENTIALS: &str = "flow-credentials-sent";
const TRANSCRIPT: &str = "flow-transcript-sent";

/// Reads files without a code extension again, as the language in which code loads or runs them.
fn named(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entries: &[Entry<'_>],
    (order, readings): (&[usize], &[Reading]),
    results: &mut [FileRecord],
) -> Result<(), ScanError> {
    let at: BTreeMap<&str, usize> = order
        .iter()
        .zip(0_usize..)
        .filter_map(|(index, turn)| entries.get(*index).map(|entry| (entry.path, turn)))
        .collect();
    let texts = texts(entries);
    // A named file can name another; each is read again at most once.
    let (mut done, mut done_texts, mut done_given) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<usize> = (0..results.len()).collect();
    while let Some(turn) = open.pop() {
        let Some(result) = results.get(turn) else { continue };
        let Some(from) = order.get(turn).and_then(|index| entries.get(*index)) else { continue };
        let mut targets: BTreeMap<usize, Lens> = BTreeMap::new();
        let mut texts_of: BTreeSet<(usize, Lens)> = BTreeSet::new();
        let mut given: Vec<(usize, &str, u32, u32)> = Vec::new();
        let mut settings: BTreeSet<usize> = BTreeSet::new();
        for Named { lens, path, part } in &result.named {
            if *part == CodePart::Settings {
                settings.extend(modules::above(from.path, path, |name| at.get(name).copied()));
                continue;
            }
            if *part != CodePart::File {
                let known =
                    modules::files(path).find_map(|path| at.get(&*modules::resolve(from.path, &path)));
                let Some(target) = known else { continue };
                match *part {
                    CodePart::GivenCredentials(start, end) => given.push((*target, CREDENTIALS, start, end)),
                    CodePart::GivenTranscript(start, end) => given.push((*target, TRANSCRIPT, start, end)),
                    _ => drop(texts_of.insert((*target, *lens))),
                }
                continue;
            }
            let runs = matches!(lens, Lens::Js | Lens::Py | Lens::Sh);
            if !runs || modules::last_part(path).is_some_and(|name| !texts.contains(name)) {
                continue;
            }
            let target = modules::above(from.path, path, |name| at.get(name).copied());
            if let Some(target) = target.filter(|target| !done.contains(target)) {
                targets.entry(target).or_insert(*lens);
            }
        }
        for (target, shape, start, end) in given {
            let sends = |record| {
                findings::rules_of(rules, record).any(|rule| connections::NETWORK.contains(&rule.id.as_str()))
            };
            let span = (start as usize, end as usize);
            if results.get(target).is_some_and(sends) && done_given.insert((turn, span)) {
                let mut sink =
                    Sink::new(rules, results.get(turn).and_then(|record| record.lens), from.path, &[]);
                sink.shape(shape, span, Obfuscations::NONE);
                // Which of its arguments the function sends is not known.
                sink.hits.iter_mut().for_each(|hit| hit.lowered = Lowered::Shown);
                if let Some(record) = results.get_mut(turn) {
                    record.hits.append(&mut sink.hits);
                }
            }
        }
        for target in settings {
            let entry = order.get(target).and_then(|index| entries.get(*index));
            if let (Some(entry), Some(record)) = (entry, results.get_mut(turn)) {
                merged(rules, options, from, entry, record);
            }
        }
        for (target, lens) in texts_of {
            let entry = order.get(target).and_then(|index| entries.get(*index));
            if let (Some(entry), Some(record), true) =
                (entry, results.get_mut(target), done_texts.insert((target, lens)))
            {
                file::texts_as(rules, options, entry, lens, record);
            }
        }
        for (target, lens) in targets {
            let Some(entry) = order.get(target).and_then(|index| entries.get(*index)) else { continue };
            if results.get(target).is_some_and(|known| known.lens == Some(lens)) {
                // The first line already selected this language.
                continue;
            }
            if !is_text(entry.path, lens) {
                continue;
            }
            let reading = readings.get(target).copied().unwrap_or(Reading::Full);
            let as_code = Entry { role: entry.role.and_lens(lens), ..*entry };
            let read = || one(rules, options, &as_code, reading, Use::Run);
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
            let read = read.map_err(|_shown| internal(entry.path))?;
            if let Some(slot) = results.get_mut(target) {
                done.insert(target);
                // The name of a bundled file alone is not an obfuscation: the second reading must show an additional danger.
                let more = dangers(rules, &read) > dangers(rules, slot) + 1;
                if lens == Lens::Js && names::is_asset(entry.path) && !more {
                    continue;
                }
                *slot = read;
                open.push(target);
            }
        }
    }
    Ok(())
}

/// The settings as which a merged file is read.
const SETTINGS: &str = ".claude/settings.json";

/// Reports what a file of the plugin sets, in the script that merges it into the settings of an agent.
fn merged(
    rules: &Rules,
    options: &ScanOptions<'_>,
    script: &Entry<'_>,
    entry: &Entry<'_>,
    record: &mut FileRecord,
) {
    let Content::Bytes { bytes, .. } = script.content else { return };
    if findings::rules_of(rules, record).all(|rule| rule.id.as_str() != "fs/agent-settings") {
        return;
    }
    let name = entry.path.rsplit('/').next().unwrap_or(entry.path);
    // Its directory tells it from the settings with the same name.
    let from = entry.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let below = from.rsplit('/').next().unwrap_or(from);
    let place = memchr::memmem::find(bytes, format!("{below}/{name}").as_bytes());
    let start = place.map(|at| at + below.len() + 1).or_else(|| memchr::memmem::find(bytes, name.as_bytes()));
    let span = start.map_or((0, 0), |at| (crate::lex::offset(at), crate::lex::offset(at + name.len())));
    let mut read = file::scan(rules, options, &Entry { path: SETTINGS, ..*entry }, Reading::Full).hits;
    file::as_written(rules, entry, &mut read);
    let is_setting = |hit: &Hit| {
        let rule = rules.matcher(hit.matcher).and_then(|known| rules.table.get(usize::from(known.rule)));
        rule.is_some_and(|rule| matches!(rule.id.family(), "config" | "net"))
    };
    let hits = read.into_iter().filter(is_setting);
    record.hits.extend(hits.map(|hit| Hit { start: span.0, end: span.1, lowered: Lowered::No, ..hit }));
}

/// Returns the error for a file whose reader panicked. The panic message is on standard error.
fn internal(path: &str) -> ScanError {
    ScanError::new(ScanErrorKind::Internal { path: path.to_owned() })
}

/// Returns `true` if a file has no extension of the language that reads it. Shells source settings files and JavaScript
/// requires JSON, so these do not count; Python runs neither.
fn is_text(path: &str, lens: Lens) -> bool {
    let plain = match names::lens(path) {
        None | Some(Lens::Prose) => true,
        Some(Lens::Data) => lens == Lens::Py,
        Some(_) => false,
    };
    plain && !names::is_unread_language(path)
}

/// The file names of the entries that [`is_text`] accepts for some language.
fn texts<'a>(entries: &[Entry<'a>]) -> BTreeSet<&'a str> {
    let paths = entries.iter().map(|entry| entry.path);
    let paths = paths.filter(|path| is_text(path, Lens::Py));
    paths.map(|path| path.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default()).collect()
}

/// Whether code of the plugin runs a file by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Unknown,
    Run,
}

/// Returns the order in which threads take files: the largest first, so that none starts a large file at the end. The
/// report is in the order of paths regardless.
fn turns(entries: &[Entry<'_>], order: &[usize], jobs: usize) -> Vec<usize> {
    let mut turns: Vec<usize> = (0..order.len()).collect();
    if jobs > 1 {
        let size = |turn: &usize| match order.get(*turn).and_then(|index| entries.get(*index)) {
            Some(Entry { content: Content::Bytes { bytes, .. }, .. }) => bytes.len(),
            _ => 0,
        };
        turns.sort_by_key(|turn| core::cmp::Reverse(size(turn)));
    }
    turns
}

fn run(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entries: &[Entry<'_>],
    order: &[usize],
    readings: &[Reading],
) -> Result<Vec<FileRecord>, ScanError> {
    let jobs = options.jobs.get().min(order.len().max(1));
    let turns = turns(entries, order, jobs);
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, FileRecord>> = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some(&turn) = turns.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (Some(index), Some(reading)) = (order.get(turn), readings.get(turn)) else { break };
            let Some(entry) = entries.get(*index) else { break };
            let result = one(rules, options, entry, *reading, Use::Unknown);
            if let Ok(mut done) = done.lock() {
                done.insert(turn, result);
            }
        }
    };
    if jobs == 1 {
        // A panic shows as a missing result below, with and without threads.
        drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                drop(thread.join());
            }
        });
    }
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut results = Vec::with_capacity(order.len());
    for (turn, index) in order.iter().enumerate() {
        let path = entries.get(*index).map_or("", |entry| entry.path);
        results.push(done.remove(&turn).ok_or_else(|| internal(path))?);
    }
    Ok(results)
}

fn one(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    reading: Reading,
    how: Use,
) -> FileRecord {
    let mut record: FileRecord = file::scan(rules, options, entry, reading);
    if how == Use::Run {
        file::runs(rules, entry, &mut record);
    }
    record
}

/// Counts the hits of rules that are danger for guest plugins, the strictest profile.
fn dangers(rules: &Rules, record: &FileRecord) -> usize {
    let is = |hit: &&Hit| {
        let rule = rules.matcher(hit.matcher).and_then(|known| rules.table.get(usize::from(known.rule)));
        rule.and_then(|rule| rule.severity(Profile::StrictPlugin)) == Some(Severity::Danger)
    };
    record.hits.iter().filter(is).count()
}

/// Returns the ids of the rules with findings in a report.
pub(crate) fn shown(report: &ScanReport) -> BTreeSet<&str> {
    report.findings.iter().map(|finding| finding.rule.as_str()).collect()
}
