//! Starts command plugins from their checked bytes, and exchanges messages with them.

mod exchange;
pub(crate) mod pipes;
mod program;

pub use pipes::{SessionEnd, SessionError, SessionInterrupt, SessionOutput, SessionPipes};
pub use program::{CheckedProgram, ProgramError};
