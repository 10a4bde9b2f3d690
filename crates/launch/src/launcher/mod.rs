//! The launcher: this program, started again, which confines itself and then starts the program of a plugin.
//!
//! *setup* enters namespaces and starts *supervisor* as their first process. The supervisor confines itself, reports to
//! the host, and starts the program when the host says so. If namespaces are denied, the host starts the supervisor
//! directly.

mod files;
mod filter;
pub(crate) mod host;
mod setup;
mod start;
mod supervisor;
mod wire;

use std::ffi::OsStr;
use std::io;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// The first argument of a launcher, which no user types.
const MARK: &str = "plugward-launcher";

/// What a process of the launcher does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Setup,
    /// The first process of a namespace.
    Supervisor,
    /// The supervisor, in the namespaces of the host.
    Plain,
}

const ROLES: [(&str, Role); 3] =
    [("setup", Role::Setup), ("supervisor", Role::Supervisor), ("plain", Role::Plain)];

/// The first byte of texts to the host.
const NO_NAMESPACE: u8 = b'n';
const ABI: u8 = b'l';
const LANDLOCK_FAULT: u8 = b'L';
const CAPABILITIES_FAULT: u8 = b'C';
const SECCOMP_FAULT: u8 = b'S';
const STARTED: u8 = b'k';
const NOT_STARTED: u8 = b'x';

/// Becomes the launcher if this process was started as one.
///
/// A program that starts others with [`Access::Granted`](crate::Access::Granted) calls it first in `main`, before it
/// starts a thread or opens a file. It does not return in a launcher.
pub fn run_if_launcher() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(MARK)) {
        return;
    }
    let name = arguments.next().unwrap_or_default();
    let role = ROLES.iter().find(|(known, _)| name == *known);
    let code = match role {
        Some((_, Role::Setup)) => setup::run(),
        Some((_, role)) => supervisor::run(*role),
        None => Err(io::ErrorKind::InvalidInput.into()),
    };
    // The host notices that the socket closes.
    std::process::exit(code.unwrap_or(1));
}

/// The command that starts this program again.
fn again(role: Role) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this crate starts programs")]
    let mut command = Command::new("/proc/self/exe");
    let name = ROLES.iter().find(|(_, known)| *known == role).map_or("", |(name, _)| name);
    command.args([MARK, name]).env_clear().current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The socket to the host, which is the standard input.
fn host_socket() -> io::Result<UnixStream> {
    Ok(rustix::stdio::stdin().try_clone_to_owned()?.into())
}
