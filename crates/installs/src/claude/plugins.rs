//! The plugins in the record and in the settings.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{InstalledId, PlacePath};

use super::Context;
use super::markets::{Market, Markets};
use super::records::{Records, Row};
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
    /// The names of the directories of all rows.
    pub(super) versions: BTreeMap<InstalledId, Vec<String>>,
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
    let rows = records.iter().map(|(id, rows)| {
        let record = rows.first().map_or_else(|| place(&context.roots.plugins, ""), |row| row.record.clone());
        (id, rows.as_slice(), record)
    });
    let enabled = context.settings.enabled.iter().filter(|(id, setting)| {
        // An id without a marketplace cannot be fetched.
        let can_be_fetched = id.market().is_some_and(|market| !WITHOUT_ROWS.contains(&market));
        setting.is_on && can_be_fetched && !recorded.contains(id)
    });
    let enabled = enabled.map(|(id, setting)| (id, [].as_slice(), setting.record.clone()));
    for (id, rows, record) in rows.chain(enabled) {
        let market = markets.of(found, id);
        let former_ids = market.former_ids(id, &recorded);
        let is_recorded = recorded.contains(id);
        Plugin { id, rows, market, former_ids, record, is_recorded }.add(found, context, &mut covered);
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
    is_recorded: bool,
}

impl Plugin<'_> {
    fn add(self, found: &mut Collector<'_>, context: &Context, covered: &mut Covered) {
        for row in self.rows {
            let real = found.machine.files.real(&row.path);
            let version = real.as_ref().map(|real| real.name().to_owned());
            covered.versions.entry(self.id.clone()).or_default().extend(version);
            covered.places.extend(real);
        }
        if let Some(fault) = self.market.fault(self.id) {
            return context.report(found, self.id, fault.clone());
        }
        let in_place =
            self.market.in_place.get(self.id.name()).and_then(|path| found.machine.files.real(path));
        if let Some(real) = in_place {
            let version = self.rows.first().and_then(|row| row.version.clone());
            let install = context.recorded(found, self.id, real, self.record.clone());
            return self.push(found, Install { version, is_outside: false, ..install });
        }
        let mut has_any = self.add_seeds(found, context);
        for row in self.rows {
            has_any |= self.add_row(found, context, row);
        }
        if context.settings.state(self.id) == HostState::On && !has_any {
            let is_reported = self.is_recorded || !context.is_record_readable;
            let wanted = Wanted { record: self.record, is_reported };
            covered.wanted.insert(self.id.clone(), wanted);
        }
    }

    /// Adds the directory of a row, and returns `false` if nothing is there.
    fn add_row(&self, found: &mut Collector<'_>, context: &Context, row: &Row) -> bool {
        let Some(real) = found.machine.files.real(&row.path) else {
            missing(found, context, self.id, row.record.clone());
            return false;
        };
        if found.is_directory(real.as_str()) {
            let install = context.recorded(found, self.id, real, row.record.clone());
            self.push(found, Install { version: row.version.clone(), ..install });
        } else {
            let message = format!("expected a directory, got a file: {}", shown(&row.path));
            context.refuse_row(found, self.id, row.record.clone(), message);
        }
        true
    }

    /// Adds the versions in the seeds, which the host runs in place, and returns `true` if there are any.
    fn add_seeds(&self, found: &mut Collector<'_>, context: &Context) -> bool {
        let Some(market) = self.id.market() else { return false };
        let mut has_any = false;
        for seed in &context.roots.seeds {
            let directory = join(seed, &format!("cache/{market}/{}", self.id.name()));
            for version in found.directories(&directory) {
                let Some(real) = found.machine.files.real(&join(&directory, &version)) else { continue };
                let install = context.recorded(found, self.id, real, place(&directory, ""));
                self.push(found, Install { version: Some(version), ..install });
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
pub(super) fn missing(found: &mut Collector<'_>, context: &Context, id: &InstalledId, record: RecordPlace) {
    let message = match context.settings.state(id) {
        HostState::On => "not on disk: Claude Code will fetch it unchecked at the next start",
        HostState::Off => "not on disk",
    };
    let help = "install the plugin, then run: plugward check";
    let problem = found.draft(InstallProblemKind::Missing, record, message, help);
    context.report(found, id, problem);
}
