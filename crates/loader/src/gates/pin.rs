//! The pin gate: are these the pinned contents?

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::Manifest;
use plugward_pinstore::{
    AgreedAge, AgreedState, Change, ChangedPart, DenialSource, Facts, LockMatch, ObservedPlugin, Pin,
    PinCheck, PinDecision, PinDifference, PinOrigin, PinState, PinnedState, Pins, ReadScope, ReviewedDigests,
    SameContentsPin, StoreDecision, StoreErrorRule, decide,
};
use plugward_tree_lock::{CodewizardDigest, DigestCheck, DigestedTree, Excludes, Snapshot};
use plugward_types::{CalledName, Digest, HostName, PlacePath, PluginKey, TreeDigest};

use super::installed;
use super::manifest::SCHEMA_VERSION;
use super::policy::{Namesake, namesake};
use super::scan::SUSPICIOUS;
use super::surface::UNRESOLVED;
use super::{Context, passed};
use crate::contents::subject::Subject;
use crate::contents::trees;
use crate::contents::view::manifests;
use crate::discovery::discover::{CONTROL, exists};
use crate::discovery::key::{Identity, OldPlace};
use crate::discovery::roots::Root;
use crate::report::text::plain;
use crate::report::{Gate, PinStatus};
use crate::run::examined::Examined;
use crate::run::options::{Answer, CheckMode, CheckOptions, Person, Question, Trust};
use crate::run::outcome::{GateOutcome, Reason, Weight};
use crate::state::gated::{self, GateRecord};
use crate::state::pins::PinStore;

/// The code of a new plugin that has the place and name of a pinned one that is gone.
pub(crate) const REPLACED: &str = "pin/replaced";

/// The result of comparing one plugin with the pins.
#[derive(Debug, Clone)]
pub(crate) enum PinOutcome {
    /// No comparison was possible.
    NotChecked,
    /// The pins cannot be read, and `pins.on_store_error` decides.
    Unavailable { decision: StoreDecision, message: String, help: String },
    /// The plugin was compared with its pin.
    Compared { check: PinCheck, decision: PinDecision },
    /// This run pinned it.
    Enrolled,
}

impl PinOutcome {
    pub(crate) const fn status(&self) -> PinStatus {
        match self {
            Self::NotChecked => PinStatus::NotChecked,
            Self::Unavailable { .. } => PinStatus::Unavailable,
            Self::Enrolled => PinStatus::Enrolled,
            Self::Compared { check, .. } => match check {
                PinCheck::Same { age: AgreedAge::Latest, .. } => PinStatus::Same,
                PinCheck::Same { age: AgreedAge::Older, .. } => PinStatus::Older,
                PinCheck::Moved { .. } => PinStatus::Moved,
                PinCheck::Migrated { .. } => PinStatus::Migrated,
                PinCheck::ManifestOnly => PinStatus::ManifestOnly,
                PinCheck::Unpinned => PinStatus::None,
                PinCheck::Changed(_) => PinStatus::Changed,
                PinCheck::RolledBack { .. } => PinStatus::RolledBack,
                PinCheck::Denied { .. } => PinStatus::Denied,
            },
        }
    }

    /// Returns the difference to the latest agreed state.
    fn difference(&self) -> Option<&PinDifference> {
        match self {
            Self::Compared {
                check: PinCheck::Changed(difference) | PinCheck::RolledBack { difference, .. },
                ..
            } => Some(difference),
            _ => None,
        }
    }

    /// Returns the pinned digests if the plugin differs from them: manifests by dialect, and the tree.
    pub(crate) fn pinned(&self) -> Option<(BTreeMap<String, String>, Option<String>)> {
        Some(match &self.difference()?.pinned {
            PinnedState::Tree(facts) => {
                let manifest =
                    facts.manifest.iter().map(|(dialect, digest)| (dialect.clone(), digest.to_string()));
                (manifest.collect(), Some(facts.tree.to_string()))
            }
            PinnedState::Manifest(_) => (BTreeMap::new(), None),
        })
    }

    /// Returns the pinned tree or manifest if the plugin differs from it.
    pub(crate) fn refused(&self) -> Option<String> {
        Some(match &self.difference()?.pinned {
            PinnedState::Tree(facts) => facts.tree.to_string(),
            PinnedState::Manifest(digest) => digest.to_string(),
        })
    }
}

/// Returns the pin of a plugin, or of its former place.
fn pin_of<'a>(identity: &Identity, context: &Context<'a>) -> Option<&'a Pin> {
    let pins = context.stores.pins.pins()?;
    pins.get(&identity.key).or_else(|| pins.get(identity.predecessor.as_ref()?))
}

/// Returns `true` if a directory is pinned or denied, so that it is judged even without a manifest.
pub(crate) fn is_known(identity: &Identity, context: &Context<'_>) -> bool {
    pin_of(identity, context).is_some()
}

/// Returns the names of the shared directories in the pin of a plugin.
pub(crate) fn shared_of(identity: &Identity, context: &Context<'_>) -> Vec<String> {
    let agreed = pin_of(identity, context).and_then(Pin::latest);
    agreed.map(|agreed| agreed.facts.shared.keys().cloned().collect()).unwrap_or_default()
}

