//! The record of one run.

use std::cell::RefCell;
use std::sync::Arc;

use plugward_capability::{Mint, Trail, Workflow};
use plugward_ledger::{Event, PluginSeen, Verdict};
use plugward_sandbox_path::Jail;

use super::failure::RecordFailure;
use super::ledger_name;
use super::races::Races;
use crate::report::{Decision, PluginReport};

/// Most records of one append; the ledger knows the same limit.
const MOST: usize = 1_000;
/// Bytes of the plugins that one `plugins_loaded` record lists; the ledger takes 64 KiB a record.
const LISTED: usize = 48 << 10;

/// Appends in pieces that the ledger takes; nothing of the next piece is written where one fails.
pub(super) fn append(trail: &Trail, events: &[Event]) -> Result<(), RecordFailure> {
    for piece in events.chunks(MOST) {
        trail.ledger().append(piece).map(drop).map_err(|error| RecordFailure::of_ledger(&error))?;
    }
    Ok(())
}

/// Lets the checkpoint file cover all records, so that the next run sees if one of them is altered or removed.
pub(super) fn anchor(trail: &Trail) -> Result<(), RecordFailure> {
    trail.ledger().anchor().map(drop).map_err(|error| RecordFailure::of_ledger(&error))
}

/// The record of one run.
#[derive(Debug)]
pub(crate) enum Run<'a> {
    /// Nothing is decided, nothing is written.
    Look,
    Open {
        mint: &'a Mint,
        workflow: Workflow,
        /// The observers of the jails of this run.
        races: RefCell<Vec<Arc<Races>>>,
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

    /// Returns the jail with an observer that puts every race in it on the record.
    pub(crate) fn watched(&self, jail: &Jail, label: &str) -> Jail {
        let Self::Open { mint, workflow, races } = self else { return jail.clone() };
        let seen = Arc::new(Races::new(mint.trail().clone(), workflow.id().clone(), label));
        races.borrow_mut().push(seen.clone());
        jail.clone().with_observer(seen)
    }

    /// Returns why a race could not be recorded, if one could not.
    pub(crate) fn unrecorded_race(&self) -> Option<RecordFailure> {
        let Self::Open { races, .. } = self else { return None };
        races.borrow().iter().find_map(|races| races.failure())
    }

    /// The last records of a run: what was decided about each plugin.
    pub(crate) fn decisions(&mut self, trust: &str, plugins: &[PluginReport]) {
        let Self::Open { workflow, .. } = self else { return };
        let id = workflow.id().as_str().to_owned();
        let seen: Vec<PluginSeen> = plugins
            .iter()
            .map(|plugin| PluginSeen {
                plugin: ledger_name(&plugin.key),
                digest: plugin.tree.clone().unwrap_or_default(),
                outcome: verdict(plugin.decision),
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
        events.extend(plugins.iter().map(|plugin| {
            let mut codes: Vec<String> = plugin.reasons.iter().map(|reason| reason.code.clone()).collect();
            codes.sort();
            codes.dedup();
            Event::Decision {
                workflow: Some(id.clone()),
                plugin: ledger_name(&plugin.key),
                outcome: verdict(plugin.decision),
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
        // JSON can escape each character of a name with a second one; the rest is keys and quotes.
        let size = one.plugin.len().saturating_mul(2).saturating_add(one.digest.len()).saturating_add(64);
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
