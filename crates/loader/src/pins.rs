//! The pin gate: what this machine remembers, against what is there.

use cap_std::fs::Dir;
use plugward_pinstore::{
    BaselineError, Baselines, Change, Changed, Committed, InUse, Outcome, PinCheck, PinDecision, Pinned,
    Pins, RevocationCheck, Revocations, Scope, StoreCheck, StoreDecision, StoreError, Subject, Timestamp,
    Via, What, decide,
};
use plugward_state_file::{Owner, StateError};

use crate::gates::{PinFacts, Walked};
use crate::options::{Answer, CheckOptions, Person, Root, Writes};
use crate::report::{Decision, Gate, Notice, PinState, PluginReport, Reason, Weight};

/// The pins, or why there are none to be had.
///
/// # Source
/// ADR-003: a store that fails does not lock the user out, if the host says so with `StoreErrorRule::Warn`.
#[derive(Debug)]
pub struct PinStore(State, Option<Baselines>);

/// A store that could not be used for what a person asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct StoreFailure {
    code: &'static str,
    message: String,
    help: String,
}

impl StoreFailure {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Says what a person types or does next.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

#[derive(Debug)]
enum State {
    /// No folder yet, and nothing is to be written.
    Empty,
    Open {
        pins: Box<Pins>,
        check: StoreCheck,
    },
    Broken {
        code: &'static str,
        message: String,
        help: String,
    },
}

impl PinStore {
    /// Has no pins and writes none: for a look where nothing was ever pinned.
    #[must_use]
    pub const fn empty() -> Self {
        Self(State::Empty, None)
    }

    /// Opens the pins below the user's config folder. A store that cannot be used is kept as that.
    #[must_use]
    pub fn open(dir: &Dir, owner: Owner) -> Self {
        let opened = Pins::file(dir, owner)
            .map_err(|error| broken_state(&error))
            .and_then(|file| Pins::open(&file).map_err(|error| broken(&error)));
        match opened {
            Ok((pins, check)) => Self(State::Open { pins: Box::new(pins), check }, None),
            Err(state) => Self(state, None),
        }
    }

    /// Adds the texts of what was trusted, so that a later diff can show what changed.
    #[must_use]
    pub fn with_baselines(self, baselines: Baselines) -> Self {
        Self(self.0, Some(baselines))
    }

    /// Gives the texts of what was trusted, where they were added.
    #[must_use]
    pub const fn baselines(&self) -> Option<&Baselines> {
        self.1.as_ref()
    }

    /// Gives the pins, where they could be read.
    #[must_use]
    pub const fn pins(&self) -> Option<&Pins> {
        match &self.0 {
            State::Open { pins, .. } => Some(pins),
            State::Empty | State::Broken { .. } => None,
        }
    }

    /// Makes changes that a person asked for, in one write.
    ///
    /// # Errors
    /// `pin/store` where no pins could be read, `pin/not-saved` where the change could not be written: what the
    /// store said, with what to do next.
    pub fn commit(&mut self, changes: Vec<Change>, now: Timestamp) -> Result<Committed, StoreFailure> {
        match &mut self.0 {
            State::Open { pins, .. } => pins.commit(changes, now).map_err(|error| StoreFailure {
                code: error.code(),
                message: chain(&error),
                help: error.help(),
            }),
            State::Empty => Err(StoreFailure {
                code: "pin/store",
                message: "there is no config folder yet".to_owned(),
                help: "plugward check DIR makes it".to_owned(),
            }),
            State::Broken { code, message, help } => {
                Err(StoreFailure { code, message: message.clone(), help: help.clone() })
            }
        }
    }

    /// Makes room in the baselines: what no pin refers to goes first.
    ///
    /// # Errors
    /// What could not be listed or removed; no pin depends on it.
    pub fn collect(&self) -> Result<(), BaselineError> {
        let (Some(pins), Some(baselines)) = (self.pins(), self.baselines()) else { return Ok(()) };
        let mut in_use = InUse::default();
        for (_, _, pin) in pins.iter() {
            in_use.trees.extend(pin.previous);
            if let Some(facts) = &pin.facts {
                in_use.trees.insert(facts.tree);
                in_use.trees.extend(facts.shared.values().copied());
                in_use.surfaces.extend(facts.surface);
            }
        }
        baselines.collect(&in_use).map(|_collected| ())
    }

