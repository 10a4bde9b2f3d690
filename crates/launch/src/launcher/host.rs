//! The host's side of a confined start.

use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Child;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags};

use super::start;
use super::wire::{self, Message};
use super::{
    ABI, CAPABILITIES_FAULT, LANDLOCK_FAULT, NO_NAMESPACE, NOT_STARTED, Role, SECCOMP_FAULT, STARTED, again,
};
use crate::access::GrantedAccess;
use crate::enforcement::Facts;
use crate::error::{LaunchError, LaunchErrorKind};
use crate::group::ProcessGroup;
use crate::spec::{LaunchSpec, Program};

/// The time in which the launcher answers.
const ANSWER: Duration = Duration::from_secs(5);

/// A launcher that is confined and waits. Dropping it ends the launcher, and the program with it.
#[derive(Debug)]
pub(crate) struct Launcher {
    child: Child,
    group: ProcessGroup,
    socket: UnixStream,
    facts: Facts,
}

impl Launcher {
    /// Starts a launcher and waits until it is confined.
    pub(crate) fn start(spec: &LaunchSpec<'_>, access: &GrantedAccess) -> Result<Self, LaunchError> {
        let (input, stdin) = io::pipe().map_err(LaunchError::io("create a pipe"))?;
        let (stdout, output) = io::pipe().map_err(LaunchError::io("create a pipe"))?;
        let (stderr, errors) = io::pipe().map_err(LaunchError::io("create a pipe"))?;
        let program = program_file(spec)?;
        let streams = [input.as_fd(), output.as_fd(), errors.as_fd()];
        let begin = |role| Self::begin(role, spec, access, streams, program.as_ref().map(OwnedFd::as_fd));
        let mut launcher = match begin(Role::Setup)? {
            Self { facts: Facts { namespace_fault: Some(fault), .. }, .. } => {
                let mut launcher = begin(Role::Plain)?;
                launcher.facts.namespace_fault = Some(fault);
                launcher
            }
            launcher => launcher,
        };
        launcher.child.stdin = Some(OwnedFd::from(stdin).into());
        launcher.child.stdout = Some(OwnedFd::from(stdout).into());
        launcher.child.stderr = Some(OwnedFd::from(stderr).into());
        Ok(launcher)
    }

    fn begin(
        role: Role,
        spec: &LaunchSpec<'_>,
        access: &GrantedAccess,
        streams: [BorrowedFd<'_>; 3],
        program: Option<BorrowedFd<'_>>,
    ) -> Result<Self, LaunchError> {
        let (socket, its) = UnixStream::pair().map_err(LaunchError::io("create a socket"))?;
        for set in [UnixStream::set_read_timeout, UnixStream::set_write_timeout] {
            set(&socket, Some(ANSWER)).map_err(LaunchError::io("set the time limit of a socket"))?;
        }
        let mut command = again(role);
        command.stdin(OwnedFd::from(its)).process_group(0);
        let child = command.spawn().map_err(LaunchError::io("start the launcher"))?;
        drop(command);
        let mut launcher = Self { group: ProcessGroup::of(&child), child, socket, facts: Facts::default() };
        // If the launcher ends early, its report gives the reason.
        let sent = start::send(&launcher.socket, spec, access, streams, program);
        let report = wire::receive(&launcher.socket).map_err(|error| sent.err().unwrap_or(error));
        launcher.facts = facts(report.map_err(handshake("wait for the launcher to confine itself"))?);
        Ok(launcher)
    }

    /// Returns what the launcher found out.
    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Lets the launcher start the program. Returns its process, its group, and the socket that keeps it alive.
    pub(crate) fn go(mut self, name: &str) -> Result<(Child, ProcessGroup, UnixStream), LaunchError> {
        let step = format!("start `{name}`");
        self.socket.write_all(&[1]).map_err(handshake(&step))?;
        let Message { texts, .. } = wire::receive(&self.socket).map_err(handshake(&step))?;
        match texts.first() {
            Some((STARTED, _)) => Ok((self.child, self.group, self.socket)),
            Some((NOT_STARTED, number)) => {
                let error =
                    number.parse().map_or_else(|_| io::ErrorKind::Other.into(), io::Error::from_raw_os_error);
                Err(LaunchError::from_io(LaunchErrorKind::Exec, step)(error))
            }
            _ => Err(handshake(&step)(io::ErrorKind::InvalidData.into())),
        }
    }
}

fn facts(report: Message) -> Facts {
    // What the report does not confirm is not in effect.
    let mut facts = Facts::default();
    for (tag, text) in report.texts {
        match tag {
            ABI => facts.landlock = text.parse().unwrap_or(0),
            NO_NAMESPACE => facts.namespace_fault = Some(text),
            LANDLOCK_FAULT => facts.landlock_fault = Some(text),
            CAPABILITIES_FAULT => facts.capabilities_fault = Some(text),
            SECCOMP_FAULT => facts.seccomp_fault = Some(text),
            _ => {}
        }
    }
    facts
}

/// Opens the file that is executed, which is granted with the access.
fn program_file(spec: &LaunchSpec<'_>) -> Result<Option<OwnedFd>, LaunchError> {
    match spec.program {
        Program::Sealed(_) => Ok(None),
        Program::Copy { path, .. } | Program::System { path } => {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from);
            opened.map(Some).map_err(LaunchError::from_io(LaunchErrorKind::Exec, "open the program"))
        }
    }
}

fn handshake(step: &str) -> impl FnOnce(io::Error) -> LaunchError {
    LaunchError::from_io(LaunchErrorKind::Handshake, step)
}
