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
mod edit;
mod error;
mod facts;
mod hash;
mod hunks;
mod import;
mod load;
mod model;
mod pin;
mod pins;
mod preimage;
mod quick;
mod revocation_lists;
mod revocations;
mod revoked;
mod scope;
mod shown;
mod splice;
mod time;
mod write;

pub use approval::{Approval, AuditKind, Risk, Verdict};
pub use approvals::{
    ApprovalCheck, ApprovalDraft, Approvals, ApproveOutcome, ApprovedBytes, RulesChanged, UnapproveOutcome,
    parse_approvals,
};
pub use baselines::{BaselineError, Baselines, Collected, InUse, Kept, NewBaseline, PutReport};
pub use change::{Change, Outcome};
pub use check::{Changed, PinCheck, Pinned, SurfaceNew, What};
pub use codes::CODES;
pub use decide::{
    LockSays, PinDecision, STORE_ERROR_EXIT, StoreDecision, StoreErrorRule, Terminal, TrustMode, decide,
};
pub use diff::{Baseline, Class, Classify, Diff, FileChange, LineChange, OldSide, Section, Side, diff};
pub use error::{FormatError, FormatErrorKind, StoreError, StoreErrorKind, StoreFault};
pub use facts::{Facts, Via};
pub use hunks::{Hunk, HunkLine, Hunks};
pub use import::{ImportError, ImportErrorKind, ImportFrom, Proposal, import};
pub use load::{StoreCheck, StoreNotice};
pub use pin::{McpPin, Pin, PinState};
pub use pins::{Committed, Pins, Wrote, parse_pins, rewrite_pins};
pub use preimage::{EntryKind, TreeEntry};
pub use revocation_lists::{KeptWhy, RevocationLists, Settled};
pub use revocations::{RevocationCheck, Revocations};
pub use revoked::{Revoked, Subject};
pub use scope::Scope;
pub use shown::{Shown, Unshown};
pub use time::Timestamp;
