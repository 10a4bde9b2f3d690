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

pub use approval::{Approval, AuditKind, Risk, Verdict};
pub use approvals::{
    ApprovalCheck, ApprovalDraft, Approvals, ApproveOutcome, ApprovedBytes, RulesChanged, UnapproveOutcome,
    parse_approvals,
};
pub use baselines::{BaselineError, Baselines, Collected, InUse, Kept, NewBaseline, PutReport};
pub use change::{Change, Outcome};
pub use check::{AgreedAge, Changed, ChangedPart, DeniedBy, PinCheck, Pinned, SurfaceNew};
pub use codes::CODES;
pub use decide::{
    LockSays, PinDecision, STORE_ERROR_EXIT, SameElsewhere, StoreDecision, StoreErrorRule, Terminal,
    TrustMode, decide,
};
pub use diff::{Baseline, Class, Classify, Diff, FileChange, LineChange, OldSide, Section, Side, diff};
pub use error::{FormatError, FormatErrorKind, StoreError, StoreErrorKind, StoreFault};
pub use facts::{Facts, FolderId, Observed, Via};
pub use hunks::{Hunk, HunkLine, Hunks};
pub use load::{StoreCheck, StoreNotice};
pub use pin::{Agreed, Denial, McpPin, PendingPin, Pin, PinState};
pub use pins::{Committed, Pins, Wrote, parse_pins, rewrite_pins};
pub use preimage::{EntryKind, TreeEntry};
pub use revocation_lists::{KeptWhy, RevocationLists, Settled};
pub use revocations::{RevocationCheck, Revocations};
pub use revoked::{Revoked, Subject};
pub use shown::{Shown, Unshown};
pub use time::Timestamp;
