//! Opening a ledger: searching back for a checkpoint, following the chain from there, and setting a torn tail
//! aside.

use crate::chain::Chain;
use crate::chain::checkpoint::Checkpoint;
use crate::error::{ChainFault, LedgerError, LedgerErrorKind, LossReason};
use crate::format::digest::{LedgerDigest, LedgerId};
use crate::format::event::LedgerEvent;
use crate::format::record::{FORMAT, LedgerRecord, LinePosition, MAX_LINE};
use crate::ledger::RecoveredTail;
use crate::ledger::state::{Core, segment_range};
use crate::storage::lines::{each_line, good_end, read_range};
use crate::storage::{ANCHOR, LIVE, LiveFileState, SyncMode, Tape};

const FIRST_WINDOW: u64 = 128 * 1024;
const PART: &str = ".part";
/// The maximum size of a live file. A new segment starts at 4 MiB, at 64 MiB in earlier versions, and one append adds at
/// most 64 MiB.
const MAX_LIVE: u64 = 256 * 1024 * 1024;

fn check_size(file: &str, size: u64) -> Result<(), LedgerError> {
    if size <= MAX_LIVE {
        return Ok(());
    }
    let why = "it is larger than any segment";
    Err(LedgerError::new(LedgerErrorKind::NotOurs { file: file.to_owned(), why }))
}

fn reading(error: std::io::Error) -> LedgerError {
    LedgerError::io("read ledger.jsonl", error)
}

fn saving(error: std::io::Error) -> LedgerError {
    LedgerError::io("set a torn tail aside", error)
}

fn lost(why: LossReason) -> LedgerError {
    LedgerError::new(LedgerErrorKind::Lost { why })
}

