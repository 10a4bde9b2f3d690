//! The main job: checks the plugins under some roots and returns one report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_capability::{UseOutcome, Workflow};
use plugward_ledger::LedgerEvent;
use plugward_manifest::{Dialect, SurfaceItem};
use plugward_pinstore::Change;
use plugward_policy::BundleNames;
use plugward_types::{PlacePath, PluginKey};

use crate::contents::closure::place::OutsideFiles;
use crate::contents::subject::Subject;
use crate::contents::view::manifests;
use crate::discovery::discover::{AbsentPin, PluginPlace, SearchExtent, discover};
use crate::discovery::key::OldPlace;
use crate::discovery::roots::{Reach, Root, inside, join};
use crate::discovery::unmarked::PlaceForm;
use crate::gates::lock::{self, LockFiles};
use crate::gates::mint::{self, Granted, TakeBack};
use crate::gates::scan::UsedSuppressions;
use crate::gates::{Context, examine, pin, settings, tree};
use crate::record::{RecordFailure, Run, UNREAD, ledger_name};
use crate::report::text::{plain, shortened};
use crate::report::{Decision, Gate, LockReport, LockState, PinStatus, Report, Skipped, Summary, Tool};
use crate::run::examined::{Examined, decide};
use crate::run::options::{ByteRetention, CheckMode, CheckOptions, FailureScope, NoPerson, Person};
use crate::run::outcome::{Notice, Weight};
use crate::run::records::RecordNotes;
use crate::run::result::CheckResult;
use crate::run::rules::{PluginRules, RuleBook};
use crate::state::decide::denied;
use crate::state::pins::{self, Pending, PinStore, StoreFailed};
use crate::state::stores::{Host, Stores};

/// The bytes that [`load`] keeps for plugins if the options set no limit: 512 MiB.
///
/// Hosts hold all loaded plugins at once, so the limit bounds their memory.
const KEPT_BYTES: u64 = 512 << 20;
/// The directories without a manifest that a report names.
const NAMED_LINES: usize = 10;

/// Checks the plugins under `roots` and returns the report. Capabilities that the host grants are
/// dropped.
///
/// It does not return an error: a plugin that cannot be checked is refused, with the cause as its
/// reason.
///
/// # Guarantees
/// Those of [`load`].
pub fn check(roots: &[Root], stores: &mut Stores, options: &CheckOptions, host: &mut Host<'_>) -> Report {
    let RunResult { mut report, granted, workflow, .. } = run(roots, stores, options, host);
    drop(granted);
    if let Some(workflow) = workflow
        && let Err(failure) = stores.record.close(workflow, UseOutcome::Ok)
    {
        report.notices.push(failure.notice());
        if report.exit == 0 {
            report.exit = failure.weight().exit();
        }
    }
    report
}

/// The result of [`look`].
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct LookReport {
    /// The report.
    pub report: Report,
    /// The subject of a pin or lock entry for each plugin, by place. A plugin whose manifest or tree
    /// is refused has none.
    pub subjects: BTreeMap<PlacePath, Subject>,
    /// The execution surface of each plugin that would load, by dialect, without bytes.
    pub surfaces: BTreeMap<PluginKey, Vec<(Dialect, SurfaceItem)>>,
    /// The execution surface of each other plugin whose manifests were read.
    pub refused_surfaces: BTreeMap<PluginKey, Vec<(Dialect, SurfaceItem)>>,
}

