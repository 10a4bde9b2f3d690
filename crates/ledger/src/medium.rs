//! What a ledger needs of the place where its files are.

use std::io;

use crate::error::LedgerError;

/// The file that is appended to.
pub(crate) const LIVE: &str = "ledger.jsonl";
/// The file whose hold orders all appends.
#[cfg(unix)]
pub(crate) const LOCK: &str = "ledger.lock";
/// The newest checkpoint, beside the ledger.
pub(crate) const ANCHOR: &str = "ledger.checkpoint";
/// A new segment before it takes the place of the live file.
pub(crate) const NEXT: &str = "ledger.next";

/// Bytes that can be read at any place.
pub(crate) trait Tape {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize>;
    fn size(&self) -> io::Result<u64>;
}

/// What the name of the live file leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Missing,
    /// The file that is open, with its size.
    Same(u64),
    /// Another file than the one that is open.
    Other,
}

/// Whether a small file must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Synced,
    Unsynced,
}

/// One folder with the files of one ledger. All but `hold` and the opening are called under the hold.
pub(crate) trait Medium: Send {
    fn hold(&mut self) -> Result<(), LedgerError>;
    fn release(&mut self);
    fn look(&mut self) -> Result<Look, LedgerError>;
    /// Opens the live file by its name and gives its size.
    fn open_live(&mut self) -> Result<u64, LedgerError>;
    /// Makes an empty live file where there is none, and opens it.
    fn create_live(&mut self) -> Result<(), LedgerError>;
    fn live(&self) -> Result<&dyn Tape, LedgerError>;
    /// Writes once to the end of the live file and says how much of it went in.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;
    fn cut(&mut self, to: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
    /// Copies the end of the live file to a new file, synced.
    fn copy_tail(&mut self, from: u64, name: &str) -> io::Result<()>;
    /// Writes a file under a name of its own, whole or not at all but for a crash.
    fn write_file(&mut self, name: &str, bytes: &[u8], keep: Keep) -> io::Result<()>;
    fn rename(&mut self, from: &str, to: &str, keep: Keep) -> io::Result<()>;
    fn names(&self) -> io::Result<Vec<String>>;
    fn open_file(&self, name: &str) -> Result<Box<dyn Tape>, LedgerError>;
}