/// Collects what a pin would cover, digested under the excludes of the existing pin.
pub(crate) fn subject(
    one: &mut Examined,
    identity: Identity,
    snapshot: &Snapshot,
    context: &Context<'_>,
) -> Subject {
    let was = one.place.named.as_ref().map(|named| named.was.as_slice()).unwrap_or_default();
    let identity = identity.or_renamed(was, context);
    let pin = pin_of(&identity, context);
    let pinned = pin.and_then(Pin::latest);
    let listed =
        pinned.and_then(|agreed| Excludes::new(agreed.facts.exclude.iter().map(String::as_str)).ok());
    // The lockfile of a repository that is one plugin can be newer than its pin.
    let is_pinned = |tree: &TreeDigest| pinned.is_some_and(|agreed| agreed.facts.tree == *tree);
    let is_root = one.place.dir == context.root.dir;
    let tree_under = |list: &Excludes| {
        let before = || trees::before_lock(snapshot, list).filter(|tree| is_root && is_pinned(tree));
        let tree = trees::under(snapshot, list)?;
        Some(if is_pinned(&tree) { tree } else { before().unwrap_or(tree) })
    };
    let (tree, exclude) = listed
        .and_then(|list| tree_under(&list).map(|tree| (tree, list)))
        .unwrap_or_else(|| (*snapshot.digest(), snapshot.exclude().clone()));
    one.tree = Some(tree);
    // Settings, skills and directories of prompts have no marketplace entry.
    let entry = super::manifest::entry_text(one, snapshot).filter(|_| one.is_plugin());
    let facts = Facts {
        manifest: one.manifests.iter().map(|(dialect, digest)| ((*dialect).to_owned(), *digest)).collect(),
        entry: entry.map(|text| crate::contents::hash::sha256(text.as_bytes())),
        surface: Some(crate::contents::view::surface_digest(&one.views)),
        exclude: exclude.iter().map(str::to_owned).collect(),
        shared: one.shared.digests(),
        closure: one.closure.digest,
        vcs: one.vcs.digest(),
        unresolved: one.closure.unresolved.iter().map(|command| command.digest).collect(),
        loosens: one.place.installed.iter().flat_map(|place| &place.loosens).cloned().collect(),
        ..Facts::of_tree(tree)
    };
    let before = before(one, snapshot, &facts, pin, context);
    let items = manifests(&one.views).flat_map(Manifest::surface);
    let launchers = items.filter(|item| item.coverage().code().starts_with("launcher-"));
    let Identity { key, directory, predecessor, old_place, further } = identity;
    let version = one.version().map(str::to_owned);
    Subject {
        observed: ObservedPlugin {
            key,
            directory,
            called: one.called.clone(),
            version,
            behaviors: None,
            facts,
            before,
            predecessor,
        },
        executable: snapshot.executables().map(str::to_owned).collect(),
        launchers: launchers.map(super::surface::launcher).collect(),
        codewizard: context.locks.is_json(&one.place, context).then(|| CodewizardDigest::of(snapshot)),
        without_lock: is_root.then(|| trees::without_lock(snapshot)).flatten(),
        files: BTreeMap::new(),
        listed_unresolved: BTreeSet::new(),
        material: None,
        old_place,
        further,
    }
}

/// Returns the facts as version 3 of the pins file had them, if the pinned state is of that version and it would have
/// computed others.
///
/// That version read version control directories, listed each file that settings start as a shared one, rendered fewer
/// parts of settings, and took the definition of a row without a manifest for its marketplace entry.
fn before(
    one: &Examined,
    snapshot: &Snapshot,
    facts: &Facts,
    pin: Option<&Pin>,
    context: &Context<'_>,
) -> Option<Box<Facts>> {
    let old = pin?.latest().filter(|agreed| agreed.reads == ReadScope::Directory)?;
    let mut before = facts.clone();
    if let Some(tree) = with_vcs(one, snapshot, old, context) {
        before.tree = tree;
    }
    let mut states = pin.into_iter().flat_map(|pin| pin.agreed.iter().rev());
    if let Some(same) = states.find(|agreed| agreed.facts.tree == before.tree) {
        // The tree covers the manifests, and that version knew fewer dialects.
        before.manifest.clone_from(&same.facts.manifest);
    }
    if one.is_plugin() {
        return Some(Box::new(before));
    }
    before.shared = crate::contents::shared::listed(&one.place, old.facts.shared.keys(), context);
    let mut entry = super::manifest::entry_text(one, snapshot);
    if let Some((parts, definition)) = installed::version_3(&one.place) {
        before.tree = *parts.digest();
        entry = definition;
    }
    before.entry = entry.map(|text| crate::contents::hash::sha256(text.as_bytes()));
    Some(Box::new(before))
}

/// Returns the digest with the version control directories that a state does not exclude.
fn with_vcs(
    one: &Examined,
    snapshot: &Snapshot,
    state: &AgreedState,
    context: &Context<'_>,
) -> Option<TreeDigest> {
    let exclude = Excludes::new(state.facts.exclude.iter().map(String::as_str)).ok()?;
    let mut left_out = snapshot.exclude().iter().filter(|name| CONTROL.contains(name));
    if left_out.all(|name| exclude.contains(name)) {
        return None;
    }
    let exclude = if super::tree::is_cache(&one.place) { exclude.with_host_files() } else { exclude };
    let jail = super::tree::open(&one.place, context).ok()?;
    match DigestedTree::read(&jail, &context.options.tree, &exclude, context.options.jobs) {
        Ok(DigestCheck::Digested(tree)) => Some(*tree.digest()),
        Ok(DigestCheck::Refused(_)) | Err(_) => None,
    }
}

/// Returns the outcome for a plugin that could not be digested. A denial of its key, or of its key before a
/// move, still counts.
pub(crate) fn unread(keys: &[&PluginKey], context: &Context<'_>) -> GateOutcome {
    let mut outcome = passed(Gate::Pin);
    let pins = context.stores.pins.pins();
    let mut known = keys.iter().filter_map(|key| Some((*key, pins?.get(key)?)));
    outcome.reasons.extend(denied_in_ledger(keys.iter().copied(), None, context));
    if let Some((key, Pin { denied, .. })) = known.find(|(_, pin)| pin.state == PinState::Denied) {
        let since = denied.as_ref().map(|denial| format!(" since {}", denial.at.day())).unwrap_or_default();
        let mut reason = denied_reason(format!("denied{since}"));
        reason.selector = Some(key.name().to_owned());
        outcome.reasons.push(reason);
    }
    outcome
}

