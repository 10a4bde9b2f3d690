//! The decision on a check, under each trust mode.

use crate::check::{Changed, PinCheck};
use crate::facts::Via;

/// How much is trusted without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new mode")]
pub enum TrustMode {
    /// Trust on first use, with a notice.
    Tofu,
    /// Ask the user.
    Prompt,
    /// Enroll nothing; a missing or different pin is refused.
    Locked,
}

/// What PLUGINS.lock states about the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum LockSays {
    /// There is no lockfile, or it was not read.
    Nothing,
    /// The tree is the one in the lockfile.
    Matched,
    /// The tree is the one in the lockfile, and the user accepted that lockfile.
    Accepted,
}

/// Whether the pin of another key agrees to the same tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum SameElsewhere {
    /// None does.
    None,
    /// One does, and nobody was asked about it.
    Tofu,
    /// One does, because the user or an accepted lockfile agreed.
    Agreed,
}

/// The decision of the pin gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum PinDecision {
    /// The plugin passes.
    Load,
    /// The plugin passes, and its pin moves to the new key. [`TrustMode::Locked`] does not write the move.
    Carry,
    /// The plugin passes once it is enrolled, with the notice `pin/new`.
    Enroll(Via),
    /// The user decides.
    Ask,
    /// The plugin is refused with this code.
    Refuse(&'static str),
}

/// Decides on a check.
///
/// # Guarantees
/// `Changed` and `Denied` are refused in every mode. `Locked` enrolls nothing.
pub fn decide(check: &PinCheck, trust: TrustMode, lock: LockSays, elsewhere: SameElsewhere) -> PinDecision {
    match check {
        PinCheck::Same { .. } => PinDecision::Load,
        PinCheck::Moved { .. } | PinCheck::Migrated { .. } => PinDecision::Carry,
        PinCheck::Changed(changed) => PinDecision::Refuse(Changed::code(changed)),
        PinCheck::Denied { .. } => PinDecision::Refuse("policy/denied"),
        PinCheck::Unpinned | PinCheck::ManifestOnly => match (trust, lock, elsewhere) {
            (TrustMode::Locked, LockSays::Matched | LockSays::Accepted, _) => PinDecision::Load,
            (TrustMode::Locked, LockSays::Nothing, _) => PinDecision::Refuse("pin/new"),
            (TrustMode::Tofu | TrustMode::Prompt, LockSays::Accepted, _) => PinDecision::Enroll(Via::Lock),
            (TrustMode::Tofu | TrustMode::Prompt, _, SameElsewhere::Agreed) => PinDecision::Enroll(Via::Same),
            (TrustMode::Tofu, _, SameElsewhere::None | SameElsewhere::Tofu) => PinDecision::Enroll(Via::Tofu),
            (TrustMode::Prompt, _, SameElsewhere::None | SameElsewhere::Tofu) => PinDecision::Ask,
        },
    }
}

/// The treatment of plugins when the pins cannot be read or written: the setting `pins.on_store_error`.
///
/// It has no default, because a host must choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new rule")]
pub enum StoreErrorRule {
    /// Plugins load without pins, with a warning. The exit code is 7 nevertheless.
    Warn,
    /// Plugins are refused.
    Refuse,
}

/// Whether a user can see and answer questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a terminal is present or absent")]
pub enum Terminal {
    /// A terminal is present.
    Present,
    /// No terminal is present.
    Absent,
}

/// The decision on a plugin whose pin is unknown or could not be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum StoreDecision {
    /// The plugin passes without a pin. The host warns and records a used exception.
    LoadUnpinned(&'static str),
    /// The user decides, and nothing is stored.
    Ask(&'static str),
    /// The plugin is refused with this code.
    Refuse(&'static str),
}

/// The exit code of a run in which the store failed, whether or not plugins loaded.
pub const STORE_ERROR_EXIT: u8 = 7;

impl StoreErrorRule {
    /// Returns the command line's default for the setting.
    #[must_use]
    pub const fn for_command_line(trust: TrustMode, terminal: Terminal) -> Self {
        match (trust, terminal) {
            (TrustMode::Tofu | TrustMode::Prompt, Terminal::Present) => Self::Warn,
            (TrustMode::Locked, _) | (_, Terminal::Absent) => Self::Refuse,
        }
    }

    /// Decides on a plugin when the store could not be opened. `code` is the code of the error.
    pub const fn on_unusable(self, trust: TrustMode, code: &'static str) -> StoreDecision {
        match (self, trust) {
            (Self::Warn, TrustMode::Tofu) => StoreDecision::LoadUnpinned(code),
            (Self::Warn, TrustMode::Prompt) => StoreDecision::Ask(code),
            (Self::Warn, TrustMode::Locked) | (Self::Refuse, _) => StoreDecision::Refuse(code),
        }
    }

    /// Decides on a plugin whose enrollment failed. Plugins that match a pin are not affected.
    pub const fn on_unsaved(self, trust: TrustMode, code: &'static str) -> StoreDecision {
        match (self, trust) {
            (Self::Warn, TrustMode::Tofu | TrustMode::Prompt) => StoreDecision::LoadUnpinned(code),
            (Self::Warn, TrustMode::Locked) | (Self::Refuse, _) => StoreDecision::Refuse(code),
        }
    }
}
