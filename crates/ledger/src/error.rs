//! What can go wrong with a ledger, and what to do then.

use std::io;

use thiserror::Error;

/// A ledger that could not be opened, read or appended to.
///
/// # Guarantees
/// Whoever gets one from an append has nothing on the record that counts: the bytes were taken back, or, where even that
/// failed, they stand without anyone having acted on them.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct LedgerError {
    kind: LedgerErrorKind,
    #[source]
    source: Option<io::Error>,
}

impl LedgerError {
    pub(crate) const fn new(kind: LedgerErrorKind) -> Self {
        Self { kind, source: None }
    }

    pub(crate) const fn io(doing: &'static str, source: io::Error) -> Self {
        Self { kind: LedgerErrorKind::Io { doing }, source: Some(source) }
    }

    pub(crate) const fn append(source: io::Error) -> Self {
        Self { kind: LedgerErrorKind::Append, source: Some(source) }
    }

    /// Says what went wrong.
    #[must_use]
    pub const fn kind(&self) -> &LedgerErrorKind {
        &self.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.row().0
    }

    /// Says what to do next.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.kind.row().1
    }
}

/// Every code that this crate can emit, each with what to do next.
pub const CODES: &[(&str, &str)] = &[
    NOT_OURS,
    BROKEN,
    LOST,
    TOO_LONG,
    APPEND,
    VERSION,
    OTHER_LEDGER,
    HELD,
    STOPPED,
    IO,
    RESERVED,
    VALUE,
    TEXT,
    UNSUPPORTED,
    STATE_MISMATCH,
];

type Row = (&'static str, &'static str);
const NOT_OURS: Row = (
    "ledger/not-ours",
    "make the state folder 0700 and the ledger a regular file of yours, 0600, with one link; or name another state folder",
);
const BROKEN: Row = (
    "ledger/broken",
    "keep the ledger's files for whoever investigates: move ledger*.jsonl and ledger.checkpoint out of the state folder; the next run starts a new ledger",
);
const LOST: Row = (
    "ledger/lost",
    "restore the ledger's files from a backup; or, to start a new ledger without the lost records, move ledger*.jsonl and ledger.checkpoint out of the state directory",
);
const TOO_LONG: Row =
    ("ledger/too-long", "record less at once: a record has at most 65536 bytes, an append 1024 records");
const APPEND: Row = (
    "ledger/append",
    "free space on the disk of the state folder, or make the folder writable, then run it again",
);
const VERSION: Row =
    ("ledger/version", "use the newer plugward that wrote this ledger, or name another state folder");
const OTHER_LEDGER: Row = (
    "ledger/other-ledger",
    "start again: the ledger was replaced by another one while this process had it open",
);
const HELD: Row = ("ledger/held", "end the process that keeps ledger.lock, then run it again");
const STOPPED: Row =
    ("ledger/stopped", "start again: after a failed sync or a panic this process appends nothing more");
const IO: Row =
    ("ledger/io", "look at the cause that the system gave, and at the rights of the state folder");
const RESERVED: Row = ("ledger/reserved", "leave this record to the ledger: it writes it itself");
const VALUE: Row = ("ledger/value", "record integers below 2^53 and values nested at most 16 deep");
const TEXT: Row = ("ledger/text", "write it in the form that the message names");
const UNSUPPORTED: Row =
    ("ledger/unsupported", "keep the ledger in memory: on this system it has no file form");
const STATE_MISMATCH: Row = (
    "ledger/state-mismatch",
    "trust the counters that `verify` recomputed; the stored ones were written by something else",
);

