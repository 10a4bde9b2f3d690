//! The storage operations that a ledger needs.

#[cfg(unix)]
pub(crate) mod disk;
#[cfg(any(test, feature = "test-util"))]
pub(crate) mod faults;
pub(crate) mod lines;
pub(crate) mod memory;

use std::io;

use crate::error::LedgerError;

/// The file to which records are appended.
pub(crate) const LIVE: &str = "ledger.jsonl";
/// The file whose lock serializes all appends.
#[cfg(unix)]
pub(crate) const LOCK: &str = "ledger.lock";
/// The file with the newest checkpoint.
pub(crate) const ANCHOR: &str = "ledger.checkpoint";
/// A new segment before it replaces the live file.
pub(crate) const NEXT: &str = "ledger.next";

/// Bytes that can be read at any offset.
pub(crate) trait Tape {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize>;
    fn size(&self) -> io::Result<u64>;
}

/// The file at the path of the live file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiveFileState {
    Missing,
    /// The open file, with its size.
    Same(u64),
    /// A file other than the open one.
    Other,
}

/// Whether a small file must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyncMode {
    Synced,
    Unsynced,
}

/// A directory with the files of one ledger. All methods except `lock` and those that open it are called
/// under the file lock.
pub(crate) trait Medium: Send {
    fn lock(&mut self) -> Result<(), LedgerError>;
    fn unlock(&mut self);
    fn live_state(&mut self) -> Result<LiveFileState, LedgerError>;
    /// Opens the live file by its path and returns its size.
    fn open_live(&mut self) -> Result<u64, LedgerError>;
    /// Creates and opens an empty live file.
    fn create_live(&mut self) -> Result<(), LedgerError>;
    fn live(&self) -> Result<&dyn Tape, LedgerError>;
    /// Writes once to the end of the live file and returns the number of written bytes.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;
    fn cut(&mut self, to: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
    /// Copies the end of the live file to a new file and syncs it.
    fn copy_tail(&mut self, from: u64, name: &str) -> io::Result<()>;
    /// Writes a file under its own name. Only a crash leaves it incomplete.
    fn write_file(&mut self, name: &str, bytes: &[u8], keep: SyncMode) -> io::Result<()>;
    fn rename(&mut self, from: &str, to: &str, keep: SyncMode) -> io::Result<()>;
    fn names(&self) -> io::Result<Vec<String>>;
    fn open_file(&self, name: &str) -> Result<Box<dyn Tape>, LedgerError>;
}
