//! What one gate said of one plugin.

use serde::Serialize;

use crate::report::Gate;

/// Why a plugin does not load, one of possibly several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Reason {
    /// The stable code, such as `pin/changed`.
    pub code: String,
    /// The gate that did not pass.
    pub gate: Gate,
    /// What was seen.
    pub message: String,
    /// What to type or do next.
    pub help: String,
    /// Whether this reason refuses, or asks.
    #[serde(skip)]
    pub weight: Weight,
}

impl Reason {
    pub(crate) fn new(
        code: impl Into<String>,
        gate: Gate,
        weight: Weight,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { code: code.into(), gate, message: message.into(), help: help.into(), weight }
    }
}

/// The effect of a reason on the decision, and on the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new class must stop every exit code from being guessed")]
pub enum Weight {
    /// A store or lock could not be read: refuse, exit 7.
    Store,
    /// Integrity: refuse, exit 4.
    Integrity,
    /// The scan gate: refuse, exit 6.
    Scan,
    /// Denied or revoked: refuse, exit 5.
    Denied,
    /// The plugin could not be checked: refuse, exit 1.
    CouldNotTell,
    /// A person has to decide: ask, exit 3.
    Undecided,
    /// It follows from another plugin's reason, which has the exit code.
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
            Self::CouldNotTell => 1,
            Self::Undecided => 3,
            Self::Follows => 0,
        }
    }
}

/// Something worth knowing that decides nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Notice {
    /// The stable code.
    pub code: String,
    /// The gate that said it.
    pub gate: Gate,
    /// What was seen.
    pub message: String,
}

impl Notice {
    pub(crate) fn new(code: impl Into<String>, gate: Gate, message: impl Into<String>) -> Self {
        Self { code: code.into(), gate, message: message.into() }
    }
}

/// What one gate said: everything against loading, and everything else worth knowing.
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
