//! What is written down: every decision, pin, exception and capability of a run, before it counts.

use std::sync::{Arc, Mutex};

use cap_std::fs::Dir;
use plugward_capability::{
    Budgets, Mint, RawWithNetwork, Trail, TrailError, TrailRules, Workflow, WorkflowId, folds,
};
use plugward_ledger::{
    Clock, Durability, Event, Ledger, LedgerError, LedgerId, Outcome, PluginSeen, Verdict,
};
use plugward_sandbox_path::{FilesystemRaceDetected, Jail, RaceObserver};

use crate::options::Writes;
use crate::report::{Decision, Gate, Notice, PluginReport, Reason, Weight};
use crate::scrub::SecretsOut;

/// Most records of one append; the ledger knows the same limit.
const MOST: usize = 1_000;
/// Bytes of the plugins that one `plugins_loaded` record lists; the ledger takes 64 KiB a record.
const LISTED: usize = 48 << 10;

/// Why something could not be written down. Nothing that needed the record has happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RecordFailure {
    code: String,
    message: String,
    help: String,
    weight: Weight,
}

impl RecordFailure {
    /// Says that there is no place for a ledger, with why and what to do.
    #[must_use]
    pub fn no_place(why: &str, help: &str) -> Self {
        Self {
            code: "mint/no-record".to_owned(),
            message: format!("there is no ledger to write to: {why}"),
            help: help.to_owned(),
            weight: Weight::CouldNotTell,
        }
    }

    pub(crate) fn of_ledger(error: &LedgerError) -> Self {
        Self::new(error.code(), error, error.help())
    }

    pub(crate) fn of_trail(error: &TrailError) -> Self {
        Self::new(error.code(), error, error.help())
    }

    fn new(code: &str, error: &dyn core::error::Error, help: &str) -> Self {
        // A ledger that is there and cannot be believed is a store; a full disk or a missing right is not.
        let weight = match code {
            "ledger/append" | "ledger/io" | "ledger/held" | "ledger/stopped" | "ledger/unsupported" => {
                Weight::CouldNotTell
            }
            _ => Weight::Store,
        };
        let message = crate::text::chain(error);
        Self { code: code.to_owned(), message, help: help.to_owned(), weight }
    }

    /// Gives the stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Says what a person types or does next.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Gives what it does to a decision and to the exit code.
    #[must_use]
    pub const fn weight(&self) -> Weight {
        self.weight
    }

    pub(crate) fn reason(&self) -> Reason {
        Reason {
            code: self.code.clone(),
            gate: Gate::Mint,
            message: format!("{}; what is not on the record does not load", self.message),
            help: self.help.clone(),
            weight: self.weight,
        }
    }

    pub(crate) fn notice(&self) -> Notice {
        let message = format!("{}\nnext: {}", self.message, self.help);
        Notice { code: self.code.clone(), gate: Gate::Mint, message }
    }
}

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
                let mint = crate::mint::start(trail, raw_with_network);
                Self(State::Open { mint, workflow, budgets })
            }
            Err(error) => Self::failed(RecordFailure::of_trail(&error)),
        }
    }

    /// Gives the trail, for uses of what was minted.
    #[must_use]
    pub const fn trail(&self) -> Option<&Trail> {
        match &self.0 {
            State::Open { mint, .. } => Some(mint.trail()),
            State::Nowhere | State::Failed(_) => None,
        }
    }

    /// Writes down what a person decided, before it is done. It belongs to no unit of work.
    ///
    /// # Errors
    /// What the ledger said; then it must not be done.
    pub fn note(&self, events: &[Event]) -> Result<(), RecordFailure> {
        match &self.0 {
            State::Open { mint, .. } => append(mint.trail(), events),
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
        trail.close_workflow(workflow, outcome).map_err(|error| RecordFailure::of_trail(&error))
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
            Ok(workflow) => Run::Open { mint, workflow },
            Err(error) => Run::Failed(RecordFailure::of_trail(&error)),
        }
    }
}

fn nowhere() -> RecordFailure {
    RecordFailure::no_place("the host keeps none", "open one: Record::open")
}

/// Appends in pieces that the ledger takes; nothing of the next piece is written where one fails.
fn append(trail: &Trail, events: &[Event]) -> Result<(), RecordFailure> {
    for piece in events.chunks(MOST) {
        trail.ledger().append(piece).map(drop).map_err(|error| RecordFailure::of_ledger(&error))?;
    }
    Ok(())
}

/// The record of one run.
#[derive(Debug)]
pub(crate) enum Run<'a> {
    /// Nothing is decided, nothing is written.
    Look,
    Open {
        mint: &'a Mint,
        workflow: Workflow,
    },
    /// Nothing can be written down, so nothing loads.
    Failed(RecordFailure),
}

