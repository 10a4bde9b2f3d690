#![doc = include_str!("../README.md")]

mod approvals;
mod codes;
mod diff;
mod error;
mod format;
mod pins;
mod revocations;

pub use approvals::approval::Approval;
pub use approvals::store::{
    ApprovalCheck, ApprovalDraft, Approvals, ApproveOutcome, ApprovedBytes, RulesChanged, UnapproveOutcome,
    parse_approvals,
};
pub use cap_std;
pub use codes::CODES;
pub use diff::baselines::{
    BaselineError, Baselines, CleanupReport, NewBaseline, PutReport, StoredText, UsedDigests,
};
pub use diff::compare::{
    Baseline, ChangeClass, Classify, Diff, DiffSection, DiffSide, FileChange, LineChange, OldSide, diff,
};
pub use diff::hunks::{Hunk, HunkLine, Hunks};
pub use diff::preimage::{TreeEntry, TreeEntryKind};
pub use error::{FormatError, FormatErrorKind, StoreError, StoreErrorKind, StoreFault};
pub use pins::change::{Change, ChangeOutcome};
pub use pins::check::{
    AgreedAge, ChangedPart, DenialSource, PinCheck, PinDifference, PinnedState, SurfaceDifference,
};
pub use pins::decide::{LockMatch, PinDecision, STORE_ERROR_EXIT, SameContentsPin, StoreDecision, decide};
pub use pins::facts::{DirectoryId, Facts, ObservedPlugin, PinOrigin, ReadScope};
pub use pins::load::{StoreCheck, StoreNotice};
pub use pins::pin::{AgreedState, Denial, McpOwner, McpPin, Pin, PinState};
pub use pins::reviewed::{DigestMismatch, ReviewedDigests};
pub use pins::store::{CommitReport, Pins, WriteOutcome, parse_pins, rewrite_pins};
pub use plugward_state_file::Owner;
pub use plugward_types as types;
pub use plugward_types::{AuditKind, AuditVerdict, Risk, StoreErrorRule, Timestamp, TrustMode};
pub use revocations::copies::{EffectiveList, ListFault, RevocationLists};
pub use revocations::entry::{Revocation, RevocationSubject};
pub use revocations::list::{RevocationCheck, Revocations};
