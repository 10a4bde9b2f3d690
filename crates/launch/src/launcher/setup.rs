//! The first process of the launcher: it closes what it inherited, enters namespaces, and waits for the supervisor.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};

use super::{NO_NAMESPACE, Role, again, host_socket, wire};

pub(super) fn run() -> io::Result<i32> {
    close_inherited()?;
    // TERM is for the program. The supervisor passes it on.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    signals.thread_block()?;
    if let Err(error) = enter_namespaces() {
        wire::send(&host_socket()?, &[(NO_NAMESPACE, &error.to_string())], &[])?;
        return Ok(1);
    }
    let status = again(Role::Supervisor).stdin(Stdio::inherit()).spawn()?.wait()?;
    Ok(exit_code(status.code(), status.signal()))
}

/// Returns the exit code, or 128 and the number of the signal, as shells do.
pub(super) fn exit_code(code: Option<i32>, signal: Option<i32>) -> i32 {
    code.or_else(|| signal.map(|signal| signal.saturating_add(128))).unwrap_or(1)
}

/// Closes all descriptors but the standard ones: the host can have some that are not close-on-exec.
pub(super) fn close_inherited() -> io::Result<()> {
    // The listing has a descriptor of its own, so the numbers are collected first.
    let directory = rustix::fs::open("/proc/self/fd", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    let mut numbers = Vec::new();
    for entry in rustix::fs::Dir::new(directory)? {
        numbers.extend(entry?.file_name().to_str().ok().and_then(|name| name.parse::<i32>().ok()));
    }
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The descriptor of the listing is closed already.
        let _closed = nix::unistd::close(number);
    }
    Ok(())
}

/// Enters a user, a process, a mount and an IPC namespace, with the same ids.
fn enter_namespaces() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS;
    // Shared memory and queues of System V are not files, so Landlock does not limit them.
    unshare(flags | CloneFlags::CLONE_NEWIPC)?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{user} {user} 1", user = user.as_raw()))?;
    write("/proc/self/gid_map", &format!("{group} {group} 1", group = group.as_raw()))?;
    // An ordinary user loses the capabilities of the namespace when the supervisor is executed, which mounts `/proc`.
    let mut sets = capabilities(None)?;
    sets.inheritable |= CapabilitySet::SYS_ADMIN;
    set_capabilities(None, sets)?;
    configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)?;
    Ok(())
}

fn write(path: &str, text: &str) -> io::Result<()> {
    let file = rustix::fs::openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, text.as_bytes())?;
    Ok(())
}
