//! The codes of this crate with their help, and the error of a dispatcher.

use thiserror::Error;

/// The codes of this crate, with one line of help each.
pub const CODES: &[(&str, &str)] = &[
    ("hook/config-syntax", "fix the file at this place; none of its hooks run until then"),
    ("hook/field", "write the field as the message says"),
    (
        "hook/bad-timeout",
        "write a duration like `30s` for gnoma, and seconds as a number above 0 for other hosts",
    ),
    ("hook/matcher", "write tool names, or an expression without look-around and backreferences"),
    ("hook/pattern", "write a glob such as `fs.*`; close each `[` and follow each `\\` with a character"),
    ("hook/on-failure", "write `block`, `skip` or `withhold`; only hooks after a tool can withhold"),
    ("hook/unknown-type", "write `command`, `prompt` or `agent`"),
    ("hook/unsupported", "use a command, prompt or agent hook; other handlers do not run"),
    (
        "hook/user-config-in-shell",
        "pass the value as an environment variable; in shell text it could run as code",
    ),
    ("hook/unknown-event", "check the event's spelling; the hook never runs"),
    ("hook/unknown-table", "write `[[hooks]]`; a hooks file in TOML has no other table"),
    ("hook/none-usable", "fix the entries of the file; none of them runs"),
    ("hook/empty", "check the file's keys: JSON has `hooks` with events in it, TOML has `[[hooks]]`"),
    ("hook/disabled", "remove `disableAllHooks` to run the hooks of this file"),
    ("hook/other-dialect", "nothing: these hooks belong to another host and never run here"),
    ("hook/unknown-field", "remove the field, or check its spelling; it has no effect"),
    ("hook/matcher-is-rule", "write the tool's name as the matcher, and the rule as `if`"),
    ("hook/matcher-ignored", "remove the matcher; this event has nothing to compare it with"),
    ("hook/never-fires", "remove `if`: outside of tool events a hook with it never runs"),
    ("hook/async", "nothing: the hook runs in the observe step, and the host waits for it"),
    ("hook/timeout-capped", "write at most 600 seconds"),
    ("hook/timeout-units", "write seconds, not milliseconds"),
    ("hook/no-starter", "set a `Start`, or leave command hooks out of the plan"),
    ("hook/no-model", "set a model, or leave prompt and agent hooks out of the plan"),
    ("hook/no-agent", "set an `AgentLoop`, or leave agent hooks out of the plan"),
    (
        "hook/seal",
        "free space in the state directory, or make it writable; the plugin's hooks fail until then",
    ),
    ("hook/event", "use the name of an event, such as `pre_tool_use` or `PreToolUse`"),
    (
        "hook/payload",
        "write one JSON object of at most 16 MiB with the keys of the event: `tool`, `args` and `result`, or `data`",
    ),
    ("hook/not-found", "install the program, or fix the path in the hook"),
    ("hook/spawn", "make the file executable, and check that the working directory exists"),
    ("hook/timed-out", "make the hook faster, or raise its timeout"),
    ("hook/signal", "find out why the hook was killed; check its memory use and its code"),
    ("hook/exit", "exit with code 0, or with 2 to deny; every other code is a failure"),
    ("hook/bad-output", "print nothing, or one JSON reply without text around it"),
    ("hook/oversize", "print at most 1 MiB; write logs to a file"),
    ("hook/bad-shape", "keep the type and the keys of the replaced value, and do not add redaction markers"),
    ("hook/model", "check that the model answers with `{\"ok\": true}` or `{\"ok\": false, \"reason\": …}`"),
    ("hook/depth", "do not fire prompt or agent hooks from inside an agent hook"),
    ("hook/laundered", "review how the hook uses secrets: it printed one in another encoding"),
    ("hook/ignored-field", "remove the field from the reply; this event does not use it"),
    ("hook/stop-loop", "nothing: the agent stopped, although hooks denied it for the ninth time in a row"),
    ("hook/raw-unrecorded", "make the ledger writable; until then the hook sees redacted text"),
];

/// Returns the help for a code.
#[must_use]
pub fn help(code: &str) -> &'static str {
    CODES.iter().find(|(own, _)| *own == code).map_or("", |(_, help)| help)
}

/// A hook that the services of a dispatcher cannot run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot build the hook dispatcher: `{hook}` {kind}")]
pub struct HookError {
    kind: HookErrorKind,
    hook: String,
}

/// The service that a hook lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HookErrorKind {
    /// A command hook without a `Start`.
    #[error("is a command hook, but no `Start` is set")]
    NoStarter,
    /// A prompt or agent hook without a model.
    #[error("asks a model, but none is set")]
    NoModel,
    /// An agent hook without an `AgentLoop`.
    #[error("is an agent hook, but no `AgentLoop` is set")]
    NoAgent,
}

impl HookError {
    pub(crate) fn new(kind: HookErrorKind, hook: &str) -> Self {
        Self { kind, hook: hook.to_owned() }
    }

    /// Returns the service that the hook lacks.
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

    /// Returns the help for the code.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help(self.code())
    }
}
