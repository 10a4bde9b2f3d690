//! The main job: roots in, one report out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_capability::{Outcome, Workflow};
use plugward_ledger::Event;
use plugward_pinstore::Change;

use crate::discover::{Place, Seen, discover};
use crate::finish::{Gathered, finish};
use crate::gates::{Context, Walked, walk};
use crate::lock::{self, RootLock};
use crate::mint::{self, Granted, Taken};
use crate::options::{CheckOptions, NobodyThere, Root, Whole};
use crate::pins::{self, Pending, PinStore, StoreFailed};
use crate::record::{Races, RecordFailure, Run};
use crate::report::{Gate, Notice, PluginReport, Reason, Report, Skipped, Weight};
use crate::rows::missing;
use crate::scanning::Used;
use crate::stores::{Host, Stores};
use crate::subject::Subject;

/// What a load gave.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Loaded {
    /// The report.
    pub report: Report,
    /// What a pin or a lock entry of each plugin would cover, by id.
    ///
    /// A plugin whose manifest or tree is refused, or whose id another one has too, has no subject.
    pub subjects: BTreeMap<String, Subject>,
    /// What was minted for each plugin that loads, by id.
    pub granted: Granted,
    /// The unit of work that it was minted in; the host closes it when its plugins have ended ([`crate::Record::close`]).
    pub workflow: Option<Workflow>,
}

/// As [`load`], for hosts that only want to know: what was minted is dropped, and the unit of work is closed.
///
/// # Guarantees
/// Those of [`load`].
pub fn check(roots: &[Root], stores: &mut Stores, options: &CheckOptions, host: &mut Host<'_>) -> Report {
    let Loaded { mut report, granted, workflow, .. } = load(roots, stores, options, host);
    drop(granted);
    if let Some(workflow) = workflow
        && let Err(failure) = stores.record.close(workflow, Outcome::Ok)
    {
        report.notices.push(failure.notice());
        if report.exit == 0 {
            report.exit = failure.weight().exit();
        }
    }
    report
}

/// As [`load`], and gives what a pin or a lock entry of each plugin would cover, by id. Nothing is minted under
/// [`crate::Writes::LookOnly`].
pub fn look(
    roots: &[Root],
    stores: &mut Stores,
    options: &CheckOptions,
    host: &mut Host<'_>,
) -> (Report, BTreeMap<String, Subject>) {
    let Loaded { report, subjects, .. } = load(roots, stores, options, host);
    (report, subjects)
}

/// Finds the plugins below the roots, walks each through the gates, and mints what the host grants to those that load.
///
/// It cannot fail: what cannot be told is a reason of the plugin, and refuses it.
///
/// # Guarantees
/// One plugin at a time is held in memory. Plugins that a gate refuses are never enrolled; those that load on first
/// use are enrolled in one commit after all verdicts, each with its record before it. A capability exists only after
/// its record, and a plugin loads only if the record of its decision was written. The report does not depend on
/// `jobs` or on the order in which a folder lists its names.
///
/// # Source
/// The loaders of all five documents; ADR-0011 stops at the first error, here all reasons are gathered.
pub fn load(roots: &[Root], stores: &mut Stores, options: &CheckOptions, host: &mut Host<'_>) -> Loaded {
    let mut run = stores.record.begin(options.writes);
    let (roots, races) = watched(roots, &run);
    let mut gathered = Gathered::default();
    gathered.notices.extend(stores.pins.notices());
    gathered.notices.extend(stores.approvals.notices());
    gathered.notices.extend(stores.revocations.notices());
    let places = find(&roots, options, host, &mut gathered);
    let locks: Vec<RootLock> = roots.iter().map(|root| RootLock::read(root, &options.verifiers)).collect();
    let used = Used::default();
    let at = Places { roots: &roots, locks: &locks, stores, used: &used };
    let mut walked = walk_all(&places, &at, options, host, &mut gathered.skipped);
    gathered.notices.extend(used.notices(options));
    duplicates(&mut walked, &roots);
    let unheard = unheard(&locks, &walked);
    gathered.notices.extend(unheard.iter().cloned());
    if let Some(failure) = races.iter().find_map(|races| races.failure()) {
        run.fail(failure);
    }
    let (mut granted, failed) = decide(&mut walked, (&roots, &mut stores.pins), options, host, &mut run);
    let subjects = subjects(&walked, &roots);
    gathered.failed = match failed {
        StoreFailed::No
            if stores.approvals.is_broken() || stores.revocations.has_failed() || !unheard.is_empty() =>
        {
            StoreFailed::Yes
        }
        failed => failed,
    };
    let report = finish(walked, &roots, options, gathered, &mut run);
    if run.failure().is_some() {
        // Whatever was minted before the record failed is of no plugin that loads.
        granted.clear();
    }
    let workflow = match run {
        Run::Open { workflow, .. } => Some(workflow),
        Run::Look | Run::Failed(_) => None,
    };
    Loaded { report, subjects, granted, workflow }
}

