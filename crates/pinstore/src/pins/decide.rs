//! The decision about a check, under each trust mode.

use plugward_types::{StoreErrorRule, TrustMode};

use crate::pins::check::{PinCheck, PinDifference};
use crate::pins::facts::PinOrigin;

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

impl StoreDecision {
    /// Decides about a plugin if the store could not be opened. `code` is the code of the error.
    pub const fn of_unusable(rule: StoreErrorRule, trust: TrustMode, code: &'static str) -> Self {
        match (rule, trust) {
            (StoreErrorRule::Warn, TrustMode::Tofu) => Self::LoadUnpinned(code),
            (StoreErrorRule::Warn, TrustMode::Prompt)
            | (StoreErrorRule::Ask, TrustMode::Tofu | TrustMode::Prompt) => Self::Ask(code),
            (StoreErrorRule::Warn | StoreErrorRule::Ask, TrustMode::Locked) | (StoreErrorRule::Refuse, _) => {
                Self::Refuse(code)
            }
        }
    }

    /// Decides about a plugin that could not be enrolled, after all questions. Plugins that match a pin are not affected.
    pub const fn of_unsaved(rule: StoreErrorRule, trust: TrustMode, code: &'static str) -> Self {
        match (rule, trust) {
            (StoreErrorRule::Warn, TrustMode::Tofu | TrustMode::Prompt) => Self::LoadUnpinned(code),
            (StoreErrorRule::Warn, TrustMode::Locked) | (StoreErrorRule::Ask | StoreErrorRule::Refuse, _) => {
                Self::Refuse(code)
            }
        }
    }
}
