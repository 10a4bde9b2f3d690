//! Runs one command: writes its input, reads its output, and ends its process group in time.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use plugward_types::Part;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::execution::services::{HookCommand, Start};

/// The limit for standard output. A reply is small, so more output comes from a program that does not stop
/// printing.
const STDOUT_BYTES: usize = 1 << 20;
/// The bytes of standard error that are kept, from its end, where error messages are.
const STDERR_BYTES: usize = 64 << 10;
/// The time that a process group has to exit after TERM.
const GRACE: Duration = Duration::from_millis(500);
/// The time to read pipes after the program exited, since a child process can keep them open forever.
const DRAIN: Duration = Duration::from_millis(250);
/// The polling interval on systems that cannot wait for a process and pipes together.
const TICK: Duration = Duration::from_millis(5);

/// The exit code with which a hook denies.
const DENY: i32 = 2;

/// The outcome of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Oversize,
}

/// The outcome of a program, with its output.
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Runs a command to its end, or ends it at the deadline.
///
/// # Errors
/// The command could not be started or waited for.
pub(crate) fn run(
    start: &dyn Start,
    command: &HookCommand,
    input: &[u8],
    timeout: Duration,
) -> io::Result<Ran> {
    let deadline = after(timeout);
    let child = start.start(command)?;
    let (id, mut end) = (child.id(), None);
    let ran = Running::new(child, input).and_then(|mut running| {
        let ran = running.drive(deadline);
        end = running.end;
        ran
    });
    start.ended(id, end);
    ran
}

#[expect(
    clippy::disallowed_methods,
    reason = "a deadline needs a monotonic clock, and its value is never shown"
)]
fn now() -> Instant {
    Instant::now()
}

/// Returns the time after a wait. Waits are at most ten minutes, so the sum does not overflow.
fn after(wait: Duration) -> Instant {
    let now = now();
    now.checked_add(wait).unwrap_or(now)
}

/// A started program and its pipes. Dropping it kills the process group, so that an early return leaves no
/// process.
struct Running<'a> {
    child: Child,
    pid: Option<Pid>,
    exit: Option<OwnedFd>,
    stdin: Option<ChildStdin>,
    input: &'a [u8],
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out: Vec<u8>,
    err: Tail,
    /// The end of the program, which is then reaped.
    end: Option<ExitStatus>,
}

/// The reason that a round of waiting ended.
enum Round {
    /// The program exited.
    Ended,
    /// The program exited, and both pipes are closed.
    Drained,
    /// The program printed too much.
    Oversize,
    /// The deadline has passed.
    Late,
}

impl<'a> Running<'a> {
    fn new(mut child: Child, input: &'a [u8]) -> io::Result<Self> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let exit = pid.and_then(exit_handle);
        let err = Tail::default();
        let running =
            Self { child, pid, exit, stdin, input, stdout, stderr, out: Vec::new(), err, end: None };
        let pipes = [
            running.stdin.as_ref().map(AsFd::as_fd),
            running.stdout.as_ref().map(AsFd::as_fd),
            running.stderr.as_ref().map(AsFd::as_fd),
        ];
        for pipe in pipes.into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(running)
    }

    fn drive(&mut self, deadline: Instant) -> io::Result<Ran> {
        let end = match self.until(deadline, StopAt::Exit)? {
            Round::Oversize => {
                // A program can print a lot and then deny. It has a moment to exit.
                let ended = matches!(self.until(after(DRAIN), StopAt::Exit)?, Round::Ended | Round::Drained);
                self.signal(Signal::KILL);
                let status = self.wait()?;
                if ended && status.and_then(|status| status.code()) == Some(DENY) {
                    End::Exit(DENY)
                } else {
                    End::Oversize
                }
            }
            Round::Late => {
                self.signal(Signal::TERM);
                // Its output no longer matters. Pipes are only drained so that the program can exit.
                let _in_time = self.until(after(GRACE), StopAt::Exit)?;
                self.signal(Signal::KILL);
                self.wait()?;
                End::TimedOut
            }
            round @ (Round::Ended | Round::Drained) => {
                let oversize = matches!(round, Round::Ended)
                    && matches!(self.until(after(DRAIN), StopAt::Drained)?, Round::Oversize);
                // The program is not reaped yet, so its process group id cannot belong to another program.
                self.signal(Signal::KILL);
                let status = self.wait()?;
                let Some(status) = status else { return Ok(self.ran(End::TimedOut)) };
                match (oversize, status.code(), status.signal()) {
                    (true, code, _) if code != Some(DENY) => End::Oversize,
                    (_, Some(code), _) => End::Exit(code),
                    (_, None, signal) => End::Signal(signal.unwrap_or_default()),
                }
            }
        };
        Ok(self.ran(end))
    }

    fn ran(&mut self, end: End) -> Ran {
        Ran { end, stdout: core::mem::take(&mut self.out), stderr: self.err.take() }
    }

