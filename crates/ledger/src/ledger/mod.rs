//! The public handle of a ledger.

pub(crate) mod fold;
pub(crate) mod open;
pub(crate) mod state;

use core::fmt;
use core::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard};

use cap_std::fs::Dir;

use crate::chain::checkpoint::Checkpoint;
use crate::error::{LedgerError, LedgerErrorKind};
use crate::format::digest::{LedgerDigest, LedgerId};
use crate::format::event::LedgerEvent;
use crate::format::time::{Clock, LedgerTime};
use crate::ledger::fold::Folds;
use crate::ledger::state::Core;
use crate::storage::Medium;
use crate::storage::memory::{MemoryMedium, SharedFiles};

/// When an append waits for the disk. Has no default, because the host must choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host must choose among all of them")]
pub enum Durability {
    /// After each append.
    Every,
    /// After grant, decision, pin, approval, exception and revocation records, and after every 64 records.
    Decisions,
    /// After every so many records.
    Group(NonZeroU32),
    /// Never, except for the first record, explicit checkpoints and new segments. A power cut can lose
    /// everything else.
    Off,
}

/// The position of an append in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    first_seq: u64,
    head: LedgerDigest,
    ts: LedgerTime,
}

impl Receipt {
    pub(crate) const fn new(first_seq: u64, head: LedgerDigest, ts: LedgerTime) -> Self {
        Self { first_seq, head, ts }
    }

    /// Returns the `seq` of the first event. The others follow without gaps.
    #[must_use]
    pub const fn first_seq(&self) -> u64 {
        self.first_seq
    }

    /// Returns the digest of the last line.
    #[must_use]
    pub const fn head(&self) -> LedgerDigest {
        self.head
    }

    /// Returns the timestamp that all records of the append share.
    #[must_use]
    pub const fn ts(&self) -> LedgerTime {
        self.ts
    }
}

/// A torn tail that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveredTail {
    /// The offset of the tail in the live file.
    pub offset: u64,
    /// The length of the tail.
    pub bytes: u64,
    /// The digest of the tail.
    pub sha256: LedgerDigest,
    /// The file with a copy of the tail.
    pub saved_as: String,
}

/// An open ledger, and the outcome of opening it.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenedLedger {
    /// The ledger.
    pub ledger: Ledger,
    /// The torn tail, if there was one.
    pub recovered: Option<RecoveredTail>,
}

/// The state of the ledger during a decision under the file lock.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LedgerView<'a> {
    /// The folds, with the records of all processes.
    pub folds: &'a Folds,
    /// The timestamp that the records of this append will have.
    pub now: LedgerTime,
}

/// The result of [`Ledger::append_if`].
#[derive(Debug)]
#[non_exhaustive]
pub struct AppendDecision<T> {
    /// The value that the closure returned.
    pub value: T,
    /// The position of its events; `None` if it had none.
    pub receipt: Option<Receipt>,
}

/// An append-only, hash-chained log. Clones share one handle.
///
/// # Guarantees
///
/// After `Ok` of an append its records are in the file, complete and adjacent, after all earlier records.
/// They survive the process, and a power cut as far as [`Durability`] specifies. After `Err` the caller must
/// not act on them. Several processes can use the same directory: they append in turn, and each sees the
/// records of the others before it decides.
///
/// # Examples
///
/// ```
/// use plugward_ledger::{LedgerEvent, Folds, Ledger, LedgerId, LedgerTime};
///
/// let clock = || LedgerTime::from_unix_micros(1_795_297_683_123_456).unwrap();
/// let ledger = Ledger::in_memory(LedgerId::from_bytes([7; 16]), Box::new(clock), Folds::none())?;
/// let decided = ledger.append_if(|view| {
///     let event = LedgerEvent::ExceptionUsed { setting: "pins.on_store_error".into(), reason: "unreadable".into() };
///     (vec![event], view.now)
/// })?;
/// assert_eq!(decided.receipt.map(|receipt| receipt.ts()), Some(decided.value));
/// # Ok::<(), plugward_ledger::LedgerError>(())
/// ```
#[derive(Clone)]
pub struct Ledger(Arc<Mutex<Core>>);

/// Holds the file lock, and releases it when dropped, also during a panic.
struct LockedLedger<'a>(MutexGuard<'a, Core>);

impl Drop for LockedLedger<'_> {
    fn drop(&mut self) {
        self.0.medium.unlock();
    }
}

impl Ledger {
    /// Opens the ledger in a directory, or creates one with `new_id`.
    ///
    /// The hash chain of the live segment is followed from its first line, at about the speed of SHA-256.
    /// Records since the last checkpoint are parsed in full. Sealed segments are left to
    /// [`LedgerFiles::verify`](crate::LedgerFiles::verify), since they may have been moved away on purpose. A
    /// torn tail is set aside and recorded.
    ///
    /// # Errors
    ///
    /// - `ledger/lost`: `ledger.checkpoint` is damaged, or covers records that are missing or different.
    /// - `ledger/not-ours`: the directory or a file has other permissions, another owner or type, or several
    ///   hard links.
    /// - `ledger/broken`: a line of the live segment does not fit the chain.
    /// - `ledger/version`: a record has a newer format.
    /// - `ledger/held`: another process held the file lock for too long.
    /// - `ledger/io`: the system reported an error.
    /// - `ledger/append`: a first record or a recovery could not be written.
    pub fn open(
        dir: &Dir,
        new_id: LedgerId,
        clock: Box<dyn Clock>,
        durability: Durability,
        folds: Folds,
    ) -> Result<OpenedLedger, LedgerError> {
        #[cfg(unix)]
        return Self::start(
            Box::new(crate::storage::disk::DiskMedium::open(dir)?),
            new_id,
            clock,
            durability,
            folds,
        );
        #[cfg(not(unix))]
        {
            drop((dir, new_id, clock, durability, folds));
            Err(LedgerError::new(LedgerErrorKind::Unsupported))
        }
    }

