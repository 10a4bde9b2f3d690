//! The gates of one plugin, one function each, in the order of the report.

pub(crate) mod approval;
mod installed;
pub(crate) mod lock;
pub(crate) mod manifest;
pub(crate) mod mint;
pub(crate) mod pin;
pub(crate) mod policy;
pub(crate) mod scan;
pub(crate) mod settings;
pub(crate) mod settings_findings;
pub(crate) mod surface;
pub(crate) mod tree;
pub(crate) mod verifiers;

use std::collections::BTreeSet;
use std::sync::Arc;

use plugward_installs::InstallKind;
use plugward_sandbox_path::Jail;
use plugward_tree_lock::Snapshot;
use plugward_types::{Behavior, PluginKey};

use crate::contents::closure::place::OutsideFiles;
use crate::contents::material::{self, Material, OutsideContents};
use crate::contents::view::View;
use crate::contents::{closure, shared, trees, vcs};
use crate::discovery::discover::PluginPlace;
use crate::discovery::key::Identity;
use crate::discovery::roots::{Root, directory_id};
use crate::discovery::unmarked::PlaceForm;
use crate::record::Run;
use crate::report::text::plain;
use crate::report::{Gate, Skipped};
use crate::run::examined::Examined;
use crate::run::options::{ByteRetention, CheckOptions, Watch};
use crate::run::outcome::{GateOutcome, Weight};
use crate::run::rules::PluginRules;
use crate::state::stores::Stores;

use installed::PartTrees;
use lock::LockFiles;
use scan::UsedSuppressions;
use settings::GateStep;

/// The shared input of all gates of one root.
pub(crate) struct Context<'a> {
    pub(crate) root: &'a Root,
    pub(crate) locks: &'a LockFiles,
    pub(crate) stores: &'a Stores,
    pub(crate) options: &'a CheckOptions,
    pub(crate) rules: &'a Arc<PluginRules>,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) used: &'a UsedSuppressions,
    pub(crate) outside: &'a OutsideFiles,
    pub(crate) run: &'a Run<'a>,
}

/// Runs every gate for the plugin at a place, except for the question to a person and the mint.
pub(crate) fn examine(place: PluginPlace, context: &Context<'_>) -> Result<Examined, Skipped> {
    let key = PluginKey::Placed(place.real.clone());
    let mut one = Examined::new(place, key, Arc::clone(context.rules));
    settings::broken(&mut one);
    if let Some(broken) = one.place.broken.clone() {
        one.gate(Gate::Discover).reasons.push(broken);
    }
    installed::gate(&mut one, context);
    if let Some(parts) = installed::parts(&one.place) {
        examine_parts(&mut one, parts, context);
        return Ok(one);
    }
    let jail = match tree::open(&one.place, context) {
        Ok(jail) => jail,
        Err(outcome) => {
            one.dialects = manifest::guess(&one.place, context.options);
            one.settle(Gate::Tree, outcome);
            let outcome = pin::unread(&[&one.key], context);
            one.settle(Gate::Pin, outcome);
            return Ok(one);
        }
    };
    let directory = directory_id(&jail);
    let identity = Identity::of(&one.place, directory, context);
    one.key = identity.key.clone();
    one.directory = identity.directory;
    // A denial by key is decided before anything of the plugin is read.
    if settings::gate(&mut one) == GateStep::Stop {
        one.dialects = manifest::guess(&one.place, context.options);
        return Ok(one);
    }
    let snapshot = match tree::gate(&one.place, &jail, context) {
        tree::TreeOutcome::Read { snapshot, outcome } => {
            one.settle(Gate::Tree, outcome);
            *snapshot
        }
        tree::TreeOutcome::NotRead(outcome) => {
            if let PlaceForm::Named(file) = one.place.form {
                return Err(named(&one.place, context, file, "could not be scanned"));
            }
            let (views, outcome_of_manifest) = manifest::without_tree(&one.place, &jail, context.options);
            take_views(&mut one, views);
            one.settle(Gate::Manifest, outcome_of_manifest);
            one.settle(Gate::Tree, outcome);
            let outcome = pin::unread(&identity.keys(), context);
            one.settle(Gate::Pin, outcome);
            return Ok(one);
        }
    };
    one.files = u64::try_from(snapshot.len()).unwrap_or(u64::MAX);
    one.bytes = snapshot.total_bytes();
    one.tree = Some(*snapshot.digest());
    let (views, outcome) = manifest::gate(&one.place, &snapshot, context.options);
    let is_of_gnoma = one.place.is_of_gnoma();
    let is_loaded = one.place.installed.is_some() && !is_of_gnoma;
    if views.is_empty() && !is_loaded && !pin::is_known(&identity, context) {
        let why = if is_of_gnoma { "no plugin.json, so gnoma skips it" } else { "no known manifest" };
        return Err(Skipped { path: skipped_path(&one.place, context), why: why.to_owned() });
    }
    take_views(&mut one, views);
    if let PlaceForm::Named(file) = one.place.form {
        return scan_named(one, file, &snapshot, context);
    }
    one.settle(Gate::Manifest, outcome);
    one.manifests = manifest::digests(&one.dialects, &snapshot);
    one.vcs = vcs::read(&one.place, &snapshot, context);
    let outcome = one.vcs.outcome();
    one.settle(Gate::Tree, outcome);
    if settings::gate(&mut one) == GateStep::Stop {
        return Ok(one);
    }
    with_subject(&mut one, identity, Some(&jail), snapshot, context);
    Ok(one)
}

