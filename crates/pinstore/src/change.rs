//! What is to be remembered, and what came of it.

use plugward_types::{Digest, PluginId, TreeDigest};

use crate::check::{PinCheck, check};
use crate::facts::{Facts, Via};
use crate::model::Model;
use crate::pin::{McpPin, Pin, PinState};
use crate::revoked::Revoked;
use crate::scope::Scope;
use crate::shown::{Shown, Unshown};
use crate::time::Timestamp;

/// One thing to be remembered.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "made by the host; a new change breaks nobody who makes one")]
pub enum Change {
    /// Makes the first pin, if there is none.
    Enroll {
        /// Whose.
        scope: Scope,
        /// Which plugin.
        id: PluginId,
        /// What was seen.
        facts: Facts,
        /// How it came to be.
        via: Via,
        /// Who, where the host knows.
        by: Option<String>,
    },
    /// Replaces a pin, if it still is what was shown.
    Accept {
        /// Whose.
        scope: Scope,
        /// Which plugin.
        id: PluginId,
        /// What is there, digested again.
        facts: Facts,
        /// What the person saw and named.
        shown: Shown,
        /// The tree that was pinned when the person looked.
        expected: Option<TreeDigest>,
        /// Who, where the host knows.
        by: Option<String>,
    },
    /// Drops a pin, and an old pin of the same name; a denial stays.
    Forget {
        /// Whose.
        scope: Scope,
        /// Which plugin.
        id: PluginId,
    },
    /// Drops every pin and every accepted lock; denials and revocations stay.
    ForgetAll,
    /// Denies a plugin, whatever its bytes. Its pin is kept for the day when it is allowed again.
    Deny {
        /// Whose.
        scope: Scope,
        /// Which plugin.
        id: PluginId,
        /// The tree that is there, where it was looked at: the same bytes are then denied under any other id too.
        seen: Option<TreeDigest>,
        /// Who, where the host knows.
        by: Option<String>,
    },
    /// Drops a denial; enrolls nothing.
    Allow {
        /// Whose.
        scope: Scope,
        /// Which plugin.
        id: PluginId,
    },
    /// Adds to the revocation list.
    Revoke(Revoked),
    /// Lets the plugins that a lock file names be enrolled without a question, until that file changes.
    AcceptLock {
        /// The folder that holds it, as a scope of its own.
        scope: Scope,
        /// SHA-256 of the lock file.
        lock: Digest,
    },
    /// Pins what an MCP server of a pinned plugin offers, if it still is what was shown.
    McpPin {
        /// Whose.
        scope: Scope,
        /// Which plugin.
        id: PluginId,
        /// Which server.
        server: String,
        /// What it offers.
        pin: McpPin,
        /// The set that was pinned when the person looked.
        expected: Option<Digest>,
    },
}

/// What came of one change. Each is decided by itself: one that is refused holds no other back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Outcome {
    /// It was made.
    Done,
    /// It was so already.
    Already,
    /// There is nothing of that name to change.
    Absent,
    /// The pins say something else: another process was first, or the plugin is denied.
    Conflict(PinCheck),
    /// The plugin is not what the person was shown.
    NotShown {
        /// What was shown.
        shown: TreeDigest,
        /// What is there.
        actual: TreeDigest,
    },
    /// Something that no tree has is not what the person was shown.
    NotShownBeside(Unshown),
    /// The pin is not what it was when the person looked.
    Raced {
        /// The tree that is pinned by this time.
        current: Option<TreeDigest>,
    },
    /// The MCP pin is not what it was when the person looked.
    McpRaced {
        /// The set that is pinned by this time.
        current: Option<Digest>,
    },
    /// The revocation gives nothing to match, or versions without a plugin.
    Malformed(crate::FormatError),
}

impl Outcome {
    /// Gives the stable code of an outcome that is not what was asked for.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::Already | Self::Conflict(PinCheck::Same { .. }) => None,
            Self::Absent | Self::Conflict(PinCheck::Unpinned | PinCheck::ManifestOnly { .. }) => {
                Some("pin/none")
            }
            Self::Conflict(PinCheck::Changed(changed)) => Some(changed.code()),
            Self::Conflict(PinCheck::Denied { .. }) => Some("policy/denied"),
            Self::NotShown { .. } | Self::NotShownBeside(_) => Some("pin/not-shown"),
            Self::Raced { .. } | Self::McpRaced { .. } => Some("pin/raced"),
            Self::Malformed(error) => Some(error.code()),
        }
    }
}

/// Makes one change, under the hold, on what the file says at that moment.
pub(crate) fn apply(model: &mut Model, change: Change, now: Timestamp) -> Outcome {
    match change {
        Change::Enroll { scope, id, facts, via, by } => enroll(model, scope, id, facts, fresh(via, now, by)),
        Change::Accept { scope, id, facts, shown, expected, by } => {
            if facts.tree != shown.tree {
                return Outcome::NotShown { shown: shown.tree, actual: facts.tree };
            }
            accept(model, scope, id, (facts, &shown), expected, fresh(Via::Accept, now, by))
        }
        Change::Forget { scope, id } => forget(model, &scope, &id),
        Change::ForgetAll => forget_all(model),
        Change::Deny { scope, id, seen, by } => {
            deny(model, scope, id, Pin { denied: seen, ..fresh(Via::Prompt, now, by) })
        }
        Change::Allow { scope, id } => allow(model, &scope, &id),
        Change::Revoke(entry) => match entry.check() {
            Err(error) => Outcome::Malformed(error),
            Ok(()) if model.revoked.contains(&entry) => Outcome::Already,
            Ok(()) => {
                model.revoked.push(entry);
                Outcome::Done
            }
        },
        Change::AcceptLock { scope, lock } => match model.locks.insert(scope, lock) {
            Some(old) if old == lock => Outcome::Already,
            _ => Outcome::Done,
        },
        Change::McpPin { scope, id, server, pin, expected } => {
            mcp_pin(model, &scope, &id, server, pin, expected)
        }
    }
}

