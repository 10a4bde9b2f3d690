//! The pins, or why they cannot be read; and what a run writes into them.

use cap_std::fs::Dir;
use plugward_pinstore::{
    BaselineError, Baselines, Change, Committed, InUse, Outcome, PinCheck, PinDecision, Pins, StoreCheck,
    StoreDecision, StoreError, Timestamp, Via, Wrote,
};
use plugward_state_file::{Owner, StateError};

use crate::examined::Examined;
use crate::gates::pin::PinOutcome;
use crate::options::{CheckOptions, Whole};
use crate::outcome::{Notice, Weight};
use crate::report::{Gate, PinStatus};
use crate::text::chain;

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

    /// Returns what to type or do next.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

#[derive(Debug)]
enum State {
    /// There is no directory yet, and nothing is to be written.
    Empty,
    Open {
        pins: Box<Pins>,
        check: StoreCheck,
    },
    Broken(StoreFailure),
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
            State::Empty | State::Broken(_) => None,
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
            State::Broken(failure) => Err(failure.clone()),
        }
    }

    /// Makes room in the baselines: what no pin refers to goes first.
    ///
    /// # Errors
    /// What could not be listed or removed; no pin depends on it.
    pub fn collect(&self) -> Result<(), BaselineError> {
        let (Some(pins), Some(baselines)) = (self.pins(), self.baselines()) else { return Ok(()) };
        let mut in_use = InUse::default();
        for facts in pins.iter().flat_map(|(_, pin)| &pin.agreed).map(|agreed| &agreed.facts) {
            in_use.trees.insert(facts.tree);
            in_use.trees.extend(facts.shared.values().copied());
            in_use.surfaces.extend(facts.surface);
            in_use.objects.extend(facts.entry);
        }
        baselines.collect(&in_use).map(|_collected| ())
    }

    /// Gives why the pins cannot be used, where they cannot: then that none is found says nothing.
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

    /// Returns the pins, `None` if there are none yet, or why they cannot be read.
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

    /// What is to be said of the store itself.
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
    State::Broken(StoreFailure { code: error.code(), message: chain(error), help: error.help() })
}

fn broken_state(error: &StateError) -> State {
    State::Broken(StoreFailure { code: "pin/store", message: chain(error), help: error.help() })
}

/// A change that the pin gate wants, and the plugin it is for.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The index of the plugin.
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

/// Commits what is pending: what a person denied first, then everything else in one write.
///
/// Under all-or-nothing that write is made only if it makes every change: a pin that another process made in between
/// leaves none of the others behind.
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
        Whole::AllOrNothing => pins.commit_whole(changes, now),
        Whole::EachAlone => pins.commit(changes, now),
    };
    let denied = one_write(all, denials, pins, options, &Pins::commit);
    let enrolled = one_write(all, others, pins, options, &whole);
    if denied == StoreFailed::Yes { denied } else { enrolled }
}

type Write<'a> = &'a dyn Fn(&mut Pins, Vec<Change>, Timestamp) -> Result<Committed, StoreError>;

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
            let withheld = committed.wrote == Wrote::Withheld;
            for (pending, outcome) in pending.into_iter().zip(&committed.outcomes) {
                let Some(one) = all.get_mut(pending.at) else { continue };
                // The plugin that stood in the way has the reason.
                if !(withheld && matches!(outcome, Outcome::Done)) {
                    committed_one(one, &pending.change, outcome);
                }
            }
            StoreFailed::No
        }
        Err(error) => {
            let message = chain(&error);
            for pending in pending {
                let Some(one) = all.get_mut(pending.at) else { continue };
                // What was pinned before is pinned all the same, under its old place or format.
                if is_first_pin(one, &pending.change) {
                    unsaved(one, options, &error, &message);
                }
            }
            StoreFailed::Yes
        }
    }
}

/// Whether a change pins a plugin that was not pinned in any form.
fn is_first_pin(one: &Examined, change: &Change) -> bool {
    let carried = matches!(one.pin.status(), PinStatus::Moved | PinStatus::Migrated);
    matches!(change, Change::Enroll { .. }) && !carried
}

fn unsaved(one: &mut Examined, options: &CheckOptions, error: &StoreError, message: &str) {
    match options.on_store_error.on_unsaved(options.trust, error.code()) {
        StoreDecision::LoadUnpinned(code) => {
            one.gate(Gate::Pin).note(code, format!("loads, and is pinned next time: {message}"));
            one.exceptions.push(format!("{}: {code}: {message}", one.id));
        }
        StoreDecision::Ask(code) | StoreDecision::Refuse(code) => {
            one.gate(Gate::Pin).add(code, Weight::Store, message, error.help());
        }
    }
}

fn committed_one(one: &mut Examined, change: &Change, outcome: &Outcome) {
    let Change::Enroll { observed, via, .. } = change else { return };
    match outcome {
        Outcome::Done if is_first_pin(one, change) => {
            let how = match via {
                Via::Tofu | Via::Same | Via::Moved => "pinned on first use",
                Via::Prompt | Via::Accept => "pinned after you agreed",
                Via::Lock => "pinned, since the accepted PLUGINS.lock names it",
            };
            let message = format!("new plugin, {how}\n{}", observed.facts.tree);
            one.gate(Gate::Pin).note("pin/new", message);
            one.pin = PinOutcome::Enrolled;
        }
        Outcome::Done | Outcome::Already => {}
        Outcome::Conflict(check) => {
            let code = outcome.code().unwrap_or("pin/changed");
            let weight =
                if matches!(check, PinCheck::Denied { .. }) { Weight::Denied } else { Weight::Integrity };
            let message = "another process pinned or denied this plugin in the meantime";
            one.gate(Gate::Pin).add(code, weight, message, "plugward diff {id}");
            one.pin =
                PinOutcome::Compared { check: check.clone(), decision: PinDecision::Refuse("pin/changed") };
        }
        other => {
            let code = other.code().unwrap_or("pin/not-saved");
            one.gate(Gate::Pin).add(code, Weight::Store, "the pin could not be made", "check again");
        }
    }
}
