//! The chain of lines: the number of each, the digest of the line before, and the fields that depend on
//! earlier lines.

pub(crate) mod checkpoint;
pub(crate) mod files;
pub(crate) mod tree;
pub(crate) mod verify;

use crate::chain::tree::Frontier;
use crate::error::ChainFault;
use crate::format::digest::{LedgerDigest, LedgerId};
use crate::format::event::LedgerEvent;
use crate::format::record::LedgerRecord;

/// The end of the verified part of a chain.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    id: Option<LedgerId>,
    head: LedgerDigest,
    frontier: Frontier,
    last_checkpoint: u64,
}

impl Chain {
    /// Returns the chain before the first record of a ledger.
    pub(crate) fn start() -> Self {
        Self { id: None, head: LedgerDigest::ZERO, frontier: Frontier::default(), last_checkpoint: 0 }
    }

    /// Returns the chain before a trusted checkpoint, computed from its `prev`, size and subtrees.
    ///
    /// Returns `None` if the parts of the checkpoint contradict each other.
    pub(crate) fn before_checkpoint(record: &LedgerRecord, id: Option<LedgerId>) -> Option<Self> {
        let Some(LedgerEvent::Checkpoint { size, root, frontier, .. }) = record.event() else { return None };
        let frontier = Frontier::from_parts(*size, frontier)?;
        (*size == record.seq() && frontier.root() == *root).then(|| Self {
            id,
            head: record.prev(),
            frontier,
            last_checkpoint: 0,
        })
    }

    pub(crate) const fn next_seq(&self) -> u64 {
        self.frontier.size()
    }

    pub(crate) const fn head(&self) -> LedgerDigest {
        self.head
    }

    pub(crate) const fn id(&self) -> Option<LedgerId> {
        self.id
    }

    pub(crate) const fn set_id(&mut self, id: LedgerId) {
        self.id = Some(id);
    }

    pub(crate) const fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// Returns the `seq` of the last checkpoint.
    pub(crate) const fn last_checkpoint(&self) -> u64 {
        self.last_checkpoint
    }

    /// Returns the number of records since the last checkpoint.
    pub(crate) const fn since_checkpoint(&self) -> u64 {
        self.next_seq().saturating_sub(self.last_checkpoint)
    }

    /// Checks that a line, without its LF, is the next one.
    pub(crate) fn check(&self, line: &[u8]) -> Result<LedgerRecord, ChainFault> {
        let record = LedgerRecord::parse(line)?;
        if record.seq() != self.next_seq() {
            return Err(ChainFault::Seq { found: record.seq() });
        }
        if record.prev() != self.head {
            return Err(ChainFault::Prev);
        }
        let first = record.seq() == 0;
        match record.event() {
            Some(LedgerEvent::LedgerOpened { .. }) if !first => Err(ChainFault::Opening),
            Some(LedgerEvent::LedgerOpened { .. }) => Ok(record),
            _ if first => Err(ChainFault::Opening),
            Some(LedgerEvent::LedgerContinued { head, .. }) if *head != self.head => Err(ChainFault::Prev),
            Some(LedgerEvent::LedgerContinued { ledger, .. }) if self.id.is_some_and(|id| id != *ledger) => {
                Err(ChainFault::OtherLedger)
            }
            Some(LedgerEvent::Checkpoint { size, root, frontier, .. }) => {
                let same = *size == self.frontier.size()
                    && frontier.as_slice() == self.frontier.subtrees()
                    && *root == self.frontier.root();
                if same { Ok(record) } else { Err(ChainFault::Checkpoint) }
            }
            _ => Ok(record),
        }
    }

    /// Appends a checked line, with its LF.
    pub(crate) fn push(&mut self, line: &[u8], record: &LedgerRecord) {
        self.push_with(line, LedgerDigest::of(line), record.event());
    }

    pub(crate) fn push_with(&mut self, line: &[u8], sum: LedgerDigest, event: Option<&LedgerEvent>) {
        match event {
            Some(LedgerEvent::LedgerOpened { ledger, .. } | LedgerEvent::LedgerContinued { ledger, .. }) => {
                self.id = Some(*ledger);
            }
            Some(LedgerEvent::Checkpoint { .. }) => self.last_checkpoint = self.next_seq(),
            _ => {}
        }
        self.head = sum;
        self.frontier.push(line);
    }
}
