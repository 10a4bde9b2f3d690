//! One plugin through its gates. Each gate adds to the report; none ends the walk early without saying so.

use plugward_manifest::{At, Dialect, Files, Found, MAIN_FILES, Manifest, MapFiles};
use plugward_sandbox_path::{Jail, OpenError};
use plugward_tree_lock::{ExecBits, ReadOptions, Snapshot, Step, TreeCheck};
use plugward_types::PluginId;

use crate::approvals;
use crate::discover::Place;
use crate::facts::{PinFacts, facts, keep};
use crate::lock::RootLock;
use crate::options::{CheckOptions, Root, Watch};
use crate::report::{Gate, Notice, PluginReport, Reason, Skipped, Weight};
use crate::rows::{blank, describe, folder_name, guess, identity, refuse_manifest, unread};
use crate::scanning::{Scans, Used};
use crate::shared::{self, SharedRoots};
use crate::stores::Stores;
use crate::view::TreeFiles;

/// Bytes of a main file that are read; the reader of manifests knows the same limit.
const MAIN_LIMIT: u64 = 1 << 20;

/// A plugin between its gates and its decision.
pub(crate) struct Walked {
    pub(crate) report: PluginReport,
    /// What a pin would cover; absent where a gate before the pin did not get that far.
    pub(crate) facts: Option<PinFacts>,
    /// Uses of the named exception to "a failure is never a yes", for the ledger.
    pub(crate) exceptions: Vec<String>,
    /// What was pinned, where something else is there.
    pub(crate) refused: Option<String>,
}

impl Walked {
    pub(crate) const fn new(report: PluginReport, facts: Option<PinFacts>) -> Self {
        Self { report, facts, exceptions: Vec::new(), refused: None }
    }
}

/// What the gates of one root need.
pub(crate) struct Context<'a> {
    pub(crate) root: &'a Root,
    pub(crate) lock: &'a RootLock,
    pub(crate) stores: &'a Stores,
    pub(crate) options: &'a CheckOptions,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) used: &'a Used,
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
                message: crate::text::chain(&error),
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
        let manifest = match manifest {
            Ok(manifest) => Some(manifest),
            Err(errors) => {
                refuse_manifest(&mut report, &errors);
                None
            }
        };
        let id = manifest.as_ref().and_then(|manifest| identity(&mut report, place, manifest));
        let (manifest, shared) = with_shared(place, (&files, &excluded), manifest, id.as_ref(), context);
        if let Some(manifest) = &manifest {
            describe(&mut report, manifest);
            shared.say(&mut report, options.trust);
        }
        let mut facts = id
            .zip(manifest.as_ref())
            .map(|(id, manifest)| facts(&mut report, id, manifest, (digest, &shared), (snapshot, context)));
        if let Some(facts) = &mut facts {
            let old = |name| format!("{}:{name}@{}", facts.id.dialect(), place.source).parse().ok();
            facts.was = place.was.iter().filter_map(old).collect();
        }
        scans.scan(&mut report, (snapshot, &shared), manifest.as_ref(), dialect, (options, context.used));
        if let (Some(facts), Some(manifest)) = (&mut facts, &manifest) {
            let scope = &context.root.scope;
            approvals::gate(&mut report, facts, (scope, &context.stores.approvals), options);
            keep(&mut report, facts, (manifest, &shared), (snapshot, context));
        }
        walked.push(Walked::new(report, facts));
    }
    Ok(walked)
}

/// Reads what a plugin shares, and its manifest again: what is digested is labelled as covered.
fn with_shared(
    place: &Place,
    (files, excluded): (&TreeFiles<'_>, &[&str]),
    manifest: Option<Manifest>,
    id: Option<&PluginId>,
    context: &Context<'_>,
) -> (Option<Manifest>, SharedRoots) {
    let Some(manifest) = manifest else { return (None, SharedRoots::default()) };
    let pins = context.stores.pins.pins();
    let pinned = id.and_then(|id| pins?.get(&context.root.scope, id)).and_then(|pin| pin.facts.as_ref());
    let mut known: Vec<String> =
        pinned.map(|facts| facts.shared.keys().cloned().collect()).unwrap_or_default();
    known.extend(id.map(|id| context.lock.shared_of(id)).unwrap_or_default());
    let shared = shared::read(&place.path, &manifest, &known, context);
    if shared.roots.is_empty() {
        return (Some(manifest), shared);
    }
    let names = shared.covers(&manifest);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let again = at(place, excluded, context.options).with_shared(&names);
    match plugward_manifest::read(manifest.dialect(), files, &again) {
        // The same bytes, read once more: only the labels differ.
        Ok(labelled) => (Some(labelled), shared),
        Err(_) => (Some(manifest), shared),
    }
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
        match plugward_manifest::read(dialect, &files, &at(place, &excluded, options)) {
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
        let manifest = plugward_manifest::read(dialect, files, &at(place, excluded, options));
        vec![Found { dialect, manifest }]
    };
    if let Some(dialect) = options.dialect {
        return one(dialect);
    }
    let found = plugward_manifest::read_all(files, &at(place, excluded, options));
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

fn at<'a>(place: &'a Place, excluded: &'a [&'a str], options: &'a CheckOptions) -> At<'a> {
    let at = At::folder(folder_name(place)).with_path(&place.path).with_excluded(excluded);
    let at = options.host_version.as_deref().map_or(at, |version| at.with_host_version(version));
    match &place.entry {
        Some(entry) => at.with_entry(entry),
        None => at,
    }
}
