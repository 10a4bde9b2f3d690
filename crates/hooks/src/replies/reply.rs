//! The reply of a command hook, from its exit code and output.

use plugward_manifest::Dialect;
use serde_json::{Map, Value};

use crate::definitions::hook::CommandForm;
use crate::events::event::{Event, EventClass};
use crate::events::strict;
use crate::execution::command::{End, Ran};
use crate::replies::report::Answer;

/// A failed hook: the code and a message without any word of the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The change that a hook requests.
pub(crate) enum Rewrite {
    /// All arguments.
    Replace(Map<String, Value>),
    /// New values of some arguments.
    Merge(Map<String, Value>),
    /// The output of a tool and its metadata.
    Output { output: Value, metadata: Option<Value> },
}

/// The reply of a hook. Its texts are not redacted yet.
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) reason: Option<String>,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) context: Option<String>,
    pub(crate) messages: Vec<String>,
    pub(crate) stop_turn: bool,
    /// The path of a worktree, or the content of an elicitation.
    pub(crate) value: Option<Value>,
    /// Whether a part of the reply has no effect at this event.
    pub(crate) has_ignored: bool,
}

impl Reply {
    pub(crate) const fn new(answer: Answer) -> Self {
        Self {
            answer,
            reason: None,
            rewrite: None,
            context: None,
            messages: Vec::new(),
            stop_turn: false,
            value: None,
            has_ignored: false,
        }
    }
}

/// Parses the output of a command.
///
/// # Errors
/// [`Failure`] if the command did not answer. A readable deny is an answer at every exit code.
pub(crate) fn read(dialect: Dialect, event: Event, form: &CommandForm, ran: &Ran) -> Result<Reply, Failure> {
    let code = match ran.end {
        End::Exit(code) => code,
        End::Signal(signal) => return Err(Failure::new("hook/signal", format!("ended by signal {signal}"))),
        End::TimedOut => return Err(Failure::new("hook/timed-out", "did not end within its timeout")),
        End::Oversize => {
            return Err(Failure::new("hook/oversize", "printed more than 1 MiB on standard output"));
        }
    };
    if code == 2 {
        let stderr = String::from_utf8_lossy(&ran.stderr);
        let reason = Some(stderr.trim().to_owned()).filter(|reason| !reason.is_empty());
        return Ok(Reply { reason, ..Reply::new(Answer::Deny) });
    }
    let read = match std::str::from_utf8(&ran.stdout) {
        Err(_) => Err(Failure::new("hook/bad-output", "expected UTF-8 on standard output")),
        Ok(text) if dialect == Dialect::Gnoma => gnoma(event, text.trim()),
        Ok(text) => claude(event, text.trim()),
    };
    match (code, read) {
        (0, read) => read,
        (_, Ok(reply)) if reply.answer == Answer::Deny => Ok(reply),
        // A worktree has a path only if the hook returned one.
        _ if matches!(event, Event::WorktreeCreate | Event::WorktreeRemove) => Ok(Reply::new(Answer::Deny)),
        (127, _) if matches!(form, CommandForm::Shell { .. }) => {
            Err(Failure::new("hook/not-found", "the shell did not find the program (exit code 127)"))
        }
        (126, _) if matches!(form, CommandForm::Shell { .. }) => {
            Err(Failure::new("hook/spawn", "the shell could not start the program (exit code 126)"))
        }
        (code, _) => Err(Failure::new("hook/exit", format!("ended with exit code {code}"))),
    }
}

fn bad(message: impl Into<String>) -> Failure {
    Failure::new("hook/bad-output", message)
}

fn gnoma(event: Event, text: &str) -> Result<Reply, Failure> {
    let mut reply = Reply::new(Answer::Allow);
    if text.is_empty() {
        return Ok(reply);
    }
    let members = strict::object(text.as_bytes(), &strict::REPLY)
        .map_err(|why| bad(format!("expected nothing or one JSON object: {why}")))?;
    if strict::has_other_case(&members, &["action", "transformed"]) {
        return Err(bad("expected the keys `action` and `transformed` in lower case"));
    }
    match members.get("action") {
        None | Some(Value::Null) => {}
        Some(Value::String(action)) if action == "allow" => {}
        Some(Value::String(action)) if action == "deny" => reply.answer = Answer::Deny,
        Some(Value::String(action)) if action == "skip" => reply.answer = Answer::Skip,
        Some(_) => return Err(bad("expected the action allow, deny or skip")),
    }
    reply.has_ignored = members.keys().any(|key| !matches!(key.as_str(), "action" | "transformed"));
    let denies = reply.answer == Answer::Deny;
    match members.get("transformed").filter(|_| !denies) {
        None | Some(Value::Null) => {}
        Some(value) => match transformed(event, value) {
            Ok(Some(rewrite)) => reply.rewrite = Some(rewrite),
            Ok(None) => reply.has_ignored = true,
            Err(failure) => return Err(failure),
        },
    }
    Ok(reply)
}

