//! The events of agent hosts: the hosts that fire them, and the effect of an answer.

use core::fmt;

use plugward_manifest::Dialect;
use plugward_types::edit_distance;

/// The effect of an answer to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new class")]
pub enum EventClass {
    /// The answer decides whether something happens.
    Gate,
    /// The answer changes the output of a tool. The tool has already run, so a deny counts as skip.
    Content,
    /// The answer has no effect.
    Notice,
}

/// The part of a payload that is compared with a matcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchKey {
    /// The name of the tool.
    Tool,
    /// A string member of `data`.
    Member(&'static str),
    /// The last component of the member `file_path` of `data`.
    FileName,
    /// The event has no such part.
    None,
}

/// The effect of an answer beyond its class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// None.
    Plain,
    /// Context for the model, from a JSON reply.
    Context,
    /// Context for the model, from a JSON reply or from other text on standard output.
    TextContext,
    /// A deny keeps the agent working, so a failing hook must not deny.
    Prolongs,
}

const CLAUDE: u8 = 1;
const CODEX: u8 = 2;
const GNOMA: u8 = 4;
const CX: u8 = CLAUDE | CODEX;
const CXG: u8 = CX | GNOMA;

macro_rules! events {
    ($($name:ident, $word:literal, $pascal:literal, $hosts:expr, $class:ident, $key:expr, $effect:ident;)*) => {
        /// An event of an agent host.
        ///
        /// ADR-004 in `docs/source-documents.md`: `PostToolUse` is one event. It is not split into events before
        /// and after the secret scan; the type of a hook decides when it runs and what it sees. Do not reorder
        /// the steps without reopening the ADR.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Event {
            $(#[doc = concat!("`", $word, "`")] $name,)*
        }

        impl Event {
            /// Every event, in the order of variants.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the name in plugward and gnoma: `pre_tool_use`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Returns the name in Claude Code and Codex: `PreToolUse`.
            #[must_use]
            pub const fn pascal(self) -> &'static str {
                match self { $(Self::$name => $pascal,)* }
            }

            /// Returns the effect of an answer to the event.
            #[must_use]
            pub const fn class(self) -> EventClass {
                match self { $(Self::$name => EventClass::$class,)* }
            }

            const fn hosts(self) -> u8 {
                match self { $(Self::$name => $hosts,)* }
            }

            pub(crate) const fn key(self) -> MatchKey {
                match self { $(Self::$name => $key,)* }
            }

            const fn effect(self) -> Effect {
                match self { $(Self::$name => Effect::$effect,)* }
            }
        }
    };
}

use MatchKey::{FileName, Member, None as NoKey, Tool};

