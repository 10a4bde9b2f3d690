//! The host's side of a command plugin's session.

mod event;
mod init;
mod message;
mod session;

pub use event::{HostServices, ServiceAnswer, SessionEvent, SessionLimits};
pub use init::{Init, Workspace};
pub use message::{LogLevel, PluginDescription};
pub use session::{CommandSession, MAX_UNKNOWN};
