//! What is written down: every decision, pin, exception and capability of a run, before it counts.

mod failure;
mod races;
mod run;

use std::cell::RefCell;

use cap_std::fs::Dir;
use plugward_capability::{Budgets, Mint, RawWithNetwork, Trail, TrailRules, Workflow, WorkflowId, folds};
use plugward_ledger::{Clock, Durability, Event, Ledger, LedgerId, Outcome};

use plugward_types::PluginKey;

use crate::options::Writes;
use crate::scrub::SecretsOut;

pub use failure::RecordFailure;
pub(crate) use run::Run;
use run::{anchor, append};

/// How a record is kept. It has no default: a host chooses.
#[expect(clippy::exhaustive_structs, reason = "a new choice must stop every host from building")]
pub struct RecordOptions {
    /// The id of a ledger that is made anew: 16 bytes of the system's random source.
    pub new_id: LedgerId,
    /// The time that is written into records.
    pub clock: Box<dyn Clock>,
    /// The unit of work that the records of a run belong to.
    pub workflow: WorkflowId,
    /// Its limits.
    pub budgets: Budgets,
    /// Raw hook output together with a way to the network.
    pub raw_with_network: RawWithNetwork,
}

impl core::fmt::Debug for RecordOptions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RecordOptions").field("workflow", &self.workflow).finish_non_exhaustive()
    }
}

/// The ledger of a run, or why there is none.
///
/// # Guarantees
/// There is no way to load without it: a run that may write and has no record loads nothing.
///
/// # Source
/// ADR-0011's spanning log, whose sink was empty and whose `mint` nobody called.
#[derive(Debug)]
pub struct Record(State);

#[derive(Debug)]
enum State {
    Nowhere,
    Open { mint: Mint, workflow: WorkflowId, budgets: Budgets },
    Failed(RecordFailure),
}

impl Record {
    /// Keeps nothing: for looks that decide nothing. A run that may write loads nothing with it.
    #[must_use]
    pub const fn nowhere() -> Self {
        Self(State::Nowhere)
    }

    /// Says why there is no ledger; nothing loads.
    #[must_use]
    pub const fn failed(failure: RecordFailure) -> Self {
        Self(State::Failed(failure))
    }

    /// Opens the ledger in the user's state folder. One that cannot be used is kept as that.
    #[must_use]
    pub fn open(dir: &Dir, options: RecordOptions) -> Self {
        let RecordOptions { new_id, clock, workflow, budgets, raw_with_network } = options;
        let opened = Ledger::open(dir, new_id, clock, Durability::Decisions, folds())
            .map_err(|error| RecordFailure::of_ledger(&error));
        match opened {
            Ok(opened) => Self::on(opened.ledger, workflow, budgets, raw_with_network),
            Err(failure) => Self::failed(failure),
        }
    }

    /// Takes a ledger that was opened with the folds of [`plugward_capability::folds`], in memory for example.
    #[must_use]
    pub fn on(
        ledger: Ledger,
        workflow: WorkflowId,
        budgets: Budgets,
        raw_with_network: RawWithNetwork,
    ) -> Self {
        let scrub = match SecretsOut::new() {
            Ok(scrub) => scrub,
            Err(why) => return Self::failed(RecordFailure::no_place(&why, "report this: it is a defect")),
        };
        match Trail::open(ledger, TrailRules { scrub: Box::new(scrub) }) {
            Ok(trail) => {
                let mint = crate::gates::mint::start(trail, raw_with_network);
                Self(State::Open { mint, workflow, budgets })
            }
            Err(error) => Self::failed(RecordFailure::of_trail(&error)),
        }
    }

    pub(crate) const fn is_nowhere(&self) -> bool {
        matches!(self.0, State::Nowhere)
    }

    /// Gives the trail, for uses of what was minted.
    #[must_use]
    pub const fn trail(&self) -> Option<&Trail> {
        match &self.0 {
            State::Open { mint, .. } => Some(mint.trail()),
            State::Nowhere | State::Failed(_) => None,
        }
    }

    /// Says why there is no ledger, where there is none.
    #[must_use]
    pub const fn failure(&self) -> Option<&RecordFailure> {
        match &self.0 {
            State::Failed(failure) => Some(failure),
            State::Open { .. } | State::Nowhere => None,
        }
    }

    /// Writes down what a person decided, before it is done. It belongs to no unit of work.
    ///
    /// # Errors
    /// What the ledger said; then it must not be done.
    pub fn note(&self, events: &[Event]) -> Result<(), RecordFailure> {
        match &self.0 {
            State::Open { mint, .. } => append(mint.trail(), events).and_then(|()| anchor(mint.trail())),
            State::Failed(failure) => Err(failure.clone()),
            State::Nowhere => Err(nowhere()),
        }
    }

    /// Closes a unit of work: nothing that was minted in it can be used from here on.
    ///
    /// # Errors
    /// What the ledger said.
    pub fn close(&self, workflow: Workflow, outcome: Outcome) -> Result<(), RecordFailure> {
        let Some(trail) = self.trail() else { return Err(nowhere()) };
        trail.close_workflow(workflow, outcome).map_err(|error| RecordFailure::of_trail(&error))?;
        anchor(trail)
    }

    /// Begins the unit of work of a run.
    pub(crate) fn begin(&self, writes: Writes) -> Run<'_> {
        let (mint, id, budgets) = match (&self.0, writes) {
            (_, Writes::LookOnly) => return Run::Look,
            (State::Nowhere, Writes::Commit) => return Run::Failed(nowhere()),
            (State::Failed(failure), Writes::Commit) => return Run::Failed(failure.clone()),
            (State::Open { mint, workflow, budgets }, Writes::Commit) => (mint, workflow, budgets),
        };
        match mint.trail().open_workflow(id.clone(), budgets) {
            Ok(workflow) => Run::Open { mint, workflow, races: RefCell::default() },
            Err(error) => Run::Failed(RecordFailure::of_trail(&error)),
        }
    }
}

/// Returns how the ledger calls a plugin: its key, or the digest of a key that is too long or cannot be printed.
#[must_use]
pub fn ledger_name(key: &PluginKey) -> String {
    let text = key.to_string();
    if plugward_capability::Name::new(&text).is_ok() {
        return text;
    }
    format!("path:{}", crate::hash::sha256(text.as_bytes()))
}

fn nowhere() -> RecordFailure {
    RecordFailure::no_place("the host keeps none", "open one: Record::open")
}
