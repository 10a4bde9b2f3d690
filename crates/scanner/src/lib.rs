#![doc = include_str!("../README.md")]

mod analysis;
mod engine;
mod inventory;
mod known;
mod lex;
#[cfg(feature = "render")]
pub mod render;
mod rules;
mod scan;
mod text;

#[cfg(feature = "_engine")]
#[doc(hidden)]
pub use engine::Engine;
pub use inventory::EntryState;
pub use plugward_types as types;
pub use plugward_types::Profile;
pub use rules::{Rule, RuleExample, RuleFile, Rules, SelfCheck, Taxonomy};
pub use scan::cache::MatchCache;
pub use scan::entry::{Content, Entry, FileKind, Lens, RoleHint};
pub use scan::error::{CODES, RuleError, RuleErrorKind, ScanError, ScanErrorKind};
pub use scan::gate::{
    Date, DateError, ScanCheck, ScanDecision, Suppressed, Suppression, SuppressionWarning, gate,
};
pub use scan::options::{ScanLimits, ScanOptions};
pub use scan::report::{Completeness, FileState, ScanReport, ScanSummary};
pub use scan::scan;
