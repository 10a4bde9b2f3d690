#![doc = include_str!("../README.md")]

mod download;
mod error;
mod find;
mod host;
mod install;
mod names;
mod registry;
mod search_path;
mod store;
mod verify;

pub use cap_std;
pub use download::{Fetch, FetchFault, KeptRegistries, LoadedRegistry, LocalFetch, SourceUrl, UrlPlace};
#[cfg(feature = "net")]
pub use download::{HttpFetch, HttpTimeouts};
pub use error::{CODES, RegistryError, RegistryErrorKind};
pub use find::{CommandSource, FoundCommand, RunDecision};
pub use host::{CommandHost, CommandNames};
pub use install::{AvailableUpdate, InstallConsent, InstalledCommand, PinChange, pin_change};
pub use names::{host_targets, is_command_id, is_command_name};
pub use plugward_policy::CommandRules;
pub use plugward_state_file::Owner;
pub use plugward_types as types;
pub use registry::{CommandBinary, CommandKind, Registry, RegistryEntry, RegistryNote};
pub use search_path::{PathCommand, SearchPath};
pub use store::{CommandStore, InstallReceipt};
pub use verify::PinnedChecksum;
