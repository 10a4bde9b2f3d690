//! Read-only access to the files of a ledger.

use core::fmt;

use cap_std::fs::Dir;

use crate::chain::checkpoint::Checkpoint;
use crate::chain::verify::{ChainVerification, ChainVerifier, VerifyPlan};
use crate::error::LedgerError;
#[cfg(not(unix))]
use crate::error::LedgerErrorKind;
use crate::format::record::LedgerRecord;
use crate::storage::Tape;
use crate::storage::lines::{find_back, read_range};

const PIECE: u64 = 1024 * 1024;

/// All segments of a ledger in order, each up to its size when it was opened.
///
/// Nothing is written, no file lock is taken, and permissions are not checked, so a copy on a read-only disk
/// can be verified.
pub struct LedgerFiles {
    files: Vec<(String, Box<dyn Tape>, u64)>,
    checkpoint: Option<Checkpoint>,
}

impl LedgerFiles {
    /// Opens the ledger in a state directory.
    ///
    /// # Errors
    ///
    /// - `ledger/not-ours`: a file is a symlink, FIFO or the like.
    /// - `ledger/text`: `ledger.checkpoint` is not a checkpoint.
    /// - `ledger/io`: a file cannot be read, or there is no ledger.
    pub fn open(dir: &Dir) -> Result<Self, LedgerError> {
        #[cfg(unix)]
        {
            let (files, anchor) = crate::storage::disk::read_files(dir)?;
            let checkpoint = anchor.as_deref().map(Checkpoint::parse).transpose()?;
            Ok(Self { files, checkpoint })
        }
        #[cfg(not(unix))]
        {
            drop(dir);
            Err(LedgerError::new(LedgerErrorKind::Unsupported))
        }
    }

    /// Wraps open files, oldest first, each with its name for reports.
    ///
    /// # Errors
    ///
    /// `ledger/not-ours` if one is not a regular file; `ledger/io` if the system reports an error.
    #[cfg(unix)]
    pub fn from_files(files: Vec<(String, std::fs::File)>) -> Result<Self, LedgerError> {
        let open = |(name, file): (String, std::fs::File)| crate::storage::disk::given(name, file);
        Ok(Self { files: files.into_iter().map(open).collect::<Result<_, _>>()?, checkpoint: None })
    }

    /// Returns the names of the files, oldest first.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.files.iter().map(|(name, ..)| name.as_str()).collect()
    }

    /// Returns the checkpoint in the state directory.
    ///
    /// It proves less than one that is stored elsewhere: anyone who can change the ledger can change it too.
    #[must_use]
    pub const fn checkpoint(&self) -> Option<&Checkpoint> {
        self.checkpoint.as_ref()
    }

    /// Returns the last record of a type that matches, without verifying the chain.
    ///
    /// # Errors
    ///
    /// `ledger/io` if a file cannot be read.
    pub fn find_last(
        &self,
        type_name: &str,
        matches: impl Fn(&LedgerRecord) -> bool,
    ) -> Result<Option<LedgerRecord>, LedgerError> {
        // Parsing a line costs far more than this search, and few lines have the type.
        let mark = format!("\"type\":\"{type_name}\"");
        let mut find = |line: &[u8]| LedgerRecord::parse(line).ok().filter(&matches);
        for (_, tape, size) in self.files.iter().rev() {
            let found = find_back(tape.as_ref(), *size, mark.as_bytes(), &mut find);
            if let Some(found) = found.map_err(|error| LedgerError::io("read the ledger", error))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Verifies all records, and passes each valid one to `each`, with its line and LF.
    ///
    /// # Errors
    ///
    /// `ledger/io` if a file cannot be read.
    pub fn verify(
        &self,
        plan: VerifyPlan,
        each: &mut dyn FnMut(&LedgerRecord, &[u8]),
    ) -> Result<ChainVerification, LedgerError> {
        let mut verifier = ChainVerifier::new(plan);
        for (name, tape, size) in &self.files {
            verifier.begin(name);
            let mut at = 0;
            while at < *size && verifier.goes_on() {
                let upto = at.saturating_add(PIECE).min(*size);
                let piece = read_range(tape.as_ref(), at, upto);
                verifier.feed(&piece.map_err(|error| LedgerError::io("read the ledger", error))?, each);
                at = upto;
            }
        }
        Ok(verifier.finish())
    }
}

impl fmt::Debug for LedgerFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LedgerFiles")
            .field("files", &self.names())
            .field("checkpoint", &self.checkpoint)
            .finish()
    }
}
