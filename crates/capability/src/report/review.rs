//! The review of a trail from its records alone.

use std::collections::{BTreeMap, BTreeSet};

use plugward_ledger::{BudgetLine, LedgerEvent, LedgerRecord, LedgerTime};

use crate::trail::budget::{CounterScope, above, deciding};

/// The codes of findings: records that a trail would not have written.
pub const FINDINGS: &[(&str, &str)] = &[
    ("use-without-mint", "a use has no record that its capability was granted"),
    ("use-after-expiry", "a use began after its capability had expired"),
    ("use-after-revoke", "a use began after its capability had been revoked"),
    ("use-after-close", "a use began after its workflow had been closed"),
    ("over-budget", "a grant or a use exceeded the limits of its workflow"),
    ("serial-reused", "two capabilities of one workflow have the same serial"),
    ("holder-mismatch", "the plugin or kind of a use is not that of its grant"),
    ("scope-digest", "the digest of a scope does not match the scope"),
    ("end-without-use", "the end of a use has no record that the use began"),
    ("double-end", "a use ended twice"),
    ("test-serial", "a capability for tests was granted or used"),
];

/// The codes of notes, which do not indicate an error by themselves.
pub const NOTES: &[(&str, &str)] = &[
    ("use-not-ended", "a use began, and its end was not recorded"),
    ("clock-back", "the timestamp of a record is before that of the previous record"),
    ("unknown-type", "a record has a type that this program does not know"),
];

/// One finding or note of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewItem {
    /// The code, one of [`FINDINGS`] or [`NOTES`].
    pub code: &'static str,
    /// The `seq` of the record.
    pub seq: u64,
    /// The workflow, if there is one.
    pub workflow: Option<String>,
    /// A description for people.
    pub detail: String,
}

/// The key of a row of counters. A workflow id that was opened twice has separate rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TallyKey {
    /// The workflow.
    pub workflow: String,
    /// The `seq` of its `workflow_opened`, if that is among the records.
    pub opened: Option<u64>,
    /// The plugin.
    pub plugin: String,
    /// The kind.
    pub kind: String,
}

/// One row of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tally {
    /// The number of grants.
    pub mints: u64,
    /// The number of uses.
    pub uses: u64,
    /// The number of units over all uses.
    pub units: u64,
    /// The number of refused grants and uses.
    pub refused: u64,
    /// The number of uses without an end.
    pub open_uses: u64,
}

/// The result of a review.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Review {
    /// Records that a trail would not have written, in order.
    pub findings: Vec<ReviewItem>,
    /// Records that are unusual but possible.
    pub notes: Vec<ReviewItem>,
    /// All counters.
    pub tallies: BTreeMap<TallyKey, Tally>,
    /// The limits of each workflow, by its id and the `seq` of its `workflow_opened`.
    pub budgets: BTreeMap<(String, u64), Vec<BudgetLine>>,
}

#[derive(Debug)]
struct GrantRecord {
    plugin: String,
    kind: String,
    expires: Option<LedgerTime>,
    revoked: bool,
}

#[derive(Debug, Default)]
struct WorkflowState {
    opened: Option<u64>,
    closed: bool,
    mints: BTreeMap<u64, GrantRecord>,
}

/// A review in progress, which takes records one after another.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Reviewer {
    review: Review,
    /// The last opening of each workflow id.
    works: BTreeMap<String, WorkflowState>,
    /// Uses without an end, by the `seq` of their record.
    open_uses: BTreeMap<u64, (TallyKey, u64)>,
    ended: BTreeSet<u64>,
    last: Option<(u64, LedgerTime)>,
    first: Option<u64>,
}

/// Reviews records, starting with the first one.
pub fn review(records: impl Iterator<Item = LedgerRecord>) -> Review {
    let mut reviewer = Reviewer::default();
    for record in records {
        reviewer.apply(&record);
    }
    reviewer.finish()
}

/// The parts of a use that identify its capability.
#[derive(Clone, Copy)]
struct Holder<'a> {
    workflow: &'a str,
    plugin: &'a str,
    kind: &'a str,
    serial: u64,
}

impl Reviewer {
    fn found(&mut self, code: &'static str, record: &LedgerRecord, workflow: Option<&str>, detail: String) {
        let noticed = ReviewItem { code, seq: record.seq(), workflow: workflow.map(str::to_owned), detail };
        let finding = FINDINGS.iter().any(|(known, _)| *known == code);
        let list = if finding { &mut self.review.findings } else { &mut self.review.notes };
        list.push(noticed);
    }

