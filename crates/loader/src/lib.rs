#![doc = include_str!("../README.md")]

pub mod codes;
mod command;
mod contents;
mod discovery;
mod enable;
mod gates;
mod hooks;
mod mcp;
mod record;
mod report;
mod run;
mod state;

pub use cap_std::ambient_authority;
pub use cap_std::fs::Dir;
pub use plugward_capability as capability;
pub use plugward_deep_audit as deep_audit;
pub use plugward_hooks as hook_events;
pub use plugward_host_modules as host_modules;
pub use plugward_installs as installs;
pub use plugward_launch as launch;
pub use plugward_ledger as ledger;
pub use plugward_lifecycle as lifecycle;
pub use plugward_manifest as manifest;
pub use plugward_pinstore as pinstore;
pub use plugward_policy as policy;
pub use plugward_protocol as protocol;
pub use plugward_redact as redact;
pub use plugward_registry as registry;
pub use plugward_sandbox_path as sandbox_path;
pub use plugward_scanner as scanner;
pub use plugward_state_file as state_file;
pub use plugward_tree_lock as tree_lock;
pub use plugward_types::{
    Behavior, BehaviorEvidence, CalledName, Digest, FileRole, Finding, HostName, InstalledId, ParseError,
    Part, PlacePath, PluginId, PluginKey, RuleId, Severity, Span, SurfaceDigest, TreeDigest, edit_distance,
    escape, hex, nearest,
};

pub use command::{
    CheckedProgram, ProgramError, ProgramLines, SessionEnd, SessionError, SessionInterrupt, SessionOutput,
    SessionPipes,
};
pub use contents::audit::audited_bytes;
pub use contents::closure_facts::closure_paths;
pub use contents::hash::{sha256, sha256_of};
pub use contents::material::{MainFile, Material, SharedText, entry_parts, identity_of};
pub use contents::seal::{SealError, SealedCopy};
pub use contents::subject::Subject;
pub use discovery::discover::is_plugin_entry;
pub use discovery::installed::{InstallRecords, InstalledPlace, PROJECT_LABEL};
pub use discovery::nested::ProjectDirectories;
pub use discovery::roots::{Root, RootSearch, project_of};
pub use discovery::survey::{SurveyedPlugin, survey};
pub use enable::{
    ClearanceError, Confirmation, FoundPluginFacts, ModuleEntry, clear, contents_of, found_plugin,
    module_entry, static_facts,
};
pub use gates::approval::ApprovalStore;
pub use gates::mint::{DeclaredModules, Grants, NoGrants};
pub use gates::policy::RevocationStore;
pub use gates::settings_findings::SETTINGS_FILE;
pub use gates::verifiers::{SignerRow, SignersError, Verifiers};
pub use hooks::{HookPlugins, HookSealError, add_looked, record_exposures, record_laundered};
pub use mcp::{
    McpServer, OfferAcceptance, OfferFailure, OfferJudge, OfferOutcome, OfferRules, OfferServer, OfferStore,
    OfferStoreError, OfferView, ProxyEnd, ProxyHost, ProxyStop, StoredOffer, ViewedItem,
};
pub use record::{LaunchLog, LaunchSubject, Record, RecordFailure, RecordOptions, ledger_name};
pub use report::{
    ApprovalReport, ApprovalState, AuditReport, CapabilityReport, Decision, Gate, LockReport, LockState,
    PinReport, PinStatus, PluginKind, PluginReport, PolicyReport, Report, Skipped, Summary, SuppressedReport,
    SurfaceReport, Tool, UnresolvedReport,
};
pub use run::check::{LookReport, check, load, look};
pub use run::options::MachineFacts;
pub use run::options::{
    Answer, ApprovalRule, ByteRetention, CheckMode, CheckOptions, FailureScope, HostSuppression, NoPerson,
    NoWatch, Person, Question, RepositorySettings, ScanAsk, Trust, Watch,
};
pub use run::outcome::{Notice, Reason, ReasonPlace, Weight};
pub use run::policy_options::PolicyOptions;
pub use run::result::{CheckError, CheckResult, Checker, LoadedPlugin, Outcome};
pub use run::rules::policy_of;
pub use run::trust_root::{TRUST_ROOT, TrustRootFile, refuse_trust_roots, trust_root_notice};
pub use state::audits::{AuditRecords, TreeAudits};
pub use state::decide::{
    ApprovalRequest, DecisionError, Denied, ReviewedAudit, UserDecision, approve, decide, record_start_over,
    record_stored, static_audit, unapprove,
};
pub use state::denials::RecordedDenials;
pub use state::pins::{PinStore, StoreFailure};
pub use state::scan_records::{ScanPack, ScanRecords};
pub use state::stores::{Host, Stores};
