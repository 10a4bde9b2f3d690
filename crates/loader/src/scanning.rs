//! The scan gate: the rules' look at the bytes that were digested.

use std::cell::RefCell;
use std::collections::BTreeSet;

use plugward_manifest::{Dialect, Manifest};
use plugward_scanner::{
    Content as Bytes, Coverage, Entry, MatchCache, Profile, RoleHint, ScanCheck, ScanOptions, ScanReport,
    State, Suppression,
};
use plugward_tree_lock::Snapshot;
use plugward_types::Finding;

use crate::options::{CheckOptions, Trust};
use crate::report::{Gate, Notice, PluginReport, Reason, SuppressedReport, Weight};
use crate::shared::{Content, SharedRoots};
use crate::view::entries;

const UNUSED: &str = "scan/suppression-unused";

/// Which suppressions for any plugin have met their finding somewhere in a run.
#[derive(Debug, Default)]
pub(crate) struct Used(RefCell<BTreeSet<usize>>);

impl Used {
    /// What is to be said of the entries for any plugin that nothing of the run needed.
    pub(crate) fn notices(&self, options: &CheckOptions) -> Vec<Notice> {
        let used = self.0.borrow();
        let unused = options
            .suppressions
            .iter()
            .enumerate()
            .filter(|(at, entry)| entry.plugin.is_none() && !used.contains(at));
        unused
            .map(|(_, entry)| Notice {
                code: UNUSED.to_owned(),
                gate: Gate::Scan,
                message: format!(
                    "{}: the entry for {}: no plugin has that finding",
                    entry.entry.path, entry.entry.rule
                ),
            })
            .collect()
    }
}

/// The scan of a folder and of what it shares; each part with what stands before its paths.
struct Scanned {
    parts: Vec<Part>,
}

/// One folder's scan, and the secrets that redaction sees there besides.
struct Part {
    before: String,
    report: ScanReport,
    secrets: Vec<Finding>,
}

/// The scans of one folder, at most one a profile.
#[derive(Default)]
pub(crate) struct Scans {
    done: Vec<(Profile, Result<Scanned, String>)>,
}

impl Scans {
    pub(crate) fn scan(
        &mut self,
        report: &mut PluginReport,
        (snapshot, shared): (&Snapshot, &SharedRoots),
        manifest: Option<&Manifest>,
        dialect: Dialect,
        (options, used): (&CheckOptions, &Used),
    ) {
        let own = if dialect == Dialect::Hyperagent { Profile::StrictPlugin } else { Profile::General };
        let profile = options.profile.unwrap_or(own);
        if !self.done.iter().any(|(done, _)| *done == profile) {
            self.done.push((profile, scan((snapshot, shared), manifest, profile, options)));
        }
        let Some((_, outcome)) = self.done.iter().find(|(done, _)| *done == profile) else { return };
        match outcome {
            Ok(scanned) => gate(report, scanned, options, used),
            Err(message) => report.reasons.push(Reason {
                code: "scan/error".to_owned(),
                gate: Gate::Scan,
                message: message.clone(),
                help: "mend what the message names; until then the plugin is refused".to_owned(),
                weight: Weight::CouldNotTell,
            }),
        }
    }
}

