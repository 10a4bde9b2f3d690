#![doc = include_str!("../README.md")]

mod analysis;
mod cache;
mod commands;
mod crates;
mod credentials;
mod decode;
mod downloads;
mod encoded;
mod engine;
mod entry;
mod error;
mod file;
mod findings;
mod gate;
mod hosts;
mod inventory;
mod keys;
mod lex;
mod lines;
mod modules;
mod names;
mod options;
mod passes;
mod quotation;
#[cfg(feature = "render")]
pub mod render;
mod report;
mod roles;
mod rules;
mod scan;
mod secret;
mod servers;
mod shapes;
mod sink;
mod snippet;
mod text;
mod unicode;
mod view;

pub use cache::MatchCache;
#[cfg(feature = "_engine")]
#[doc(hidden)]
pub use engine::Engine;
pub use entry::{Content, Entry, Lens, Role, RoleHint};
pub use error::{CODES, RuleError, RuleErrorKind, ScanError, ScanErrorKind};
pub use gate::{Date, DateError, Notice, ScanCheck, ScanDecision, Suppressed, Suppression, gate};
pub use inventory::State;
pub use options::{Limits, Profile, ScanOptions};
pub use report::{Coverage, FileState, ScanReport, Summary};
pub use rules::{Rule, RuleExample, RuleFile, Rules, SelfCheck};
pub use scan::scan;
