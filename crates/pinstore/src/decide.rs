//! What a host makes of the answers, under each trust mode.

use crate::check::{Changed, PinCheck};
use crate::facts::Via;

/// How much is trusted without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new mode must stop every host from building")]
pub enum TrustMode {
    /// Trust on first use, loudly (ADR-003).
    Tofu,
    /// Ask a person.
    Prompt,
    /// Nothing is enrolled; missing or different means no.
    Locked,
}

/// What PLUGINS.lock said of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum LockSays {
    /// There is no lock, or it was not asked.
    Nothing,
    /// The tree is the lock's.
    Matched,
    /// The tree is the lock's, and a person accepted that lock file.
    Accepted,
}

/// What the pin gate answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum PinDecision {
    /// The gate is open.
    Load,
    /// The gate is open once the plugin is enrolled; said loudly (`pin/new`).
    Enroll(Via),
    /// A person decides; without a terminal nobody does.
    Ask,
    /// No, with the code.
    Refuse(&'static str),
}

/// Decides on a check.
///
/// # Guarantees
/// `Changed` and `Denied` are refused in every mode; `Locked` enrolls nothing.
///
/// # Source
/// ADR-003's decision table; pinstore page, 2.4 and 2.6.
pub fn decide(check: &PinCheck, trust: TrustMode, lock: LockSays) -> PinDecision {
    match check {
        PinCheck::Same { .. } => PinDecision::Load,
        PinCheck::Changed(changed) => PinDecision::Refuse(Changed::code(changed)),
        PinCheck::Denied { .. } => PinDecision::Refuse("policy/denied"),
        PinCheck::Unpinned | PinCheck::ManifestOnly { .. } => match (trust, lock) {
            (TrustMode::Locked, LockSays::Matched | LockSays::Accepted) => PinDecision::Load,
            (TrustMode::Locked, LockSays::Nothing) => PinDecision::Refuse("pin/new"),
            (TrustMode::Tofu | TrustMode::Prompt, LockSays::Accepted) => PinDecision::Enroll(Via::Lock),
            (TrustMode::Tofu, LockSays::Nothing | LockSays::Matched) => PinDecision::Enroll(Via::Tofu),
            (TrustMode::Prompt, LockSays::Nothing | LockSays::Matched) => PinDecision::Ask,
        },
    }
}

/// What becomes of plugins when the pins cannot be read or written: the setting `pins.on_store_error`.
///
/// It has no default and comes from no `bool`: a host must choose.
///
/// # Source
/// ADR-003: a failure of the pin store downgrades to loading without pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new rule must stop every host from building")]
pub enum StoreErrorRule {
    /// Plugins load without pins, loudly; the exit code is 7 all the same.
    Warn,
    /// Plugins are refused.
    Refuse,
}

/// Whether a person can see and answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is one or there is none")]
pub enum Terminal {
    /// There is one.
    Present,
    /// There is none.
    Absent,
}

/// What becomes of one plugin whose pin is not known, or could not be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum StoreDecision {
    /// The gate is open without a pin; said loudly, and recorded as an exception that was used.
    LoadUnpinned(&'static str),
    /// A person decides, and nothing is remembered.
    Ask(&'static str),
    /// No, with the code.
    Refuse(&'static str),
}

/// The exit code of a run in which the store failed, whatever became of the plugins.
pub const STORE_ERROR_EXIT: u8 = 7;

impl StoreErrorRule {
    /// Gives the command line's rule where the setting is absent.
    #[must_use]
    pub const fn for_command_line(trust: TrustMode, terminal: Terminal) -> Self {
        match (trust, terminal) {
            (TrustMode::Tofu | TrustMode::Prompt, Terminal::Present) => Self::Warn,
            (TrustMode::Locked, _) | (_, Terminal::Absent) => Self::Refuse,
        }
    }

    /// Decides on a plugin when the store could not be opened. `code` is the error's.
    pub const fn on_unusable(self, trust: TrustMode, code: &'static str) -> StoreDecision {
        match (self, trust) {
            (Self::Warn, TrustMode::Tofu) => StoreDecision::LoadUnpinned(code),
            (Self::Warn, TrustMode::Prompt) => StoreDecision::Ask(code),
            (Self::Warn, TrustMode::Locked) | (Self::Refuse, _) => StoreDecision::Refuse(code),
        }
    }

    /// Decides on a plugin that was to be enrolled, when the commit failed. Pins that were read are not asked about.
    pub const fn on_unsaved(self, trust: TrustMode, code: &'static str) -> StoreDecision {
        match (self, trust) {
            (Self::Warn, TrustMode::Tofu | TrustMode::Prompt) => StoreDecision::LoadUnpinned(code),
            (Self::Warn, TrustMode::Locked) | (Self::Refuse, _) => StoreDecision::Refuse(code),
        }
    }
}
