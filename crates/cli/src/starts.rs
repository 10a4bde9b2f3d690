//! Starts of programs: their records in the ledger, interrupts and failures.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use plugward_loader::capability::UseOutcome;
use plugward_loader::launch::{
    self, Access, EnforceRule, LaunchCheck, LaunchError, LaunchErrorKind, LaunchRefusal, LaunchReport,
    LaunchSpec, RunningProgram,
};
use plugward_loader::{
    Digest, LaunchLog, LaunchSubject, Record, RecordFailure, SealError, SessionError, SessionInterrupt,
    sha256_of,
};

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
    /// A session that gets one interrupt. Code of this program can run for it, which does not look for interrupts.
    Once(SessionInterrupt),
    /// The process group of a program. The first interrupt sends TERM, and later ones KILL. `None` is one that has ended:
    /// another group can get its id, and an interrupt must not keep this program from recording the end.
    Group(Option<Pid>, Signal),
}

/// When the session was interrupted.
static INTERRUPTED: OnceLock<Instant> = OnceLock::new();
/// The writer of standard output.
static OUTPUT: Mutex<Option<SessionOutput>> = Mutex::new(None);
/// The writer of standard error, for plugins and guests.
static ERRORS: Mutex<ErrorOutput> = Mutex::new(ErrorOutput { output: None, rest: MAX_ERRORS, open: 0 });
/// The most bytes of standard error of all plugins and guests. They wait in memory for the reader.
const MAX_ERRORS: usize = 1 << 20;
const DROPPED: &[u8] =
    b"\nnote: plugins and guests wrote more than 1 MiB to standard error, and the rest is dropped\n";
/// How often a write that takes long looks for an interrupt.
const TICK: Duration = Duration::from_millis(50);
/// How long a write goes on after an interrupt.
const LAST_WRITE: Duration = Duration::from_millis(300);

/// A thread that writes to standard output or standard error.
struct SessionOutput {
    texts: Sender<Vec<u8>>,
    results: Receiver<io::Result<()>>,
}

struct ErrorOutput {
    output: Option<SessionOutput>,
    /// How many bytes can still be written.
    rest: usize,
    /// The number of texts that are not written yet.
    open: usize,
}

impl SessionOutput {
    fn start(stream: BorrowedFd<'_>) -> io::Result<Self> {
        // Not the stream of the standard library: a write that never ends would lock it, and the end of the program waits for it.
        let mut stream = File::from(stream.try_clone_to_owned()?);
        let (texts, waiting) = channel::<Vec<u8>>();
        let (result, results) = channel();
        std::thread::spawn(move || waiting.iter().all(|text| result.send(stream.write_all(&text)).is_ok()));
        Ok(Self { texts, results })
    }
}

/// Writes to standard output at once. If its reader stops reading, an interrupt ends the write as if the reader was gone.
pub(crate) fn write(text: String) -> io::Result<()> {
    let mut output = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    let writer = match &mut *output {
        Some(writer) => writer,
        none => none.insert(SessionOutput::start(io::stdout().as_fd())?),
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

/// Writes what plugins and guests write to their standard error, at most [`MAX_ERRORS`] bytes. It does not wait for the reader.
pub(crate) fn write_errors(bytes: &[u8]) {
    let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    let ErrorOutput { output, rest, open } = &mut *errors;
    if *rest == 0 {
        return;
    }
    let shown = bytes.get(..*rest).unwrap_or(bytes);
    *rest = rest.saturating_sub(shown.len());
    let mut text = Out::shown_error(shown).into_owned();
    if *rest == 0 {
        text.extend_from_slice(DROPPED);
    }
    if output.is_none() {
        *output = SessionOutput::start(io::stderr().as_fd()).ok();
    }
    // A failed write to standard error cannot be reported anywhere.
    let is_sent = output.as_ref().is_some_and(|output| output.texts.send(text).is_ok());
    *open = open.saturating_add(usize::from(is_sent));
}

/// Waits until standard error is written, if it has a reader.
pub(crate) fn flush_errors() {
    let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    let ErrorOutput { output, open, .. } = &mut *errors;
    while let Some(output) = output.as_ref().filter(|_| *open > 0) {
        *open = if output.results.recv_timeout(LAST_WRITE).is_ok() { open.saturating_sub(1) } else { 0 };
    }
}

/// Returns `true` if the user interrupted the session.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some()
}

/// Lets interrupts end a session, too.
pub(crate) fn interruptible(session: SessionInterrupt) {
    registered().push(Interruptible::Session(session));
}

/// Lets the first interrupt end a session. The second one ends this program.
pub(crate) fn interruptible_once(session: SessionInterrupt) {
    registered().push(Interruptible::Once(session));
}

/// Lets interrupts end a program, which is not in the group of the terminal, until the value is dropped.
pub(crate) fn interruptible_program(running: &RunningProgram) -> ProgramInterrupts {
    let group = i32::try_from(running.id()).ok().and_then(Pid::from_raw);
    registered().push(Interruptible::Group(group, Signal::TERM));
    ProgramInterrupts { group }
}

/// The interrupts of the program of this command. There is one at a time.
#[must_use]
pub(crate) struct ProgramInterrupts {
    group: Option<Pid>,
}

impl ProgramInterrupts {
    /// Forgets the group of a program that is about to be reaped.
    pub(crate) fn has_ended(&self) {
        for one in registered().iter_mut() {
            if let Interruptible::Group(group, _) = one
                && *group == self.group
            {
                *group = None;
            }
        }
    }
}

impl Drop for ProgramInterrupts {
    fn drop(&mut self) {
        registered().retain(|one| !matches!(one, Interruptible::Group(..)));
    }
}

fn registered() -> MutexGuard<'static, Vec<Interruptible>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Interrupts what is running, and returns `false` if there is nothing.
pub(crate) fn interrupt() -> bool {
    INTERRUPTED.get_or_init(host::moment);
    let mut is_sent = false;
    registered().retain_mut(|one| match one {
        Interruptible::Session(session) => {
            is_sent |= session.send();
            true
        }
        Interruptible::Once(session) => {
            is_sent |= session.send();
            false
        }
        Interruptible::Group(group, signal) => {
            is_sent |= group.is_none_or(|group| kill_process_group(group, *signal).is_ok());
            *signal = Signal::KILL;
            true
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
    let text = causes.fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        // Some errors contain the text of their cause.
        if text.ends_with(&cause) { text } else { format!("{text}: {cause}") }
    });
    Failure::exiting(exit, text)
}

/// Returns the failure for a private copy of a plugin that could not be written. On a full disk, the ledger could not be
/// written either.
pub(crate) fn not_sealed(error: &SealError) -> Failure {
    match error {
        SealError::Differs { .. } => failed(4, error).code("launch/digest"),
        SealError::Io(cause) if cause.kind() == io::ErrorKind::StorageFull => {
            failed(7, error).code("launch/io").help("free space in the state directory of plugward")
        }
        _ => failed(1, error).code("launch/io"),
    }
}

/// Returns the digest of a program for the ledger. `None` if the user can execute the file and cannot read it.
pub(crate) fn digest_of(path: &Utf8Path) -> Result<Option<Digest>, Failure> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the digest is for the ledger; the user or the copy decides what runs"
    )]
    match File::open(path).and_then(|file| sha256_of(&file)) {
        Ok(digest) => Ok(Some(digest)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && host::is_executable(path) => {
            Ok(None)
        }
        Err(error) => Err(Failure::internal(format!("cannot read {path}: {error}")).code("launch/exec")),
    }
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