/// Checks the plugins under `roots`, and also returns what a pin or a lock entry of each would
/// cover.
///
/// Nothing is granted under [`crate::CheckMode::LookOnly`].
pub fn look(roots: &[Root], stores: &mut Stores, options: &CheckOptions, host: &mut Host<'_>) -> LookReport {
    let RunResult { report, all, .. } = run(roots, stores, options, host);
    let loads = report.plugins.iter().filter(|row| row.decision == Decision::Load);
    let loads: BTreeSet<PluginKey> = loads.map(|row| row.key.clone()).collect();
    let (mut subjects, mut surfaces, mut refused_surfaces) =
        (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for one in all {
        let items = manifests(&one.views)
            .flat_map(|manifest| manifest.surface().iter().map(|item| (manifest.dialect(), item.clone())));
        let of_decision = if loads.contains(&one.key) { &mut surfaces } else { &mut refused_surfaces };
        of_decision.insert(one.key.clone(), items.collect());
        if let Some(subject) = one.subject {
            subjects.insert(one.place.real, subject);
        }
    }
    LookReport { report, subjects, surfaces, refused_surfaces }
}

/// Checks the plugins under `roots`, and returns those that load with their checked bytes and
/// capabilities.
///
/// It does not return an error: a plugin that cannot be checked is refused, with the cause as its
/// reason.
///
/// # Guarantees
/// Plugins that a gate refuses are never pinned. Those that load on first use are pinned in one
/// commit after all verdicts, and each new pin is recorded in the ledger before that commit. A
/// capability exists only after its record, and a plugin loads only if the record of its decision
/// was written. The report does not depend on `jobs`, or on the order in which a directory lists
/// its names. Memory holds one plugin at a time, the files outside of plugins that their commands run, and the
/// bytes of the plugins that load.
pub fn load(
    roots: &[Root],
    stores: &mut Stores,
    options: &mut CheckOptions,
    host: &mut Host<'_>,
) -> CheckResult {
    if options.writes == CheckMode::LookOnly {
        // Under `LookOnly` no decision is recorded, so the result must not contain anything that
        // can be loaded.
        options.keep = ByteRetention::Nothing;
    } else if !matches!(options.keep, ByteRetention::Loads { .. }) {
        options.keep = ByteRetention::Loads { bytes: KEPT_BYTES };
    }
    CheckResult::new(run(roots, stores, options, host))
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunResult {
    pub(crate) report: Report,
    /// One per plugin, in the order of the report.
    pub(crate) all: Vec<Examined>,
    pub(crate) granted: Granted,
    pub(crate) workflow: Option<Workflow>,
}

/// The state of a run that belongs to no single plugin.
#[derive(Default)]
pub(crate) struct RunNotes {
    skipped: Vec<Skipped>,
    pub(crate) notices: Vec<Notice>,
    /// The plugins that the settings switch off.
    off: Vec<BundleNames>,
    seen: SearchExtent,
    store_failed: bool,
    /// The record of the number of pins after the commit.
    stored: Option<LedgerEvent>,
}

fn run(roots: &[Root], stores: &mut Stores, options: &CheckOptions, host: &mut Host<'_>) -> RunResult {
    let mut run = stores.record.begin(options.writes);
    let mut gathered = RunNotes::default();
    gathered.notices.extend(stores.pins.notices());
    gathered.notices.extend(stores.approvals.notices());
    gathered.notices.extend(stores.revocations.notices());
    let (places, absent) = find(roots, stores, options, host, &mut gathered);
    let locks = LockFiles::default();
    let used = UsedSuppressions::default();
    let outside = OutsideFiles::default();
    let rules = RuleBook::new(roots, options);
    let around =
        Examiner { roots, rules: &rules, locks: &locks, stores, used: &used, outside: &outside, run: &run };
    let mut all = around.examine_all(places, absent, options, host, &mut gathered);
    gathered.notices.extend(used.notices(options));
    gathered.notices.extend(rules.notices(&all, &gathered.off));
    around.broken_locks(&all, options, &mut gathered);
    if let Some(failure) = run.unrecorded_race() {
        run.fail(failure);
    }
    let Settlement { mut granted, store_failed } =
        settle(&mut all, &mut stores.pins, options, host, &mut run);
    gathered.store_failed |= store_failed == StoreFailed::Yes
        || stores.approvals.failure().is_some()
        || stores.revocations.has_failed();
    gathered.stored = stores.pins.stored();
    let report = finish(&mut all, roots, options, gathered, &mut run);
    if run.failure().is_some() {
        // Capabilities that were granted before the ledger failed belong to no plugin that loads.
        granted.clear();
    }
    let workflow = match run {
        Run::Open { workflow, .. } => Some(workflow),
        Run::Look | Run::Failed(_) => None,
    };
    RunResult { report, all, granted, workflow }
}

fn find(
    roots: &[Root],
    stores: &Stores,
    options: &CheckOptions,
    host: &Host<'_>,
    gathered: &mut RunNotes,
) -> (Vec<PluginPlace>, Vec<AbsentPin>) {
    let (mut places, mut absent) = (Vec::new(), Vec::new());
    let mut known = BTreeSet::new();
    for (number, root) in roots.iter().enumerate() {
        let found = discover(root, number, stores.pins.pins(), options, host.watch);
        // Two roots can contain the same directory, which is one plugin.
        places.extend(found.places.into_iter().filter(|place| known.insert(place.real.clone())));
        absent.extend(found.absent);
        gathered.skipped.extend(found.skipped);
        gathered.notices.extend(found.notices);
        if found.seen == SearchExtent::Partial {
            gathered.seen = SearchExtent::Partial;
        }
    }
    absent.retain(|absent: &AbsentPin| known.insert(absent.place.clone()));
    (places, absent)
}

/// What the examination of every plugin in a run shares.
struct Examiner<'a> {
    roots: &'a [Root],
    rules: &'a RuleBook<'a>,
    locks: &'a LockFiles,
    stores: &'a Stores,
    used: &'a UsedSuppressions,
    outside: &'a OutsideFiles,
    run: &'a Run<'a>,
}

impl Examiner<'_> {
    fn examine_all(
        &self,
        places: Vec<PluginPlace>,
        absent: Vec<AbsentPin>,
        options: &CheckOptions,
        host: &Host<'_>,
        gathered: &mut RunNotes,
    ) -> Vec<Examined> {
        let mut all: Vec<Examined> = Vec::new();
        let mut visited: BTreeMap<PlacePath, String> = BTreeMap::new();
        let count = places.len();
        let mut unlisted = 0_usize;
        let mut free = match options.keep {
            ByteRetention::Loads { bytes } => bytes,
            ByteRetention::Nothing | ByteRetention::Of(_) | ByteRetention::Digests => 0,
        };
        for (number, place) in places.into_iter().enumerate() {
            let Some(root) = self.roots.get(place.root) else { continue };
            host.watch.plugin(&id_of(&place, root), number.saturating_add(1), count);
            let rules = self.rules.of(&place);
            let context = self.context(root, &rules, host);
            let (real, id) = (place.real.clone(), id_of(&place, root));
            let is_named = matches!(place.form, PlaceForm::Named(_));
            let is_recorded = place.installed.is_some();
            match examine(place, &context) {
                Ok(mut one) => {
                    one.path = path_of(&one.place, root);
                    one.id = id;
                    visited.insert(real, one.name().to_owned());
                    fit(&mut one, &mut free);
                    let off = one.rules.policy.switched_off(&one.bundle_names());
                    match off {
                        None if is_enabled(&one, options) => all.push(one),
                        None => {
                            gathered.skipped.push(Skipped { path: one.id, why: "not enabled".to_owned() });
                        }
                        Some(setting) => {
                            let at = setting.origin.map(|origin| format!(" in {origin}")).unwrap_or_default();
                            let why = format!("switched off by `{}`{at}", setting.key);
                            gathered.off.push(one.bundle_names());
                            gathered.skipped.push(Skipped { path: one.id, why });
                        }
                    }
                }
                Err(skip) if is_named => {
                    unlisted = unlisted.saturating_add(1);
                    if unlisted <= NAMED_LINES {
                        gathered.skipped.push(skip);
                    }
                }
                Err(skip) => {
                    visited.insert(real, String::new());
                    if is_recorded {
                        let message = format!("{id}: {}", skip.why);
                        gathered.notices.push(Notice::new("install/no-manifest", Gate::Discover, message));
                    }
                    gathered.skipped.push(skip);
                }
            }
        }
        if let Some(more) = unlisted.checked_sub(NAMED_LINES).filter(|more| *more > 0) {
            let why = format!("{more} more directories without a manifest, which were scanned");
            gathered.skipped.push(Skipped { path: ".".to_owned(), why });
        }
        for one in absent {
            self.absent(one, options, host, gathered, &mut all);
        }
        self.replaced(&mut all);
        let RecordNotes { rows, notices, has_failed } =
            RecordNotes::of(options, self.roots, &self.rules.base());
        all.extend(rows.into_iter().filter(|one| is_enabled(one, options)));
        gathered.notices.extend(notices);
        gathered.store_failed |= has_failed;
        for (number, root) in self.roots.iter().enumerate() {
            for place in lock::unvisited(self.locks, root, &visited, &options.verifiers) {
                visited.insert(place.clone(), String::new());
                let one = self.missing(place, number, root);
                if is_enabled(&one, options) {
                    all.push(one);
                }
            }
        }
        name_apart(&mut all, self.roots);
        all
    }

    fn context<'c>(&'c self, root: &'c Root, rules: &'c Arc<PluginRules>, host: &'c Host<'_>) -> Context<'c> {
        let Self { locks, stores, used, outside, run, .. } = *self;
        Context { root, locks, stores, options: &rules.options, rules, watch: host.watch, used, outside, run }
    }

    /// Reports a pinned place that is not a directory any more: a note if nothing is there, a
    /// refusal otherwise.
    fn absent(
        &self,
        absent: AbsentPin,
        options: &CheckOptions,
        host: &Host<'_>,
        gathered: &mut RunNotes,
        all: &mut Vec<Examined>,
    ) {
        let Some(root) = self.roots.get(absent.root) else { return };
        let key = PluginKey::Placed(absent.place.clone());
        let moved = |one: &Examined| {
            // Whatever is at the old place now is checked as a plugin of its own.
            one.subject.as_ref().is_some_and(|subject| {
                subject.old_place == OldPlace::Free && subject.observed.predecessor.as_ref() == Some(&key)
            })
        };
        if all.iter().any(moved) {
            return;
        }
        let mut one = place_of(absent.place, absent.root, root, self.rules);
        if !is_enabled(&one, options) {
            return;
        }
        match absent.error {
            None => {
                let message = format!("pinned plugin no longer exists: `{}`", one.id);
                let mut notice = Notice::new("pin/gone", Gate::Pin, message);
                notice.plugin = Some(one.key.clone());
                gathered.notices.push(notice);
            }
            Some(error) => {
                one.settle(Gate::Tree, tree::refused(&error));
                let rules = Arc::clone(&one.rules);
                let context = self.context(root, &rules, host);
                let outcome = pin::unread(&[&one.key], &context);
                one.settle(Gate::Pin, outcome);
                all.push(one);
            }
        }
    }

    /// Asks about each new plugin that seems to replace a pinned one. A plugin that was moved is not replaced.
    fn replaced(&self, all: &mut [Examined]) {
        let Some(pins) = self.stores.pins.pins() else { return };
        let moved: BTreeSet<PluginKey> =
            all.iter().filter_map(|one| one.subject.as_ref()?.observed.predecessor.clone()).collect();
        for one in all.iter_mut() {
            let Some(root) = self.roots.get(one.place.root) else { continue };
            if let Some(old) = pin::replaced(one, pins, root).filter(|old| !moved.contains(old)) {
                pin::ask_replaced(one, old);
            }
        }
    }

    /// Returns a refused plugin for an entry of a lockfile whose directory does not exist.
    fn missing(&self, place: PlacePath, number: usize, root: &Root) -> Examined {
        let mut one = place_of(place, number, root, self.rules);
        one.lock = LockReport::state(LockState::Missing);
        let help = plugward_tree_lock::LockCheck::Missing.help();
        let message = format!("{} lists this plugin, but it does not exist", lock::NAME);
        one.gate(Gate::Lock).add("lock/missing", Weight::Integrity, message, help);
        one
    }

    /// Reports unusable lockfiles that no plugin's reasons mention.
    fn broken_locks(&self, all: &[Examined], options: &CheckOptions, gathered: &mut RunNotes) {
        for (number, root) in self.roots.iter().enumerate() {
            let said =
                all.iter().any(|one| one.place.root == number && one.lock.state == LockState::Malformed);
            if let Some(notice) = lock::broken(self.locks, root, &options.verifiers).filter(|_| !said) {
                gathered.notices.push(notice);
                gathered.store_failed = true;
            }
        }
    }
}