/// Scans a directory that no host is known to load. It becomes a row of its own only if a danger is in it.
fn scan_named(
    mut one: Examined,
    file: &str,
    snapshot: &Snapshot,
    context: &Context<'_>,
) -> Result<Examined, Skipped> {
    let scanned = scan::gate(&one, snapshot, context);
    if !scanned
        .outcome
        .reasons
        .iter()
        .any(|reason| matches!(reason.weight, Weight::Scan | Weight::CouldNotTell))
    {
        return Err(named(&one.place, context, file, "was scanned"));
    }
    one.take_scan(scanned);
    Ok(one)
}

/// Returns the line for a directory that no host is known to load.
fn named(place: &PluginPlace, context: &Context<'_>, file: &str, state: &str) -> Skipped {
    let why = format!("no manifest, but it has {file}; no host is known to load it, and it {state}");
    Skipped { path: skipped_path(place, context), why }
}

/// Runs the gates for the parts of a settings file. The caller has read the file, so nothing is opened here.
fn examine_parts(one: &mut Examined, parts: PartTrees, context: &Context<'_>) {
    let PartTrees { masked: snapshot, unmasked } = parts;
    let identity = Identity::of(&one.place, None, context);
    one.key = identity.key.clone();
    if settings::gate(one) == GateStep::Stop {
        return;
    }
    one.files = u64::try_from(snapshot.len()).unwrap_or(u64::MAX);
    one.bytes = snapshot.total_bytes();
    one.tree = Some(*snapshot.digest());
    let (views, outcome) = manifest::gate(&one.place, &snapshot, context.options);
    take_views(one, views);
    one.settle(Gate::Manifest, outcome);
    // The outcome is that of the masked parts.
    one.unmasked_views = unmasked.map(|unmasked| manifest::gate(&one.place, &unmasked, context.options).0);
    with_subject(one, identity, None, snapshot, context);
}

fn skipped_path(place: &PluginPlace, context: &Context<'_>) -> String {
    crate::discovery::roots::inside(&place.dir, &context.root.dir).unwrap_or(&place.dir).to_owned()
}

fn take_views(one: &mut Examined, views: Vec<View>) {
    one.dialects = views.iter().map(|view| view.dialect).collect();
    // Settings, skills and directories of prompts have no manifest, so a name says nothing about them.
    let is_plugin = one.place.installed.as_ref().is_none_or(|one| one.kind == InstallKind::Plugin);
    one.called = if is_plugin { manifest::called(&views) } else { BTreeSet::new() };
    one.views = views;
}