fn fresh(via: Via, at: Timestamp, by: Option<String>) -> Pin {
    Pin {
        state: PinState::Trusted,
        facts: None,
        via,
        at,
        by,
        previous: None,
        denied: None,
        mcp: std::collections::BTreeMap::new(),
        line: 0,
    }
}

fn enroll(model: &mut Model, scope: Scope, id: PluginId, facts: Facts, pin: Pin) -> Outcome {
    match check(model, &scope, &id, &facts) {
        PinCheck::Same { .. } => Outcome::Already,
        conflict @ (PinCheck::Changed(_) | PinCheck::Denied { .. }) => Outcome::Conflict(conflict),
        PinCheck::Unpinned | PinCheck::ManifestOnly { .. } => {
            model.pins.entry(scope).or_default().insert(id, Pin { facts: Some(facts), ..pin });
            Outcome::Done
        }
    }
}

fn accept(
    model: &mut Model,
    scope: Scope,
    id: PluginId,
    (facts, shown): (Facts, &Shown),
    expected: Option<TreeDigest>,
    mut pin: Pin,
) -> Outcome {
    if let denied @ PinCheck::Denied { .. } = check(model, &scope, &id, &facts) {
        return Outcome::Conflict(denied);
    }
    if let Some(old) = model.pin(&scope, &id) {
        let current = old.facts.as_ref().map(|facts| facts.tree);
        if current != expected {
            return Outcome::Raced { current };
        }
        if old.facts.as_ref() == Some(&facts) {
            return Outcome::Already;
        }
        if let Some(unshown) = shown.against(&facts, old.facts.as_ref()) {
            return Outcome::NotShownBeside(unshown);
        }
        pin.previous = current;
        pin.mcp.clone_from(&old.mcp);
    } else if expected.is_some() {
        return Outcome::Raced { current: None };
    } else if let Some(unshown) = shown.against(&facts, None) {
        return Outcome::NotShownBeside(unshown);
    }
    // A person has looked: the old pin, which covered the manifest alone, has done its work.
    model.v1.remove(id.name());
    model.pins.entry(scope).or_default().insert(id, Pin { facts: Some(facts), ..pin });
    Outcome::Done
}

fn forget(model: &mut Model, scope: &Scope, id: &PluginId) -> Outcome {
    if let Some(Pin { state: PinState::Denied, at, line, .. }) = model.pin(scope, id) {
        return Outcome::Conflict(PinCheck::Denied { since: *at, line: *line });
    }
    let pin = model.pins.get_mut(scope).and_then(|shelf| shelf.remove(id)).is_some();
    let name = model.v1.remove(id.name()).is_some();
    if pin || name { Outcome::Done } else { Outcome::Absent }
}

fn forget_all(model: &mut Model) -> Outcome {
    let before = model.clone();
    for shelf in model.pins.values_mut() {
        shelf.retain(|_, pin| pin.state == PinState::Denied);
        for pin in shelf.values_mut() {
            // What is left is the denial alone: allowed again, the plugin is as one never seen.
            pin.denied = pin.denied.or(pin.facts.as_ref().map(|facts| facts.tree));
            (pin.facts, pin.previous) = (None, None);
            pin.mcp.clear();
        }
    }
    model.v1.clear();
    model.locks.clear();
    if *model == before { Outcome::Already } else { Outcome::Done }
}

fn deny(model: &mut Model, scope: Scope, id: PluginId, pin: Pin) -> Outcome {
    let old = model.pin(&scope, &id);
    if old.is_some_and(|old| old.state == PinState::Denied) {
        return Outcome::Already;
    }
    let denied = match old {
        Some(old) => {
            Pin { state: PinState::Denied, at: pin.at, by: pin.by, denied: pin.denied, ..old.clone() }
        }
        None => Pin { state: PinState::Denied, ..pin },
    };
    model.pins.entry(scope).or_default().insert(id, denied);
    Outcome::Done
}

fn allow(model: &mut Model, scope: &Scope, id: &PluginId) -> Outcome {
    let Some(shelf) = model.pins.get_mut(scope) else { return Outcome::Absent };
    match shelf.get_mut(id) {
        None => Outcome::Absent,
        Some(pin) if pin.state == PinState::Trusted => Outcome::Already,
        // The pin from before the denial holds again, so that bytes which changed meanwhile are still refused.
        Some(pin) if pin.facts.is_some() => {
            (pin.state, pin.denied) = (PinState::Trusted, None);
            Outcome::Done
        }
        Some(_) => {
            shelf.remove(id);
            Outcome::Done
        }
    }
}

fn mcp_pin(
    model: &mut Model,
    scope: &Scope,
    id: &PluginId,
    server: String,
    pin: McpPin,
    expected: Option<Digest>,
) -> Outcome {
    let found = model.pins.get_mut(scope).and_then(|shelf| shelf.get_mut(id));
    let Some(owner) = found else { return Outcome::Absent };
    let old = owner.mcp.get(&server);
    let current = old.map(|old| old.set);
    if old == Some(&pin) {
        return Outcome::Already;
    }
    if current != expected {
        return Outcome::McpRaced { current };
    }
    owner.mcp.insert(server, pin);
    Outcome::Done
}
