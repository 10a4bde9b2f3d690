#![doc = include_str!("../README.md")]

mod bytes;
mod firewall;
mod known;
mod provider;
mod raw;
mod redacted;
mod rules;
mod views;

pub use firewall::Firewall;
pub use firewall::error::{CODES, RedactError, RedactErrorKind};
#[cfg(feature = "json")]
pub use firewall::json::{Output, OutputContent, ToolStatus};
pub use firewall::settings::{
    CustomAction, CustomRule, EntropyMode, ExampleMode, MarkerStyle, RulePack, RuleSelection, Settings,
    ViewMode,
};
pub use firewall::stream::RedactStream;
pub use known::KnownSecrets;
pub use provider::{
    LlmAccess, ModelRequest, RequestPart, RequestRole, SafeProvider, Transport, TransportError,
    TransportErrorKind,
};
pub use raw::{LocalProof, Raw, Wipe, on_this_machine};
pub use redacted::Redacted;
pub use redacted::finding::{ChecksumCheck, Layer, LayerStack, RedactAction, SecretFinding};
pub use redacted::kind::{KINDS, SecretKind};
pub use rules::examples::{EXAMPLES, ExampleKey};
