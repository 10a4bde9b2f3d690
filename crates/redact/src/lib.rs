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
pub use found::{ChecksumCheck, Layer, LayerStack, RedactAction, SecretFinding};
#[cfg(feature = "json")]
pub use json::{Output, OutputContent, ToolStatus};
pub use kind::{KINDS, SecretKind};
pub use known::KnownSecrets;
pub use provider::{
    LlmAccess, ModelRequest, RequestPart, RequestRole, SafeProvider, Transport, TransportError,
    TransportErrorKind,
};
pub use raw::{LocalProof, Raw, Wipe, on_this_machine};
pub use redacted::Redacted;
pub use rules::examples::{EXAMPLES, ExampleKey};
pub use settings::{
    CustomAction, CustomRule, EntropyMode, ExampleMode, MarkerStyle, RulePack, RuleSelection, Settings,
    ViewMode,
};
pub use stream::RedactStream;
