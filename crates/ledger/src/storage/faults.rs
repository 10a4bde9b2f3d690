//! A directory in memory whose writes fail on demand, for tests.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::LedgerError;
use crate::format::digest::LedgerId;
use crate::format::time::Clock;
use crate::ledger::fold::Folds;
use crate::ledger::{Durability, Ledger, OpenedLedger};
use crate::storage::memory::{MemoryMedium, SharedFiles};
use crate::storage::{LiveFileState, Medium, SyncMode, Tape};

/// The way in which a write fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteFault {
    /// Nothing is written, and the write fails.
    Refused,
    /// This many bytes are written, and the write reports them.
    Short(usize),
    /// Everything is written, but the sync fails.
    NotSynced,
    /// This many bytes are written, then both the write and its removal fail.
    Stuck(usize),
}

#[derive(Debug, Default)]
struct FaultPlan {
    writes: u64,
    faults: BTreeMap<u64, WriteFault>,
    sync_fails: usize,
    cut_fails: usize,
    anchor_fails: usize,
}

/// A directory in memory that outlives its ledgers, so that a test can reopen it and change its bytes.
#[derive(Debug, Clone, Default)]
pub struct TestDirectory {
    shared: SharedFiles,
    plan: Arc<Mutex<FaultPlan>>,
}

impl TestDirectory {
    /// Creates an empty directory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn plan(&self) -> MutexGuard<'_, FaultPlan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the ledger in the directory.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::open`].
    pub fn open(
        &self,
        new_id: LedgerId,
        clock: Box<dyn Clock>,
        durability: Durability,
        folds: Folds,
    ) -> Result<OpenedLedger, LedgerError> {
        let medium = FaultyMedium { inner: MemoryMedium::new(self.shared.clone()), directory: self.clone() };
        Ledger::start(Box::new(medium), new_id, clock, durability, folds)
    }

    /// Returns the content of a file.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.shared.files().get(name).cloned()
    }

    /// Replaces a file, as another program might.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        self.shared.files().put(name, bytes.to_vec());
    }

    /// Returns the names of the files.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        MemoryMedium::new(self.shared.clone()).names().unwrap_or_default()
    }

    /// Returns the number of appends that were tried.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.plan().writes
    }

    /// Makes one append fail, by its number from 0 over all ledgers of the directory.
    pub fn fail_write(&self, number: u64, fault: WriteFault) {
        self.plan().faults.insert(number, fault);
    }

    /// Makes the next replacements of `ledger.checkpoint` fail.
    pub fn fail_anchor(&self, times: usize) {
        self.plan().anchor_fails = times;
    }
}

#[derive(Debug)]
struct FaultyMedium {
    inner: MemoryMedium,
    directory: TestDirectory,
}

fn refused() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

fn used(left: &mut usize) -> io::Result<()> {
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            Err(refused())
        }
        None => Ok(()),
    }
}

impl Medium for FaultyMedium {
    fn lock(&mut self) -> Result<(), LedgerError> {
        self.inner.lock()
    }

    fn unlock(&mut self) {
        self.inner.unlock();
    }

    fn live_state(&mut self) -> Result<LiveFileState, LedgerError> {
        self.inner.live_state()
    }

    fn open_live(&mut self) -> Result<u64, LedgerError> {
        self.inner.open_live()
    }

    fn create_live(&mut self) -> Result<(), LedgerError> {
        self.inner.create_live()
    }

    fn live(&self) -> Result<&dyn Tape, LedgerError> {
        self.inner.live()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut plan = self.directory.plan();
        let number = plan.writes;
        plan.writes = number + 1;
        let mut part = |count: usize| self.inner.append(bytes.get(..count).unwrap_or(bytes));
        match plan.faults.get(&number).copied() {
            None => part(bytes.len()),
            Some(WriteFault::Refused) => Err(refused()),
            Some(WriteFault::Short(count)) => part(count),
            Some(WriteFault::NotSynced) => {
                plan.sync_fails = 1;
                part(bytes.len())
            }
            Some(WriteFault::Stuck(count)) => {
                plan.cut_fails = 1;
                part(count).and_then(|_| Err(refused()))
            }
        }
    }

    fn cut(&mut self, to: u64) -> io::Result<()> {
        used(&mut self.directory.plan().cut_fails)?;
        self.inner.cut(to)
    }

    fn sync(&mut self) -> io::Result<()> {
        used(&mut self.directory.plan().sync_fails)?;
        self.inner.sync()
    }

    fn copy_tail(&mut self, from: u64, name: &str) -> io::Result<()> {
        self.inner.copy_tail(from, name)
    }

    fn write_file(&mut self, name: &str, bytes: &[u8], keep: SyncMode) -> io::Result<()> {
        used(&mut self.directory.plan().anchor_fails)?;
        self.inner.write_file(name, bytes, keep)
    }

    fn rename(&mut self, from: &str, to: &str, keep: SyncMode) -> io::Result<()> {
        self.inner.rename(from, to, keep)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.inner.names()
    }

    fn open_file(&self, name: &str) -> Result<Box<dyn Tape>, LedgerError> {
        self.inner.open_file(name)
    }
}
