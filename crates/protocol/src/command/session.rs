//! The state of a session with a command plugin.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::command::event::{HostServices, ServiceAnswer, SessionEvent, SessionLimits};
use crate::command::init::Init;
use crate::command::message::{Exit, Log, LogLevel, Print, ReadConfig, fields, invalid};
use crate::error::{ProtocolError, ProtocolErrorKind};
use crate::json;

/// How many messages of unknown types a session ignores.
pub const MAX_UNKNOWN: u32 = 100;

/// Requests of the protocol that a host may leave out, so they are not unknown.
const SERVICES: &[&str] =
    &["create_conversation", "list_conversations", "lock", "push_events", "read_events", "unlock"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Starting,
    Running,
    Describing,
    Ended,
}

/// The host's side of a session with a command plugin.
///
/// # Guarantees
/// A plugin reads no configuration but its own. Each request is answered once, in order. After `exit`, lines have no effect.
#[derive(Debug, Clone)]
pub struct CommandSession {
    init: Option<Init>,
    limits: SessionLimits,
    state: State,
    deadline: Option<Instant>,
    shutdown: bool,
    unknown: u32,
}

impl CommandSession {
    /// Starts a session. The lines go to the plugin.
    #[must_use]
    pub fn start(init: &Init, limits: SessionLimits, now: Instant) -> (Self, Vec<String>) {
        let deadline = now.checked_add(limits.ready);
        let session = Self { init: Some(init.clone()), ..Self::new(limits, State::Starting, deadline) };
        (session, vec![init.line()])
    }

    /// Asks a plugin to describe itself instead. The lines go to the plugin.
    #[must_use]
    pub fn describe(limits: SessionLimits, now: Instant) -> (Self, Vec<String>) {
        let deadline = now.checked_add(limits.describe);
        (Self::new(limits, State::Describing, deadline), vec![json!({ "type": "describe" }).to_string()])
    }

    const fn new(limits: SessionLimits, state: State, deadline: Option<Instant>) -> Self {
        Self { init: None, limits, state, deadline, shutdown: false, unknown: 0 }
    }

    /// Handles a line of the plugin.
    ///
    /// # Errors
    /// `protocol/not-utf8`, `protocol/not-json`, `protocol/duplicate-key`, `protocol/too-deep`, `protocol/message` or
    /// `protocol/unknown-types`. The plugin must be ended.
    pub fn line(
        &mut self,
        line: &[u8],
        now: Instant,
        host: &mut dyn HostServices,
    ) -> Result<Vec<SessionEvent>, ProtocolError> {
        if self.state == State::Ended {
            return Ok(Vec::new());
        }
        let message = json::parse_object(line)?;
        let Some(name) = message.get("type").and_then(Value::as_str).map(str::to_owned) else {
            return Err(invalid("", "the field `type` is missing"));
        };
        Ok(self.message(&name, message, now, host)?.into_iter().collect())
    }

    fn message(
        &mut self,
        name: &str,
        mut message: Map<String, Value>,
        now: Instant,
        host: &mut dyn HostServices,
    ) -> Result<Option<SessionEvent>, ProtocolError> {
        Ok(Some(match name {
            "ready" => {
                if self.state != State::Starting {
                    return Ok(None);
                }
                self.state = State::Running;
                self.set_deadline(None);
                SessionEvent::Ready
            }
            "print" => {
                let Print { text, channel, format, language } = fields(name, message)?;
                SessionEvent::Print { text, channel, format, language }
            }
            "log" => {
                // They are moved, because they can be large.
                let extra = match message.remove("fields").unwrap_or_default() {
                    Value::Null => Map::new(),
                    Value::Object(extra) => extra,
                    _ => return Err(invalid(name, "`fields` is not an object")),
                };
                let Log { level, message } = fields(name, message)?;
                let level = LogLevel::from_name(&level.to_ascii_lowercase()).unwrap_or(LogLevel::Info);
                SessionEvent::Log { level, message, fields: extra }
            }
            "exit" => {
                let Exit { code, reason } = fields(name, message)?;
                self.end_of_work(now);
                SessionEvent::Exit { code, reason }
            }
            "describe" if self.state == State::Describing => {
                let description = fields(name, message)?;
                self.end_of_work(now);
                SessionEvent::Described(description)
            }
            _ => return self.request(name, message, host).map(Some),
        }))
    }

