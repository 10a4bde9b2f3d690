//! The public interface, on files and on the directory in memory.
#![expect(clippy::arithmetic_side_effects, reason = "an overflow in a test is a failed test")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]

mod disk;
mod faults;
mod reopen;
mod segments;
mod verify;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plugward_ledger::{
    ChainCheck, ChainVerification, ChainVerifier, Checkpoint, Clock, Durability, Fold, Folds, Ledger,
    LedgerError, LedgerEvent, LedgerId, LedgerRecord, LedgerTime, OpenedLedger, RecordValue, TestDirectory,
    VerifyPlan,
};

pub(crate) const ID: LedgerId = LedgerId::from_bytes([0xab; 16]);

/// A clock that advances by one second per reading.
pub(crate) fn clock() -> Box<dyn Clock> {
    let next = Arc::new(AtomicU64::new(1_795_297_683_123_456));
    Box::new(move || LedgerTime::from_unix_micros(next.fetch_add(1_000_000, Ordering::Relaxed)).unwrap())
}

pub(crate) fn note(number: u64) -> LedgerEvent {
    LedgerEvent::ExceptionUsed { setting: "pins.on_store_error".into(), reason: format!("number {number}") }
}

pub(crate) const fn group(size: u32) -> Durability {
    Durability::Group(NonZeroU32::new(size).unwrap())
}

pub(crate) fn open(directory: &TestDirectory) -> Result<OpenedLedger, LedgerError> {
    directory.open(ID, clock(), Durability::Off, Folds::none().with(Counter::default()))
}

/// A directory with a ledger that has `count` notes after its first record.
pub(crate) fn filled(count: u64) -> TestDirectory {
    let directory = TestDirectory::new();
    let ledger = open(&directory).unwrap().ledger;
    append(&ledger, 0..count);
    directory
}

pub(crate) fn append(ledger: &Ledger, numbers: std::ops::Range<u64>) {
    for number in numbers {
        ledger.append(&[note(number)]).unwrap();
    }
}

pub(crate) fn live(directory: &TestDirectory) -> Vec<u8> {
    directory.read("ledger.jsonl").unwrap()
}

pub(crate) fn verify_bytes(bytes: &[u8], against: &[Checkpoint]) -> ChainVerification {
    let plan = against.iter().cloned().fold(VerifyPlan::new(), VerifyPlan::against);
    let mut verifier = ChainVerifier::new(plan.folds(Folds::none().with(Counter::default())));
    verifier.begin("ledger.jsonl");
    // Pieces of an odd size, so that lines are split anywhere.
    for piece in bytes.chunks(977) {
        verifier.feed(piece, &mut |_, _| ());
    }
    verifier.finish()
}

pub(crate) fn whole(bytes: &[u8]) -> u64 {
    match verify_bytes(bytes, &[]).check {
        ChainCheck::Whole { records, .. } => records,
        other => panic!("{other:?}"),
    }
}

/// Counts notes, and stores the last one.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) notes: u64,
    pub(crate) last: String,
}

impl Fold for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn apply(&mut self, record: &LedgerRecord) {
        if let Some(LedgerEvent::ExceptionUsed { reason, .. }) = record.event() {
            self.notes += 1;
            self.last.clone_from(reason);
        }
    }

    fn snapshot(&self) -> RecordValue {
        RecordValue::object([
            ("notes", RecordValue::Number(self.notes)),
            ("last", RecordValue::text(&self.last)),
        ])
    }

    fn restore(&mut self, state: &RecordValue) -> Option<()> {
        self.notes = state.get("notes")?.as_number()?;
        self.last = state.get("last")?.as_text()?.to_owned();
        Some(())
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

pub(crate) fn counted(ledger: &Ledger) -> u64 {
    ledger.read(|view| view.folds.get::<Counter>().unwrap().notes).unwrap()
}
