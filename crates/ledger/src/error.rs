//! Errors of a ledger, and every code that this crate emits.

use std::io;

use thiserror::Error;

/// A ledger that could not be opened, read or appended to.
///
/// # Guarantees
///
/// After an error from an append, no record of it counts: the written bytes were removed. If even the removal
/// failed, the records remain, but no caller was told that they are there.
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

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> &LedgerErrorKind {
        &self.kind
    }

    /// Returns the stable code, as listed in [`CODES`].
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.row().0
    }

    /// Returns the help for the code.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.kind.row().1
    }
}

/// Every code that this crate emits, with its help.
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

type CodeHelp = (&'static str, &'static str);
const NOT_OURS: CodeHelp = (
    "ledger/not-ours",
    "review the ledger, then make the state directory and its files yours alone (chown, chmod go-w), each a regular file with one hard link; or use another state directory",
);
const BROKEN: CodeHelp = (
    "ledger/broken",
    "preserve the evidence: move ledger*.jsonl and ledger.checkpoint out of the state directory; the next run starts a new ledger",
);
const LOST: CodeHelp = (
    "ledger/lost",
    "restore the ledger's files from a backup; or, to start a new ledger without the lost records, move ledger*.jsonl and ledger.checkpoint out of the state directory",
);
const TOO_LONG: CodeHelp =
    ("ledger/too-long", "append less: at most 65536 bytes per record and 1024 records per append");
const APPEND: CodeHelp =
    ("ledger/append", "free disk space or make the state directory writable, then try again");
const VERSION: CodeHelp =
    ("ledger/version", "use the newer plugward version that wrote this ledger, or another state directory");
const OTHER_LEDGER: CodeHelp =
    ("ledger/other-ledger", "restart: another ledger replaced this one while the process had it open");
const HELD: CodeHelp = ("ledger/held", "stop the process that holds ledger.lock, then try again");
const STOPPED: CodeHelp =
    ("ledger/stopped", "restart: after a failed sync or a panic this process appends nothing more");
const IO: CodeHelp = ("ledger/io", "see the system error, and check the permissions of the state directory");
const RESERVED: CodeHelp = ("ledger/reserved", "do not append this record: the ledger writes it itself");
const VALUE: CodeHelp = ("ledger/value", "use integers below 2^53 and at most 16 levels of nesting");
const TEXT: CodeHelp = ("ledger/text", "use the format given in the message");
const UNSUPPORTED: CodeHelp =
    ("ledger/unsupported", "keep the ledger in memory: files are not supported on this system");
const STATE_MISMATCH: CodeHelp =
    ("ledger/state-mismatch", "use the counters that `verify` recomputed; the stored ones were modified");

/// The kind of a [`LedgerError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LedgerErrorKind {
    /// A file or the directory is not as the ledger would have created it.
    #[error("{file} cannot be used for a ledger: {why}")]
    NotOurs {
        /// The file, relative to the state directory; `.` is the directory itself.
        file: String,
        /// The property that is wrong.
        why: &'static str,
    },
    /// A complete line does not fit the chain, or a line before the last is not a record.
    #[error("{file}:{line} is not record {seq} of the ledger: {why}")]
    Broken {
        /// The file, relative to the state directory.
        file: String,
        /// The line in the file, from 1.
        line: u64,
        /// The expected `seq`.
        seq: u64,
        /// The property that is wrong.
        why: ChainFault,
    },
    /// Records that `ledger.checkpoint` covers are missing.
    #[error("cannot verify ledger.jsonl: {why}")]
    Lost {
        /// How the loss was detected.
        why: LossReason,
    },
    /// A record or an append is longer than the format allows.
    #[error("record of {bytes} bytes is too long: the limit is {limit}")]
    TooLong {
        /// The length that was needed.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The system refused a write or a sync. The written bytes were removed.
    #[error("the ledger could not be written")]
    Append,
    /// The ledger has a record of a newer format.
    #[error("ledger has format {found}, but this program writes format {supported}")]
    Version {
        /// The `v` of the record.
        found: u64,
        /// The `v` that this crate writes.
        supported: u64,
    },
    /// The live file now belongs to another ledger.
    #[error("ledger.jsonl was replaced by another ledger")]
    OtherLedger,
    /// Another process held the lock for too long.
    #[error("ledger.lock was not released within {millis} milliseconds")]
    LockTimeout {
        /// How long the lock was tried.
        millis: u64,
    },
    /// An earlier failure made this handle unusable.
    #[error("the ledger was stopped by an earlier failure")]
    Stopped,
    /// The system refused an operation other than an append.
    #[error("cannot {doing}")]
    Io {
        /// The operation.
        doing: &'static str,
    },
    /// Only the ledger itself writes this type of record.
    #[error("records of type {type_name} are written by the ledger only")]
    Reserved {
        /// The type.
        type_name: &'static str,
    },
    /// A number or a nesting that the format does not allow.
    #[error("record contains {what}")]
    Value {
        /// The value that cannot be written.
        what: &'static str,
    },
    /// A text that is not a digest, id, timestamp or checkpoint.
    #[error("invalid {what}: expected {expected}")]
    Text {
        /// What was expected.
        what: &'static str,
        /// The expected format.
        expected: &'static str,
    },
    /// Ledger files are not supported on this system.
    #[error("a ledger in a directory is not supported on this system")]
    Unsupported,
}

