//! The chain of lines: the number of each, the digest of the line before, and the fields that depend on
//! earlier lines.

use crate::error::Why;
use crate::event::Event;
use crate::record::Record;
use crate::sum::{LedgerId, Sum};
use crate::tree::Frontier;

/// The end of the verified part of a chain.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    id: Option<LedgerId>,
    head: Sum,
    frontier: Frontier,
    last_checkpoint: u64,
}

impl Chain {
    /// Returns the chain before the first record of a ledger.
    pub(crate) fn start() -> Self {
        Self { id: None, head: Sum::ZERO, frontier: Frontier::default(), last_checkpoint: 0 }
    }

    /// Returns the chain before a trusted checkpoint, computed from its `prev`, size and subtrees.
    ///
    /// Returns `None` if the parts of the checkpoint contradict each other.
    pub(crate) fn before_checkpoint(record: &Record, id: Option<LedgerId>) -> Option<Self> {
        let Some(Event::Checkpoint { size, root, frontier, .. }) = record.event() else { return None };
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

    pub(crate) const fn head(&self) -> Sum {
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
    pub(crate) fn check(&self, line: &[u8]) -> Result<Record, Why> {
        let record = Record::parse(line)?;
        if record.seq() != self.next_seq() {
            return Err(Why::Seq { found: record.seq() });
        }
        if record.prev() != self.head {
            return Err(Why::Prev);
        }
        let first = record.seq() == 0;
        match record.event() {
            Some(Event::LedgerOpened { .. }) if !first => Err(Why::Opening),
            Some(Event::LedgerOpened { .. }) => Ok(record),
            _ if first => Err(Why::Opening),
            Some(Event::LedgerContinued { head, .. }) if *head != self.head => Err(Why::Prev),
            Some(Event::LedgerContinued { ledger, .. }) if self.id.is_some_and(|id| id != *ledger) => {
                Err(Why::OtherLedger)
            }
            Some(Event::Checkpoint { size, root, frontier, .. }) => {
                let same = *size == self.frontier.size()
                    && frontier.as_slice() == self.frontier.subtrees()
                    && *root == self.frontier.root();
                if same { Ok(record) } else { Err(Why::Checkpoint) }
            }
            _ => Ok(record),
        }
    }

    /// Appends a checked line, with its LF.
    pub(crate) fn push(&mut self, line: &[u8], record: &Record) {
        self.push_with(line, Sum::of(line), record.event());
    }

    pub(crate) fn push_with(&mut self, line: &[u8], sum: Sum, event: Option<&Event>) {
        match event {
            Some(Event::LedgerOpened { ledger, .. } | Event::LedgerContinued { ledger, .. }) => {
                self.id = Some(*ledger);
            }
            Some(Event::Checkpoint { .. }) => self.last_checkpoint = self.next_seq(),
            _ => {}
        }
        self.head = sum;
        self.frontier.push(line);
    }
}
