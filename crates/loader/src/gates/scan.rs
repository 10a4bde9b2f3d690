//! The scan gate: applies the rules to the digested bytes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::{CommandSources, Dialect, MARKETPLACE_FILES, MarketplaceEntry, read_marketplace};
use plugward_pinstore::ReviewedDigests;
use plugward_scanner::{
    Completeness, Content as Bytes, Entry, EntryState, FileKind, Profile, RoleHint, ScanOptions, ScanReport,
    Suppression,
};
use plugward_tree_lock::Snapshot;
use plugward_types::{BehaviorEvidence, Finding, RuleId, Severity};

use super::settings_findings::{self, SETTINGS_FILE};
use super::{Context, passed, pin};
use crate::contents::audit::FileUse;
use crate::contents::hash::sha256;
use crate::contents::shared::Content;
use crate::contents::view::entries;
use crate::report::{Gate, SuppressedReport};
use crate::run::examined::Examined;
use crate::run::options::{ByteRetention, CheckOptions, ScanAsk};
use crate::run::outcome::{GateOutcome, Notice, Reason, Weight};

/// The code for suspicious findings that a person must accept.
pub(crate) const SUSPICIOUS: &str = "scan/suspicious";
/// The name under which a marketplace entry is scanned.
const ENTRY_FILE: &str = "marketplace.json";
const UNUSED: &str = "scan/suppression-unused";

/// The suppressions for every plugin that matched a finding in this run.
#[derive(Debug, Default)]
pub(crate) struct UsedSuppressions(RefCell<BTreeSet<usize>>);

impl UsedSuppressions {
    /// Returns a notice for each suppression for every plugin that matched nothing in the run.
    pub(crate) fn notices(&self, options: &CheckOptions) -> Vec<Notice> {
        let used = self.0.borrow();
        let unused = options
            .suppressions
            .iter()
            .enumerate()
            .filter(|(at, entry)| entry.plugin.is_none() && !used.contains(at));
        unused
            .map(|(_, entry)| {
                let (path, rule) = (&entry.entry.path, &entry.entry.rule);
                Notice::new(
                    UNUSED,
                    Gate::Scan,
                    format!("{path}: no plugin has a finding for the suppression of {rule}"),
                )
            })
            .collect()
    }
}

/// The scans of a plugin's directory and of its shared directories.
struct Scanned {
    parts: Vec<Part>,
}

/// The scan of one directory, with the secrets that only redaction detects.
struct Part {
    before: String,
    report: ScanReport,
    secrets: Vec<Finding>,
    /// The rules that the settings of a host were judged by, with the names of the settings.
    judged: BTreeSet<(RuleId, String)>,
}

impl Part {
    /// Returns the findings. What a rule finds about a setting in the parts of its file is not shown twice.
    fn findings(&self) -> impl Iterator<Item = &Finding> {
        let is_again = |one: &Finding| {
            self.judged.iter().any(|(rule, name)| *rule == one.rule && one.snippet.contains(name))
        };
        self.report.findings().iter().filter(move |one| one.path == SETTINGS_FILE || !is_again(one))
    }
}

/// The result of the gate, with the findings.
pub(crate) struct ScanResult {
    pub(crate) outcome: GateOutcome,
    pub(crate) findings: Vec<Finding>,
    pub(crate) suppressed: Vec<SuppressedReport>,
    pub(crate) behaviors: Vec<BehaviorEvidence>,
    /// The use of each file, if the caller requested the bytes of the plugin.
    pub(crate) uses: BTreeMap<String, FileUse>,
}

/// Scans the digested bytes, once for the whole directory.
pub(crate) fn gate(one: &Examined, snapshot: &Snapshot, context: &Context<'_>) -> ScanResult {
    let options = context.options;
    let mut result = ScanResult {
        outcome: passed(Gate::Scan),
        findings: Vec::new(),
        suppressed: Vec::new(),
        behaviors: Vec::new(),
        uses: BTreeMap::new(),
    };
    let profiles = options.profile.map_or_else(|| profiles(&one.dialects), |profile| vec![profile]);
    match scan(snapshot, one, &profiles, options) {
        Ok(mut scanned) => {
            if let Some(own) = scanned.parts.first_mut() {
                let found = settings_findings::of(one);
                own.judged = found.iter().map(|one| (one.rule.clone(), one.snippet.clone())).collect();
                own.report.add_findings(found);
            }
            decide(&mut result, one, &scanned, &profiles, context);
        }
        Err(message) => {
            let help = "fix the cause; a plugin that cannot be scanned does not load";
            result.outcome.add("scan/error", Weight::CouldNotTell, message, help);
        }
    }
    result
}

/// Returns the profiles of a plugin's dialects. A finding has the most severe tier that one of them gives.
///
/// HyperAgent plugins can import very little, and a second manifest for a host that allows more does not relax that. Its
/// profile only lists suspicious findings, and a second manifest for HyperAgent does not relax the others.
fn profiles(dialects: &[Dialect]) -> Vec<Profile> {
    let is_strict = |dialect: &Dialect| *dialect == Dialect::Hyperagent;
    let strict = dialects.iter().any(is_strict).then_some(Profile::StrictPlugin);
    let general = (strict.is_none() || !dialects.iter().all(is_strict)).then_some(Profile::General);
    general.into_iter().chain(strict).collect()
}

