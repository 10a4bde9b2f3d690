#![doc = include_str!("../README.md")]

#[cfg(feature = "_bench")]
#[doc(hidden)]
pub mod bench;
mod bytes;
mod entropy;
mod error;
mod firewall;
mod found;
mod hold;
mod index;
#[cfg(feature = "json")]
mod json;
mod kind;
mod known;
mod marker;
mod merge;
mod pass;
mod proof;
mod provider;
mod raw;
mod redacted;
mod repeats;
mod rules;
mod scan;
mod settings;
mod spell;
mod stream;
mod views;
mod wiped;

pub use error::{CODES, RedactError, RedactErrorKind};
pub use firewall::Firewall;
pub use found::{ChecksumCheck, Did, Found, Layer, Via};
#[cfg(feature = "json")]
pub use json::{Content, Ended, Output};
pub use kind::{KINDS, Kind};
pub use known::Known;
pub use provider::{
    LlmAccess, Request, RequestPart, Role, SafeProvider, Transport, TransportError, TransportErrorKind,
};
pub use raw::{LocalOnly, Raw, Wipe, on_this_machine};
pub use redacted::Redacted;
pub use rules::examples::{EXAMPLES, Example};
pub use settings::{Custom, CustomAction, Entropy, Examples, Marker, Pack, Rules, Settings, Views};
pub use stream::RedactStream;
