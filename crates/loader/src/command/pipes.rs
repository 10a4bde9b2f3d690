//! A session with a command plugin over the three pipes of its process.

use std::collections::VecDeque;
use std::io::{self, Read, Write as _};
use std::process::{ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use plugward_launch::{LaunchError, RunningProgram};
use plugward_protocol::{CommandSession, Lines, ProtocolError, SessionEvent};
use plugward_types::Part;

/// The most bytes of a pipe that are read at once.
const CHUNK: usize = 64 << 10;
/// The interval in which a plugin that is done is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long the rest of standard error is passed on after the end. A process that left the group can keep it open.
const REST: Duration = Duration::from_secs(1);

/// What the threads at the pipes report.
#[derive(Debug)]
enum Input {
    Output(Vec<u8>),
    OutputEnd,
    Errors(Vec<u8>),
    ErrorsEnd,
    /// A message was written, or the plugin reads no more.
    Written,
    Interrupt,
}

/// Interrupts a session from another thread.
#[derive(Debug, Clone)]
pub struct SessionInterrupt(Sender<Input>);

impl SessionInterrupt {
    /// Tells the plugin to shut down; a second call kills it. Returns `false` if the session is over.
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
    sender: Sender<Input>,
    inputs: Receiver<Input>,
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
        // From here on, the output is read and dropped, so that a plugin that still writes can end.
        (exchange.writer, exchange.more_output) = (None, None);
        let result = result.and_then(|()| exchange.wait(&program, clock, output));
        let program = program.end(Duration::ZERO);
        exchange.rest(clock, output);
        SessionEnd { session: result, program }
    }
}

/// The state of a running session.
struct Exchange {
    session: CommandSession,
    inputs: Receiver<Input>,
    lines: Lines,
    /// The bytes of the output that were not handled yet, from `at` on.
    chunk: Vec<u8>,
    at: usize,
    outgoing: VecDeque<String>,
    is_writing: bool,
    is_done: bool,
    is_interrupted: bool,
    has_errors: bool,
    writer: Option<Sender<String>>,
    more_output: Option<Sender<()>>,
    more_errors: Sender<()>,
}

impl Exchange {
    fn start(
        pipes: SessionPipes,
        program: &mut RunningProgram,
        session: CommandSession,
        first: Vec<String>,
    ) -> Self {
        let SessionPipes { sender, inputs } = pipes;
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
        Self {
            session,
            inputs,
            lines: Lines::of_plugin(),
            chunk: Vec::new(),
            at: 0,
            outgoing: first.into(),
            is_writing: false,
            is_done: false,
            is_interrupted: false,
            has_errors: true,
            writer: Some(writer),
            more_output: Some(more_output),
            more_errors,
        }
    }

    /// Exchanges messages until the plugin is done or must be ended.
    fn run(
        &mut self,
        clock: &dyn Fn() -> Instant,
        output: &mut dyn SessionOutput,
    ) -> Result<(), SessionError> {
        while !self.is_done {
            match self.session.check_deadline(clock()) {
                Err(_late) if self.is_interrupted => return Ok(()),
                checked => checked?,
            }
            if !self.is_writing
                && let Some(message) = self.outgoing.pop_front()
            {
                self.is_writing = self.writer.as_ref().is_some_and(|writer| writer.send(message).is_ok());
            } else if !self.is_writing && self.at < self.chunk.len() {
                self.handle(clock, output)?;
            } else {
                self.wait_for_input(clock, output)?;
            }
        }
        Ok(())
    }

    /// Handles the next line of the chunk, or asks for more if no line is complete.
    fn handle(
        &mut self,
        clock: &dyn Fn() -> Instant,
        output: &mut dyn SessionOutput,
    ) -> Result<(), SessionError> {
        let mut rest = self.chunk.part(self.at..);
        let line = self.lines.next_line(&mut rest)?;
        self.at = self.chunk.len().saturating_sub(rest.len());
        let events = match line {
            Some(line) => self.session.line(&line, clock(), &mut ())?,
            None => Vec::new(),
        };
        if self.at == self.chunk.len() {
            self.ask_for_output();
        }
        self.show(events, output)
    }

