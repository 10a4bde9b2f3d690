//! Recomputing a chain from its first record, in one pass over its bytes.

use std::io;

use crate::chain::Chain;
use crate::checkpoint::Checkpoint;
use crate::error::{LedgerError, Why};
use crate::event::Event;
use crate::fold::Folds;
use crate::record::{MAX_LINE, Record};
use crate::sum::{LedgerId, Sum};

/// What a chain turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum ChainCheck {
    /// Every line follows from the one before.
    Whole {
        /// How many lines were read.
        records: u64,
        /// The sum of the last line.
        head: Sum,
        /// The RFC 6962 hash over all lines.
        root: Sum,
    },
    /// The last line is not whole; all before it are. The next `open` sets it aside.
    Torn {
        /// The file, as it was named to [`Verifier::begin`].
        file: String,
        /// Where in that file the torn part begins.
        offset: u64,
        /// How long it is.
        bytes: u64,
    },
    /// A line does not fit; nothing behind it was looked at.
    Broken {
        /// The file, as it was named to [`Verifier::begin`].
        file: String,
        /// The line in that file, from 1.
        line: u64,
        /// The `seq` that belongs there.
        seq: u64,
        /// What does not fit.
        why: Why,
    },
    /// The first records are not there, and nobody said that they are gone on purpose.
    StartsLate {
        /// The `seq` of the first record that is there.
        seq: u64,
    },
    /// A checkpoint covers more lines than there are: the last records were removed.
    Truncated {
        /// The checkpoint.
        checkpoint: Checkpoint,
        /// How many lines there are.
        have: u64,
    },
    /// A checkpoint belongs to other lines, or to another ledger: the records were replaced.
    Diverged {
        /// The checkpoint.
        checkpoint: Checkpoint,
    },
}

/// What to compare a chain with.
#[derive(Debug, Default)]
#[must_use]
pub struct VerifyPlan {
    against: Vec<Checkpoint>,
    from: Option<u64>,
    folds: Folds,
}

impl VerifyPlan {
    /// Compares with nothing but the chain itself.
    pub const fn new() -> Self {
        Self { against: Vec::new(), from: None, folds: Folds::none() }
    }

    /// Compares with a checkpoint that was kept.
    pub fn against(mut self, checkpoint: Checkpoint) -> Self {
        self.against.push(checkpoint);
        self
    }

    /// Accepts that the records before this one are gone.
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

/// The whole outcome of a verification.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct Verified {
    /// What the chain turned out to be.
    pub check: ChainCheck,
    /// The ledger's id, as far as a record named it.
    pub ledger: Option<LedgerId>,
    /// How many lines fit.
    pub records: u64,
    /// The number of the first of them.
    pub first_seq: u64,
    /// The checkpoints that fit. While there is none, removal of the last records would not show.
    pub anchored: Vec<Checkpoint>,
    /// The checkpoints of sizes that the part that was read does not reach back to.
    pub unchecked: Vec<Checkpoint>,
    /// The folds, recomputed.
    pub folds: Folds,
}

/// Takes the bytes of a ledger piece by piece.
#[derive(Debug)]
#[must_use]
pub struct Verifier {
    chain: Option<Chain>,
    /// A late first line, until the checkpoint behind it says where the tree stands.
    late: Option<(Sum, LedgerId)>,
    /// The checkpoints that are still ahead, the smallest last.
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
    /// The start of a line whose LF did not come yet, and how long that line is so far.
    carry: Vec<u8>,
    carried: u64,
    /// A line with its LF that is no JSON: torn if it is the last one, broken if not.
    suspect: Option<(u64, u64)>,
    outcome: Option<ChainCheck>,
}