    /// Creates a ledger in memory, which ends with the process.
    ///
    /// # Errors
    ///
    /// None in practice: the first record fits in memory.
    pub fn in_memory(id: LedgerId, clock: Box<dyn Clock>, folds: Folds) -> Result<Self, LedgerError> {
        let medium = Box::new(MemoryMedium::new(SharedFiles::default()));
        Ok(Self::start(medium, id, clock, Durability::Off, folds)?.ledger)
    }

    pub(crate) fn start(
        medium: Box<dyn Medium>,
        new_id: LedgerId,
        clock: Box<dyn Clock>,
        durability: Durability,
        folds: Folds,
    ) -> Result<OpenedLedger, LedgerError> {
        let ledger = Self(Arc::new(Mutex::new(Core::new(medium, clock, durability, folds))));
        let recovered = {
            let mut locked = ledger.lock()?;
            locked.0.expected = locked.0.read_anchor()?;
            let recovered = locked.0.start(new_id)?;
            locked.0.expected = None;
            locked.0.write_anchor()?;
            recovered
        };
        Ok(OpenedLedger { ledger, recovered })
    }

    fn lock(&self) -> Result<LockedLedger<'_>, LedgerError> {
        // The lock is poisoned by a panic during an append, for example in a fold. Memory and file may differ
        // now.
        let Ok(mut core) = self.0.lock() else { return Err(LedgerError::new(LedgerErrorKind::Stopped)) };
        core.usable()?;
        core.medium.lock()?;
        Ok(LockedLedger(core))
    }

    /// Appends events in one piece, all or none.
    ///
    /// # Errors
    ///
    /// - `ledger/append`: the system refused the write.
    /// - `ledger/too-long`, `ledger/value`, `ledger/reserved`: an event is not a valid record of a caller.
    /// - `ledger/broken`, `ledger/version`, `ledger/other-ledger`, `ledger/held`: another process changed or
    ///   locked the files.
    /// - `ledger/stopped`: an earlier sync failed.
    pub fn append(&self, events: &[LedgerEvent]) -> Result<Receipt, LedgerError> {
        let decided = self.append_if(|_| (events.to_vec(), ()))?;
        decided.receipt.ok_or(LedgerError::new(LedgerErrorKind::Value { what: "no event" }))
    }

    /// Decides and appends under one file lock, after reading the records that other processes appended.
    ///
    /// The closure, the clock and the folds must not call this ledger, which would deadlock.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::append`]. The value is dropped, since a decision that could not be recorded must
    /// not take effect.
    pub fn append_if<T>(
        &self,
        f: impl FnOnce(LedgerView<'_>) -> (Vec<LedgerEvent>, T),
    ) -> Result<AppendDecision<T>, LedgerError> {
        let mut locked = self.lock()?;
        let (value, receipt) = locked.0.transact(|folds, now| f(LedgerView { folds, now }))?;
        Ok(AppendDecision { value, receipt })
    }

    /// Reads the folds after reading the records that other processes appended.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::append`], except for those of the write.
    pub fn read<T>(&self, f: impl FnOnce(LedgerView<'_>) -> T) -> Result<T, LedgerError> {
        let mut locked = self.lock()?;
        locked.0.catch_up()?;
        let now = locked.0.clock.now();
        Ok(f(LedgerView { folds: &locked.0.folds, now }))
    }

    /// Appends a checkpoint, syncs, and replaces `ledger.checkpoint`.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::append`], and `ledger/io` if the file could not be replaced.
    pub fn checkpoint(&self) -> Result<Checkpoint, LedgerError> {
        self.lock()?.0.checkpoint()
    }

    /// Syncs, and replaces `ledger.checkpoint` with one that covers all records, without appending a record.
    ///
    /// # Guarantees
    ///
    /// If a record so far is changed or removed later, and the checkpoint file is not, the next
    /// [`Ledger::open`] fails.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::append`], and `ledger/io` if the file could not be replaced.
    pub fn anchor(&self) -> Result<Checkpoint, LedgerError> {
        self.lock()?.0.anchor()
    }

    /// Appends a last checkpoint and drops the handle. Clones stay usable.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::checkpoint`].
    pub fn close(self) -> Result<Checkpoint, LedgerError> {
        self.checkpoint()
    }

    /// Waits until all appended records are on the disk.
    ///
    /// # Errors
    ///
    /// `ledger/append` with the system error. The handle is unusable afterwards.
    pub fn sync(&self) -> Result<(), LedgerError> {
        self.lock()?.0.sync()
    }

    /// Returns the id with which the ledger was created, which can differ from the one passed to `open`.
    ///
    /// # Errors
    ///
    /// `ledger/stopped` after a panic or a failed sync.
    pub fn id(&self) -> Result<LedgerId, LedgerError> {
        let Ok(core) = self.0.lock() else { return Err(LedgerError::new(LedgerErrorKind::Stopped)) };
        core.chain.id().ok_or(LedgerError::new(LedgerErrorKind::Stopped))
    }

    #[cfg(any(test, feature = "test-util"))]
    /// Starts a new segment after this many bytes. For tests.
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