/// Returns a plugin for a place that cannot be opened as a directory.
pub(crate) fn place_of(real: PlacePath, number: usize, root: &Root, rules: &RuleBook<'_>) -> Examined {
    let dir = root.inside(&real).unwrap_or(".").to_owned();
    let reach = crate::discovery::roots::reach(root, &dir);
    let mut place = PluginPlace {
        root: number,
        dir,
        real: real.clone(),
        reach,
        form: PlaceForm::Marked,
        named: None,
        listed: None,
        further: Vec::new(),
        installed: None,
        broken: None,
    };
    let rules = rules.of(&place);
    // Nothing above a place counts for what is not there.
    let Reach { top, outer, .. } = &mut place.reach;
    top.clone_from(&place.dir);
    outer.clone_from(&place.dir);
    let mut one = Examined::new(place, PluginKey::Placed(real), rules);
    one.id = id_of(&one.place, root);
    one.path = path_of(&one.place, root);
    one
}

/// Returns the id in reports: a recorded id, or the path relative to the plugin's project, else to the label of the root.
fn id_of(place: &PluginPlace, root: &Root) -> String {
    let recorded = place.installed.as_ref().and_then(|one| one.keys.first());
    if let Some(key @ PluginKey::Installed { .. }) = recorded {
        return key.to_string();
    }
    let in_project = place.reach.project.as_deref().and_then(|project| inside(&place.dir, project));
    match in_project {
        Some(path) if path != "." => plain(path).into_owned(),
        Some(_) | None => labelled(place, root),
    }
}

