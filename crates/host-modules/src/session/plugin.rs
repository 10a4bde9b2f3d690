//! The host's side of a session with a plugin that offers modules.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::module::CallResult;
use crate::session::error::SessionFault;
use crate::session::message::{ProgramLine, Ready, VERSION, invalid};

/// The program that runs a plugin under node, as an ECMAScript module next to the plugin's files.
pub const PLUGIN_SHIM: &str = concat!(include_str!("../node/wire.mjs"), include_str!("../node/plugin.mjs"));

/// The most bytes of a line to a plugin, without the line break. [`Lines::of_plugin`] limits the others.
///
/// [`Lines::of_plugin`]: plugward_protocol::Lines::of_plugin
const MAX_LINE: usize = 1 << 20;

/// The limits of time of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about a new limit")]
pub struct PluginLimits {
    /// How long a plugin may take until `ready`.
    pub ready: Duration,
    /// How long a call may take.
    pub call: Duration,
    /// The time between `shutdown` and the kill.
    pub grace: Duration,
}

impl PluginLimits {
    /// Returns the usual limits: 10 s, 30 s, and 5 s.
    #[must_use]
    pub const fn usual() -> Self {
        let seconds = Duration::from_secs;
        Self { ready: seconds(10), call: seconds(30), grace: seconds(5) }
    }
}

/// The content of the message `init`.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "version 1 of the lines has these fields")]
pub struct PluginInit {
    /// The entry of the plugin: an absolute path, or one relative to the shim, such as `./index.ts`.
    pub entry: String,
    /// The argument of `createHostFunctions`.
    pub config: Map<String, Value>,
}

/// A module that a plugin returned.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "version 1 of the lines has these fields")]
pub struct OfferedModule {
    /// The name, as returned.
    pub name: String,
    /// The members that are functions.
    pub functions: Vec<String>,
    /// The other members.
    pub skipped: Vec<String>,
}

/// The modules of a plugin, before anything is decided about them.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "version 1 of the lines has these fields")]
pub struct PluginOffer {
    /// The modules, in the order of the plugin.
    pub modules: Vec<OfferedModule>,
    /// The export `SCHEMA` of the entry, or null.
    pub schema: Value,
}

/// What the caller must do after a line of the plugin.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new event")]
pub enum PluginEvent {
    /// The plugin is ready. Register its modules.
    Ready(PluginOffer),
    /// A call has ended.
    Answered {
        /// The id of the call.
        id: u64,
        /// Its result.
        result: CallResult,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Starting { deadline: Option<Instant> },
    Running,
    ShuttingDown { deadline: Option<Instant> },
}

/// The host's side of a session with a plugin.
///
/// # Guarantees
/// Each answer belongs to one open call. The plugin gets nothing but its configuration and the calls.
#[derive(Debug, Clone)]
pub struct PluginSession {
    limits: PluginLimits,
    state: State,
    last: u64,
    /// The open calls, with the time at which each is due.
    open: BTreeMap<u64, Option<Instant>>,
}

impl PluginSession {
    /// Starts a session. The line goes to the plugin.
    #[must_use]
    pub fn start(init: &PluginInit, limits: PluginLimits, now: Instant) -> (Self, String) {
        let PluginInit { entry, config } = init;
        let line = json!({ "type": "init", "version": VERSION, "entry": entry, "config": config });
        let state = State::Starting { deadline: now.checked_add(limits.ready) };
        (Self { limits, state, last: 0, open: BTreeMap::new() }, line.to_string())
    }

    /// Handles a line of the plugin. After `shutdown`, lines have no effect.
    ///
    /// # Errors
    /// `protocol/…` for a line that is not one of the protocol, or answers a call that is not open;
    /// `host-module/factory` if the plugin cannot be loaded.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<PluginEvent>, SessionFault> {
        let line = ProgramLine::read(line)?;
        let is_starting = match self.state {
            State::Starting { .. } => true,
            State::Running => false,
            State::ShuttingDown { .. } => return Ok(None),
        };
        match line {
            ProgramLine::Ready(Ready { modules, schema }) if is_starting => {
                self.state = State::Running;
                Ok(Some(PluginEvent::Ready(PluginOffer { modules, schema })))
            }
            ProgramLine::Answer { id: 0, result: CallResult::Thrown(error) } if is_starting => {
                Err(SessionFault::Factory(error))
            }
            ProgramLine::Answer { id, result } if self.open.remove(&id).is_some() => {
                Ok(Some(PluginEvent::Answered { id, result }))
            }
            ProgramLine::Answer { id, .. } => Err(invalid("result", &format!("no call {id} is open")).into()),
            ProgramLine::Ready(_) => Err(invalid("ready", "the plugin was ready before").into()),
            ProgramLine::Call(_) => Err(invalid("call", "a plugin cannot call").into()),
        }
    }

    /// Starts a call. Returns its id and the line for the plugin, or an exception if the line is longer than 1 MiB.
    ///
    /// # Errors
    /// The exception, for the guest.
    pub fn call(
        &mut self,
        module: &str,
        function: &str,
        args: &[Value],
        now: Instant,
    ) -> Result<(u64, String), CallResult> {
        let id = self.last.saturating_add(1);
        let call = json!({ "type": "call", "id": id, "module": module, "function": function, "args": args });
        let line = call.to_string();
        if line.len() > MAX_LINE {
            return Err(CallResult::error("the arguments have more than 1 MiB"));
        }
        self.last = id;
        self.open.insert(id, now.checked_add(self.limits.call));
        Ok((id, line))
    }

    /// Returns the line that asks the plugin to end.
    pub fn shutdown(&mut self, now: Instant) -> String {
        self.state = State::ShuttingDown { deadline: now.checked_add(self.limits.grace) };
        json!({ "type": "shutdown" }).to_string()
    }

    /// Returns when the plugin must be ended if it does nothing before.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Starting { deadline } | State::ShuttingDown { deadline } => deadline,
            State::Running => self.open.values().flatten().min().copied(),
        }
    }

    /// Checks the deadline.
    ///
    /// # Errors
    /// `host-module/timeout` if the plugin must be ended now, with its whole process group.
    pub fn check_deadline(&self, now: Instant) -> Result<(), SessionFault> {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return Ok(());
        }
        let step = match self.state {
            State::Starting { .. } => "send `ready`",
            State::Running => "answer a call",
            State::ShuttingDown { .. } => "end after `shutdown`",
        };
        Err(SessionFault::Timeout { program: "plugin", step })
    }

    /// Handles the end of the plugin's output.
    ///
    /// # Errors
    /// `host-module/ended` if the plugin was not told to shut down.
    pub const fn end(&self) -> Result<(), SessionFault> {
        match self.state {
            State::ShuttingDown { .. } => Ok(()),
            State::Starting { .. } | State::Running => Err(SessionFault::Ended { program: "plugin" }),
        }
    }
}
