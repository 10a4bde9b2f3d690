//! A user's decisions about plugins: recorded in the ledger first, then stored.

use std::collections::BTreeSet;

use plugward_deep_audit::{Audit, AuditedBytes};
use plugward_ledger::{LedgerEvent, LoadVerdict as Recorded};
use plugward_pinstore::{
    ApprovalDraft, ApproveOutcome, AuditKind, AuditVerdict, Change, ChangeOutcome, DirectoryId,
    ObservedPlugin, Pin, PinState, ReviewedDigests, Revocation, Risk, Timestamp, UnapproveOutcome,
};
use plugward_types::{CalledName, Digest, PluginKey, Severity, TreeDigest};

use crate::contents::audit::{approved_bytes, audited_bytes, is_named_to_agree};
use crate::contents::hash::sha256;
use crate::contents::subject::Subject;
use crate::gates::approval::ApprovalStore;
use crate::record::{Record, RecordFailure, ledger_name};
use crate::report::PluginReport;
use crate::run::outcome::Weight;
use crate::state::audits::TreeAudits;
use crate::state::pins::{PinStore, StoreFailure};

/// The name of all plugins in the record of a store that is emptied without being read.
const EVERYTHING: &str = "*";

/// A decision of a user about what is pinned, denied or revoked.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "made by the host; a new decision does not affect the others")]
#[expect(clippy::large_enum_variant, reason = "made once for a decision of a person")]
pub enum UserDecision {
    /// Pins the present contents, if they are what the user reviewed.
    Accept {
        /// The plugin as it is on disk: [`Subject::to_accept`].
        observed: ObservedPlugin,
        /// The digests that the user reviewed.
        reviewed: ReviewedDigests,
        /// The trees of its other directories that records of hosts name: two versions at a time stay agreed.
        recorded: BTreeSet<TreeDigest>,
    },
    /// Lets the plugins of one PLUGINS.lock be pinned without a question while the file has these contents.
    AcceptLockfile {
        /// SHA-256 of the file.
        digest: Digest,
    },
    /// Deletes the pin of a plugin. A denial stays.
    Forget {
        /// The plugin.
        key: PluginKey,
    },
    /// Deletes all pins and accepted lockfiles. Denials and revocations stay.
    ForgetAll,
    /// Refuses a plugin from now on, whatever its contents are.
    Deny(Denied),
    /// Deletes a denial; pins nothing.
    Undeny {
        /// The plugin.
        key: PluginKey,
    },
    /// Adds an entry to the user's own revocation list.
    Revoke(Revocation),
    /// Deletes the entries of the user's own revocation list that name exactly this id or digest.
    Unrevoke {
        /// The id, tree digest or file digest, as the entry has it.
        what: String,
    },
}

/// The plugin that a user denies, and what was read of it.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a new part must stop every host from building")]
pub struct Denied {
    /// The key.
    pub key: PluginKey,
    /// The identity of its directory, if it could be opened: the denial then follows a rename.
    pub directory: Option<DirectoryId>,
    /// The names in its manifests.
    pub called: BTreeSet<CalledName>,
    /// Its tree, if it could be digested: the same contents are then denied everywhere.
    pub seen: Option<TreeDigest>,
}

impl Denied {
    /// Returns the denial of a plugin that was checked; `subject` is `None` if it could not be digested.
    #[must_use]
    pub fn of(plugin: &PluginReport, subject: Option<&Subject>) -> Self {
        Self {
            key: plugin.key.clone(),
            directory: plugin.directory,
            called: plugin.called.clone(),
            seen: subject.map(|subject| subject.facts().tree),
        }
    }

    /// Returns the denial of a key alone, for a plugin that is not on disk.
    #[must_use]
    pub const fn of_key(key: PluginKey) -> Self {
        Self { key, directory: None, called: BTreeSet::new(), seen: None }
    }
}

/// Why a decision was not stored.
#[derive(Debug, Clone, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "a new cause must stop every host from building")]
pub enum DecisionError {
    /// The ledger did not take the record, so the decision was not made.
    #[error("the decision could not be recorded: {0}")]
    Record(RecordFailure),
    /// The store could not be read or written.
    #[error("{0}")]
    Store(StoreFailure),
}

