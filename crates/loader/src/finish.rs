//! The end of a check: each decision, the sums and the exit code.

use crate::discover::Seen;
use crate::gates::Walked;
use crate::options::{CheckOptions, Root, Whole};
use crate::pins::StoreFailed;
use crate::record::{RecordFailure, Run};
use crate::report::{Decision, Gate, Notice, Reason, Report, Skipped, Summary, Tool, Weight};

/// What belongs to no single plugin.
pub(crate) struct Gathered {
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) seen: Seen,
    pub(crate) failed: StoreFailed,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { skipped: Vec::new(), notices: Vec::new(), seen: Seen::All, failed: StoreFailed::No }
    }
}

/// Decides each plugin, writes the decisions down, and sums up.
pub(crate) fn finish(
    mut walked: Vec<Walked>,
    roots: &[Root],
    options: &CheckOptions,
    mut gathered: Gathered,
    run: &mut Run<'_>,
) -> Report {
    if options.whole == Whole::AllOrNothing && walked.iter().any(|one| !one.report.reasons.is_empty()) {
        for one in walked.iter_mut().filter(|one| one.report.reasons.is_empty()) {
            one.report.reasons.push(Reason {
                code: "check/all-or-nothing".to_owned(),
                gate: Gate::Discover,
                message: "another plugin of this run does not load".to_owned(),
                help: "mend or leave out the other one, or check without --all-or-nothing".to_owned(),
                weight: Weight::Follows,
            });
        }
    }
    walked.sort_by(|a, b| {
        (&a.report.id, a.report.root, &a.report.path).cmp(&(&b.report.id, b.report.root, &b.report.path))
    });
    let decided: Vec<_> = walked.iter().map(|one| (&one.report, decision(&one.report.reasons))).collect();
    run.decisions(options.trust_word(), &decided);
    if let Some(failure) = run.failure() {
        for one in walked.iter_mut().filter(|one| one.report.reasons.is_empty()) {
            one.report.capabilities.clear();
            one.report.reasons.push(failure.reason());
        }
        gathered.notices.push(failure.notice());
    }
    let mut summary = Summary::default();
    let mut plugins = Vec::with_capacity(walked.len());
    for mut one in walked {
        one.report.decision = decision(&one.report.reasons);
        one.report.reasons.sort_by_key(|reason| reason.gate);
        one.report.notices.sort();
        one.report.notices.dedup();
        one.report.findings.sort();
        one.report.suppressed.sort();
        let count = match one.report.decision {
            Decision::Load => &mut summary.load,
            Decision::Ask => &mut summary.ask,
            Decision::Refuse => &mut summary.refuse,
        };
        *count = count.saturating_add(1);
        summary.files = summary.files.saturating_add(one.report.files);
        summary.bytes = summary.bytes.saturating_add(one.report.bytes);
        plugins.push(one.report);
    }
    let Gathered { mut skipped, mut notices, seen, failed } = gathered;
    skipped.sort();
    notices.sort();
    notices.dedup();
    summary.skipped = u64::try_from(skipped.len()).unwrap_or(u64::MAX);
    let weights = plugins.iter().flat_map(|plugin| plugin.reasons.iter().map(|reason| reason.weight));
    // What was not looked at could not be told.
    let unseen = (seen == Seen::NotAll).then_some(Weight::CouldNotTell);
    let unrecorded = run.failure().map(RecordFailure::weight);
    let exit = exit(weights.chain(unseen).chain(unrecorded), failed);
    Report {
        version: 1,
        tool: Tool {
            name: "plugward",
            version: env!("CARGO_PKG_VERSION"),
            rules: options.rules().digest().to_string(),
        },
        trust: options.trust_word(),
        roots: roots.iter().map(|root| root.label.clone()).collect(),
        plugins,
        skipped,
        notices,
        summary,
        exit,
    }
}

/// The one place that makes a decision: no reason is `Load`, only questions are `Ask`, anything else is `Refuse`.
fn decision(reasons: &[Reason]) -> Decision {
    if reasons.is_empty() {
        Decision::Load
    } else if reasons.iter().all(|reason| reason.weight == Weight::Undecided) {
        Decision::Ask
    } else {
        Decision::Refuse
    }
}

/// Of several codes the first of 7, 4, 6, 5, 1, 3; 0 where nothing stands against anything.
fn exit(weights: impl Iterator<Item = Weight>, failed: StoreFailed) -> u8 {
    let first = weights.min();
    match (failed, first) {
        (StoreFailed::Yes, _) => Weight::Store.exit(),
        (StoreFailed::No, Some(weight)) => weight.exit(),
        (StoreFailed::No, None) => 0,
    }
}