/// The pin gate and the mint, and what of them is written: the capabilities, the record, then the pins. A plugin that
/// the mint refuses is not enrolled; what was minted for one whose pin could not be made is taken back.
fn decide(
    walked: &mut [Walked],
    (roots, pins): (&[Root], &mut PinStore),
    options: &CheckOptions,
    host: &mut Host<'_>,
    run: &mut Run<'_>,
) -> (Granted, StoreFailed) {
    let mut pending = if run.failure().is_some() {
        // Whatever the answer, it could not be written down.
        pins::judge(walked, roots, pins, options, &mut NobodyThere)
    } else {
        pins::judge(walked, roots, pins, options, host.person)
    };
    let none_loads = |walked: &[Walked]| options.whole == Whole::AllOrNothing && any_refused(walked);
    let mut granted = Granted::new();
    if !none_loads(walked) {
        granted = mint::grant(walked, run, host.grants);
    }
    let loads = |at: usize| walked.get(at).is_some_and(|one| one.report.reasons.is_empty());
    pending.retain(|pending| pending.is_denial() || loads(pending.at));
    if none_loads(walked) {
        pending.retain(Pending::is_denial);
    }
    run.write(&before_the_commit(walked, &pending));
    if run.failure().is_some() {
        refuse_unrecorded(walked, run);
        pending.retain(Pending::is_denial);
    }
    let failed = pins::commit(walked, pending, pins, options);
    let exceptions: Vec<Event> = walked
        .iter()
        .filter(|one| one.report.reasons.is_empty())
        .flat_map(|one| one.exceptions.iter())
        .map(|reason| Event::ExceptionUsed {
            setting: "pins.on_store_error".to_owned(),
            reason: reason.clone(),
        })
        .collect();
    run.write(&exceptions);
    let which = if none_loads(walked) { Taken::All } else { Taken::OfRefused };
    mint::take_back(&mut granted, walked, run, which);
    refuse_unrecorded(walked, run);
    if walked.iter().any(|one| one.report.pin.state == "enrolled")
        && let Err(error) = pins.collect()
    {
        let message = format!("no room was made among the texts that are kept for diffs: {error}");
        let notice = Notice { code: error.code().to_owned(), gate: Gate::Pin, message };
        if let Some(one) = walked.iter_mut().find(|one| one.report.pin.state == "enrolled") {
            one.report.notices.push(notice);
        }
    }
    (granted, failed)
}

/// What is written down before the pins are: each enrollment, and each plugin that differs from its pin.
fn before_the_commit(walked: &[Walked], pending: &[Pending]) -> Vec<Event> {
    let refused = walked.iter().filter_map(|one| {
        let old = Some(one.refused.clone()?);
        let (plugin, digest) = (one.report.id.clone(), one.report.tree.clone().unwrap_or_default());
        Some(Event::PinRefused { plugin, digest, old })
    });
    let enrolled = pending.iter().filter_map(|pending| match &pending.change {
        Change::Enroll { id, facts, .. } => {
            Some(Event::PinEnrolled { plugin: id.to_string(), digest: facts.tree.to_string(), old: None })
        }
        _ => None,
    });
    refused.chain(enrolled).collect()
}

/// What is not on the record does not load.
fn refuse_unrecorded(walked: &mut [Walked], run: &Run<'_>) {
    let Some(failure) = run.failure().map(RecordFailure::reason) else { return };
    for one in walked.iter_mut().filter(|one| one.report.reasons.is_empty()) {
        one.report.capabilities.clear();
        one.report.reasons.push(failure.clone());
    }
}

fn any_refused(walked: &[Walked]) -> bool {
    walked.iter().any(|one| !one.report.reasons.is_empty())
}

/// The roots with every race in them on the record.
fn watched(roots: &[Root], run: &Run<'_>) -> (Vec<Root>, Vec<Arc<Races>>) {
    let mut races = Vec::new();
    let watch = |root: &Root| {
        let (jail, seen) = run.watched(&root.jail, &root.label);
        races.extend(seen);
        let (label, source) = (root.label.clone(), root.source.clone());
        Root { label, source, scope: root.scope.clone(), place: root.place.clone(), jail }
    };
    let roots = roots.iter().map(watch).collect();
    (roots, races)
}

fn find(roots: &[Root], options: &CheckOptions, host: &Host<'_>, gathered: &mut Gathered) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (number, root) in roots.iter().enumerate() {
        let found = discover(root, number, options, host.watch);
        places.extend(found.places);
        gathered.skipped.extend(found.skipped);
        gathered.notices.extend(found.notices);
        if found.seen == Seen::NotAll {
            gathered.seen = Seen::NotAll;
        }
    }
    places
}

