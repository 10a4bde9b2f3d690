//! One plugin through its gates. Each gate adds to the report; none ends the walk early without saying so.

use std::collections::BTreeSet;

use plugward_manifest::{At, Dialect, Files, Found, MAIN_FILES, Manifest, ManifestErrors, MapFiles};
use plugward_pinstore::{Facts, LockSays, PinCheck};
use plugward_sandbox_path::{Jail, OpenError};
use plugward_scanner::{Profile, Rules, ScanCheck, ScanOptions};
use plugward_tree_lock::{CodewizardDigest, Excludes, ExecBits, ReadOptions, Snapshot, Step, TreeCheck};
use plugward_types::{Digest, Finding, PluginId, SurfaceDigest, TreeDigest};

use crate::discover::Place;
use crate::lock::{self, LockContext, RootLock};
use crate::material::Material;
use crate::options::{CheckOptions, Root, Trust, Watch};
use crate::options::{Keep, Writes};
use crate::pins::PinStore;
use crate::report::{
    Decision, Gate, Notice, PinState, PluginReport, Reason, Skipped, StateOnly, SurfaceReport, Weight,
};
use crate::view::{TreeFiles, entries};

/// Bytes of a main file that are read; the reader of manifests knows the same limit.
const MAIN_LIMIT: u64 = 1 << 20;

/// A plugin between its gates and its decision.
pub(crate) struct Walked {
    pub(crate) report: PluginReport,
    /// What a pin would cover; absent where a gate before the pin did not get that far.
    pub(crate) facts: Option<PinFacts>,
}

/// What a pin of a plugin would cover.
#[derive(Debug, Clone)]
pub(crate) struct PinFacts {
    pub(crate) id: PluginId,
    pub(crate) facts: Facts,
    /// What the lock of its root says.
    pub(crate) lock: LockSays,
    /// Files and links of the tree that are executable, for a lock entry.
    pub(crate) executable: BTreeSet<String>,
    /// References to code that no digest covers, for a lock entry.
    pub(crate) launchers: BTreeSet<String>,
    /// The tree without its own lock files, where it is the root that a lock would stand in.
    pub(crate) without_lock: Option<TreeDigest>,
    /// The digest of the older scheme, where a lock of that scheme is there.
    pub(crate) codewizard: Option<CodewizardDigest>,
    /// The bytes, where they were asked for.
    pub(crate) material: Option<Material>,
}

/// What the gates of one root need.
pub(crate) struct Context<'a> {
    pub(crate) root: &'a Root,
    pub(crate) lock: &'a RootLock,
    pub(crate) store: &'a PinStore,
    pub(crate) options: &'a CheckOptions,
    pub(crate) watch: &'a dyn Watch,
}

/// Walks the folder of a place through all gates that need no store, once for each dialect in it.
pub(crate) fn walk(place: &Place, context: &Context<'_>) -> Result<Vec<Walked>, Skipped> {
    let mut walked = walk_folder(place, context)?;
    for one in &mut walked {
        one.report.reasons.extend(place.broken.clone());
    }
    Ok(walked)
}

fn walk_folder(place: &Place, context: &Context<'_>) -> Result<Vec<Walked>, Skipped> {
    let options = context.options;
    let jail = match folder(context.root, &place.path) {
        Ok(jail) => jail,
        Err(reason) => return Ok(vec![unread(place, guess(place, options), vec![reason])]),
    };
    if let Some((dialect, reason)) = too_large(&jail, options) {
        return Ok(vec![unread(place, dialect, vec![reason])]);
    }
    let tick = |step: Step| context.watch.reading(step.files, step.bytes);
    let how = ReadOptions {
        limits: &options.tree,
        exclude: &options.excludes,
        exec: ExecBits::Modes,
        jobs: options.jobs,
        progress: &tick,
    };
    match Snapshot::read_with(&jail, &how) {
        Ok(TreeCheck::Read(snapshot)) => with_snapshot(place, &snapshot, context),
        Ok(TreeCheck::Refused(refusal)) => {
            let mut reasons: Vec<Reason> = refusal
                .problems()
                .iter()
                .map(|problem| Reason {
                    code: problem.code().to_owned(),
                    gate: Gate::Tree,
                    message: problem.to_string(),
                    help: problem.help(),
                    weight: Weight::Integrity,
                })
                .collect();
            if refusal.left_out() > 0
                && let Some(last) = reasons.last_mut()
            {
                last.message.push_str(&format!(" ({} more problems are not listed)", refusal.left_out()));
            }
            Ok(without_tree(place, &jail, options, &reasons))
        }
        Err(error) => {
            let reason = Reason {
                code: error.code().to_owned(),
                gate: Gate::Tree,
                message: error.to_string(),
                help: error.help(),
                weight: Weight::CouldNotTell,
            };
            Ok(without_tree(place, &jail, options, &[reason]))
        }
    }
}

