//! The lock gate: PLUGINS.lock in the folder that holds the plugins.

use std::collections::BTreeSet;

use plugward_pinstore::{LockSays, Pins, Scope};
use plugward_sandbox_path::Answer;
use plugward_tree_lock::{
    CodewizardDigest, JsonLock, JsonLockCheck, LOCK_BYTES, Lock, LockCheck, LockDifference, LockFacts,
    LockFile, LockOutcome, LockRule, Snapshot,
};
use plugward_types::{Digest, PluginId};

use crate::gates::PinFacts;
use crate::options::{Root, Trust};
use crate::report::{Gate, Notice, PluginReport, Reason, StateOnly, Weight};

/// The file's name.
pub(crate) const NAME: &str = "PLUGINS.lock";

/// The lock of one root.
#[derive(Debug)]
pub(crate) enum RootLock {
    Absent,
    /// Ours, with the digest of the file.
    Own(LockFile, Digest),
    /// The older JSON form.
    Json(JsonLock),
    /// It is there and cannot be used.
    Broken {
        code: &'static str,
        message: String,
        help: String,
    },
}

impl RootLock {
    /// Reads the lock of a root.
    pub(crate) fn read(root: &Root) -> Self {
        let bytes = match root.jail.read(NAME, u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX)) {
            Ok(bytes) => bytes,
            Err(error) if error.answer() == Answer::NotThere => return Self::Absent,
            Err(error) => {
                let message = format!("{NAME}: {error} ({})", error.code());
                return Self::Broken { code: "lock/malformed", message, help: error.help().to_owned() };
            }
        };
        match Lock::parse(&bytes) {
            Ok(Lock::Plugins(file)) => Self::Own(file, crate::hash::sha256(&bytes)),
            Ok(Lock::Json(file)) => Self::Json(file),
            Err(error) => {
                Self::Broken { code: error.code(), message: format!("{NAME}: {error}"), help: error.help() }
            }
        }
    }
}

/// What the gate needs besides the plugin.
pub(crate) struct LockContext<'a> {
    pub(crate) lock: &'a RootLock,
    pub(crate) trust: Trust,
    pub(crate) scope: &'a Scope,
    pub(crate) pins: Option<&'a Pins>,
}

/// Holds one plugin against the lock of its root.
pub(crate) fn gate(
    report: &mut PluginReport,
    facts: &PinFacts,
    snapshot: &Snapshot,
    context: &LockContext<'_>,
) -> LockSays {
    match context.lock {
        RootLock::Broken { code, message, help } => {
            report.lock = StateOnly { state: "malformed" };
            push(report, code, message.clone(), help.clone(), Weight::Store);
            LockSays::Nothing
        }
        RootLock::Absent => outcome(report, &LockCheck::NoFile, facts, context),
        RootLock::Own(file, digest) => {
            let lists = crate::trees::under(snapshot, &file.exclude_of(&facts.id));
            let tree = lists.unwrap_or(facts.facts.tree);
            let check = file.check(&LockFacts {
                id: &facts.id,
                path: &report.path,
                tree: &tree,
                manifest: facts.facts.manifest.as_ref(),
                shared: &facts.facts.shared,
            });
            let says = outcome(report, &check, facts, context);
            explain(report, file, facts);
            let accepted = context.pins.and_then(|pins| pins.accepted_lock(context.scope)) == Some(digest);
            match says {
                LockSays::Matched if accepted => LockSays::Accepted,
                other => other,
            }
        }
        RootLock::Json(file) => json(report, file, snapshot),
    }
}

fn outcome(
    report: &mut PluginReport,
    check: &LockCheck,
    facts: &PinFacts,
    context: &LockContext<'_>,
) -> LockSays {
    let rule = if context.trust == Trust::Locked { LockRule::Anchors } else { LockRule::Narrows };
    report.lock = StateOnly { state: state(check) };
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
            let show = |digest: &Option<Digest>| digest.map_or_else(|| "none".to_owned(), |d| d.to_string());
            format!(
                "{NAME} names the tree and another manifest\nexpected {}\nactual {}",
                show(expected),
                show(actual)
            )
        }
        LockCheck::Mismatch(LockDifference::Tree { expected, actual }) => {
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            format!("{NAME} names another tree\nexpected {}\nactual {actual}", expected.join(" or "))
        }
        LockCheck::Mismatch(LockDifference::Path { expected, actual }) => {
            format!("{NAME} names another folder\nexpected {expected}\nactual {actual}")
        }
        LockCheck::Mismatch(LockDifference::Shared { name, expected, actual }) => {
            let show = |digest: &Option<plugward_types::TreeDigest>| {
                digest.map_or_else(|| "none".to_owned(), |d| d.to_string())
            };
            format!(
                "{NAME} names another tree for {name}\nexpected {}\nactual {}",
                show(expected),
                show(actual)
            )
        }
    }
}

/// The surface line only explains: the bytes are the lock's, and this version sees something else in them.
fn explain(report: &mut PluginReport, file: &LockFile, facts: &PinFacts) {
    let Some(entry) = file.get(&facts.id) else { return };
    if entry.surface.is_some() && entry.surface != facts.facts.surface && report.lock.state == "match" {
        report.notices.push(Notice {
            code: "lock/surface-new".to_owned(),
            gate: Gate::Lock,
            message: format!("the tree is the lock's; this version sees another surface than {NAME} records"),
        });
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
    report.lock = StateOnly { state };
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

/// The entries of a lock that no plugin was found for, as (id or name, folder).
pub(crate) fn unvisited(lock: &RootLock, seen: &BTreeSet<String>) -> Vec<(String, String)> {
    match lock {
        RootLock::Absent | RootLock::Broken { .. } => Vec::new(),
        RootLock::Own(file, _) => {
            let seen: BTreeSet<PluginId> = seen.iter().filter_map(|id| id.parse().ok()).collect();
            let path = |id: &PluginId| file.get(id).map(|entry| entry.path.clone()).unwrap_or_default();
            file.unvisited(&seen).into_iter().map(|id| (id.to_string(), path(&id))).collect()
        }
        RootLock::Json(file) => {
            let names: BTreeSet<String> = seen
                .iter()
                .filter_map(|id| id.parse::<PluginId>().ok())
                .map(|id| id.name().to_owned())
                .collect();
            file.unvisited(&names).into_iter().map(|name| (name.clone(), name)).collect()
        }
    }
}
