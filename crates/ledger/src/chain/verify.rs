//! Verification of a chain from its first record, in one pass over its bytes.

use std::io;

use crate::chain::Chain;
use crate::chain::checkpoint::Checkpoint;
use crate::error::{ChainFault, LedgerError};
use crate::format::digest::{LedgerDigest, LedgerId};
use crate::format::event::LedgerEvent;
use crate::format::record::{LedgerRecord, MAX_LINE};
use crate::ledger::fold::Folds;

/// The result of verifying a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum ChainCheck {
    /// Every line follows from the one before.
    Whole {
        /// The number of lines.
        records: u64,
        /// The digest of the last line.
        head: LedgerDigest,
        /// The RFC 6962 tree hash of all lines.
        root: LedgerDigest,
    },
    /// The last line is incomplete, and all before it are valid. The next `open` sets it aside.
    Torn {
        /// The file, as named in [`ChainVerifier::begin`].
        file: String,
        /// The offset of the incomplete part in that file.
        offset: u64,
        /// The length of the incomplete part.
        bytes: u64,
    },
    /// A line does not fit. The lines after it were not checked.
    Broken {
        /// The file, as named in [`ChainVerifier::begin`].
        file: String,
        /// The line in that file, from 1.
        line: u64,
        /// The expected `seq`.
        seq: u64,
        /// Why the line does not fit.
        why: ChainFault,
    },
    /// The first records are missing, and the plan does not allow that.
    StartsLate {
        /// The `seq` of the first record.
        seq: u64,
    },
    /// A checkpoint covers more lines than there are: the last records were removed.
    Truncated {
        /// The checkpoint.
        checkpoint: Checkpoint,
        /// The number of lines.
        have: u64,
    },
    /// A checkpoint belongs to other lines or another ledger: the records were replaced.
    Diverged {
        /// The checkpoint.
        checkpoint: Checkpoint,
    },
}

/// The parameters of a verification.
#[derive(Debug, Default)]
#[must_use]
pub struct VerifyPlan {
    against: Vec<Checkpoint>,
    from: Option<u64>,
    folds: Folds,
}

impl VerifyPlan {
    /// Verifies the chain alone.
    pub const fn new() -> Self {
        Self { against: Vec::new(), from: None, folds: Folds::none() }
    }

    /// Also compares with a checkpoint that was stored elsewhere.
    pub fn against(mut self, checkpoint: Checkpoint) -> Self {
        self.against.push(checkpoint);
        self
    }

    /// Allows that the records before this one are missing.
    pub const fn from(mut self, seq: u64) -> Self {
        self.from = Some(seq);
        self
    }

    /// Recomputes these folds and compares them with every stored snapshot.
    pub fn folds(mut self, folds: Folds) -> Self {
        self.folds = folds;
        self
    }
}

/// The outcome of a verification.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct ChainVerification {
    /// The result for the chain.
    pub check: ChainCheck,
    /// The ledger's id, if a record named it.
    pub ledger: Option<LedgerId>,
    /// The number of valid lines.
    pub records: u64,
    /// The `seq` of the first line.
    pub first_seq: u64,
    /// The checkpoints that match. Without any, the removal of the last records is not detected.
    pub anchored: Vec<Checkpoint>,
    /// The checkpoints whose size is before the verified part.
    pub unchecked: Vec<Checkpoint>,
    /// The recomputed folds.
    pub folds: Folds,
}

/// A verifier that takes the bytes of a ledger in pieces.
/// # Examples
/// ```
/// use plugward_ledger::{ChainCheck, ChainVerifier, VerifyPlan};
///
/// let mut verifier = ChainVerifier::new(VerifyPlan::new());
/// verifier.feed(b"not a record\n", &mut |_, _| ());
/// verifier.feed(b"nor is this\n", &mut |_, _| ());
/// let verification = verifier.finish();
/// assert!(matches!(verification.check, ChainCheck::Broken { line: 1, .. }));
/// assert_eq!(verification.records, 0);
/// ```
#[derive(Debug)]
#[must_use]
pub struct ChainVerifier {
    chain: Option<Chain>,
    /// A first line above 0, until the checkpoint after it provides the tree.
    late: Option<(LedgerDigest, LedgerId)>,
    /// The checkpoints that were not reached yet, the smallest last.
    against: Vec<Checkpoint>,
    anchored: Vec<Checkpoint>,
    unchecked: Vec<Checkpoint>,
    from: Option<u64>,
    folds: Folds,
    compare: bool,
    first_seq: u64,
    records: u64,
    file: String,
    line: u64,
    offset: u64,
    /// The start of a line whose LF did not arrive yet, and the length of that line so far.
    carry: Vec<u8>,
    carried: u64,
    /// A line with its LF that is not JSON: torn if it is the last one, broken if not.
    suspect: Option<(u64, u64)>,
    outcome: Option<ChainCheck>,
}

