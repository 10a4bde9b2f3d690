//! One plugin between its gates and its decision.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::Dialect;
use plugward_pinstore::FolderId;
use plugward_tree_lock::Snapshot;
use plugward_types::{BehaviorEvidence, CalledName, Digest, Finding, PluginKey, TreeDigest};

use crate::discover::Place;
use crate::gates::pin::PinOutcome;
use crate::options::CheckOptions;
use crate::outcome::{GateOutcome, Reason};
use crate::report::{
    ApprovalReport, ApprovalState, CapabilityReport, Decision, Gate, LockReport, LockState, PinReport,
    PinStatus, PluginKind, PluginReport, SuppressedReport, SurfaceReport,
};
use crate::shared::SharedRoots;
use crate::subject::Subject;
use crate::view::{View, manifests};

/// Stands for the plugin's id in the help of a reason, until the report is rendered.
const SELF: &str = "{id}";

/// One plugin, with the outcome of each gate that it passed through so far.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) place: Place,
    pub(crate) key: PluginKey,
    pub(crate) folder: Option<FolderId>,
    /// How reports call it; no absolute path.
    pub(crate) id: String,
    /// The directory, relative to its project; as in `id` if it is in none.
    pub(crate) path: String,
    pub(crate) called: BTreeSet<CalledName>,
    /// The dialects of the directory, whether their manifests could be read or not.
    pub(crate) dialects: Vec<Dialect>,
    pub(crate) views: Vec<View>,
    pub(crate) manifests: BTreeMap<&'static str, Digest>,
    pub(crate) snapshot: Option<Snapshot>,
    /// The digest under the excludes of the pin, or of this run.
    pub(crate) tree: Option<TreeDigest>,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) shared: SharedRoots,
    /// What a pin or a lock entry would cover; `None` if the manifest or the tree was refused.
    pub(crate) subject: Option<Subject>,
    gates: BTreeMap<Gate, GateOutcome>,
    pub(crate) lock: LockReport,
    pub(crate) pin: PinOutcome,
    pub(crate) findings: Vec<Finding>,
    pub(crate) suppressed: Vec<SuppressedReport>,
    /// Where the plugin shows what it can do.
    pub(crate) behaviors: Vec<BehaviorEvidence>,
    pub(crate) approval: ApprovalReport,
    pub(crate) capabilities: Vec<CapabilityReport>,
    /// Uses of the named exception to "a failure is not a verdict", for the ledger.
    pub(crate) exceptions: Vec<String>,
}

impl Examined {
    pub(crate) fn new(place: Place, key: PluginKey) -> Self {
        Self {
            place,
            key,
            folder: None,
            id: String::new(),
            path: String::new(),
            called: BTreeSet::new(),
            dialects: Vec::new(),
            views: Vec::new(),
            manifests: BTreeMap::new(),
            snapshot: None,
            tree: None,
            files: 0,
            bytes: 0,
            shared: SharedRoots::default(),
            subject: None,
            gates: BTreeMap::new(),
            lock: LockReport::state(LockState::Absent),
            pin: PinOutcome::NotChecked,
            findings: Vec::new(),
            suppressed: Vec::new(),
            behaviors: Vec::new(),
            approval: ApprovalReport::state(ApprovalState::None),
            capabilities: Vec::new(),
            exceptions: Vec::new(),
        }
    }

    /// Returns the outcome of a gate, so that something can be added to it.
    pub(crate) fn gate(&mut self, gate: Gate) -> &mut GateOutcome {
        self.gates.entry(gate).or_insert_with(|| GateOutcome::passed(gate))
    }

    /// Adds the outcome of a gate.
    pub(crate) fn settle(&mut self, gate: Gate, outcome: GateOutcome) {
        // The pin gate also finds what the policy gate says of names.
        for reason in outcome.reasons {
            self.gate(reason.gate).reasons.push(reason);
        }
        self.gate(gate).notices.extend(outcome.notices);
    }

