//! Writing the pins of a run, all in one commit.

use plugward_pinstore::{Change, Committed, Outcome, Pins, StoreDecision, StoreError, Timestamp, Wrote};

use super::store::{PinStore, State};
use super::words::{describe, refusal};
use super::{Pending, StoreFailed};
use crate::gates::Walked;
use crate::options::{CheckOptions, Whole};
use crate::report::{Gate, Notice, PinState, PluginReport, Reason, Weight};
use crate::text::chain;

/// Commits what is pending: what a person denied first, then all enrollments in one write.
///
/// Under all-or-nothing that write is made only if it holds every enrollment: a rival's pin that came in between
/// leaves none of the others behind.
pub(crate) fn commit(
    walked: &mut [Walked],
    pending: Vec<Pending>,
    store: &mut PinStore,
    options: &CheckOptions,
) -> StoreFailed {
    let broken = if store.is_broken() { StoreFailed::Yes } else { StoreFailed::No };
    let State::Open { pins, .. } = &mut store.0 else { return broken };
    let (denials, enrollments): (Vec<Pending>, Vec<Pending>) =
        pending.into_iter().partition(Pending::is_denial);
    let whole = |pins: &mut Pins, changes: Vec<Change>, now: Timestamp| match options.whole {
        Whole::AllOrNothing => pins.commit_whole(changes, now),
        Whole::EachAlone => pins.commit(changes, now),
    };
    let denied = one_write(walked, denials, pins, options, &Pins::commit);
    let enrolled = one_write(walked, enrollments, pins, options, &whole);
    if denied == StoreFailed::Yes { denied } else { enrolled }
}

type Write<'a> = &'a dyn Fn(&mut Pins, Vec<Change>, Timestamp) -> Result<Committed, StoreError>;

fn one_write(
    walked: &mut [Walked],
    pending: Vec<Pending>,
    pins: &mut Pins,
    options: &CheckOptions,
    write: Write<'_>,
) -> StoreFailed {
    if pending.is_empty() {
        return StoreFailed::No;
    }
    let (places, changes): (Vec<usize>, Vec<Change>) =
        pending.into_iter().map(|pending| (pending.at, pending.change)).unzip();
    match write(pins, changes.clone(), options.now) {
        Ok(committed) => {
            let file = pins.file_name().to_owned();
            let withheld = committed.wrote == Wrote::Withheld;
            for ((at, change), outcome) in places.into_iter().zip(changes).zip(&committed.outcomes) {
                let Some(one) = walked.get_mut(at) else { continue };
                // What was to be made and was not: the one that stood in the way has the reason.
                if !(withheld && matches!(outcome, Outcome::Done)) {
                    committed_one(&mut one.report, &change, outcome, &file);
                }
            }
            StoreFailed::No
        }
        Err(error) => {
            let (message, help) = (chain(&error), error.help());
            for (at, change) in places.into_iter().zip(changes) {
                let Some(one) = walked.get_mut(at) else { continue };
                if matches!(change, Change::Enroll { .. }) {
                    unsaved(one, options, error.code(), (&message, &help));
                }
            }
            StoreFailed::Yes
        }
    }
}

fn unsaved(one: &mut Walked, options: &CheckOptions, code: &'static str, (message, help): (&str, &str)) {
    let report = &mut one.report;
    match options.on_store_error.on_unsaved(options.trust, code) {
        StoreDecision::LoadUnpinned(code) => {
            report.notices.push(Notice {
                code: code.to_owned(),
                gate: Gate::Pin,
                message: format!("loads, and is enrolled next time: {message}"),
            });
            one.exceptions.push(format!("{}: {code}: {message}", report.id));
        }
        StoreDecision::Ask(code) | StoreDecision::Refuse(code) => report.reasons.push(Reason {
            code: code.to_owned(),
            gate: Gate::Pin,
            message: message.to_owned(),
            help: help.to_owned(),
            weight: Weight::Store,
        }),
    }
}

fn committed_one(report: &mut PluginReport, change: &Change, outcome: &Outcome, file: &str) {
    let Change::Enroll { scope, facts, via, .. } = change else { return };
    let own = |state| PinState { state, manifest: report.manifest.clone(), tree: report.tree.clone() };
    match outcome {
        Outcome::Done => {
            let manifest = facts.manifest.map_or_else(|| "no manifest file".to_owned(), |d| d.to_string());
            report.notices.push(Notice {
                code: "pin/new".to_owned(),
                gate: Gate::Pin,
                message: format!(
                    "new: enrolled ({via}) in scope {scope}, manifest and tree\n{manifest}\n{}",
                    facts.tree
                ),
            });
            report.pin = own("enrolled");
        }
        Outcome::Already => report.pin = own("same"),
        Outcome::Conflict(check) => {
            describe(report, check, file);
            let reason = refusal(check, outcome.code().unwrap_or("pin/changed"), report, file);
            report.reasons.push(reason);
        }
        other => report.reasons.push(Reason {
            code: other.code().unwrap_or("pin/not-saved").to_owned(),
            gate: Gate::Pin,
            message: "the pin could not be made".to_owned(),
            help: "check again".to_owned(),
            weight: Weight::Store,
        }),
    }
}
