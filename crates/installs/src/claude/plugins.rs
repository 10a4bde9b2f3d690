//! The plugins in the record and in the settings.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{InstalledId, PlacePath};

use super::markets::{Market, Markets};
use super::records::{Records, Row};
use super::{Context, RowMessage};
use crate::collector::{Collector, join, place, shown};
use crate::{HostState, Install, InstallProblemKind, RecordPlace};

/// The suffixes of ids that never have a row: the host finds these plugins by other means.
const WITHOUT_ROWS: &[&str] = &["builtin", "inline", "skills-dir", "synced"];

/// What the record covers.
#[derive(Default)]
pub(super) struct Covered {
    /// The ids that are on and have no directory yet.
    pub(super) wanted: BTreeMap<InstalledId, Wanted>,
    /// The real paths of all rows.
    pub(super) places: BTreeSet<PlacePath>,
}

/// An id that is on and has no directory.
pub(super) struct Wanted {
    pub(super) record: RecordPlace,
    /// A problem of its row already says so.
    pub(super) is_reported: bool,
}

/// Adds the plugins of the record and the settings, and returns what they cover.
pub(super) fn add(
    found: &mut Collector<'_>,
    context: &Context,
    markets: &mut Markets,
    records: &Records,
) -> Covered {
    let recorded: BTreeSet<&InstalledId> = records.iter().map(|(id, _)| id).collect();
    let mut covered = Covered::default();
    for (id, rows) in records {
        let market = markets.of(found, id);
        let record = rows.first().map_or_else(|| place(&context.roots.plugins, ""), |row| row.record.clone());
        let former_ids = market.former_ids(id, |old| recorded.contains(old));
        Plugin { id, rows, market, former_ids, record }.add(found, context, &mut covered);
    }
    for setting in context.settings.enabled.values().filter(|setting| setting.is_on) {
        // An id without a marketplace cannot be fetched.
        let market = setting.id.market().filter(|market| !WITHOUT_ROWS.contains(market));
        if market.is_none() || recorded.contains(&setting.id) {
            continue;
        }
        let market = markets.of(found, &setting.id);
        let former_ids = market.former_ids(&setting.id, |old| recorded.contains(old));
        let record = setting.record.clone();
        Plugin { id: &setting.id, rows: &[], market, former_ids, record }.add(found, context, &mut covered);
    }
    covered
}

/// One id of the record or the settings.
struct Plugin<'a> {
    id: &'a InstalledId,
    rows: &'a [Row],
    market: &'a Market,
    former_ids: Vec<InstalledId>,
    record: RecordPlace,
}

/// The result of looking for the directory of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowOutcome {
    Added,
    Refused,
    Missing,
}

impl Plugin<'_> {
    fn add(self, found: &mut Collector<'_>, context: &Context, covered: &mut Covered) {
        for row in self.rows {
            covered.places.extend(found.machine.files.real(&row.path));
        }
        let state = context.settings.state(self.id);
        if let Some(fault) = self.market.fault(self.id) {
            let message = RowMessage { record: fault.record.clone(), message: fault.message.clone() };
            return context.row_problem(found, self.id, state, message);
        }
        let in_place =
            self.market.in_place.get(self.id.name()).and_then(|path| found.machine.files.real(path));
        if let Some(real) = in_place {
            let version = self.rows.first().and_then(|row| row.version.clone());
            let install = context.recorded(found, self.id, real, self.record.clone());
            return self.push(found, Install { state, version, is_outside: false, ..install });
        }
        let outcomes: Vec<RowOutcome> =
            self.rows.iter().map(|row| self.add_row(found, context, row)).collect();
        let has_seeds = self.add_seeds(found, context, state);
        if state == HostState::On
            && !has_seeds
            && outcomes.iter().all(|outcome| *outcome == RowOutcome::Missing)
        {
            let wanted = Wanted {
                record: self.record,
                is_reported: !self.rows.is_empty() || !context.is_record_readable,
            };
            covered.wanted.insert(self.id.clone(), wanted);
        }
    }

    fn add_row(&self, found: &mut Collector<'_>, context: &Context, row: &Row) -> RowOutcome {
        let state = context.settings.state(self.id);
        match found.machine.files.real(&row.path) {
            Some(real) if found.is_directory(real.as_str()) => {
                let install = context.recorded(found, self.id, real, row.record.clone());
                self.push(found, Install { state, version: row.version.clone(), ..install });
                RowOutcome::Added
            }
            Some(_) => {
                let message = format!("expected a directory, got a file: {}", shown(&row.path));
                let message = RowMessage { record: row.record.clone(), message };
                context.row_problem(found, self.id, state, message);
                RowOutcome::Refused
            }
            None => {
                missing(found, context, self.id, row.record.clone(), state);
                RowOutcome::Missing
            }
        }
    }

    /// Adds the versions in the seeds, which the host runs in place, and returns `true` if there are any.
    fn add_seeds(&self, found: &mut Collector<'_>, context: &Context, state: HostState) -> bool {
        let Some(market) = self.id.market() else { return false };
        let mut has_any = false;
        for seed in &context.roots.seeds {
            let directory = join(seed, &format!("cache/{market}/{}", self.id.name()));
            for version in found.directories(&directory) {
                let Some(real) = found.machine.files.real(&join(&directory, &version)) else { continue };
                let install = context.recorded(found, self.id, real, place(&directory, ""));
                self.push(found, Install { state, version: Some(version), ..install });
                has_any = true;
            }
        }
        has_any
    }

    fn push(&self, found: &mut Collector<'_>, install: Install) {
        let (marketplace, former_ids) = (self.market.directory.clone(), self.former_ids.clone());
        found.add(Install { marketplace, former_ids, ..install });
    }
}

/// Adds the problem that a recorded or enabled plugin is not on disk.
pub(super) fn missing(
    found: &mut Collector<'_>,
    context: &Context,
    id: &InstalledId,
    record: RecordPlace,
    state: HostState,
) {
    let message = match state {
        HostState::On => "not on disk: Claude Code will fetch it unchecked at the next start",
        HostState::Off => "not on disk",
    };
    let help = "install the plugin, then run: plugward check";
    let key = found.key(id);
    if let Some(problem) = found.problem(InstallProblemKind::Missing, record, message, help) {
        problem.key = Some(key);
        problem.state = state;
        problem.switch = context.settings.switch(id);
    }
}
