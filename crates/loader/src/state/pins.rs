//! The pin store, and what a run writes to it.

use cap_std::fs::Dir;
use plugward_pinstore::{
    BaselineError, Baselines, Change, ChangeOutcome, CommitReport, PinCheck, PinDecision, PinOrigin, Pins,
    StoreCheck, StoreDecision, StoreError, Timestamp, UsedDigests, WriteOutcome,
};
use plugward_state_file::{Owner, StateError};

use crate::gates::pin::PinOutcome;
use crate::report::text::chain;
use crate::report::{Gate, PinStatus};
use crate::run::examined::Examined;
use crate::run::options::{CheckOptions, FailureScope};
use crate::run::outcome::{Notice, Weight};

/// The pins, or the cause if they cannot be used.
///
/// A store that fails does not have to lock the user out: a host can choose `StoreErrorRule::Warn` (ADR-003
/// in `docs/source-documents.md`).
#[derive(Debug)]
pub struct PinStore(State, Option<Baselines>);

/// A store that could not be used for a change that the user requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct StoreFailure {
    code: &'static str,
    message: String,
    help: String,
}

impl StoreFailure {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Returns what to do next.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    pub(crate) fn new(code: &'static str, message: &str, help: &str) -> Self {
        Self { code, message: message.to_owned(), help: help.to_owned() }
    }

    pub(crate) fn of(error: &StoreError) -> Self {
        Self { code: error.code(), message: chain(error), help: error.help() }
    }

    /// Returns what happened, without the code.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

#[derive(Debug)]
enum State {
    /// There is no directory yet, and nothing will be written.
    Empty,
    Open {
        pins: Box<Pins>,
        check: StoreCheck,
    },
    Broken(StoreFailure),
}

impl PinStore {
    /// Creates a store without pins that writes none, for a look at a machine that has none.
    #[must_use]
    pub const fn empty() -> Self {
        Self(State::Empty, None)
    }

    /// Opens the pins in the user's configuration directory. The error of an unusable store is kept in the
    /// value.
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

    /// Adds the baselines, so that a later diff can show what changed.
    #[must_use]
    pub fn with_baselines(self, baselines: Baselines) -> Self {
        Self(self.0, Some(baselines))
    }

    /// Returns the baselines, if they were added.
    #[must_use]
    pub const fn baselines(&self) -> Option<&Baselines> {
        self.1.as_ref()
    }

    /// Returns the pins, if they could be read.
    #[must_use]
    pub const fn pins(&self) -> Option<&Pins> {
        match &self.0 {
            State::Open { pins, .. } => Some(pins),
            State::Empty | State::Broken(_) => None,
        }
    }

    /// Commits changes that the user requested, in one write.
    ///
    /// # Errors
    /// `pin/store` if the pins could not be read, `pin/not-saved` if the change could not be written.
    pub fn commit(&mut self, changes: Vec<Change>, now: Timestamp) -> Result<CommitReport, StoreFailure> {
        match &mut self.0 {
            State::Open { pins, .. } => pins.commit(changes, now).map_err(|error| StoreFailure {
                code: error.code(),
                message: chain(&error),
                help: error.help(),
            }),
            State::Empty => Err(StoreFailure {
                code: "pin/store",
                message: "the configuration directory does not exist yet".to_owned(),
                help: "check a directory first, which creates it".to_owned(),
            }),
            State::Broken(failure) => Err(failure.clone()),
        }
    }

    /// Limits the size of the baselines. Baselines without a pin are removed first.
    ///
    /// # Errors
    /// [`BaselineError`] if a baseline cannot be listed or removed. No pin depends on baselines.
    pub fn collect(&self) -> Result<(), BaselineError> {
        let (Some(pins), Some(baselines)) = (self.pins(), self.baselines()) else { return Ok(()) };
        let mut in_use = UsedDigests::default();
        for facts in pins.iter().flat_map(|(_, pin)| &pin.agreed).map(|agreed| &agreed.facts) {
            in_use.trees.insert(facts.tree);
            in_use.trees.extend(facts.shared.values().chain(&facts.closure).copied());
            in_use.surfaces.extend(facts.surface);
            in_use.objects.extend(facts.entry);
        }
        baselines.collect(&in_use).map(|_collected| ())
    }

    /// Returns the cause if the pins cannot be used. In that case, [`PinStore::pins`] does not mean that
    /// nothing is pinned.
    #[must_use]
    pub fn failure(&self) -> Option<StoreFailure> {
        match &self.0 {
            State::Broken(failure) => Some(failure.clone()),
            State::Empty | State::Open { .. } => None,
        }
    }

    pub(crate) const fn is_broken(&self) -> bool {
        matches!(self.0, State::Broken(_))
    }

    /// Returns the pins, `None` if there are none yet, or the cause if they cannot be read.
    pub(crate) const fn state(&self) -> Result<Option<&Pins>, &StoreFailure> {
        match &self.0 {
            State::Empty => Ok(None),
            State::Open { pins, .. } => Ok(Some(pins)),
            State::Broken(failure) => Err(failure),
        }
    }

    const fn pins_mut(&mut self) -> Option<&mut Pins> {
        match &mut self.0 {
            State::Open { pins, .. } => Some(pins),
            State::Empty | State::Broken(_) => None,
        }
    }