/// Returns the path in reports: the id, or `.` if the plugin is the project itself.
fn path_of(place: &PluginPlace, root: &Root) -> String {
    let recorded =
        place.installed.as_ref().is_some_and(|one| one.keys.iter().any(|key| key.placed().is_none()));
    match inside(&place.dir, &root.dir) {
        // A recorded id is not a path.
        Some(path) if recorded => plain(path).into_owned(),
        None if recorded => labelled(place, root),
        _ if place.reach.project.as_deref() == Some(&place.dir) => ".".to_owned(),
        _ => id_of(place, root),
    }
}

fn labelled(place: &PluginPlace, root: &Root) -> String {
    let label = if root.label == "." { root.real().name().to_owned() } else { root.label.clone() };
    let path = match inside(&place.dir, &root.dir) {
        Some(path) if root.label == "." && path != "." => path.to_owned(),
        Some(path) => join(&label, path),
        None => {
            let mut below = root.stops.iter().filter_map(|home| place.real.relative_to(home));
            below.next().map_or_else(|| place.real.name().to_owned(), |path| format!("~/{path}"))
        }
    };
    plain(&path).into_owned()
}

/// Makes ids unique: two projects can contain a plugin at the same path, so both ids start with
/// their root's label.
fn name_apart(all: &mut [Examined], roots: &[Root]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for one in all.iter() {
        let number = count.entry(one.id.clone()).or_default();
        *number = number.saturating_add(1);
    }
    // Several versions of an installed plugin have one id; their paths and versions tell them apart.
    let is_placed = |one: &&mut Examined| one.key.placed().is_some();
    let is_shared = |one: &&mut Examined| count.get(&one.id).is_some_and(|number| *number > 1);
    for one in all.iter_mut().filter(is_placed).filter(is_shared) {
        if let Some(root) = roots.get(one.place.root) {
            one.id = labelled(&one.place, root);
        }
    }
}

