//! The state of an open ledger under the file lock: reading the records of other processes, and writing.

use crate::chain::Chain;
use crate::chain::checkpoint::Checkpoint;
use crate::error::{ChainFault, LedgerError, LedgerErrorKind};
use crate::format::digest::{LedgerDigest, LedgerId};
use crate::format::event::LedgerEvent;
use crate::format::field::Field as _;
use crate::format::json::Writer;
use crate::format::record::{FORMAT, LedgerRecord, settled};
use crate::format::time::{Clock, LedgerTime};
use crate::format::value::RecordValue;
use crate::ledger::fold::Folds;
use crate::ledger::{Durability, Receipt};
use crate::storage::{ANCHOR, LIVE, LiveFileState, Medium, NEXT, SyncMode};

/// The number of records between checkpoints, which bounds how much an open must replay.
const CHECKPOINT_EVERY: u64 = 256;
/// The maximum size of stored counters. A larger state is not stored, and an open replays more records.
const MAX_STATE: usize = 64 * 1024;
const ANCHOR_PART: &str = "ledger.checkpoint.part";
/// The maximum number of records in one append.
const MAX_EVENTS: usize = 1_024;
/// The number of records between two syncs under [`Durability::Decisions`].
const DECISIONS_EVERY: u64 = 64;
/// The size from which a new segment starts. Each open hashes the live one, so this bounds what a long history costs.
pub(crate) const SEGMENT: u64 = 4 * 1024 * 1024;
pub(crate) const TOOL: &str = concat!("plugward-ledger ", env!("CARGO_PKG_VERSION"));

pub(crate) struct Core {
    pub(crate) medium: Box<dyn Medium>,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) durability: Durability,
    pub(crate) folds: Folds,
    pub(crate) chain: Chain,
    /// The `seq` of the first line of the live file.
    pub(crate) first_seq: u64,
    /// The number of verified bytes of the live file.
    pub(crate) size: u64,
    pub(crate) segment: u64,
    /// The number of records since the last sync.
    unsynced: u64,
    /// A checkpoint that is not yet in the checkpoint file.
    anchor: Option<Checkpoint>,
    /// While the ledger is opened: the checkpoint file, until the chain has its size.
    pub(crate) expected: Option<Checkpoint>,
    /// Set after a failed sync, when it is unknown what the system has stored of the file.
    stopped: bool,
    buffer: Vec<u8>,
}

/// One write: its records, and the end of each of their lines.
struct Batch {
    records: Vec<(LedgerRecord, LedgerDigest, usize)>,
    next: u64,
    head: LedgerDigest,
}