    fn key(&self, holder: Holder<'_>) -> TallyKey {
        TallyKey {
            workflow: holder.workflow.to_owned(),
            opened: self.works.get(holder.workflow).and_then(|work| work.opened),
            plugin: holder.plugin.to_owned(),
            kind: holder.kind.to_owned(),
        }
    }

    fn tally(&mut self, holder: Holder<'_>) -> &mut Tally {
        let key = self.key(holder);
        self.review.tallies.entry(key).or_default()
    }

    /// Adds a record.
    pub(crate) fn apply(&mut self, record: &LedgerRecord) {
        self.first.get_or_insert(record.seq());
        if self.last.is_some_and(|(_, last)| record.ts() < last) {
            self.found(
                "clock-back",
                record,
                None,
                format!("{} is before the timestamp of the previous record", record.ts()),
            );
        }
        self.last = Some((record.seq(), record.ts()));
        let Some(event) = record.event() else {
            let detail =
                format!("type `{}` of format {}", record.type_name().escape_debug(), record.version());
            self.found("unknown-type", record, None, detail);
            return;
        };
        match event {
            LedgerEvent::WorkflowOpened { workflow, budgets } => {
                let work = WorkflowState { opened: Some(record.seq()), ..WorkflowState::default() };
                self.works.insert(workflow.clone(), work);
                self.review.budgets.insert((workflow.clone(), record.seq()), budgets.clone());
            }
            LedgerEvent::WorkflowClosed { workflow, .. } => {
                self.works.entry(workflow.clone()).or_default().closed = true;
            }
            LedgerEvent::CapabilityMinted { .. } => self.minted(record, event),
            LedgerEvent::CapabilityUsed { workflow, plugin, kind, serial, units, .. } => {
                self.used(record, Holder { workflow, plugin, kind, serial: *serial }, *units);
            }
            LedgerEvent::CapabilityUseEnded { workflow, serial, begun, .. } => {
                self.ended(record, workflow, *serial, *begun);
            }
            LedgerEvent::CapabilityRevoked { workflow, serial, .. } => {
                let mint = self.works.get_mut(workflow).and_then(|work| work.mints.get_mut(serial));
                if let Some(mint) = mint {
                    mint.revoked = true;
                }
            }
            LedgerEvent::MintRefused { workflow, plugin, kind, .. } => {
                self.refused(Holder { workflow, plugin, kind, serial: 0 });
            }
            LedgerEvent::UseRefused { workflow, plugin, kind, serial, .. } => {
                self.refused(Holder { workflow, plugin, kind, serial: *serial });
            }
            _ => {}
        }
    }

    fn refused(&mut self, holder: Holder<'_>) {
        let tally = self.tally(holder);
        tally.refused = tally.refused.saturating_add(1);
    }

    fn minted(&mut self, record: &LedgerRecord, event: &LedgerEvent) {
        let LedgerEvent::CapabilityMinted {
            workflow,
            plugin,
            kind,
            serial,
            scope,
            scope_digest,
            expires,
            ..
        } = event
        else {
            return;
        };
        let holder = Holder { workflow, plugin, kind, serial: *serial };
        if *serial == 0 {
            self.found("test-serial", record, Some(workflow), format!("`{plugin}` was given serial 0"));
        }
        if scope.digest() != *scope_digest {
            self.found(
                "scope-digest",
                record,
                Some(workflow),
                format!("serial {serial}: the digest is not that of the scope"),
            );
        }
        let work = self.works.entry(workflow.clone()).or_default();
        let mint =
            GrantRecord { plugin: plugin.clone(), kind: kind.clone(), expires: *expires, revoked: false };
        if work.mints.insert(*serial, mint).is_some() {
            self.found(
                "serial-reused",
                record,
                Some(workflow),
                format!("serial {serial} was granted before"),
            );
        }
        let tally = self.tally(holder);
        tally.mints = tally.mints.saturating_add(1);
        self.check_budget(record, holder);
    }

    fn used(&mut self, record: &LedgerRecord, holder: Holder<'_>, units: u64) {
        let Holder { workflow, plugin, kind, serial } = holder;
        if serial == 0 {
            self.found("test-serial", record, Some(workflow), format!("`{plugin}` used serial 0"));
        } else if let Some((code, detail)) = self.judge(record, holder) {
            self.found(code, record, Some(workflow), detail);
        }
        let key = self.key(Holder { workflow, plugin, kind, serial });
        let tally = self.review.tallies.entry(key.clone()).or_default();
        tally.uses = tally.uses.saturating_add(1);
        tally.units = tally.units.saturating_add(units);
        tally.open_uses = tally.open_uses.saturating_add(1);
        self.open_uses.insert(record.seq(), (key, serial));
        self.check_budget(record, holder);
    }