/// Runs the gates that need the bytes: shared directories, policy, lock, pin, scan, approval and surface.
fn with_subject(
    one: &mut Examined,
    identity: Identity,
    jail: Option<&Jail>,
    snapshot: Snapshot,
    context: &Context<'_>,
) {
    let known = context.locks.shared_of(&one.place, context);
    // The files that settings start are not shared ones, and an old pin that lists them is compared by itself.
    let pinned = if one.is_plugin() { pin::shared_of(&identity, context) } else { Vec::new() };
    one.shared = shared::read(&one.place, &one.views, known.iter().chain(&pinned), context);
    let found = closure::collect(one, &snapshot, context);
    one.closure = found.facts;
    one.closure_files = found.closure;
    one.settle(Gate::Surface, found.outcome);
    let outcome = one.shared.outcome(context.options.trust);
    one.settle(Gate::Tree, outcome);
    manifest::label_shared(one, &snapshot, context.options);
    let named = one.views.iter().all(|view| view.manifest.is_some());
    if named {
        let mut subject = pin::subject(one, identity, &snapshot, context);
        let locked = lock::gate(one, &subject, &snapshot, context);
        subject.observed.facts.signer.clone_from(&locked.report.signer);
        let outcome = policy::gate(one, &subject, &snapshot, context);
        one.settle(Gate::Policy, outcome);
        let says = locked.says;
        subject.listed_unresolved = locked.unresolved;
        one.lock = locked.report;
        one.settle(Gate::Lock, locked.outcome);
        let (pin, outcome) = pin::gate(one, &subject, &snapshot, says, context);
        one.pin = pin;
        one.settle(Gate::Pin, outcome);
        one.subject = Some(subject);
        manifest::ask_about_schema(one, context);
    } else {
        let outcome = pin::unread(&identity.keys(), context);
        one.settle(Gate::Pin, outcome);
    }
    let scanned = scan::gate(one, &snapshot, context);
    one.take_scan(scanned);
    say_new_behaviors(one, context);
    if let Some(subject) = &one.subject {
        let (report, outcome) =
            approval::gate(subject, &context.stores.approvals, &context.rules.policy, context.options);
        one.approval = report;
        one.settle(Gate::Approval, outcome);
    }
    let outcome = surface::gate(one, jail, &snapshot, context);
    one.settle(Gate::Surface, outcome);
    keep(one, snapshot, context);
}

/// Puts the new behaviors of a changed plugin at the start of its reason, and stores its behaviors for the
/// pin.
fn say_new_behaviors(one: &mut Examined, context: &Context<'_>) {
    let now: BTreeSet<Behavior> = one.behaviors.iter().map(|evidence| evidence.behavior).collect();
    if let Some(before) = pin::behaviors_before(one, context) {
        let new: Vec<String> = now
            .difference(&before)
            .filter_map(|behavior| one.behaviors.iter().find(|evidence| evidence.behavior == *behavior))
            .map(|evidence| format!("{} ({}:{})", evidence.behavior, plain(&evidence.path), evidence.line))
            .collect();
        let changed = one.gate(Gate::Pin).reasons.iter_mut().find(|reason| reason.code == "pin/changed");
        if let Some(reason) = changed.filter(|_| !new.is_empty()) {
            reason.message = format!("new: {}; {}", new.join(", "), reason.message);
        }
    }
    if let Some(subject) = &mut one.subject {
        subject.observed.behaviors = Some(now);
    }
}

/// Keeps the bytes that the caller requested, and the baseline for a later diff.
fn keep(one: &mut Examined, snapshot: Snapshot, context: &Context<'_>) {
    if pin::may_be_enrolled(one, context)
        && let Some(baselines) = context.stores.pins.baselines()
        && let Some(subject) = &one.subject
    {
        let kept = material::keep(
            baselines,
            &snapshot,
            &one.shared,
            &one.closure_files,
            &one.views,
            subject.facts(),
        );
        if let Err(error) = kept {
            one.gate(Gate::Pin)
                .note(error.code(), format!("no baseline was stored for a later diff: {error}"));
        }
    }
    match &context.options.keep {
        ByteRetention::Of(key) if *key == one.key => {
            let shared = core::mem::take(&mut one.shared);
            one.shared = shared.digests_only();
            if let Some(subject) = &mut one.subject {
                let outside = OutsideContents {
                    shared,
                    closure: core::mem::take(&mut one.closure_files),
                    vcs: core::mem::take(&mut one.vcs),
                };
                let uses = core::mem::take(&mut one.uses);
                subject.material =
                    Some(Material::new(snapshot, outside, uses, &one.views, &subject.observed.facts));
            }
        }
        ByteRetention::Nothing | ByteRetention::Of(_) | ByteRetention::Digests => {
            one.shared.drop_bytes();
            one.closure_files.drop_bytes();
            if let (Some(subject), ByteRetention::Digests) = (&mut one.subject, &context.options.keep) {
                subject.files =
                    trees::files(&snapshot, subject.observed.facts.exclude.iter().map(String::as_str));
            }
        }
        ByteRetention::Loads { .. } => one.snapshot = Some(snapshot),
    }
}

/// Returns the outcome of a gate that passed.
pub(crate) const fn passed(gate: Gate) -> GateOutcome {
    GateOutcome::passed(gate)
}