/// Returns the reason for a denial that only the ledger has, because the pins cannot be read.
fn denied_in_ledger<'k>(
    keys: impl IntoIterator<Item = &'k PluginKey>,
    tree: Option<&TreeDigest>,
    context: &Context<'_>,
) -> Option<Reason> {
    let denials = context.stores.pins.recorded_denials()?;
    denials.has(keys, tree).then(|| denied_reason("denied, according to the ledger".to_owned()))
}

/// Returns the reason for a denial by the user.
fn denied_reason(message: String) -> Reason {
    Reason::new("policy/denied", Gate::Pin, Weight::Denied, message, "allow the plugin again if you trust it")
}

/// Compares one plugin with its pin. Questions and writes follow after all other gates.
pub(crate) fn gate(
    one: &Examined,
    subject: &Subject,
    snapshot: &Snapshot,
    lock: LockMatch,
    context: &Context<'_>,
) -> (PinOutcome, GateOutcome) {
    let mut outcome = passed(Gate::Pin);
    let options = context.options;
    let pins = match context.stores.pins.state() {
        Ok(pins) => pins,
        Err(failure) => {
            let mut decision =
                StoreDecision::of_unusable(options.on_store_error, options.trust, failure.code());
            if let StoreDecision::Ask(code) = decision
                && options.on_store_error == StoreErrorRule::Ask
                && !context.stores.pins.can_ask()
            {
                decision = StoreDecision::Refuse(code);
            }
            let keys = core::iter::once(subject.key()).chain(&subject.further);
            outcome.reasons.extend(denied_in_ledger(keys, one.tree.as_ref(), context));
            let (message, help) = (failure.message().to_owned(), failure.help().to_owned());
            unusable(&mut outcome, &decision, &message, &help, options);
            return (PinOutcome::Unavailable { decision, message, help }, outcome);
        }
    };
    let Some(pins) = pins else {
        let check = PinCheck::Unpinned;
        let decision = decide(&check, options.trust, lock, SameContentsPin::None);
        refuse_new(&mut outcome, decision);
        return (PinOutcome::Compared { check, decision }, outcome);
    };
    let check = pins.check(&subject.observed);
    let is_new = matches!(check, PinCheck::Unpinned | PinCheck::ManifestOnly);
    let elsewhere = if is_new { elsewhere(pins, subject) } else { None };
    let decision = decide(
        &check,
        options.trust,
        lock,
        elsewhere.as_ref().map_or(SameContentsPin::None, |one| one.trust),
    );
    if one.views.is_empty() && !matches!(check, PinCheck::Denied { .. }) {
        let since = match &check {
            PinCheck::Changed(changed) => since(changed),
            _ => String::new(),
        };
        let message = format!("changed{since}: no known manifest found");
        let help = "restore the plugin, or delete its pin if it is not a plugin any more";
        outcome.add("pin/changed", Weight::Integrity, message, help);
        return (PinOutcome::Compared { check, decision }, outcome);
    }
    notes(&mut outcome, pins, subject, &check, elsewhere.as_ref(), options.trust);
    if matches!(check, PinCheck::Unpinned) {
        say_gated(&mut outcome, one, subject, snapshot, context);
    }
    refuse(&mut outcome, one, subject, snapshot, &check, decision, context);
    if let Some(like) = namesake(pins, one, subject, snapshot, &check, context.stores.pins.baselines()) {
        held_against(&mut outcome, &like, &check, decision, subject);
    }
    if decision != PinDecision::Ask || !one.is_on() {
        further(&mut outcome, pins, subject, lock, options.trust);
    }
    (PinOutcome::Compared { check, decision }, outcome)
}

/// Refuses a directory whose further keys have another pin. A directory that two records name loads only if the pins of
/// both match.
fn further(outcome: &mut GateOutcome, pins: &Pins, subject: &Subject, lock: LockMatch, trust: Trust) {
    for observed in further_of(subject) {
        let check = pins.check(&observed);
        match decide(&check, trust, lock, SameContentsPin::None) {
            PinDecision::Load | PinDecision::Carry | PinDecision::Enroll(_) => {}
            PinDecision::Ask => {
                let message = format!("new plugin under its further key `{}`", observed.key);
                let help = "check where a person can answer, or accept this version under that key";
                let mut reason = Reason::new("pin/new", Gate::Pin, Weight::Undecided, message, help);
                reason.accept = Some(ReviewedDigests::wanted(&observed.facts, None));
                reason.selector = Some(observed.key.to_string());
                outcome.reasons.push(reason);
            }
            PinDecision::Refuse("policy/denied") => {
                let mut reason = denied_reason(format!("denied as `{}`", observed.key));
                reason.selector = Some(observed.key.to_string());
                outcome.reasons.push(reason);
            }
            PinDecision::Refuse(code) => {
                let message = format!("differs from the pin of its further key `{}`", observed.key);
                let help = "review what changed, then accept this version under both keys if you trust it";
                let mut reason = Reason::new(code, Gate::Pin, Weight::Integrity, message, help);
                reason.selector = Some(observed.key.to_string());
                outcome.reasons.push(reason);
            }
        }
    }
}

/// Returns the plugin under each of its further keys.
fn further_of(subject: &Subject) -> impl Iterator<Item = ObservedPlugin> + '_ {
    subject.further.iter().map(|key| ObservedPlugin {
        key: key.clone(),
        predecessor: None,
        ..subject.observed.clone()
    })
}

/// Returns the enrollments of a plugin that loads under its further keys.
pub(crate) fn settle_further(one: &Examined, pins: &PinStore, options: &CheckOptions) -> Vec<Change> {
    let (Some(subject), Some(pins)) = (&one.subject, pins.pins()) else { return Vec::new() };
    if options.writes != CheckMode::Commit || options.trust == Trust::Locked || !one.passes() {
        return Vec::new();
    }
    let via = match &one.pin {
        PinOutcome::Compared { decision: PinDecision::Ask, .. } => PinOrigin::Prompt,
        _ => PinOrigin::Tofu,
    };
    let is_new = |observed: &ObservedPlugin| {
        matches!(pins.check(observed), PinCheck::Unpinned | PinCheck::ManifestOnly)
    };
    let enroll = |observed| Change::Enroll { observed, via, by: Some(options.by.clone()) };
    further_of(subject).filter(is_new).map(enroll).collect()
}

