//! The results of hooks.

use plugward_redact::{Output, Redacted};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::definitions::hook::{Step, View, words};
use crate::events::event::Event;

words! {
    /// An answer about an event, from weakest to strictest.
    Answer {
        /// No opinion.
        Skip = "skip",
        /// It can happen.
        Allow = "allow",
        /// The user must be asked.
        Ask = "ask",
        /// The decision is left to later.
        Defer = "defer",
        /// The decision is postponed.
        Deny = "deny",
    }
}

/// The result of one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new result")]
pub enum StepResult {
    /// It answered.
    Answered(Answer),
    /// It replaced the output or the arguments.
    Transformed,
    /// It failed, which does not count as an answer.
    Failed,
}

impl StepResult {
    /// Returns the name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered(answer) => answer.as_str(),
            Self::Transformed => "transform",
            Self::Failed => "failure",
        }
    }
}

impl Serialize for StepResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The report of one hook.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct StepReport {
    /// The id of the hook.
    pub hook: String,
    /// The step in which it ran.
    pub step: Step,
    /// The form of text that it saw.
    pub saw: View,
    /// The result.
    pub result: StepResult,
    /// The code of a failure or of a note.
    pub code: Option<&'static str>,
    /// What happened, or the reason from the hook.
    #[serde(serialize_with = "crate::definitions::hook::as_text")]
    pub message: Option<Redacted>,
}

/// A secret that a hook printed in another encoding. It was removed from the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Laundered {
    /// The first hook that printed it.
    pub hook: String,
    /// The kinds of the secrets; `known` for a value that no rule matches.
    pub kinds: Vec<String>,
}

/// The report on the hooks of one event. Every text in it is redacted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookReport {
    /// The event.
    pub event: Event,
    /// The strictest answer.
    pub answer: Answer,
    /// The reasons of answers other than allow, in the order of the hooks.
    pub reasons: Vec<Redacted>,
    /// Context for the model.
    pub context: Vec<Redacted>,
    /// Messages for the user.
    pub messages: Vec<Redacted>,
    /// Whether the turn must stop.
    pub stop_turn: bool,
    /// Secrets that hooks printed in another encoding.
    pub laundered: Vec<Laundered>,
    /// The reports of the hooks, in the order in which they ran.
    pub steps: Vec<StepReport>,
}

impl HookReport {
    pub(crate) const fn new(event: Event) -> Self {
        Self {
            event,
            answer: Answer::Skip,
            reasons: Vec::new(),
            context: Vec::new(),
            messages: Vec::new(),
            stop_turn: false,
            laundered: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Makes the answer stricter, never weaker.
    pub(crate) fn tighten(&mut self, answer: Answer) {
        self.answer = self.answer.max(answer);
    }
}

/// The result of a gate event.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct GateReport {
    /// The report on the hooks. [`HookReport::answer`] includes the host's rule about the final arguments.
    pub hooks: HookReport,
    /// The final arguments of a tool, or the data of the event.
    pub proposed: ProposedArgs,
    /// A value that a hook returned besides its answer: the path of a new worktree, or the content of an
    /// elicitation.
    pub reply: Option<Redacted<Value>>,
}

/// Arguments that hooks can have rewritten. Tools do not accept this type.
#[must_use]
pub struct ProposedArgs {
    pub(crate) value: Value,
    pub(crate) redacted: Redacted<Value>,
    pub(crate) answer: Answer,
}

impl core::fmt::Debug for ProposedArgs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ProposedArgs").field("answer", &self.answer).finish_non_exhaustive()
    }
}

/// Whether the user agreed to a call after the answer `ask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a user agreed or did not")]
pub enum Consent {
    /// The user was not asked, or did not agree.
    NotGiven,
    /// The user saw these arguments and agreed.
    Given,
}

impl ProposedArgs {
    /// Returns the arguments with secrets removed, for a log or a question to the user.
    #[must_use]
    pub const fn redacted(&self) -> &Redacted<Value> {
        &self.redacted
    }

    /// Returns the arguments for the tool, if hooks and the host's rule allow them.
    ///
    /// # Errors
    /// Returns the arguments if the answer is deny or defer, or if it is ask and the user did not agree.
    pub fn permit(self, consent: Consent) -> Result<PermittedArgs, Self> {
        match (self.answer, consent) {
            (Answer::Skip | Answer::Allow, _) | (Answer::Ask, Consent::Given) => {
                Ok(PermittedArgs(self.value))
            }
            (Answer::Ask | Answer::Defer | Answer::Deny, _) => Err(self),
        }
    }
}

/// Arguments that the hooks, the host's rule and, if necessary, the user agreed to.
#[must_use]
pub struct PermittedArgs(Value);

impl PermittedArgs {
    /// Returns the arguments, to start the tool with them.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0
    }
}

impl core::fmt::Debug for PermittedArgs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("PermittedArgs(..)")
    }
}

/// The result of `post_tool_use`.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct PostToolReport {
    /// The report on the hooks.
    pub hooks: HookReport,
    /// The output after the transform and firewall steps, which is the only form that the host gets.
    pub output: Redacted<Output>,
}