    pub(crate) const fn is_broken(&self) -> bool {
        matches!(self.0, State::Broken { .. })
    }

    /// What is to be said of the store itself.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let notice = |code: &str, message| Notice { code: code.to_owned(), gate: Gate::Pin, message };
        match &self.0 {
            State::Empty => Vec::new(),
            State::Broken { code, message, help } => vec![notice(code, format!("{message}\nnext: {help}"))],
            State::Open { pins, check } => {
                let mut out = Vec::new();
                if let StoreCheck::Recovered { fault } = check {
                    let file = pins.file_name();
                    let message = format!(
                        "{file} is {fault}; the last good copy was taken, and the next commit mends the file\n\
                         next: to start over instead: plugward forget --all"
                    );
                    out.push(notice("pin/recovered", message));
                }
                out.extend(pins.notices().iter().map(|n| notice(n.code(), n.help())));
                out
            }
        }
    }
}

fn broken(error: &StoreError) -> State {
    State::Broken { code: error.code(), message: chain(error), help: error.help() }
}

fn broken_state(error: &StateError) -> State {
    State::Broken { code: "pin/store", message: chain(error), help: error.help() }
}

/// An error with all its causes in one line.
fn chain(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// What is to be committed for which plugin.
struct Pending {
    at: usize,
    change: Change,
}

/// Walks all plugins through the pin gate, and commits what the trust mode enrolls, in one write.
///
/// `stop` says whether nothing may be enrolled because all were asked for or none. Gives whether the store failed.
pub(crate) fn gate(
    walked: &mut [Walked],
    roots: &[Root],
    store: &mut PinStore,
    options: &CheckOptions,
    person: &mut dyn Person,
    stop: &dyn Fn(&[Walked]) -> Stop,
) -> StoreFailed {
    let mut pending = Vec::new();
    for at in 0..walked.len() {
        let Some(one) = walked.get_mut(at) else { continue };
        let Some(facts) = one.facts.clone() else { continue };
        let Some(root) = roots.get(one.report.root) else { continue };
        if let Some(change) = one_plugin(&mut one.report, &facts, &root.scope, store, options, person) {
            pending.push(Pending { at, change });
        }
    }
    if stop(walked) == Stop::EnrollNothing {
        // What a person denied is denied, whatever becomes of the others.
        pending.retain(|pending| matches!(pending.change, Change::Deny { .. }));
    }
    if pending.is_empty() {
        return if store.is_broken() { StoreFailed::Yes } else { StoreFailed::No };
    }
    commit(walked, pending, store, options)
}

/// Whether anything may be enrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    EnrollNothing,
    GoOn,
}

/// Whether the store could not be read or written; then the exit code is 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreFailed {
    Yes,
    No,
}

fn one_plugin(
    report: &mut PluginReport,
    pin: &PinFacts,
    scope: &Scope,
    store: &PinStore,
    options: &CheckOptions,
    person: &mut dyn Person,
) -> Option<Change> {
    let check = match &store.0 {
        State::Empty => PinCheck::Unpinned,
        State::Open { pins, .. } => pins.check(scope, &pin.id, &pin.facts),
        State::Broken { code, message, help } => {
            unusable(report, options, person, (code, message, help));
            return None;
        }
    };
    let file = store.pins().map_or("plugins.pins.toml", Pins::file_name);
    describe(report, &check, file);
    if let Some(pins) = store.pins() {
        revoked(report, pin, pins);
    }
    let enroll = |via| Change::Enroll {
        scope: scope.clone(),
        id: pin.id.clone(),
        facts: pin.facts.clone(),
        via,
        by: Some(options.by.clone()),
    };
    match decide(&check, options.trust, pin.lock) {
        PinDecision::Load => None,
        PinDecision::Refuse(code) => {
            let reason = refusal(&check, code, report, file);
            report.reasons.push(reason);
            None
        }
        PinDecision::Enroll(via) => {
            (report.reasons.is_empty() && options.writes == Writes::Commit).then(|| enroll(via))
        }
        PinDecision::Ask => match ask(report, pin, scope, options, person) {
            Asked::Enroll(via) => Some(enroll(via)),
            Asked::Deny => {
                Some(Change::Deny { scope: scope.clone(), id: pin.id.clone(), by: Some(options.by.clone()) })
            }
            Asked::Nothing => None,
        },
    }
}

