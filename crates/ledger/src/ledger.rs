//! The ledger as its callers see it.

use core::fmt;
use core::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard};

use cap_std::fs::Dir;

use crate::checkpoint::Checkpoint;
use crate::error::{LedgerError, LedgerErrorKind};
use crate::event::Event;
use crate::fold::Folds;
use crate::inner::Core;
use crate::medium::Medium;
use crate::memory::{Memory, Shared};
use crate::sum::{LedgerId, Sum};
use crate::time::{Clock, Timestamp};

/// When the ledger waits for the disk. An argument without default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host must choose among all of them")]
pub enum Durability {
    /// After each append.
    Every,
    /// After mint, decision, pin, approval, exception and revoke records, and whenever 64 records wait.
    Decisions,
    /// Whenever so many records wait.
    Group(NonZeroU32),
    /// Never, but for the first record, a checkpoint that is asked for, and a new segment. A power cut can lose all else.
    Off,
}

/// Where an append stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    first_seq: u64,
    head: Sum,
    ts: Timestamp,
}

impl Receipt {
    pub(crate) const fn new(first_seq: u64, head: Sum, ts: Timestamp) -> Self {
        Self { first_seq, head, ts }
    }

    /// Gives the `seq` of the first event of the append; the others follow without gaps.
    #[must_use]
    pub const fn first_seq(&self) -> u64 {
        self.first_seq
    }

    /// Gives the sum of the last line.
    #[must_use]
    pub const fn head(&self) -> Sum {
        self.head
    }

    /// Gives the moment that all records of the append carry.
    #[must_use]
    pub const fn ts(&self) -> Timestamp {
        self.ts
    }
}

/// A torn tail that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Where in the live file it began.
    pub offset: u64,
    /// How long it was.
    pub bytes: u64,
    /// Its sum.
    pub sha256: Sum,
    /// The file beside the ledger that holds it.
    pub saved_as: String,
}

/// An open ledger, and what was done to open it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The ledger.
    pub ledger: Ledger,
    /// The torn tail that was found, if there was one.
    pub recovered: Option<Recovered>,
}

/// What a decision under the hold can see.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct View<'a> {
    /// The folds, with everything that any process appended so far.
    pub folds: &'a Folds,
    /// The moment that the records of this append will carry.
    pub now: Timestamp,
}

/// What [`Ledger::append_if`] gives back.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decided<T> {
    /// What the closure decided.
    pub value: T,
    /// Where its events stand; `None` where it had none.
    pub receipt: Option<Receipt>,
}

/// An append-only, hash-chained record. Clones share one handle.
///
/// # Guarantees
/// After `Ok` of an append its records stand in the file, whole and next to each other, behind everything that was there; after `Err`
/// nobody may act on them. They survive the process; they survive a power cut as far as [`Durability`] says. Other processes on the same
/// folder append in turn, and each sees the others' records before it decides.
///
/// # Source
/// SPEC 4.7; `capability.md`, section 2.
#[derive(Clone)]
pub struct Ledger(Arc<Mutex<Core>>);

/// Has the hold, and gives it back whatever happens.
struct Held<'a>(MutexGuard<'a, Core>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.medium.release();
    }
}

impl Ledger {
    /// Opens the ledger in a folder, or makes one with `new_id` where there is none.
    ///
    /// The hash chain of the live segment is followed from its first line, at about the speed of SHA-256; records since the
    /// last checkpoint are read whole. Sealed segments are left to [`LedgerFiles::verify`](crate::LedgerFiles::verify),
    /// since they may have been moved away on purpose. A torn tail is set aside and recorded.
    ///
    /// # Errors
    /// `ledger/lost` if `ledger.checkpoint` covers records that are missing or others, and if it is damaged;
    /// `ledger/not-ours` for a folder or file with other rights, owner, kind or number of links; `ledger/broken` if a line
    /// of the live segment does not fit the chain; `ledger/version` for records of a newer format; `ledger/held`; `ledger/io`; `ledger/append` where a
    /// first record or a recovery could not be written.
    pub fn open(
        dir: &Dir,
        new_id: LedgerId,
        clock: Box<dyn Clock>,
        durability: Durability,
        folds: Folds,
    ) -> Result<Opened, LedgerError> {
        #[cfg(unix)]
        return Self::start(Box::new(crate::disk::Disk::open(dir)?), new_id, clock, durability, folds);
        #[cfg(not(unix))]
        {
            drop((dir, new_id, clock, durability, folds));
            Err(LedgerError::new(LedgerErrorKind::Unsupported))
        }
    }

    /// Makes a ledger that ends with the process, without folds.
    ///
    /// # Errors
    /// None that a host could cause: the first record fits in memory.
    pub fn in_memory(id: LedgerId, clock: Box<dyn Clock>, folds: Folds) -> Result<Self, LedgerError> {
        let medium = Box::new(Memory::new(Shared::default()));
        Ok(Self::start(medium, id, clock, Durability::Off, folds)?.ledger)
    }

