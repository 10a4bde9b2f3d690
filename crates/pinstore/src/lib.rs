#![doc = include_str!("../README.md")]

mod approval;
mod approvals;
mod baselines;
mod change;
mod check;
mod codes;
mod decide;
mod diff;
mod doc;
mod error;
mod facts;
mod hash;
mod hunks;
mod load;
mod model;
mod old_formats;
mod pin;
mod pins;
mod preimage;
mod render;
mod revocation_lists;
mod revocations;
mod revoked;
mod shown;
mod time;

pub use approval::{Approval, AuditKind, AuditVerdict, Risk};
pub use approvals::{
    ApprovalCheck, ApprovalDraft, Approvals, ApproveOutcome, ApprovedBytes, RulesChanged, UnapproveOutcome,
    parse_approvals,
};
pub use baselines::{
    BaselineError, Baselines, CleanupReport, NewBaseline, PutReport, StoredText, UsedDigests,
};
pub use change::{Change, ChangeOutcome};
pub use check::{
    AgreedAge, ChangedPart, DenialSource, PinCheck, PinDifference, PinnedState, SurfaceDifference,
};
pub use codes::CODES;
pub use decide::{
    LockMatch, PinDecision, STORE_ERROR_EXIT, SameContentsPin, StoreDecision, StoreErrorRule, Terminal,
    TrustMode, decide,
};
pub use diff::{
    Baseline, ChangeClass, Classify, Diff, DiffSection, DiffSide, FileChange, LineChange, OldSide, diff,
};
pub use error::{FormatError, FormatErrorKind, StoreError, StoreErrorKind, StoreFault};
pub use facts::{DirectoryId, Facts, ObservedPlugin, PinOrigin};
pub use hunks::{Hunk, HunkLine, Hunks};
pub use load::{StoreCheck, StoreNotice};
pub use pin::{AgreedState, Denial, McpPin, PendingPin, Pin, PinState};
pub use pins::{CommitReport, Pins, WriteOutcome, parse_pins, rewrite_pins};
pub use preimage::{TreeEntry, TreeEntryKind};
pub use revocation_lists::{EffectiveList, ListFault, RevocationLists};
pub use revocations::{RevocationCheck, Revocations};
pub use revoked::{Revocation, RevocationSubject};
pub use shown::{DigestMismatch, ReviewedDigests};
pub use time::Timestamp;
