//! The pin gate: what this machine remembers, against what is there.

mod commit;
mod store;
mod words;

use plugward_pinstore::{Change, PinCheck, PinDecision, Pins, Scope, Shown, StoreDecision, Via, decide};

use crate::facts::PinFacts;
use crate::gates::Walked;
use crate::options::{Answer, CheckOptions, Person, Root, Trust, Writes};
use crate::policy::{Namesake, namesake, renamed};
use crate::report::{Decision, Gate, Notice, PinState, PluginReport, Reason, Weight};

pub(crate) use commit::commit;
use store::State;
pub use store::{PinStore, StoreFailure};

/// What is to be committed for which plugin.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) at: usize,
    pub(crate) change: Change,
}

impl Pending {
    /// What a person denied is denied, whatever becomes of the others.
    pub(crate) const fn is_denial(&self) -> bool {
        matches!(self.change, Change::Deny { .. })
    }
}

/// Whether the store could not be read or written; then the exit code is 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreFailed {
    Yes,
    No,
}

/// Holds all plugins against their pins, and gives what the trust mode would enroll. It writes nothing.
pub(crate) fn judge(
    walked: &mut [Walked],
    roots: &[Root],
    store: &PinStore,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Vec<Pending> {
    let mut pending = Vec::new();
    for at in 0..walked.len() {
        let Some(one) = walked.get_mut(at) else { continue };
        let Some(facts) = one.facts.clone() else { continue };
        let Some(root) = roots.get(one.report.root) else { continue };
        if let Some(change) = one_plugin(one, &facts, &root.scope, store, options, person) {
            pending.push(Pending { at, change });
        }
    }
    pending
}

fn one_plugin(
    one: &mut Walked,
    pin: &PinFacts,
    scope: &Scope,
    store: &PinStore,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Option<Change> {
    let (check, like) = match &store.0 {
        State::Empty => (PinCheck::Unpinned, None),
        State::Open { pins, .. } => (pins.check(scope, &pin.id, &pin.facts), namesake(pins, scope, pin)),
        State::Broken { code, message, help } => {
            unusable(one, options, person, (code, message, help));
            return None;
        }
    };
    let report = &mut one.report;
    let file = store.pins().map_or("plugins.pins.toml", Pins::file_name);
    if matches!(check, PinCheck::Unpinned | PinCheck::ManifestOnly { .. }) {
        report.notices.extend(store.pins().and_then(|pins| renamed(pins, scope, pin)));
    }
    words::describe(report, &check, file);
    let decision = decide(&check, options.trust, pin.lock);
    if let Some(like) = like {
        held_against(report, &like, &check, (decision, pin));
    }
    let enroll = |via| Change::Enroll {
        scope: scope.clone(),
        id: pin.id.clone(),
        facts: pin.facts.clone(),
        via,
        by: Some(options.by.clone()),
    };
    match decision {
        PinDecision::Load => None,
        PinDecision::Refuse(code) => {
            one.refused = words::pinned_tree(&check);
            let reason = words::refusal(&check, code, report, file);
            report.reasons.push(reason);
            None
        }
        PinDecision::Enroll(via) => {
            (report.reasons.is_empty() && options.writes == Writes::Commit).then(|| enroll(via))
        }
        PinDecision::Ask => match ask(report, pin, scope, options, person) {
            Asked::Enroll(via) => Some(enroll(via)),
            Asked::Deny => {
                let seen = Some(pin.facts.tree);
                Some(Change::Deny {
                    scope: scope.clone(),
                    id: pin.id.clone(),
                    seen,
                    by: Some(options.by.clone()),
                })
            }
            Asked::Nothing => None,
        },
    }
}

/// A denial or revocation of another id that is about these bytes, or about this name, is held against the plugin.
fn held_against(
    report: &mut PluginReport,
    like: &Namesake,
    check: &PinCheck,
    (decision, pin): (PinDecision, &PinFacts),
) {
    match like {
        Namesake::SameBytes { .. } => report.reasons.push(like.reason(pin)),
        // Who is asked anyway is told beforehand; a pin of this very id is a person's answer already.
        Namesake::SameName { .. } | Namesake::NewName { .. } => match (check, decision) {
            (PinCheck::Unpinned | PinCheck::ManifestOnly { .. }, PinDecision::Ask) => {
                report.notices.push(like.notice());
            }
            (PinCheck::Unpinned | PinCheck::ManifestOnly { .. }, _) => report.reasons.push(like.reason(pin)),
            (PinCheck::Same { .. } | PinCheck::Changed(_) | PinCheck::Denied { .. }, _) => {}
        },
    }
}

/// What came of asking.
enum Asked {
    Enroll(Via),
    Deny,
    Nothing,
}

/// Asks the person, if nothing else stands against the plugin.
fn ask(
    report: &mut PluginReport,
    pin: &PinFacts,
    scope: &Scope,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Asked {
    let answer = if report.reasons.is_empty() && options.writes == Writes::Commit {
        report.decision = Decision::Ask;
        person.ask(report)
    } else {
        Answer::Nobody
    };
    let (message, help) = match answer {
        Answer::Yes => return Asked::Enroll(Via::Prompt),
        Answer::Never => {
            report.reasons.push(Reason {
                code: "policy/denied".to_owned(),
                gate: Gate::Pin,
                message: "denied by the person who was asked".to_owned(),
                help: format!("plugward allow {}", pin.id),
                weight: Weight::Denied,
            });
            return Asked::Deny;
        }
        Answer::No => ("new, and the answer was no".to_owned(), "check again to be asked again".to_owned()),
        Answer::Nobody => (
            format!("new in scope {scope}; a person has to agree"),
            format!("check on a terminal, or\n{}", Shown::wanted(&pin.facts, None).accept_line(&pin.id)),
        ),
    };
    report.reasons.push(Reason {
        code: "pin/new".to_owned(),
        gate: Gate::Pin,
        message,
        help,
        weight: Weight::Undecided,
    });
    Asked::Nothing
}

/// The store cannot be used: the setting decides, for every plugin.
fn unusable(
    one: &mut Walked,
    options: &CheckOptions,
    person: &mut dyn Person,
    (code, message, help): (&'static str, &str, &str),
) {
    let report = &mut one.report;
    report.pin = PinState { state: "unavailable", manifest: None, tree: None };
    let reason = |weight| Reason {
        code: code.to_owned(),
        gate: Gate::Pin,
        message: message.to_owned(),
        help: help.to_owned(),
        weight,
    };
    let notice =
        |message: &str| Notice { code: code.to_owned(), gate: Gate::Pin, message: message.to_owned() };
    if options.trust == Trust::Locked && options.on_store_error == plugward_pinstore::StoreErrorRule::Warn {
        report.notices.push(notice("pins.on_store_error = \"warn\" has no effect under --trust locked"));
    }
    match options.on_store_error.on_unusable(options.trust, code) {
        StoreDecision::LoadUnpinned(_) => {
            report.notices.push(notice("loads without a pin, as pins.on_store_error = \"warn\" says"));
            one.exceptions.push(format!("{}: {code}: {message}", report.id));
        }
        StoreDecision::Ask(_) => {
            let answer = if report.reasons.is_empty() && options.writes == Writes::Commit {
                report.decision = Decision::Ask;
                person.ask(report)
            } else {
                Answer::Nobody
            };
            if answer == Answer::Yes {
                report.notices.push(notice(
                    "loads without a pin, as the person who was asked said; nothing is remembered",
                ));
                one.exceptions.push(format!("{}: {code}: {message}", report.id));
            } else {
                report.reasons.push(reason(Weight::Undecided));
            }
        }
        StoreDecision::Refuse(_) => report.reasons.push(reason(Weight::Store)),
    }
}