fn folder(root: &Root, path: &str) -> Result<Jail, Reason> {
    if path == "." {
        return Ok(root.jail.clone());
    }
    root.jail.subjail(path).map_err(|error| opening(&error))
}

fn opening(error: &OpenError) -> Reason {
    let refused = error.answer() == plugward_sandbox_path::Answer::Refused;
    Reason {
        code: if error.code() == "path/symlink" {
            "tree/root-link".to_owned()
        } else {
            error.code().to_owned()
        },
        gate: Gate::Tree,
        message: error.to_string(),
        help: error.help().to_owned(),
        weight: if refused { Weight::Integrity } else { Weight::CouldNotTell },
    }
}

/// A main file over the limit is refused before its folder is read, so that its size costs nothing.
fn too_large(jail: &Jail, options: &CheckOptions) -> Option<(Dialect, Reason)> {
    let limit = MAIN_LIMIT;
    MAIN_FILES.iter().filter(|(dialect, _)| options.dialect.is_none_or(|only| only == *dialect)).find_map(
        |(dialect, file)| {
            let meta = jail.metadata(*file).ok()?;
            (meta.len() > limit).then(|| {
                let message = format!(
                    "{}: {} bytes, at most {limit} are read; its folder was not read either",
                    file,
                    meta.len()
                );
                let reason = Reason {
                    code: "manifest/too-large".to_owned(),
                    gate: Gate::Manifest,
                    message,
                    help: "a manifest names files; move data into files of its own".to_owned(),
                    weight: Weight::Integrity,
                };
                (*dialect, reason)
            })
        },
    )
}

fn guess(place: &Place, options: &CheckOptions) -> Dialect {
    options.dialect.or_else(|| place.entry.as_ref().map(|_| Dialect::Claude)).unwrap_or(Dialect::Claude)
}

/// The last part of the plugin's folder.
fn folder_name(place: &Place) -> &str {
    if place.path == "." { &place.source } else { place.path.rsplit('/').next().unwrap_or(&place.path) }
}

fn with_snapshot(place: &Place, snapshot: &Snapshot, context: &Context<'_>) -> Result<Vec<Walked>, Skipped> {
    let options = context.options;
    let files = TreeFiles::new(snapshot);
    let excluded: Vec<&str> = options.excludes.iter().collect();
    let found = read(place, &files, options, &excluded);
    if found.is_empty() {
        return Err(Skipped { path: place.path.clone(), why: "plugin.json of no known dialect".to_owned() });
    }
    let mut scans = Scans::default();
    let mut walked = Vec::new();
    for Found { dialect, manifest } in found {
        let mut report = blank(place, dialect);
        report.tree = Some(snapshot.digest().to_string());
        report.files = u64::try_from(snapshot.len()).unwrap_or(u64::MAX);
        report.bytes = snapshot.total_bytes();
        for notice in snapshot.notices() {
            report.notices.push(Notice {
                code: notice.code().to_owned(),
                gate: Gate::Tree,
                message: notice.to_string(),
            });
        }
        let main = dialect.main_file().and_then(|path| snapshot.file(path));
        let digest = main.map(|entry| *entry.digest());
        report.manifest = digest.map(|digest| digest.to_string());
        let facts = match &manifest {
            Ok(manifest) => {
                describe(&mut report, manifest);
                identity(&mut report, place, manifest)
                    .map(|id| facts(&mut report, id, manifest, digest, (snapshot, context)))
            }
            Err(errors) => {
                refuse_manifest(&mut report, errors);
                None
            }
        };
        scans.scan(&mut report, snapshot, manifest.as_ref().ok(), dialect, options);
        let mut facts = facts;
        if let (Some(facts), Ok(manifest)) = (&mut facts, &manifest) {
            keep(&mut report, facts, manifest, (snapshot, context));
        }
        walked.push(Walked { report, facts });
    }
    Ok(walked)
}

