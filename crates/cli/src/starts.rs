//! Starts of programs: their records in the ledger, interrupts and failures.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use plugward_loader::capability::UseOutcome;
use plugward_loader::launch::{
    self, Access, EnforceRule, LaunchCheck, LaunchError, LaunchErrorKind, LaunchRefusal, LaunchReport,
    LaunchSpec, RunningProgram,
};
use plugward_loader::{LaunchLog, LaunchSubject, Record, RecordFailure, SessionError, SessionInterrupt};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::access::StartAccess;
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host;
use crate::out::Out;

/// What an interrupt ends. Without it, an interrupt ends this program.
static RUNNING: Mutex<Vec<Interruptible>> = Mutex::new(Vec::new());

enum Interruptible {
    Session(SessionInterrupt),
    /// The process group of a program, which gets one TERM.
    Group(Pid),
}

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

/// Lets interrupts end a session, too.
pub(crate) fn interruptible(session: SessionInterrupt) {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(Interruptible::Session(session));
}

/// Lets the first interrupt end a program, which is not in the group of the terminal.
pub(crate) fn interruptible_program(running: &RunningProgram) {
    if let Some(group) = i32::try_from(running.id()).ok().and_then(Pid::from_raw) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(Interruptible::Group(group));
    }
}

/// Interrupts what is running, and returns `false` if there is nothing.
pub(crate) fn interrupt() -> bool {
    INTERRUPTED.get_or_init(host::moment);
    let mut is_sent = false;
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| match one {
        Interruptible::Session(session) => {
            is_sent |= session.send();
            true
        }
        Interruptible::Group(group) => {
            is_sent |= kill_process_group(*group, Signal::TERM).is_ok();
            false
        }
    });
    is_sent
}

/// Returns the working directory of a program.
pub(crate) fn directory() -> Result<String, Failure> {
    let directory = host::working_directory();
    let directory =
        directory.ok_or_else(|| Failure::usage("the path of the working directory is not known"))?;
    Ok(directory.as_str().to_owned())
}

/// The record of a running program.
pub(crate) struct RecordedStart {
    log: LaunchLog,
    number: u64,
    access: StartAccess,
}

impl RecordedStart {
    /// Records the end of the program, and ends its capabilities.
    pub(crate) fn end(self, record: &Record, end: Option<ExitStatus>) -> Result<(), RecordFailure> {
        self.log.ended(self.number, end)?;
        self.access.close(record, UseOutcome::Ok)
    }
}

/// Starts a program.
pub(crate) fn start(
    spec: &LaunchSpec<'_>,
    subject: &LaunchSubject<'_>,
    access: StartAccess,
    record: &Record,
) -> Result<(RunningProgram, RecordedStart), Failure> {
    let log = record.launches().map_err(|failure| not_recorded(&failure))?;
    let (granted, rule) = access.parts();
    match begin(spec, subject, granted, rule, &log) {
        Ok((running, number)) => Ok((running, RecordedStart { log, number, access })),
        Err(error) => {
            access.close(record, UseOutcome::Failed).map_err(|failure| not_recorded(&failure))?;
            Err(error.into())
        }
    }
}

/// Starts a program, and returns the number of its record.
pub(crate) fn begin(
    spec: &LaunchSpec<'_>,
    subject: &LaunchSubject<'_>,
    access: Access<'_>,
    rule: EnforceRule,
    log: &LaunchLog,
) -> Result<(RunningProgram, u64), StartError> {
    let mut recorded = None;
    let started = launch::launch(spec, access, rule, &mut |report| {
        let result = log.started(subject, report);
        let outcome = result.as_ref().map(drop).map_err(|failure| io::Error::other(failure.clone()));
        recorded = Some(result);
        outcome
    });
    match (started, recorded) {
        (Ok(LaunchCheck::Running(running)), Some(Ok(number))) => Ok((running, number)),
        (Ok(LaunchCheck::Refused(refusal)), _) => Err(StartError::NotEnforced(refusal)),
        (_, Some(Err(failure))) => Err(StartError::NotRecorded(failure)),
        (Err(error), Some(Ok(number))) => {
            log.ended(number, None).map_err(StartError::NotRecorded)?;
            Err(StartError::Launch(error))
        }
        (Err(error), None) => Err(StartError::Launch(error)),
        (Ok(_killed), None) => Err(StartError::NoRecord),
    }
}

/// The reason why a program did not start.
#[derive(Debug)]
pub(crate) enum StartError {
    Launch(LaunchError),
    NotEnforced(LaunchRefusal),
    NotRecorded(RecordFailure),
    /// A defect: the program ran without a record, and was ended.
    NoRecord,
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Launch(error) => launch_failure(&error),
            StartError::NotEnforced(refusal) => not_enforced(&refusal),
            StartError::NotRecorded(failure) => not_recorded(&failure),
            StartError::NoRecord => Self::internal("a start without a record"),
        }
    }
}

/// Returns the failure for a start that this system would not limit as the user wants.
fn not_enforced(refusal: &LaunchRefusal) -> Failure {
    let words: Vec<&str> = refusal.missing.iter().map(|missing| missing.word).collect();
    let failure = Failure::exiting(5, format!("this system does not enforce: {}", words.join(", ")));
    let failure = failure.code(refusal.code()).help(refusal.help());
    refusal.missing.iter().fold(failure, |failure, missing| failure.note(missing.word, &missing.why))
}

/// Prints what a started program can do that the user may not expect.
pub(crate) fn announce(report: &LaunchReport, name: &str, out: &Out) {
    if report.access == "user" {
        out.say(&format!("note: {name} runs with your access to files, connections and processes"));
    } else if !report.missing.is_empty() {
        let words: Vec<&str> = report.missing.iter().map(|missing| missing.word).collect();
        let warning = format!("this system does not enforce all limits of {name}: {}", words.join(", "));
        let warning = Diagnostic::warning(warning).code("launch/enforcement");
        out.report(
            &report.missing.iter().fold(warning, |all, missing| {
                all.note(missing.word, missing.why.as_str()).help(missing.help)
            }),
        );
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