/// A longer part without an LF is not the torn tail of an append.
const MAX_TORN: u64 = 256 * 1024 * 1024;

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl ChainVerifier {
    /// Creates a verifier before the first line.
    pub fn new(plan: VerifyPlan) -> Self {
        let VerifyPlan { mut against, from, mut folds } = plan;
        // Largest first, so that `anchor` pops the next one from the end.
        against.sort_by_key(|checkpoint| core::cmp::Reverse(checkpoint.size()));
        folds.reset();
        Self {
            chain: None,
            late: None,
            against,
            anchored: Vec::new(),
            unchecked: Vec::new(),
            from,
            folds,
            compare: true,
            first_seq: 0,
            records: 0,
            file: String::new(),
            line: 0,
            offset: 0,
            carry: Vec::new(),
            carried: 0,
            suspect: None,
            outcome: None,
        }
    }

    /// Starts a file. Lines and offsets count from its start.
    pub fn begin(&mut self, file: &str) {
        if self.carried > 0 {
            // Only the last file can end in the middle of a line.
            self.line = self.line.saturating_add(1);
            self.fail(ChainFault::NotJson);
        }
        self.something_follows();
        file.clone_into(&mut self.file);
        (self.line, self.offset, self.carried) = (0, 0, 0);
        self.carry.clear();
    }

    fn something_follows(&mut self) {
        if self.suspect.take().is_some() {
            self.fail(ChainFault::NotJson);
        }
    }

    /// Reports that the last counted line does not fit. Only the first report counts.
    fn fail(&mut self, why: ChainFault) {
        let seq =
            self.chain.as_ref().map_or_else(|| self.first_seq.saturating_add(self.records), Chain::next_seq);
        self.end(ChainCheck::Broken { file: self.file.clone(), line: self.line, seq, why });
    }

    fn end(&mut self, outcome: ChainCheck) {
        // The first fault is the cause; later ones usually follow from it.
        self.outcome.get_or_insert(outcome);
    }

    /// Returns `true` if more bytes could change the result.
    pub(crate) const fn goes_on(&self) -> bool {
        self.outcome.is_none()
    }

    /// Verifies the next bytes, of any length, and passes each valid record to `each`, with its line and LF.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&LedgerRecord, &[u8])) {
        let mut rest = bytes;
        while self.outcome.is_none() && !rest.is_empty() {
            self.something_follows();
            let end = memchr::memchr(b'\n', rest);
            let (piece, after) = match end {
                Some(end) => rest.split_at_checked(end.saturating_add(1)).unwrap_or((rest, &[])),
                None => (rest, [].as_slice()),
            };
            rest = after;
            // Nearly all lines are complete within one piece and are not copied.
            if end.is_some() && self.carried == 0 {
                self.take(piece, count(piece.len()), each);
                continue;
            }
            // Of a line that is too long, only as much is stored as proves that.
            let room = MAX_LINE.saturating_add(1).saturating_sub(self.carry.len()).min(piece.len());
            self.carry.extend_from_slice(piece.get(..room).unwrap_or(&[]));
            self.carried = self.carried.saturating_add(count(piece.len()));
            // A file without line ends is not a torn ledger, however long. This bounds how much of it is read.
            if self.carried > MAX_TORN {
                self.line = self.line.saturating_add(1);
                self.fail(ChainFault::TooLong);
                return;
            }
            if end.is_some() {
                let (line, length) = (core::mem::take(&mut self.carry), core::mem::take(&mut self.carried));
                self.take(&line, length, each);
            }
        }
    }

    fn take(&mut self, line: &[u8], length: u64, each: &mut dyn FnMut(&LedgerRecord, &[u8])) {
        if self.outcome.is_some() {
            return;
        }
        self.line = self.line.saturating_add(1);
        let start = self.offset;
        self.offset = start.saturating_add(length);
        match self.fit(line) {
            Ok(Some(record)) => {
                self.records = self.records.saturating_add(1);
                each(&record, line);
            }
            Ok(None) => {}
            // A damaged last line may be the remains of an interrupted write. Whether it is the last is known
            // only when nothing follows.
            Err(ChainFault::NotJson | ChainFault::TooLong) => self.suspect = Some((start, length)),
            Err(why) => self.fail(why),
        }
    }

    fn fit(&mut self, line: &[u8]) -> Result<Option<LedgerRecord>, ChainFault> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if self.chain.is_none() {
            let record = LedgerRecord::parse(text)?;
            // Older segments may have been archived. Such a file begins with a record that repeats the head of
            // the previous segment.
            if self.late.is_none() && record.seq() != 0 {
                return self.fit_late(record, line);
            }
            self.chain = Some(match self.late {
                None => Chain::start(),
                Some((sum, id)) => self.late_chain(&record, sum, id)?,
            });
            self.anchor();
        }
        let Some(chain) = &mut self.chain else { return Ok(None) };
        let record = chain.check(text)?;
        if self.compare
            && let Some(LedgerEvent::Checkpoint { state: Some(state), .. }) = record.event()
            && self.folds.differs(state).is_some()
        {
            return Err(ChainFault::State);
        }
        chain.push(line, &record);
        self.folds.apply(&record);
        self.anchor();
        Ok(Some(record))
    }

    /// Accepts a first line above 0, which the plan must allow and which must name the segment before.
    fn fit_late(&mut self, record: LedgerRecord, line: &[u8]) -> Result<Option<LedgerRecord>, ChainFault> {
        self.first_seq = record.seq();
        if self.from != Some(record.seq()) {
            self.end(ChainCheck::StartsLate { seq: record.seq() });
            return Ok(None);
        }
        match record.event() {
            Some(LedgerEvent::LedgerContinued { ledger, head, .. }) if *head == record.prev() => {
                self.late = Some((LedgerDigest::of(line), *ledger));
                Ok(Some(record))
            }
            _ => Err(ChainFault::Opening),
        }
    }

    fn late_chain(
        &mut self,
        checkpoint: &LedgerRecord,
        sum: LedgerDigest,
        id: LedgerId,
    ) -> Result<Chain, ChainFault> {
        let seq = checkpoint.seq();
        if seq != self.first_seq.saturating_add(1) {
            return Err(ChainFault::Seq { found: seq });
        }
        if checkpoint.prev() != sum {
            return Err(ChainFault::Prev);
        }
        let Some(LedgerEvent::Checkpoint { state, .. }) = checkpoint.event() else {
            return Err(ChainFault::Opening);
        };
        // Without stored counters there is nothing to compare later ones with.
        self.compare = self.folds.restore(state.as_ref()).is_some();
        if !self.compare {
            self.folds.reset();
        }
        Chain::before_checkpoint(checkpoint, Some(id)).ok_or(ChainFault::Checkpoint)
    }

    /// Compares with the checkpoints whose size was just reached.
    fn anchor(&mut self) {
        let Some(chain) = &self.chain else { return };
        while let Some(next) = self.against.pop_if(|next| next.size() <= chain.next_seq()) {
            if next.size() == 0 || next.size() < chain.next_seq() {
                self.unchecked.push(next);
            } else if Some(next.ledger()) == chain.id() && next.root() == chain.frontier().root() {
                self.anchored.push(next);
            } else {
                self.outcome.get_or_insert(ChainCheck::Diverged { checkpoint: next });
            }
        }
    }

    /// Returns the result after the last byte.
    pub fn finish(mut self) -> ChainVerification {
        if self.records == 0 && self.carried == 0 && self.suspect.is_none() {
            // A file without records is not a ledger, so an empty file must not pass.
            self.line = 1;
            self.fail(ChainFault::Opening);
        }
        if self.late.is_some() && self.chain.is_none() {
            self.fail(ChainFault::Opening);
        }
        let have = self.chain.as_ref().map_or(self.records, Chain::next_seq);
        let id = self.chain.as_ref().and_then(Chain::id);
        if let Some(checkpoint) = self.against.first().cloned() {
            self.end(if id.is_some_and(|id| id != checkpoint.ledger()) {
                ChainCheck::Diverged { checkpoint }
            } else {
                ChainCheck::Truncated { checkpoint, have }
            });
        }
        let torn = if self.carried > 0 { Some((self.offset, self.carried)) } else { self.suspect };
        if let Some((offset, bytes)) = torn {
            self.end(ChainCheck::Torn { file: self.file.clone(), offset, bytes });
        }
        let (head, root) = self.chain.as_ref().map_or((LedgerDigest::ZERO, LedgerDigest::of(&[])), |chain| {
            (chain.head(), chain.frontier().root())
        });
        let check = self.outcome.take().unwrap_or(ChainCheck::Whole { records: self.records, head, root });
        ChainVerification {
            check,
            ledger: id,
            records: self.records,
            first_seq: self.first_seq,
            anchored: self.anchored,
            unchecked: self.unchecked,
            folds: self.folds,
        }
    }
}

/// Verifies a chain from its first record, in pieces of any length.
///
/// # Errors
///
/// `ledger/io` if a piece could not be read.
pub fn verify(
    pieces: impl Iterator<Item = io::Result<Vec<u8>>>,
    against: &[Checkpoint],
) -> Result<ChainCheck, LedgerError> {
    let plan = against.iter().cloned().fold(VerifyPlan::new(), VerifyPlan::against);
    let mut verifier = ChainVerifier::new(plan);
    for piece in pieces {
        let piece = piece.map_err(|error| LedgerError::io("read the ledger", error))?;
        verifier.feed(&piece, &mut |_, _| ());
    }
    Ok(verifier.finish().check)
}
