//! The lines of a started program, for plugins with modules and for guests.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use plugward_host_modules::{PipeInput, ProgramPipe};
use plugward_launch::RunningProgram;
use plugward_protocol::Lines;
use plugward_types::Part;

use super::pipes::{Input, PipeThreads, SessionInterrupt, SessionPipes};

/// How long the rest of standard error is passed on after the end of the output.
const REST: Duration = Duration::from_secs(1);

/// The lines of a started program that has modules or is a guest.
///
/// Dropping it closes the input of the program. The caller ends the program.
#[derive(Debug)]
pub struct ProgramLines {
    inputs: Receiver<Input>,
    threads: PipeThreads,
    lines: Lines,
    /// The bytes of the output that were not handled yet, from `at` on.
    chunk: Vec<u8>,
    at: usize,
    is_writing: bool,
    has_output: bool,
    has_errors: bool,
    clock: fn() -> Instant,
    errors: fn(&[u8]),
}

impl ProgramLines {
    /// Takes the pipes of a program. `errors` gets what the program writes to its standard error.
    pub fn new(
        program: &mut RunningProgram,
        clock: fn() -> Instant,
        errors: fn(&[u8]),
    ) -> (Self, SessionInterrupt) {
        let (SessionPipes { sender, inputs }, interrupt) = SessionPipes::new();
        let lines = Self {
            inputs,
            threads: PipeThreads::start(sender, program),
            lines: Lines::of_plugin(),
            chunk: Vec::new(),
            at: 0,
            is_writing: false,
            has_output: true,
            has_errors: true,
            clock,
            errors,
        };
        (lines, interrupt)
    }

    /// Handles one input. Returns `false` if there is none until the deadline.
    fn wait(&mut self, deadline: Option<Instant>) -> io::Result<bool> {
        let now = (self.clock)();
        let input = match deadline {
            // A program that writes all the time must not extend its time.
            Some(deadline) if deadline <= now => return Ok(false),
            Some(deadline) => self.inputs.recv_timeout(deadline.saturating_duration_since(now)),
            None => self.inputs.recv().map_err(|_closed| RecvTimeoutError::Disconnected),
        };
        match input {
            Ok(Input::Output(chunk)) => (self.chunk, self.at) = (chunk, 0),
            Ok(Input::OutputEnd) => self.has_output = false,
            Ok(Input::Errors(bytes)) => {
                (self.errors)(&bytes);
                self.threads.ask_for_errors();
            }
            Ok(Input::ErrorsEnd) => self.has_errors = false,
            Ok(Input::Written) => self.is_writing = false,
            Ok(Input::Interrupt) => return Err(io::ErrorKind::Interrupted.into()),
            // These programs have no host that writes lines.
            Ok(Input::Host(_) | Input::HostEnd) => {}
            Err(RecvTimeoutError::Timeout) => return Ok(false),
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        Ok(true)
    }

    /// Returns the next input of the chunk, or `None` if no line is complete.
    fn next_in_chunk(&mut self) -> Option<PipeInput> {
        let mut rest = self.chunk.part(self.at..);
        if rest.is_empty() {
            return None;
        }
        let line = self.lines.next_line(&mut rest);
        let input = match line {
            Ok(Some(line)) => Some(PipeInput::Line(line.into_owned())),
            Ok(None) => None,
            Err(error) => Some(PipeInput::Faulty(error)),
        };
        self.at = self.chunk.len().saturating_sub(rest.len());
        if self.at == self.chunk.len() {
            self.threads.ask_for_output();
        }
        input
    }
}

impl ProgramPipe for ProgramLines {
    fn send(&mut self, line: &str, deadline: Option<Instant>) -> io::Result<()> {
        let writer = self.threads.writer.as_ref();
        self.is_writing = writer.is_some_and(|writer| writer.send(line.to_owned()).is_ok());
        if !self.is_writing {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        while self.is_writing {
            if !self.wait(deadline)? {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    fn receive(&mut self, deadline: Option<Instant>) -> io::Result<PipeInput> {
        loop {
            if let Some(input) = self.next_in_chunk() {
                return Ok(input);
            }
            if !self.has_output {
                break;
            }
            if !self.wait(deadline)? {
                return Ok(PipeInput::Late);
            }
        }
        if let Some(line) = self.lines.end() {
            return Ok(PipeInput::Line(line));
        }
        // What the program wrote before it ended can give the reason.
        let until = (self.clock)().checked_add(REST);
        while self.has_errors && self.wait(until)? {}
        Ok(PipeInput::End)
    }

    fn now(&self) -> Instant {
        (self.clock)()
    }
}
