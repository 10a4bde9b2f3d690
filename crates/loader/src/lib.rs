#![doc = include_str!("../README.md")]

mod check;
mod checked;
pub mod codes;
mod decide;
mod discover;
mod examined;
mod gates;
mod hash;
mod hints;
mod hooks;
mod key;
mod markets;
mod material;
mod options;
mod outcome;
mod pins;
mod record;
mod report;
mod roots;
mod scan_records;
mod scrub;
mod seal;
mod secrets;
mod shared;
mod stores;
mod subject;
mod survey;
mod text;
mod trees;
mod verifiers;
mod view;

pub use cap_std::ambient_authority;
pub use cap_std::fs::Dir;
pub use plugward_capability as capability;
pub use plugward_hooks as hook_events;
pub use plugward_ledger as ledger;
pub use plugward_manifest as manifest;
pub use plugward_pinstore as pinstore;
pub use plugward_redact as redact;
pub use plugward_sandbox_path as sandbox_path;
pub use plugward_scanner as scanner;
pub use plugward_state_file as state_file;
pub use plugward_tree_lock as tree_lock;
pub use plugward_types::{
    Behavior, BehaviorEvidence, CalledName, Digest, FileRole, Finding, HostName, InstalledId, ParseError,
    PlacePath, PluginId, PluginKey, RuleId, Severity, Span, SurfaceDigest, TreeDigest,
};

pub use check::{LookReport, check, load, look};
pub use checked::{CheckError, CheckResult, Checker, LoadedPlugin, Outcome};
pub use decide::{
    DecisionError, Denied, UserDecision, approve_static, decide, record_start_over, static_risk,
};
pub use gates::approval::ApprovalStore;
pub use gates::mint::{DeclaredModules, Grants, NoGrants};
pub use gates::policy::RevocationStore;
pub use hash::sha256;
pub use hooks::{HookPlugins, HookSealError, add_looked, record_laundered};
pub use material::{MainFile, Material, SharedText, entry_parts, identity_of};
pub use options::{
    Answer, ApprovalRule, ByteRetention, CheckMode, CheckOptions, FailureScope, HostSuppression, NoPerson,
    NoWatch, Person, ScanAsk, Trust, Watch,
};
pub use outcome::{Notice, Reason, ReasonPlace, Weight};
pub use pins::{PinStore, StoreFailure};
pub use record::{Record, RecordFailure, RecordOptions, ledger_name};
pub use report::{
    ApprovalReport, ApprovalState, CapabilityReport, Decision, Gate, LockReport, LockState, PinReport,
    PinStatus, PluginKind, PluginReport, Report, Skipped, Summary, SuppressedReport, SurfaceReport, Tool,
};
pub use roots::{Root, project_of};
pub use scan_records::{ScanCacheUse, ScanPack, ScanRecords};
pub use seal::{SealError, SealedCopy};
pub use stores::{Host, Stores};
pub use subject::Subject;
pub use survey::{SurveyedPlugin, survey};
pub use verifiers::{SignerRow, SignersError, Verifiers};