    fn request(
        &mut self,
        name: &str,
        message: Map<String, Value>,
        host: &mut dyn HostServices,
    ) -> Result<SessionEvent, ProtocolError> {
        let id = message.get("id").filter(|id| !id.is_null()).cloned();
        let answer = match (&self.init, self.state) {
            (Some(init), State::Running) if name == "read_config" => {
                let ReadConfig { path } = fields(name, message)?;
                config_answer(init, path.as_deref())
            }
            (Some(_), State::Running) => host.request(name, &message),
            _ => ServiceAnswer::Failed("requests are answered after `ready`".to_owned()),
        };
        let (answer_type, mut fields) = match answer {
            ServiceAnswer::Answered { name, fields } => (name, fields),
            ServiceAnswer::Failed(text) => ("error", error_fields(name, &text)),
            ServiceAnswer::Unsupported => {
                self.count_unknown(name)?;
                ("error", error_fields(name, "the host does not support this request"))
            }
        };
        fields.insert("type".to_owned(), answer_type.into());
        if let Some(id) = id {
            fields.insert("id".to_owned(), id);
        }
        Ok(SessionEvent::Send(Value::Object(fields).to_string()))
    }

    fn count_unknown(&mut self, name: &str) -> Result<(), ProtocolError> {
        if !SERVICES.contains(&name) {
            self.unknown = self.unknown.saturating_add(1);
        }
        if self.unknown > MAX_UNKNOWN { Err(ProtocolErrorKind::UnknownTypes.into()) } else { Ok(()) }
    }

    /// Returns what to write when the user interrupts. A second call makes the deadline due at once.
    pub fn shutdown(&mut self, now: Instant) -> Vec<String> {
        let again = core::mem::replace(&mut self.shutdown, true);
        self.deadline = if again { Some(now) } else { now.checked_add(self.limits.grace) };
        if again || self.state == State::Ended {
            return Vec::new();
        }
        vec![json!({ "type": "shutdown" }).to_string()]
    }

    /// Returns when the plugin must be ended if it does nothing before.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Checks the deadline.
    ///
    /// # Errors
    /// `protocol/timeout` if the plugin must be ended now, with its whole process group.
    pub fn check_deadline(&self, now: Instant) -> Result<(), ProtocolError> {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return Ok(());
        }
        let step = match self.state {
            _ if self.shutdown => "end after `shutdown`",
            State::Describing => "describe itself",
            State::Starting => "send `ready`",
            State::Running | State::Ended => "end",
        };
        Err(ProtocolErrorKind::PluginTimeout { step }.into())
    }

    /// Handles the end of the plugin's output.
    ///
    /// # Errors
    /// `protocol/eof` if the plugin was not done and was not told to shut down.
    pub fn end(&mut self) -> Result<(), ProtocolError> {
        let done = self.state == State::Ended || self.shutdown;
        self.state = State::Ended;
        if done { Ok(()) } else { Err(ProtocolErrorKind::PluginEnded.into()) }
    }

    fn end_of_work(&mut self, now: Instant) {
        self.state = State::Ended;
        // A plugin that is done but keeps running is ended like one that was told to shut down.
        self.set_deadline(now.checked_add(self.limits.grace));
    }

    /// Sets the deadline, unless a shutdown has set it.
    fn set_deadline(&mut self, deadline: Option<Instant>) {
        if !self.shutdown {
            self.deadline = deadline;
        }
    }
}

fn config_answer(init: &Init, path: Option<&str>) -> ServiceAnswer {
    match init.read(path) {
        Ok(data) => {
            let mut fields = Map::from_iter([("data".to_owned(), data)]);
            if let Some(path) = path {
                fields.insert("path".to_owned(), path.into());
            }
            ServiceAnswer::Answered { name: "config", fields }
        }
        Err(text) => ServiceAnswer::Failed(text.to_owned()),
    }
}

fn error_fields(request: &str, message: &str) -> Map<String, Value> {
    Map::from_iter([("request".to_owned(), request.into()), ("message".to_owned(), message.into())])
}
