//! The pin gate: are these the bytes that someone agreed to?

use std::collections::BTreeMap;

use plugward_manifest::Manifest;
use plugward_pinstore::{
    AgreedAge, Change, Changed, ChangedPart, DeniedBy, Facts, LockSays, Observed, Pin, PinCheck, PinDecision,
    PinState, Pinned, Pins, SameElsewhere, Shown, StoreDecision, StoreErrorRule, Via, decide,
};
use plugward_tree_lock::{CodewizardDigest, Excludes, Snapshot};
use plugward_types::{CalledName, PluginKey, TreeDigest};

use super::policy::{Namesake, namesake};
use super::scan::SUSPICIOUS;
use super::{Context, passed};
use crate::examined::{Examined, quoted_name};
use crate::key::{Identity, OldPlace};
use crate::options::{Answer, CheckOptions, Person, Trust, Writes};
use crate::outcome::{GateOutcome, Weight};
use crate::pins::PinStore;
use crate::report::{Gate, PinStatus};
use crate::subject::Subject;
use crate::text::plain;
use crate::view::manifests;

/// The result of comparing one plugin with the pins.
#[derive(Debug, Clone)]
pub(crate) enum PinOutcome {
    /// There was nothing to compare.
    NotChecked,
    /// The pins cannot be read, and the setting decides.
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
                PinCheck::Denied { .. } => PinStatus::Denied,
            },
        }
    }

    /// What is pinned, if something else is there: manifests by dialect, and the tree.
    pub(crate) fn pinned(&self) -> Option<(BTreeMap<String, String>, Option<String>)> {
        let Self::Compared { check: PinCheck::Changed(changed), .. } = self else { return None };
        Some(match &changed.pinned {
            Pinned::Tree(facts) => {
                let manifest =
                    facts.manifest.iter().map(|(dialect, digest)| (dialect.clone(), digest.to_string()));
                (manifest.collect(), Some(facts.tree.to_string()))
            }
            Pinned::Pending(trees) => (BTreeMap::new(), trees.first().map(ToString::to_string)),
            Pinned::Manifest(_) => (BTreeMap::new(), None),
        })
    }

    /// Whether the plugin differs from a pin of version 2.
    pub(crate) fn is_changed_from_pending(&self) -> bool {
        let Self::Compared { check: PinCheck::Changed(changed), .. } = self else { return false };
        matches!(changed.pinned, Pinned::Pending(_))
    }

    /// The tree or manifest that was pinned, if something else is there.
    pub(crate) fn refused(&self) -> Option<String> {
        let Self::Compared { check: PinCheck::Changed(changed), .. } = self else { return None };
        Some(match &changed.pinned {
            Pinned::Tree(facts) => facts.tree.to_string(),
            Pinned::Pending(trees) => trees.first().map(ToString::to_string).unwrap_or_default(),
            Pinned::Manifest(digest) => digest.to_string(),
        })
    }
}

/// The pin of a plugin, or the one that it had at another place.
fn pin_of<'a>(identity: &Identity, context: &Context<'a>) -> Option<&'a Pin> {
    let pins = context.stores.pins.pins()?;
    pins.get(&identity.key).or_else(|| pins.get(identity.predecessor.as_ref()?))
}

/// Whether a directory was pinned or denied, so that it is judged even without a manifest.
pub(crate) fn is_known(identity: &Identity, context: &Context<'_>) -> bool {
    pin_of(identity, context).is_some()
}

/// The shared directories that the pin of a plugin has.
pub(crate) fn shared_of(identity: &Identity, context: &Context<'_>) -> Vec<String> {
    let agreed = pin_of(identity, context).and_then(Pin::latest);
    agreed.map(|agreed| agreed.facts.shared.keys().cloned().collect()).unwrap_or_default()
}