    /// Returns the notices about the store itself.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let notice = |code: &str, message: String| Notice::new(code, Gate::Pin, message);
        match &self.0 {
            State::Empty => Vec::new(),
            State::Broken(StoreFailure { code, message, help }) => {
                vec![notice(code, format!("{message}\nnext: {help}"))]
            }
            State::Open { pins, check } => {
                let mut out = Vec::new();
                if let StoreCheck::Recovered { fault } = check {
                    let file = pins.file_name();
                    let message = format!(
                        "{file} is {fault}; the backup was used, and the next commit repairs the file"
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
    State::Broken(StoreFailure { code: error.code(), message: chain(error), help: error.help() })
}

fn broken_state(error: &StateError) -> State {
    State::Broken(StoreFailure { code: "pin/store", message: chain(error), help: error.help() })
}

/// A change that the pin gate requests, with its plugin.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The index of the plugin.
    pub(crate) at: usize,
    pub(crate) change: Change,
}

impl Pending {
    /// Denials are committed even if nothing else is: the user's refusal does not depend on other plugins.
    pub(crate) const fn is_denial(&self) -> bool {
        matches!(self.change, Change::Deny { .. })
    }
}

/// Whether the store could not be read or written, which means exit code 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreFailed {
    Yes,
    No,
}

/// Commits the pending changes: denials first, then everything else in one write.
///
/// Under all-or-nothing, that write happens only if every change can be made, so a pin that another process
/// made meanwhile cannot leave some of the others behind.
pub(crate) fn commit(
    all: &mut [Examined],
    pending: Vec<Pending>,
    store: &mut PinStore,
    options: &CheckOptions,
) -> StoreFailed {
    let broken = if store.is_broken() { StoreFailed::Yes } else { StoreFailed::No };
    let Some(pins) = store.pins_mut() else { return broken };
    let (denials, others): (Vec<Pending>, Vec<Pending>) = pending.into_iter().partition(Pending::is_denial);
    let whole = |pins: &mut Pins, changes: Vec<Change>, now: Timestamp| match options.whole {
        FailureScope::AllOrNothing => pins.commit_whole(changes, now),
        FailureScope::EachAlone => pins.commit(changes, now),
    };
    let denied = one_write(all, denials, pins, options, &Pins::commit);
    let enrolled = one_write(all, others, pins, options, &whole);
    if denied == StoreFailed::Yes { denied } else { enrolled }
}

type Write<'a> = &'a dyn Fn(&mut Pins, Vec<Change>, Timestamp) -> Result<CommitReport, StoreError>;

fn one_write(
    all: &mut [Examined],
    pending: Vec<Pending>,
    pins: &mut Pins,
    options: &CheckOptions,
    write: Write<'_>,
) -> StoreFailed {
    if pending.is_empty() {
        return StoreFailed::No;
    }
    let changes: Vec<Change> = pending.iter().map(|pending| pending.change.clone()).collect();
    match write(pins, changes, options.now) {
        Ok(committed) => {
            let withheld = committed.wrote == WriteOutcome::Withheld;
            for (pending, outcome) in pending.into_iter().zip(&committed.outcomes) {
                let Some(one) = all.get_mut(pending.at) else { continue };
                // The plugin that prevented the write has the reason.
                if !(withheld && matches!(outcome, ChangeOutcome::Done)) {
                    committed_one(one, &pending.change, outcome);
                }
            }
            StoreFailed::No
        }
        Err(error) => {
            let message = chain(&error);
            for pending in pending {
                let Some(one) = all.get_mut(pending.at) else { continue };
                // Only a first pin is missing. A plugin that was moved or migrated stays pinned under its
                // old place or format.
                if is_first_pin(one, &pending.change) {
                    unsaved(one, &error, &message);
                }
            }
            StoreFailed::Yes
        }
    }
}

/// Returns `true` if a change pins a plugin that was not pinned before in any form.
fn is_first_pin(one: &Examined, change: &Change) -> bool {
    let carried = matches!(one.pin.status(), PinStatus::Moved | PinStatus::Migrated);
    matches!(change, Change::Enroll { .. }) && !carried
}

fn unsaved(one: &mut Examined, error: &StoreError, message: &str) {
    let options = &one.rules.options;
    match options.on_store_error.on_unsaved(options.trust, error.code()) {
        StoreDecision::LoadUnpinned(code) => {
            one.gate(Gate::Pin).note(code, format!("loads without a pin this time: {message}"));
            one.exceptions.push(format!("{}: {code}: {message}", one.id));
        }
        StoreDecision::Ask(code) | StoreDecision::Refuse(code) => {
            one.gate(Gate::Pin).add(code, Weight::Store, message, error.help());
        }
    }
}

fn committed_one(one: &mut Examined, change: &Change, outcome: &ChangeOutcome) {
    let Change::Enroll { observed, via, .. } = change else { return };
    match outcome {
        ChangeOutcome::Done if is_first_pin(one, change) => {
            let how = match via {
                PinOrigin::Tofu | PinOrigin::Same | PinOrigin::Moved => "pinned on first use",
                PinOrigin::Prompt | PinOrigin::Accept => "pinned after you agreed",
                PinOrigin::Lock => "pinned, since the accepted PLUGINS.lock lists it",
            };
            let message = format!("new plugin, {how}\n{}", observed.facts.tree);
            one.gate(Gate::Pin).note("pin/new", message);
            one.pin = PinOutcome::Enrolled;
        }
        ChangeOutcome::Done | ChangeOutcome::Already => {}
        ChangeOutcome::Conflict(check) => {
            let code = outcome.code().unwrap_or("pin/changed");
            let weight =
                if matches!(check, PinCheck::Denied { .. }) { Weight::Denied } else { Weight::Integrity };
            let message = "another process pinned or denied this plugin meanwhile";
            one.gate(Gate::Pin).add(code, weight, message, "review the difference, then decide again");
            one.pin =
                PinOutcome::Compared { check: check.clone(), decision: PinDecision::Refuse("pin/changed") };
        }
        other => {
            let code = other.code().unwrap_or("pin/not-saved");
            one.gate(Gate::Pin).add(code, Weight::Store, "the plugin could not be pinned", "check again");
        }
    }
}