fn scan(
    snapshot: &Snapshot,
    one: &Examined,
    profiles: &[Profile],
    options: &CheckOptions,
) -> Result<Scanned, String> {
    let Examined { shared, closure_files: closure, views, .. } = one;
    let mut how = ScanOptions::new(Profile::General);
    how.jobs = options.jobs;
    how.limits = options.scan;
    how.packages = &options.packages;
    how.cache = options.scan_cache();
    let mut look = |before: String, files: &[Entry<'_>]| {
        let mut merged: Option<ScanReport> = None;
        for profile in profiles {
            how.profile = *profile;
            let next = plugward_scanner::scan(options.rules(), &how, files)
                .map_err(|error| format!("{error} ({})", error.code()))?;
            match &mut merged {
                Some(report) => report.add_findings(next.findings().iter().cloned()),
                None => merged = Some(next),
            }
        }
        let report = merged.ok_or("no profile for the scan")?;
        let secrets = crate::contents::secrets::look(files, &report, how.cache)?;
        Ok::<Part, String>(Part { before, report, secrets, judged: BTreeSet::new() })
    };
    let hints = crate::contents::hints::Hints::of(views);
    let mut parts = vec![look(String::new(), &entries(snapshot, &|path| hints.role(path)))?];
    for (name, content) in shared.contents() {
        match content {
            Content::Directory(snapshot) => {
                parts.push(look(format!("{name}/"), &entries(snapshot, &|_| RoleHint::NONE))?);
            }
            Content::File { bytes, digest, .. } => {
                let (directory, path) = name.rsplit_once('/').unwrap_or(("..", name));
                let content = Bytes::Bytes { bytes, digest: *digest };
                let file = Entry { path, content, role: RoleHint::NONE };
                parts.push(look(format!("{directory}/"), &[file])?);
            }
        }
    }
    // The commands in a marketplace entry are in no file of the plugin, unless the plugin contains the same entry.
    let own = contained_entries(snapshot);
    let listings = one.place.named.iter().chain(&one.place.further).map(|listing| &listing.entry);
    for entry in listings.filter(|entry| entry.has_components() && !own.contains(entry.canonical())) {
        let bytes = entry.raw().as_bytes();
        let digest = sha256(bytes);
        let content = Bytes::Bytes { bytes, digest };
        parts.push(look(String::new(), &[Entry { path: ENTRY_FILE, content, role: RoleHint::NONE }])?);
    }
    for files in core::iter::once(closure.scanned()).chain(one.vcs.scanned()) {
        if !files.is_empty() {
            parts.push(look(String::new(), &files)?);
        }
    }
    Ok(Scanned { parts })
}

/// Returns the entries of the marketplace files in a plugin, in their canonical form.
fn contained_entries(snapshot: &Snapshot) -> BTreeSet<String> {
    let files = MARKETPLACE_FILES.iter().filter_map(|(_, file)| Some((*file, snapshot.file(file)?)));
    let read =
        files.filter_map(|(file, entry)| read_marketplace(file, entry.bytes(), CommandSources::Refused).ok());
    let canonical = |entry: &MarketplaceEntry| entry.canonical().to_owned();
    read.flat_map(|(market, _)| market.entries().iter().map(canonical).collect::<Vec<_>>()).collect()
}