/// Collects what a pin would cover, digested under the excludes of the pin that is there.
pub(crate) fn subject(
    one: &mut Examined,
    identity: Identity,
    snapshot: &Snapshot,
    context: &Context<'_>,
) -> Subject {
    let was = one.place.named.as_ref().map(|named| named.was.as_slice()).unwrap_or_default();
    let identity = identity.or_renamed(was, context);
    let pinned = pin_of(&identity, context).and_then(Pin::latest);
    let listed =
        pinned.and_then(|agreed| Excludes::new(agreed.facts.exclude.iter().map(String::as_str)).ok());
    let (tree, exclude) = listed
        .and_then(|list| crate::trees::under(snapshot, &list).map(|tree| (tree, list)))
        .unwrap_or_else(|| (*snapshot.digest(), snapshot.exclude().clone()));
    one.tree = Some(tree);
    let entry = super::manifest::entry_text(one, snapshot);
    let facts = Facts {
        manifest: one.manifests.iter().map(|(dialect, digest)| ((*dialect).to_owned(), *digest)).collect(),
        entry: entry.map(|text| crate::hash::sha256(text.as_bytes())),
        surface: Some(crate::view::surface_digest(&one.views)),
        exclude: exclude.iter().map(str::to_owned).collect(),
        shared: one.shared.digests(),
        ..Facts::of_tree(tree)
    };
    let items = manifests(&one.views).flat_map(Manifest::surface);
    let launchers = items.filter(|item| item.coverage().code().starts_with("launcher-"));
    let Identity { key, folder, predecessor, old_place } = identity;
    let version = one.version().map(str::to_owned);
    Subject {
        observed: Observed {
            key,
            folder,
            called: one.called.clone(),
            version,
            behaviors: None,
            facts,
            predecessor,
        },
        executable: snapshot.executables().map(str::to_owned).collect(),
        launchers: launchers.map(super::surface::launcher).collect(),
        codewizard: context.locks.is_json(&one.place, context).then(|| CodewizardDigest::of(snapshot)),
        without_lock: (one.place.dir == context.root.dir)
            .then(|| crate::trees::without_lock(snapshot))
            .flatten(),
        material: None,
        old_place,
    }
}

/// The outcome for a plugin that could not be digested: a denial of its key, now or before a move, counts all the same.
pub(crate) fn unread(keys: &[&PluginKey], context: &Context<'_>) -> GateOutcome {
    let mut outcome = passed(Gate::Pin);
    let pins = context.stores.pins.pins();
    let mut known = keys.iter().filter_map(|key| Some((*key, pins?.get(key)?)));
    if let Some((key, Pin { denied, .. })) = known.find(|(_, pin)| pin.state == PinState::Denied) {
        let since = denied
            .as_ref()
            .map(|denial| format!(" since {}", day(&denial.at.to_string())))
            .unwrap_or_default();
        outcome.add("policy/denied", Weight::Denied, format!("denied{since}"), allow(key));
    }
    outcome
}

/// How to take back the denial of a key, which can be that of another place.
fn allow(key: &PluginKey) -> String {
    format!("plugward allow {}", quoted_name(key.name()))
}

/// Compares one plugin with its pin. Asking a person, and writing, come after all other gates.
pub(crate) fn gate(
    one: &Examined,
    subject: &Subject,
    snapshot: &Snapshot,
    lock: LockSays,
    context: &Context<'_>,
) -> (PinOutcome, GateOutcome) {
    let mut outcome = passed(Gate::Pin);
    let options = context.options;
    let pins = match context.stores.pins.state() {
        Ok(pins) => pins,
        Err(failure) => {
            let decision = options.on_store_error.on_unusable(options.trust, failure.code());
            let (message, help) = (failure.message().to_owned(), failure.help().to_owned());
            unusable(&mut outcome, &decision, &message, &help, options);
            return (PinOutcome::Unavailable { decision, message, help }, outcome);
        }
    };
    let Some(pins) = pins else {
        let check = PinCheck::Unpinned;
        let decision = decide(&check, options.trust, lock, SameElsewhere::None);
        refuse_new(&mut outcome, decision);
        return (PinOutcome::Compared { check, decision }, outcome);
    };
    let check = pins.check(&subject.observed);
    let is_new = matches!(check, PinCheck::Unpinned | PinCheck::ManifestOnly);
    let elsewhere = if is_new { elsewhere(pins, subject) } else { None };
    let decision =
        decide(&check, options.trust, lock, elsewhere.as_ref().map_or(SameElsewhere::None, |one| one.trust));
    if one.views.is_empty() && !matches!(check, PinCheck::Denied { .. }) {
        let since = match &check {
            PinCheck::Changed(changed) => since(changed),
            _ => String::new(),
        };
        let message = format!("changed{since}: no known manifest found");
        let help = "restore the plugin, or if it is no longer one: plugward forget {id}";
        outcome.add("pin/changed", Weight::Integrity, message, help);
        return (PinOutcome::Compared { check, decision }, outcome);
    }
    notes(&mut outcome, pins, subject, &check, elsewhere.as_ref());
    refuse(&mut outcome, one, snapshot, &check, decision, context);
    if let Some(like) = namesake(pins, one, subject, snapshot, &check) {
        held_against(&mut outcome, &like, &check, decision, subject);
    }
    (PinOutcome::Compared { check, decision }, outcome)
}

