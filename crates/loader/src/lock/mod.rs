//! The lock gate: PLUGINS.lock in the folder that holds the plugins.

mod read;

use crate::facts::PinFacts;
use crate::options::Trust;
use crate::report::{Gate, LockReport, Notice, PluginReport, Reason, Weight};
use crate::verifiers::{self, Asked, Verifiers};
use plugward_pinstore::{LockSays, Pins, Scope};
use plugward_tree_lock::{
    CodewizardDigest, JsonLock, JsonLockCheck, LockCheck, LockDifference, LockFacts, LockFile, LockOutcome,
    LockRule, Snapshot,
};

pub(crate) use read::{NAME, RootLock, unvisited};

/// What the gate needs besides the plugin.
pub(crate) struct LockContext<'a> {
    pub(crate) lock: &'a RootLock,
    pub(crate) trust: Trust,
    pub(crate) scope: &'a Scope,
    pub(crate) place: &'a Scope,
    pub(crate) pins: Option<&'a Pins>,
    pub(crate) verifiers: &'a Verifiers,
}

/// Holds one plugin against the lock of its root, and asks its verifiers. Gives the signer, where a signature held.
pub(crate) fn gate(
    report: &mut PluginReport,
    facts: &PinFacts,
    snapshot: &Snapshot,
    context: &LockContext<'_>,
) -> (LockSays, Option<String>) {
    let own = facts.facts.tree;
    match context.lock {
        RootLock::Broken { code, message, help } => {
            report.lock = LockReport::state("malformed");
            push(report, code, message.clone(), help.clone(), Weight::Store);
            (LockSays::Nothing, vouched(report, facts, (snapshot, &own), context))
        }
        RootLock::Absent => {
            let says = outcome(report, &LockCheck::NoFile, facts, context);
            (says, vouched(report, facts, (snapshot, &own), context))
        }
        RootLock::Own { file, digest, .. } => {
            let tree = crate::trees::under(snapshot, &file.exclude_of(&facts.id)).unwrap_or(own);
            let check = file.check(&LockFacts {
                id: &facts.id,
                path: &report.path,
                tree: &tree,
                manifest: facts.facts.manifest.as_ref(),
                entry: facts.facts.entry.as_ref(),
                shared: &facts.facts.shared,
            });
            let says = outcome(report, &check, facts, context);
            explain(report, file, facts);
            let signer = vouched(report, facts, (snapshot, &tree), context);
            let accepted = context.pins.and_then(|pins| pins.accepted_lock(context.place)) == Some(digest);
            match says {
                LockSays::Matched if accepted => (LockSays::Accepted, signer),
                other => (other, signer),
            }
        }
        RootLock::Json(file) => {
            let says = json(report, file, snapshot);
            (says, vouched(report, facts, (snapshot, &own), context))
        }
    }
}

/// Asks the verifiers of the host about one plugin.
fn vouched(
    report: &mut PluginReport,
    facts: &PinFacts,
    (files, digest): (&Snapshot, &plugward_types::TreeDigest),
    context: &LockContext<'_>,
) -> Option<String> {
    let (lock, signature) = match context.lock {
        RootLock::Own { file, signature, .. } => (Some(file), signature.as_ref()),
        RootLock::Absent | RootLock::Json(_) | RootLock::Broken { .. } => (None, None),
    };
    verifiers::ask(report, context.verifiers, &Asked { id: &facts.id, digest, files, lock, signature })
}

fn outcome(
    report: &mut PluginReport,
    check: &LockCheck,
    facts: &PinFacts,
    context: &LockContext<'_>,
) -> LockSays {
    let rule = if context.trust == Trust::Locked { LockRule::Anchors } else { LockRule::Narrows };
    report.lock = LockReport::state(state(check));
    match check.outcome(rule) {
        LockOutcome::GoOn if *check == LockCheck::Match => LockSays::Matched,
        LockOutcome::GoOn => LockSays::Nothing,
        LockOutcome::CountsAsPin => LockSays::Matched,
        LockOutcome::NeedsPin(code) => {
            let pinned = context.pins.and_then(|pins| pins.get(context.scope, &facts.id)).is_some();
            if !pinned {
                let message = format!("there is no {NAME}, and no pin stands in for it");
                push(report, code, message, check.help().to_owned(), Weight::Integrity);
            }
            LockSays::Nothing
        }
        LockOutcome::Refuse(code) => {
            push(report, code, text(check), check.help().to_owned(), Weight::Integrity);
            LockSays::Nothing
        }
    }
}

