//! The modules of a running plugin, over the lines of a program that the caller started.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::module::{CallResult, FunctionName, HostModule, ModuleName};
use crate::modules::shown;
use crate::register::{RejectReason, RejectedModule};
use crate::session::error::SessionFault;
use crate::session::plugin::{PluginEvent, PluginInit, PluginLimits, PluginOffer, PluginSession};

/// The lines of a running plugin or guest. The caller started it, and ends it after the value was dropped.
pub trait ProgramPipe: Send {
    /// Writes a line, at most until the deadline. The line break is not in it.
    ///
    /// # Errors
    /// The system error; [`io::ErrorKind::TimedOut`] if the program does not read.
    fn send(&mut self, line: &str, deadline: Option<Instant>) -> io::Result<()>;

    /// Waits for the next line, at most until the deadline.
    ///
    /// # Errors
    /// The system error. An overlong line is [`PipeInput::Faulty`].
    fn receive(&mut self, deadline: Option<Instant>) -> io::Result<PipeInput>;

    /// Returns the time.
    fn now(&self) -> Instant;
}

/// The input from a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every session must handle a new input")]
pub enum PipeInput {
    /// A line.
    Line(Vec<u8>),
    /// A line that [`Lines`](plugward_protocol::Lines) refused.
    Faulty(plugward_protocol::ProtocolError),
    /// The output ended.
    End,
    /// The deadline has passed.
    Late,
}

struct Link {
    session: PluginSession,
    pipe: Box<dyn ProgramPipe>,
    fault: Option<SessionFault>,
}

impl Link {
    fn send(&mut self, line: &str) -> Result<(), SessionFault> {
        self.pipe.send(line, self.session.deadline()).map_err(|error| SessionFault::of_send("plugin", error))
    }

    fn next_event(&mut self) -> Result<PluginEvent, SessionFault> {
        loop {
            self.session.check_deadline(self.pipe.now())?;
            match self.pipe.receive(self.session.deadline())? {
                PipeInput::Line(line) => {
                    if let Some(event) = self.session.line(&line)? {
                        return Ok(event);
                    }
                }
                PipeInput::Faulty(error) => return Err(error.into()),
                PipeInput::End => {
                    self.session.end()?;
                    return Err(SessionFault::Ended { program: "plugin" });
                }
                PipeInput::Late => {}
            }
        }
    }

    fn call(&mut self, module: &str, function: &str, args: &[Value]) -> Result<CallResult, SessionFault> {
        let (call, line) = match self.session.call(module, function, args, self.pipe.now()) {
            Ok(call) => call,
            Err(thrown) => return Ok(thrown),
        };
        self.send(&line)?;
        loop {
            if let PluginEvent::Answered { id, result } = self.next_event()?
                && id == call
            {
                return Ok(result);
            }
        }
    }
}

/// A plugin that is ready.
#[must_use = "register its modules, and call `end`"]
#[non_exhaustive]
pub struct RunningPlugin {
    /// Its modules with valid names, for [`register`](crate::register).
    pub modules: Vec<Box<dyn HostModule>>,
    /// Its modules with invalid names.
    pub rejected: Vec<RejectedModule>,
    /// The members that are not functions or have invalid names, as `module.member`, escaped.
    pub skipped: Vec<String>,
    /// The export `SCHEMA` of its entry, or null.
    pub schema: Value,
    link: Arc<Mutex<Link>>,
}

impl fmt::Debug for RunningPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningPlugin")
            .field("rejected", &self.rejected)
            .field("skipped", &self.skipped)
            .finish_non_exhaustive()
    }
}

impl RunningPlugin {
    /// Waits until a started plugin has sent its modules.
    ///
    /// # Errors
    /// `host-module/factory`, `host-module/timeout`, `host-module/ended`, and `protocol/…`. The plugin must be ended.
    pub fn start(
        init: &PluginInit,
        limits: PluginLimits,
        pipe: Box<dyn ProgramPipe>,
    ) -> Result<Self, SessionFault> {
        let (session, line) = PluginSession::start(init, limits, pipe.now());
        let mut link = Link { session, pipe, fault: None };
        link.send(&line)?;
        let offer = loop {
            if let PluginEvent::Ready(offer) = link.next_event()? {
                break offer;
            }
        };
        Ok(Self::of(offer, Arc::new(Mutex::new(link))))
    }

    fn of(offer: PluginOffer, link: Arc<Mutex<Link>>) -> Self {
        let (mut modules, mut rejected, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for offered in offer.modules {
            let Some(name) = ModuleName::new(&offered.name) else {
                rejected.push(RejectedModule::new(&offered.name, RejectReason::Name));
                continue;
            };
            let mut functions = Vec::new();
            for text in &offered.functions {
                match FunctionName::new(text) {
                    Some(function) => functions.push(function),
                    None => skipped.push(format!("{name}.{}", shown(text))),
                }
            }
            skipped.extend(offered.skipped.iter().map(|member| format!("{name}.{}", shown(member))));
            if functions.is_empty() {
                rejected.push(RejectedModule::new(&offered.name, RejectReason::Empty));
                continue;
            }
            let module = PluginModule { name, functions, link: Arc::clone(&link) };
            modules.push(Box::new(module) as Box<dyn HostModule>);
        }
        Self { modules, rejected, skipped, schema: offer.schema, link }
    }

    /// Asks the plugin to end.
    ///
    /// # Errors
    /// The fault of an earlier call, after which the plugin answered no more calls.
    pub fn end(self) -> Result<(), SessionFault> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = link.fault.take() {
            return Err(fault);
        }
        let now = link.pipe.now();
        let line = link.session.shutdown(now);
        link.send(&line)
    }
}

struct PluginModule {
    name: ModuleName,
    functions: Vec<FunctionName>,
    link: Arc<Mutex<Link>>,
}

impl HostModule for PluginModule {
    fn name(&self) -> &ModuleName {
        &self.name
    }

    fn functions(&self) -> &[FunctionName] {
        &self.functions
    }

    fn call(&mut self, function: &FunctionName, args: &[Value]) -> CallResult {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if link.fault.is_some() {
            return CallResult::error("the plugin of the module does not run");
        }
        match link.call(self.name.as_str(), function.as_str(), args) {
            Ok(result) => result,
            // Its text can name files of the machine, so the guest does not get it.
            Err(fault) => {
                let code = fault.code();
                link.fault = Some(fault);
                CallResult::error(format!("the plugin of the module failed: {code}"))
            }
        }
    }
}
