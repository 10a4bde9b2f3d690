//! Codes, what to do about them, and the error of a dispatcher that cannot be built.

use thiserror::Error;

/// Every code that this crate can emit, with what to do about it.
pub const CODES: &[(&str, &str)] = &[
    ("hook/config-syntax", "fix the file at this place; none of its hooks run until then"),
    ("hook/field", "write the field as the message says"),
    ("hook/bad-timeout", "write seconds as a number above 0 in JSON, or a duration like `30s` in TOML"),
    ("hook/matcher", "write tool names, or an expression without look-around and backreferences"),
    ("hook/pattern", "write a glob such as `fs.*`; close each `[` and follow each `\\` with a character"),
    ("hook/on-failure", "write `block`, `skip` or `withhold`; only hooks after a tool can withhold"),
    ("hook/unknown-type", "write `command`, `prompt` or `agent`"),
    ("hook/unsupported", "use a command, prompt or agent hook; plugward runs no other handler"),
    (
        "hook/user-config-in-shell",
        "pass the value as an environment variable; in shell text it could run as code",
    ),
    ("hook/unknown-event", "check the event's spelling; the hook never runs"),
    ("hook/empty", "check the file's keys: JSON has `hooks` with events in it, TOML has `[[hooks]]`"),
    ("hook/disabled", "remove `disableAllHooks` to run the hooks of this file"),
    ("hook/other-dialect", "nothing: these hooks belong to another host and never run here"),
    ("hook/unknown-field", "remove the field, or check its spelling; it has no effect"),
    ("hook/matcher-is-rule", "write the tool's name as the matcher, and the rule as `if`"),
    ("hook/matcher-ignored", "remove the matcher; this event has nothing to compare it with"),
    ("hook/never-fires", "remove `if`: outside of tool events a hook with it never runs"),
    ("hook/async", "nothing: plugward runs the hook in the observe step and waits for it"),
    ("hook/timeout-capped", "write at most 600 seconds"),
    ("hook/timeout-units", "write seconds, not milliseconds"),
    ("hook/no-starter", "give the dispatcher a `Start`, or leave command hooks out of the plan"),
    ("hook/no-model", "give the dispatcher a model, or leave prompt and agent hooks out of the plan"),
    ("hook/no-agent", "give the dispatcher an `AgentLoop`, or leave agent hooks out of the plan"),
    (
        "hook/seal",
        "free space in the state directory, or make it writable; the plugin's hooks fail until then",
    ),
    ("hook/event", "use an event of `plugward hook plan`, such as `pre_tool_use` or `PreToolUse`"),
    (
        "hook/payload",
        "write one JSON object of at most 16 MiB with the keys of the event: `tool`, `args` and `result`, or `data`",
    ),
    ("hook/not-found", "install the program, or fix the path in the hook"),
    ("hook/spawn", "make the file executable, and check that the working directory exists"),
    ("hook/timed-out", "make the hook faster, or raise its timeout"),
    ("hook/signal", "find out why the hook was killed; check its memory and its own code"),
    ("hook/exit", "end with exit code 0, or with 2 to deny; every other code is a failure"),
    ("hook/bad-output", "print nothing, or one JSON reply and nothing around it"),
    ("hook/oversize", "print at most 1 MiB; write logs to a file"),
    ("hook/bad-shape", "keep the type and the keys of what the hook replaces, and no marker of a redaction"),
    ("hook/model", "check that the model answers with `{\"ok\": true}` or `{\"ok\": false, \"reason\": …}`"),
    ("hook/depth", "do not fire prompt or agent hooks from inside an agent hook"),
    ("hook/laundered", "look at what the hook does with secrets: it printed one in another encoding"),
    ("hook/ignored-field", "remove the field from the reply; this event does not use it"),
    ("hook/stop-loop", "nothing: the agent was stopped although hooks wanted it to go on for the ninth time"),
    ("hook/raw-unrecorded", "make the ledger writable; until then the hook sees redacted text"),
];

/// Returns what to do about a code.
#[must_use]
pub fn help(code: &str) -> &'static str {
    CODES.iter().find(|(own, _)| *own == code).map_or("", |(_, help)| help)
}

/// A dispatcher that cannot be built, because a hook has nothing to run it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("build the hook dispatcher: `{hook}` {kind}")]
pub struct HookError {
    kind: HookErrorKind,
    hook: String,
}

/// What a hook lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HookErrorKind {
    /// A command hook, and nothing that starts commands.
    #[error("is a command hook, and there is no `Start`")]
    NoStarter,
    /// A prompt or agent hook, and no model.
    #[error("asks a model, and there is none")]
    NoModel,
    /// An agent hook, and no agent.
    #[error("is an agent hook, and there is no `AgentLoop`")]
    NoAgent,
}

impl HookError {
    pub(crate) fn new(kind: HookErrorKind, hook: &str) -> Self {
        Self { kind, hook: hook.to_owned() }
    }

    /// Returns what the hook lacks.
    #[must_use]
    pub const fn kind(&self) -> HookErrorKind {
        self.kind
    }

    /// Returns the id of the hook.
    #[must_use]
    pub fn hook(&self) -> &str {
        &self.hook
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            HookErrorKind::NoStarter => "hook/no-starter",
            HookErrorKind::NoModel => "hook/no-model",
            HookErrorKind::NoAgent => "hook/no-agent",
        }
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help(self.code())
    }
}