    fn ask_for_output(&mut self) {
        if let Some(more) = &self.more_output {
            // The thread is gone after the end of the output.
            let _ended = more.send(());
        }
    }

    fn show(
        &mut self,
        events: Vec<SessionEvent>,
        output: &mut dyn SessionOutput,
    ) -> Result<(), SessionError> {
        for event in events {
            match event {
                SessionEvent::Send(message) => self.outgoing.push_back(message),
                event => {
                    self.is_done |= matches!(event, SessionEvent::Exit { .. } | SessionEvent::Described(_));
                    output.event(event)?;
                }
            }
        }
        Ok(())
    }

    fn wait_for_input(
        &mut self,
        clock: &dyn Fn() -> Instant,
        output: &mut dyn SessionOutput,
    ) -> Result<(), SessionError> {
        let input = match self.session.deadline() {
            Some(deadline) => self.inputs.recv_timeout(deadline.saturating_duration_since(clock())),
            None => self.inputs.recv().map_err(|_closed| RecvTimeoutError::Disconnected),
        };
        match input {
            Ok(Input::Output(chunk)) => (self.chunk, self.at) = (chunk, 0),
            Ok(Input::OutputEnd) => return self.output_end(clock, output),
            Ok(Input::Errors(bytes)) => self.pass_on(&bytes, output),
            Ok(Input::ErrorsEnd) => self.has_errors = false,
            Ok(Input::Written) => self.is_writing = false,
            Ok(Input::Interrupt) => {
                self.is_interrupted = true;
                self.outgoing.extend(self.session.shutdown(clock()));
            }
            // The deadline is checked before the next input. The channel has a sender as long as an interrupt exists.
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.session.end()?,
        }
        Ok(())
    }

    /// Handles a last line without a line break. A plugin that closes its output without `exit` is not done.
    fn output_end(
        &mut self,
        clock: &dyn Fn() -> Instant,
        output: &mut dyn SessionOutput,
    ) -> Result<(), SessionError> {
        if let Some(line) = self.lines.end() {
            let events = self.session.line(&line, clock(), &mut ())?;
            self.show(events, output)?;
        }
        self.session.end()?;
        self.is_done = true;
        Ok(())
    }

    fn pass_on(&self, bytes: &[u8], output: &mut dyn SessionOutput) {
        output.errors(bytes);
        // The thread is gone after the end of standard error.
        let _ended = self.more_errors.send(());
    }

    /// Waits until the process of a plugin that is done exits, but not longer than the grace. An interrupt ends the wait.
    fn wait(
        &mut self,
        program: &RunningProgram,
        clock: &dyn Fn() -> Instant,
        output: &mut dyn SessionOutput,
    ) -> Result<(), SessionError> {
        while self.session.check_deadline(clock()).is_ok() && !program.wait(TICK)? {
            while let Ok(input) = self.inputs.try_recv() {
                match input {
                    Input::Errors(bytes) => self.pass_on(&bytes, output),
                    Input::ErrorsEnd => self.has_errors = false,
                    Input::Interrupt => return Ok(()),
                    Input::Output(_) | Input::OutputEnd | Input::Written => {}
                }
            }
        }
        Ok(())
    }

    /// Passes on what the plugin wrote to standard error before it ended.
    fn rest(&mut self, clock: &dyn Fn() -> Instant, output: &mut dyn SessionOutput) {
        let Some(until) = clock().checked_add(REST) else { return };
        while self.has_errors {
            match self.inputs.recv_timeout(until.saturating_duration_since(clock())) {
                Ok(Input::Errors(bytes)) => self.pass_on(&bytes, output),
                Ok(Input::ErrorsEnd) | Err(_) => self.has_errors = false,
                Ok(_) => {}
            }
        }
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
fn read(
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