fn transformed(event: Event, value: &Value) -> Result<Option<Rewrite>, Failure> {
    let shape = |message: &str| Err(Failure::new("hook/bad-shape", message));
    match event.class() {
        EventClass::Content => {
            let Value::Object(members) = value else { return shape("expected `transformed` as an object") };
            if members.keys().any(|key| !matches!(key.as_str(), "output" | "metadata")) {
                return shape("expected only `output` and `metadata` in `transformed`");
            }
            let Some(output @ Value::String(_)) = members.get("output") else {
                return shape("expected `transformed.output` as a string");
            };
            Ok(Some(Rewrite::Output { output: output.clone(), metadata: members.get("metadata").cloned() }))
        }
        EventClass::Gate if event.is_tool_event() => match value {
            Value::Object(members)
                if members.len() == 1 && members.get("args").is_some_and(Value::is_object) =>
            {
                let args = members.get("args").and_then(Value::as_object).cloned();
                Ok(args.map(Rewrite::Replace))
            }
            Value::Object(members) => Ok(Some(Rewrite::Merge(members.clone()))),
            _ => shape("expected `transformed` as an object"),
        },
        EventClass::Gate | EventClass::Notice => Ok(None),
    }
}

/// Keys of a reply. Text around an object with one of these keys was meant as a reply, and must not be
/// ignored.
const REPLY_WORDS: [&str; 4] =
    ["\"decision\"", "\"permissionDecision\"", "\"hookSpecificOutput\"", "\"continue\""];

fn claude(event: Event, text: &str) -> Result<Reply, Failure> {
    if text.starts_with('{') && text.ends_with('}') {
        let members = strict::object(text.as_bytes(), &strict::REPLY)
            .map_err(|why| bad(format!("expected one JSON object: {why}")))?;
        return ClaudeReply { event, reply: Reply::new(Answer::Skip), error: None }.read(&members);
    }
    if event.class() == EventClass::Gate && text.contains('\0') {
        return Err(bad("expected text without NUL bytes"));
    }
    // A truncated reply, or one with text around it, was meant as a reply too. Context can quote JSON, so
    // at those events only an object at the end counts. At other events, any object was meant as a reply.
    let has_words = REPLY_WORDS.iter().any(|word| text.contains(word));
    let object = text.find('{').zip(text.rfind('}')).and_then(|(start, end)| text.get(start..=end));
    let is_object = object.is_some_and(|text| strict::object(text.as_bytes(), &strict::REPLY).is_ok());
    let was_reply = if event.text_is_context() {
        has_words && is_object && text.ends_with('}')
    } else {
        is_object || (has_words && text.contains('{'))
    };
    if text.starts_with('{') || was_reply {
        return Err(bad("expected a JSON reply without text around it"));
    }
    let mut reply = Reply::new(Answer::Skip);
    if !text.is_empty() {
        match event {
            _ if event.text_is_context() => reply.context = Some(text.to_owned()),
            Event::WorktreeCreate => reply.value = Some(Value::String(text.to_owned())),
            _ => {}
        }
    }
    Ok(reply)
}

/// Parses a reply in Claude Code's format. The first error is kept, but a deny next to it still counts.
struct ClaudeReply {
    event: Event,
    reply: Reply,
    error: Option<Failure>,
}

impl ClaudeReply {
    fn read(mut self, members: &Map<String, Value>) -> Result<Reply, Failure> {
        for (key, value) in members {
            match key.as_str() {
                "continue" => match value {
                    Value::Bool(true) => {}
                    Value::Bool(false) => {
                        self.reply.stop_turn = true;
                        // The event must not happen before the turn stops.
                        if self.event.class() == EventClass::Gate && !self.event.prolongs() {
                            self.answer(Answer::Deny);
                        }
                    }
                    _ => self.wrong(key, "true or false"),
                },
                "decision" => self.decision(key, value),
                "reason" | "stopReason" => {
                    if let Some(text) = self.text(key, value) {
                        self.reason(text);
                    }
                }
                "systemMessage" => {
                    let text = self.text(key, value);
                    self.reply.messages.extend(text);
                }
                "suppressOutput" => {}
                "hookSpecificOutput" => match value {
                    Value::Object(members) => self.specific(members),
                    _ => self.wrong(key, "an object"),
                },
                _ => self.reply.has_ignored = true,
            }
        }
        match self.error {
            Some(error) if self.reply.answer != Answer::Deny => Err(error),
            _ => {
                if self.reply.answer == Answer::Deny {
                    self.reply.rewrite = None;
                }
                Ok(self.reply)
            }
        }
    }

