#![doc = include_str!("../README.md")]

mod check;
pub mod codes;
mod discover;
mod gates;
mod hash;
mod hints;
mod lock;
mod material;
mod options;
mod pins;
mod report;
mod subject;
mod trees;
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

pub use check::{check, look};
pub use hash::sha256;
pub use material::Material;
pub use options::{
    Answer, CheckOptions, Keep, NobodyThere, Person, Root, Trust, Unwatched, Watch, Whole, Writes,
};
pub use pins::{PinStore, StoreFailure};
pub use report::{
    CapabilityReport, Decision, Gate, Notice, PinState, PluginReport, Reason, Report, Skipped, StateOnly,
    Summary, SurfaceReport, Tool, Weight,
};
pub use subject::Subject;
