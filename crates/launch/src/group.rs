//! The process group of a program.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

/// The time in which a killed program has to exit. One with more privileges than the host does not.
const KILLED: Duration = Duration::from_secs(2);
/// The polling interval on systems without a handle for a process.
const TICK: Duration = Duration::from_millis(5);

/// A process group whose first process was not reaped yet, so that no other group can get its id. Dropping it
/// kills the group and reaps that process.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    pid: Pid,
    /// Becomes readable when the first process exits.
    exit: Option<OwnedFd>,
    is_released: bool,
}

impl ProcessGroup {
    pub(crate) fn of(child: &Child) -> Self {
        let pid = Pid::from_child(child);
        Self { pid, exit: exit_handle(pid), is_released: false }
    }

    /// Lets dropping the group do nothing, because the process was reaped or is another owner's.
    pub(crate) const fn release(&mut self) {
        self.is_released = true;
    }

    /// Waits until the first process exits, and does not reap it. Returns `true` if it exited in time.
    pub(crate) fn wait(&self, limit: Duration) -> io::Result<bool> {
        let started = now();
        loop {
            if self.has_ended()? {
                return Ok(true);
            }
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            self.pause(left)?;
        }
    }

    /// Signals each process of the group, and the first process, which can have left the group. It is not an
    /// error if no process is left.
    pub(crate) fn signal(&self, signal: Signal) {
        // If the host reaped the process elsewhere, its id can belong to another process.
        if self.has_ended().is_ok() {
            let _none_left = kill_process_group(self.pid, signal);
            let _ended = kill_process(self.pid, signal);
        }
    }

    /// Kills the group and waits for the first process.
    pub(crate) fn kill(&self) -> io::Result<()> {
        self.signal(Signal::KILL);
        if self.wait(KILLED)? { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }

    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid), options)?.is_some())
    }

    /// Pauses until the process exits, but not longer than `left`.
    fn pause(&self, left: Duration) -> io::Result<()> {
        let Some(exit) = &self.exit else {
            std::thread::sleep(left.min(TICK));
            return Ok(());
        };
        // A time that is too long for the system is not a limit.
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(exit, PollFlags::IN)], timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.is_released && self.kill().is_ok() {
            let _status = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a deadline needs a monotonic clock, and its value is never shown"
)]
fn now() -> Instant {
    Instant::now()
}

/// Opens a handle that becomes readable when the program exits, if the system has one.
#[cfg(target_os = "linux")]
fn exit_handle(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
const fn exit_handle(_pid: Pid) -> Option<OwnedFd> {
    None
}