    fn specific(&mut self, members: &Map<String, Value>) {
        let is_gate = self.event.class() == EventClass::Gate;
        for (key, value) in members {
            match key.as_str() {
                "hookEventName" => {
                    self.reply.has_ignored |= value.as_str() != Some(self.event.pascal());
                }
                "permissionDecision" => match value.as_str() {
                    Some("deny") => self.answer(Answer::Deny),
                    Some("allow" | "ask" | "defer") if self.event != Event::PreToolUse => {
                        self.reply.has_ignored = true;
                    }
                    Some("allow") => self.answer(Answer::Allow),
                    Some("ask") => self.answer(Answer::Ask),
                    Some("defer") => self.answer(Answer::Defer),
                    _ => self.wrong(key, "allow, deny, ask or defer"),
                },
                "permissionDecisionReason" => {
                    if let Some(text) = self.text(key, value) {
                        self.reason(text);
                    }
                }
                "updatedInput" if self.event == Event::PreToolUse => self.replace(key, value),
                "additionalContext" if self.event.takes_context() => {
                    self.reply.context = self.text(key, value);
                }
                "updatedToolOutput" | "updatedMCPToolOutput" if self.event.class() == EventClass::Content => {
                    if !value.is_null() {
                        self.reply.rewrite = Some(Rewrite::Output { output: value.clone(), metadata: None });
                    }
                }
                "decision" => match value {
                    Value::Object(decision) if self.event == Event::PermissionRequest => {
                        self.permission(decision);
                    }
                    Value::Object(decision) => {
                        self.reply.has_ignored = true;
                        if decision.get("behavior").and_then(Value::as_str) == Some("deny") {
                            self.answer(Answer::Deny);
                        }
                    }
                    _ => self.decision(key, value),
                },
                "action" if matches!(self.event, Event::Elicitation | Event::ElicitationResult) => {
                    match value.as_str() {
                        Some("accept") => self.answer(Answer::Allow),
                        Some("decline" | "cancel") => self.answer(Answer::Deny),
                        _ => self.wrong(key, "accept, decline or cancel"),
                    }
                }
                "content" if matches!(self.event, Event::Elicitation | Event::ElicitationResult) => {
                    self.reply.value = Some(value.clone());
                }
                _ => self.reply.has_ignored = true,
            }
        }
        if !is_gate && self.reply.answer == Answer::Allow {
            self.reply.answer = Answer::Skip;
        }
    }

    /// Parses `hookSpecificOutput.decision` of a permission request.
    fn permission(&mut self, members: &Map<String, Value>) {
        for (key, value) in members {
            match key.as_str() {
                "behavior" => match value.as_str() {
                    Some("allow") => self.answer(Answer::Allow),
                    Some("deny") => self.answer(Answer::Deny),
                    _ => self.wrong(key, "allow or deny"),
                },
                "updatedInput" => self.replace(key, value),
                "message" => {
                    if let Some(text) = self.text(key, value) {
                        self.reason(text);
                    }
                }
                "interrupt" => match value {
                    Value::Bool(stop) => self.reply.stop_turn |= stop,
                    _ => self.wrong(key, "true or false"),
                },
                _ => self.reply.has_ignored = true,
            }
        }
    }

    fn decision(&mut self, key: &str, value: &Value) {
        match value.as_str() {
            Some("block" | "deny") => self.answer(Answer::Deny),
            Some("approve" | "allow") => self.answer(Answer::Allow),
            None | Some("") if value.is_null() || value.is_string() => {}
            _ => self.wrong(key, "approve or block"),
        }
    }

    fn answer(&mut self, answer: Answer) {
        self.reply.answer = self.reply.answer.max(answer);
    }

    fn reason(&mut self, text: String) {
        match &mut self.reply.reason {
            Some(reason) if !reason.is_empty() => {
                reason.push('\n');
                reason.push_str(&text);
            }
            reason => *reason = Some(text),
        }
    }

    fn replace(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(args) => self.reply.rewrite = Some(Rewrite::Replace(args.clone())),
            Value::Null => {}
            _ => self.fail(Failure::new("hook/bad-shape", format!("expected `{key}` as an object"))),
        }
    }

    fn text(&mut self, key: &str, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            _ => {
                self.wrong(key, "a string");
                None
            }
        }
    }

    fn wrong(&mut self, key: &str, expected: &str) {
        self.fail(bad(format!("expected `{key}` as {expected}")));
    }

    fn fail(&mut self, failure: Failure) {
        self.error = self.error.take().or(Some(failure));
    }
}