impl Core {
    pub(crate) fn new(
        medium: Box<dyn Medium>,
        clock: Box<dyn Clock>,
        durability: Durability,
        folds: Folds,
    ) -> Self {
        Self {
            medium,
            clock,
            durability,
            folds,
            chain: Chain::start(),
            first_seq: 0,
            size: 0,
            segment: SEGMENT,
            unsynced: 0,
            anchor: None,
            expected: None,
            stopped: false,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn usable(&self) -> Result<(), LedgerError> {
        if self.stopped { Err(LedgerError::new(LedgerErrorKind::Stopped)) } else { Ok(()) }
    }

    /// Returns the error for the next line of the chain.
    pub(crate) fn broken(&self, file: &str, first_seq: u64, why: ChainFault) -> LedgerError {
        let seq = self.chain.next_seq();
        let line = seq.saturating_sub(first_seq).saturating_add(1);
        LedgerError::new(LedgerErrorKind::Broken { file: file.to_owned(), line, seq, why })
    }

    /// Verifies and applies one line with its LF.
    pub(crate) fn follow(&mut self, line: &[u8], file: &str, first_seq: u64) -> Result<(), LedgerError> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let record = self.chain.check(text).map_err(|why| self.broken(file, first_seq, why))?;
        if record.version() > FORMAT {
            let kind = LedgerErrorKind::Version { found: record.version(), supported: FORMAT };
            return Err(LedgerError::new(kind));
        }
        self.folds.apply(&record);
        self.chain.push(line, &record);
        self.compare_expected()
    }

    /// Reads the records that other processes appended, following them to the next segment.
    pub(crate) fn catch_up(&mut self) -> Result<(), LedgerError> {
        loop {
            match self.medium.live_state()? {
                LiveFileState::Same(size) if size == self.size => return Ok(()),
                LiveFileState::Same(size) if size < self.size => {
                    return Err(self.broken(LIVE, self.first_seq, ChainFault::Shrunk));
                }
                LiveFileState::Same(size) => return self.follow_to(size).map(drop),
                LiveFileState::Missing => {
                    if !self.restore_live()? {
                        return Err(LedgerError::new(LedgerErrorKind::OtherLedger));
                    }
                }
                LiveFileState::Other => {
                    let size = self
                        .medium
                        .live()?
                        .size()
                        .map_err(|error| LedgerError::io("read ledger.jsonl", error))?;
                    self.follow_to(size)?;
                    return self.follow_segment();
                }
            }
        }
    }

    /// Continues in the file that replaced the open one.
    fn follow_segment(&mut self) -> Result<(), LedgerError> {
        let id = self.chain.id();
        let known = self.chain.next_seq();
        let size = self.medium.open_live()?;
        let Some(first) = self.first_record(size)? else {
            return Err(LedgerError::new(LedgerErrorKind::OtherLedger));
        };
        let same = match first.event() {
            Some(LedgerEvent::LedgerContinued { ledger, .. }) => Some(*ledger) == id,
            _ => false,
        };
        if !same || first.seq() < known {
            return Err(LedgerError::new(LedgerErrorKind::OtherLedger));
        }
        self.first_seq = first.seq();
        self.size = 0;
        if first.seq() == known {
            return self.follow_to(size).map(drop);
        }
        // More than one segment was started: rebuild the state from the files, as an open does.
        self.load(size).map(drop)
    }

    /// Decides and appends under the file lock. `f` sees the records that other processes appended.
    pub(crate) fn transact<T>(
        &mut self,
        f: impl FnOnce(&Folds, LedgerTime) -> (Vec<LedgerEvent>, T),
    ) -> Result<(T, Option<Receipt>), LedgerError> {
        self.catch_up()?;
        self.write_anchor()?;
        let now = self.clock.now();
        if self.size >= self.segment {
            self.rotate(now)?;
        }
        let (events, value) = f(&self.folds, now);
        if let Some(internal) = events.iter().find(|event| event.is_internal()) {
            let kind = LedgerErrorKind::Reserved { type_name: internal.type_name() };
            return Err(LedgerError::new(kind));
        }
        if events.is_empty() {
            return Ok((value, None));
        }
        let receipt = self.write(events, now)?;
        self.write_anchor()?;
        Ok((value, Some(receipt)))
    }

    /// Appends a checkpoint and replaces the checkpoint file.
    pub(crate) fn checkpoint(&mut self) -> Result<Checkpoint, LedgerError> {
        self.catch_up()?;
        let now = self.clock.now();
        let id = self.chain.id().ok_or(LedgerError::new(LedgerErrorKind::Stopped))?;
        let checkpoint = Checkpoint::new(id, self.chain.next_seq(), self.chain.frontier().root());
        let event = self.checkpoint_event();
        self.write(vec![event], now)?;
        self.sync()?;
        self.write_anchor()?;
        Ok(checkpoint)
    }

    pub(crate) fn checkpoint_event(&self) -> LedgerEvent {
        let frontier = self.chain.frontier();
        LedgerEvent::Checkpoint {
            size: frontier.size(),
            root: frontier.root(),
            frontier: frontier.subtrees().to_vec(),
            state: self.stored_state(),
        }
    }

    /// Returns the counters of the folds if they fit in a record. Without them an open replays more records.
    fn stored_state(&self) -> Option<RecordValue> {
        let state = self.folds.snapshot()?;
        let mut writer = Writer::default();
        state.write(&mut writer);
        (writer.fault.is_none() && writer.out.len() <= MAX_STATE).then_some(state)
    }

    fn render(&mut self, events: Vec<LedgerEvent>, now: LedgerTime) -> Result<Batch, LedgerError> {
        if events.len() > MAX_EVENTS {
            let kind = LedgerErrorKind::TooLong { bytes: events.len(), limit: MAX_EVENTS };
            return Err(LedgerError::new(kind));
        }
        let due = self.chain.since_checkpoint() >= CHECKPOINT_EVERY
            && !events.iter().any(|event| matches!(event, LedgerEvent::Checkpoint { .. }));
        let leading = due.then(|| self.checkpoint_event());
        let mut batch = Batch { records: Vec::new(), next: self.chain.next_seq(), head: self.chain.head() };
        self.buffer.clear();
        for event in leading.into_iter().chain(events) {
            let start = self.buffer.len();
            let record = LedgerRecord::new(batch.next, now, batch.head, settled(event));
            record.render(&mut self.buffer)?;
            batch.head = LedgerDigest::of(self.buffer.get(start..).unwrap_or(&[]));
            batch.next = batch.next.saturating_add(1);
            batch.records.push((record, batch.head, self.buffer.len()));
        }
        Ok(batch)
    }

    /// Writes the events in one piece, all or none, after a checkpoint if one is due.
    pub(crate) fn write(
        &mut self,
        events: Vec<LedgerEvent>,
        now: LedgerTime,
    ) -> Result<Receipt, LedgerError> {
        let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        let batch = self.render(events, now)?;
        let written = self.medium.append(&self.buffer);
        match written {
            Ok(written) if written == self.buffer.len() => {}
            Ok(_) => {
                self.take_back();
                return Err(LedgerError::append(std::io::ErrorKind::StorageFull.into()));
            }
            Err(error) => {
                self.take_back();
                return Err(LedgerError::append(error));
            }
        }
        if self.must_sync(&batch)
            && let Err(error) = self.medium.sync()
        {
            // After a failed sync the system may have dropped the pages, and a second sync could succeed
            // without them.
            self.stopped = true;
            self.take_back();
            return Err(LedgerError::append(error));
        }
        self.commit(&batch, count)
    }

    fn take_back(&mut self) {
        // If the removal fails too, the bytes remain. The next catch-up reads the complete records among them
        // and sets the rest aside. A record of something that was not done is harmless, and the caller gets
        // the error of the write.
        drop(self.medium.cut(self.size));
    }

    fn must_sync(&mut self, batch: &Batch) -> bool {
        let fresh = u64::try_from(batch.records.len()).unwrap_or(u64::MAX);
        self.unsynced = self.unsynced.saturating_add(fresh);
        let events = || batch.records.iter().filter_map(|(record, ..)| record.event());
        // After a power cut, the checkpoint file must not be ahead of the ledger.
        let anchors = || events().any(|event| matches!(event, LedgerEvent::Checkpoint { .. }));
        let due = match self.durability {
            Durability::Every => true,
            Durability::Decisions => {
                self.unsynced >= DECISIONS_EVERY || events().any(LedgerEvent::is_decision) || anchors()
            }
            Durability::Group(size) => self.unsynced >= u64::from(size.get()) || anchors(),
            Durability::Off => false,
        };
        if due {
            self.unsynced = 0;
        }
        due
    }

    fn commit(&mut self, batch: &Batch, count: u64) -> Result<Receipt, LedgerError> {
        let buffer = core::mem::take(&mut self.buffer);
        let mut start = 0;
        for (record, sum, end) in &batch.records {
            if let (Some(LedgerEvent::Checkpoint { size, root, .. }), Some(id)) =
                (record.event(), self.chain.id())
            {
                self.anchor = Some(Checkpoint::new(id, *size, *root));
            }
            self.folds.apply(record);
            self.chain.push_with(buffer.get(start..*end).unwrap_or(&[]), *sum, record.event());
            start = *end;
        }
        self.size = self.size.saturating_add(u64::try_from(buffer.len()).unwrap_or(u64::MAX));
        self.buffer = buffer;
        let first_seq = batch.next.saturating_sub(count);
        let ts = batch.records.last().map(|(record, ..)| record.ts());
        let ts = ts.ok_or(LedgerError::new(LedgerErrorKind::Stopped))?;
        Ok(Receipt::new(first_seq, batch.head, ts))
    }

    pub(crate) fn sync(&mut self) -> Result<(), LedgerError> {
        self.unsynced = 0;
        self.medium.sync().map_err(|error| {
            self.stopped = true;
            LedgerError::append(error)
        })
    }

    /// Syncs, and replaces the checkpoint file with one that covers all records.
    pub(crate) fn anchor(&mut self) -> Result<Checkpoint, LedgerError> {
        self.catch_up()?;
        let id = self.chain.id().ok_or(LedgerError::new(LedgerErrorKind::Stopped))?;
        let checkpoint = Checkpoint::new(id, self.chain.next_seq(), self.chain.frontier().root());
        // After a power cut, the checkpoint file must not be ahead of the ledger.
        self.sync()?;
        self.anchor = Some(checkpoint.clone());
        self.write_anchor()?;
        Ok(checkpoint)
    }

    /// Replaces the checkpoint file if it is outdated. A failure is retried before the next append.
    pub(crate) fn write_anchor(&mut self) -> Result<(), LedgerError> {
        // Another process may have written a newer one since a replacement failed.
        let newer = self.chain.last_checkpoint();
        self.anchor = self.anchor.take().filter(|anchor| anchor.size() >= newer);
        let Some(anchor) = &self.anchor else { return Ok(()) };
        let keep = if self.durability == Durability::Off { SyncMode::Unsynced } else { SyncMode::Synced };
        let text = anchor.to_string();
        let medium = &mut self.medium;
        let written = medium
            .write_file(ANCHOR_PART, text.as_bytes(), keep)
            .and_then(|()| medium.rename(ANCHOR_PART, ANCHOR, keep));
        written.map_err(|error| LedgerError::io("replace ledger.checkpoint", error))?;
        self.anchor = None;
        Ok(())
    }

    /// Renames the live file to its segment name and starts a new one.
    fn rotate(&mut self, now: LedgerTime) -> Result<(), LedgerError> {
        let doing = |error| LedgerError::io("start a new segment of the ledger", error);
        let id = self.chain.id().ok_or(LedgerError::new(LedgerErrorKind::Stopped))?;
        self.sync()?;
        let last = self.chain.next_seq().saturating_sub(1);
        let previous = segment_name(self.first_seq, last);
        if self.medium.names().map_err(doing)?.contains(&previous) {
            return Err(doing(std::io::ErrorKind::AlreadyExists.into()));
        }
        let opening =
            LedgerEvent::LedgerContinued { ledger: id, previous: previous.clone(), head: self.chain.head() };
        let record = LedgerRecord::new(self.chain.next_seq(), now, self.chain.head(), opening);
        let mut bytes = record.to_line()?;
        // The checkpoint also covers the opening record.
        let mut chain = self.chain.clone();
        chain.push(&bytes, &record);
        let frontier = chain.frontier();
        let state = self.stored_state();
        let checkpoint = LedgerEvent::Checkpoint {
            size: frontier.size(),
            root: frontier.root(),
            frontier: frontier.subtrees().to_vec(),
            state,
        };
        bytes.extend(LedgerRecord::new(chain.next_seq(), now, chain.head(), checkpoint).to_line()?);
        self.medium.write_file(NEXT, &bytes, SyncMode::Synced).map_err(doing)?;
        self.medium.rename(LIVE, &previous, SyncMode::Synced).map_err(doing)?;
        self.medium.rename(NEXT, LIVE, SyncMode::Synced).map_err(doing)?;
        self.first_seq = self.chain.next_seq();
        self.size = 0;
        let size = self.medium.open_live()?;
        self.follow_to(size)?;
        self.anchor = Some(Checkpoint::new(id, frontier.size(), frontier.root()));
        self.write_anchor()
    }

    /// Writes the first record of a ledger to an empty live file.
    pub(crate) fn first_write(&mut self, id: LedgerId) -> Result<(), LedgerError> {
        self.chain = Chain::start();
        self.folds.reset();
        (self.first_seq, self.size) = (0, 0);
        let now = self.clock.now();
        self.write(vec![LedgerEvent::LedgerOpened { ledger: id, tool: TOOL.to_owned() }], now)?;
        self.sync()
    }
}

pub(crate) fn segment_name(first: u64, last: u64) -> String {
    format!("ledger-{first}-{last}.jsonl")
}

/// Returns the numbers of the first and last record in the name of a segment.
pub(crate) fn segment_range(name: &str) -> Option<(u64, u64)> {
    let (first, last) = name.strip_prefix("ledger-")?.strip_suffix(".jsonl")?.split_once('-')?;
    let (from, to) = (first.parse().ok()?, last.parse().ok()?);
    (segment_name(from, to) == name && from <= to).then_some((from, to))
}