    pub(crate) fn start(
        medium: Box<dyn Medium>,
        new_id: LedgerId,
        clock: Box<dyn Clock>,
        durability: Durability,
        folds: Folds,
    ) -> Result<Opened, LedgerError> {
        let ledger = Self(Arc::new(Mutex::new(Core::new(medium, clock, durability, folds))));
        let recovered = {
            let mut held = ledger.hold()?;
            held.0.expected = held.0.read_anchor()?;
            let recovered = held.0.start(new_id)?;
            held.0.expected = None;
            held.0.write_anchor()?;
            recovered
        };
        Ok(Opened { ledger, recovered })
    }

    fn hold(&self) -> Result<Held<'_>, LedgerError> {
        // A panic in the middle of an append, in a fold for example: what is in memory may not be what is in the file.
        let Ok(mut core) = self.0.lock() else { return Err(LedgerError::new(LedgerErrorKind::Stopped)) };
        core.usable()?;
        core.medium.hold()?;
        Ok(Held(core))
    }

    /// Appends events as one piece, all or none.
    ///
    /// # Errors
    /// `ledger/append` where the system refused it; `ledger/too-long`, `ledger/value`, `ledger/reserved` for events that are no records of a
    /// caller; `ledger/broken`, `ledger/version`, `ledger/other-ledger`, `ledger/held` for what others did to the files; `ledger/stopped`
    /// after a failed sync.
    pub fn append(&self, events: &[Event]) -> Result<Receipt, LedgerError> {
        let decided = self.append_if(|_| (events.to_vec(), ()))?;
        decided.receipt.ok_or(LedgerError::new(LedgerErrorKind::Value { what: "no event" }))
    }

    /// Decides and appends under one hold, after everything that others appended was taken into account.
    ///
    /// The closure, like the clock and the folds, must not call this ledger: it has the hold already, and would wait for itself.
    ///
    /// # Errors
    /// Those of [`Ledger::append`]. The value is dropped then: a decision that could not be recorded was not made.
    pub fn append_if<T>(
        &self,
        f: impl FnOnce(View<'_>) -> (Vec<Event>, T),
    ) -> Result<Decided<T>, LedgerError> {
        let mut held = self.hold()?;
        let (value, receipt) = held.0.transact(|folds, now| f(View { folds, now }))?;
        Ok(Decided { value, receipt })
    }

    /// Looks at the folds after everything that others appended was taken into account.
    ///
    /// # Errors
    /// Those of [`Ledger::append`], but for those of the write.
    pub fn look<T>(&self, f: impl FnOnce(View<'_>) -> T) -> Result<T, LedgerError> {
        let mut held = self.hold()?;
        held.0.catch_up()?;
        let now = held.0.clock.now();
        Ok(f(View { folds: &held.0.folds, now }))
    }

    /// Appends a checkpoint, syncs, and replaces `ledger.checkpoint`.
    ///
    /// # Errors
    /// Those of [`Ledger::append`], and `ledger/io` where the file could not be replaced.
    pub fn checkpoint(&self) -> Result<Checkpoint, LedgerError> {
        self.hold()?.0.checkpoint()
    }

    /// Syncs, and replaces `ledger.checkpoint` with one that covers all records, without a record of its own.
    ///
    /// # Guarantees
    /// If one of the records so far is altered or removed later, and the file is not, the next [`Ledger::open`] fails.
    ///
    /// # Errors
    /// Those of [`Ledger::append`], and `ledger/io` if the file could not be replaced.
    pub fn anchor(&self) -> Result<Checkpoint, LedgerError> {
        self.hold()?.0.anchor()
    }

    /// Appends a last checkpoint and lets go of the handle; clones stay usable.
    ///
    /// # Errors
    /// Those of [`Ledger::checkpoint`].
    pub fn close(self) -> Result<Checkpoint, LedgerError> {
        self.checkpoint()
    }

    /// Waits until everything that was appended is on the disk.
    ///
    /// # Errors
    /// `ledger/append` with the system's cause; the handle is of no use any more then.
    pub fn sync(&self) -> Result<(), LedgerError> {
        self.hold()?.0.sync()
    }

    /// Names the ledger: the id that it was made with, which need not be the one that was handed to `open`.
    ///
    /// # Errors
    /// `ledger/stopped` after a panic or a failed sync.
    pub fn id(&self) -> Result<LedgerId, LedgerError> {
        let Ok(core) = self.0.lock() else { return Err(LedgerError::new(LedgerErrorKind::Stopped)) };
        core.chain.id().ok_or(LedgerError::new(LedgerErrorKind::Stopped))
    }

    #[cfg(any(test, feature = "test-util"))]
    /// Starts a new segment above so many bytes. For tests.
    pub fn set_segment_bytes(&self, bytes: u64) {
        if let Ok(mut core) = self.0.lock() {
            core.segment = bytes;
        }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("id", &self.id().ok()).finish_non_exhaustive()
    }
}