fn is_enabled(one: &Examined, options: &CheckOptions) -> bool {
    options.enabled.as_ref().is_none_or(|names| names.iter().any(|name| one.is_called(name)))
}

/// Drops the bytes of a plugin that does not load, and refuses a plugin whose bytes exceed the
/// remaining room.
fn fit(one: &mut Examined, room: &mut u64) {
    if one.snapshot.is_none() {
        return;
    }
    if one.passes() {
        if let Some(rest) = room.checked_sub(one.bytes.saturating_add(one.shared.size())) {
            *room = rest;
            return;
        }
        let message = "together, the plugins that load are larger than the limit of this host";
        let help = "raise the limit for kept bytes, or load fewer plugins at once";
        one.gate(Gate::Tree).add("tree/limit", Weight::Integrity, message, help);
    }
    one.snapshot = None;
    one.shared.drop_bytes();
    one.closure_files.drop_bytes();
}

/// The result of the steps after the gates.
struct Settlement {
    granted: Granted,
    store_failed: StoreFailed,
}

/// Runs the steps after the gates, in this order: questions, grants, records, pins.
///
/// A plugin whose grants are refused is not pinned. Capabilities of a plugin that could not be
/// pinned are taken back.
fn settle(
    all: &mut [Examined],
    pins: &mut PinStore,
    options: &CheckOptions,
    host: &mut Host<'_>,
    run: &mut Run<'_>,
) -> Settlement {
    let mut nobody = NoPerson;
    // No question is asked if the answer could not be recorded.
    let person: &mut dyn Person = if run.failure().is_some() { &mut nobody } else { &mut *host.person };
    let runs = all.iter().filter(|one| settings::asks(one)).count();
    person.announce(runs.saturating_add(all.iter().filter(|one| pin::asks(one)).count()));
    pin::settle_without_pins(all, options, person);
    let mut pending: Vec<Pending> = Vec::new();
    for (at, one) in all.iter_mut().enumerate() {
        settings::ask(one, person);
        let rules = Arc::clone(&one.rules);
        if let Some(change) = pin::settle(one, pins, &rules.options, person) {
            pending.push(Pending { at, change });
        }
        pending.extend(
            pin::settle_further(one, pins, &rules.options).into_iter().map(|change| Pending { at, change }),
        );
    }
    pending.retain(|pending| !forgets_a_moved_one(all, pending));
    let none_loads =
        |all: &[Examined]| options.whole == FailureScope::AllOrNothing && all.iter().any(|one| !one.passes());
    let mut granted = Granted::new();
    if !none_loads(all) {
        granted = mint::grant(all, run, host.grants);
    }
    let loads = |at: usize| all.get(at).is_some_and(Examined::passes);
    pending.retain(|pending| pending.is_denial() || loads(pending.at));
    if none_loads(all) {
        pending.retain(Pending::is_denial);
    }
    run.write(&before_the_commit(all, &pending));
    if run.failure().is_some() {
        refuse_unrecorded(all, run);
        pending.retain(Pending::is_denial);
    }
    let store_failed = pins::commit(all, pending, pins, options);
    let passing = all.iter().filter(|one| one.passes());
    let exceptions: Vec<LedgerEvent> = passing
        .flat_map(|one| one.exceptions.iter())
        .map(|reason| LedgerEvent::ExceptionUsed {
            setting: "pins.on_store_error".to_owned(),
            reason: reason.clone(),
        })
        .collect();
    run.write(&exceptions);
    let which = if none_loads(all) { TakeBack::All } else { TakeBack::OfRefused };
    mint::take_back(&mut granted, all, run, which);
    refuse_unrecorded(all, run);
    if let Some(one) = all.iter_mut().find(|one| one.pin.status() == PinStatus::Enrolled)
        && let Err(error) = pins.collect()
    {
        let message = format!("could not remove old baselines: {error}");
        one.gate(Gate::Pin).note(error.code(), message);
    }
    Settlement { granted, store_failed }
}

