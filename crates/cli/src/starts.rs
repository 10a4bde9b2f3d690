//! Starts of programs: their records in the ledger, interrupts and failures.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use plugward_loader::launch::{
    self, Access, EnforceRule, LaunchCheck, LaunchError, LaunchErrorKind, LaunchSpec, RunningProgram,
};
use plugward_loader::manifest::Coverage;
use plugward_loader::{Digest, Record, RecordFailure, SessionError, SessionInterrupt};

use crate::failure::Failure;
use crate::host;

/// The running session, which an interrupt ends. Without one, an interrupt ends the program.
static SESSION: Mutex<Option<SessionInterrupt>> = Mutex::new(None);

/// When the session was interrupted.
static INTERRUPTED: OnceLock<Instant> = OnceLock::new();
/// The writer of standard output.
static OUTPUT: Mutex<Option<SessionOutput>> = Mutex::new(None);
/// How often a write that takes long looks for an interrupt.
const TICK: Duration = Duration::from_millis(50);
/// How long a write goes on after an interrupt.
const LAST_WRITE: Duration = Duration::from_millis(300);

/// A thread that writes to standard output.
struct SessionOutput {
    texts: Sender<Vec<u8>>,
    results: Receiver<io::Result<()>>,
}

impl SessionOutput {
    fn start() -> io::Result<Self> {
        // Not the stream of the standard library: a write that never ends would lock it, and the end of the program waits for it.
        let mut stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let (texts, waiting) = channel::<Vec<u8>>();
        let (result, results) = channel();
        std::thread::spawn(move || waiting.iter().all(|text| result.send(stdout.write_all(&text)).is_ok()));
        Ok(Self { texts, results })
    }
}

/// Writes to standard output at once. If its reader stops reading, an interrupt ends the write as if the reader was gone.
pub(crate) fn write(text: String) -> io::Result<()> {
    let mut output = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    let writer = match &mut *output {
        Some(writer) => writer,
        none => none.insert(SessionOutput::start()?),
    };
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    writer.texts.send(text.into_bytes()).map_err(|_ended| gone())?;
    loop {
        match writer.results.recv_timeout(TICK) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout)
                if INTERRUPTED.get().is_none_or(|at| at.elapsed() < LAST_WRITE) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    }
}

/// Returns `true` if the user interrupted the session.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some()
}

/// Lets interrupts end a session.
pub(crate) fn interruptible(session: SessionInterrupt) {
    *SESSION.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
}

/// Interrupts the running session, and returns `false` if there is none.
pub(crate) fn interrupt() -> bool {
    INTERRUPTED.get_or_init(host::moment);
    let session = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    session.as_ref().is_some_and(SessionInterrupt::send)
}

/// Returns the working directory of a program.
pub(crate) fn directory() -> Result<String, Failure> {
    let directory = host::working_directory();
    let directory =
        directory.ok_or_else(|| Failure::usage("the path of the working directory is not known"))?;
    Ok(directory.as_str().to_owned())
}

/// What the ledger records about a start, besides its form.
pub(crate) struct StartSubject<'a> {
    pub(crate) plugin: &'a str,
    pub(crate) file: &'a str,
    pub(crate) digest: &'a Digest,
    pub(crate) coverage: Coverage,
}

/// Starts a program. Returns it with the number of its record.
pub(crate) fn start(
    spec: &LaunchSpec<'_>,
    subject: &StartSubject<'_>,
    record: &Record,
) -> Result<(RunningProgram, u64), Failure> {
    let StartSubject { plugin, file, digest, coverage } = *subject;
    let mut recorded = None;
    let started = launch::launch(spec, Access::User, EnforceRule::Require, &mut |report| {
        let result = record.launch_started(plugin, file, digest, report, coverage);
        let outcome = result.as_ref().map(drop).map_err(|failure| io::Error::other(failure.clone()));
        recorded = Some(result);
        outcome
    });
    match (started, recorded) {
        (Ok(LaunchCheck::Running(running)), Some(Ok(number))) => Ok((running, number)),
        (_, Some(Err(failure))) => Err(not_recorded(&failure)),
        (Err(error), Some(Ok(number))) => {
            record.launch_ended(number, None).map_err(|failure| not_recorded(&failure))?;
            Err(launch_failure(&error))
        }
        (Err(error), None) => Err(launch_failure(&error)),
        (Ok(_killed), _) => Err(Failure::internal("a start without a record")),
    }
}

/// Returns an error with its causes as a failure.
pub(crate) fn failed(exit: u8, error: &dyn std::error::Error) -> Failure {
    let causes = std::iter::successors(error.source(), |error| error.source());
    Failure::exiting(exit, causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
}

pub(crate) fn launch_failure(error: &LaunchError) -> Failure {
    let exit = if error.kind() == LaunchErrorKind::Spec { 2 } else { 1 };
    failed(exit, error).code(error.code()).help(error.help())
}

pub(crate) fn session_failure(error: &SessionError) -> Failure {
    match error {
        SessionError::Protocol(error) => failed(1, error).code(error.code()).help(error.help()),
        SessionError::Launch(error) => launch_failure(error),
        other => failed(1, other),
    }
}

pub(crate) fn not_recorded(failure: &RecordFailure) -> Failure {
    Failure::store(failure.to_string()).code(failure.code()).help(failure.help())
}
