//! The main job: roots in, one report out.

use std::collections::{BTreeMap, BTreeSet};

use plugward_scanner::Rules;

use crate::discover::{Place, Seen, discover};
use crate::gates::{Context, Walked, missing, walk};
use crate::lock::{self, RootLock};
use crate::options::{CheckOptions, Person, Root, Watch, Whole};
use crate::pins::{PinStore, Stop, StoreFailed, gate};
use crate::report::{Decision, Gate, Reason, Report, Skipped, Summary, Tool, Weight};
use crate::subject::Subject;

/// Finds the plugins below the roots and walks each through the gates.
///
/// It cannot fail: what cannot be told is a reason of the plugin, and refuses it.
///
/// # Guarantees
/// One plugin at a time is held in memory. Plugins that are refused are never enrolled; those that load on first
/// use are enrolled in one commit after all verdicts. The report does not depend on `jobs` or on the order in which
/// a folder lists its names.
///
/// # Source
/// The loaders of all five documents; ADR-0011 stops at the first error, here all reasons are gathered.
pub fn check(
    roots: &[Root],
    store: &mut PinStore,
    options: &CheckOptions,
    watch: &dyn Watch,
    person: &mut dyn Person,
) -> Report {
    look(roots, store, options, watch, person).0
}

/// As [`check`], and gives what a pin or a lock entry of each plugin would cover, by id.
///
/// # Guarantees
/// A plugin whose manifest or tree is refused, or whose id another one has too, has no subject.
pub fn look(
    roots: &[Root],
    store: &mut PinStore,
    options: &CheckOptions,
    watch: &dyn Watch,
    person: &mut dyn Person,
) -> (Report, BTreeMap<String, Subject>) {
    let mut places: Vec<Place> = Vec::new();
    let mut skipped = Vec::new();
    let mut notices = store.notices();
    let mut seen = Seen::All;
    for (number, root) in roots.iter().enumerate() {
        let found = discover(root, number, options, watch);
        places.extend(found.places);
        skipped.extend(found.skipped);
        notices.extend(found.notices);
        if found.seen == Seen::NotAll {
            seen = Seen::NotAll;
        }
    }
    let locks: Vec<RootLock> = roots.iter().map(RootLock::read).collect();
    let mut walked = walk_all(&places, &Places { roots, locks: &locks, store }, options, watch, &mut skipped);
    duplicates(&mut walked);
    let stop = |walked: &[Walked]| match options.whole {
        Whole::AllOrNothing if walked.iter().any(|one| !one.report.reasons.is_empty()) => Stop::EnrollNothing,
        Whole::AllOrNothing | Whole::EachAlone => Stop::GoOn,
    };
    let failed = gate(&mut walked, roots, store, options, person, &stop);
    if walked.iter().any(|one| one.report.pin.state == "enrolled")
        && let Err(error) = store.collect()
    {
        let message = format!("no room was made among the texts that are kept for diffs: {error}");
        notices.push(crate::report::Notice { code: error.code().to_owned(), gate: Gate::Pin, message });
    }
    let subjects = subjects(&walked, roots);
    (finish(walked, roots, options, failed, Gathered { skipped, notices, seen }), subjects)
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

struct Gathered {
    skipped: Vec<Skipped>,
    notices: Vec<crate::report::Notice>,
    seen: Seen,
}

/// The roots, with the lock of each.
struct Places<'a> {
    roots: &'a [Root],
    locks: &'a [RootLock],
    store: &'a PinStore,
}