fn scan(
    (snapshot, shared): (&Snapshot, &SharedRoots),
    manifest: Option<&Manifest>,
    profile: Profile,
    options: &CheckOptions,
) -> Result<Scanned, String> {
    let mut how = ScanOptions::new(profile);
    how.jobs = options.jobs;
    how.limits = options.scan;
    how.packages = &options.packages;
    // What a team's machine decides rests on the bytes alone, not on what was written down beside them.
    let records = options.records.as_deref().filter(|_| options.trust != Trust::Locked);
    how.cache = records.map(|pack| pack as &dyn MatchCache);
    let look = |before: String, files: &[Entry<'_>]| {
        let report = plugward_scanner::scan(options.rules(), &how, files)
            .map_err(|error| format!("{error} ({})", error.code()))?;
        let secrets = crate::secrets::look(files, &report)?;
        Ok::<Part, String>(Part { before, report, secrets })
    };
    let hints = crate::hints::Hints::of(manifest);
    let mut parts = vec![look(String::new(), &entries(snapshot, &|path| hints.role(path)))?];
    for (name, root) in &shared.roots {
        match &root.content {
            Content::Folder(snapshot) => {
                parts.push(look(format!("{name}/"), &entries(snapshot, &|_| RoleHint::NONE))?);
            }
            Content::File { bytes, digest, .. } => {
                let (folder, path) = name.rsplit_once('/').unwrap_or(("..", name));
                let content = Bytes::Bytes { bytes, digest: *digest };
                let file = Entry { path, content, role: RoleHint::NONE };
                parts.push(look(format!("{folder}/"), &[file])?);
            }
        }
    }
    Ok(Scanned { parts })
}

/// Decides, with the suppressions that are for this plugin.
fn gate(report: &mut PluginReport, scanned: &Scanned, options: &CheckOptions, used: &Used) {
    let mut dangers = 0_usize;
    let mut first: Option<Finding> = None;
    for Part { before, report: part, secrets } in &scanned.parts {
        let own = suppressions(report, before, part, options, used);
        let decision = plugward_scanner::gate(part, &own, options.today);
        let place =
            |finding: &Finding| Finding { path: format!("{before}{}", finding.path), ..finding.clone() };
        report.findings.extend(part.findings().iter().chain(secrets).map(place));
        report.suppressed.extend(decision.suppressed.iter().map(|one| SuppressedReport {
            rule: one.finding.rule.to_string(),
            path: format!("{before}{}", one.finding.path),
            line: one.finding.line,
            column: one.finding.column,
            reason: one.reason.clone(),
        }));
        report.notices.extend(decision.notices.iter().map(|notice| Notice {
            code: notice.code.to_owned(),
            gate: Gate::Scan,
            message: format!("{before}{}: {}", notice.path, notice.message),
        }));
        report.notices.extend(partial(before, part));
        if let ScanCheck::Danger { first: worst, count } = decision.check {
            dangers = dangers.saturating_add(count);
            first.get_or_insert_with(|| place(&worst));
        }
    }
    if let Some(first) = first {
        report.reasons.push(danger_reason(dangers, &first, &report.id));
    }
}

/// The entries for one part of one plugin. An entry for any plugin counts where its finding is, and is not missed elsewhere.
fn suppressions(
    report: &PluginReport,
    before: &str,
    part: &ScanReport,
    options: &CheckOptions,
    used: &Used,
) -> Vec<Suppression> {
    let mut own = Vec::new();
    for (at, entry) in options.suppressions.iter().enumerate() {
        let mine = entry.plugin.as_ref().is_none_or(|plugin| *plugin == report.id);
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

/// A file of which a part was not looked at. Code, data and prompts over a limit are danger findings besides.
fn partial(before: &str, part: &ScanReport) -> Option<Notice> {
    if part.coverage() == Coverage::Complete {
        return None;
    }
    let mut files = part.files().iter().filter(|file| file.state == State::Partial);
    let first = files.next()?;
    let more = files.count();
    let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
    let message =
        format!("{before}{}{rest}: over a limit of the scan, a part of it was not looked at", first.path);
    Some(Notice { code: "scan/partial".to_owned(), gate: Gate::Scan, message })
}

fn danger_reason(count: usize, first: &Finding, id: &str) -> Reason {
    let noun = if count == 1 { "finding" } else { "findings" };
    Reason {
        code: "scan/danger".to_owned(),
        gate: Gate::Scan,
        message: format!(
            "{count} danger {noun}, first {} at {}:{}:{}",
            first.rule, first.path, first.line, first.column
        ),
        help: format!("plugward explain {id}"),
        weight: Weight::Scan,
    }
}
