#![doc = include_str!("../README.md")]

mod behavior;
mod digest;
mod error;
mod finding;
mod id;
mod key;
mod rule;

pub use behavior::{Behavior, BehaviorEvidence, FileRole};
pub use digest::{Digest, SurfaceDigest, TreeDigest};
pub use error::{ParseError, ParseErrorKind};
pub use finding::{Disguise, Finding, Severity, Span};
pub use id::PluginId;
pub use key::{CalledName, HostName, InstalledId, PlacePath, PluginKey};
pub use rule::RuleId;
