#![doc = include_str!("../README.md")]

mod approvals;
mod check;
pub mod codes;
mod discover;
mod facts;
mod finish;
mod gates;
mod hash;
mod hints;
mod lock;
mod material;
mod mint;
mod options;
mod pins;
mod policy;
mod record;
mod report;
mod rows;
mod scan_records;
mod scanning;
mod scrub;
mod secrets;
mod shared;
mod stores;
mod subject;
mod text;
mod trees;
mod verifiers;
mod view;

pub use cap_std::ambient_authority;
pub use cap_std::fs::Dir;
pub use plugward_capability as capability;
pub use plugward_ledger as ledger;
pub use plugward_manifest as manifest;
pub use plugward_pinstore as pinstore;
pub use plugward_redact as redact;
pub use plugward_sandbox_path as sandbox_path;
pub use plugward_scanner as scanner;
pub use plugward_state_file as state_file;
pub use plugward_tree_lock as tree_lock;
pub use plugward_types::{
    Digest, Finding, ParseError, PluginId, RuleId, Severity, Span, SurfaceDigest, TreeDigest,
};

pub use approvals::ApprovalStore;
pub use check::{Loaded, check, load, look};
pub use hash::sha256;
pub use material::{Material, SharedText, entry_parts, identity_of};
pub use mint::{DeclaredModules, Granted, Grants, NoGrants};
pub use options::{
    Answer, ApprovalRule, CheckOptions, HostSuppression, Keep, NobodyThere, Person, Root, Trust, Unwatched,
    Watch, Whole, Writes,
};
pub use pins::{PinStore, StoreFailure};
pub use policy::RevocationStore;
pub use record::{Record, RecordFailure, RecordOptions};
pub use report::{
    ApprovalReport, CapabilityReport, Decision, Gate, LockReport, Notice, PinState, PluginReport, Reason,
    Report, Skipped, Summary, SuppressedReport, SurfaceReport, Tool, Weight,
};
pub use scan_records::{Remembered, ScanPack, ScanRecords};
pub use stores::{Host, Stores};
pub use subject::Subject;
pub use verifiers::{SignerRow, SignersError, Verifiers};
