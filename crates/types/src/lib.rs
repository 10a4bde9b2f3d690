#![doc = include_str!("../README.md")]

mod digest;
mod error;
mod finding;
mod id;
mod rule;

pub use digest::{Digest, SurfaceDigest, TreeDigest};
pub use error::{ParseError, ParseErrorKind};
pub use finding::{Disguise, Finding, Severity, Span};
pub use id::PluginId;
pub use rule::RuleId;