impl DecisionError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Record(failure) => failure.code(),
            Self::Store(failure) => failure.code(),
        }
    }

    /// Returns what to do.
    #[must_use]
    pub fn help(&self) -> &str {
        match self {
            Self::Record(failure) => failure.help(),
            Self::Store(failure) => failure.help(),
        }
    }

    /// Returns the exit code of a command that met the error.
    #[must_use]
    pub const fn weight(&self) -> Weight {
        match self {
            Self::Record(failure) => failure.weight(),
            Self::Store(_) => Weight::Store,
        }
    }
}

/// Records a decision and stores it.
///
/// # Guarantees
/// After `Ok`, the ledger has the record, synced before the store was changed. A decision that the ledger does not take is
/// not stored, and one about pins that cannot be read is not recorded. An outcome other than `Done` and `Already` changed
/// nothing.
///
/// # Errors
/// The ledger's or the store's failure. Nothing was changed then, but the ledger can have the record of a change that could
/// not be written.
pub fn decide(
    decision: UserDecision,
    pins: &mut PinStore,
    record: &Record,
    by: &str,
    now: Timestamp,
) -> Result<ChangeOutcome, DecisionError> {
    if let Some(failure) = pins.failure() {
        return Err(DecisionError::Store(failure));
    }
    let events = events(&decision, pins);
    if !events.is_empty() {
        record.note(&events).map_err(DecisionError::Record)?;
    }
    let change = change(decision, pins, by);
    let committed = pins.commit(vec![change], now).map_err(DecisionError::Store)?;
    record_stored(pins, record)?;
    Ok(committed.outcomes.into_iter().next().unwrap_or(ChangeOutcome::Absent))
}

/// Returns the tree that was agreed to last, under the plugin's key or the one that it had before.
fn expected(observed: &ObservedPlugin, pins: &PinStore) -> Option<TreeDigest> {
    let pin = |key: &PluginKey| pins.pins().and_then(|pins| pins.get(key));
    let pinned = pin(&observed.key).or_else(|| pin(observed.predecessor.as_ref()?));
    pinned.and_then(Pin::latest).map(|agreed| agreed.facts.tree)
}

fn change(decision: UserDecision, pins: &PinStore, by: &str) -> Change {
    let by = Some(by.to_owned());
    match decision {
        UserDecision::Accept { observed, reviewed, recorded } => {
            let expected = expected(&observed, pins);
            Change::Accept { observed, shown: reviewed, expected, recorded, by }
        }
        UserDecision::AcceptLockfile { digest } => Change::AcceptLock { lock: digest },
        UserDecision::Forget { key } => Change::Forget { key },
        UserDecision::ForgetAll => Change::ForgetAll,
        UserDecision::Deny(Denied { key, directory, called, seen }) => {
            Change::Deny { key, directory, called, seen, by }
        }
        UserDecision::Undeny { key } => Change::Allow { key },
        UserDecision::Revoke(entry) => Change::Revoke(entry),
        UserDecision::Unrevoke { what } => Change::Unrevoke { what },
    }
}

fn events(decision: &UserDecision, pins: &PinStore) -> Vec<LedgerEvent> {
    let forgotten = |key: &PluginKey| {
        let pin = pins.pins().and_then(|pins| pins.get(key));
        pin.map(|pin| dropped(key, pin)).into_iter().collect()
    };
    match decision {
        UserDecision::Accept { observed, .. } => vec![LedgerEvent::PinAccepted {
            plugin: ledger_name(&observed.key),
            digest: observed.facts.tree.to_string(),
            old: expected(observed, pins).map(|tree| tree.to_string()),
        }],
        UserDecision::AcceptLockfile { digest } => vec![LedgerEvent::PinAccepted {
            plugin: "PLUGINS.lock".to_owned(),
            digest: digest.to_string(),
            old: None,
        }],
        UserDecision::Forget { key } => forgotten(key),
        UserDecision::ForgetAll => all_dropped(pins),
        UserDecision::Deny(Denied { key, seen, .. }) => {
            vec![denied(key, *seen)]
        }
        UserDecision::Undeny { key } => vec![LedgerEvent::PluginUndenied { plugin: ledger_name(key) }],
        UserDecision::Revoke(entry) => {
            let digest = entry.tree.map(|tree| tree.to_string());
            let digest = digest.or_else(|| entry.manifest.map(|digest| digest.to_string()));
            let name = entry.id.clone().or_else(|| digest.clone()).unwrap_or_default();
            vec![decided(&name, Recorded::Refuse, Some("policy/revoked"), digest)]
        }
        UserDecision::Unrevoke { what } => {
            // The code tells it apart from the end of a denial, which older versions recorded without one.
            vec![decided(what, Recorded::Ask, Some("policy/revoked"), None)]
        }
    }
}

