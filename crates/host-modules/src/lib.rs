#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod codes;
mod config;
#[cfg(feature = "fetch")]
mod fetch;
mod fs;
mod module;
mod modules;
mod register;
mod session;

pub use codes::CODES;
pub use config::{ConfigError, ModuleConfig};
#[cfg(feature = "fetch")]
pub use fetch::{FetchConfig, HttpNet, Net, NetFault, NetRequest, NetResponse, fetch};
pub use fs::read::{FsReadConfig, fs_read};
pub use fs::write::{FsWriteConfig, fs_write};
pub use module::{CallResult, FunctionName, HostModule, ModuleName, ThrownError, bytes_of, bytes_value};
pub use modules::{CallRefusal, Modules};
pub use plugward_capability as capability;
pub use plugward_lifecycle as lifecycle;
pub use plugward_protocol as protocol;
pub use plugward_sandbox_path as sandbox_path;
pub use register::{RegisterError, Registration, RejectReason, RejectedModule, register};
pub use session::error::SessionFault;
pub use session::guest::{GUEST_SHIM, GuestEvent, GuestLimits, GuestSession};
pub use session::pipe::{PipeInput, ProgramPipe, RunningPlugin};
pub use session::plugin::{
    OfferedModule, PLUGIN_SHIM, PluginEvent, PluginInit, PluginLimits, PluginOffer, PluginSession,
};
