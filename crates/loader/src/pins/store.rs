//! The pins, or why there are none to be had.

use cap_std::fs::Dir;
use plugward_pinstore::{
    BaselineError, Baselines, Change, Committed, InUse, Pins, StoreCheck, StoreError, Timestamp,
};
use plugward_state_file::{Owner, StateError};

use crate::report::{Gate, Notice};
use crate::text::chain;

/// The pins, or why there are none to be had.
///
/// # Source
/// ADR-003: a store that fails does not lock the user out, if the host says so with `StoreErrorRule::Warn`.
#[derive(Debug)]
pub struct PinStore(pub(super) State, Option<Baselines>);

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
pub(super) enum State {
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
                in_use.objects.extend(facts.entry);
            }
        }
        baselines.collect(&in_use).map(|_collected| ())
    }

    /// Gives why the pins cannot be used, where they cannot: then that none is found says nothing.
    #[must_use]
    pub fn failure(&self) -> Option<StoreFailure> {
        match &self.0 {
            State::Broken { code, message, help } => {
                Some(StoreFailure { code, message: message.clone(), help: help.clone() })
            }
            State::Empty | State::Open { .. } => None,
        }
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
