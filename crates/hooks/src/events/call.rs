//! The payloads of events, and the state of the host when an event fires.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::Dialect;
use plugward_redact::{Output, OutputContent};
use serde_json::{Map, Value, json};

use crate::definitions::hook::Hook;
use crate::events::event::{Event, MatchKey};

/// The payload of an event.
#[derive(Clone, PartialEq)]
pub(crate) enum Payload {
    Tool { tool: String, args: Value },
    Data(Value),
}

/// An event that hooks decide about, before it happens.
#[derive(Clone, PartialEq)]
pub struct GateCall {
    pub(crate) event: Event,
    pub(crate) payload: Payload,
}

impl GateCall {
    /// Creates the payload for the call of a tool, for `pre_tool_use` and `permission_request`.
    #[must_use]
    pub const fn tool(event: Event, tool: String, args: Value) -> Self {
        Self { event, payload: Payload::Tool { tool, args } }
    }

    /// Creates the payload for any other event from the object that the host sends to hooks.
    #[must_use]
    pub const fn data(event: Event, data: Value) -> Self {
        Self { event, payload: Payload::Data(data) }
    }

    /// Returns the event.
    #[must_use]
    pub const fn event(&self) -> Event {
        self.event
    }

    /// Returns the name of the tool; `None` if the event is not about a tool.
    #[must_use]
    pub fn tool_name(&self) -> Option<&str> {
        match &self.payload {
            Payload::Tool { tool, .. } => Some(tool),
            Payload::Data(_) => None,
        }
    }

    /// Returns the arguments of the tool, or the data of the event.
    #[must_use]
    pub const fn value(&self) -> &Value {
        match &self.payload {
            Payload::Tool { args, .. } => args,
            Payload::Data(data) => data,
        }
    }

    pub(crate) fn with_value(&self, value: Value) -> Self {
        let payload = match &self.payload {
            Payload::Tool { tool, .. } => Payload::Tool { tool: tool.clone(), args: value },
            Payload::Data(_) => Payload::Data(value),
        };
        Self { event: self.event, payload }
    }

    pub(crate) fn with_tool(mut self, name: String) -> Self {
        if let Payload::Tool { tool, .. } = &mut self.payload {
            *tool = name;
        }
        self
    }

    pub(crate) fn into_value(self) -> Value {
        match self.payload {
            Payload::Tool { args, .. } => args,
            Payload::Data(data) => data,
        }
    }

    /// Returns the text that matchers are compared with, if the payload has it.
    pub(crate) fn matched(&self) -> Option<&str> {
        let member = |name: &str| self.value().get(name).and_then(Value::as_str);
        match self.event.key() {
            MatchKey::Tool => self.tool_name(),
            MatchKey::Member(name) => member(name),
            MatchKey::FileName => member("file_path").and_then(|path| path.rsplit('/').next()),
            MatchKey::None => None,
        }
    }
}

impl core::fmt::Debug for GateCall {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("GateCall").field("event", &self.event).finish_non_exhaustive()
    }
}

/// The call of a tool that has ended.
#[derive(Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "every host must set a new part of a call")]
pub struct ToolCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub args: Value,
}

impl core::fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ToolCall").field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// Whether the host is already running an agent hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an event fires inside an agent hook or outside")]
pub enum Nesting {
    /// The event fires outside an agent hook.
    Outside,
    /// The event fires inside an agent hook. Prompt and agent hooks fail with `hook/depth`, so that they
    /// cannot fire each other forever.
    InsideAgentHook,
}

/// The state of the host when an event fires.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "every host must set a new part")]
pub struct FireContext {
    /// The working directory of the session, as an absolute path. Commands start in it.
    pub directory: String,
    /// The root of the project: `CLAUDE_PROJECT_DIR`.
    pub project: String,
    /// The environment from which hooks get variables. PATH, HOME, USER, LANG, `LC_*`, TZ, TMPDIR and TERM
    /// are always passed on if they are set.
    pub env: BTreeMap<String, String>,
    /// Other variables that project and plugin hooks get if they request them. Managed and user hooks get
    /// all the variables they request.
    pub granted_env: BTreeSet<String>,
    /// The id of the session.
    pub session: String,
    /// The path of the session's transcript. Only managed and user hooks get it, because hosts write raw output there.
    pub transcript: Option<String>,
    /// The permission mode of Claude Code, such as `default`.
    pub permission_mode: String,
    /// Whether the event fires inside an agent hook.
    pub nesting: Nesting,
    /// The number of consecutive stops that hooks have denied, which keeps the agent working.
    pub stop_denials: u32,
}

/// The result of a tool, as hooks receive it.
pub(crate) struct ResultView<'a> {
    pub(crate) output: &'a Output,
    pub(crate) failed: bool,
}

/// The members of an envelope of Claude Code that the host sets.
const HEAD: [&str; 6] =
    ["cwd", "event", "hook_event_name", "permission_mode", "session_id", "transcript_path"];

/// Builds the object that a hook reads on standard input. Each hook gets its own.
pub(crate) fn envelope(
    hook: &Hook,
    call: &GateCall,
    result: Option<&ResultView<'_>>,
    at: &FireContext,
) -> Value {
    let (event, gnoma) = (hook.event, hook.dialect == Dialect::Gnoma);
    let mut members = if gnoma { Map::new() } else { claude_head(event, at) };
    if gnoma {
        members.insert("event".to_owned(), json!(event.as_str()));
    }
    match &call.payload {
        Payload::Tool { tool, args } => {
            members.insert(if gnoma { "tool" } else { "tool_name" }.to_owned(), json!(tool));
            members.insert(if gnoma { "args" } else { "tool_input" }.to_owned(), args.clone());
        }
        Payload::Data(Value::Object(data)) => {
            // The data of an event must not replace what the host states about the event. gnoma sends the session as data.
            let head: &[&str] = if gnoma { &["event"] } else { &HEAD };
            for (name, value) in data.iter().filter(|(name, _)| !head.contains(&name.as_str())) {
                members.insert(name.clone(), value.clone());
            }
        }
        Payload::Data(_) => {}
    }
    if !hook.scope.is_own() {
        // The file is not redacted. Claude Code also sends the path of the transcript of a subagent.
        members.retain(|name, _| !name.ends_with("transcript_path"));
    }
    if let Some(result) = result {
        let output = match &result.output.content {
            OutputContent::Text(text) => json!(text),
            OutputContent::Json(value) => value.clone(),
        };
        if gnoma {
            let metadata = &result.output.metadata;
            members.insert(
                "result".to_owned(),
                json!({"output": output, "metadata": metadata, "failed": result.failed}),
            );
        } else if result.failed {
            members.insert("error".to_owned(), output);
        } else {
            members.insert("tool_response".to_owned(), output);
        }
    }
    Value::Object(members)
}

fn claude_head(event: Event, at: &FireContext) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("session_id".to_owned(), json!(at.session));
    if let Some(transcript) = &at.transcript {
        members.insert("transcript_path".to_owned(), json!(transcript));
    }
    members.insert("cwd".to_owned(), json!(at.directory));
    members.insert("permission_mode".to_owned(), json!(at.permission_mode));
    members.insert("hook_event_name".to_owned(), json!(event.pascal()));
    members
}