/// More than this without an LF is no torn tail of any append.
const MAX_TORN: u64 = 256 * 1024 * 1024;

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Verifier {
    /// Starts before the first line.
    pub fn new(plan: VerifyPlan) -> Self {
        let VerifyPlan { mut against, from, mut folds } = plan;
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

    /// Names the file that the next bytes come from; lines and offsets count from its start.
    pub fn begin(&mut self, file: &str) {
        if self.carried > 0 {
            // Only the last file may end in the middle of a line.
            self.line = self.line.saturating_add(1);
            self.fail(Why::NotJson);
        }
        self.something_follows();
        file.clone_into(&mut self.file);
        (self.line, self.offset, self.carried) = (0, 0, 0);
        self.carry.clear();
    }

    fn something_follows(&mut self) {
        if self.suspect.take().is_some() {
            self.fail(Why::NotJson);
        }
    }

    /// Says that the line that was counted last does not fit. The first such answer stays.
    fn fail(&mut self, why: Why) {
        let seq =
            self.chain.as_ref().map_or_else(|| self.first_seq.saturating_add(self.records), Chain::next_seq);
        self.end(ChainCheck::Broken { file: self.file.clone(), line: self.line, seq, why });
    }

    fn end(&mut self, outcome: ChainCheck) {
        self.outcome.get_or_insert(outcome);
    }

    /// Whether more bytes could change the answer.
    pub(crate) const fn goes_on(&self) -> bool {
        self.outcome.is_none()
    }

    /// Takes the next bytes, of any length, and hands each record that fits to `each`, with its line and its LF.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&Record, &[u8])) {
        let mut rest = bytes;
        while self.outcome.is_none() && !rest.is_empty() {
            self.something_follows();
            let end = memchr::memchr(b'\n', rest);
            let (piece, after) = match end {
                Some(end) => rest.split_at_checked(end.saturating_add(1)).unwrap_or((rest, &[])),
                None => (rest, [].as_slice()),
            };
            rest = after;
            if end.is_some() && self.carried == 0 {
                self.take(piece, count(piece.len()), each);
                continue;
            }
            // Of a line that is too long only so much is kept as shows that it is.
            let room = MAX_LINE.saturating_add(1).saturating_sub(self.carry.len()).min(piece.len());
            self.carry.extend_from_slice(piece.get(..room).unwrap_or(&[]));
            self.carried = self.carried.saturating_add(count(piece.len()));
            if self.carried > MAX_TORN {
                self.line = self.line.saturating_add(1);
                self.fail(Why::TooLong);
                return;
            }
            if end.is_some() {
                let (line, length) = (core::mem::take(&mut self.carry), core::mem::take(&mut self.carried));
                self.take(&line, length, each);
            }
        }
    }

    fn take(&mut self, line: &[u8], length: u64, each: &mut dyn FnMut(&Record, &[u8])) {
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
            Err(Why::NotJson | Why::TooLong) => self.suspect = Some((start, length)),
            Err(why) => self.fail(why),
        }
    }

    fn fit(&mut self, line: &[u8]) -> Result<Option<Record>, Why> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if self.chain.is_none() {
            let record = Record::parse(text)?;
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
            && let Some(Event::Checkpoint { state: Some(state), .. }) = record.event()
            && self.folds.differs(state).is_some()
        {
            return Err(Why::State);
        }
        chain.push(line, &record);
        self.folds.apply(&record);
        self.anchor();
        Ok(Some(record))
    }

    /// The first line has a number above 0: it must be announced, and it must say what it goes on from.
    fn fit_late(&mut self, record: Record, line: &[u8]) -> Result<Option<Record>, Why> {
        self.first_seq = record.seq();
        if self.from != Some(record.seq()) {
            self.end(ChainCheck::StartsLate { seq: record.seq() });
            return Ok(None);
        }
        match record.event() {
            Some(Event::LedgerContinued { ledger, head, .. }) if *head == record.prev() => {
                self.late = Some((Sum::of(line), *ledger));
                Ok(Some(record))
            }
            _ => Err(Why::Opening),
        }
    }

    fn late_chain(&mut self, checkpoint: &Record, sum: Sum, id: LedgerId) -> Result<Chain, Why> {
        let seq = checkpoint.seq();
        if seq != self.first_seq.saturating_add(1) {
            return Err(Why::Seq { found: seq });
        }
        if checkpoint.prev() != sum {
            return Err(Why::Prev);
        }
        let Some(Event::Checkpoint { state, .. }) = checkpoint.event() else { return Err(Why::Opening) };
        // Without stored counters there is nothing that later ones could be compared with.
        self.compare = self.folds.restore(state.as_ref()).is_some();
        if !self.compare {
            self.folds.reset();
        }
        Chain::before_checkpoint(checkpoint, Some(id)).ok_or(Why::Checkpoint)
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

    /// Says what it was, after the last byte.
    pub fn finish(mut self) -> Verified {
        if self.records == 0 && self.carried == 0 && self.suspect.is_none() {
            // No record at all is no ledger: an empty file must not pass.
            self.line = 1;
            self.fail(Why::Opening);
        }
        if self.late.is_some() && self.chain.is_none() {
            self.fail(Why::Opening);
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
        let (head, root) = self
            .chain
            .as_ref()
            .map_or((Sum::ZERO, Sum::of(&[])), |chain| (chain.head(), chain.frontier().root()));
        let check = self.outcome.take().unwrap_or(ChainCheck::Whole { records: self.records, head, root });
        Verified {
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

/// Recomputes a chain from pieces of bytes, of any length, that follow each other from the first record on.
///
/// # Errors
/// `ledger/io` where a piece could not be read.
pub fn verify(
    pieces: impl Iterator<Item = io::Result<Vec<u8>>>,
    against: &[Checkpoint],
) -> Result<ChainCheck, LedgerError> {
    let plan = against.iter().cloned().fold(VerifyPlan::new(), VerifyPlan::against);
    let mut verifier = Verifier::new(plan);
    for piece in pieces {
        let piece = piece.map_err(|error| LedgerError::io("read the ledger", error))?;
        verifier.feed(&piece, &mut |_, _| ());
    }
    Ok(verifier.finish().check)
}