fn walk_all(
    places: &[Place],
    at: &Places<'_>,
    options: &CheckOptions,
    watch: &dyn Watch,
    skipped: &mut Vec<Skipped>,
) -> Vec<Walked> {
    let mut all = Vec::new();
    let mut seen: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for (number, place) in places.iter().enumerate() {
        let (Some(root), Some(lock)) = (at.roots.get(place.root), at.locks.get(place.root)) else {
            continue;
        };
        watch.plugin(&place.path, number.saturating_add(1), places.len());
        match walk(place, &Context { root, lock, store: at.store, options, watch }) {
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
            let there = all.iter().any(|one: &Walked| one.report.root == number && one.report.path == path);
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
fn duplicates(walked: &mut [Walked]) {
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, one) in walked.iter().enumerate() {
        by_id.entry(one.report.id.clone()).or_default().push(at);
    }
    for places in by_id.values().filter(|places| places.len() > 1) {
        let paths: Vec<String> =
            places.iter().filter_map(|at| walked.get(*at)).map(|one| one.report.path.clone()).collect();
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
                    help: "rename one of them, or check their folders in separate runs".to_owned(),
                    weight: Weight::Integrity,
                },
            );
        }
    }
}

fn finish(
    mut walked: Vec<Walked>,
    roots: &[Root],
    options: &CheckOptions,
    failed: StoreFailed,
    gathered: Gathered,
) -> Report {
    if options.whole == Whole::AllOrNothing && walked.iter().any(|one| !one.report.reasons.is_empty()) {
        for one in walked.iter_mut().filter(|one| one.report.reasons.is_empty()) {
            one.report.reasons.push(Reason {
                code: "check/all-or-nothing".to_owned(),
                gate: Gate::Discover,
                message: "another plugin of this run does not load".to_owned(),
                help: "mend or leave out the other one, or check without --all-or-nothing".to_owned(),
                weight: Weight::Follows,
            });
        }
    }
    let mut summary = Summary::default();
    let mut plugins = Vec::with_capacity(walked.len());
    for mut one in walked {
        one.report.decision = decision(&one.report.reasons);
        one.report.reasons.sort_by_key(|reason| reason.gate);
        one.report.notices.sort();
        one.report.notices.dedup();
        one.report.findings.sort();
        let count = match one.report.decision {
            Decision::Load => &mut summary.load,
            Decision::Ask => &mut summary.ask,
            Decision::Refuse => &mut summary.refuse,
        };
        *count = count.saturating_add(1);
        summary.files = summary.files.saturating_add(one.report.files);
        summary.bytes = summary.bytes.saturating_add(one.report.bytes);
        plugins.push(one.report);
    }
    plugins.sort_by(|a, b| (&a.id, a.root, &a.path).cmp(&(&b.id, b.root, &b.path)));
    let Gathered { mut skipped, mut notices, seen } = gathered;
    skipped.sort();
    notices.sort();
    summary.skipped = u64::try_from(skipped.len()).unwrap_or(u64::MAX);
    let weights = plugins.iter().flat_map(|plugin| plugin.reasons.iter().map(|reason| reason.weight));
    // What was not looked at could not be told.
    let unseen = (seen == Seen::NotAll).then_some(Weight::CouldNotTell);
    let exit = exit(weights.chain(unseen), failed);
    Report {
        version: 1,
        tool: Tool {
            name: "plugward",
            version: env!("CARGO_PKG_VERSION"),
            rules: Rules::builtin().digest().to_string(),
        },
        trust: options.trust_word(),
        roots: roots.iter().map(|root| root.label.clone()).collect(),
        plugins,
        skipped,
        notices,
        summary,
        exit,
    }
}

/// The one place that makes a decision: no reason is `Load`, only questions are `Ask`, anything else is `Refuse`.
fn decision(reasons: &[Reason]) -> Decision {
    if reasons.is_empty() {
        Decision::Load
    } else if reasons.iter().all(|reason| reason.weight == Weight::Undecided) {
        Decision::Ask
    } else {
        Decision::Refuse
    }
}

/// Of several codes the first of 7, 4, 6, 5, 1, 3; 0 where nothing stands against anything.
fn exit(weights: impl Iterator<Item = Weight>, failed: StoreFailed) -> u8 {
    let first = weights.min();
    match (failed, first) {
        (StoreFailed::Yes, _) => Weight::Store.exit(),
        (StoreFailed::No, Some(weight)) => weight.exit(),
        (StoreFailed::No, None) => 0,
    }
}
