//! What a pin of one plugin would cover.

use std::collections::BTreeSet;

use plugward_manifest::{Manifest, SurfaceItem};
use plugward_pinstore::{Facts, LockSays, PinCheck};
use plugward_tree_lock::{CodewizardDigest, Excludes, Snapshot};
use plugward_types::{Digest, PluginId, SurfaceDigest, TreeDigest};

use crate::gates::Context;
use crate::lock::{self, LockContext, RootLock};
use crate::material::Material;
use crate::options::{Keep, Trust, Writes};
use crate::policy;
use crate::report::{Gate, Notice, PluginReport};
use crate::shared::SharedRoots;

/// What a pin of a plugin would cover.
#[derive(Debug, Clone)]
pub(crate) struct PinFacts {
    pub(crate) id: PluginId,
    pub(crate) facts: Facts,
    /// Ids that it had before, as its marketplace says.
    pub(crate) was: Vec<PluginId>,
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

/// What a pin would cover, digested under the list of the pin that is there; and what the lock says of it.
pub(crate) fn facts(
    report: &mut PluginReport,
    id: PluginId,
    manifest: &Manifest,
    (digest, shared): (Option<Digest>, &SharedRoots),
    (snapshot, context): (&Snapshot, &Context<'_>),
) -> PinFacts {
    let scope = &context.root.scope;
    let pins = context.stores.pins.pins();
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
        shared: shared.digests(),
        ..Facts::of_tree(tree)
    };
    let launchers = manifest.surface().iter().filter(|item| item.coverage().code().starts_with("launcher-"));
    let mut facts = PinFacts {
        id,
        facts,
        was: Vec::new(),
        lock: LockSays::Nothing,
        executable: snapshot.executables().map(str::to_owned).collect(),
        launchers: launchers.map(launcher).collect(),
        without_lock: (report.path == ".").then(|| crate::trees::without_lock(snapshot)).flatten(),
        material: None,
        codewizard: matches!(context.lock, RootLock::Json(_)).then(|| CodewizardDigest::of(snapshot)),
    };
    let (trust, verifiers) = (context.options.trust, &context.options.verifiers);
    let gate = LockContext { lock: context.lock, trust, scope, place: &context.root.place, pins, verifiers };
    (facts.lock, facts.facts.signer) = lock::gate(report, &facts, snapshot, &gate);
    policy::gate(report, &facts, snapshot, (&context.stores.revocations, pins));
    facts
}

/// What an item fetches, as a lock names it: `npx:@scope/name@1.2.3`, or the whole text where it is more than one call.
fn launcher(item: &SurfaceItem) -> String {
    match item.run() {
        [program, _, ..] if !item.why().is_empty() && !item.why().contains(' ') => {
            let name = program.rsplit('/').next().unwrap_or(program);
            format!("{name}:{}", item.why())
        }
        words => words.join(" "),
    }
}

/// Keeps what a later diff needs: in memory where it was asked for, in the baselines where it may be enrolled.
///
/// The baseline is written before the pin. One whose pin is never written is the first to go.
pub(crate) fn keep(
    report: &mut PluginReport,
    facts: &mut PinFacts,
    (manifest, shared): (&Manifest, &SharedRoots),
    (snapshot, context): (&Snapshot, &Context<'_>),
) {
    let asked = matches!(&context.options.keep, Keep::Of(name) if *name == report.id || *name == report.name);
    let enrolls = context.options.writes == Writes::Commit
        && context.options.trust != Trust::Locked
        && report.reasons.is_empty();
    let baselines = context.stores.pins.baselines().filter(|_| enrolls && is_new(facts, context));
    if !asked && baselines.is_none() {
        return;
    }
    let list = Excludes::new(facts.facts.exclude.iter().map(String::as_str)).unwrap_or_default();
    let mut material = Material::of(snapshot, manifest, crate::trees::preimage(snapshot, &list));
    material.share(shared);
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
    let check =
        context.stores.pins.pins().map(|pins| pins.check(&context.root.scope, &facts.id, &facts.facts));
    matches!(check, Some(PinCheck::Unpinned | PinCheck::ManifestOnly { .. }))
}

pub(crate) fn surface_digest(manifest: &Manifest) -> SurfaceDigest {
    SurfaceDigest::from_bytes(*crate::hash::sha256(manifest.surface_text().as_bytes()).as_bytes())
}
