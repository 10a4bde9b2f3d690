//! Reasons, notices, and the outcome of one gate.

use plugward_pinstore::ReviewedDigests;
use plugward_types::{PluginKey, Span};
use serde::Serialize;

use crate::report::Gate;

/// A reason that a plugin does not load. A plugin can have several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Reason {
    /// The stable code, such as `pin/changed`.
    pub code: String,
    /// The gate that did not pass.
    pub gate: Gate,
    /// What was found.
    pub message: String,
    /// What to do next, in general words. A host can map the code to its own commands.
    pub help: String,
    /// The effect on the decision and on the exit code.
    #[serde(skip)]
    pub weight: Weight,
    /// The digests to confirm when accepting the plugin, if that resolves the reason.
    #[serde(skip)]
    pub accept: Option<ReviewedDigests>,
    /// What a command has to name instead of the plugin itself: a denial can be of another key.
    #[serde(skip)]
    pub selector: Option<String>,
    /// The key of the setting that decided, if one did.
    #[serde(skip)]
    pub setting: Option<String>,
    /// The place in a file of the plugin, if the reason has one.
    #[serde(skip)]
    pub place: Option<ReasonPlace>,
}

/// The place of a reason in a file of the plugin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ReasonPlace {
    /// The file, relative to the plugin.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The bytes of the file.
    pub span: Span,
}

impl Reason {
    pub(crate) fn new(
        code: impl Into<String>,
        gate: Gate,
        weight: Weight,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            gate,
            message: message.into(),
            help: help.into(),
            weight,
            accept: None,
            selector: None,
            setting: None,
            place: None,
        }
    }
}

/// The effect of a reason on the decision, and on the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every host must give a new class an exit code")]
pub enum Weight {
    /// A store or lockfile cannot be read: refuse, exit code 7.
    Store,
    /// An integrity check failed: refuse, exit code 4.
    Integrity,
    /// The scan found danger: refuse, exit code 6.
    Scan,
    /// The plugin is denied or revoked: refuse, exit code 5.
    Denied,
    /// A settings file around the plugin is broken: refuse, exit code 2.
    Settings,
    /// The plugin could not be checked: refuse, exit code 1.
    CouldNotTell,
    /// A person must decide: ask, exit code 3.
    Undecided,
    /// The reason follows from another plugin's reason, which determines the exit code.
    Follows,
}

impl Weight {
    /// Returns the exit code.
    #[must_use]
    pub const fn exit(self) -> u8 {
        match self {
            Self::Store => 7,
            Self::Integrity => 4,
            Self::Scan => 6,
            Self::Denied => 5,
            Self::Settings => 2,
            Self::CouldNotTell => 1,
            Self::Undecided => 3,
            Self::Follows => 0,
        }
    }
}

/// An observation that does not affect the decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Notice {
    /// The stable code.
    pub code: String,
    /// The gate that made the observation.
    pub gate: Gate,
    /// What was found.
    pub message: String,
    /// The key of the pinned plugin, in a notice about a plugin that the report does not contain.
    #[serde(skip)]
    pub plugin: Option<PluginKey>,
}

impl Notice {
    pub(crate) fn new(code: impl Into<String>, gate: Gate, message: impl Into<String>) -> Self {
        Self { code: code.into(), gate, message: message.into(), plugin: None }
    }
}

/// The result of one gate: its reasons and notices.
#[derive(Debug, Clone)]
pub(crate) struct GateOutcome {
    gate: Gate,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) notices: Vec<Notice>,
}

impl GateOutcome {
    pub(crate) const fn passed(gate: Gate) -> Self {
        Self { gate, reasons: Vec::new(), notices: Vec::new() }
    }

    pub(crate) fn add(
        &mut self,
        code: impl Into<String>,
        weight: Weight,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.reasons.push(Reason::new(code, self.gate, weight, message, help));
    }

    pub(crate) fn note(&mut self, code: impl Into<String>, message: impl Into<String>) {
        self.notices.push(Notice::new(code, self.gate, message));
    }
}