/// Another pin that covers the same bytes.
struct Elsewhere<'a> {
    key: &'a PluginKey,
    trust: SameElsewhere,
    at: String,
}

fn elsewhere<'a>(pins: &'a Pins, subject: &Subject) -> Option<Elsewhere<'a>> {
    let facts = subject.facts();
    let others = pins.iter().filter(|(key, pin)| *key != subject.key() && pin.state == PinState::Trusted);
    let same = others.filter_map(|(key, pin)| {
        let agreed = pin.agreed.iter().rev().find(|agreed| {
            agreed.facts.tree == facts.tree
                && agreed.facts.shared == facts.shared
                && agreed.facts.entry == facts.entry
        })?;
        let trust = match agreed.via {
            Via::Tofu | Via::Moved => SameElsewhere::Tofu,
            Via::Prompt | Via::Accept | Via::Lock | Via::Same => SameElsewhere::Agreed,
        };
        Some(Elsewhere { key, trust, at: day(&agreed.at.to_string()).to_owned() })
    });
    same.max_by_key(|one| one.trust == SameElsewhere::Agreed)
}

/// The day of a time stamp.
fn day(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}

fn since(changed: &Changed) -> String {
    changed.since.map(|at| format!(" since {}", day(&at.to_string()))).unwrap_or_default()
}

/// How a message calls another key: never by an absolute path, since reports contain none.
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

/// What is worth knowing and does not decide.
fn notes(
    outcome: &mut GateOutcome,
    pins: &Pins,
    subject: &Subject,
    check: &PinCheck,
    elsewhere: Option<&Elsewhere<'_>>,
) {
    match check {
        PinCheck::Same { age, surface } => {
            if *age == AgreedAge::Older {
                outcome.note("pin/older", "a newer version of it was accepted since");
            }
            if surface.is_some() {
                let message = "the same bytes; this version of plugward sees another surface in them than the one that pinned them";
                outcome.note("pin/surface-new", message);
            }
        }
        PinCheck::Moved { from } => {
            outcome.note("pin/moved", format!("moved from `{}`, contents match the pin", shown(from)));
        }
        PinCheck::Migrated { ids } => {
            let ids: Vec<&str> = ids.iter().map(plugward_types::PluginId::as_str).collect();
            outcome
                .note("pin/migrated", format!("carried over from the pins of version 2: {}", ids.join(", ")));
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
        PinCheck::Changed(_) | PinCheck::Denied { .. } => {}
    }
}

fn same_name<'a>(pins: &'a Pins, subject: &'a Subject) -> Option<(&'a PluginKey, &'a CalledName)> {
    let others = pins.iter().filter(|(key, pin)| *key != subject.key() && pin.state == PinState::Trusted);
    others.into_iter().find_map(|(key, pin)| {
        let name = subject.observed.called.iter().find(|name| pin.called.contains(name))?;
        Some((key, name))
    })
}