/// Returns `true` if the pin is of a directory that this run refuses elsewhere as moved and
/// changed.
///
/// Refreshing the pin would lose the identity by which that directory was recognized.
fn forgets_a_moved_one(all: &[Examined], pending: &Pending) -> bool {
    let Change::Refresh { observed } = &pending.change else { return false };
    let moved = |one: &Examined| {
        let from = one.subject.as_ref().and_then(|subject| subject.observed.predecessor.as_ref());
        from == Some(&observed.key) && !one.passes()
    };
    all.iter().any(moved)
}

/// Returns the events to record before the pins are written: new pins, and plugins that differ from
/// their pin.
fn before_the_commit(all: &[Examined], pending: &[Pending]) -> Vec<LedgerEvent> {
    let refused = all.iter().filter_map(|one| {
        let old = Some(one.pin.refused()?);
        let digest = one.tree.map_or_else(|| UNREAD.to_owned(), |tree| tree.to_string());
        Some(LedgerEvent::PinRefused { plugin: ledger_name(&one.key), digest, old })
    });
    let enrolled = pending.iter().filter_map(|pending| match &pending.change {
        Change::Enroll { observed, .. } => Some(LedgerEvent::PinEnrolled {
            plugin: ledger_name(&observed.key),
            digest: observed.facts.tree.to_string(),
            old: None,
        }),
        Change::Deny { key, seen, .. } => Some(denied(key, *seen)),
        _ => None,
    });
    refused.chain(enrolled).collect()
}