/// The policy gate's look at the revocations of this machine's user.
fn revoked(report: &mut PluginReport, pin: &PinFacts, pins: &Pins) {
    let revocations = Revocations::of(pins.revoked());
    let subject = Subject {
        id: &pin.id,
        version: report.version.as_deref(),
        tree: Some(&pin.facts.tree),
        manifest: pin.facts.manifest.as_ref(),
        binaries: &[],
        signers: pin.facts.signer.as_slice(),
    };
    if let RevocationCheck::Revoked(entry) = revocations.check(&subject) {
        report.reasons.push(Reason {
            code: "policy/revoked".to_owned(),
            gate: Gate::Policy,
            message: format!("revoked: {}", entry.reason),
            help: "use another version, or take the entry out of the pins file by hand".to_owned(),
            weight: Weight::Denied,
        });
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
            format!("check on a terminal, or plugward accept {} --tree {}", pin.id, pin.facts.tree),
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

fn unusable(
    report: &mut PluginReport,
    options: &CheckOptions,
    person: &mut dyn Person,
    (code, message, help): (&'static str, &str, &str),
) {
    report.pin = PinState { state: "unavailable", manifest: None, tree: None };
    let reason = |weight| Reason {
        code: code.to_owned(),
        gate: Gate::Pin,
        message: message.to_owned(),
        help: help.to_owned(),
        weight,
    };
    match options.on_store_error.on_unusable(options.trust, code) {
        StoreDecision::LoadUnpinned(code) => report.notices.push(Notice {
            code: code.to_owned(),
            gate: Gate::Pin,
            message: "loads without a pin, as pins.on_store_error = \"warn\" says".to_owned(),
        }),
        StoreDecision::Ask(code) => {
            let answer = if report.reasons.is_empty() && options.writes == Writes::Commit {
                report.decision = Decision::Ask;
                person.ask(report)
            } else {
                Answer::Nobody
            };
            if answer == Answer::Yes {
                report.notices.push(Notice {
                    code: code.to_owned(),
                    gate: Gate::Pin,
                    message: "loads without a pin, as the person who was asked said; nothing is remembered"
                        .to_owned(),
                });
            } else {
                report.reasons.push(reason(Weight::Undecided));
            }
        }
        StoreDecision::Refuse(_) => report.reasons.push(reason(Weight::Store)),
    }
}

fn describe(report: &mut PluginReport, check: &PinCheck, file: &str) {
    let own = |state| PinState { state, manifest: report.manifest.clone(), tree: report.tree.clone() };
    report.pin = match check {
        PinCheck::Same { surface } => {
            if surface.is_some() {
                report.notices.push(Notice {
                    code: "pin/surface-new".to_owned(),
                    gate: Gate::Pin,
                    message: "the same bytes; this version sees another surface in them than the one that pinned them"
                        .to_owned(),
                });
            }
            own("same")
        }
        PinCheck::ManifestOnly { line } => {
            report.notices.push(Notice {
                code: "pin/new".to_owned(),
                gate: Gate::Pin,
                message: format!("the old pin ({file}:{line}) covered the manifest only"),
            });
            PinState { state: "manifest-only", manifest: report.manifest.clone(), tree: None }
        }
        PinCheck::Unpinned => PinState { state: "none", manifest: None, tree: None },
        PinCheck::Changed(changed) => {
            let (manifest, tree) = match &changed.pinned {
                Pinned::Tree(facts) => (facts.manifest.map(|d| d.to_string()), Some(facts.tree.to_string())),
                Pinned::Manifest(digest) => (Some(digest.to_string()), None),
            };
            PinState { state: "changed", manifest, tree }
        }
        PinCheck::Denied { .. } => PinState { state: "denied", manifest: None, tree: None },
    };
}

fn refusal(check: &PinCheck, code: &str, report: &PluginReport, file: &str) -> Reason {
    let id = &report.id;
    let (message, help, weight) = match check {
        PinCheck::Changed(changed) => (
            changed_text(changed, file),
            format!("plugward diff {id}"),
            Weight::Integrity,
        ),
        PinCheck::Denied { since, line } => (
            format!("denied since {since} ({file}:{line})"),
            format!("plugward allow {id}"),
            Weight::Denied,
        ),
        PinCheck::Same { .. } | PinCheck::ManifestOnly { .. } | PinCheck::Unpinned => (
            "not pinned, and this run enrolls nothing".to_owned(),
            "check it once without --trust locked and keep the pins, or write PLUGINS.lock: plugward lock DIR".to_owned(),
            Weight::Integrity,
        ),
    };
    Reason { code: code.to_owned(), gate: Gate::Pin, message, help, weight }
}

/// What differs, both digests of each, and where the pin stands.
fn changed_text(changed: &Changed, file: &str) -> String {
    let mut text = format!("not what was pinned ({file}:{})", changed.line);
    let absent = || "none".to_owned();
    for what in &changed.what {
        let (pinned, actual) = match (&changed.pinned, what) {
            (Pinned::Manifest(digest), _) => {
                (digest.to_string(), changed.actual.manifest.map_or_else(absent, |d| d.to_string()))
            }
            (Pinned::Tree(facts), What::Manifest) => (
                facts.manifest.map_or_else(absent, |d| d.to_string()),
                changed.actual.manifest.map_or_else(absent, |d| d.to_string()),
            ),
            (Pinned::Tree(facts), What::Tree) => (facts.tree.to_string(), changed.actual.tree.to_string()),
            (Pinned::Tree(facts), What::Entry) => (
                facts.entry.map_or_else(absent, |d| d.to_string()),
                changed.actual.entry.map_or_else(absent, |d| d.to_string()),
            ),
            (Pinned::Tree(facts), What::Signer) => (
                facts.signer.clone().unwrap_or_else(absent),
                changed.actual.signer.clone().unwrap_or_else(absent),
            ),
            (Pinned::Tree(facts), What::Shared) => {
                (format!("{:?}", facts.shared), format!("{:?}", changed.actual.shared))
            }
        };
        text.push_str(&format!("\n{} differs\npinned {pinned}\nactual {actual}", what.as_str()));
    }
    text
}

fn commit(
    walked: &mut [Walked],
    pending: Vec<Pending>,
    store: &mut PinStore,
    options: &CheckOptions,
) -> StoreFailed {
    let State::Open { pins, .. } = &mut store.0 else { return StoreFailed::No };
    let (places, changes): (Vec<usize>, Vec<Change>) =
        pending.into_iter().map(|pending| (pending.at, pending.change)).unzip();
    match pins.commit(changes.clone(), options.now) {
        Ok(committed) => {
            let file = pins.file_name().to_owned();
            for ((at, change), outcome) in places.into_iter().zip(changes).zip(&committed.outcomes) {
                if let Some(one) = walked.get_mut(at) {
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
                    unsaved(&mut one.report, options, error.code(), (&message, &help));
                }
            }
            StoreFailed::Yes
        }
    }
}

fn unsaved(
    report: &mut PluginReport,
    options: &CheckOptions,
    code: &'static str,
    (message, help): (&str, &str),
) {
    match options.on_store_error.on_unsaved(options.trust, code) {
        StoreDecision::LoadUnpinned(code) => report.notices.push(Notice {
            code: code.to_owned(),
            gate: Gate::Pin,
            message: format!("loads, and is enrolled next time: {message}"),
        }),
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
