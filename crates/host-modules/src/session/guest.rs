//! The host's side of a session with a guest.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::module::{CallResult, FunctionName};
use crate::modules::{CallRefusal, Modules};
use crate::session::error::SessionFault;
use crate::session::message::{Call, ProgramLine, VERSION, answer_line, invalid};
use crate::session::pipe::{PipeInput, ProgramPipe};

/// The program that runs a guest under node, as an ECMAScript module.
pub const GUEST_SHIM: &str = concat!(include_str!("../node/wire.mjs"), include_str!("../node/guest.mjs"));

/// The limits of time of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new limit")]
pub struct GuestLimits {
    /// How long a guest may run without a call.
    pub idle: Duration,
    /// How many calls a guest may make. Each extends its time and has a record.
    pub calls: u64,
}

impl GuestLimits {
    /// Returns the usual limits: 5 s, and 100,000 calls.
    #[must_use]
    pub const fn usual() -> Self {
        Self { idle: Duration::from_secs(5), calls: 100_000 }
    }
}

/// What the caller must do after a line of the guest.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new event")]
pub enum GuestEvent {
    /// Write the line to the guest.
    Send(String),
    /// The guest is done, with this result.
    Ended(CallResult),
}

/// The host's side of a session with a guest.
///
/// # Guarantees
/// The guest reaches nothing of the host but [`Modules::call`]. The time of a call does not count against its limit.
#[derive(Debug, Clone)]
pub struct GuestSession {
    limits: GuestLimits,
    deadline: Option<Instant>,
    calls: u64,
    is_done: bool,
}

impl GuestSession {
    /// Runs a guest to its end over the lines of a started program. `source` is the body of a function.
    ///
    /// # Errors
    /// `host-module/timeout`, `host-module/calls`, `host-module/ended`, `protocol/…`, and the code of the trail. The guest
    /// must be ended.
    pub fn run(
        source: &str,
        modules: &mut Modules<'_>,
        limits: GuestLimits,
        pipe: &mut dyn ProgramPipe,
    ) -> Result<CallResult, SessionFault> {
        let (mut session, mut line) = Self::start(source, modules, limits, pipe.now());
        loop {
            pipe.send(&line, session.deadline).map_err(|error| SessionFault::of_send("guest", error))?;
            let event = loop {
                session.check_deadline(pipe.now())?;
                match pipe.receive(session.deadline)? {
                    PipeInput::Line(line) => break session.line(&line, modules, &|| pipe.now())?,
                    PipeInput::Faulty(error) => return Err(error.into()),
                    PipeInput::End => session.end()?,
                    PipeInput::Late => {}
                }
            };
            match event {
                GuestEvent::Send(answer) => line = answer,
                GuestEvent::Ended(result) => return Ok(result),
            }
        }
    }

    /// Starts a session. The line goes to the guest. `source` is the body of a function.
    #[must_use]
    pub fn start(source: &str, modules: &Modules<'_>, limits: GuestLimits, now: Instant) -> (Self, String) {
        let names = |functions: &[FunctionName]| -> Vec<String> {
            functions.iter().map(ToString::to_string).collect()
        };
        let modules: BTreeMap<&str, Vec<String>> =
            modules.iter().map(|(name, functions)| (name, names(functions))).collect();
        let line = json!({ "type": "init", "version": VERSION, "source": source, "modules": modules });
        let deadline = now.checked_add(limits.idle);
        (Self { limits, deadline, calls: 0, is_done: false }, line.to_string())
    }

    /// Handles a line of the guest. `clock` is read after the call.
    ///
    /// # Errors
    /// `protocol/…` for a line that is not one of the protocol; `host-module/calls` for a call above the limit; the code of
    /// the trail if a call cannot be recorded.
    pub fn line(
        &mut self,
        line: &[u8],
        modules: &mut Modules<'_>,
        clock: &dyn Fn() -> Instant,
    ) -> Result<GuestEvent, SessionFault> {
        match ProgramLine::read(line)? {
            ProgramLine::Call(Call { id, module, function, args }) if !self.is_done => {
                self.calls = self.calls.saturating_add(1);
                if self.calls > self.limits.calls {
                    return Err(SessionFault::Calls { most: self.limits.calls });
                }
                let result = match modules.call(&module, &function, &args) {
                    Ok(result) => {
                        self.deadline = clock().checked_add(self.limits.idle);
                        result
                    }
                    Err(CallRefusal::NotRecorded(error)) => return Err(error.into()),
                    // A refused call does not give more time: it has no record, and there could be one without end.
                    Err(refusal) => CallResult::error(refusal.to_string()),
                };
                Ok(GuestEvent::Send(answer_line(id, &result)))
            }
            ProgramLine::Answer { id: 0, result } if !self.is_done => {
                self.is_done = true;
                Ok(GuestEvent::Ended(result))
            }
            _ => Err(invalid("", "a guest sends calls, and then one result").into()),
        }
    }

    /// Returns when the guest must be ended if it does nothing before.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Checks the deadline.
    ///
    /// # Errors
    /// `host-module/timeout` if the guest must be ended now.
    pub fn check_deadline(&self, now: Instant) -> Result<(), SessionFault> {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return Ok(());
        }
        Err(SessionFault::Timeout { program: "guest", step: "call or end" })
    }

    /// Handles the end of the guest's output.
    ///
    /// # Errors
    /// `host-module/ended` if it did not send a result.
    pub const fn end(&self) -> Result<(), SessionFault> {
        if self.is_done { Ok(()) } else { Err(SessionFault::Ended { program: "guest" }) }
    }
}
