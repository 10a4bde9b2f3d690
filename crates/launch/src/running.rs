//! A started program and its end.

use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::Duration;

use rustix::process::Signal;

use crate::error::LaunchError;
use crate::group::ProcessGroup;
use crate::report::LaunchReport;

/// A started program. Dropping it kills the process group, and with granted access every process of the program.
#[derive(Debug)]
#[must_use]
pub struct RunningProgram {
    child: Child,
    group: ProcessGroup,
    report: LaunchReport,
    life: ProgramLife,
}

/// What keeps a program with granted access alive: the launcher ends it when this is dropped, or when the host ends.
#[derive(Debug)]
#[must_use = "dropping it ends the program"]
pub struct ProgramLife {
    _socket: Option<UnixStream>,
}

impl RunningProgram {
    pub(crate) fn of_user(child: Child, report: LaunchReport) -> Self {
        Self { group: ProcessGroup::of(&child), child, report, life: ProgramLife { _socket: None } }
    }

    #[cfg(target_os = "linux")]
    pub(crate) const fn of_launcher(
        child: Child,
        group: ProcessGroup,
        socket: UnixStream,
        report: LaunchReport,
    ) -> Self {
        Self { child, group, report, life: ProgramLife { _socket: Some(socket) } }
    }

    /// Returns the description of the start.
    #[must_use]
    pub const fn report(&self) -> &LaunchReport {
        &self.report
    }

    /// Returns the process id, which is that of the process group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes the standard input. [`end`](Self::end) can then no longer close it.
    pub const fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes the standard output.
    pub const fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes the standard error.
    pub const fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Hands the process over to a caller that ends its group, whose id is that of the process. The caller drops the
    /// second part after the end.
    pub fn into_child(mut self) -> (Child, ProgramLife) {
        self.group.release();
        (self.child, self.life)
    }

    /// Waits until the program exits. Returns `true` if it exited in time.
    ///
    /// # Errors
    /// `launch/io` if the program is not known to the system, because the host ignores SIGCHLD or reaps child
    /// processes that it did not start.
    pub fn wait(&self, limit: Duration) -> Result<bool, LaunchError> {
        self.group.wait(limit).map_err(LaunchError::io("wait for the program"))
    }

    /// Ends the program and its process group: closes stdin, waits, sends TERM, waits, sends KILL.
    ///
    /// Each wait is half of `grace`, so that KILL follows after `grace`. If `grace` is zero, the group is killed
    /// at once. Processes that the program leaves in its group are killed in any case.
    ///
    /// A program with granted access that a signal ended has the exit code 128 and the number of the signal, unless the
    /// group was killed.
    ///
    /// Pipes that the caller did not take are not read meanwhile. A program that waits until its output is read
    /// is ended by a signal.
    ///
    /// # Errors
    /// `launch/io` if the program cannot be waited for, or does not exit 2 seconds after KILL.
    pub fn end(mut self, grace: Duration) -> Result<ExitStatus, LaunchError> {
        drop(self.take_stdin());
        let half = grace.checked_div(2).unwrap_or_default();
        if !self.wait(half)? && !grace.is_zero() {
            self.group.signal(Signal::TERM);
            self.wait(grace.saturating_sub(half))?;
        }
        let status =
            self.group.kill().and_then(|()| self.child.wait()).map_err(LaunchError::io("end the program"))?;
        self.group.release();
        Ok(status)
    }
}
