//! The pin store, and what a run writes to it.

use std::collections::BTreeSet;

use cap_std::fs::Dir;
use plugward_ledger::{LedgerError, LedgerEvent, LedgerFiles, LedgerRecord};
use plugward_pinstore::{
    BaselineError, Baselines, Change, ChangeOutcome, CommitReport, PinCheck, PinDecision, PinOrigin, Pins,
    StoreCheck, StoreDecision, StoreError, StoreNotice, Timestamp, UsedDigests, WriteOutcome,
};
use plugward_state_file::{Owner, StateError, StateWarning};
use plugward_types::TreeDigest;

use crate::contents::hash::sha256;
use crate::gates::pin::PinOutcome;
use crate::report::text::chain;
use crate::report::{Gate, PinStatus};
use crate::run::examined::Examined;
use crate::run::options::{CheckOptions, FailureScope};
use crate::run::outcome::{Notice, Weight};
use crate::state::denials::RecordedDenials;
use crate::state::gated::GateRecord;

/// The code of pins that are gone.
const LOST: &str = "pin/lost";

/// The pins, or the cause if they cannot be used.
///
/// A store that fails does not have to lock the user out: a host can choose `StoreErrorRule::Warn` (ADR-003
/// in `docs/source-documents.md`).
#[derive(Debug)]
pub struct PinStore {
    state: State,
    baselines: Option<Baselines>,
    /// The path of the file, by which the ledger knows it.
    path: Option<String>,
    /// The denials in the ledger, for a store that cannot be read.
    denials: Option<RecordedDenials>,
    /// The ledger, to look up what hosts asked about before they installed it.
    ledger: Option<LedgerFiles>,
}

