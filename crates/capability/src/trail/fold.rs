//! The state of the open workflows, computed from the records alone.

use std::collections::BTreeMap;

use plugward_ledger::{BudgetLine, Fold, LedgerEvent, LedgerRecord, LedgerTime, RecordValue};

use crate::error::{
    M_BUDGET, M_CLOSED, M_CONFLICT, Row, U_BUDGET, U_CLOSED, U_EXPIRED, U_REVOKED, U_UNKNOWN,
};
use crate::kinds::kind::CapabilityKind;
use crate::mint::RawWithNetwork;
use crate::trail::budget::{CounterScope, above, deciding};

/// A granted capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrantState {
    pub(crate) plugin: String,
    pub(crate) kind: String,
    /// The `seq` of its record.
    pub(crate) at: u64,
    pub(crate) expires: Option<LedgerTime>,
    pub(crate) revoked: bool,
}

/// The counters of one plugin and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    pub(crate) mints: u64,
    pub(crate) uses: u64,
    pub(crate) units: u64,
}

/// An open workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenWorkflow {
    /// The `seq` of its `workflow_opened`.
    pub(crate) at: u64,
    pub(crate) budgets: Vec<BudgetLine>,
    last_serial: u64,
    pub(crate) minted: BTreeMap<u64, GrantState>,
    counts: BTreeMap<(String, String), Count>,
}

/// The open workflows of a ledger.
#[derive(Debug, Default)]
pub(crate) struct TrailFold {
    pub(crate) open: BTreeMap<String, OpenWorkflow>,
}

impl OpenWorkflow {
    pub(crate) fn new(at: u64, budgets: Vec<BudgetLine>) -> Self {
        Self { at, budgets, last_serial: 0, minted: BTreeMap::new(), counts: BTreeMap::new() }
    }

    fn count(&mut self, plugin: &str, kind: &str) -> &mut Count {
        self.counts.entry((plugin.to_owned(), kind.to_owned())).or_default()
    }

    pub(crate) fn counted(&self, plugin: &str, kind: &str) -> Count {
        self.counts.get(&(plugin.to_owned(), kind.to_owned())).copied().unwrap_or_default()
    }

    fn budgeted(&self, counts: CounterScope, plugin: &str, kind: &str) -> Count {
        match counts {
            CounterScope::Plugin => self.counted(plugin, kind),
            // Summed at each decision and not kept as a total, since a second counter could disagree with the
            // first.
            CounterScope::All => self.counts.iter().filter(|((_, other), _)| other == kind).fold(
                Count::default(),
                |sum, (_, count)| Count {
                    mints: sum.mints.saturating_add(count.mints),
                    uses: sum.uses.saturating_add(count.uses),
                    units: sum.units.saturating_add(count.units),
                },
            ),
        }
    }

    pub(crate) const fn next_serial(&self) -> u64 {
        self.last_serial.saturating_add(1)
    }

    /// Decides a grant: a code if it is refused, or a warning for the record.
    pub(crate) fn may_mint(
        &self,
        plugin: &str,
        kind: CapabilityKind,
        rule: RawWithNetwork,
    ) -> Result<Option<&'static str>, Row> {
        // Budgets are checked before conflicts, so a refused request never counts.
        let (limit, counts) = deciding(&self.budgets, plugin, kind.as_str());
        if above(limit.max_mints, self.budgeted(counts, plugin, kind.as_str()).mints, 1) {
            return Err(M_BUDGET);
        }
        // All kinds are listed, so that a new kind does not compile until it is decided here.
        let others: &[CapabilityKind] = match kind {
            CapabilityKind::HookRawOutput => &[CapabilityKind::NetConnect, CapabilityKind::LlmAccess],
            CapabilityKind::NetConnect | CapabilityKind::LlmAccess => &[CapabilityKind::HookRawOutput],
            CapabilityKind::NpmInstall
            | CapabilityKind::FsReadWrite
            | CapabilityKind::GitLocalOps
            | CapabilityKind::ProcessSpawn
            | CapabilityKind::EnvRead
            | CapabilityKind::HostModule => &[],
        };
        // Expired capabilities count too, because the plugin may still know what they showed.
        let has = |other: &CapabilityKind| self.counted(plugin, other.as_str()).mints > 0;
        match (others.iter().any(has), rule) {
            (false, _) => Ok(None),
            (true, RawWithNetwork::Refuse) => Err(M_CONFLICT),
            (true, RawWithNetwork::Record) => Ok(Some("raw hook output together with network access")),
        }
    }

    pub(crate) fn mint(&mut self, serial: u64, minted: GrantState) {
        let count = self.count(&minted.plugin, &minted.kind);
        count.mints = count.mints.saturating_add(1);
        // The maximum and not the newest, so that records with serials out of order cannot make a serial be
        // used twice.
        self.last_serial = self.last_serial.max(serial);
        self.minted.insert(serial, minted);
    }

    fn may_use(&self, plugin: &str, kind: &str, units: u64) -> Result<(), Row> {
        let (limit, counts) = deciding(&self.budgets, plugin, kind);
        let have = self.budgeted(counts, plugin, kind);
        let over = above(limit.max_uses, have.uses, 1) || above(limit.max_units, have.units, units);
        if over { Err(U_BUDGET) } else { Ok(()) }
    }
}