impl Run<'_> {
    pub(crate) const fn failure(&self) -> Option<&RecordFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Look | Self::Open { .. } => None,
        }
    }

    /// Writes down what is about to be done. After a failure the run loads nothing any more.
    pub(crate) fn write(&mut self, events: &[Event]) {
        if let Self::Open { mint, .. } = self
            && !events.is_empty()
            && let Err(failure) = append(mint.trail(), events)
        {
            *self = Self::Failed(failure);
        }
    }

    pub(crate) fn fail(&mut self, failure: RecordFailure) {
        *self = Self::Failed(failure);
    }

    /// The folder, with every race in it on the record.
    pub(crate) fn watched(&self, jail: &Jail, label: &str) -> (Jail, Option<Arc<Races>>) {
        let Self::Open { mint, workflow } = self else { return (jail.clone(), None) };
        let races = Arc::new(Races {
            trail: mint.trail().clone(),
            workflow: workflow.id().clone(),
            jail: label.to_owned(),
            failed: Mutex::new(None),
        });
        (jail.clone().with_observer(races.clone()), Some(races))
    }

    /// The last records of a run: what was decided about each plugin.
    pub(crate) fn decisions(&mut self, trust: &str, plugins: &[(&PluginReport, Decision)]) {
        let Self::Open { workflow, .. } = self else { return };
        let id = workflow.id().as_str().to_owned();
        let seen: Vec<PluginSeen> = plugins
            .iter()
            .map(|(plugin, decision)| PluginSeen {
                plugin: plugin.id.clone(),
                digest: plugin.tree.clone().unwrap_or_default(),
                outcome: verdict(*decision),
            })
            .collect();
        let registry_digest = plugward_ledger::registry_digest(&seen);
        let mut events: Vec<Event> = pieces(seen)
            .into_iter()
            .map(|plugins| Event::PluginsLoaded {
                workflow: id.clone(),
                trust: trust.to_owned(),
                plugins,
                registry_digest,
            })
            .collect();
        events.extend(plugins.iter().map(|(plugin, decision)| {
            let mut codes: Vec<String> = plugin.reasons.iter().map(|reason| reason.code.clone()).collect();
            codes.sort();
            codes.dedup();
            Event::Decision {
                workflow: Some(id.clone()),
                plugin: plugin.id.clone(),
                outcome: verdict(*decision),
                codes,
                digest: plugin.tree.clone(),
            }
        }));
        self.write(&events);
    }
}

/// The list in pieces that fit in a record; at least one, also for a load of nothing.
fn pieces(seen: Vec<PluginSeen>) -> Vec<Vec<PluginSeen>> {
    let mut pieces = vec![Vec::new()];
    let mut bytes = 0_usize;
    for one in seen {
        // Ids are of few characters that JSON does not escape; the rest is keys and quotes.
        let size = one.plugin.len().saturating_add(one.digest.len()).saturating_add(64);
        bytes = bytes.saturating_add(size);
        if bytes > LISTED {
            bytes = size;
            pieces.push(Vec::new());
        }
        if let Some(last) = pieces.last_mut() {
            last.push(one);
        }
    }
    pieces
}

const fn verdict(decision: Decision) -> Verdict {
    match decision {
        Decision::Load => Verdict::Load,
        Decision::Ask => Verdict::Ask,
        Decision::Refuse => Verdict::Refuse,
    }
}

/// Writes down every race that a jail sees; the gate that met it refuses besides.
#[derive(Debug)]
pub(crate) struct Races {
    trail: Trail,
    workflow: WorkflowId,
    jail: String,
    failed: Mutex<Option<RecordFailure>>,
}

impl Races {
    /// The first race that could not be written down.
    pub(crate) fn failure(&self) -> Option<RecordFailure> {
        self.failed.lock().ok().and_then(|failed| failed.clone())
    }
}

impl RaceObserver for Races {
    fn race(&self, race: &FilesystemRaceDetected) {
        let path = String::from_utf8_lossy(race.relative().as_bytes()).into_owned();
        let written = self.trail.race(plugward_capability::Race {
            workflow: Some(&self.workflow),
            plugin: None,
            jail: &self.jail,
            path: &path,
            cause: &race.cause().to_string(),
            errno: race.raw_os_error().and_then(|errno| u32::try_from(errno).ok()),
        });
        if let Err(error) = written
            && let Ok(mut failed) = self.failed.lock()
        {
            failed.get_or_insert_with(|| RecordFailure::of_trail(&error));
        }
    }
}