/// Another pin that covers the same contents.
struct SameContents<'a> {
    key: &'a PluginKey,
    trust: SameContentsPin,
    at: String,
}

fn elsewhere<'a>(pins: &'a Pins, subject: &Subject) -> Option<SameContents<'a>> {
    let facts = subject.facts();
    let others = pins.iter().filter(|(key, pin)| *key != subject.key() && pin.state == PinState::Trusted);
    let same = others.filter_map(|(key, pin)| {
        let agreed = pin.agreed.iter().rev().find(|agreed| {
            agreed.superseded.is_none()
                && agreed.facts.tree == facts.tree
                && agreed.facts.shared == facts.shared
                && agreed.facts.entry == facts.entry
                && agreed.facts.closure == facts.closure
                && agreed.facts.vcs == facts.vcs
        })?;
        let trust = match agreed.via {
            PinOrigin::Tofu | PinOrigin::Moved => SameContentsPin::Tofu,
            PinOrigin::Prompt | PinOrigin::Accept | PinOrigin::Lock | PinOrigin::Same => {
                SameContentsPin::Agreed
            }
        };
        Some(SameContents { key, trust, at: agreed.at.day() })
    });
    same.max_by_key(|one| one.trust == SameContentsPin::Agreed)
}

fn since(changed: &PinDifference) -> String {
    changed.since.map(|at| format!(" since {}", at.day())).unwrap_or_default()
}

/// Returns the display form of another key, without its absolute path, since reports contain none.
pub(crate) fn shown(key: &PluginKey) -> String {
    match key {
        PluginKey::Installed { .. } => key.to_string(),
        PluginKey::Placed(place) => {
            let parent = place.parent().map(|parent| parent.name().to_owned()).unwrap_or_default();
            let path = if parent.is_empty() {
                place.name().to_owned()
            } else {
                format!("{parent}/{}", place.name())
            };
            plain(&path).into_owned()
        }
    }
}

/// Adds the notices, which do not affect the decision.
fn notes(
    outcome: &mut GateOutcome,
    pins: &Pins,
    subject: &Subject,
    check: &PinCheck,
    elsewhere: Option<&SameContents<'_>>,
    trust: Trust,
) {
    match check {
        PinCheck::Same { age, surface } => {
            if *age == AgreedAge::Older {
                outcome.note("pin/older", "a newer version was accepted later");
            }
            if surface.is_some() {
                let message =
                    "the contents match the pin, but this version detects another execution surface in them";
                outcome.note("pin/surface-new", message);
            }
        }
        PinCheck::Moved { from } if subject.key().placed().is_none() => {
            let message =
                format!("renamed by its marketplace from `{}`, contents match the pin", shown(from));
            outcome.note("pin/moved", message);
        }
        PinCheck::Moved { from } => {
            outcome.note("pin/moved", format!("moved from `{}`, contents match the pin", shown(from)));
        }
        PinCheck::Migrated { age, added } => {
            if *age == AgreedAge::Older {
                outcome.note("pin/older", "a newer version was accepted later");
            }
            outcome.note("pin/migrated", migrated_text(subject.facts(), added, trust));
        }
        PinCheck::ManifestOnly => outcome.note("pin/new", "the old pin covered the manifest only"),
        PinCheck::Unpinned => {
            if let Some(other) = elsewhere {
                let message = format!("same contents as `{}`, pinned on {}", shown(other.key), other.at);
                outcome.note("pin/new", message);
            } else if let Some((key, name)) = same_name(pins, subject) {
                let message = format!(
                    "another `{}` with different contents is pinned at `{}`",
                    name.name(),
                    shown(key)
                );
                outcome.note("pin/new", message);
            }
        }
        PinCheck::Changed(_) | PinCheck::RolledBack { .. } | PinCheck::Denied { .. } => {}
    }
}

/// Returns the notice about a state of version 3 of the pins file.
fn migrated_text(facts: &Facts, added: &[ChangedPart], trust: Trust) -> String {
    let mut text = "the contents match a pin of an older version of plugward".to_owned();
    if let Some(tree) = facts.closure.filter(|_| added.contains(&ChangedPart::Closure)) {
        let more = match trust {
            Trust::Locked => ", which does not cover the files outside that it runs".to_owned(),
            Trust::Tofu | Trust::Prompt => {
                format!(", which now also covers the files outside that it runs\n{tree}")
            }
        };
        text.push_str(&more);
    }
    match facts.unresolved.len() {
        0 => {}
        1 => text.push_str("\n1 command whose text does not determine what runs counts as agreed"),
        many => text
            .push_str(&format!("\n{many} commands whose text does not determine what runs count as agreed")),
    }
    text
}

/// Notes whether a new plugin is what its host asked about before it installed it. The trust mode decides in both cases.
fn say_gated(
    outcome: &mut GateOutcome,
    one: &Examined,
    subject: &Subject,
    snapshot: &Snapshot,
    context: &Context<'_>,
) {
    let hosts = one.place.installed.iter().flat_map(|place| &place.hosts).map(HostName::as_str);
    let hosts: Vec<&str> = hosts.filter(|host| gated::HOSTS.contains(host)).collect();
    if hosts.is_empty() {
        return;
    }
    let trees = trees::before_installation(snapshot);
    for host in hosts {
        match context.stores.pins.gated(host, subject.key().name(), &trees) {
            GateRecord::None => {}
            GateRecord::Same => {
                let message = format!("the same contents that {host} asked about before the installation");
                outcome.note("pin/gated", message);
            }
            GateRecord::Other => {
                let message = format!(
                    "not the contents that {host} asked about before the installation; treated as new"
                );
                outcome.note("pin/not-gated", message);
            }
        }
    }
}

