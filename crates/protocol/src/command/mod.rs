//! The host's side of a command plugin's session.

mod init;
mod message;
mod session;

pub use init::{Init, Workspace};
pub use message::{LogLevel, PluginDescription};
pub use session::{CommandSession, HostServices, MAX_UNKNOWN, ServiceAnswer, SessionEvent, SessionLimits};
