//! The approval gate: has a person agreed to these bytes, after which audit.

use cap_std::fs::Dir;
use plugward_pinstore::{ApprovalCheck, Approvals, ApprovedBytes, RulesChanged, Scope, StoreError};
use plugward_state_file::{Owner, StateError};

use crate::facts::PinFacts;
use crate::options::{ApprovalRule, CheckOptions};
use crate::report::{ApprovalReport, Gate, Notice, PluginReport, Reason, Weight};
use crate::text::chain;

/// The approvals, or why there are none to be had.
#[derive(Debug)]
pub struct ApprovalStore(State);

#[derive(Debug)]
enum State {
    /// No folder yet.
    Empty,
    Open(Box<Approvals>),
    Broken {
        code: &'static str,
        message: String,
        help: String,
    },
}

impl ApprovalStore {
    /// Has no approvals.
    #[must_use]
    pub const fn empty() -> Self {
        Self(State::Empty)
    }

    /// Opens the approvals below the user's config folder. A file that cannot be used is kept as that: no approval
    /// holds then, and it is not as if none had been given.
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

    /// Gives the approvals, where they could be read.
    #[must_use]
    pub fn approvals(&self) -> Option<&Approvals> {
        match &self.0 {
            State::Open(approvals) => Some(approvals),
            State::Empty | State::Broken { .. } => None,
        }
    }

    pub(crate) const fn is_broken(&self) -> bool {
        matches!(self.0, State::Broken { .. })
    }

    /// What is to be said of the file itself.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let notice = |code: &str, message| Notice { code: code.to_owned(), gate: Gate::Approval, message };
        match &self.0 {
            State::Empty => Vec::new(),
            State::Open(approvals) => {
                approvals.notices().iter().map(|n| notice(n.code(), n.help())).collect()
            }
            State::Broken { code, message, help } => vec![notice(code, format!("{message}\nnext: {help}"))],
        }
    }
}

/// Holds one plugin against its approval.
///
/// An approval that is there counts whether one is asked for or not: a risk above the threshold refuses. Where none
/// is asked for, one that is missing or of other bytes is only shown.
///
/// # Source
/// HyperAgent let what was approved before pass without threshold and danger gate (SPEC 3.4).
pub(crate) fn gate(
    report: &mut PluginReport,
    pin: &PinFacts,
    (scope, store): (&Scope, &ApprovalStore),
    options: &CheckOptions,
) {
    let approvals = match &store.0 {
        State::Open(approvals) => Some(approvals),
        State::Empty => None,
        State::Broken { code, message, help } => {
            report.approval = ApprovalReport::state("unavailable");
            if options.approval == ApprovalRule::Required {
                report.reasons.push(Reason {
                    code: (*code).to_owned(),
                    gate: Gate::Approval,
                    message: message.clone(),
                    help: help.clone(),
                    weight: Weight::Store,
                });
            }
            return;
        }
    };
    let actual = ApprovedBytes { tree: pin.facts.tree, shared: pin.facts.shared.clone() };
    let rules = options.rules().digest();
    let check = approvals.map_or(ApprovalCheck::None, |approvals| {
        approvals.check(scope, &pin.id, &actual, options.max_risk, &rules)
    });
    report.approval = shown(&check, approvals.and_then(|approvals| approvals.get(scope, &pin.id)));
    said(report, pin, &check, options);
}

fn shown(check: &ApprovalCheck, approval: Option<&plugward_pinstore::Approval>) -> ApprovalReport {
    let state = match check {
        ApprovalCheck::None => "none",
        ApprovalCheck::Stale { .. } => "stale",
        ApprovalCheck::Risk { .. } => "risk",
        ApprovalCheck::Given { .. } => "given",
    };
    ApprovalReport {
        kind: approval.map(|approval| approval.kind.as_str()),
        risk: approval.map(|approval| approval.risk.as_str()),
        by: approval.and_then(|approval| approval.by.clone()),
        ..ApprovalReport::state(state)
    }
}

fn said(report: &mut PluginReport, pin: &PinFacts, check: &ApprovalCheck, options: &CheckOptions) {
    let code = check.code().unwrap_or_default();
    let id = &pin.id;
    let reason = |message: String, help: String, weight| Reason {
        code: code.to_owned(),
        gate: Gate::Approval,
        message,
        help,
        weight,
    };
    let required = options.approval == ApprovalRule::Required;
    match check {
        ApprovalCheck::None if required => report.reasons.push(reason(
            "nobody has approved these bytes, and plugins.approval = \"required\"".to_owned(),
            no_approval(id),
            Weight::Undecided,
        )),
        ApprovalCheck::Stale { approved, actual } if required => {
            let mut text =
                format!("approved were other bytes\napproved {}\nactual {}", approved.tree, actual.tree);
            let names = approved.shared.keys().chain(actual.shared.keys());
            for name in names.filter(|name| approved.shared.get(*name) != actual.shared.get(*name)) {
                text.push_str(&format!("\nshared {name} differs"));
            }
            let help = format!("plugward diff {id}; {}", no_approval(id));
            report.reasons.push(reason(text, help, Weight::Undecided));
        }
        ApprovalCheck::Risk { risk, max } => report.reasons.push(reason(
            format!("the audit found risk {}, and plugins.max_risk is {}", risk.as_str(), max.as_str()),
            "use another version, or raise plugins.max_risk in your own settings".to_owned(),
            Weight::Denied,
        )),
        ApprovalCheck::Given { rules: RulesChanged::Changed, .. } => report.notices.push(Notice {
            code: code.to_owned(),
            gate: Gate::Approval,
            message: "the scanner's rules changed since the approval; they ran on these bytes all the same"
                .to_owned(),
        }),
        ApprovalCheck::None
        | ApprovalCheck::Stale { .. }
        | ApprovalCheck::Given { rules: RulesChanged::Same, .. } => {}
    }
}

fn no_approval(id: &plugward_types::PluginId) -> String {
    format!(
        "approve {id} after an audit of these bytes, or set plugins.approval = \"off\" in your own settings"
    )
}
