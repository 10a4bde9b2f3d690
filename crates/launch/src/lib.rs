#![doc = include_str!("../README.md")]

#[cfg(not(unix))]
compile_error!("plugward-launch needs Unix: a program is ended through its process group");

mod access;
mod codes;
mod copy;
mod enforcement;
mod error;
mod group;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(not(target_os = "linux"))]
mod launcher {
    /// Does nothing: only Linux has a launcher.
    pub const fn run_if_launcher() {}
}
mod probe;
mod report;
mod running;
mod sealed;
mod spec;
mod start;

pub use access::{Access, EnforceRule, GrantedAccess, check_grantable_variable};
pub use codes::CODES;
pub use copy::{CopyCheck, copy_program};
pub use enforcement::MissingWord;
pub use error::{LaunchError, LaunchErrorKind};
pub use launcher::run_if_launcher;
pub use probe::{ProbeResult, ProbeRow, SystemProbe, probe};
pub use report::LaunchReport;
pub use running::{ProgramLife, RunningProgram};
pub use sealed::{SealCheck, SealedProgram};
pub use spec::{LaunchSpec, Program, ProgramForm};
pub use start::{LaunchCheck, LaunchRefusal, launch};
