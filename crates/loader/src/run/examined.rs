//! One plugin with the outcomes of its gates, before its decision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_installs::{HostState, InstallKind};
use plugward_manifest::{Dialect, Manifest};
use plugward_pinstore::DirectoryId;
use plugward_policy::BundleNames;
use plugward_tree_lock::Snapshot;
use plugward_types::{BehaviorEvidence, CalledName, Digest, Finding, PluginKey, TreeDigest};

use crate::contents::audit::FileUse;
use crate::contents::closure::Closure;
use crate::contents::closure_facts::{ClosureFacts, UnresolvedCommand};
use crate::contents::shared::SharedRoots;
use crate::contents::subject::Subject;
use crate::contents::vcs::VcsFiles;
use crate::contents::view::{View, manifests};
use crate::discovery::discover::PluginPlace;
use crate::gates::manifest::SCHEMA_VERSION;
use crate::gates::pin::{PinOutcome, REPLACED};
use crate::gates::scan::{SUSPICIOUS, ScanResult};
use crate::gates::settings::ASK;
use crate::gates::surface::UNRESOLVED;
use crate::report::{
    ApprovalReport, ApprovalState, CapabilityReport, Decision, Gate, LockReport, LockState, PinReport,
    PinStatus, PluginKind, PluginReport, PolicyReport, SuppressedReport, SurfaceReport,
};
use crate::run::outcome::{GateOutcome, Reason};
use crate::run::rules::PluginRules;

/// A plugin with the outcomes of the gates that have run.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) place: PluginPlace,
    pub(crate) key: PluginKey,
    pub(crate) directory: Option<DirectoryId>,
    /// The policy of the plugin and the options that follow from it.
    pub(crate) rules: Arc<PluginRules>,
    /// Whether a person was asked to run it and did not agree.
    pub(crate) is_run_declined: bool,
    /// The id in reports; never an absolute path.
    pub(crate) id: String,
    /// The directory relative to its project, or the id if it is in no project.
    pub(crate) path: String,
    pub(crate) called: BTreeSet<CalledName>,
    /// The dialects of the directory, including those whose manifests are refused.
    pub(crate) dialects: Vec<Dialect>,
    pub(crate) views: Vec<View>,
    /// The views of a settings file with its secrets. Use them to look up files only; never store or show them.
    pub(crate) unmasked_views: Option<Vec<View>>,
    pub(crate) manifests: BTreeMap<&'static str, Digest>,
    pub(crate) snapshot: Option<Snapshot>,
    /// The digest under the excludes of the pin, else under those of this run.
    pub(crate) tree: Option<TreeDigest>,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) shared: SharedRoots,
    /// What it runs outside its directory, and what its text leaves open.
    pub(crate) closure: ClosureFacts,
    /// The files of the closure.
    pub(crate) closure_files: Closure,
    /// What can run of the version control directories, which are not in the tree.
    pub(crate) vcs: VcsFiles,
    /// What a pin or lock entry would cover; `None` if the manifest or the tree was refused.
    pub(crate) subject: Option<Subject>,
    gates: BTreeMap<Gate, GateOutcome>,
    pub(crate) lock: LockReport,
    pub(crate) pin: PinOutcome,
    pub(crate) findings: Vec<Finding>,
    pub(crate) suppressed: Vec<SuppressedReport>,
    /// The places that show what the plugin can do.
    pub(crate) behaviors: Vec<BehaviorEvidence>,
    /// The use of each file, if the caller requested the bytes.
    pub(crate) uses: BTreeMap<String, FileUse>,
    pub(crate) approval: ApprovalReport,
    pub(crate) capabilities: Vec<CapabilityReport>,
    /// The uses of `pins.on_store_error`, which the ledger records.
    pub(crate) exceptions: Vec<String>,
}

impl Examined {
    pub(crate) fn new(place: PluginPlace, key: PluginKey, rules: Arc<PluginRules>) -> Self {
        Self {
            place,
            key,
            directory: None,
            rules,
            is_run_declined: false,
            id: String::new(),
            path: String::new(),
            called: BTreeSet::new(),
            dialects: Vec::new(),
            views: Vec::new(),
            unmasked_views: None,
            manifests: BTreeMap::new(),
            snapshot: None,
            tree: None,
            files: 0,
            bytes: 0,
            shared: SharedRoots::default(),
            closure: ClosureFacts::default(),
            closure_files: Closure::default(),
            vcs: VcsFiles::default(),
            subject: None,
            gates: BTreeMap::new(),
            lock: LockReport::state(LockState::Absent),
            pin: PinOutcome::NotChecked,
            findings: Vec::new(),
            suppressed: Vec::new(),
            behaviors: Vec::new(),
            uses: BTreeMap::new(),
            approval: ApprovalReport::state(ApprovalState::None),
            capabilities: Vec::new(),
            exceptions: Vec::new(),
        }
    }