/// What a pin would cover, digested under the list of the pin that is there; and what the lock says of it.
fn facts(
    report: &mut PluginReport,
    id: PluginId,
    manifest: &Manifest,
    digest: Option<Digest>,
    (snapshot, context): (&Snapshot, &Context<'_>),
) -> PinFacts {
    let scope = &context.root.scope;
    let pins = context.store.pins();
    let pinned = pins.and_then(|pins| pins.get(scope, &id)).and_then(|pin| pin.facts.as_ref());
    let listed = pinned.and_then(|facts| Excludes::new(facts.exclude.iter().map(String::as_str)).ok());
    let (tree, exclude) = listed
        .and_then(|list| crate::trees::under(snapshot, &list).map(|tree| (tree, list)))
        .unwrap_or_else(|| (*snapshot.digest(), snapshot.exclude().clone()));
    report.tree = Some(tree.to_string());
    let facts = Facts {
        manifest: digest,
        entry: manifest.entry_text().map(|text| crate::hash::sha256(text.as_bytes())),
        surface: Some(surface_digest(manifest)),
        exclude: exclude.iter().map(str::to_owned).collect(),
        ..Facts::of_tree(tree)
    };
    let launchers = manifest.surface().iter().filter(|item| item.coverage().code().starts_with("launcher-"));
    let mut facts = PinFacts {
        id,
        facts,
        lock: LockSays::Nothing,
        executable: snapshot.executables().map(str::to_owned).collect(),
        launchers: launchers.map(|item| item.run().join(" ")).collect(),
        without_lock: (report.path == ".").then(|| crate::trees::without_lock(snapshot)).flatten(),
        material: None,
        codewizard: matches!(context.lock, RootLock::Json(_)).then(|| CodewizardDigest::of(snapshot)),
    };
    let gate = LockContext { lock: context.lock, trust: context.options.trust, scope, pins };
    facts.lock = lock::gate(report, &facts, snapshot, &gate);
    facts
}

/// Keeps what a later diff needs: in memory where it was asked for, in the baselines where it may be enrolled.
///
/// The baseline is written before the pin. One whose pin is never written is the first to go.
fn keep(
    report: &mut PluginReport,
    facts: &mut PinFacts,
    manifest: &Manifest,
    (snapshot, context): (&Snapshot, &Context<'_>),
) {
    let asked = matches!(&context.options.keep, Keep::Of(name) if *name == report.id || *name == report.name);
    let enrolls = context.options.writes == Writes::Commit
        && context.options.trust != Trust::Locked
        && report.reasons.is_empty();
    let baselines = context.store.baselines().filter(|_| enrolls && is_new(facts, context));
    if !asked && baselines.is_none() {
        return;
    }
    let list = Excludes::new(facts.facts.exclude.iter().map(String::as_str)).unwrap_or_default();
    let material = Material::of(snapshot, manifest, crate::trees::preimage(snapshot, &list));
    if let Some(Err(error)) = baselines.map(|baselines| material.keep(baselines)) {
        report.notices.push(Notice {
            code: error.code().to_owned(),
            gate: Gate::Pin,
            message: format!("no text is kept for a later diff: {error}"),
        });
    }
    facts.material = asked.then_some(material);
}

fn is_new(facts: &PinFacts, context: &Context<'_>) -> bool {
    let check = context.store.pins().map(|pins| pins.check(&context.root.scope, &facts.id, &facts.facts));
    matches!(check, Some(PinCheck::Unpinned | PinCheck::ManifestOnly { .. }))
}

/// A plugin that the lock names and that is not there.
pub(crate) fn missing(id: &str, path: &str, root: usize) -> Walked {
    let parsed: Option<PluginId> = id.parse().ok();
    let dialect = parsed
        .as_ref()
        .and_then(|id| Dialect::ALL.iter().copied().find(|dialect| dialect.as_str() == id.dialect()))
        .unwrap_or(Dialect::Claude);
    let place = Place { root, path: path.to_owned(), source: String::new(), entry: None, broken: None };
    let mut report = blank(&place, dialect);
    id.clone_into(&mut report.id);
    report.name = parsed.map_or_else(|| id.to_owned(), |id| id.name().to_owned());
    report.lock = StateOnly { state: "missing" };
    let check = plugward_tree_lock::LockCheck::Missing;
    report.reasons.push(Reason {
        code: "lock/missing".to_owned(),
        gate: Gate::Lock,
        message: format!("{} names it, and it is not there", lock::NAME),
        help: check.help().to_owned(),
        weight: Weight::Integrity,
    });
    Walked { report, facts: None }
}

/// The tree could not be digested. The manifest alone is looked at, so that its own faults are said too.
fn without_tree(place: &Place, jail: &Jail, options: &CheckOptions, reasons: &[Reason]) -> Vec<Walked> {
    let mut files = MapFiles::new();
    for (_, file) in MAIN_FILES {
        if let Ok(bytes) = jail.read(*file, MAIN_LIMIT) {
            files.insert(file, bytes, plugward_manifest::Mode::Plain);
        }
    }
    for source in ["index.ts", "index.js"] {
        if jail.metadata(source).is_ok() {
            files.insert(source, Vec::new(), plugward_manifest::Mode::Plain);
        }
    }
    let excluded: Vec<&str> = options.excludes.iter().collect();
    let dialects = dialects(place, &files, options);
    if dialects.is_empty() {
        return vec![unread(place, guess(place, options), reasons.to_vec())];
    }
    let walk = |dialect| {
        let mut walked = unread(place, dialect, reasons.to_vec());
        match plugward_manifest::read(dialect, &files, &at(place, &excluded)) {
            Ok(manifest) => {
                walked.report.version = manifest.version().map(str::to_owned);
                // The id is for the report alone: nothing is pinned without a tree.
                let _id: Option<PluginId> = identity(&mut walked.report, place, &manifest);
            }
            Err(errors) => refuse_manifest(&mut walked.report, &errors),
        }
        walked
    };
    dialects.into_iter().map(walk).collect()
}

/// Every dialect in a folder, each read; one that only a marketplace entry describes is of the marketplace's dialect.
fn read(place: &Place, files: &dyn Files, options: &CheckOptions, excluded: &[&str]) -> Vec<Found> {
    let one = |dialect| {
        let manifest = plugward_manifest::read(dialect, files, &at(place, excluded));
        vec![Found { dialect, manifest }]
    };
    if let Some(dialect) = options.dialect {
        return one(dialect);
    }
    let found = plugward_manifest::read_all(files, &at(place, excluded));
    if found.is_empty() && place.entry.is_some() { one(Dialect::Claude) } else { found }
}

/// The dialects in a folder; one that only a marketplace entry describes is of the marketplace's dialect.
fn dialects(place: &Place, files: &dyn Files, options: &CheckOptions) -> Vec<Dialect> {
    if let Some(dialect) = options.dialect {
        return vec![dialect];
    }
    let found = plugward_manifest::find(files);
    if found.is_empty() && place.entry.is_some() { vec![Dialect::Claude] } else { found }
}

fn at<'a>(place: &'a Place, excluded: &'a [&'a str]) -> At<'a> {
    let at = At::folder(folder_name(place)).with_path(&place.path).with_excluded(excluded);
    match &place.entry {
        Some(entry) => at.with_entry(entry),
        None => at,
    }
}