    /// Copies bytes until the program exits, prints too much, or the deadline passes.
    fn until(&mut self, deadline: Instant, stop: StopAt) -> io::Result<Round> {
        loop {
            let left = deadline.saturating_duration_since(now());
            let asks = stop == StopAt::Exit && self.exit.is_none();
            let mut ended = asks && self.has_ended()?;
            let wait = match (asks, ended) {
                (_, true) => Duration::ZERO,
                (true, false) => left.min(TICK),
                (false, false) => left,
            };
            let (mut writable, mut out, mut err) = (false, false, false);
            {
                let exit = self.exit.as_ref().filter(|_| stop == StopAt::Exit);
                let fds = [
                    (Pipe::In, self.stdin.as_ref().map(AsFd::as_fd), PollFlags::OUT),
                    (Pipe::Out, self.stdout.as_ref().map(AsFd::as_fd), PollFlags::IN),
                    (Pipe::Err, self.stderr.as_ref().map(AsFd::as_fd), PollFlags::IN),
                    (Pipe::Exit, exit.map(AsFd::as_fd), PollFlags::IN),
                ];
                let open = fds.into_iter().filter_map(|(pipe, fd, flags)| Some((pipe, fd?, flags)));
                let (pipes, mut polls): (Vec<Pipe>, Vec<PollFd<'_>>) =
                    open.map(|(pipe, fd, flags)| (pipe, PollFd::from_borrowed_fd(fd, flags))).unzip();
                match poll(&mut polls, Some(&timespec(wait))) {
                    Ok(_) => {}
                    Err(Errno::INTR) => continue,
                    Err(error) => return Err(error.into()),
                }
                for (pipe, _) in pipes.iter().zip(&polls).filter(|(_, poll)| !poll.revents().is_empty()) {
                    match pipe {
                        Pipe::In => writable = true,
                        Pipe::Out => out = true,
                        Pipe::Err => err = true,
                        Pipe::Exit => ended = true,
                    }
                }
            }
            if writable {
                self.feed();
            }
            if out {
                let is_full = self.out.len() > STDOUT_BYTES;
                read_some(&mut self.stdout, |bytes| {
                    // Output after the limit is read, so that the program can exit, but not kept.
                    if !is_full {
                        self.out.extend_from_slice(bytes);
                    }
                });
                if !is_full && self.out.len() > STDOUT_BYTES {
                    return Ok(Round::Oversize);
                }
            }
            if err {
                let tail = &mut self.err;
                read_some(&mut self.stderr, |bytes| tail.push(bytes));
            }
            let drained = self.stdout.is_none() && self.stderr.is_none();
            match stop {
                StopAt::Exit if ended && drained => return Ok(Round::Drained),
                StopAt::Exit if ended => return Ok(Round::Ended),
                StopAt::Drained if drained => return Ok(Round::Drained),
                _ if left.is_zero() => return Ok(Round::Late),
                _ => {}
            }
        }
    }

    /// Writes as much as the pipe accepts. A program that closes its input early does not need the rest.
    fn feed(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        match stdin.write(self.input) {
            Ok(count) => self.input = self.input.part(count..),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return;
            }
            Err(_) => self.input = &[],
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }

    fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(pid) = self.pid else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), options)?.is_some())
    }

    /// Signals the process group, and the program itself, which can have left the group. The program is not
    /// reaped yet, so its id cannot belong to another program. It is not an error if no process is left.
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid {
            let _none_left = kill_process_group(pid, signal);
            let _ended = kill_process(pid, signal);
        }
    }

    /// Waits for a program that exited or was killed. Returns `None` if it does not exit, for example
    /// because it has more privileges than this process.
    fn wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let deadline = after(DRAIN);
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.end = Some(status);
                return Ok(self.end);
            }
            if now() >= deadline {
                return Ok(None);
            }
            std::thread::sleep(TICK);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.signal(Signal::KILL);
            // If it cannot be killed, its exit status stays with the system.
            let _ended = self.wait();
        }
    }
}

#[derive(Clone, Copy)]
enum Pipe {
    In,
    Out,
    Err,
    Exit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StopAt {
    Exit,
    Drained,
}

/// Reads the available bytes, and closes the pipe at its end.
fn read_some<P: Read>(pipe: &mut Option<P>, mut take: impl FnMut(&[u8])) {
    let Some(open) = pipe else { return };
    let mut buffer = vec![0; 64 << 10];
    match open.read(&mut buffer) {
        Ok(count) if count > 0 => take(buffer.part(..count)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
        Ok(_) | Err(_) => *pipe = None,
    }
}

/// The end of an output.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        // The buffer is cut only when it is twice as large, so each byte is moved once on average.
        if self.0.len() > 2 * STDERR_BYTES {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let extra = self.0.len().saturating_sub(STDERR_BYTES);
        if extra > 0 {
            // An incomplete first line is removed too, since half a secret is not recognized by the
            // redaction rules.
            let rest = self.0.iter().skip(extra).position(|byte| *byte == b'\n');
            let end = rest.map_or(self.0.len(), |line| extra.saturating_add(line).saturating_add(1));
            self.0.drain(..end);
            // The same applies to a key whose first lines are missing.
            let text = String::from_utf8_lossy(&self.0);
            if let Some(at) = text.find("-----END").filter(|at| !text.part(..*at).contains("-----BEGIN")) {
                self.0 = text.part(at..).as_bytes().to_vec();
            }
        }
    }

    fn take(&mut self) -> Vec<u8> {
        self.cut();
        core::mem::take(&mut self.0)
    }
}

/// Opens a handle that becomes readable when the program exits, if the system has one.
#[cfg(target_os = "linux")]
fn exit_handle(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_handle(_pid: Pid) -> Option<OwnedFd> {
    None
}

fn timespec(wait: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(wait.subsec_nanos()),
    }
}
