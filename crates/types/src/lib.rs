#![doc = include_str!("../README.md")]

mod address;
mod behavior;
mod digest;
mod error;
pub mod escape;
mod finding;
pub mod hex;
mod id;
mod key;
mod lines;
mod rule;
mod time;
pub mod word_list;

pub use address::{Address, AddressParts};
pub use behavior::{Behavior, BehaviorEvidence, FileRole};
pub use digest::{Digest, SurfaceDigest, TreeDigest};
pub use error::{ParseError, ParseErrorKind};
pub use finding::{Finding, Obfuscation, Severity, Span};
pub use id::PluginId;
pub use key::{CalledName, HostName, InstalledId, PlacePath, PluginKey};
pub use lines::{LineColumn, LineEnds, LineIndex, code_points};
pub use rule::RuleId;
pub use time::Timestamp;
