//! The files of a ledger as they stand, for reading alone.

use core::fmt;

use cap_std::fs::Dir;

use crate::checkpoint::Checkpoint;
use crate::error::LedgerError;
#[cfg(not(unix))]
use crate::error::LedgerErrorKind;
use crate::lines::read_range;
use crate::medium::Tape;
use crate::record::Record;
use crate::verify::{Verified, Verifier, VerifyPlan};

const PIECE: u64 = 1024 * 1024;

/// All segments of a ledger in their order, each up to the size that it had when it was opened.
///
/// Nothing is written, no hold is taken, and rights are not looked at: a copy on a read-only disk serves as well.
pub struct LedgerFiles {
    files: Vec<(String, Box<dyn Tape>, u64)>,
    checkpoint: Option<Checkpoint>,
}

impl LedgerFiles {
    /// Opens what is in a state folder.
    ///
    /// # Errors
    /// `ledger/not-ours` for a link, FIFO or the like; `ledger/text` for a `ledger.checkpoint` that is none; `ledger/io`, also where
    /// there is no ledger.
    pub fn open(dir: &Dir) -> Result<Self, LedgerError> {
        #[cfg(unix)]
        {
            let (files, anchor) = crate::disk::read_files(dir)?;
            let checkpoint = anchor.as_deref().map(Checkpoint::parse).transpose()?;
            Ok(Self { files, checkpoint })
        }
        #[cfg(not(unix))]
        {
            drop(dir);
            Err(LedgerError::new(LedgerErrorKind::Unsupported))
        }
    }

    /// Takes files that are open, the oldest first, each with the name that reports shall use.
    ///
    /// # Errors
    /// `ledger/not-ours` for what is no regular file; `ledger/io`.
    #[cfg(unix)]
    pub fn from_files(files: Vec<(String, std::fs::File)>) -> Result<Self, LedgerError> {
        let open = |(name, file): (String, std::fs::File)| crate::disk::given(name, file);
        Ok(Self { files: files.into_iter().map(open).collect::<Result<_, _>>()?, checkpoint: None })
    }

    /// Names the files, the oldest first.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.files.iter().map(|(name, ..)| name.as_str()).collect()
    }

    /// Gives the checkpoint that lies beside the ledger. It shows less than one that is kept elsewhere: whoever can change the one can
    /// change the other.
    #[must_use]
    pub const fn checkpoint(&self) -> Option<&Checkpoint> {
        self.checkpoint.as_ref()
    }

    /// Verifies everything, and hands each record that fits to `each`, with its line and its LF.
    ///
    /// # Errors
    /// `ledger/io` where a file cannot be read.
    pub fn verify(
        &self,
        plan: VerifyPlan,
        each: &mut dyn FnMut(&Record, &[u8]),
    ) -> Result<Verified, LedgerError> {
        let mut verifier = Verifier::new(plan);
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
