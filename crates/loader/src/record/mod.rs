//! The record of a run in the ledger: every decision, pin, exception and capability, before it takes
//! effect.

mod failure;
mod launches;
mod races;
mod run;
pub(crate) mod scrub;

use std::cell::RefCell;

use cap_std::fs::Dir;
use plugward_capability::{
    AnyScope, Budgets, CapabilityBundle, HostModuleCapability, Mint, ModuleScope, PluginName, RawWithNetwork,
    Trail, TrailRules, Workflow, WorkflowId, folds,
};
use plugward_ledger::{Clock, Durability, Ledger, LedgerEvent, LedgerId, UseOutcome};
use plugward_types::PluginKey;

use crate::record::scrub::SecretScrubber;
use crate::run::options::CheckMode;

pub use failure::RecordFailure;
pub(crate) use failure::refusal_help;
pub use launches::{LaunchLog, LaunchSubject};
pub(crate) use run::{Run, UNREAD};
use run::{anchor, append};

/// Options for the ledger. There is no `Default`: every host decides each option.
#[expect(clippy::exhaustive_structs, reason = "every host must decide a new option")]
pub struct RecordOptions {
    /// The id for a new ledger: 16 bytes from the system's random source.
    pub new_id: LedgerId,
    /// The time in records.
    pub clock: Box<dyn Clock>,
    /// The workflow to which the records of a run belong.
    pub workflow: WorkflowId,
    /// The limits of the workflow.
    pub budgets: Budgets,
    /// Whether a hook can have raw output together with network access.
    pub raw_with_network: RawWithNetwork,
}

impl core::fmt::Debug for RecordOptions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RecordOptions").field("workflow", &self.workflow).finish_non_exhaustive()
    }
}

/// The ledger of a run, or the cause if there is none.
///
/// # Guarantees
/// A run that can write loads nothing without a ledger.
#[derive(Debug)]
pub struct Record(State);

#[derive(Debug)]
enum State {
    Nowhere,
    Open { mint: Mint, workflow: WorkflowId, budgets: Budgets },
    Failed(RecordFailure),
}

impl Record {
    /// Creates a record that stores nothing, for a look without decisions. A run that can write loads
    /// nothing with it.
    #[must_use]
    pub const fn nowhere() -> Self {
        Self(State::Nowhere)
    }

    /// Creates a record without a ledger, with the cause. Nothing loads.
    #[must_use]
    pub const fn failed(failure: RecordFailure) -> Self {
        Self(State::Failed(failure))
    }

    /// Opens the ledger in the user's state directory. The error of an unusable ledger is kept in the
    /// value.
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