/// The parameters of a requested use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UseRequest<'a> {
    pub(crate) workflow: &'a str,
    pub(crate) serial: u64,
    pub(crate) minted: u64,
    pub(crate) plugin: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) covered: ScopeMatch,
    pub(crate) units: u64,
    pub(crate) now: LedgerTime,
}

/// Whether the scope includes the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeMatch {
    Inside,
    Outside,
}

impl TrailFold {
    pub(crate) fn may_mint_in(&self, workflow: &str, at: u64) -> Result<&OpenWorkflow, Row> {
        self.open.get(workflow).filter(|open| open.at == at).ok_or(M_CLOSED)
    }

    /// Decides a use. If it is refused, the first applicable code is returned, in the order of the
    /// documentation.
    pub(crate) fn may_use(&self, asked: &UseRequest<'_>) -> Result<(), Row> {
        // A workflow id can be reused. What was granted before this opening belongs to the earlier workflow.
        let open = self.open.get(asked.workflow).filter(|open| open.at < asked.minted).ok_or(U_CLOSED)?;
        let same = |minted: &&GrantState| {
            minted.at == asked.minted && minted.plugin == asked.plugin && minted.kind == asked.kind
        };
        let minted = open.minted.get(&asked.serial).filter(same).ok_or(U_UNKNOWN)?;
        if minted.revoked {
            return Err(U_REVOKED);
        }
        if minted.expires.is_some_and(|expires| asked.now >= expires) {
            return Err(U_EXPIRED);
        }
        if asked.covered == ScopeMatch::Outside {
            return Err(crate::error::U_COVERED);
        }
        open.may_use(asked.plugin, asked.kind, asked.units)
    }
}

impl Fold for TrailFold {
    fn name(&self) -> &'static str {
        "trail"
    }

    fn apply(&mut self, record: &LedgerRecord) {
        match record.event() {
            Some(LedgerEvent::WorkflowOpened { workflow, budgets }) => {
                self.open.insert(workflow.clone(), OpenWorkflow::new(record.seq(), budgets.clone()));
            }
            Some(LedgerEvent::WorkflowClosed { workflow, .. }) => {
                self.open.remove(workflow);
            }
            Some(LedgerEvent::CapabilityMinted { workflow, plugin, kind, serial, expires, .. }) => {
                if let Some(open) = self.open.get_mut(workflow) {
                    let (plugin, kind) = (plugin.clone(), kind.clone());
                    let minted =
                        GrantState { plugin, kind, at: record.seq(), expires: *expires, revoked: false };
                    open.mint(*serial, minted);
                }
            }
            Some(LedgerEvent::CapabilityUsed { workflow, plugin, kind, units, .. }) => {
                if let Some(open) = self.open.get_mut(workflow) {
                    let count = open.count(plugin, kind);
                    count.uses = count.uses.saturating_add(1);
                    count.units = count.units.saturating_add(*units);
                }
            }
            Some(LedgerEvent::CapabilityRevoked { workflow, serial, .. }) => {
                if let Some(minted) = self.open.get_mut(workflow).and_then(|open| open.minted.get_mut(serial))
                {
                    minted.revoked = true;
                }
            }
            _ => {}
        }
    }

    fn snapshot(&self) -> RecordValue {
        RecordValue::Object(self.open.iter().map(|(name, open)| (name.clone(), open.snapshot())).collect())
    }

    fn restore(&mut self, state: &RecordValue) -> Option<()> {
        let restored =
            |(name, open): (&String, &RecordValue)| Some((name.clone(), OpenWorkflow::restore(open)?));
        self.open = state.as_object()?.iter().map(restored).collect::<Option<_>>()?;
        Some(())
    }

    fn reset(&mut self) {
        self.open.clear();
    }
}

