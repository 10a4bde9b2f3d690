//! The parent process of the program: it confines itself, reports, starts the program, and ends with it.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::signal::{SigSet, Signal as NixSignal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::setup::{close_inherited, exit_code};
use super::start::Start;
use super::{
    ABI, CAPABILITIES, CAPABILITIES_FAULT, LANDLOCK_FAULT, NAMESPACE, NO_NAMESPACE, NOT_STARTED, Role,
    SECCOMP, SECCOMP_FAULT, STARTED, files, filter, host_socket, wire,
};

/// Runs the supervisor and returns the exit code of the program.
pub(super) fn run(role: Role) -> io::Result<i32> {
    // The end of the first process of a namespace kills all others.
    let is_first = role == Role::Supervisor;
    if is_first {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    } else {
        close_inherited()?;
    }
    let blocked = blocked_signals();
    blocked.thread_block()?;
    let signals = SignalFd::with_flags(&blocked, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let host = host_socket()?;
    if is_first && let Err(error) = mount_processes() {
        wire::send(&host, &[(NO_NAMESPACE, &format!("mount `/proc`: {error}"))], &[])?;
        return Ok(1);
    }
    let mut start = Start::receive(&host)?;
    let mut report = confine(&mut start, role);
    if is_first {
        report.push((NAMESPACE, String::new()));
    }
    let report: Vec<(u8, &str)> = report.iter().map(|(tag, text)| (*tag, text.as_str())).collect();
    wire::send(&host, &report, &[])?;
    // The host closes the socket if it refuses, or if the start cannot be recorded.
    (&host).read_exact(&mut [0])?;
    // The program inherits the mask, and no signal is lost: the host sends none before the answer, and `supervise` looks
    // for an end first.
    SigSet::empty().thread_set_mask()?;
    let program = spawn(start, role);
    let program = match program {
        Ok(program) => program,
        Err(error) => {
            let number = error.raw_os_error().unwrap_or_else(|| Errno::INVAL.raw_os_error());
            wire::send(&host, &[(NOT_STARTED, &number.to_string())], &[])?;
            return Ok(1);
        }
    };
    let end = blocked
        .thread_block()
        .map_err(Into::into)
        .and_then(|()| wire::send(&host, &[(STARTED, "")], &[]))
        .and_then(|()| supervise(program, &signals, &host, role));
    if end.is_err() && role == Role::Plain {
        // No namespace ends with this process.
        rustix::process::kill_current_process_group(Signal::KILL)?;
    }
    end
}

/// The signals that the supervisor reads.
fn blocked_signals() -> SigSet {
    [NixSignal::SIGCHLD, NixSignal::SIGTERM].into_iter().collect()
}

/// Mounts a `/proc` that shows the processes of the namespace only.
fn mount_processes() -> io::Result<()> {
    // The mounts of a new user namespace do not reach the outer one.
    mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?;
    Ok(())
}

/// Drops everything that is not granted, and returns what is in effect.
fn confine(start: &mut Start, role: Role) -> Vec<(u8, String)> {
    let mut report = Vec::new();
    report.push(match drop_capabilities() {
        Ok(()) => (CAPABILITIES, String::new()),
        Err(error) => (CAPABILITIES_FAULT, error.to_string()),
    });
    report.push(match files::restrict(&start.files, &start.ports) {
        Ok(abi) if abi == 0 || files::is_denied() => (ABI, abi.to_string()),
        Ok(abi) => (LANDLOCK_FAULT, format!("Landlock (ABI {abi}) does not deny a file")),
        Err(error) => (LANDLOCK_FAULT, error.to_string()),
    });
    report.push(match filter::apply(&start.ports, start.attributes, role) {
        Ok(()) if filter::is_denied() => (SECCOMP, String::new()),
        Ok(()) => (SECCOMP_FAULT, "the filter does not deny a socket".to_owned()),
        Err(error) => (SECCOMP_FAULT, error.to_string()),
    });
    start.files.clear();
    report
}

fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySet::empty();
    // Without new privileges, root does not get them back when it executes a program.
    rustix::thread::set_no_new_privs(true)?;
    rustix::thread::clear_ambient_capability_set()?;
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)?;
    let left = rustix::thread::capabilities(None)?;
    if left.effective.is_empty() && left.permitted.is_empty() { Ok(()) } else { Err(Errno::PERM.into()) }
}

fn spawn(start: Start, role: Role) -> io::Result<Pid> {
    #[expect(clippy::disallowed_methods, reason = "this crate starts programs")]
    let mut command = Command::new(&start.path);
    if let Some((name, arguments)) = start.argv.split_first() {
        command.arg0(name).args(arguments);
    }
    command.env_clear().envs(start.env).current_dir(start.directory);
    let [input, output, errors] = start.streams;
    command.stdin(input).stdout(output).stderr(errors);
    // Outside of a namespace, the host ends the program through the group of the launcher.
    if role == Role::Supervisor {
        command.process_group(0);
    }
    let child = crate::start::spawn(&mut command)?;
    Ok(Pid::from_child(&child))
}

/// Waits until the program ends, and reaps every other process. Passes TERM on.
fn supervise(program: Pid, signals: &SignalFd, host: &UnixStream, role: Role) -> io::Result<i32> {
    // If the start of the host ignores SIGCHLD, the system reaps the program, and there is no status or signal.
    let exit = match rustix::process::pidfd_open(program, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Err(Errno::CHILD.into()),
        exit => exit.ok(),
    };
    let mut has_ended = false;
    loop {
        while let Some((pid, status)) = rustix::process::wait(WaitOptions::NOHANG)? {
            if pid == program {
                return Ok(exit_code(status.exit_status(), status.terminating_signal()));
            }
        }
        if has_ended {
            return Err(Errno::CHILD.into());
        }
        let gone = {
            let mut fds = vec![
                PollFd::from_borrowed_fd(host.as_fd(), PollFlags::RDHUP),
                PollFd::new(signals, PollFlags::IN),
            ];
            fds.extend(exit.as_ref().map(|exit| PollFd::new(exit, PollFlags::IN)));
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            has_ended = fds.get(2).is_some_and(|exit| !exit.revents().is_empty());
            let is_gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
            fds.first().is_some_and(|host| host.revents().intersects(is_gone))
        };
        while let Some(signal) = signals.read_signal()? {
            if role == Role::Supervisor && signal.ssi_signo == NixSignal::SIGTERM as u32 {
                let _ended = rustix::process::kill_process_group(program, Signal::TERM);
            }
        }
        if gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }
}
