#![doc = include_str!("../README.md")]

#[cfg(not(unix))]
compile_error!("plugward-launch needs Unix: a program is ended through its process group");

mod codes;
mod copy;
mod error;
mod group;
mod report;
mod running;
mod sealed;
mod spec;
mod start;

pub use codes::CODES;
pub use copy::{CopyCheck, copy_program};
pub use error::{LaunchError, LaunchErrorKind};
pub use report::LaunchReport;
pub use running::RunningProgram;
pub use sealed::{SealCheck, SealedProgram};
pub use spec::{Access, LaunchSpec, Program, ProgramForm};
pub use start::launch;