fn option(number: Option<u64>) -> RecordValue {
    RecordValue::List(number.map(RecordValue::Number).into_iter().collect())
}

#[expect(
    clippy::option_option,
    reason = "the outer one is a snapshot of another form, the inner one an option of the record"
)]
fn option_of(value: &RecordValue) -> Option<Option<u64>> {
    match value.as_list()? {
        [] => Some(None),
        [one] => one.as_number().map(Some),
        _ => None,
    }
}

fn texts<const N: usize>(value: &RecordValue) -> Option<([String; N], &[RecordValue])> {
    let (front, rest) = value.as_list()?.split_at_checked(N)?;
    let texts: Option<Vec<_>> = front.iter().map(|item| item.as_text().map(str::to_owned)).collect();
    Some((texts?.try_into().ok()?, rest))
}

impl OpenWorkflow {
    fn snapshot(&self) -> RecordValue {
        let budget = |line: &BudgetLine| {
            let plugin = RecordValue::List(line.plugin.iter().map(|name| RecordValue::text(name)).collect());
            RecordValue::List(vec![
                RecordValue::text(&line.kind),
                RecordValue::text(&line.per),
                plugin,
                option(line.max_mints),
                option(line.max_uses),
                option(line.max_units),
            ])
        };
        let minted = |(serial, minted): (&u64, &GrantState)| {
            RecordValue::List(vec![
                RecordValue::text(&minted.plugin),
                RecordValue::text(&minted.kind),
                RecordValue::Number(*serial),
                RecordValue::Number(minted.at),
                RecordValue::List(
                    minted.expires.iter().map(|end| RecordValue::Text(end.to_string())).collect(),
                ),
                RecordValue::Flag(minted.revoked),
            ])
        };
        let count = |((plugin, kind), count): (&(String, String), &Count)| {
            RecordValue::List(vec![
                RecordValue::text(plugin),
                RecordValue::text(kind),
                RecordValue::Number(count.mints),
                RecordValue::Number(count.uses),
                // A sum of units can exceed the numbers that the format allows.
                RecordValue::Text(count.units.to_string()),
            ])
        };
        RecordValue::object([
            ("at", RecordValue::Number(self.at)),
            ("budgets", RecordValue::List(self.budgets.iter().map(budget).collect())),
            ("last_serial", RecordValue::Number(self.last_serial)),
            ("minted", RecordValue::List(self.minted.iter().map(minted).collect())),
            ("counts", RecordValue::List(self.counts.iter().map(count).collect())),
        ])
    }

    fn restore(value: &RecordValue) -> Option<Self> {
        let budget = |value: &RecordValue| {
            let ([kind, per], rest) = texts(value)?;
            let [plugin, max_mints, max_uses, max_units] = rest else { return None };
            let plugin = match plugin.as_list()? {
                [] => None,
                [name] => Some(name.as_text()?.to_owned()),
                _ => return None,
            };
            let (max_mints, max_uses) = (option_of(max_mints)?, option_of(max_uses)?);
            Some(BudgetLine { kind, per, plugin, max_mints, max_uses, max_units: option_of(max_units)? })
        };
        let minted = |value: &RecordValue| {
            let ([plugin, kind], rest) = texts(value)?;
            let [serial, at, expires, RecordValue::Flag(revoked)] = rest else { return None };
            let expires = match expires.as_list()? {
                [] => None,
                [end] => Some(end.as_text()?.parse::<LedgerTime>().ok()?),
                _ => return None,
            };
            let minted = GrantState { plugin, kind, at: at.as_number()?, expires, revoked: *revoked };
            Some((serial.as_number()?, minted))
        };
        let count = |value: &RecordValue| {
            let ([plugin, kind], rest) = texts(value)?;
            let [mints, uses, units] = rest else { return None };
            let units = units.as_text()?.parse().ok()?;
            Some(((plugin, kind), Count { mints: mints.as_number()?, uses: uses.as_number()?, units }))
        };
        Some(Self {
            at: value.get("at")?.as_number()?,
            budgets: value.get("budgets")?.as_list()?.iter().map(budget).collect::<Option<_>>()?,
            last_serial: value.get("last_serial")?.as_number()?,
            minted: value.get("minted")?.as_list()?.iter().map(minted).collect::<Option<_>>()?,
            counts: value.get("counts")?.as_list()?.iter().map(count).collect::<Option<_>>()?,
        })
    }
}
