//! The approval gate: has a person approved these contents after an audit?

use cap_std::fs::Dir;
use plugward_pinstore::{Approval, ApprovalCheck, Approvals, ApprovedBytes, RulesChanged, StoreError};
use plugward_state_file::{Owner, StateError};

use super::passed;
use crate::contents::subject::Subject;
use crate::report::text::chain;
use crate::report::{ApprovalReport, ApprovalState, Gate};
use crate::run::options::{ApprovalRule, CheckOptions};
use crate::run::outcome::{GateOutcome, Notice, Weight};
use crate::state::pins::StoreFailure;

/// The approvals, or the cause if they cannot be used.
#[derive(Debug)]
pub struct ApprovalStore(State);

#[derive(Debug)]
enum State {
    /// There is no directory yet.
    Empty,
    Open(Box<Approvals>),
    Broken {
        code: &'static str,
        message: String,
        help: String,
    },
}

impl ApprovalStore {
    /// Creates a store without approvals.
    #[must_use]
    pub const fn empty() -> Self {
        Self(State::Empty)
    }

    /// Opens the approvals in the user's configuration directory. The error of an unusable file is kept in
    /// the value, so that no approval counts and the cause is reported.
    #[must_use]
    pub fn open(dir: &Dir, owner: Owner) -> Self {
        let broken = |error: &StoreError| State::Broken {
            code: error.code(),
            message: chain(error),
            help: error.help(),
        };
        let no_file = |error: &StateError| State::Broken {
            code: "approval/store",
            message: chain(error),
            help: error.help(),
        };
        let opened = Approvals::file(dir, owner)
            .map_err(|error| no_file(&error))
            .and_then(|file| Approvals::open(&file).map_err(|error| broken(&error)));
        Self(opened.map_or_else(|state| state, |approvals| State::Open(Box::new(approvals))))
    }

    /// Returns the approvals, if they could be read.
    #[must_use]
    pub fn approvals(&self) -> Option<&Approvals> {
        match &self.0 {
            State::Open(approvals) => Some(approvals),
            State::Empty | State::Broken { .. } => None,
        }
    }

    /// Returns the approvals to be changed.
    pub(crate) fn approvals_mut(&mut self) -> Result<&mut Approvals, StoreFailure> {
        match &mut self.0 {
            State::Open(approvals) => Ok(approvals),
            State::Empty => Err(StoreFailure::new(
                "approval/store",
                "there is no configuration directory yet",
                "open the approvals with a directory",
            )),
            State::Broken { code, message, help } => Err(StoreFailure::new(code, message, help)),
        }
    }

    pub(crate) const fn is_broken(&self) -> bool {
        matches!(self.0, State::Broken { .. })
    }

    /// Returns the notices about the file itself.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let notice = |code: &str, message: String| Notice::new(code, Gate::Approval, message);
        match &self.0 {
            State::Empty => Vec::new(),
            State::Open(approvals) => {
                approvals.notices().iter().map(|n| notice(n.code(), n.help())).collect()
            }
            State::Broken { code, message, help } => vec![notice(code, format!("{message}\nnext: {help}"))],
        }
    }
}

/// Compares one plugin with its approval.
///
/// An approval counts even if none is required: a risk above the threshold refuses. If none is required, a
/// missing approval, or one of other contents, is only reported.
pub(crate) fn gate(
    subject: &Subject,
    store: &ApprovalStore,
    options: &CheckOptions,
) -> (ApprovalReport, GateOutcome) {
    let mut outcome = passed(Gate::Approval);
    let approvals = match &store.0 {
        State::Open(approvals) => Some(approvals),
        State::Empty => None,
        State::Broken { code, message, help } => {
            if options.approval == ApprovalRule::Required {
                outcome.add(*code, Weight::Store, message.clone(), help.clone());
            }
            return (ApprovalReport::state(ApprovalState::Unavailable), outcome);
        }
    };
    let facts = subject.facts();
    let actual = ApprovedBytes { tree: facts.tree, shared: facts.shared.clone() };
    let rules = options.rules().digest();
    let check = approvals.map_or(ApprovalCheck::None, |approvals| {
        approvals.check(subject.key(), &subject.observed.called, &actual, options.max_risk, &rules)
    });
    judge(&mut outcome, &check, options);
    (report(&check, approvals.and_then(|approvals| approvals.get(subject.key()))), outcome)
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

fn judge(outcome: &mut GateOutcome, check: &ApprovalCheck, options: &CheckOptions) {
    const NO_APPROVAL: &str =
        "audit this version and approve it, or set plugins.approval = \"off\" in your own settings";
    let Some(code) = check.code() else { return };
    let required = options.approval == ApprovalRule::Required;
    match check {
        ApprovalCheck::None if required => {
            let message = "this version is not approved, and plugins.approval = \"required\"";
            outcome.add(code, Weight::Undecided, message, NO_APPROVAL);
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
            outcome.add(code, Weight::Undecided, text, format!("review what changed; then {NO_APPROVAL}"));
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
