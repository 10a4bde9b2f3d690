//! Minting, using, counting and reviewing.
#![expect(clippy::arithmetic_side_effects, reason = "an overflow in a test is a failed test")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by a panic")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says why")]

mod budgets;
#[cfg(unix)]
mod git;
mod mint;
mod report;
mod review;
mod routes;
mod scopes;
mod uses;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plugward_capability::{
    BudgetLimit, Budgets, Capability, EnvScope, Lifetime, Mint, MintCheck, MintRules, NoScrub, PluginName,
    RawWithNetwork, Request, Scope, Trail, TrailRules, UseCheck, UseGuard, Workflow, WorkflowId, folds,
};
use plugward_ledger::{Clock, Durability, LedgerEvent, LedgerId, LedgerRecord, LedgerTime, TestDirectory};

pub(crate) const ID: LedgerId = LedgerId::from_bytes([0xab; 16]);
pub(crate) const START: u64 = 1_795_297_683_000_000;

/// A clock that a test moves.
#[derive(Clone)]
pub(crate) struct Hand(Arc<AtomicU64>);

impl Hand {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(START)))
    }

    pub(crate) fn forward(&self, micros: u64) {
        self.0.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn clock(&self) -> Box<dyn Clock> {
        let hand = self.clone();
        Box::new(move || LedgerTime::from_unix_micros(hand.0.load(Ordering::Relaxed)).unwrap())
    }
}

/// A ledger in memory with a trail and a mint.
pub(crate) struct World {
    pub(crate) directory: TestDirectory,
    pub(crate) hand: Hand,
    pub(crate) trail: Trail,
    pub(crate) mint: Mint,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::on(TestDirectory::new(), Hand::new(), RawWithNetwork::Refuse)
    }

    pub(crate) fn on(directory: TestDirectory, hand: Hand, rule: RawWithNetwork) -> Self {
        let ledger = directory.open(ID, hand.clock(), Durability::Off, folds()).unwrap().ledger;
        let trail = Trail::open(ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap();
        let mint = Mint::new(trail.clone(), MintRules { raw_with_network: rule });
        Self { directory, hand, trail, mint }
    }

    /// The same ledger through another handle, as another process would have it.
    pub(crate) fn other(&self) -> Self {
        Self::on(self.directory.clone(), self.hand.clone(), RawWithNetwork::Refuse)
    }

    pub(crate) fn workflow(&self, budgets: &Budgets) -> Workflow {
        self.trail.open_workflow(WorkflowId::new("wf-7").unwrap(), budgets).unwrap()
    }

    pub(crate) fn free(&self) -> Workflow {
        self.workflow(&Budgets::otherwise(BudgetLimit::NONE))
    }

    pub(crate) fn ask<S: Scope>(
        &self,
        workflow: &Workflow,
        plugin: &str,
        scope: S,
    ) -> Result<S::Capability, &'static str> {
        let request = Request {
            plugin: PluginName::new(plugin).unwrap(),
            workflow,
            scope,
            lifetime: Lifetime::Workflow,
        };
        match self.mint.mint(request).unwrap() {
            MintCheck::Minted(capability) => Ok(capability),
            MintCheck::Refused(refusal) => Err(refusal.code()),
        }
    }

    pub(crate) fn records(&self) -> Vec<LedgerRecord> {
        let bytes = self.directory.read("ledger.jsonl").unwrap();
        bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| LedgerRecord::parse(line).unwrap())
            .collect()
    }

    pub(crate) fn types(&self) -> Vec<String> {
        self.records().iter().map(|record| record.type_name().to_owned()).collect()
    }

    pub(crate) fn last(&self) -> LedgerEvent {
        self.records().pop().unwrap().event().unwrap().clone()
    }
}

pub(crate) fn using<'t, C: Capability>(
    trail: &'t Trail,
    capability: &C,
    op: C::Op<'_>,
) -> Result<UseGuard<'t>, &'static str> {
    match trail.try_use(capability, op).unwrap() {
        UseCheck::Granted(guard) => Ok(guard),
        UseCheck::Refused(refusal) => Err(refusal.code()),
    }
}

pub(crate) fn env() -> EnvScope {
    EnvScope::new(&["PATH", "HOME"]).unwrap()
}
