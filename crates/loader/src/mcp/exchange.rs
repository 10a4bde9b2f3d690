//! The exchange of lines between a host, the proxy session and a server.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use plugward_launch::{LaunchError, RunningProgram};
use plugward_protocol::{Lines, Offer, OfferCheck, ProtocolError, ProxySession, ProxyStep};
use plugward_types::Part;

use crate::command::pipes::{Input, PipeThreads, SessionError, SessionPipes, read};

/// The time in which a server has to end after its input was closed.
const GRACE: Duration = Duration::from_secs(5);
/// The time in which a server has to end after the host asked for the end, half of it before TERM. Hosts kill what runs
/// two seconds after their own TERM, and the server would then be left.
const LAST_GRACE: Duration = Duration::from_millis(600);
/// The most answers of the proxy that wait for the server. A server that writes and never reads gets no more time.
const MOST_WAITING: usize = 4_096;
/// How long the rest of standard error is passed on after the end.
const REST: Duration = Duration::from_millis(200);

/// The host's side of a proxy session.
pub trait ProxyHost {
    /// Writes a line to the host.
    ///
    /// # Errors
    /// The error of the output. The session ends.
    fn line(&mut self, line: &str) -> io::Result<()>;

    /// Judges an offer. `check` is the result of the comparison with the pins.
    fn judge(&mut self, session: &ProxySession, offer: &Offer, check: OfferCheck) -> OfferCheck;

    /// Takes a later list that was withheld.
    fn withheld(&mut self, session: &ProxySession, offer: &Offer, check: &OfferCheck);

    /// Passes on bytes that the server wrote to its standard error.
    fn errors(&mut self, bytes: &[u8]);
}

/// The reason why a proxy session ended.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a host must decide about each end")]
pub enum ProxyStop {
    /// The host closed its side.
    Host,
    /// The server closed its output.
    Server,
    /// The offer was withheld.
    Withheld,
    /// The user interrupted the session.
    Interrupted,
    /// The session cannot go on.
    Failed(SessionError),
}

/// The end of a proxy session.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a host must decide about both parts")]
pub struct ProxyEnd {
    /// The reason.
    pub stop: ProxyStop,
    /// The end of the server.
    pub program: Result<ExitStatus, LaunchError>,
}

impl SessionPipes {
    /// Passes lines between a host and a server until one of them ends, and ends the server's process group.
    ///
    /// A line of the host is read after the one before it was written to the server, and a server waits until its lines were
    /// written to the host, so memory is bounded.
    pub fn proxy(
        self,
        mut program: RunningProgram,
        session: ProxySession,
        input: impl Read + Send + 'static,
        clock: &dyn Fn() -> Instant,
        host: &mut dyn ProxyHost,
    ) -> ProxyEnd {
        let Self { sender, inputs } = self;
        let (more_input, more) = channel();
        let to = sender.clone();
        std::thread::spawn(move || read(input, &to, Input::Host, Input::HostEnd, &more));
        let threads = PipeThreads::start(sender, &mut program);
        let mut proxy = Proxy {
            session,
            inputs,
            threads,
            more_input,
            clock,
            host,
            host_side: Side::new(),
            server_side: Side::new(),
            outgoing: VecDeque::new(),
            is_writing: false,
            is_host_closed: false,
            has_errors: true,
            closing: None,
            stop: None,
        };
        let stop = proxy.run();
        proxy.threads.close();
        let grace = match &stop {
            ProxyStop::Withheld | ProxyStop::Failed(_) => Duration::ZERO,
            ProxyStop::Server => GRACE,
            ProxyStop::Host | ProxyStop::Interrupted => LAST_GRACE,
        };
        let program = program.end(grace);
        proxy.rest();
        ProxyEnd { stop, program }
    }
}

/// The bytes of one side that were not handled yet.
struct Side {
    lines: Lines,
    chunk: Vec<u8>,
    at: usize,
}

impl Side {
    const fn new() -> Self {
        Self { lines: Lines::of_server(), chunk: Vec::new(), at: 0 }
    }

    const fn is_used_up(&self) -> bool {
        self.at >= self.chunk.len()
    }

    fn fill(&mut self, chunk: Vec<u8>) {
        (self.chunk, self.at) = (chunk, 0);
    }

    /// Returns the next complete line.
    fn next(&mut self) -> Result<Option<Vec<u8>>, ProtocolError> {
        let mut rest = self.chunk.part(self.at..);
        let line = self.lines.next_line(&mut rest)?.map(std::borrow::Cow::into_owned);
        self.at = self.chunk.len().saturating_sub(rest.len());
        Ok(line)
    }
}

struct Proxy<'h> {
    session: ProxySession,
    inputs: Receiver<Input>,
    threads: PipeThreads,
    more_input: Sender<()>,
    clock: &'h dyn Fn() -> Instant,
    host: &'h mut dyn ProxyHost,
    host_side: Side,
    server_side: Side,
    outgoing: VecDeque<String>,
    is_writing: bool,
    is_host_closed: bool,
    has_errors: bool,
    /// When a server whose input is closed must have ended.
    closing: Option<Instant>,
    stop: Option<ProxyStop>,
}

