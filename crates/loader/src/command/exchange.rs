//! The exchange of messages with a command plugin, and the end of its process.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use plugward_launch::RunningProgram;
use plugward_protocol::{CommandSession, Lines, SessionEvent};
use plugward_types::Part;

use super::pipes::{Input, PipeThreads, SessionError, SessionOutput, SessionPipes};

/// The interval in which a plugin that is done is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long the rest of standard error is passed on after the end. A process that left the group can keep it open.
const REST: Duration = Duration::from_secs(1);

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The plugin was told to shut down.
    Interrupted,
    /// The plugin has no more to say.
    Done,
}

/// The state of a running session.
pub(super) struct Exchange {
    session: CommandSession,
    inputs: Receiver<Input>,
    lines: Lines,
    /// The bytes of the output that were not handled yet, from `at` on.
    chunk: Vec<u8>,
    at: usize,
    outgoing: VecDeque<String>,
    is_writing: bool,
    phase: Phase,
    has_errors: bool,
    pub(super) threads: PipeThreads,
}

impl Exchange {
    /// Starts the threads at the pipes of a program.
    pub(super) fn start(
        pipes: SessionPipes,
        program: &mut RunningProgram,
        session: CommandSession,
        first: Vec<String>,
    ) -> Self {
        let SessionPipes { sender, inputs } = pipes;
        let threads = PipeThreads::start(sender, program);
        Self {
            session,
            inputs,
            lines: Lines::of_plugin(),
            chunk: Vec::new(),
            at: 0,
            outgoing: first.into(),
            is_writing: false,
            phase: Phase::Running,
            has_errors: true,
            threads,
        }
    }

    /// Exchanges messages until the plugin is done or must be ended.
    pub(super) fn run(
        &mut self,
        clock: &dyn Fn() -> Instant,
        output: &mut dyn SessionOutput,
    ) -> Result<(), SessionError> {
        while self.phase != Phase::Done {
            match self.session.check_deadline(clock()) {
                Err(_late) if self.phase == Phase::Interrupted => return Ok(()),
                checked => checked?,
            }
            if !self.is_writing
                && let Some(message) = self.outgoing.pop_front()
            {
                self.is_writing =
                    self.threads.writer.as_ref().is_some_and(|writer| writer.send(message).is_ok());
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
            self.threads.ask_for_output();
        }
        self.show(events, output)
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
                    if matches!(event, SessionEvent::Exit { .. } | SessionEvent::Described(_)) {
                        self.phase = Phase::Done;
                    }
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
                self.phase = Phase::Interrupted;
                self.outgoing.extend(self.session.shutdown(clock()));
            }
            // A plugin has no host that writes lines. The deadline is checked before the next input.
            Ok(Input::Host(_) | Input::HostEnd) | Err(RecvTimeoutError::Timeout) => {}
            // The threads have ended, and nobody can interrupt.
            Err(RecvTimeoutError::Disconnected) => {
                self.session.end()?;
                self.phase = Phase::Done;
            }
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
        self.phase = Phase::Done;
        Ok(())
    }

    fn pass_on(&self, bytes: &[u8], output: &mut dyn SessionOutput) {
        output.errors(bytes);
        self.threads.ask_for_errors();
    }

    /// Waits until the process of a plugin that is done exits, but not longer than the grace. An interrupt ends the wait.
    pub(super) fn wait(
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
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Passes on what the plugin wrote to standard error before it ended.
    pub(super) fn rest(&mut self, clock: &dyn Fn() -> Instant, output: &mut dyn SessionOutput) {
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