    /// All reasons, in the order of the gates.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.gates.values().flat_map(|gate| &gate.reasons)
    }

    /// Whether nothing is against loading so far.
    pub(crate) fn passes(&self) -> bool {
        self.reasons().next().is_none()
    }

    /// Whether nothing but a suspicious finding is against loading, which a person can answer.
    pub(crate) fn is_askable(&self) -> bool {
        self.reasons().all(|reason| reason.code == crate::gates::scan::SUSPICIOUS)
    }

    /// The plugin's own name, as the first manifest that could be read states it; else the directory's.
    pub(crate) fn name(&self) -> &str {
        manifests(&self.views).next().map_or_else(|| self.key.name(), |manifest| manifest.name())
    }

    pub(crate) fn version(&self) -> Option<&str> {
        manifests(&self.views).find_map(|manifest| manifest.version())
    }

    /// Whether a selector of the host's settings means this plugin; `CalledName`s make it match by name too.
    pub(crate) fn is_called(&self, selector: &str) -> bool {
        self.id == selector
            || self.key.to_string() == selector
            || self.key.name() == selector
            || self.called.iter().any(|name| name.as_str() == selector || name.name() == selector)
    }

    /// Renders the report of this plugin from the outcomes of its gates.
    pub(crate) fn report(&self, options: &CheckOptions) -> PluginReport {
        let mut notices: Vec<_> = self.gates.values().flat_map(|gate| gate.notices.iter().cloned()).collect();
        notices.sort();
        notices.dedup();
        let named =
            |reason: &Reason| Reason { help: reason.help.replace(SELF, &quoted(&self.id)), ..reason.clone() };
        let reasons: Vec<Reason> = self.reasons().map(named).collect();
        let mut findings = self.findings.clone();
        findings.sort();
        let mut suppressed = self.suppressed.clone();
        suppressed.sort();
        PluginReport {
            id: self.id.clone(),
            hosts: match &self.key {
                PluginKey::Installed { host, .. } => vec![host.to_string()],
                PluginKey::Placed(_) => Vec::new(),
            },
            kind: PluginKind::Plugin,
            on: true,
            dialects: self.dialects.iter().map(|dialect| dialect.as_str()).collect(),
            name: self.name().to_owned(),
            version: self.version().map(str::to_owned),
            path: self.path.clone(),
            trust: options.trust_word(),
            decision: decide(&reasons),
            reasons,
            notices,
            manifest: self.manifests.iter().map(|(dialect, digest)| (*dialect, digest.to_string())).collect(),
            tree: self.tree.map(|tree| tree.to_string()),
            files: self.files,
            bytes: self.bytes,
            pin: self.pin_report(),
            lock: self.lock.clone(),
            approval: self.approval.clone(),
            shared: self.shared.digests().into_iter().map(|(name, tree)| (name, tree.to_string())).collect(),
            findings,
            suppressed,
            behaviors: self.behaviors.clone(),
            surface: self.surface(),
            capabilities: self.capabilities.clone(),
            key: self.key.clone(),
            folder: self.folder,
            called: self.called.clone(),
            root: self.place.root,
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

/// Quotes an id for a POSIX shell if it needs that, since it is part of commands that a user copies.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | '@' | '=' | ',')
    };
    if word.starts_with('-') {
        // Not an option.
        return quoted(&format!("./{word}"));
    }
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// As [`quoted`], for the name of a pin, which is no path.
pub(crate) fn quoted_name(word: &str) -> String {
    if word.starts_with('-') {
        return format!("-- '{}'", word.replace('\'', "'\\''"));
    }
    quoted(word)
}

/// The one place that makes a decision: no reason is `Load`, only questions are `Ask`, anything else is `Refuse`.
pub(crate) fn decide(reasons: &[Reason]) -> Decision {
    use crate::outcome::Weight;
    if reasons.is_empty() {
        Decision::Load
    } else if reasons.iter().all(|reason| reason.weight == Weight::Undecided) {
        Decision::Ask
    } else {
        Decision::Refuse
    }
}
