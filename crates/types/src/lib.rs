#![doc = include_str!("../README.md")]

mod address;
mod audit;
pub mod base64;
mod behavior;
mod digest;
mod error;
pub mod escape;
mod finding;
pub mod glob;
pub mod hex;
mod id;
mod key;
mod lines;
mod named;
mod nearest;
mod part;
pub mod pointer;
mod rule;
mod setting;
mod time;
pub mod word_list;

pub use address::{Address, AddressParts};
pub use audit::{AuditKind, AuditVerdict, Risk};
pub use behavior::{Behavior, BehaviorEvidence, FileRole};
pub use digest::{Digest, SurfaceDigest, TreeDigest};
pub use error::{ParseError, ParseErrorKind};
pub use finding::{Finding, Obfuscation, Severity, Span};
pub use id::PluginId;
pub use key::{CalledName, HostName, InstalledId, PlacePath, PluginKey};
pub use lines::{LineColumn, LineEnds, LineIndex, code_points};
pub use nearest::{edit_distance, nearest};
pub use part::{Part, valid_head};
pub use rule::RuleId;
pub use setting::{ApprovalRule, Profile, RawOutput, ScanAsk, StoreErrorRule, TrustMode};
pub use time::Timestamp;