fn blank(place: &Place, dialect: Dialect) -> PluginReport {
    let name = folder_name(place).to_owned();
    PluginReport {
        id: format!("{}:{name}@{}", dialect.as_str(), place.source),
        name,
        version: None,
        dialect: dialect.as_str(),
        path: place.path.clone(),
        decision: Decision::Refuse,
        reasons: Vec::new(),
        notices: Vec::new(),
        manifest: None,
        tree: None,
        files: 0,
        bytes: 0,
        pin: PinState { state: "not-checked", manifest: None, tree: None },
        lock: StateOnly { state: "absent" },
        approval: StateOnly { state: "none" },
        findings: Vec::new(),
        surface: Vec::new(),
        capabilities: Vec::new(),
        root: place.root,
    }
}

fn unread(place: &Place, dialect: Dialect, reasons: Vec<Reason>) -> Walked {
    let mut report = blank(place, dialect);
    report.reasons = reasons;
    Walked { report, facts: None }
}

/// The id, where the name and the source make one; else a reason.
fn identity(report: &mut PluginReport, place: &Place, manifest: &Manifest) -> Option<PluginId> {
    match PluginId::new(manifest.dialect().as_str(), manifest.name(), &place.source) {
        Ok(id) => {
            report.id = id.to_string();
            id.name().clone_into(&mut report.name);
            Some(id)
        }
        Err(error) => {
            report.reasons.push(Reason {
                code: "manifest/name".to_owned(),
                gate: Gate::Manifest,
                message: error.to_string(),
                help: error.help(),
                weight: Weight::Integrity,
            });
            None
        }
    }
}