    /// Compares a use with its grant.
    fn judge(&self, record: &LedgerRecord, holder: Holder<'_>) -> Option<(&'static str, String)> {
        let Holder { workflow, plugin, kind, serial } = holder;
        let work = self.works.get(workflow);
        if work.is_some_and(|work| work.closed) {
            return Some(("use-after-close", format!("serial {serial} was used by `{plugin}`")));
        }
        let Some(mint) = work.and_then(|work| work.mints.get(&serial)) else {
            // If earlier records are missing, the grant may be among them.
            let unseen = self.first != Some(0) && work.is_none_or(|work| work.opened.is_none());
            return (!unseen).then(|| ("use-without-mint", format!("serial {serial} was never granted")));
        };
        if mint.plugin != plugin || mint.kind != kind {
            let detail = format!(
                "serial {serial} is a {} of `{}`, used as {kind} by `{plugin}`",
                mint.kind, mint.plugin
            );
            return Some(("holder-mismatch", detail));
        }
        if mint.revoked {
            return Some(("use-after-revoke", format!("serial {serial} had been revoked")));
        }
        let expires = mint.expires.filter(|expires| record.ts() >= *expires)?;
        Some(("use-after-expiry", format!("serial {serial} had expired at {expires}")))
    }

    fn check_budget(&mut self, record: &LedgerRecord, holder: Holder<'_>) {
        let key = self.key(holder);
        let Some(opened) = key.opened else { return };
        let Some(lines) = self.review.budgets.get(&(key.workflow.clone(), opened)) else { return };
        let (limit, counts) = deciding(lines, holder.plugin, holder.kind);
        let sum = self.review.counted(&key, counts);
        let mint = matches!(record.event(), Some(LedgerEvent::CapabilityMinted { .. }));
        let over = if mint {
            // The record is counted already, so nothing is added.
            above(limit.max_mints, sum.mints, 0)
        } else {
            above(limit.max_uses, sum.uses, 0) || above(limit.max_units, sum.units, 0)
        };
        if over {
            let detail = format!(
                "{} of `{}`: {} granted, {} uses, {} units",
                key.kind, key.plugin, sum.mints, sum.uses, sum.units
            );
            self.found("over-budget", record, Some(&key.workflow), detail);
        }
    }

    fn ended(&mut self, record: &LedgerRecord, workflow: &str, serial: u64, begun: u64) {
        let same =
            self.open_uses.get(&begun).is_some_and(|(key, of)| key.workflow == workflow && *of == serial);
        if same && let Some((key, _)) = self.open_uses.remove(&begun) {
            self.ended.insert(begun);
            let tally = self.review.tallies.entry(key).or_default();
            tally.open_uses = tally.open_uses.saturating_sub(1);
        } else if self.ended.contains(&begun) {
            self.found("double-end", record, Some(workflow), format!("use {begun} had ended before"));
        } else if self.first.is_some_and(|first| begun >= first) {
            self.found(
                "end-without-use",
                record,
                Some(workflow),
                format!("record {begun} is not a use of serial {serial}"),
            );
        }
    }

    /// Returns the review after the last record.
    #[must_use]
    pub(crate) fn finish(mut self) -> Review {
        for (seq, (key, serial)) in core::mem::take(&mut self.open_uses) {
            self.review.notes.push(ReviewItem {
                code: "use-not-ended",
                seq,
                detail: format!("{} of `{}`, serial {serial}", key.kind, key.plugin),
                workflow: Some(key.workflow),
            });
        }
        self.review
    }
}

impl Review {
    /// Adds up the counters that a limit applies to.
    pub(crate) fn counted(&self, key: &TallyKey, counts: CounterScope) -> Tally {
        let all = self.tallies.iter().filter(|(other, _)| {
            other.workflow == key.workflow
                && other.opened == key.opened
                && other.kind == key.kind
                && (counts == CounterScope::All || other.plugin == key.plugin)
        });
        all.fold(Tally::default(), |sum, (_, row)| Tally {
            mints: sum.mints.saturating_add(row.mints),
            uses: sum.uses.saturating_add(row.uses),
            units: sum.units.saturating_add(row.units),
            refused: sum.refused.saturating_add(row.refused),
            open_uses: sum.open_uses.saturating_add(row.open_uses),
        })
    }
}