impl LedgerErrorKind {
    const fn row(&self) -> CodeHelp {
        match self {
            Self::NotOurs { .. } => NOT_OURS,
            Self::Broken { .. } => BROKEN,
            Self::Lost { .. } => LOST,
            Self::TooLong { .. } => TOO_LONG,
            Self::Append => APPEND,
            Self::Version { .. } => VERSION,
            Self::OtherLedger => OTHER_LEDGER,
            Self::LockTimeout { .. } => HELD,
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
    /// No record is left.
    #[error("it is missing or has no records, but ledger.checkpoint covers {covered}")]
    Missing {
        /// The number of records that it covers.
        covered: u64,
    },
    /// There are fewer records than it covers.
    #[error("it has {have} records, but ledger.checkpoint covers {covered}")]
    Shorter {
        /// The number of records, including those in older segments.
        have: u64,
        /// The number of records that it covers.
        covered: u64,
    },
    /// The checkpoint belongs to another ledger.
    #[error("ledger.checkpoint belongs to another ledger")]
    OtherLedger,
    /// The records are not the ones that it covers.
    #[error("its first {covered} records are not those that ledger.checkpoint covers")]
    OtherRecords {
        /// The number of records that it covers.
        covered: u64,
    },
    /// The file is not a checkpoint, so a loss cannot be ruled out.
    #[error("ledger.checkpoint is damaged")]
    Damaged,
}

/// Why a line does not fit the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// The line is not a JSON object.
    #[error("not a JSON object")]
    NotJson,
    /// The line is longer than any record.
    #[error("longer than any record")]
    TooLong,
    /// The line is a JSON object, but not a record of its type.
    #[error("at byte {at}: expected {expected}")]
    Shape {
        /// The byte offset in the line, from 0.
        at: usize,
        /// What the format requires there.
        expected: &'static str,
    },
    /// `prev` is not the digest of the line before.
    #[error("prev is not the SHA-256 of the line before")]
    Prev,
    /// `seq` is not one more than that of the line before.
    #[error("seq is {found}")]
    Seq {
        /// The number in the line.
        found: u64,
    },
    /// The ledger does not begin with `ledger_opened`, or a segment not with `ledger_continued`, or one of
    /// these is in the middle.
    #[error("an opening record is missing or misplaced")]
    Opening,
    /// The record names another ledger.
    #[error("the record belongs to another ledger")]
    OtherLedger,
    /// The size, root or frontier of a checkpoint does not match the lines before it.
    #[error("the checkpoint does not match the lines before it")]
    Checkpoint,
    /// The counters of a checkpoint do not match the records before it.
    #[error("the checkpoint's counters do not match the records before it")]
    State,
    /// The file is shorter than when this process last read it.
    #[error("the file is shorter than it was")]
    Shrunk,
}

impl ChainFault {
    /// Returns the stable code: `ledger/state-mismatch` for counters, `ledger/broken` for all others.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::State => STATE_MISMATCH.0,
            _ => BROKEN.0,
        }
    }

    /// Returns the help for the code.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::State => STATE_MISMATCH.1,
            _ => BROKEN.1,
        }
    }
}