fn refuse_manifest(report: &mut PluginReport, errors: &ManifestErrors) {
    for error in errors.iter() {
        report.reasons.push(Reason {
            code: error.code().to_owned(),
            gate: Gate::Manifest,
            message: error.to_string(),
            help: error.help().to_owned(),
            weight: Weight::Integrity,
        });
    }
}

fn describe(report: &mut PluginReport, manifest: &Manifest) {
    report.version = manifest.version().map(str::to_owned);
    for notice in manifest.notices() {
        let gate = if notice.code().starts_with("surface/") { Gate::Surface } else { Gate::Manifest };
        report.notices.push(Notice {
            code: notice.code().to_owned(),
            gate,
            message: format!("{}: {}", notice.place(), notice.message()),
        });
    }
    for item in manifest.surface() {
        report.surface.push(SurfaceReport {
            kind: item.kind().as_str(),
            event: item.event().map(str::to_owned),
            name: (!item.name().is_empty()).then(|| item.name().to_owned()),
            run: item.run().to_vec(),
            url: item.fact("url").map(str::to_owned),
            files: item.files().to_vec(),
            coverage: item.coverage().code(),
        });
    }
}

fn surface_digest(manifest: &Manifest) -> SurfaceDigest {
    SurfaceDigest::from_bytes(*crate::hash::sha256(manifest.surface_text().as_bytes()).as_bytes())
}

/// What a scan of one folder gave.
struct Scanned {
    findings: Vec<Finding>,
    notices: Vec<Notice>,
    /// Danger findings that nothing suppresses.
    danger: Option<usize>,
}

/// The scans of one folder, at most one a profile.
#[derive(Default)]
struct Scans {
    done: Vec<(Profile, Result<Scanned, String>)>,
}

impl Scans {
    fn scan(
        &mut self,
        report: &mut PluginReport,
        snapshot: &Snapshot,
        manifest: Option<&Manifest>,
        dialect: Dialect,
        options: &CheckOptions,
    ) {
        let profile = if dialect == Dialect::Hyperagent { Profile::StrictPlugin } else { Profile::General };
        if !self.done.iter().any(|(done, _)| *done == profile) {
            self.done.push((profile, scan(snapshot, manifest, profile, options)));
        }
        let Some((_, outcome)) = self.done.iter().find(|(done, _)| *done == profile) else { return };
        match outcome {
            Ok(scanned) => {
                report.findings.clone_from(&scanned.findings);
                report.notices.extend(scanned.notices.iter().cloned());
                if let Some(count) = scanned.danger {
                    report.reasons.push(danger_reason(count, &scanned.findings, &report.id));
                }
            }
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

fn danger_reason(count: usize, findings: &[Finding], id: &str) -> Reason {
    let first = findings.iter().find(|finding| finding.severity == plugward_types::Severity::Danger);
    let place = first.map(|finding| {
        format!(", first {} at {}:{}:{}", finding.rule, finding.path, finding.line, finding.column)
    });
    let noun = if count == 1 { "finding" } else { "findings" };
    Reason {
        code: "scan/danger".to_owned(),
        gate: Gate::Scan,
        message: format!("{count} danger {noun}{}", place.unwrap_or_default()),
        help: format!("plugward explain {id}"),
        weight: Weight::Scan,
    }
}

fn scan(
    snapshot: &Snapshot,
    manifest: Option<&Manifest>,
    profile: Profile,
    options: &CheckOptions,
) -> Result<Scanned, String> {
    let mut how = ScanOptions::new(profile);
    how.jobs = options.jobs;
    how.limits = options.scan;
    how.packages = &options.packages;
    let hints = crate::hints::Hints::of(manifest);
    let files = entries(snapshot, &|path| hints.role(path));
    let report = plugward_scanner::scan(Rules::builtin(), &how, &files)
        .map_err(|error| format!("{error} ({})", error.code()))?;
    let decision = plugward_scanner::gate(&report, &options.suppressions, None);
    let notices = decision
        .notices
        .iter()
        .map(|notice| Notice {
            code: notice.code.to_owned(),
            gate: Gate::Scan,
            message: format!("{}: {}", notice.path, notice.message),
        })
        .collect();
    let danger = match decision.check {
        ScanCheck::Clean | ScanCheck::Listed => None,
        ScanCheck::Danger { count, .. } => Some(count),
    };
    Ok(Scanned { findings: report.findings().to_vec(), notices, danger })
}
