//! A hook of a plan.

use std::sync::Arc;
use std::time::Duration;

use plugward_manifest::Dialect;
use plugward_redact::Redacted;

use crate::definitions::matcher::{Condition, Matcher};
use crate::events::event::Event;
use crate::execution::services::{JudgeHook, LocalHook};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$item_doc:meta])* $item:ident = $word:literal,)* }) => {
        plugward_types::named! {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
            #[serde(rename_all = "lowercase")]
            #[expect(clippy::exhaustive_enums, reason = "every host must handle a new value")]
            pub enum $name { $($(#[$item_doc])* $item = $word,)* }
        }
    };
}
pub(crate) use words;

/// Serializes redacted text as a string.
#[expect(clippy::ref_option, reason = "the derive hands over a reference to the field")]
pub(crate) fn as_text<S: serde::Serializer>(text: &Option<Redacted>, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&text.as_ref().map(Redacted::as_str), to)
}

words! {
    /// The source of a hook. Hooks of an earlier scope run first.
    Scope {
        /// The organization that manages the machine.
        Managed = "managed",
        /// The user.
        User = "user",
        /// The repository that is worked on.
        Project = "project",
        /// A plugin.
        Plugin = "plugin",
    }
}

impl Scope {
    /// Returns `true` for hooks of the organization and the user.
    pub(crate) const fn is_own(self) -> bool {
        matches!(self, Self::Managed | Self::User)
    }
}

words! {
    /// The step in which a hook runs. Steps run one after another, in this order.
    Step {
        /// Sees the call or the output, and does not change it.
        Observe = "observe",
        /// Decides about a gate event, with a command.
        Gate = "gate",
        /// Can replace the output of a tool.
        Transform = "transform",
        /// Asks a model, which sees redacted text only.
        Judge = "judge",
        /// Receives an event.
        Notice = "notice",
    }
}

words! {
    /// The form of tool output, arguments and data that a hook sees.
    View {
        /// Text as the tool left it.
        Raw = "raw",
        /// Text after the secret scan.
        Redacted = "redacted",
    }
}

words! {
    /// The consequence of a failed hook.
    OnFailure {
        /// The answer is deny. After a tool has run it is skip.
        Block = "block",
        /// The hook has no effect.
        Skip = "skip",
        /// The output of the tool is withheld.
        Withhold = "withhold",
    }
}

/// The implementation of a hook.
#[derive(Clone)]
pub(crate) enum Handler {
    Command(CommandForm),
    Prompt(String),
    Agent(String),
    Local(Arc<dyn LocalHook>),
    Judge(Arc<dyn JudgeHook>),
}

/// The form of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandForm {
    /// Text for a shell, and the name of the shell.
    Shell { shell: &'static str, text: String },
    /// An argument list.
    Arguments(Vec<String>),
    /// A file of the plugin with its arguments. It runs without a shell.
    PluginFile { path: String, arguments: Vec<String> },
}

/// The private directories of a plugin, as absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "both are needed to run a plugin's command")]
pub struct PluginDirectories {
    /// The read-only copy of the plugin's checked bytes: `CLAUDE_PLUGIN_ROOT`.
    pub root: String,
    /// A directory that the plugin can write: `CLAUDE_PLUGIN_DATA`.
    pub data: String,
}

/// One hook of a plan.
#[derive(Clone)]
pub struct Hook {
    pub(crate) id: String,
    pub(crate) event: Event,
    pub(crate) dialect: Dialect,
    pub(crate) scope: Scope,
    /// The position of its source among the sources of its scope, and the id of a plugin.
    pub(crate) source: (usize, String),
    pub(crate) position: usize,
    pub(crate) step: Step,
    pub(crate) matcher: Matcher,
    pub(crate) matcher_text: Option<String>,
    pub(crate) condition: Option<Condition>,
    pub(crate) handler: Handler,
    pub(crate) run: Vec<String>,
    pub(crate) timeout: Duration,
    /// As written. If `None`, the event's default applies.
    pub(crate) on_failure: Option<OnFailure>,
    pub(crate) priority: i32,
    pub(crate) env: Vec<String>,
    pub(crate) view: View,
    pub(crate) directories: Option<Arc<PluginDirectories>>,
}

impl Hook {
    /// Returns the id: the scope or plugin, `:`, and the name, or the event with a number.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the event.
    #[must_use]
    pub const fn event(&self) -> Event {
        self.event
    }

    /// Returns the scope that defined the hook.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the id of the plugin that defined the hook.
    #[must_use]
    pub fn plugin(&self) -> Option<&str> {
        (self.scope == Scope::Plugin).then_some(self.source.1.as_str())
    }

    /// Returns the step in which it runs.
    #[must_use]
    pub const fn step(&self) -> Step {
        self.step
    }

    /// Returns the form of text that the hook sees, unless a grant shows it more
    /// ([`RawGrants`](crate::RawGrants)).
    #[must_use]
    pub const fn view(&self) -> View {
        self.view
    }

    /// Returns the matcher as written.
    #[must_use]
    pub fn matcher(&self) -> Option<&str> {
        self.matcher_text.as_deref()
    }

    /// Returns the kind of implementation: `command`, `prompt`, `agent`, `local` or `judge`.
    #[must_use]
    pub const fn handler(&self) -> &'static str {
        match self.handler {
            Handler::Command(_) => "command",
            Handler::Prompt(_) => "prompt",
            Handler::Agent(_) => "agent",
            Handler::Local(_) => "local",
            Handler::Judge(_) => "judge",
        }
    }

    /// Returns the command for a report: its words, or its text as one item. Empty if it is not a command.
    #[must_use]
    pub fn run(&self) -> &[String] {
        &self.run
    }

    /// Returns the timeout.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the priority. Hooks with a lower one run first within a step.
    #[must_use]
    pub const fn priority(&self) -> i32 {
        self.priority
    }

    /// Returns the consequence of a failure.
    ///
    /// Gates block by default, except at events where a deny keeps the agent working.
    #[must_use]
    pub fn on_failure(&self) -> OnFailure {
        use crate::events::event::EventClass::Gate;
        let blocks = matches!(self.step, Step::Gate | Step::Judge)
            && self.event.class() == Gate
            && !self.event.prolongs();
        self.on_failure.unwrap_or(if blocks { OnFailure::Block } else { OnFailure::Skip })
    }

    /// Returns the sort key among the hooks of an event: step, priority, scope, source and position.
    pub(crate) fn order(&self) -> (Step, i32, Scope, &(usize, String), usize) {
        (self.step, self.priority, self.scope, &self.source, self.position)
    }

    /// Returns `true` if another hook of the same source runs the same command or prompt.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let same = match (&self.handler, &other.handler) {
            (Handler::Command(own), Handler::Command(other)) => own == other,
            (Handler::Prompt(own), Handler::Prompt(other)) | (Handler::Agent(own), Handler::Agent(other)) => {
                own == other
            }
            _ => false,
        };
        // A stricter definition of the same command must not be skipped in favor of an earlier, weaker one.
        let of = |hook: &Self| (hook.scope, hook.step, hook.timeout, hook.on_failure());
        same && of(self) == of(other) && self.source == other.source && self.env == other.env
    }
}

impl core::fmt::Debug for Hook {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Hook").field("id", &self.id).field("step", &self.step).finish_non_exhaustive()
    }
}