const fn state(check: &LockCheck) -> &'static str {
    match check {
        LockCheck::NoFile => "absent",
        LockCheck::Match => "match",
        LockCheck::Mismatch(_) => "mismatch",
        LockCheck::Unlisted => "unlisted",
        LockCheck::Missing => "missing",
        LockCheck::Inconsistent { .. } => "malformed",
    }
}

fn text(check: &LockCheck) -> String {
    match check {
        LockCheck::NoFile => format!("there is no {NAME}"),
        LockCheck::Match => format!("as {NAME} says"),
        LockCheck::Unlisted => format!("{NAME} has no entry for it"),
        LockCheck::Missing => format!("{NAME} names it, and it is not there"),
        LockCheck::Inconsistent { expected, actual } => {
            pair("the tree and another manifest", expected.as_ref(), actual.as_ref())
        }
        LockCheck::Mismatch(LockDifference::Entry { expected, actual }) => {
            pair("another marketplace entry", expected.as_ref(), actual.as_ref())
        }
        LockCheck::Mismatch(LockDifference::Tree { expected, actual }) => {
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            format!("{NAME} names another tree\nexpected {}\nactual {actual}", expected.join(" or "))
        }
        LockCheck::Mismatch(LockDifference::Path { expected, actual }) => {
            format!("{NAME} names another folder\nexpected {expected}\nactual {actual}")
        }
        LockCheck::Mismatch(LockDifference::Shared { name, expected, actual }) => {
            pair(&format!("another tree for {name}"), expected.as_ref(), actual.as_ref())
        }
    }
}

/// What the lock names otherwise, and both digests of it, each on its line.
fn pair<T: ToString>(what: &str, expected: Option<&T>, actual: Option<&T>) -> String {
    let show = |digest: Option<&T>| digest.map_or_else(|| "none".to_owned(), ToString::to_string);
    format!("{NAME} names {what}\nexpected {}\nactual {}", show(expected), show(actual))
}

/// Surface and launchers only explain: the bytes are the lock's, and this version sees something else in them.
fn explain(report: &mut PluginReport, file: &LockFile, facts: &PinFacts) {
    let Some(surface) = facts.facts.surface.as_ref().filter(|_| report.lock.state == "match") else { return };
    if let Some(said) = file.surface_notice(&facts.id, surface, &facts.launchers) {
        let mut message =
            format!("the tree is the lock's; this version sees another surface than {NAME} records");
        for (sign, names) in [('+', &said.added), ('-', &said.removed)] {
            for name in names {
                message.push_str(&format!("\n{sign} {name}"));
            }
        }
        report.notices.push(Notice { code: said.code().to_owned(), gate: Gate::Lock, message });
    }
}

fn json(report: &mut PluginReport, file: &JsonLock, snapshot: &Snapshot) -> LockSays {
    report.notices.push(Notice {
        code: JsonLock::NOTICE.to_owned(),
        gate: Gate::Lock,
        message: "the JSON lock covers no compiled caches, execute bits or links; to replace it: plugward lock --migrate"
            .to_owned(),
    });
    let (state, reason) = match file.check(&report.name, CodewizardDigest::of(snapshot)) {
        JsonLockCheck::Match => ("match", None),
        JsonLockCheck::Unlisted => {
            ("unlisted", Some(("lock/unlisted", format!("{NAME} has no entry for it"))))
        }
        JsonLockCheck::Mismatch { expected, actual } => {
            let text = format!("{NAME} names another tree\nexpected {expected}\nactual {actual}");
            ("mismatch", Some(("lock/mismatch", text)))
        }
    };
    report.lock = LockReport::state(state);
    let folder = report.path.rsplit('/').next().unwrap_or(&report.path);
    if folder != "." && folder != report.name && state != "unlisted" {
        // That lock goes by names alone, so the folder's is not covered by it.
        report.notices.push(Notice {
            code: "manifest/name-not-folder".to_owned(),
            gate: Gate::Lock,
            message: format!("{NAME} goes by the name alone, and the folder has another one: `{folder}`"),
        });
    }
    if let Some((code, message)) = reason {
        push(
            report,
            code,
            message,
            "look at what changed, then write the lock anew".to_owned(),
            Weight::Integrity,
        );
    }
    LockSays::Nothing
}

fn push(report: &mut PluginReport, code: &str, message: String, help: String, weight: Weight) {
    report.reasons.push(Reason { code: code.to_owned(), gate: Gate::Lock, message, help, weight });
}