events! {
    PreToolUse, "pre_tool_use", "PreToolUse", CXG, Gate, Tool, Context;
    PermissionRequest, "permission_request", "PermissionRequest", CX, Gate, Tool, Plain;
    PostToolUse, "post_tool_use", "PostToolUse", CXG, Content, Tool, Context;
    PostToolUseFailure, "post_tool_use_failure", "PostToolUseFailure", CLAUDE, Content, Tool, Context;
    PostToolBatch, "post_tool_batch", "PostToolBatch", CLAUDE, Gate, NoKey, Plain;
    PreCompact, "pre_compact", "PreCompact", CXG, Gate, Member("trigger"), Plain;
    UserPromptSubmit, "user_prompt_submit", "UserPromptSubmit", CX, Gate, NoKey, TextContext;
    UserPromptExpansion, "user_prompt_expansion", "UserPromptExpansion", CLAUDE, Gate, Member("command_name"), TextContext;
    Stop, "stop", "Stop", CXG, Gate, NoKey, Prolongs;
    SubagentStop, "subagent_stop", "SubagentStop", CX, Gate, Member("agent_type"), Prolongs;
    TaskCompleted, "task_completed", "TaskCompleted", CLAUDE, Gate, NoKey, Prolongs;
    TeammateIdle, "teammate_idle", "TeammateIdle", CLAUDE, Gate, NoKey, Prolongs;
    TaskCreated, "task_created", "TaskCreated", CLAUDE, Gate, NoKey, Plain;
    ConfigChange, "config_change", "ConfigChange", CLAUDE, Gate, Member("source"), Plain;
    PreModelSwitch, "pre_model_switch", "PreModelSwitch", CLAUDE, Gate, Member("to_model"), Plain;
    WorktreeCreate, "worktree_create", "WorktreeCreate", CLAUDE, Gate, NoKey, Plain;
    WorktreeRemove, "worktree_remove", "WorktreeRemove", CLAUDE, Gate, NoKey, Plain;
    Elicitation, "elicitation", "Elicitation", CLAUDE, Gate, Member("mcp_server_name"), Plain;
    ElicitationResult, "elicitation_result", "ElicitationResult", CLAUDE, Gate, Member("mcp_server_name"), Plain;
    SessionStart, "session_start", "SessionStart", CXG, Notice, Member("source"), TextContext;
    SubagentStart, "subagent_start", "SubagentStart", CX, Notice, Member("agent_type"), Context;
    PostModelSwitch, "post_model_switch", "PostModelSwitch", CLAUDE, Notice, Member("to_model"), TextContext;
    Setup, "setup", "Setup", CLAUDE, Notice, Member("trigger"), Plain;
    PostCompact, "post_compact", "PostCompact", CX, Notice, Member("trigger"), Plain;
    SessionEnd, "session_end", "SessionEnd", CXG, Notice, Member("reason"), Plain;
    Interrupt, "interrupt", "Interrupt", CODEX, Notice, NoKey, Plain;
    Notification, "notification", "Notification", CLAUDE, Notice, Member("notification_type"), Plain;
    InstructionsLoaded, "instructions_loaded", "InstructionsLoaded", CLAUDE, Notice, Member("load_reason"), Plain;
    StopFailure, "stop_failure", "StopFailure", CLAUDE, Notice, Member("error"), Plain;
    PermissionDenied, "permission_denied", "PermissionDenied", CLAUDE, Notice, Tool, Plain;
    DirectoryAdded, "directory_added", "DirectoryAdded", CLAUDE, Notice, Member("source"), Plain;
    FileChanged, "file_changed", "FileChanged", CLAUDE, Notice, FileName, Plain;
    CwdChanged, "cwd_changed", "CwdChanged", CLAUDE, Notice, NoKey, Plain;
    MessageDisplay, "message_display", "MessageDisplay", CLAUDE, Notice, NoKey, Plain;
}

impl Event {
    /// Returns the event of a name, in either spelling.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.as_str() == word || event.pascal() == word)
    }

    /// Returns the event whose name a word differs from by its spelling only.
    #[must_use]
    pub(crate) fn nearest(word: &str) -> Option<Self> {
        let plain = |word: &str| word.replace(['_', '-'], "").to_ascii_lowercase();
        let word = plain(word);
        let far = |event: &Self| edit_distance(&plain(event.as_str()), &word);
        // Three changes lead from one event to another, such as from `PreCompact` to `PostCompact`.
        Self::ALL.iter().copied().min_by_key(far).filter(|near| far(near) <= 2)
    }

    /// Returns the event that a host fires under a name, in either spelling, if it fires it.
    #[must_use]
    pub fn of_host(dialect: Dialect, word: &str) -> Option<Self> {
        let host = match dialect {
            Dialect::Codex => CODEX,
            Dialect::Gnoma => GNOMA,
            _ => CLAUDE,
        };
        Self::from_word(word).filter(|event| event.hosts() & host != 0)
    }

    /// Returns `true` if the payload is a tool with its arguments.
    #[must_use]
    pub fn is_tool_event(self) -> bool {
        self.key() == Tool
    }

    /// Returns `true` if a deny keeps the agent working instead of stopping it.
    pub(crate) fn prolongs(self) -> bool {
        self.effect() == Effect::Prolongs
    }

    /// Returns `true` if a reply can add context for the model.
    pub(crate) fn takes_context(self) -> bool {
        matches!(self.effect(), Effect::Context | Effect::TextContext)
    }

    /// Returns `true` if output that is not JSON is context for the model.
    pub(crate) fn text_is_context(self) -> bool {
        self.effect() == Effect::TextContext
    }
}

impl serde::Serialize for Event {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