/// Refusals: another version than the agreed one, a denial, and a new plugin where nothing new loads.
fn refuse(
    outcome: &mut GateOutcome,
    one: &Examined,
    snapshot: &Snapshot,
    check: &PinCheck,
    decision: PinDecision,
    context: &Context<'_>,
) {
    match check {
        PinCheck::Changed(changed) => {
            let differs = Differences::of(changed, snapshot, context);
            let message = changed_text(one, changed, &differs);
            let help = match &differs {
                Differences::OnlyCaches => {
                    "remove `__pycache__`; to keep it from coming back, set PYTHONDONTWRITEBYTECODE=1 for the host".to_owned()
                }
                Differences::Files(_) | Differences::Unknown => {
                    let pinned = match &changed.pinned {
                        Pinned::Tree(facts) => Some(&**facts),
                        Pinned::Manifest(_) | Pinned::Pending(_) => None,
                    };
                    let accept = Shown::wanted(&changed.actual, pinned).accept_line("{id}");
                    format!("plugward diff {{id}}\nthen, if you trust what it shows:\n{accept}")
                }
            };
            outcome.add(changed.code(), Weight::Integrity, message, help);
        }
        PinCheck::Denied { since, by } => {
            let which = match by {
                DeniedBy::Key => String::new(),
                DeniedBy::Predecessor(from) => format!(" as `{}`", shown(from)),
                DeniedBy::Pending(id) => format!(" as `{id}`"),
            };
            let help = match by {
                DeniedBy::Pending(id) => format!("plugward allow {}", quoted_name(id.as_str())),
                DeniedBy::Predecessor(from) => allow(from),
                DeniedBy::Key => "plugward allow {id}".to_owned(),
            };
            let message = format!("denied{which} since {}", day(&since.to_string()));
            outcome.add("policy/denied", Weight::Denied, message, help);
        }
        PinCheck::Same { .. } | PinCheck::Moved { .. } | PinCheck::Migrated { .. } => {}
        PinCheck::ManifestOnly | PinCheck::Unpinned => refuse_new(outcome, decision),
    }
}

fn refuse_new(outcome: &mut GateOutcome, decision: PinDecision) {
    if let PinDecision::Refuse(code) = decision {
        let help = "check it once without --trust locked, or add it to PLUGINS.lock: plugward lock DIR";
        outcome.add(code, Weight::Integrity, "new plugin, and --trust locked pins nothing", help);
    }
}

/// What differs from the pinned tree, as far as the kept list of its files shows.
enum Differences {
    /// The list was not kept.
    Unknown,
    /// So many files.
    Files(usize),
    /// Python wrote bytecode there, or someone planted it.
    OnlyCaches,
}