    /// Creates a record from an open ledger, for example one in memory. It must use
    /// [`plugward_capability::folds`].
    #[must_use]
    pub fn on(
        ledger: Ledger,
        workflow: WorkflowId,
        budgets: Budgets,
        raw_with_network: RawWithNetwork,
    ) -> Self {
        let scrub = match SecretScrubber::new() {
            Ok(scrub) => scrub,
            Err(why) => {
                return Self::failed(RecordFailure::no_place(&why, "this is a bug; please report it"));
            }
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

    /// Returns the trail, which records uses of capabilities.
    #[must_use]
    pub const fn trail(&self) -> Option<&Trail> {
        match &self.0 {
            State::Open { mint, .. } => Some(mint.trail()),
            State::Nowhere | State::Failed(_) => None,
        }
    }

    /// Returns the cause if there is no ledger.
    #[must_use]
    pub const fn failure(&self) -> Option<&RecordFailure> {
        match &self.0 {
            State::Failed(failure) => Some(failure),
            State::Open { .. } | State::Nowhere => None,
        }
    }

    /// Records a decision of the user before it takes effect. It belongs to no workflow.
    ///
    /// # Errors
    /// [`RecordFailure`] if the ledger cannot be written. The decision must then not take effect.
    pub fn note(&self, events: &[LedgerEvent]) -> Result<(), RecordFailure> {
        match &self.0 {
            State::Open { mint, .. } => append(mint.trail(), events).and_then(|()| anchor(mint.trail())),
            State::Failed(failure) => Err(failure.clone()),
            State::Nowhere => Err(nowhere()),
        }
    }

    /// Returns the log of starts.
    ///
    /// # Errors
    /// [`RecordFailure`] if there is no ledger.
    pub fn launches(&self) -> Result<LaunchLog, RecordFailure> {
        let State::Open { mint, workflow, .. } = &self.0 else {
            return Err(self.failure().cloned().unwrap_or_else(nowhere));
        };
        Ok(LaunchLog::new(mint.trail().clone(), workflow.clone()))
    }

    /// Grants capabilities that the user named in a command or in the settings, in the workflow of this record.
    ///
    /// # Errors
    /// [`RecordFailure`] if the grant is refused, or the ledger cannot be written.
    pub fn grant(
        &self,
        plugin: &PluginName,
        scopes: Vec<AnyScope>,
    ) -> Result<(CapabilityBundle, Workflow), RecordFailure> {
        let (mint, workflow) = self.workflow()?;
        let bundle = crate::gates::mint::bundle(mint, &workflow, plugin, scopes)?;
        Ok((bundle, workflow))
    }

    /// Grants modules that the user named in a command, in the workflow of this record.
    ///
    /// # Errors
    /// [`RecordFailure`] if the grant is refused, or the ledger cannot be written.
    pub fn grant_modules(
        &self,
        plugin: PluginName,
        scope: ModuleScope,
    ) -> Result<(HostModuleCapability, Workflow), RecordFailure> {
        let (mint, workflow) = self.workflow()?;
        let capability = crate::gates::mint::modules(mint, &workflow, plugin, scope)?;
        Ok((capability, workflow))
    }

    /// Opens the workflow of this record, or joins it.
    fn workflow(&self) -> Result<(&Mint, Workflow), RecordFailure> {
        let State::Open { mint, workflow, budgets } = &self.0 else {
            return Err(self.failure().cloned().unwrap_or_else(nowhere));
        };
        let workflow = mint.trail().open_workflow(workflow.clone(), budgets);
        Ok((mint, workflow.map_err(|error| RecordFailure::of_trail(&error))?))
    }

    /// Closes a workflow. Capabilities that were minted in it cannot be used any more.
    ///
    /// # Errors
    /// [`RecordFailure`] if the ledger cannot be written.
    pub fn close(&self, workflow: Workflow, outcome: UseOutcome) -> Result<(), RecordFailure> {
        let Some(trail) = self.trail() else { return Err(nowhere()) };
        trail.close_workflow(workflow, outcome).map_err(|error| RecordFailure::of_trail(&error))?;
        anchor(trail)
    }

    /// Starts the workflow of a run.
    pub(crate) fn begin(&self, writes: CheckMode) -> Run<'_> {
        let (mint, id, budgets) = match (&self.0, writes) {
            (_, CheckMode::LookOnly) => return Run::Look,
            (State::Nowhere, CheckMode::Commit) => return Run::Failed(nowhere()),
            (State::Failed(failure), CheckMode::Commit) => return Run::Failed(failure.clone()),
            (State::Open { mint, workflow, budgets }, CheckMode::Commit) => (mint, workflow, budgets),
        };
        match mint.trail().open_workflow(id.clone(), budgets) {
            Ok(workflow) => Run::Open { mint, workflow, races: RefCell::default() },
            Err(error) => Run::Failed(RecordFailure::of_trail(&error)),
        }
    }
}

/// Returns a plugin's name in the ledger: its key, or the digest of a key that is too long or not
/// printable.
#[must_use]
pub fn ledger_name(key: &PluginKey) -> String {
    let text = key.to_string();
    if PluginName::new(&text).is_ok() {
        return text;
    }
    format!("path:{}", crate::contents::hash::sha256(text.as_bytes()))
}

fn nowhere() -> RecordFailure {
    RecordFailure::no_place("the host keeps none", "open a ledger with `Record::open`")
}