fn same_name<'a>(pins: &'a Pins, subject: &'a Subject) -> Option<(&'a PluginKey, &'a CalledName)> {
    let others = pins.iter().filter(|(key, pin)| *key != subject.key() && pin.state == PinState::Trusted);
    others.into_iter().find_map(|(key, pin)| {
        let name = subject.observed.called.iter().find(|name| pin.called.contains(name))?;
        Some((key, name))
    })
}

/// Adds the refusals: a version that differs from the pin, a denial, or a new plugin that the trust mode
/// does not pin.
fn refuse(
    outcome: &mut GateOutcome,
    one: &Examined,
    subject: &Subject,
    snapshot: &Snapshot,
    check: &PinCheck,
    decision: PinDecision,
    context: &Context<'_>,
) {
    match check {
        PinCheck::Changed(changed) => {
            let differs = Differences::of(changed, snapshot, context);
            let message = changed_text(one, changed, &differs);
            let (help, accept) = match &differs {
                Differences::OnlyCaches => {
                    let help =
                        "remove `__pycache__`; to prevent it, set PYTHONDONTWRITEBYTECODE=1 for the host";
                    (help, None)
                }
                Differences::Files(_) | Differences::Unknown => {
                    let pinned = match &changed.pinned {
                        PinnedState::Tree(facts) => Some(&**facts),
                        PinnedState::Manifest(_) => None,
                    };
                    let help = "review what changed, then accept this version if you trust it";
                    (help, Some(ReviewedDigests::wanted(subject.facts(), pinned)))
                }
            };
            let mut reason = Reason::new(changed.code(), Gate::Pin, Weight::Integrity, message, help);
            reason.accept = accept;
            outcome.reasons.push(reason);
        }
        PinCheck::RolledBack { difference, agreed, superseded } => {
            let message = rolled_back_text(one, difference, &agreed.day(), &superseded.day());
            let pinned = match &difference.pinned {
                PinnedState::Tree(facts) => Some(&**facts),
                PinnedState::Manifest(_) => None,
            };
            let help = "install the newer version again, or accept this one if you want it";
            let mut reason = Reason::new("pin/rolled-back", Gate::Pin, Weight::Integrity, message, help);
            reason.accept = Some(ReviewedDigests::wanted(subject.facts(), pinned));
            outcome.reasons.push(reason);
        }
        PinCheck::Denied { since, by } => {
            let which = match by {
                DenialSource::Key => String::new(),
                DenialSource::Predecessor(from) => format!(" as `{}`", shown(from)),
            };
            let mut reason = denied_reason(format!("denied{which} since {}", since.day()));
            reason.selector = match by {
                DenialSource::Predecessor(from) => Some(from.name().to_owned()),
                DenialSource::Key => None,
            };
            outcome.reasons.push(reason);
        }
        PinCheck::Same { .. } | PinCheck::Moved { .. } | PinCheck::Migrated { .. } => {}
        PinCheck::ManifestOnly | PinCheck::Unpinned => refuse_new(outcome, decision),
    }
}

fn refuse_new(outcome: &mut GateOutcome, decision: PinDecision) {
    if let PinDecision::Refuse(code) = decision {
        let help = "check it once in another trust mode, or add it to PLUGINS.lock";
        outcome.add(code, Weight::Integrity, "new plugin, and the trust mode `locked` pins nothing", help);
    }
}

/// The difference to the pinned tree, as far as the baseline shows it.
enum Differences {
    /// There is no baseline.
    Unknown,
    /// The number of files that differ.
    Files(usize),
    /// Only bytecode caches were added, by Python or by an attacker.
    OnlyCaches,
}

impl Differences {
    fn of(changed: &PinDifference, snapshot: &Snapshot, context: &Context<'_>) -> Self {
        let PinnedState::Tree(facts) = &changed.pinned else { return Self::Unknown };
        let Some(Ok(kept)) = context.stores.pins.baselines().map(|baselines| baselines.tree(&facts.tree))
        else {
            return Self::Unknown;
        };
        let Some(old) = kept.found() else { return Self::Unknown };
        let list = trees::excludes_of(&changed.actual);
        let new = trees::preimage(snapshot, &list);
        let (old, new) = (files(&old), files(&new));
        let differ: Vec<&&str> =
            old.keys().chain(new.keys()).filter(|path| old.get(*path) != new.get(*path)).collect();
        let differ: BTreeSet<&&str> = differ.into_iter().collect();
        let is_cache = |path: &str| path.split('/').any(|part| part == "__pycache__");
        let only_tree = changed.parts == [ChangedPart::Tree];
        if only_tree
            && !differ.is_empty()
            && differ.iter().all(|path| is_cache(path) && !old.contains_key(**path))
        {
            return Self::OnlyCaches;
        }
        Self::Files(differ.len())
    }
}

/// Returns the files of a preimage: kind, digest and size by path.
fn files(preimage: &str) -> BTreeMap<&str, &str> {
    let lines = preimage.lines().skip(1);
    // Kind, digest and size contain no spaces; the rest of the line is the path.
    let row = |line| {
        let line: &str = line;
        let at = line.match_indices(' ').nth(2)?.0;
        Some((line.get(at.checked_add(1)?..)?, line.get(..at)?))
    };
    lines.filter_map(row).collect()
}