/// Refuses every plugin that would load if the ledger has failed.
fn refuse_unrecorded(all: &mut [Examined], run: &Run<'_>) {
    let Some(failure) = run.failure() else { return };
    for one in all.iter_mut().filter(|one| one.passes()) {
        one.capabilities.clear();
        one.gate(Gate::Mint).reasons.push(failure.reason());
    }
}

/// Renders the report, records the decisions, and counts.
pub(crate) fn finish(
    all: &mut [Examined],
    roots: &[Root],
    options: &CheckOptions,
    gathered: RunNotes,
    run: &mut Run<'_>,
) -> Report {
    if options.whole == FailureScope::AllOrNothing && all.iter().any(|one| !one.passes()) {
        let help = "fix or leave out the other plugin, or allow plugins to load without it";
        for one in all.iter_mut().filter(|one| one.passes()) {
            let message = "another plugin of this run does not load";
            one.gate(Gate::Discover).add("check/all-or-nothing", Weight::Follows, message, help);
        }
    }
    all.sort_by(|a, b| (&a.id, a.place.root, &a.key).cmp(&(&b.id, b.place.root, &b.key)));
    let RunNotes { mut skipped, mut notices, seen, store_failed, stored, off: _ } = gathered;
    let mut plugins: Vec<_> = all.iter().map(Examined::report).collect();
    for plugin in &mut plugins {
        for message in plugin.reasons.iter_mut().map(|reason| &mut reason.message) {
            *message = shortened(message, roots);
        }
        for message in plugin.notices.iter_mut().map(|notice| &mut notice.message) {
            *message = shortened(message, roots);
        }
    }
    for notice in &mut notices {
        notice.message = shortened(&notice.message, roots);
    }
    run.decisions(options.trust_word(), &plugins);
    run.write(stored.as_slice());
    if let Some(failure) = run.failure() {
        refuse_unrecorded(all, run);
        for plugin in plugins.iter_mut().filter(|plugin| plugin.decision == Decision::Load) {
            plugin.capabilities.clear();
            plugin.reasons.push(failure.reason());
            plugin.decision = decide(&plugin.reasons);
        }
        notices.push(failure.notice());
    }
    let mut summary = Summary::default();
    for plugin in &plugins {
        let count = match plugin.decision {
            _ if !plugin.on => &mut summary.off,
            Decision::Load => &mut summary.load,
            Decision::Ask => &mut summary.ask,
            Decision::Refuse => &mut summary.refuse,
        };
        *count = count.saturating_add(1);
        summary.files = summary.files.saturating_add(plugin.files);
        summary.bytes = summary.bytes.saturating_add(plugin.bytes);
    }
    skipped.sort();
    skipped.dedup();
    notices.sort();
    notices.dedup();
    summary.skipped = u64::try_from(skipped.len()).unwrap_or(u64::MAX);
    let on = plugins.iter().filter(|plugin| plugin.on);
    let weights = on.flat_map(|plugin| plugin.reasons.iter().map(|reason| reason.weight));
    // Directories that were not searched can contain plugins that were not checked.
    let unseen = (seen == SearchExtent::Partial).then_some(Weight::CouldNotTell);
    let unrecorded = run.failure().map(RecordFailure::weight);
    let exit = exit(weights.chain(unseen).chain(unrecorded), store_failed.then_some(Weight::Store));
    Report {
        version: 2,
        tool: Tool {
            name: "plugward",
            version: env!("CARGO_PKG_VERSION"),
            rules: options.rules().digest().to_string(),
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

/// Returns the exit code: the first of 7, 4, 6, 5, 2, 1, 3 that applies, or 0.
fn exit(weights: impl Iterator<Item = Weight>, store: Option<Weight>) -> u8 {
    weights.chain(store).min().map_or(0, Weight::exit)
}