impl Proxy<'_> {
    fn run(&mut self) -> ProxyStop {
        loop {
            let stepped = self.step();
            if let Some(stop) = self.stop.take() {
                return stop;
            }
            match stepped {
                Ok(()) => {}
                // A host that reads no more is gone.
                Err(SessionError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return ProxyStop::Host;
                }
                Err(error) => return ProxyStop::Failed(error),
            }
        }
    }

    fn step(&mut self) -> Result<(), SessionError> {
        let now = (self.clock)();
        let due = self.session.check_deadline(now);
        self.perform(due)?;
        if self.closing.is_some_and(|until| now >= until) {
            self.stop.get_or_insert(ProxyStop::Host);
        }
        if self.stop.is_some() {
            return Ok(());
        }
        if !self.is_writing
            && let Some(message) = self.outgoing.pop_front()
        {
            self.is_writing = self.threads.writer.as_ref().is_some_and(|writer| writer.send(message).is_ok());
            return Ok(());
        }
        if !self.is_writing && !self.host_side.is_used_up() {
            return self.host_line();
        }
        let is_done = self.is_host_closed && !self.session.is_opening();
        if is_done && self.closing.is_none() {
            self.closing = now.checked_add(GRACE);
        }
        if is_done && !self.is_writing {
            self.threads.writer = None;
        }
        self.wait()
    }

    fn host_line(&mut self) -> Result<(), SessionError> {
        let line = self.host_side.next()?;
        let steps = line.map(|line| self.session.from_host(&line, (self.clock)())).unwrap_or_default();
        if self.host_side.is_used_up() {
            // The thread is gone after the end of the input.
            let _ended = self.more_input.send(());
        }
        self.perform(steps)
    }

    fn perform(&mut self, steps: Vec<ProxyStep>) -> Result<(), SessionError> {
        let mut steps = VecDeque::from(steps);
        while let Some(step) = steps.pop_front() {
            match step {
                ProxyStep::ToServer(line) => self.outgoing.push_back(line),
                ProxyStep::ToHost(line) => self.host.line(&line)?,
                ProxyStep::Judge(offer, check) => {
                    let check = self.host.judge(&self.session, &offer, check);
                    // What follows the judgment comes before what the session does later.
                    for step in self.session.judged(check, (self.clock)()).into_iter().rev() {
                        steps.push_front(step);
                    }
                }
                ProxyStep::ListWithheld(offer, check) => self.host.withheld(&self.session, &offer, &check),
                ProxyStep::EndServer(None) => self.stop = Some(ProxyStop::Withheld),
                ProxyStep::EndServer(Some(fault)) => self.stop = Some(ProxyStop::Failed(fault.into())),
            }
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), SessionError> {
        let deadlines = self.session.deadline().into_iter().chain(self.closing);
        let input = match deadlines.min() {
            Some(deadline) => self.inputs.recv_timeout(deadline.saturating_duration_since((self.clock)())),
            None => self.inputs.recv().map_err(|_closed| RecvTimeoutError::Disconnected),
        };
        match input {
            Ok(Input::Output(chunk)) => self.server_lines(chunk)?,
            Ok(Input::OutputEnd) => self.server_end()?,
            Ok(Input::Errors(bytes)) => self.pass_on(&bytes),
            Ok(Input::ErrorsEnd) => self.has_errors = false,
            Ok(Input::Written) => self.is_writing = false,
            Ok(Input::Host(chunk)) => self.host_side.fill(chunk),
            Ok(Input::HostEnd) => {
                self.is_host_closed = true;
                if let Some(line) = self.host_side.lines.end() {
                    let steps = self.session.from_host(&line, (self.clock)());
                    self.perform(steps)?;
                }
            }
            Ok(Input::Interrupt) => self.stop = Some(ProxyStop::Interrupted),
            // Deadlines are checked before the next input.
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.stop = Some(ProxyStop::Server),
        }
        Ok(())
    }

    fn server_lines(&mut self, chunk: Vec<u8>) -> Result<(), SessionError> {
        self.server_side.fill(chunk);
        while self.stop.is_none() {
            let steps = match self.server_side.next() {
                Ok(Some(line)) => self.session.from_server(&line, (self.clock)()),
                Ok(None) => break,
                Err(fault) => self.session.fail(fault),
            };
            self.perform(steps)?;
            if self.outgoing.len() > MOST_WAITING {
                return Err(SessionError::Unread);
            }
        }
        self.threads.ask_for_output();
        Ok(())
    }

    fn server_end(&mut self) -> Result<(), SessionError> {
        if let Some(line) = self.server_side.lines.end() {
            let steps = self.session.from_server(&line, (self.clock)());
            self.perform(steps)?;
        }
        let steps = self.session.server_ended();
        self.perform(steps)?;
        let stop = if self.is_host_closed { ProxyStop::Host } else { ProxyStop::Server };
        self.stop.get_or_insert(stop);
        Ok(())
    }

    fn pass_on(&mut self, bytes: &[u8]) {
        self.host.errors(bytes);
        self.threads.ask_for_errors();
    }

    /// Passes on what the server wrote to standard error before it ended.
    fn rest(&mut self) {
        let Some(until) = (self.clock)().checked_add(REST) else { return };
        while self.has_errors {
            match self.inputs.recv_timeout(until.saturating_duration_since((self.clock)())) {
                Ok(Input::Errors(bytes)) => self.pass_on(&bytes),
                Ok(Input::ErrorsEnd) | Err(_) => self.has_errors = false,
                Ok(_) => {}
            }
        }
    }
}