fn changed_text(one: &Examined, changed: &PinDifference, differs: &Differences) -> String {
    let updated = updated_text(one, changed);
    let moved = match &changed.from {
        Some(from) if one.key.placed().is_none() => {
            format!("renamed by its marketplace from `{}` and changed", shown(from))
        }
        Some(from) => format!("moved from `{}` and changed", shown(from)),
        None => "changed".to_owned(),
    };
    let mut parts = Vec::new();
    match differs {
        Differences::Files(0) | Differences::Unknown => {}
        Differences::Files(1) => parts.push("1 file differs".to_owned()),
        Differences::Files(many) => parts.push(format!("{many} files differ")),
        Differences::OnlyCaches => parts.push("only `__pycache__` was added".to_owned()),
    }
    let was: Vec<&str> = changed.called.iter().map(CalledName::name).collect();
    if !was.is_empty() && !was.contains(&one.name()) {
        parts.push(format!(
            "its name changed from `{}` to `{}`",
            was.first().copied().unwrap_or_default(),
            plain(one.name())
        ));
    }
    if let (Some(old), Some(new), None) = (changed.version.as_deref(), one.version(), &updated)
        && old != new
    {
        parts.push(format!("its version changed from {} to {}", plain(old), plain(new)));
    }
    for part in &changed.parts {
        match part {
            ChangedPart::Signer => parts.push("another signer".to_owned()),
            ChangedPart::Shared if !one.is_plugin() => {
                parts.push("a script that it starts differs".to_owned());
            }
            ChangedPart::Shared => parts.push("a shared directory differs".to_owned()),
            ChangedPart::Entry => parts.push("its marketplace entry differs".to_owned()),
            ChangedPart::Closure if one.is_plugin() => {
                parts.push("files outside the plugin differ".to_owned());
            }
            ChangedPart::Closure => parts.push("a file that it runs differs".to_owned()),
            ChangedPart::Vcs => parts.push("settings of its version control directory differ".to_owned()),
            ChangedPart::Manifest | ChangedPart::Tree => {}
        }
    }
    if parts.is_empty() {
        parts.push("its contents differ".to_owned());
    }
    let list = match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{}, and {last}", rest.join(", ")),
        None => String::new(),
    };
    let mut text = match updated {
        Some(updated) => format!("{updated}\n{list}"),
        None => format!("{moved}{}: {list}", since(changed)),
    };
    match &changed.pinned {
        PinnedState::Tree(pinned) => {
            if let Some(found) = one.tree.filter(|_| changed.parts.contains(&ChangedPart::Tree)) {
                text.push_str(&format!("\npinned {}\nfound {found}", pinned.tree));
            }
            beside_text(&mut text, pinned, changed);
        }
        PinnedState::Manifest(pinned) => {
            let found = changed.actual.manifest.values().next().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("\npinned {pinned}\nfound {found}"));
        }
    }
    text
}

/// Returns the message about an older version that came back.
fn rolled_back_text(one: &Examined, newer: &PinDifference, agreed: &str, superseded: &str) -> String {
    let version = |version: Option<&str>| version.map(|text| format!(" {}", plain(text))).unwrap_or_default();
    let mut text = format!(
        "an older version{} is back, which was pinned on {} and replaced{} on {}",
        version(one.version()),
        agreed,
        newer.version.as_deref().map(|text| format!(" by {}", plain(text))).unwrap_or_default(),
        superseded
    );
    if let (PinnedState::Tree(facts), Some(found)) = (&newer.pinned, one.tree) {
        text.push_str(&format!("\npinned {}\nfound {found}", facts.tree));
    }
    text
}

/// Returns the first line for a plugin that its host has updated.
fn updated_text(one: &Examined, changed: &PinDifference) -> Option<String> {
    let (old, new) = (changed.version.as_deref()?, one.version()?);
    let is_installed = one.key.placed().is_none() && changed.from.is_none();
    (is_installed && old != new)
        .then(|| format!("updated from {} to {}, which has not been accepted", plain(old), plain(new)))
}