/// A store that could not be used for a change that the user requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct StoreFailure {
    code: &'static str,
    message: String,
    help: String,
    path: Option<String>,
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
        Self { code, message: message.to_owned(), help: help.to_owned(), path: None }
    }

    pub(crate) fn of(error: &StoreError) -> Self {
        Self { code: error.code(), message: chain(error), help: error.help(), path: None }
    }

    /// Returns the path of the file, if the host told it.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
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
        Self::of(State::Empty)
    }

    const fn of(state: State) -> Self {
        Self { state, baselines: None, path: None, denials: None, ledger: None }
    }

    /// Creates a store whose file and backup are gone, although the ledger knows that they had pins.
    ///
    /// It cannot be read or written. The user restores the file, or starts over.
    #[must_use]
    pub fn lost(path: &str, pins: u64) -> Self {
        let plugins = if pins == 1 { "1 plugin".to_owned() } else { format!("{pins} plugins") };
        Self::of(State::Broken(StoreFailure {
            code: LOST,
            message: format!("your pins at {path} are gone ({plugins})"),
            help: "restore the file from a backup".to_owned(),
            path: Some(path.to_owned()),
        }))
    }

    /// Opens the pins in the user's configuration directory. The error of an unusable store is kept in the
    /// value.
    #[must_use]
    pub fn open(dir: &Dir, owner: Owner) -> Self {
        let opened = Pins::file(dir, owner)
            .map_err(|error| broken_state(&error))
            .and_then(|file| Pins::open(&file).map_err(|error| broken(&error)));
        match opened {
            Ok((pins, check)) => Self::of(State::Open { pins: Box::new(pins), check }),
            Err(state) => Self::of(state),
        }
    }

    /// Sets the path of the file. Each run then records in the ledger how many pins it has, so that
    /// [`PinStore::recorded`] can tell a lost file from a new one.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        if let State::Broken(failure) = &mut self.state {
            failure.path = Some(path.to_owned());
        }
        Self { path: Some(path.to_owned()), ..self }
    }

    /// Adds the denials in the ledger. They apply while the pins cannot be read, and without them the rule
    /// [`StoreErrorRule::Ask`](plugward_pinstore::StoreErrorRule::Ask) asks nobody.
    #[must_use]
    pub fn with_denials(self, denials: Option<RecordedDenials>) -> Self {
        Self { denials, ..self }
    }

    /// Adds the ledger, in which a first check looks for what a host asked about before it installed the plugin.
    #[must_use]
    pub fn with_ledger(self, ledger: Option<LedgerFiles>) -> Self {
        Self { ledger, ..self }
    }

    /// Returns what the ledger says about an installation.
    pub(crate) fn gated(&self, host: &str, id: &str, trees: &BTreeSet<TreeDigest>) -> GateRecord {
        self.ledger.as_ref().map_or(GateRecord::None, |ledger| GateRecord::find(ledger, host, id, trees))
    }

    /// Returns the denials that apply because the pins cannot be read.
    #[must_use]
    pub fn recorded_denials(&self) -> Option<&RecordedDenials> {
        self.denials.as_ref().filter(|_| self.is_broken())
    }

    /// Returns `true` if a person may be asked to load plugins without pins: what they denied is known.
    ///
    /// For pins that are gone there is another question, whether to start over.
    pub(crate) fn can_ask(&self) -> bool {
        let is_lost = matches!(&self.state, State::Broken(failure) if failure.code == LOST);
        self.denials.is_some() && !is_lost
    }

    /// Returns `true` if neither the file nor its backup exists.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        matches!(self.state, State::Empty | State::Open { check: StoreCheck::Empty, .. })
    }

    /// Returns the number of pins that a pins file had at the end of the last recorded run, or `None` if no run is
    /// recorded.
    ///
    /// # Errors
    /// `ledger/io` if the ledger exists and cannot be read.
    pub fn recorded(ledger: &LedgerFiles, path: &str) -> Result<Option<u64>, LedgerError> {
        let name = recorded_path(path);
        let pins_of = |record: &LedgerRecord| match record.event() {
            Some(LedgerEvent::PinsStored { file, pins }) if *file == name => Some(*pins),
            _ => None,
        };
        let last = ledger.find_last("pins_stored", |record| pins_of(record).is_some())?;
        Ok(last.as_ref().and_then(pins_of))
    }

    /// Returns the record of the number of pins, unless there is no file or its path is not known.
    pub(crate) fn stored(&self) -> Option<LedgerEvent> {
        let (pins, path) = (self.pins()?, self.path.as_deref()?);
        if self.is_new() && pins.serial() == 0 {
            return None;
        }
        let old = pins.manifest_only().map(drop);
        let pins = u64::try_from(pins.iter().map(drop).chain(old).count()).unwrap_or(u64::MAX);
        Some(LedgerEvent::PinsStored { file: recorded_path(path), pins })
    }

    /// Adds the baselines, so that a later diff can show what changed.
    #[must_use]
    pub fn with_baselines(self, baselines: Baselines) -> Self {
        Self { baselines: Some(baselines), ..self }
    }

    /// Returns the baselines, if they were added.
    #[must_use]
    pub const fn baselines(&self) -> Option<&Baselines> {
        self.baselines.as_ref()
    }

    /// Returns the pins, if they could be read.
    #[must_use]
    pub const fn pins(&self) -> Option<&Pins> {
        match &self.state {
            State::Open { pins, .. } => Some(pins),
            State::Empty | State::Broken(_) => None,
        }
    }

    /// Commits changes that the user requested, in one write.
    ///
    /// # Errors
    /// `pin/store` if the pins could not be read, `pin/not-saved` if the change could not be written.
    pub fn commit(&mut self, changes: Vec<Change>, now: Timestamp) -> Result<CommitReport, StoreFailure> {
        match &mut self.state {
            State::Open { pins, .. } => {
                let path = self.path.clone();
                pins.commit(changes, now).map_err(|error| StoreFailure { path, ..StoreFailure::of(&error) })
            }
            State::Empty => Err(StoreFailure::new(
                "pin/store",
                "the configuration directory does not exist yet",
                "check a directory first, which creates it",
            )),
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
        // A replaced state is only recognized and not compared, so its texts are not needed.
        let agreed = pins.iter().flat_map(|(_, pin)| &pin.agreed).filter(|state| state.superseded.is_none());
        for facts in agreed.map(|agreed| &agreed.facts) {
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
        match &self.state {
            State::Broken(failure) => Some(failure.clone()),
            State::Empty | State::Open { .. } => None,
        }
    }

    pub(crate) const fn is_broken(&self) -> bool {
        matches!(self.state, State::Broken(_))
    }

    /// Returns the pins, `None` if there are none yet, or the cause if they cannot be read.
    pub(crate) const fn state(&self) -> Result<Option<&Pins>, &StoreFailure> {
        match &self.state {
            State::Empty => Ok(None),
            State::Open { pins, .. } => Ok(Some(pins)),
            State::Broken(failure) => Err(failure),
        }
    }

    const fn pins_mut(&mut self) -> Option<&mut Pins> {
        match &mut self.state {
            State::Open { pins, .. } => Some(pins),
            State::Empty | State::Broken(_) => None,
        }
    }

    /// Returns the text of a notice, with a command that can be typed as it is if the path is known.
    fn text(&self, notice: &StoreNotice) -> String {
        let StoreNotice::File(warning) = notice else { return notice.help() };
        let Some((directory, file)) = self.path.as_deref().and_then(|path| path.rsplit_once('/')) else {
            return notice.help();
        };
        let path = match warning {
            StateWarning::DirectoryGroupWritable => directory.to_owned(),
            _ => format!("{directory}/{file}"),
        };
        format!("the group can write {path}\nnext: chmod g-w '{path}'")
    }

    /// Returns the notices about the store itself.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let notice = |code: &str, message: String| Notice::new(code, Gate::Pin, message);
        match &self.state {
            State::Empty => Vec::new(),
            State::Broken(StoreFailure { code, message, help, path: _ }) => {
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
                out.extend(pins.notices().iter().map(|n| notice(n.code(), self.text(n))));
                out
            }
        }
    }
}

/// Returns the name of a pins file in the ledger, which shortens long texts: its path, or else the digest of it.
fn recorded_path(path: &str) -> String {
    const LONGEST: usize = 1_000;
    if path.len() <= LONGEST { path.to_owned() } else { sha256(path.as_bytes()).to_string() }
}

fn broken(error: &StoreError) -> State {
    State::Broken(StoreFailure::of(error))
}

fn broken_state(error: &StateError) -> State {
    State::Broken(StoreFailure::new("pin/store", &chain(error), &error.help()))
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
    match StoreDecision::of_unsaved(options.on_store_error, options.trust, error.code()) {
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