/// What went wrong with a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LedgerErrorKind {
    /// A file or the folder is not what the ledger would have made.
    #[error("use {file} as a ledger: {why}")]
    NotOurs {
        /// The file, relative to the state folder; `.` is the folder.
        file: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A line that is whole does not fit the chain, or a line before the last is no record.
    #[error("read {file} line {line}: record {seq}: {why}")]
    Broken {
        /// The file, relative to the state folder.
        file: String,
        /// Line in that file, counted from 1.
        line: u64,
        /// The `seq` that belongs there.
        seq: u64,
        /// What does not fit.
        why: Why,
    },
    /// Records that `ledger.checkpoint` covers are not there any more.
    #[error("read ledger.jsonl: {why}")]
    Lost {
        /// How that shows.
        why: LossReason,
    },
    /// A record, or one append, is longer than the format allows.
    #[error("append a record of {bytes} bytes: at most {limit} are allowed")]
    TooLong {
        /// What it would have taken.
        bytes: usize,
        /// What is allowed.
        limit: usize,
    },
    /// The system refused the write or the sync; what was written was taken back.
    #[error("append to the ledger")]
    Append,
    /// A record of a newer format stands in the part that is read.
    #[error("append to a ledger of format {found}: this program writes format {ours}")]
    Version {
        /// The `v` that was found.
        found: u64,
        /// The `v` that this crate writes.
        ours: u64,
    },
    /// The live file belongs to another ledger than the one that was opened.
    #[error("append to the ledger: the file belongs to another ledger now")]
    OtherLedger,
    /// Another process had the hold all the time.
    #[error("get the hold on ledger.lock within {millis} milliseconds")]
    Held {
        /// How long it was tried.
        millis: u64,
    },
    /// An earlier failure made this handle useless.
    #[error("append to a ledger that was stopped")]
    Stopped,
    /// The system refused something else than an append.
    #[error("{doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
    },
    /// The record type is written by the ledger alone.
    #[error("append a record of type {type_name}: only the ledger writes those")]
    Reserved {
        /// The type.
        type_name: &'static str,
    },
    /// A number or a nesting that the format has no form for.
    #[error("append a record with {what}")]
    Value {
        /// What cannot be written.
        what: &'static str,
    },
    /// A text that is no sum, id, moment or checkpoint.
    #[error("read the {what}: expected {expected}")]
    Text {
        /// The word that was expected.
        what: &'static str,
        /// Its form.
        expected: &'static str,
    },
    /// This system has no ledger in a file.
    #[error("open a ledger in a folder: not on this system")]
    Unsupported,
}

impl LedgerErrorKind {
    const fn row(&self) -> Row {
        match self {
            Self::NotOurs { .. } => NOT_OURS,
            Self::Broken { .. } => BROKEN,
            Self::Lost { .. } => LOST,
            Self::TooLong { .. } => TOO_LONG,
            Self::Append => APPEND,
            Self::Version { .. } => VERSION,
            Self::OtherLedger => OTHER_LEDGER,
            Self::Held { .. } => HELD,
            Self::Stopped => STOPPED,
            Self::Io { .. } => IO,
            Self::Reserved { .. } => RESERVED,
            Self::Value { .. } => VALUE,
            Self::Text { .. } => TEXT,
            Self::Unsupported => UNSUPPORTED,
        }
    }
}

/// How `ledger.checkpoint` shows that records were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LossReason {
    /// There are no records at all.
    #[error("it is missing or has no records, but ledger.checkpoint covers {covered}")]
    Missing {
        /// How many it covers.
        covered: u64,
    },
    /// There are fewer records than it covers.
    #[error("it has {have} records, but ledger.checkpoint covers {covered}")]
    Shorter {
        /// How many records there are, those of older segments included.
        have: u64,
        /// How many it covers.
        covered: u64,
    },
    /// It belongs to another ledger.
    #[error("ledger.checkpoint belongs to another ledger")]
    OtherLedger,
    /// The records that it covers are others.
    #[error("its first {covered} records are not those that ledger.checkpoint covers")]
    OtherRecords {
        /// How many it covers.
        covered: u64,
    },
    /// It is not a checkpoint, so that it cannot show anything.
    #[error("ledger.checkpoint is damaged")]
    Damaged,
}

/// Why a line does not belong where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Why {
    /// The line is no JSON object.
    #[error("no JSON object")]
    NotJson,
    /// The line is longer than any record.
    #[error("longer than any record")]
    TooLong,
    /// The line is a JSON object, but no record of its type.
    #[error("at byte {at}: expected {expected}")]
    Shape {
        /// Byte offset in the line, from 0.
        at: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// `prev` is not the sum of the line before.
    #[error("prev is not the SHA-256 of the line before")]
    Prev,
    /// `seq` is not one more than the one before.
    #[error("seq is {found}")]
    Seq {
        /// The number that stands there.
        found: u64,
    },
    /// The ledger does not start with `ledger_opened`, or a segment not with `ledger_continued`, or one stands elsewhere.
    #[error("an opening record is missing or misplaced")]
    Opening,
    /// The record names another ledger.
    #[error("the record belongs to another ledger")]
    OtherLedger,
    /// A checkpoint's size, root or frontier is not that of the lines before it.
    #[error("the checkpoint is not that of the lines before it")]
    Checkpoint,
    /// A checkpoint's stored counters are not those of the records before it.
    #[error("the checkpoint's counters are not those of the records before it")]
    State,
    /// The file is shorter than this process knew it.
    #[error("the file is shorter than it was")]
    Shrunk,
}

impl Why {
    /// Gives the stable code: `ledger/state-mismatch` for counters, `ledger/broken` for all else.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::State => STATE_MISMATCH.0,
            _ => BROKEN.0,
        }
    }

    /// Says what to do next.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::State => STATE_MISMATCH.1,
            _ => BROKEN.1,
        }
    }
}