/// Appends the differences outside the tree with both values: the signer, the marketplace entry, and shared
/// directories.
fn beside_text(text: &mut String, pinned: &Facts, changed: &PinDifference) {
    let actual = &changed.actual;
    let none = || "none".to_owned();
    if changed.parts.contains(&ChangedPart::Closure) {
        let show = |facts: &Facts| facts.closure.map_or_else(none, |tree| tree.to_string());
        let (was, is) = (show(pinned), show(actual));
        text.push_str(&format!("\nfiles outside differ\npinned {was}\nfound {is}"));
    }
    if let (Some(was), Some(is)) = (&pinned.signer, &actual.signer)
        && was != is
    {
        text.push_str(&format!("\nsigner differs\npinned {was}\nfound {is}"));
    }
    if pinned.entry != actual.entry {
        let show = |facts: &Facts| facts.entry.map_or_else(none, |digest| digest.to_string());
        text.push_str(&format!(
            "\nmarketplace entry differs\npinned {}\nfound {}",
            show(pinned),
            show(actual)
        ));
    }
    let names: BTreeSet<&String> = pinned.shared.keys().chain(actual.shared.keys()).collect();
    let show = |facts: &Facts, name: &str| {
        facts.shared.get(name).map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    for name in names.into_iter().filter(|name| pinned.shared.get(*name) != actual.shared.get(*name)) {
        let (was, is) = (show(pinned, name), show(actual, name));
        text.push_str(&format!("\nshared {name} differs\npinned {was}\nfound {is}"));
    }
}

/// Adds a denial or revocation of another plugin that applies to the same contents or name.
fn held_against(
    outcome: &mut GateOutcome,
    like: &Namesake,
    check: &PinCheck,
    decision: PinDecision,
    subject: &Subject,
) {
    let is_new = matches!(check, PinCheck::Unpinned | PinCheck::ManifestOnly);
    match like {
        Namesake::SameBytes { .. } => outcome.reasons.push(like.reason(subject)),
        // A user who is asked anyway sees the notice first. A pin of this key is an answer already.
        Namesake::SameName { .. } | Namesake::SameFile { .. } if is_new && decision == PinDecision::Ask => {
            outcome.notices.push(like.notice());
        }
        Namesake::SameName { .. } | Namesake::SameFile { .. } if is_new => {
            outcome.reasons.push(like.reason(subject));
        }
        Namesake::SameName { .. } | Namesake::SameFile { .. } => {}
    }
}

/// Decides by `pins.on_store_error` when the store cannot be used.
fn unusable(
    outcome: &mut GateOutcome,
    decision: &StoreDecision,
    message: &str,
    help: &str,
    options: &CheckOptions,
) {
    let warn_is_void = options.trust == Trust::Locked && options.on_store_error == StoreErrorRule::Warn;
    match decision {
        StoreDecision::LoadUnpinned(code) => {
            outcome.note(*code, "loads without a pin, since pins.on_store_error = \"warn\"");
        }
        StoreDecision::Ask(_) => {}
        StoreDecision::Refuse(code) => {
            if warn_is_void {
                outcome
                    .note(*code, "pins.on_store_error = \"warn\" has no effect in the trust mode `locked`");
            }
            outcome.add(*code, Weight::Store, message, help);
        }
    }
}

/// Returns `true` if this run would pin the plugin, before any question is asked.
pub(crate) fn may_be_enrolled(one: &Examined, context: &Context<'_>) -> bool {
    let decision = match &one.pin {
        PinOutcome::Compared { decision, .. } => *decision,
        PinOutcome::NotChecked | PinOutcome::Unavailable { .. } | PinOutcome::Enrolled => return false,
    };
    let enrolls = matches!(decision, PinDecision::Enroll(_) | PinDecision::Ask | PinDecision::Carry);
    enrolls
        && context.options.writes == CheckMode::Commit
        && context.options.trust != Trust::Locked
        && (one.passes_but_run() || (decision == PinDecision::Ask && one.is_askable()))
}

/// Returns `true` if a person agreed to these contents, by accepting them or by answering a question.
pub(crate) fn is_agreed_by_person(one: &Examined, subject: &Subject, context: &Context<'_>) -> bool {
    let PinOutcome::Compared { check, .. } = &one.pin else { return false };
    let same = matches!(check, PinCheck::Same { .. } | PinCheck::Moved { .. } | PinCheck::Migrated { .. });
    let Some(pins) = context.stores.pins.pins().filter(|_| same) else { return false };
    let agreed = pins.agreed(&subject.observed);
    agreed.is_some_and(|one| matches!(one.via, PinOrigin::Accept | PinOrigin::Prompt | PinOrigin::Same))
}

/// Returns the unresolved commands that were agreed to: those of the state that equals the plugin, else of the latest
/// one, and those of a PLUGINS.lock that counts as an agreement.
///
/// A state lists only commands that were agreed to, since a plugin with another one is not pinned.
pub(crate) fn agreed_unresolved(
    one: &Examined,
    subject: &Subject,
    context: &Context<'_>,
) -> BTreeSet<Digest> {
    let mut agreed = subject.listed_unresolved.clone();
    let Some(pins) = context.stores.pins.pins() else { return agreed };
    let same = pins.agreed(&subject.observed);
    let latest = || {
        let observed = &subject.observed;
        pins.get(&observed.key).or_else(|| pins.get(observed.predecessor.as_ref()?))?.latest()
    };
    match same {
        // That version did not look for such commands, and the pin let them run.
        Some(old) if old.reads == ReadScope::Directory => {
            agreed.extend(one.closure.unresolved.iter().map(|command| command.digest));
        }
        _ => agreed.extend(same.or_else(latest).into_iter().flat_map(|state| &state.facts.unresolved)),
    }
    agreed
}

/// Returns the behaviors of the pinned version, if they are known and the plugin has changed.
pub(crate) fn behaviors_before(
    one: &Examined,
    context: &Context<'_>,
) -> Option<BTreeSet<plugward_types::Behavior>> {
    let changed = one.pin.difference()?;
    let pins = context.stores.pins.pins()?;
    let pin = pins.get(&one.key).or_else(|| pins.get(changed.from.as_ref()?))?;
    pin.latest()?.behaviors.clone()
}

/// Completes the pin gate after all other gates: asks a person if the trust mode requires it, and returns
/// the change to commit. It does not write anything.
pub(crate) fn settle(
    one: &mut Examined,
    pins: &PinStore,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Option<Change> {
    let observed = one.subject.as_ref()?.observed.clone();
    let writes = options.writes == CheckMode::Commit;
    let by = Some(options.by.clone());
    match one.pin.clone() {
        PinOutcome::Unavailable { decision: StoreDecision::LoadUnpinned(code), message, .. } => {
            one.exceptions.push(format!("{}: {code}: {message}", one.id));
            None
        }
        PinOutcome::NotChecked | PinOutcome::Enrolled | PinOutcome::Unavailable { .. } => None,
        PinOutcome::Compared { check, decision } => match decision {
            PinDecision::Load => {
                let stale = pins.pins()?.get(&observed.key).is_some_and(|pin| {
                    (observed.directory.is_some() && pin.directory != observed.directory)
                        || pin.called != observed.called
                });
                let same = matches!(check, PinCheck::Same { .. });
                let whole = options.dialect.is_none();
                (stale && same && whole && writes && options.trust != Trust::Locked && one.passes())
                    .then_some(Change::Refresh { observed })
            }
            PinDecision::Refuse(_) => None,
            // Whatever is at the old place now must not be pinned there as a new plugin.
            PinDecision::Carry if one.subject.as_ref()?.old_place == OldPlace::Taken => {
                let known = observed.predecessor.as_ref().and_then(|key| pins.pins()?.get(key)?.latest());
                // The move does not change how the pin was agreed to.
                let via = known.map_or(PinOrigin::Tofu, |agreed| agreed.via);
                let observed = ObservedPlugin { predecessor: None, ..observed };
                (one.passes() && writes && options.trust != Trust::Locked).then_some(Change::Enroll {
                    observed,
                    via,
                    by,
                })
            }
            PinDecision::Carry => (one.passes() && writes && options.trust != Trust::Locked)
                .then_some(Change::Enroll { observed, via: PinOrigin::Moved, by }),
            PinDecision::Enroll(via) => {
                (one.passes() && writes).then_some(Change::Enroll { observed, via, by })
            }
            PinDecision::Ask => ask(one, observed, options, person),
        },
    }
}

/// Returns the pinned plugin that a new one seems to replace: it has a name of this one, was next to it, and is gone.
///
/// It does not apply in a cache, in which versions come and go.
pub(crate) fn replaced<'p>(one: &Examined, pins: &'p Pins, root: &Root) -> Option<&'p PluginKey> {
    if !matches!(&one.pin, PinOutcome::Compared { check: PinCheck::Unpinned, .. }) {
        return None;
    }
    let parent = one.place.real.parent()?;
    let is_gone = |place: &PlacePath| root.inside(place).is_some_and(|dir| !exists(&root.jail, dir));
    let was = |key: &PluginKey| match (key, &one.key) {
        (PluginKey::Placed(place), PluginKey::Placed(_)) => Some(place.clone()),
        // An id without a marketplace is the name of a directory of its host.
        (PluginKey::Installed { host, id }, PluginKey::Installed { host: own, .. })
            if host == own && id.market().is_none() =>
        {
            parent.join(id.name()).ok()
        }
        _ => None,
    };
    let found = pins.iter().find(|(key, pin)| {
        pin.state == PinState::Trusted
            && pin.called.iter().any(|name| one.called.contains(name))
            && was(key).is_some_and(|place| place.parent().as_ref() == Some(&parent) && is_gone(&place))
    });
    found.map(|(key, _)| key)
}