fn bytes_of(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Core {
    /// Opens the ledger, or creates one if there is none.
    pub(crate) fn start(&mut self, new_id: LedgerId) -> Result<Option<RecoveredTail>, LedgerError> {
        if self.medium.live_state()? == LiveFileState::Missing && !self.restore_live()? {
            self.expect_none()?;
            self.medium.create_live()?;
            return self.first_write(new_id).map(|()| None);
        }
        let mut size = self.medium.open_live()?;
        if size == 0 && self.restore_live()? {
            size = self.medium.open_live()?;
        }
        if size == 0 {
            self.expect_none()?;
            return self.first_write(new_id).map(|()| None);
        }
        check_size(LIVE, size)?;
        let recovered = self.load_or_begin(size, new_id)?;
        if recovered.is_some() {
            return Ok(recovered);
        }
        self.finish_parts()
    }

    fn load_or_begin(&mut self, size: u64, new_id: LedgerId) -> Result<Option<RecoveredTail>, LedgerError> {
        if good_end(self.medium.live()?, 0, size).map_err(reading)? > 0 {
            return self.load(size);
        }
        self.expect_in_segments()?;
        // No complete record: set the content aside, and start a ledger or continue from its last segment.
        let tail = self.tail_name(0, size)?;
        let part = format!("{}{PART}", tail.saved_as);
        self.medium.copy_tail(0, &part).map_err(saving)?;
        if self.restore_live()? {
            let size = self.medium.open_live()?;
            self.load(size)?;
        } else {
            self.medium.cut(0).map_err(saving)?;
            self.first_write(new_id)?;
        }
        self.record_tail(&tail, &part).map(Some)
    }

    /// Reads the checkpoint file, if there is one.
    pub(crate) fn read_anchor(&self) -> Result<Option<Checkpoint>, LedgerError> {
        let doing = |error| LedgerError::io("read ledger.checkpoint", error);
        if !self.medium.names().map_err(doing)?.iter().any(|name| name == ANCHOR) {
            return Ok(None);
        }
        let tape = self.medium.open_file(ANCHOR)?;
        let size = tape.size().map_err(doing)?;
        // A checkpoint has about a hundred bytes.
        let bytes = read_range(tape.as_ref(), 0, size.min(1_024)).map_err(doing)?;
        let parsed = core::str::from_utf8(&bytes).ok().and_then(|text| Checkpoint::parse(text).ok());
        parsed.map(Some).ok_or_else(|| lost(LossReason::Damaged))
    }

    /// Fails if there is a checkpoint without a ledger. It proves that a ledger existed, and a new one would
    /// hide the loss.
    fn expect_none(&self) -> Result<(), LedgerError> {
        self.expect_at_least(0)
    }

    /// Fails unless the sealed segments alone have all records that the checkpoint covers. Must be called
    /// before a rename.
    fn expect_in_segments(&self) -> Result<(), LedgerError> {
        let last = self.segments()?.pop().and_then(|(_, name)| segment_range(&name));
        self.expect_at_least(last.map_or(0, |(_, last)| last.saturating_add(1)))
    }

    fn expect_at_least(&self, have: u64) -> Result<(), LedgerError> {
        match self.expected.as_ref().map(Checkpoint::size) {
            Some(covered) if have == 0 => Err(lost(LossReason::Missing { covered })),
            Some(covered) if covered > have => Err(lost(LossReason::Shorter { have, covered })),
            _ => Ok(()),
        }
    }

    /// Compares the chain with the checkpoint file as soon as the chain has its size.
    pub(crate) fn compare_expected(&mut self) -> Result<(), LedgerError> {
        let Some(expected) = &self.expected else { return Ok(()) };
        if expected.size() != self.chain.next_seq() {
            return Ok(());
        }
        if expected.root() != self.chain.frontier().root() {
            return Err(lost(LossReason::OtherRecords { covered: expected.size() }));
        }
        self.expected = None;
        Ok(())
    }

    /// Follows the hash chain of the live file up to the checkpoint before which the chain starts.
    ///
    /// The hashes are enough: the checkpoint was computed from the same lines, and its counters are used
    /// unchanged.
    fn follow_sums(&self, end: u64) -> Result<(), LedgerError> {
        let fault = |seq: u64, why| {
            let line = seq.saturating_sub(self.first_seq).saturating_add(1);
            LedgerError::new(LedgerErrorKind::Broken { file: LIVE.to_owned(), line, seq, why })
        };
        let (mut seq, mut head) = (self.first_seq, None);
        let mut follow = |line: &[u8]| {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let Some(place) = LinePosition::of(text) else {
                // Not a record. Parsing the whole line gives the reason.
                return Err(fault(seq, LedgerRecord::parse(text).err().unwrap_or(ChainFault::NotJson)));
            };
            if place.seq != seq {
                return Err(fault(seq, ChainFault::Seq { found: place.seq }));
            }
            if head.is_some_and(|head| head != place.prev) || (seq == 0 && place.prev != LedgerDigest::ZERO) {
                return Err(fault(seq, ChainFault::Prev));
            }
            seq = seq.saturating_add(1);
            head = Some(LedgerDigest::of(line));
            Ok(())
        };
        each_line(self.medium.live()?, 0, end, &mut follow).map_err(reading)??;
        if seq != self.chain.next_seq() {
            return Err(fault(seq, ChainFault::Seq { found: self.chain.next_seq() }));
        }
        if head.is_some_and(|head| head != self.chain.head()) {
            return Err(fault(seq, ChainFault::Prev));
        }
        Ok(())
    }

    /// Restores the live file after a crash between the two renames of a new segment: the last segment
    /// becomes it again.
    pub(crate) fn restore_live(&mut self) -> Result<bool, LedgerError> {
        let Some(last) = self.segments()?.pop() else { return Ok(false) };
        self.expect_in_segments()?;
        self.medium.rename(&last.1, LIVE, SyncMode::Synced).map_err(reading)?;
        Ok(true)
    }

    /// Returns the older segments by the number of their first record.
    fn segments(&self) -> Result<Vec<(u64, String)>, LedgerError> {
        let names =
            self.medium.names().map_err(|error| LedgerError::io("list the state directory", error))?;
        let mut segments: Vec<_> = names
            .into_iter()
            .filter_map(|name| segment_range(&name).map(|(first, _)| (first, name)))
            .collect();
        segments.sort();
        Ok(segments)
    }

    /// Reads the first record of the live file.
    pub(crate) fn first_record(&self, size: u64) -> Result<Option<LedgerRecord>, LedgerError> {
        first_of(self.medium.live()?, size)
    }

    /// Rebuilds the state from the live file, and from older segments if necessary.
    pub(crate) fn load(&mut self, size: u64) -> Result<Option<RecoveredTail>, LedgerError> {
        let good = good_end(self.medium.live()?, 0, size).map_err(reading)?;
        let Some(first) = self.first_record(good)? else {
            self.chain = Chain::start();
            return Err(self.broken(LIVE, 0, ChainFault::Opening));
        };
        self.first_seq = first.seq();
        let Some(
            LedgerEvent::LedgerOpened { ledger: id, .. } | LedgerEvent::LedgerContinued { ledger: id, .. },
        ) = first.event()
        else {
            // A file that starts in the middle has neither a tree nor an id to continue from.
            self.chain = Chain::start();
            return Err(if first.version() > FORMAT {
                LedgerError::new(LedgerErrorKind::Version { found: first.version(), supported: FORMAT })
            } else {
                self.broken(LIVE, 0, ChainFault::Opening)
            });
        };
        let id = *id;
        let base = match self.find_base(None, LIVE, good, Some(id))? {
            Some(base) => base,
            None if first.seq() == 0 => {
                self.chain = Chain::start();
                self.folds.reset();
                0
            }
            None => self.replay_segments(first.seq(), Some(id))?,
        };
        self.chain.set_id(id);
        if self.expected.as_ref().is_some_and(|expected| expected.ledger() != id) {
            return Err(lost(LossReason::OtherLedger));
        }
        if base > 0 {
            self.follow_sums(base)?;
        }
        self.compare_expected()?;
        self.size = base;
        self.follow_to(size)
    }

    /// Finds the last checkpoint with counters for all folds, and sets the chain to just before it.
    fn find_base(
        &mut self,
        tape: Option<&dyn Tape>,
        file: &str,
        end: u64,
        id: Option<LedgerId>,
    ) -> Result<Option<u64>, LedgerError> {
        let mut span = FIRST_WINDOW;
        loop {
            let from = end.saturating_sub(span);
            let window = match tape {
                Some(tape) => read_range(tape, from, end),
                None => read_range(self.medium.live()?, from, end),
            };
            let window = window.map_err(reading)?;
            // The bytes before the first LF are part of a line, unless the window starts at the start of the
            // file.
            let begin = if from == 0 { Some(0) } else { memchr::memchr(b'\n', &window).map(after) };
            if let Some(begin) = begin
                && let Some(found) = self.search(window.get(begin..).unwrap_or(&[]), file, id)?
            {
                return Ok(Some(from.saturating_add(bytes_of(begin)).saturating_add(bytes_of(found))));
            }
            if from == 0 {
                return Ok(None);
            }
            span = span.saturating_mul(4);
        }
    }

    /// Searches lines backwards for a usable checkpoint. Skips the first line, whose predecessor is missing.
    fn search(
        &mut self,
        lines: &[u8],
        file: &str,
        id: Option<LedgerId>,
    ) -> Result<Option<usize>, LedgerError> {
        let mut end = lines.len();
        while let Some(start) = line_start(lines, end) {
            let Some(before) = line_start(lines, start) else { return Ok(None) };
            let line = lines.get(start..end).unwrap_or(&[]);
            if names_checkpoint(line)
                && let Ok(record) = LedgerRecord::parse(line.strip_suffix(b"\n").unwrap_or(line))
                && let Some(LedgerEvent::Checkpoint { state, .. }) = record.event()
                && self.folds.restore(state.as_ref()).is_some()
            {
                let broken = |why| {
                    let line = record.seq().saturating_sub(self.first_seq).saturating_add(1);
                    let kind =
                        LedgerErrorKind::Broken { file: file.to_owned(), line, seq: record.seq(), why };
                    LedgerError::new(kind)
                };
                if LedgerDigest::of(lines.get(before..start).unwrap_or(&[])) != record.prev() {
                    return Err(broken(ChainFault::Prev));
                }
                let chain =
                    Chain::before_checkpoint(&record, id).ok_or_else(|| broken(ChainFault::Checkpoint))?;
                self.chain = chain;
                return Ok(Some(start));
            }
            end = start;
        }
        Ok(None)
    }

    /// Replays older segments up to the live file, which has no usable checkpoint.
    fn replay_segments(&mut self, upto: u64, id: Option<LedgerId>) -> Result<u64, LedgerError> {
        let segments = self.segments()?;
        let mut from = None;
        for (index, (first, name)) in segments.iter().enumerate().rev() {
            if *first >= upto {
                continue;
            }
            let tape = self.medium.open_file(name)?;
            let size = tape.size().map_err(reading)?;
            check_size(name, size)?;
            if let Some(base) = self.find_base(Some(tape.as_ref()), name, size, id)? {
                from = Some((index, base));
                break;
            }
            if *first == 0 {
                self.chain = Chain::start();
                self.folds.reset();
                from = Some((index, 0));
                break;
            }
        }
        let Some((index, base)) = from else {
            // The counters cannot be computed, because the records that they come from are gone.
            self.chain = Chain::start();
            return Err(self.broken(LIVE, 0, ChainFault::Opening));
        };
        let mut at = base;
        for (first, name) in segments.iter().skip(index).filter(|(first, _)| *first < upto) {
            let tape = self.medium.open_file(name)?;
            let size = tape.size().map_err(reading)?;
            let mut follow = |line: &[u8]| self.follow(line, name, *first);
            each_line(tape.as_ref(), at, size, &mut follow).map_err(reading)??;
            at = 0;
        }
        Ok(0)
    }

    /// Follows the live file from the end of the chain, and sets a torn tail aside.
    pub(crate) fn follow_to(&mut self, size: u64) -> Result<Option<RecoveredTail>, LedgerError> {
        check_size(LIVE, size)?;
        let good = good_end(self.medium.live()?, self.size, size).map_err(reading)?;
        let mut at = self.size;
        while at < good {
            // A piece holds many lines, and always at least one. An incomplete last line is read again with
            // the next piece.
            let upto = at.saturating_add(FIRST_WINDOW).min(good);
            let piece = read_range(self.medium.live()?, at, upto).map_err(reading)?;
            let mut rest = piece.as_slice();
            while let Some(end) = memchr::memchr(b'\n', rest).map(after) {
                let (line, more) = rest.split_at_checked(end).unwrap_or((rest, &[]));
                self.follow(line, LIVE, self.first_seq)?;
                at = at.saturating_add(bytes_of(line.len()));
                rest = more;
            }
            if rest.len() == piece.len() {
                return Err(self.broken(LIVE, self.first_seq, ChainFault::TooLong));
            }
            self.size = at;
        }
        // Checked before anything is truncated: a tail that the checkpoint covers was complete once.
        self.expect_at_least(self.chain.next_seq())?;
        if good == size { Ok(None) } else { self.recover(size).map(Some) }
    }

    fn tail_name(&self, offset: u64, size: u64) -> Result<RecoveredTail, LedgerError> {
        let sum = sum_of(self.medium.live()?, offset, size)?;
        let short: String = sum.to_string().chars().take(8).collect();
        let saved_as = format!("ledger.torn-{offset}-{short}");
        Ok(RecoveredTail { offset, bytes: size.saturating_sub(offset), sha256: sum, saved_as })
    }

    /// Copies the tail, truncates the file, appends a record, and then renames the copy.
    ///
    /// After a crash at any step, the next open finds either the tail or the copy under its first name, and
    /// continues from there.
    fn recover(&mut self, size: u64) -> Result<RecoveredTail, LedgerError> {
        let tail = self.tail_name(self.size, size)?;
        let part = format!("{}{PART}", tail.saved_as);
        self.medium.copy_tail(self.size, &part).map_err(saving)?;
        self.medium.cut(self.size).map_err(saving)?;
        self.medium.sync().map_err(saving)?;
        self.record_tail(&tail, &part)
    }

    fn record_tail(&mut self, tail: &RecoveredTail, part: &str) -> Result<RecoveredTail, LedgerError> {
        let event = LedgerEvent::LedgerRecovered {
            offset: tail.offset,
            bytes: tail.bytes,
            sha256: tail.sha256,
            saved_as: tail.saved_as.clone(),
        };
        let now = self.clock.now();
        self.write(vec![event], now)?;
        self.sync()?;
        self.medium.rename(part, &tail.saved_as, SyncMode::Synced).map_err(saving)?;
        Ok(tail.clone())
    }

    /// Finishes a recovery that a crash interrupted after the truncation.
    fn finish_parts(&mut self) -> Result<Option<RecoveredTail>, LedgerError> {
        let names =
            self.medium.names().map_err(|error| LedgerError::io("list the state directory", error))?;
        let mut done = None;
        for part in names {
            let Some(saved_as) = part.strip_suffix(PART).filter(|name| name.starts_with("ledger.torn-"))
            else {
                continue;
            };
            let Some((offset, short)) = saved_as.trim_start_matches("ledger.torn-").split_once('-') else {
                continue;
            };
            let Ok(offset) = offset.parse::<u64>() else { continue };
            let tape = self.medium.open_file(&part)?;
            let size = tape.size().map_err(saving)?;
            let sum = sum_of(tape.as_ref(), 0, size)?;
            if !sum.to_string().starts_with(short) || short.len() != 8 {
                // An unfinished copy. Its tail was set aside again since then, under the same name.
                continue;
            }
            let tail = RecoveredTail { offset, bytes: size, sha256: sum, saved_as: saved_as.to_owned() };
            if self.was_recorded(&tail)? {
                self.medium.rename(&part, saved_as, SyncMode::Synced).map_err(saving)?;
            } else {
                done = Some(self.record_tail(&tail, &part)?);
            }
        }
        Ok(done)
    }

    /// Returns `true` if the record of a recovery is where the tail was.
    fn was_recorded(&self, tail: &RecoveredTail) -> Result<bool, LedgerError> {
        let end = tail.offset.saturating_add(bytes_of(MAX_LINE)).min(self.size);
        if tail.offset >= end {
            return Ok(false);
        }
        let piece = read_range(self.medium.live()?, tail.offset, end).map_err(reading)?;
        let named = |line: &[u8]| {
            matches!(LedgerRecord::parse(line), Ok(record)
                if matches!(record.event(), Some(LedgerEvent::LedgerRecovered { saved_as, .. }) if *saved_as == tail.saved_as))
        };
        Ok(piece.split(|byte| *byte == b'\n').any(named))
    }
}

const fn after(at: usize) -> usize {
    at.saturating_add(1)
}

/// Returns the start of the line that ends, with its LF, at `end`, or `None` at the start of the lines.
fn line_start(lines: &[u8], end: usize) -> Option<usize> {
    let text = lines.get(..end.checked_sub(1)?)?;
    Some(memchr::memrchr(b'\n', text).map_or(0, after))
}

/// Returns `true` if the start of a line is that of a checkpoint, which saves parsing all other lines.
fn names_checkpoint(line: &[u8]) -> bool {
    const NAME: &[u8] = b",\"type\":\"checkpoint\",";
    line.get(..line.len().min(200)).unwrap_or(&[]).windows(NAME.len()).any(|window| window == NAME)
}

pub(crate) fn first_of(tape: &dyn Tape, size: u64) -> Result<Option<LedgerRecord>, LedgerError> {
    let piece = read_range(tape, 0, size.min(4_096)).map_err(reading)?;
    let line = piece.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    Ok(LedgerRecord::parse(line).ok())
}

fn sum_of(tape: &dyn Tape, from: u64, to: u64) -> Result<LedgerDigest, LedgerError> {
    use sha2::{Digest as _, Sha256};
    let mut hasher = Sha256::new();
    let mut at = from;
    while at < to {
        let upto = at.saturating_add(FIRST_WINDOW).min(to);
        hasher.update(read_range(tape, at, upto).map_err(reading)?);
        at = upto;
    }
    Ok(LedgerDigest::from_bytes(hasher.finalize().into()))
}
