//! Starts command plugins from their checked bytes, and exchanges messages with them.

mod exchange;
mod lines;
pub(crate) mod pipes;
mod program;

pub use lines::ProgramLines;
pub use pipes::{SessionEnd, SessionError, SessionInterrupt, SessionOutput, SessionPipes};
pub use program::{CheckedProgram, ProgramError};