/// A decision that belongs to no workflow.
fn decided(plugin: &str, outcome: Recorded, code: Option<&str>, digest: Option<String>) -> LedgerEvent {
    let codes = code.map(str::to_owned).into_iter().collect();
    LedgerEvent::Decision { workflow: None, plugin: plugin.to_owned(), outcome, codes, digest }
}

/// The record of a denial.
pub(crate) fn denied(key: &PluginKey, seen: Option<TreeDigest>) -> LedgerEvent {
    LedgerEvent::PluginDenied { plugin: ledger_name(key), digest: seen.map(|tree| tree.to_string()) }
}

const fn gone(plugin: String, digest: String) -> LedgerEvent {
    LedgerEvent::PinForgotten { plugin, digest, old: None }
}

fn dropped(key: &PluginKey, pin: &Pin) -> LedgerEvent {
    let digest = pin.latest().map(|agreed| agreed.facts.tree.to_string()).unwrap_or_default();
    gone(ledger_name(key), digest)
}

/// The records of a store that is about to be emptied. The contents of one that cannot be read are not known.
pub(crate) fn all_dropped(store: &PinStore) -> Vec<LedgerEvent> {
    let Some(pins) = store.pins() else { return vec![gone(EVERYTHING.to_owned(), "unreadable".to_owned())] };
    let trusted = pins.iter().filter(|(_, pin)| pin.state == PinState::Trusted);
    let old = pins.manifest_only().map(|(name, digest)| gone(name.to_owned(), digest.to_string()));
    trusted.map(|(key, pin)| dropped(key, pin)).chain(old).collect()
}

/// Records that all pins of a store that cannot be read are about to be deleted.
///
/// # Errors
/// The ledger's failure; the store must then stay as it is.
pub fn record_start_over(pins: &PinStore, record: &Record) -> Result<(), DecisionError> {
    record.note(&all_dropped(pins)).map_err(DecisionError::Record)
}

/// Records how many pins a store has after a change.
///
/// # Errors
/// The ledger's failure; the store was changed already.
pub fn record_stored(pins: &PinStore, record: &Record) -> Result<(), DecisionError> {
    match pins.stored() {
        Some(event) => record.note(&[event]).map_err(DecisionError::Record),
        None => Ok(()),
    }
}

/// Returns the digest of what the rules found in some contents, which an approval names. Files outside the plugin that it
/// imports are part of the contents.
#[must_use]
pub fn static_audit(plugin: &PluginReport, bytes: &AuditedBytes, rules: &Digest) -> Digest {
    let AuditedBytes { tree, shared, entry } = bytes;
    let mut text = format!("plugward static audit 2\n{tree}\n{rules}\n");
    // Each line has a fixed form up to the name, so no name reads as another line.
    for (name, digest) in shared {
        text.push_str(&format!("shared {digest} {name:?}\n"));
    }
    if let Some(entry) = entry {
        text.push_str(&format!("entry {entry}\n"));
    }
    for finding in &plugin.findings {
        text.push_str(&format!("{} {} {}:{}\n", finding.severity, finding.rule, finding.line, finding.path));
    }
    sha256(text.as_bytes())
}

/// An approval of the present contents of a plugin.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "the caller must state what was reviewed, by whom and when")]
pub struct ApprovalRequest<'a> {
    /// The plugin.
    pub plugin: &'a PluginReport,
    /// The contents that were read with it.
    pub subject: &'a Subject,
    /// What the user reviewed.
    pub reviewed: ReviewedAudit<'a>,
    /// The digest of the scanner's rules.
    pub rules: Digest,
    /// The highest risk that can be approved.
    pub max: Risk,
    /// The user.
    pub by: &'a str,
    /// The time.
    pub now: Timestamp,
}

