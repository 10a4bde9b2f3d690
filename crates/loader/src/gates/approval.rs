//! The approval gate: has a person approved these contents after an audit?

use std::collections::BTreeSet;

use cap_std::fs::Dir;
use plugward_pinstore::{Approval, ApprovalCheck, Approvals, ReviewedDigests, RulesChanged, StoreError};
use plugward_policy::{SettingId, SettingValue, TrustPolicy};
use plugward_state_file::{Owner, StateError};
use plugward_types::Digest;

use super::passed;
use crate::contents::audit::{approved_bytes, audited_bytes};
use crate::contents::subject::Subject;
use crate::report::text::chain;
use crate::report::{ApprovalReport, ApprovalState, AuditReport, Gate};
use crate::run::options::{ApprovalRule, CheckOptions, Trust};
use crate::run::outcome::{GateOutcome, Notice, Reason, Weight};
use crate::state::audits::{AuditRecords, CountedAudit};
use crate::state::pins::StoreFailure;

/// The approvals, or the cause if they cannot be used, and the records of audits.
#[derive(Debug)]
pub struct ApprovalStore {
    state: State,
    audits: Option<AuditRecords>,
}

#[derive(Debug)]
enum State {
    /// There is no directory yet.
    Empty,
    Open(Box<Approvals>),
    Broken(StoreFailure),
}

impl ApprovalStore {
    /// Creates a store without approvals.
    #[must_use]
    pub const fn empty() -> Self {
        Self { state: State::Empty, audits: None }
    }

    /// Opens the approvals in the user's configuration directory. The error of an unusable file is kept in
    /// the value, so that no approval counts and the cause is reported.
    #[must_use]
    pub fn open(dir: &Dir, owner: Owner) -> Self {
        let broken = |error: &StoreError| State::Broken(StoreFailure::of(error));
        let no_file = |error: &StateError| {
            State::Broken(StoreFailure::new("approval/store", &chain(error), &error.help()))
        };
        let opened = Approvals::file(dir, owner)
            .map_err(|error| no_file(&error))
            .and_then(|file| Approvals::open(&file).map_err(|error| broken(&error)));
        let state = opened.map_or_else(|state| state, |approvals| State::Open(Box::new(approvals)));
        Self { state, audits: None }
    }

    /// Adds the records of audits. Without them, no audit counts.
    #[must_use]
    pub fn with_audits(self, audits: Option<AuditRecords>) -> Self {
        Self { audits, ..self }
    }

    /// Returns the records of audits.
    #[must_use]
    pub const fn audits(&self) -> Option<&AuditRecords> {
        self.audits.as_ref()
    }

    /// Returns the digests of the audits that approvals name.
    #[must_use]
    pub fn named_audits(&self) -> BTreeSet<Digest> {
        self.approvals().into_iter().flat_map(Approvals::iter).map(|(_, approval)| approval.audit).collect()
    }

    /// Returns the approvals, if they could be read.
    #[must_use]
    pub fn approvals(&self) -> Option<&Approvals> {
        match &self.state {
            State::Open(approvals) => Some(approvals),
            State::Empty | State::Broken(_) => None,
        }
    }

    /// Returns the approvals to be changed.
    pub(crate) fn approvals_mut(&mut self) -> Result<&mut Approvals, StoreFailure> {
        match &mut self.state {
            State::Open(approvals) => Ok(approvals),
            State::Empty => Err(StoreFailure::new(
                "approval/store",
                "there is no configuration directory yet",
                "open the approvals with a directory",
            )),
            State::Broken(failure) => Err(failure.clone()),
        }
    }

    /// Returns the failure if the file cannot be used.
    #[must_use]
    pub const fn failure(&self) -> Option<&StoreFailure> {
        match &self.state {
            State::Broken(failure) => Some(failure),
            State::Empty | State::Open(_) => None,
        }
    }

    /// Returns the notices about the file itself.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let notice = |code: &str, message: String| Notice::new(code, Gate::Approval, message);
        match &self.state {
            State::Empty => Vec::new(),
            State::Open(approvals) => {
                approvals.notices().iter().map(|n| notice(n.code(), n.help())).collect()
            }
            State::Broken(failure) => {
                vec![notice(failure.code(), format!("{}\nnext: {}", failure.message(), failure.help()))]
            }
        }
    }
}

/// The code of an audit whose risk a person must accept.
pub(crate) const AUDIT_RISK: &str = "audit/risk";