/// Asks about a new plugin that replaces a pinned one.
pub(crate) fn ask_replaced(one: &mut Examined, old: &PluginKey) {
    let Some(subject) = &one.subject else { return };
    let message = format!("new, with the name of `{}`, which was pinned and is gone", shown(old));
    let help = "review it, then accept it if it is the same plugin";
    let mut reason = Reason::new(REPLACED, Gate::Pin, Weight::Undecided, message, help);
    reason.accept = Some(ReviewedDigests::wanted(subject.facts(), None));
    one.gate(Gate::Pin).reasons.push(reason);
}

/// Whether [`settle`] will ask a person about a plugin.
pub(crate) fn asks(one: &Examined) -> bool {
    let undecided = matches!(&one.pin, PinOutcome::Compared { decision: PinDecision::Ask, .. });
    undecided && one.is_askable() && one.is_on()
}

fn ask(
    one: &mut Examined,
    observed: ObservedPlugin,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Option<Change> {
    // A plugin that its host does not load is not worth a question.
    let answer = if one.is_askable() && one.is_on() && options.writes == CheckMode::Commit {
        person.ask(&Question::Enroll(&one.report()))
    } else {
        Answer::Nobody
    };
    if answer == Answer::Yes {
        // The question showed the findings, and the commands whose text does not determine what runs.
        one.gate(Gate::Scan).reasons.retain(|reason| reason.code != SUSPICIOUS);
        one.gate(Gate::Manifest).reasons.retain(|reason| reason.code != SCHEMA_VERSION);
        one.gate(Gate::Surface).reasons.retain(|reason| reason.code != UNRESOLVED);
        one.gate(Gate::Pin).reasons.retain(|reason| reason.code != REPLACED);
    }
    let by = Some(options.by.clone());
    let accept = ReviewedDigests::wanted(&observed.facts, None);
    let (declined, undecided) = match one.pin.status() {
        PinStatus::Migrated => (
            "the files outside that it runs are not pinned, and were not accepted at the prompt",
            "the files outside that it runs are not pinned; needs your decision",
        ),
        _ => ("new plugin, not accepted at the prompt", "new plugin; needs your decision"),
    };
    let outcome = one.gate(Gate::Pin);
    match answer {
        Answer::Yes => return Some(Change::Enroll { observed, via: PinOrigin::Prompt, by }),
        Answer::Never => {
            outcome.reasons.push(denied_reason("denied at the prompt".to_owned()));
            let ObservedPlugin { key, directory, called, facts, .. } = observed;
            return Some(Change::Deny { key, directory, called, seen: Some(facts.tree), by });
        }
        Answer::No => {
            let help = "check again to answer again";
            outcome.add("pin/new", Weight::Undecided, declined, help);
        }
        Answer::Nobody => {
            let help = "check where a person can answer, or accept this version";
            let mut reason = Reason::new("pin/new", Gate::Pin, Weight::Undecided, undecided, help);
            reason.accept = Some(accept);
            outcome.reasons.push(reason);
        }
    }
    None
}

/// Returns `true` if a plugin would load without a pin, once a person agrees to that.
pub(crate) fn waits_for_pins(one: &Examined) -> bool {
    let asks = matches!(&one.pin, PinOutcome::Unavailable { decision: StoreDecision::Ask(_), .. });
    asks && one.passes() && one.is_on()
}

/// Asks once whether plugins load without pins this time, if the pins cannot be read. Nothing is stored.
pub(crate) fn settle_without_pins(all: &mut [Examined], options: &CheckOptions, person: &mut dyn Person) {
    let plugins: Vec<String> =
        all.iter().filter(|one| waits_for_pins(one)).map(|one| one.id.clone()).collect();
    let failure = all.iter().find_map(|one| match &one.pin {
        PinOutcome::Unavailable { decision: StoreDecision::Ask(_), message, .. } => Some(message.clone()),
        _ => None,
    });
    let Some(failure) = failure else { return };
    let answer = if plugins.is_empty() || options.writes != CheckMode::Commit {
        Answer::Nobody
    } else {
        person.ask(&Question::LoadUnpinned { failure: &failure, plugins: &plugins })
    };
    for one in all {
        let waits = waits_for_pins(one);
        let PinOutcome::Unavailable { decision: StoreDecision::Ask(code), message, help } = one.pin.clone()
        else {
            continue;
        };
        if answer == Answer::Yes && waits {
            one.gate(Gate::Pin)
                .note(code, "loads without a pin this time, since you agreed; nothing is stored");
            one.exceptions.push(format!("{}: {code}: {message}", one.id));
        } else {
            one.gate(Gate::Pin).add(code, Weight::Undecided, message, help);
        }
    }
}