/// What a user reviewed before an approval.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of audit must stop every host from building")]
pub enum ReviewedAudit<'a> {
    /// The result of the scan, and the contents that these digests name.
    Static(&'a ReviewedDigests),
    /// An audit by a language model, which names its contents.
    Deep(&'a Audit),
}

impl ReviewedAudit<'_> {
    fn is_of(self, bytes: &AuditedBytes) -> bool {
        match self {
            Self::Deep(audit) => audit.is_about(bytes),
            Self::Static(reviewed) => {
                let is_named = |(name, tree): (&String, &TreeDigest)| {
                    !is_named_to_agree(name) || reviewed.outside.contains(tree)
                };
                bytes.tree == reviewed.tree
                    && bytes.entry == reviewed.entry
                    && bytes.shared.iter().all(is_named)
            }
        }
    }
}

/// Approves the present contents of a plugin. The highest risk of the scan and of all audits of these contents counts, so
/// another audit cannot lower it.
///
/// # Guarantees
/// After `Ok(Stored)`, the approval is synced and names exactly the trees that were reviewed, the scan finds no danger that
/// is not suppressed, and the ledger has the record.
///
/// # Errors
/// The ledger's or the store's failure; nothing was approved then.
pub fn approve(
    request: &ApprovalRequest<'_>,
    approvals: &mut ApprovalStore,
    record: &Record,
) -> Result<ApproveOutcome, DecisionError> {
    let ApprovalRequest { plugin, subject, reviewed, rules, max, by, now } = *request;
    let bytes = audited_bytes(subject.facts());
    if !reviewed.is_of(&bytes) {
        return Ok(ApproveOutcome::NotAudited);
    }
    let audits = approvals.audits().map(|audits| audits.of_tree(&bytes.tree)).transpose();
    let audits = audits.map_err(DecisionError::Store)?;
    let facts = subject.facts();
    let in_hand = approved_bytes(facts);
    let (audit, kind, mut verdict) = match reviewed {
        ReviewedAudit::Deep(audit) => (audit.digest(), AuditKind::Deep, audit.verdict),
        ReviewedAudit::Static(_) => {
            (static_audit(plugin, &bytes, &rules), AuditKind::Static, AuditVerdict::Approve)
        }
    };
    let mut risk = Risk::of_findings(plugin.open_findings());
    let named = if let ReviewedAudit::Deep(audit) = reviewed { Some(audit) } else { None };
    risk = risk.max(audits.as_ref().and_then(|audits| audits.risk(&bytes)).unwrap_or(Risk::Low));
    let intact = audits.iter().flat_map(TreeAudits::intact);
    for audit in intact.filter(|audit| audit.is_about(&bytes)).chain(named) {
        risk = risk.max(audit.risk);
        verdict = verdict.max(audit.verdict);
    }
    if plugin.open_findings().any(|finding| finding.severity == Severity::Danger) {
        verdict = AuditVerdict::Reject;
    }
    let by = Some(by.to_owned());
    let draft = ApprovalDraft { audited: in_hand.clone(), audit, kind, risk, verdict, rules, by };
    let approvals = approvals.approvals_mut().map_err(DecisionError::Store)?;
    if risk <= max && verdict != AuditVerdict::Reject {
        let event = LedgerEvent::ApprovalGiven {
            plugin: ledger_name(subject.key()),
            digest: facts.tree.to_string(),
            risk: risk.as_str().to_owned(),
        };
        record.note(&[event]).map_err(DecisionError::Record)?;
    }
    approvals
        .approve(subject.key(), &draft, &in_hand, &facts.tree, &audit, max, now)
        .map_err(|error| DecisionError::Store(StoreFailure::of(&error)))
}

/// Deletes the approval of a plugin, whether it still exists or not. `called` are the names in its manifests.
///
/// # Errors
/// The ledger's or the store's failure; the approval then stays.
pub fn unapprove(
    key: &PluginKey,
    called: &BTreeSet<CalledName>,
    approvals: &mut ApprovalStore,
    record: &Record,
) -> Result<UnapproveOutcome, DecisionError> {
    let approvals = approvals.approvals_mut().map_err(DecisionError::Store)?;
    if let Some(approval) = approvals.get(key) {
        let event = LedgerEvent::ApprovalRevoked {
            plugin: ledger_name(key),
            digest: approval.tree.to_string(),
            risk: approval.risk.as_str().to_owned(),
        };
        record.note(&[event]).map_err(DecisionError::Record)?;
    }
    approvals.unapprove(key, called).map_err(|error| DecisionError::Store(StoreFailure::of(&error)))
}