fn subjects(walked: &[Walked], roots: &[Root]) -> BTreeMap<String, Subject> {
    let twice = |id: &str| walked.iter().filter(|one| one.report.id == id).count() > 1;
    walked
        .iter()
        .filter(|one| !twice(&one.report.id))
        .filter_map(|one| {
            let pin = one.facts.clone()?;
            let root = roots.get(one.report.root)?;
            let subject = Subject {
                id: pin.id,
                scope: root.scope.clone(),
                path: one.report.path.clone(),
                version: one.report.version.clone(),
                facts: pin.facts,
                executable: pin.executable,
                launchers: pin.launchers,
                codewizard: pin.codewizard,
                material: pin.material,
                without_lock: pin.without_lock,
            };
            Some((one.report.id.clone(), subject))
        })
        .collect()
}

/// The roots, with the lock of each.
struct Places<'a> {
    roots: &'a [Root],
    locks: &'a [RootLock],
    stores: &'a Stores,
    used: &'a Used,
}

fn walk_all(
    places: &[Place],
    at: &Places<'_>,
    options: &CheckOptions,
    host: &Host<'_>,
    skipped: &mut Vec<Skipped>,
) -> Vec<Walked> {
    let mut all = Vec::new();
    let mut seen: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for (number, place) in places.iter().enumerate() {
        let (Some(root), Some(lock)) = (at.roots.get(place.root), at.locks.get(place.root)) else {
            continue;
        };
        host.watch.plugin(&place.path, number.saturating_add(1), places.len());
        let context = Context { root, lock, stores: at.stores, options, watch: host.watch, used: at.used };
        match walk(place, &context) {
            Ok(walked) => {
                for one in walked {
                    seen.entry(place.root).or_default().insert(one.report.id.clone());
                    if is_enabled(&one, options) {
                        all.push(one);
                    } else {
                        skipped.push(Skipped { path: one.report.path, why: "not enabled".to_owned() });
                    }
                }
            }
            Err(skip) => skipped.push(skip),
        }
    }
    for (number, lock) in at.locks.iter().enumerate() {
        let seen = seen.remove(&number).unwrap_or_default();
        for (id, path) in lock::unvisited(lock, &seen) {
            // A plugin at that folder with a manifest that does not parse has its own reasons.
            let there = all.iter().any(|one: &Walked| {
                let is_unread = one.report.reasons.iter().any(|reason| reason.gate == Gate::Manifest);
                one.report.root == number && one.report.path == path && is_unread
            });
            let asked = options.dialect.is_none_or(|only| id.starts_with(&format!("{}:", only.as_str())));
            if !there
                && asked
                && options.enabled.as_ref().is_none_or(|names| names.iter().any(|name| is_called(&id, name)))
            {
                all.push(missing(&id, &path, number));
            }
        }
    }
    all
}

/// The locks that cannot be read and that no plugin speaks of: whom they name, and whether those are there, is not known.
fn unheard(locks: &[RootLock], walked: &[Walked]) -> Vec<Notice> {
    let spoken = |number: usize| {
        let own = |one: &&Walked| one.report.root == number && one.report.lock.state == "malformed";
        walked.iter().any(|one| own(&one))
    };
    let broken = locks.iter().enumerate().filter(|(number, _)| !spoken(*number));
    broken.filter_map(|(_, lock)| lock.notice()).collect()
}

/// Whether an id, or the name in it, is this one.
fn is_called(id: &str, name: &str) -> bool {
    id == name || id.parse().is_ok_and(|id: plugward_types::PluginId| id.name() == name)
}

fn is_enabled(walked: &Walked, options: &CheckOptions) -> bool {
    options
        .enabled
        .as_ref()
        .is_none_or(|names| names.iter().any(|name| *name == walked.report.id || *name == walked.report.name))
}

/// Two plugins of one id: neither loads, since nobody can tell which was meant.
///
/// Their folders are named with their roots where these differ.
fn duplicates(walked: &mut [Walked], roots: &[Root]) {
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, one) in walked.iter().enumerate() {
        by_id.entry(one.report.id.clone()).or_default().push(at);
    }
    for places in by_id.values().filter(|places| places.len() > 1) {
        let found = || places.iter().filter_map(|at| walked.get(*at)).map(|one| &one.report);
        let several = found().map(|report| report.root).collect::<BTreeSet<_>>().len() > 1;
        let name = |report: &PluginReport| match roots.get(report.root) {
            Some(root) if several && report.path == "." => root.label.clone(),
            Some(root) if several => format!("{}/{}", root.label, report.path),
            _ => report.path.clone(),
        };
        let paths: Vec<String> = found().map(name).collect();
        for at in places {
            let Some(one) = walked.get_mut(*at) else { continue };
            one.report.reasons.insert(
                0,
                Reason {
                    code: "discover/duplicate-name".to_owned(),
                    gate: Gate::Discover,
                    message: format!(
                        "{} folders hold a plugin of this id: {}",
                        paths.len(),
                        paths.join(", ")
                    ),
                    help: "give one of them another name, or name the one folder that is meant".to_owned(),
                    weight: Weight::Integrity,
                },
            );
        }
    }
}
