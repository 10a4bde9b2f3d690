//! The three pipes of a program, and a session with a command plugin over them.

use std::io::{self, Read, Write as _};
use std::process::{ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use plugward_launch::{LaunchError, RunningProgram};
use plugward_protocol::{CommandSession, ProtocolError, SessionEvent};
use plugward_types::Part;

use super::exchange::Exchange;

/// The most bytes of a pipe that are read at once.
const CHUNK: usize = 64 << 10;

/// What the threads at the pipes report.
#[derive(Debug)]
pub(crate) enum Input {
    Output(Vec<u8>),
    OutputEnd,
    Errors(Vec<u8>),
    ErrorsEnd,
    /// A message was written, or the plugin reads no more.
    Written,
    Interrupt,
    /// Lines of the host of a proxy session.
    Host(Vec<u8>),
    HostEnd,
}

/// Interrupts a session from another thread.
#[derive(Debug, Clone)]
pub struct SessionInterrupt(Sender<Input>);

impl SessionInterrupt {
    /// Asks the plugin to shut down; a second call kills it. Returns `false` if the session is over.
    #[must_use]
    pub fn send(&self) -> bool {
        self.0.send(Input::Interrupt).is_ok()
    }
}

/// Takes what a plugin prints and logs.
pub trait SessionOutput {
    /// Shows an event of the session.
    ///
    /// # Errors
    /// The error of the output. The session ends.
    fn event(&mut self, event: SessionEvent) -> io::Result<()>;

    /// Passes on bytes that the plugin wrote to its standard error.
    fn errors(&mut self, bytes: &[u8]);
}

/// The reason why a session was ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The plugin did not keep to the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// What the plugin printed cannot be shown.
    #[error("cannot write the output of the plugin")]
    Output(#[from] io::Error),
    /// The process cannot be waited for.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The server writes what has to be answered, and does not read the answers.
    #[error("the server does not read the answers to what it writes")]
    Unread,
}

/// The end of a session.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a host must decide about both parts")]
pub struct SessionEnd {
    /// `Ok` if the plugin was done, or was interrupted.
    pub session: Result<(), SessionError>,
    /// The end of the process.
    pub program: Result<ExitStatus, LaunchError>,
}

/// The channel between a session and its threads. It exists before the program starts, so that no interrupt is lost.
#[derive(Debug)]
pub struct SessionPipes {
    pub(crate) sender: Sender<Input>,
    pub(crate) inputs: Receiver<Input>,
}

impl SessionPipes {
    /// Creates the channel.
    #[must_use]
    pub fn new() -> (Self, SessionInterrupt) {
        let (sender, inputs) = channel();
        let interrupt = SessionInterrupt(sender.clone());
        (Self { sender, inputs }, interrupt)
    }

    /// Runs a session to its end, and ends the process group. `first` are the first messages of the session.
    ///
    /// A message is handled after the answer to the one before it was written, so a plugin that does not read its
    /// answers waits, and memory is bounded.
    pub fn run(
        self,
        mut program: RunningProgram,
        session: CommandSession,
        first: Vec<String>,
        clock: &dyn Fn() -> Instant,
        output: &mut dyn SessionOutput,
    ) -> SessionEnd {
        let mut exchange = Exchange::start(self, &mut program, session, first);
        let result = exchange.run(clock, output);
        exchange.threads.close();
        let result = result.and_then(|()| exchange.wait(&program, clock, output));
        let program = program.end(Duration::ZERO);
        exchange.rest(clock, output);
        SessionEnd { session: result, program }
    }
}

/// The threads at the pipes of a program.
#[derive(Debug)]
pub(crate) struct PipeThreads {
    /// Takes lines for the input of the program. Dropping it closes the input.
    pub(crate) writer: Option<Sender<String>>,
    /// Asks for the next chunk of the output. Dropping it drops the rest of the output.
    pub(crate) more_output: Option<Sender<()>>,
    /// Asks for the next chunk of standard error.
    pub(crate) more_errors: Sender<()>,
}

impl PipeThreads {
    pub(crate) fn start(sender: Sender<Input>, program: &mut RunningProgram) -> Self {
        let (writer, messages) = channel();
        if let Some(stdin) = program.take_stdin() {
            let written = sender.clone();
            std::thread::spawn(move || write(stdin, &messages, &written));
        }
        let (more_output, output) = channel();
        if let Some(stdout) = program.take_stdout() {
            let to = sender.clone();
            std::thread::spawn(move || read(stdout, &to, Input::Output, Input::OutputEnd, &output));
        }
        let (more_errors, errors) = channel();
        if let Some(stderr) = program.take_stderr() {
            std::thread::spawn(move || read(stderr, &sender, Input::Errors, Input::ErrorsEnd, &errors));
        }
        Self { writer: Some(writer), more_output: Some(more_output), more_errors }
    }

    /// Lets the program end: closes its input, and drops what it still writes.
    pub(crate) fn close(&mut self) {
        (self.writer, self.more_output) = (None, None);
    }

    pub(crate) fn ask_for_output(&self) {
        if let Some(more) = &self.more_output {
            // The thread is gone after the end of the output.
            let _ended = more.send(());
        }
    }

    pub(crate) fn ask_for_errors(&self) {
        // The thread is gone after the end of standard error.
        let _ended = self.more_errors.send(());
    }
}

/// Writes messages until the session is over. Dropping the pipe tells the plugin that there are no more.
fn write(mut to: ChildStdin, messages: &Receiver<String>, written: &Sender<Input>) {
    for message in messages {
        // A plugin that reads no more is not at fault; the end of its output decides.
        let _closed =
            to.write_all(message.as_bytes()).and_then(|()| to.write_all(b"\n")).and_then(|()| to.flush());
        if written.send(Input::Written).is_err() {
            return;
        }
    }
}

/// Reads a pipe to its end. Each chunk waits until the session has handled the one before it; without a session, chunks
/// are dropped.
pub(crate) fn read(
    mut from: impl Read,
    to: &Sender<Input>,
    chunk: fn(Vec<u8>) -> Input,
    end: Input,
    more: &Receiver<()>,
) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(count) if count > 0 => count,
            Ok(_) | Err(_) => break,
        };
        if to.send(chunk(buffer.part(..count).to_vec())).is_err() || more.recv().is_err() {
            // The result does not matter: either way, the pipe is at its end.
            let _dropped = io::copy(&mut from, &mut io::sink());
            break;
        }
    }
    let _over = to.send(end);
}