impl Differences {
    fn of(changed: &Changed, snapshot: &Snapshot, context: &Context<'_>) -> Self {
        let Pinned::Tree(facts) = &changed.pinned else { return Self::Unknown };
        let Some(Ok(kept)) = context.stores.pins.baselines().map(|baselines| baselines.tree(&facts.tree))
        else {
            return Self::Unknown;
        };
        let Some(old) = kept.found() else { return Self::Unknown };
        let list = Excludes::new(changed.actual.exclude.iter().map(String::as_str)).unwrap_or_default();
        let new = crate::trees::preimage(snapshot, &list);
        let (old, new) = (files(&old), files(&new));
        let differ: Vec<&&str> =
            old.keys().chain(new.keys()).filter(|path| old.get(*path) != new.get(*path)).collect();
        let differ: std::collections::BTreeSet<&&str> = differ.into_iter().collect();
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

/// The files of a preimage: kind, digest and size by path.
fn files(preimage: &str) -> BTreeMap<&str, &str> {
    let lines = preimage.lines().skip(1);
    // Kind, digest and size have no spaces; the rest of the line is the path.
    let row = |line| {
        let line: &str = line;
        let at = line.match_indices(' ').nth(2)?.0;
        Some((line.get(at.checked_add(1)?..)?, line.get(..at)?))
    };
    lines.filter_map(row).collect()
}

fn changed_text(one: &Examined, changed: &Changed, differs: &Differences) -> String {
    let moved = match &changed.from {
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
    if let (Some(old), Some(new)) = (changed.version.as_deref(), one.version())
        && old != new
    {
        parts.push(format!("its version changed from {} to {}", plain(old), plain(new)));
    }
    for part in &changed.parts {
        match part {
            ChangedPart::Signer => parts.push("another signer".to_owned()),
            ChangedPart::Shared => parts.push("a shared directory differs".to_owned()),
            ChangedPart::Entry => parts.push("its marketplace entry differs".to_owned()),
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
    let pinned = match &changed.pinned {
        Pinned::Tree(facts) => facts.tree.to_string(),
        Pinned::Pending(trees) => trees.first().map(TreeDigest::to_string).unwrap_or_default(),
        Pinned::Manifest(digest) => digest.to_string(),
    };
    let found = match &changed.pinned {
        Pinned::Manifest(_) => {
            changed.actual.manifest.values().next().map(ToString::to_string).unwrap_or_default()
        }
        Pinned::Tree(_) | Pinned::Pending(_) => changed.actual.tree.to_string(),
    };
    let mut text = format!("{moved}{}: {list}", since(changed));
    if pinned != found {
        text.push_str(&format!("\npinned {pinned}\nfound {found}"));
    }
    if let Pinned::Tree(facts) = &changed.pinned {
        beside_text(&mut text, facts, &changed.actual);
    }
    text
}

/// What differs besides the tree, with both values: the signer, the marketplace entry, and each shared directory.
fn beside_text(text: &mut String, pinned: &Facts, actual: &Facts) {
    let none = || "none".to_owned();
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
    let names: std::collections::BTreeSet<&String> =
        pinned.shared.keys().chain(actual.shared.keys()).collect();
    let show = |facts: &Facts, name: &str| {
        facts.shared.get(name).map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    for name in names.into_iter().filter(|name| pinned.shared.get(*name) != actual.shared.get(*name)) {
        let (was, is) = (show(pinned, name), show(actual, name));
        text.push_str(&format!("\nshared {name} differs\npinned {was}\nfound {is}"));
    }
}

/// A denial or revocation of another plugin that is about these bytes, or about this name.
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
        // A person who is asked anyway is told beforehand; a pin of this very key is an answer already.
        Namesake::SameName { .. } if is_new && decision == PinDecision::Ask => {
            outcome.notices.push(like.notice());
        }
        Namesake::SameName { .. } if is_new => outcome.reasons.push(like.reason(subject)),
        Namesake::SameName { .. } => {}
    }
}

/// The store cannot be used: the setting decides, for every plugin.
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
            outcome.note(*code, "loads without a pin, as pins.on_store_error = \"warn\" says");
        }
        StoreDecision::Ask(_) => {}
        StoreDecision::Refuse(code) => {
            if warn_is_void {
                outcome.note(*code, "pins.on_store_error = \"warn\" has no effect under --trust locked");
            }
            outcome.add(*code, Weight::Store, message, help);
        }
    }
}

/// Whether a plugin without a pin would be pinned by this run, as far as can be told before a person is asked.
pub(crate) fn may_be_enrolled(one: &Examined, context: &Context<'_>) -> bool {
    let decision = match &one.pin {
        PinOutcome::Compared { decision, .. } => *decision,
        PinOutcome::NotChecked | PinOutcome::Unavailable { .. } | PinOutcome::Enrolled => return false,
    };
    let enrolls = matches!(decision, PinDecision::Enroll(_) | PinDecision::Ask | PinDecision::Carry);
    enrolls
        && context.options.writes == Writes::Commit
        && context.options.trust != Trust::Locked
        && (one.passes() || (decision == PinDecision::Ask && one.is_askable()))
}

/// Whether a person agreed to these bytes: by accepting them, or by answering a question.
pub(crate) fn is_agreed_by_person(one: &Examined, subject: &Subject, context: &Context<'_>) -> bool {
    let PinOutcome::Compared { check, .. } = &one.pin else { return false };
    let same = matches!(check, PinCheck::Same { .. } | PinCheck::Moved { .. } | PinCheck::Migrated { .. });
    let Some(pins) = context.stores.pins.pins().filter(|_| same) else { return false };
    let key = match check {
        PinCheck::Moved { from } => from,
        _ => subject.key(),
    };
    let facts = subject.facts();
    pins.get(key).into_iter().flat_map(|pin| &pin.agreed).any(|agreed| {
        let same = agreed.facts.tree == facts.tree
            && agreed.facts.shared == facts.shared
            && agreed.facts.entry == facts.entry;
        same && matches!(agreed.via, Via::Accept | Via::Prompt | Via::Same)
    })
}

/// The behaviors of the state that was agreed to last, if it is known and another one.
pub(crate) fn behaviors_before(
    one: &Examined,
    context: &Context<'_>,
) -> Option<std::collections::BTreeSet<plugward_types::Behavior>> {
    let PinOutcome::Compared { check: PinCheck::Changed(changed), .. } = &one.pin else { return None };
    let pins = context.stores.pins.pins()?;
    let pin = pins.get(&one.key).or_else(|| pins.get(changed.from.as_ref()?))?;
    pin.latest()?.behaviors.clone()
}

/// The end of the pin gate, once all other gates are done: asks a person if the trust mode says so, and returns what is
/// to be written. It writes nothing itself.
pub(crate) fn settle(
    one: &mut Examined,
    pins: &PinStore,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Option<Change> {
    let observed = one.subject.as_ref()?.observed.clone();
    let writes = options.writes == Writes::Commit;
    let by = Some(options.by.clone());
    match one.pin.clone() {
        PinOutcome::NotChecked | PinOutcome::Enrolled => None,
        PinOutcome::Unavailable { decision, message, help } => {
            without_pins(one, &decision, &message, &help, options, person);
            None
        }
        PinOutcome::Compared { check, decision } => match decision {
            PinDecision::Load => {
                let stale = pins.pins()?.get(&observed.key).is_some_and(|pin| {
                    (observed.folder.is_some() && pin.folder != observed.folder)
                        || pin.called != observed.called
                });
                let same = matches!(check, PinCheck::Same { .. });
                let whole = options.dialect.is_none();
                (stale && same && whole && writes && options.trust != Trust::Locked && one.passes())
                    .then_some(Change::Refresh { observed })
            }
            PinDecision::Refuse(_) => None,
            // What is at the old place now must not become a new plugin there.
            PinDecision::Carry if one.subject.as_ref()?.old_place == OldPlace::Taken => {
                let known = observed.predecessor.as_ref().and_then(|key| pins.pins()?.get(key)?.latest());
                // Nobody agreed to more than before.
                let via = known.map_or(Via::Tofu, |agreed| agreed.via);
                let observed = Observed { predecessor: None, ..observed };
                (one.passes() && writes && options.trust != Trust::Locked).then_some(Change::Enroll {
                    observed,
                    via,
                    by,
                })
            }
            PinDecision::Carry => (one.passes() && writes && options.trust != Trust::Locked)
                .then_some(Change::Enroll { observed, via: Via::Moved, by }),
            PinDecision::Enroll(via) => {
                (one.passes() && writes).then_some(Change::Enroll { observed, via, by })
            }
            PinDecision::Ask => ask(one, observed, options, person),
        },
    }
}

fn ask(
    one: &mut Examined,
    observed: Observed,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Option<Change> {
    let answer = if one.is_askable() && options.writes == Writes::Commit {
        person.ask(&one.report(options))
    } else {
        Answer::Nobody
    };
    if answer == Answer::Yes {
        // The question showed them.
        one.gate(Gate::Scan).reasons.retain(|reason| reason.code != SUSPICIOUS);
    }
    let by = Some(options.by.clone());
    let accept = Shown::wanted(&observed.facts, None).accept_line("{id}");
    let outcome = one.gate(Gate::Pin);
    match answer {
        Answer::Yes => return Some(Change::Enroll { observed, via: Via::Prompt, by }),
        Answer::Never => {
            outcome.add(
                "policy/denied",
                Weight::Denied,
                "denied by the user who was asked",
                "plugward allow {id}",
            );
            let Observed { key, folder, called, facts, .. } = observed;
            return Some(Change::Deny { key, folder, called, seen: Some(facts.tree), by });
        }
        Answer::No => {
            let help = "check again to be asked again";
            outcome.add("pin/new", Weight::Undecided, "new plugin, and the answer was no", help);
        }
        Answer::Nobody => {
            let help = format!("check on a terminal, or\n{accept}");
            outcome.add("pin/new", Weight::Undecided, "new plugin; a person has to agree", help);
        }
    }
    None
}

fn without_pins(
    one: &mut Examined,
    decision: &StoreDecision,
    message: &str,
    help: &str,
    options: &CheckOptions,
    person: &mut dyn Person,
) {
    match decision {
        StoreDecision::LoadUnpinned(code) => one.exceptions.push(format!("{}: {code}: {message}", one.id)),
        StoreDecision::Ask(code) => {
            let answer = if one.passes() && options.writes == Writes::Commit {
                person.ask(&one.report(options))
            } else {
                Answer::Nobody
            };
            if answer == Answer::Yes {
                one.gate(Gate::Pin)
                    .note(*code, "loads without a pin, as the user who was asked said; nothing is stored");
                one.exceptions.push(format!("{}: {code}: {message}", one.id));
            } else {
                one.gate(Gate::Pin).add(*code, Weight::Undecided, message, help);
            }
        }
        StoreDecision::Refuse(_) => {}
    }
}