/// Compares one plugin with its approval and its audits.
///
/// An approval counts even if none is required: a risk above the threshold refuses. If none is required, a
/// missing approval, or one of other contents, is only reported.
pub(crate) fn gate(
    subject: &Subject,
    store: &ApprovalStore,
    policy: &TrustPolicy,
    options: &CheckOptions,
) -> (ApprovalReport, GateOutcome) {
    let mut outcome = passed(Gate::Approval);
    let audit = audit(&mut outcome, subject, store, options);
    let approvals = match &store.state {
        State::Open(approvals) => Some(approvals),
        State::Empty => None,
        State::Broken(failure) => {
            if options.approval == ApprovalRule::Required {
                outcome.add(failure.code(), Weight::Store, failure.message(), failure.help());
            }
            return (ApprovalReport { audit, ..ApprovalReport::state(ApprovalState::Unavailable) }, outcome);
        }
    };
    let facts = subject.facts();
    let actual = approved_bytes(facts);
    let rules = options.rules().digest();
    let check = approvals.map_or(ApprovalCheck::None, |approvals| {
        approvals.check(subject.key(), &subject.observed.called, &actual, options.max_risk, &rules)
    });
    judge(&mut outcome, &check, policy, options);
    let report = report(&check, approvals.and_then(|approvals| approvals.get(subject.key())));
    (ApprovalReport { audit, ..report }, outcome)
}

/// Asks about an audit of these contents whose risk is above the threshold, until the user accepts them after it.
///
/// Under `locked`, the decision depends on the lockfile and the contents alone.
fn audit(
    outcome: &mut GateOutcome,
    subject: &Subject,
    store: &ApprovalStore,
    options: &CheckOptions,
) -> Option<AuditReport> {
    let audits = store.audits.as_ref().filter(|_| options.trust != Trust::Locked)?;
    let CountedAudit { audit, risk, is_damaged, is_accepted } =
        match audits.deciding(subject.key(), &audited_bytes(subject.facts())) {
            Ok(counted) => counted?,
            Err(failure) => {
                outcome.add(failure.code(), Weight::Store, failure.message(), failure.help());
                return None;
            }
        };
    if is_damaged && !is_accepted {
        outcome.note(
            "audit/damaged",
            "the record of an audit is gone or damaged; its risk in the ledger counts",
        );
    }
    if risk > options.max_risk && !is_accepted {
        let (risk, max) = (risk.as_str(), options.max_risk.as_str());
        let message = format!("an audit found risk {risk}, and plugins.max_risk is {max}");
        let help = "read the audit, then accept this version or remove the plugin";
        let mut reason = Reason::new(AUDIT_RISK, Gate::Approval, Weight::Undecided, message, help);
        reason.accept = Some(ReviewedDigests::wanted(subject.facts(), None));
        outcome.reasons.push(reason);
    }
    audit.as_ref().map(AuditReport::of)
}

fn report(check: &ApprovalCheck, stored: Option<&Approval>) -> ApprovalReport {
    let (state, approval) = match check {
        ApprovalCheck::None => (ApprovalState::None, stored),
        ApprovalCheck::Stale { .. } => (ApprovalState::Stale, stored),
        ApprovalCheck::Risk { .. } => (ApprovalState::Risk, stored),
        ApprovalCheck::Given { approval, .. } => (ApprovalState::Given, Some(&**approval)),
    };
    ApprovalReport {
        kind: approval.map(|approval| approval.kind.as_str()),
        risk: approval.map(|approval| approval.risk.as_str()),
        by: approval.and_then(|approval| approval.by.clone()),
        ..ApprovalReport::state(state)
    }
}

fn judge(outcome: &mut GateOutcome, check: &ApprovalCheck, policy: &TrustPolicy, options: &CheckOptions) {
    let Some(code) = check.code() else { return };
    let client = policy.value(SettingId::AuditClient);
    let has_client = client.as_ref().and_then(SettingValue::as_text).is_some_and(|client| client != "none");
    let verb = if has_client { "with `plugward audit` " } else { "" };
    let help = format!(
        "audit this version {verb}and approve it, or set plugins.approval = \"off\" in your own settings"
    );
    let required = options.approval == ApprovalRule::Required;
    match check {
        ApprovalCheck::None if required => {
            let message = "this version is not approved, and plugins.approval = \"required\"";
            outcome.add(code, Weight::Undecided, message, help);
        }
        ApprovalCheck::Stale { approved, actual } if required => {
            let mut text = format!(
                "the approval is for other contents\napproved {}\nactual {}",
                approved.tree, actual.tree
            );
            let names = approved.shared.keys().chain(actual.shared.keys());
            for name in names.filter(|name| approved.shared.get(*name) != actual.shared.get(*name)) {
                text.push_str(&format!("\nshared {name} differs"));
            }
            outcome.add(code, Weight::Undecided, text, format!("review what changed; then {help}"));
        }
        ApprovalCheck::Risk { risk, max } => {
            let message =
                format!("the audit found risk {}, and plugins.max_risk is {}", risk.as_str(), max.as_str());
            let help = "use another version, or raise plugins.max_risk in your own settings";
            outcome.add(code, Weight::Denied, message, help);
        }
        ApprovalCheck::Given { rules: RulesChanged::Changed, .. } => {
            outcome.note(
                code,
                "the scanner's rules changed since the approval; the new rules ran on this version",
            );
        }
        ApprovalCheck::None
        | ApprovalCheck::Stale { .. }
        | ApprovalCheck::Given { rules: RulesChanged::Same, .. } => {}
    }
}