/// Decides with the suppressions that apply to this plugin.
fn decide(
    result: &mut ScanResult,
    one: &Examined,
    scanned: &Scanned,
    profiles: &[Profile],
    context: &Context<'_>,
) {
    let options = context.options;
    let mut found: Vec<Finding> = Vec::new();
    let is_wanted = matches!(&options.keep, ByteRetention::Of(key) if *key == one.key);
    for scanned in &scanned.parts {
        let Part { before, report: part, secrets, .. } = scanned;
        let own = suppressions(one, before, part, options, context.used);
        let decision = plugward_scanner::gate(part, &own, options.today);
        let place =
            |finding: &Finding| Finding { path: format!("{before}{}", finding.path), ..finding.clone() };
        found.extend(scanned.findings().chain(secrets).map(place));
        let files = part.files().iter().filter(|_| is_wanted);
        result.uses.extend(files.map(|file| {
            // Files that a host reads for settings have that kind too, and their texts are not claims.
            let mut main = one.dialects.iter().flat_map(|dialect| dialect.main_files());
            let is_manifest = file.kind == FileKind::Manifest && main.any(|name| name == file.path);
            (format!("{before}{}", file.path), FileUse { role: file.role, is_manifest })
        }));
        let evidence = part.evidence().iter().cloned();
        result
            .behaviors
            .extend(evidence.map(|one| BehaviorEvidence { path: format!("{before}{}", one.path), ..one }));
        result.suppressed.extend(decision.suppressed.iter().map(|one| SuppressedReport {
            rule: one.finding.rule.to_string(),
            path: format!("{before}{}", one.finding.path),
            line: one.finding.line,
            column: one.finding.column,
            reason: one.reason.clone(),
        }));
        for notice in &decision.notices {
            result.outcome.note(notice.code, format!("{before}{}: {}", notice.path, notice.message));
        }
        if let Some(message) = partial(before, part) {
            result.outcome.note("scan/partial", message);
        }
    }
    result.behaviors.sort();
    // Several patterns of a rule can match at one place, which is one finding for every reader and in every count.
    found.sort_by(|a, b| (place_of(a), b.severity).cmp(&(place_of(b), a.severity)));
    found.dedup_by(|a, b| place_of(a) == place_of(b));
    result.findings = found;
    let open: Vec<&Finding> =
        result.findings.iter().filter(|finding| !is_suppressed(result, finding)).collect();
    let of = |severity: Severity| open.iter().copied().filter(move |finding| finding.severity == severity);
    // For guest plugins of HyperAgent alone, a suspicious finding is only listed, as in the reference manager, unless it is
    // about data that is sent.
    let asks = |finding: &&Finding| profiles != [Profile::StrictPlugin] || finding.rule.family() == "flow";
    let (danger, suspicious) = (of(Severity::Danger).min(), of(Severity::Warning).filter(asks).min());
    let (dangers, asked) = (of(Severity::Danger).count(), of(Severity::Warning).filter(asks).count());
    let (danger, suspicious) = (danger.cloned(), suspicious.cloned());
    if let Some(first) = danger {
        let noun = if dangers == 1 { "finding" } else { "findings" };
        let message = format!(
            "{dangers} danger {noun}, first {} at {}:{}:{}",
            first.rule, first.path, first.line, first.column
        );
        let help = "review the findings, then remove the plugin or ask its author to fix it";
        result.outcome.add("scan/danger", Weight::Scan, message, help);
    } else if let Some(first) = suspicious {
        ask(result, one, &first, asked, context);
    }
}

/// Returns what tells two findings apart.
fn place_of(finding: &Finding) -> (&str, u32, u32, &str) {
    (&finding.path, finding.line, finding.column, finding.rule.as_str())
}

fn is_suppressed(result: &ScanResult, finding: &Finding) -> bool {
    let place = |one: &SuppressedReport| {
        (one.path.as_str(), one.line, one.column, one.rule.as_str()) == place_of(finding)
    };
    result.suppressed.iter().any(place)
}

/// Asks a person about suspicious findings, unless one agreed to these contents already.
fn ask(result: &mut ScanResult, one: &Examined, first: &Finding, count: usize, context: &Context<'_>) {
    let agreed = one.subject.as_ref().is_some_and(|subject| pin::is_agreed_by_person(one, subject, context));
    if context.options.scan_ask == ScanAsk::Note || agreed {
        return;
    }
    let noun = if count == 1 { "finding" } else { "findings" };
    // A settings file is a file itself.
    let path = if first.path == SETTINGS_FILE { one.place.real.name() } else { first.path.as_str() };
    let message =
        format!("{count} suspicious {noun}, first {} at {path}:{}:{}", first.rule, first.line, first.column);
    let help = "review the findings, then accept this version if you trust it";
    let mut reason = Reason::new(SUSPICIOUS, Gate::Scan, Weight::Undecided, message, help);
    reason.accept = one.subject.as_ref().map(|subject| ReviewedDigests::wanted(subject.facts(), None));
    result.outcome.reasons.push(reason);
}

/// Returns the suppressions for one part of a plugin. A suppression for every plugin applies if its finding
/// exists. One for a single plugin names its key, since a name is not enough to relax a check.
fn suppressions(
    one: &Examined,
    before: &str,
    part: &ScanReport,
    options: &CheckOptions,
    used: &UsedSuppressions,
) -> Vec<Suppression> {
    let mut own = Vec::new();
    for (at, entry) in options.suppressions.iter().enumerate() {
        let mine = entry.plugin.as_ref().is_none_or(|plugin| *plugin == one.key);
        let Some(path) = entry.entry.path.strip_prefix(before).filter(|_| mine) else { continue };
        let outside = path.starts_with("../");
        let met = part.findings().iter().any(|one| one.rule == entry.entry.rule && one.path == path);
        if met {
            used.0.borrow_mut().insert(at);
        }
        if met || (entry.plugin.is_some() && before.is_empty() && !outside) {
            own.push(Suppression { path: path.to_owned(), ..entry.entry.clone() });
        }
    }
    own
}

/// Returns a message about a file that was scanned in part. Code, data and prompts over a limit also have
/// danger findings.
fn partial(before: &str, part: &ScanReport) -> Option<String> {
    if part.coverage() == Completeness::Complete {
        return None;
    }
    let mut files = part.files().iter().filter(|file| file.state == EntryState::Partial);
    let first = files.next()?;
    let more = files.count();
    let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
    Some(format!(
        "{before}{}{rest}: the analysis stopped at a limit; text rules ran on the part that was read",
        first.path
    ))
}
