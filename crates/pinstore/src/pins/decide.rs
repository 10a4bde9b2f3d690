//! The decision about a check, under each trust mode.

use crate::pins::check::{PinCheck, PinDifference};
use crate::pins::facts::PinOrigin;

/// Whether new plugins are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new mode")]
pub enum TrustMode {
    /// Trust on first use, with a notice.
    Tofu,
    /// Ask the user.
    Prompt,
    /// Nothing is enrolled, and a missing or different pin is refused.
    Locked,
}

/// The result of comparing the plugin with PLUGINS.lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum LockMatch {
    /// There is no lockfile, or it was not read.
    Nothing,
    /// The lockfile lists this tree.
    Matched,
    /// The lockfile lists this tree, and the user accepted that lockfile.
    Accepted,
}

/// Whether the pin of another key has the same contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum SameContentsPin {
    /// No pin has them.
    None,
    /// A pin has them that was made on first use.
    Tofu,
    /// A pin has them that the user or an accepted lockfile agreed to.
    Agreed,
}

/// The decision of the pin gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum PinDecision {
    /// The plugin passes.
    Load,
    /// The plugin passes, and its pin moves to the new key or is written in the current format. [`TrustMode::Locked`]
    /// writes neither.
    Carry,
    /// The plugin passes once it is enrolled, with the notice `pin/new`.
    Enroll(PinOrigin),
    /// The user decides.
    Ask,
    /// The plugin is refused with this code.
    Refuse(&'static str),
}

/// Decides about a check.
///
/// # Guarantees
/// `Changed`, `RolledBack` and `Denied` are refused in every mode. `Locked` enrolls nothing.
pub fn decide(
    check: &PinCheck,
    trust: TrustMode,
    lock: LockMatch,
    elsewhere: SameContentsPin,
) -> PinDecision {
    match check {
        PinCheck::Same { .. } => PinDecision::Load,
        // What the old pin did not cover is new.
        PinCheck::Migrated { added, .. }
            if !added.is_empty() && trust == TrustMode::Prompt && lock != LockMatch::Accepted =>
        {
            PinDecision::Ask
        }
        PinCheck::Moved { .. } | PinCheck::Migrated { .. } => PinDecision::Carry,
        PinCheck::Changed(changed) => PinDecision::Refuse(PinDifference::code(changed)),
        PinCheck::RolledBack { .. } => PinDecision::Refuse("pin/rolled-back"),
        PinCheck::Denied { .. } => PinDecision::Refuse("policy/denied"),
        PinCheck::Unpinned | PinCheck::ManifestOnly => match (trust, lock, elsewhere) {
            (TrustMode::Locked, LockMatch::Matched | LockMatch::Accepted, _) => PinDecision::Load,
            (TrustMode::Locked, LockMatch::Nothing, _) => PinDecision::Refuse("pin/new"),
            (TrustMode::Tofu | TrustMode::Prompt, LockMatch::Accepted, _) => {
                PinDecision::Enroll(PinOrigin::Lock)
            }
            (TrustMode::Tofu | TrustMode::Prompt, _, SameContentsPin::Agreed) => {
                PinDecision::Enroll(PinOrigin::Same)
            }
            (TrustMode::Tofu, _, SameContentsPin::None | SameContentsPin::Tofu) => {
                PinDecision::Enroll(PinOrigin::Tofu)
            }
            (TrustMode::Prompt, _, SameContentsPin::None | SameContentsPin::Tofu) => PinDecision::Ask,
        },
    }
}

/// The decision about plugins if the pins cannot be read or written: the setting `pins.on_store_error`.
///
/// There is no default: every host must choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new rule")]
pub enum StoreErrorRule {
    /// Plugins load without pins, with a warning. The exit code is still 7.
    Warn,
    /// The user is asked once whether plugins load without pins this time.
    Ask,
    /// Plugins are refused.
    Refuse,
}

/// The decision about a plugin whose pin is unknown or could not be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum StoreDecision {
    /// The plugin passes without a pin. The host warns, and records the use of the exception.
    LoadUnpinned(&'static str),
    /// The user decides, and nothing is stored.
    Ask(&'static str),
    /// The plugin is refused with this code.
    Refuse(&'static str),
}

/// The exit code of a run with a failed store, even if plugins loaded.
pub const STORE_ERROR_EXIT: u8 = 7;

impl StoreErrorRule {
    /// Decides about a plugin if the store could not be opened. `code` is the code of the error.
    pub const fn on_unusable(self, trust: TrustMode, code: &'static str) -> StoreDecision {
        match (self, trust) {
            (Self::Warn, TrustMode::Tofu) => StoreDecision::LoadUnpinned(code),
            (Self::Warn, TrustMode::Prompt) | (Self::Ask, TrustMode::Tofu | TrustMode::Prompt) => {
                StoreDecision::Ask(code)
            }
            (Self::Warn | Self::Ask, TrustMode::Locked) | (Self::Refuse, _) => StoreDecision::Refuse(code),
        }
    }

    /// Decides about a plugin that could not be enrolled, after all questions. Plugins that match a pin are not affected.
    pub const fn on_unsaved(self, trust: TrustMode, code: &'static str) -> StoreDecision {
        match (self, trust) {
            (Self::Warn, TrustMode::Tofu | TrustMode::Prompt) => StoreDecision::LoadUnpinned(code),
            (Self::Warn, TrustMode::Locked) | (Self::Ask | Self::Refuse, _) => StoreDecision::Refuse(code),
        }
    }
}
