//! The record of one run.

use std::cell::RefCell;
use std::sync::Arc;

use plugward_capability::{Mint, Trail, Workflow};
use plugward_ledger::{LedgerEvent, LoadVerdict, PluginDecision};
use plugward_sandbox_path::Jail;

use super::failure::RecordFailure;
use super::ledger_name;
use super::races::Races;
use crate::report::{Decision, PluginReport};

/// The most events in one append; the ledger has the same limit.
const MOST: usize = 1_000;
/// The most bytes of plugins in one `plugins_loaded` event. The ledger takes 64 KiB per event.
const LISTED: usize = 48 << 10;

/// Appends events in chunks that the ledger accepts. If a chunk fails, the following ones are not written.
pub(super) fn append(trail: &Trail, events: &[LedgerEvent]) -> Result<(), RecordFailure> {
    for piece in events.chunks(MOST) {
        trail.ledger().append(piece).map(drop).map_err(|error| RecordFailure::of_ledger(&error))?;
    }
    Ok(())
}

/// Updates the checkpoint to cover all records, so that the next run detects changed or removed ones.
pub(super) fn anchor(trail: &Trail) -> Result<(), RecordFailure> {
    trail.ledger().anchor().map(drop).map_err(|error| RecordFailure::of_ledger(&error))
}

/// The digest in the record of a plugin whose tree was not read.
pub(crate) const UNREAD: &str = "unread";

/// The record of one run.
#[derive(Debug)]
pub(crate) enum Run<'a> {
    /// Nothing is decided or written.
    Look,
    Open {
        mint: &'a Mint,
        workflow: Workflow,
        /// The race observers of the jails in this run.
        races: RefCell<Vec<Arc<Races>>>,
    },
    /// The ledger failed, so nothing loads.
    Failed(RecordFailure),
}

impl Run<'_> {
    pub(crate) const fn failure(&self) -> Option<&RecordFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Look | Self::Open { .. } => None,
        }
    }

    /// Records events before they take effect. After a failure, the run loads nothing any more.
    pub(crate) fn write(&mut self, events: &[LedgerEvent]) {
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

    /// Returns the jail with an observer that records every race in it.
    pub(crate) fn watched(&self, jail: &Jail, label: &str) -> Jail {
        let Self::Open { mint, workflow, races } = self else { return jail.clone() };
        let seen = Arc::new(Races::new(mint.trail().clone(), workflow.id().clone(), label));
        races.borrow_mut().push(seen.clone());
        jail.clone().with_observer(seen)
    }

    /// Returns the error of a race that could not be recorded, if any.
    pub(crate) fn unrecorded_race(&self) -> Option<RecordFailure> {
        let Self::Open { races, .. } = self else { return None };
        races.borrow().iter().find_map(|races| races.failure())
    }

    /// Records the decision about each plugin, at the end of a run.
    pub(crate) fn decisions(&mut self, trust: &str, plugins: &[PluginReport]) {
        let Self::Open { workflow, .. } = self else { return };
        let id = workflow.id().as_str().to_owned();
        let seen: Vec<PluginDecision> = plugins
            .iter()
            .map(|plugin| PluginDecision {
                plugin: ledger_name(&plugin.key),
                digest: plugin.tree.clone().unwrap_or_else(|| UNREAD.to_owned()),
                outcome: verdict(plugin.decision),
            })
            .collect();
        let registry_digest = plugward_ledger::registry_digest(&seen);
        let mut events: Vec<LedgerEvent> = pieces(seen)
            .into_iter()
            .map(|plugins| LedgerEvent::PluginsLoaded {
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
            LedgerEvent::Decision {
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

/// Splits the list so that each part fits in an event. An empty list has one part.
fn pieces(seen: Vec<PluginDecision>) -> Vec<Vec<PluginDecision>> {
    let mut pieces = vec![Vec::new()];
    let mut bytes = 0_usize;
    for one in seen {
        // JSON can escape each character of a name, which doubles it; 64 bytes are for keys and quotes.
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

const fn verdict(decision: Decision) -> LoadVerdict {
    match decision {
        Decision::Load => LoadVerdict::Load,
        Decision::Ask => LoadVerdict::Ask,
        Decision::Refuse => LoadVerdict::Refuse,
    }
}