    /// Returns the views whose commands are looked up. They can contain secrets.
    pub(crate) fn lookup_views(&self) -> &[View] {
        self.unmasked_views.as_deref().unwrap_or(&self.views)
    }

    /// Returns the outcome of a gate for changes.
    pub(crate) fn gate(&mut self, gate: Gate) -> &mut GateOutcome {
        self.gates.entry(gate).or_insert_with(|| GateOutcome::passed(gate))
    }

    /// Adds the outcome of a gate.
    pub(crate) fn settle(&mut self, gate: Gate, outcome: GateOutcome) {
        // The pin gate also compares names, and those reasons belong to the policy gate.
        for reason in outcome.reasons {
            self.gate(reason.gate).reasons.push(reason);
        }
        self.gate(gate).notices.extend(outcome.notices);
    }

    /// Adds the result of the scan.
    pub(crate) fn take_scan(&mut self, scanned: ScanResult) {
        self.findings = scanned.findings;
        self.suppressed = scanned.suppressed;
        self.behaviors = scanned.behaviors;
        self.uses = scanned.uses;
        self.settle(Gate::Scan, scanned.outcome);
    }

    /// Returns all reasons, in the order of the gates.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.gates.values().flat_map(|gate| &gate.reasons)
    }

    /// Returns `true` if no gate has given a reason so far.
    pub(crate) fn passes(&self) -> bool {
        self.reasons().next().is_none()
    }

    /// Returns `true` if a person can accept all reasons: suspicious findings, unresolved commands,
    /// `run = "ask"`, and that it replaces a pinned plugin.
    pub(crate) fn is_askable(&self) -> bool {
        let can_accept = |reason: &Reason| {
            [SUSPICIOUS, SCHEMA_VERSION, UNRESOLVED, ASK, REPLACED].contains(&reason.code.as_str())
        };
        !self.is_run_declined && self.reasons().all(can_accept)
    }

    /// Returns `true` if no gate has given a reason, except that a person has to agree to run it.
    pub(crate) fn passes_but_run(&self) -> bool {
        !self.is_run_declined && self.reasons().all(|reason| reason.code == ASK)
    }

    /// Returns the names by which settings select it.
    pub(crate) fn bundle_names(&self) -> BundleNames {
        // The other keys of an installed plugin count as names, which can only tighten.
        let further = self.place.installed.iter().flat_map(|one| one.keys.iter()).map(ToString::to_string);
        let place = PluginKey::Placed(self.place.real.clone()).to_string();
        let further: Vec<String> = further.chain([place]).collect();
        let called = self.called.iter().flat_map(|name| [name.as_str(), name.name()]);
        BundleNames::new(&self.key, further.iter().map(String::as_str).chain(called))
    }

    /// Returns the name from the first readable manifest, else the directory's name.
    pub(crate) fn name(&self) -> &str {
        // What has no manifest is called by its path: the loader's own definition has a fixed name.
        let manifest = manifests(&self.views).next().filter(|_| self.is_plugin());
        manifest.map_or_else(|| self.key.name(), Manifest::name)
    }

    pub(crate) fn version(&self) -> Option<&str> {
        let recorded = || self.place.installed.as_ref()?.version.as_deref();
        manifests(&self.views).find_map(|manifest| manifest.version()).or_else(recorded)
    }

    /// Returns `true` unless a host's records call it a skill, settings or a directory of prompts.
    pub(crate) fn is_plugin(&self) -> bool {
        self.place.installed.as_ref().is_none_or(|one| one.kind == InstallKind::Plugin)
    }

    /// Returns `true` unless its hosts' settings disable it for this project.
    pub(crate) fn is_on(&self) -> bool {
        self.place.installed.as_ref().is_none_or(|one| one.state == HostState::On)
    }

    /// Returns `true` if a selector in the host's settings means this plugin. Names in its
    /// manifests count too.
    pub(crate) fn is_called(&self, selector: &str) -> bool {
        self.id == selector
            || self.key.to_string() == selector
            || self.key.name() == selector
            || self.called.iter().any(|name| name.as_str() == selector || name.name() == selector)
    }

    /// Renders the report of this plugin from the outcomes of its gates.
    pub(crate) fn report(&self) -> PluginReport {
        let mut notices: Vec<_> = self.gates.values().flat_map(|gate| gate.notices.iter().cloned()).collect();
        notices.sort();
        notices.dedup();
        let reasons: Vec<Reason> = self.reasons().cloned().collect();
        let mut findings = self.findings.clone();
        findings.sort();
        let mut suppressed = self.suppressed.clone();
        suppressed.sort();
        PluginReport {
            id: self.id.clone(),
            hosts: self.hosts(),
            kind: self.place.installed.as_ref().map_or(PluginKind::Plugin, |one| one.kind.into()),
            on: self.is_on(),
            dialects: self.dialects.iter().map(|dialect| dialect.as_str()).collect(),
            name: self.name().to_owned(),
            version: self.version().map(str::to_owned),
            path: self.path.clone(),
            trust: self.rules.options.trust_word(),
            decision: decide(&reasons),
            reasons,
            notices,
            policy: self.policy_report(),
            manifest: self.manifests.iter().map(|(dialect, digest)| (*dialect, digest.to_string())).collect(),
            tree: self.tree.map(|tree| tree.to_string()),
            files: self.files,
            bytes: self.bytes,
            pin: self.pin_report(),
            lock: self.lock.clone(),
            approval: self.approval.clone(),
            shared: self.shared.digests().into_iter().map(|(name, tree)| (name, tree.to_string())).collect(),
            closure: self.closure.digest.map(|tree| tree.to_string()),
            outside: self.closure_files.paths(),
            unresolved: self.closure.unresolved.iter().map(UnresolvedCommand::report).collect(),
            findings,
            suppressed,
            behaviors: self.behaviors.clone(),
            surface: self.surface(),
            capabilities: self.capabilities.clone(),
            key: self.key.clone(),
            place: self.place.real.clone(),
            directory: self.directory,
            called: self.called.clone(),
            root: self.place.root,
        }
    }

    fn policy_report(&self) -> PolicyReport {
        let rule = self.rules.policy.bundle_rule(&self.bundle_names());
        let origin = rule.origin.map(|origin| origin.to_string());
        PolicyReport { run: rule.run.as_str(), layer: rule.layer.as_str(), origin }
    }

    /// Returns the hosts that would load it.
    fn hosts(&self) -> Vec<String> {
        match (&self.place.installed, &self.key) {
            (Some(installed), _) => installed.hosts.iter().map(ToString::to_string).collect(),
            (None, PluginKey::Installed { host, .. }) => vec![host.to_string()],
            (None, PluginKey::Placed(_)) => Vec::new(),
        }
    }

    fn pin_report(&self) -> PinReport {
        let own = |state| PinReport {
            state,
            manifest: self
                .manifests
                .iter()
                .map(|(name, digest)| ((*name).to_owned(), digest.to_string()))
                .collect(),
            tree: self.tree.map(|tree| tree.to_string()),
        };
        let (status, pinned) = (self.pin.status(), self.pin.pinned());
        match (status, pinned) {
            (
                PinStatus::Same
                | PinStatus::Older
                | PinStatus::Moved
                | PinStatus::Migrated
                | PinStatus::Enrolled,
                _,
            ) => own(status),
            (_, Some((manifest, tree))) => PinReport { state: status, manifest, tree },
            (_, None) => PinReport::state(status),
        }
    }

    fn surface(&self) -> Vec<SurfaceReport> {
        let mut all = Vec::new();
        for manifest in manifests(&self.views) {
            all.extend(manifest.surface().iter().map(|item| SurfaceReport {
                dialect: manifest.dialect().as_str(),
                kind: item.kind().as_str(),
                event: item.event().map(str::to_owned),
                name: (!item.name().is_empty()).then(|| item.name().to_owned()),
                run: item.run().to_vec(),
                url: item.fact("url").map(str::to_owned),
                files: item.files().to_vec(),
                coverage: item.coverage().code(),
            }));
        }
        all
    }
}

/// Decides: `Load` without reasons, `Ask` if all reasons are questions, else `Refuse`. No other
/// code makes a decision.
pub(crate) fn decide(reasons: &[Reason]) -> Decision {
    use crate::run::outcome::Weight;
    if reasons.is_empty() {
        Decision::Load
    } else if reasons.iter().all(|reason| reason.weight == Weight::Undecided) {
        Decision::Ask
    } else {
        Decision::Refuse
    }
}
