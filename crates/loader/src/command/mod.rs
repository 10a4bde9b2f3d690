//! Starts command plugins from their checked bytes, and exchanges messages with them.

mod exchange;
mod pipes;
mod program;

pub use pipes::{SessionEnd, SessionError, SessionInterrupt, SessionOutput, SessionPipes};
pub use program::{CheckedProgram, ProgramError};
