//! Changes to the pins, and their outcomes.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{CalledName, Digest, PluginKey, TreeDigest};

use crate::format::model::Model;
use crate::pins::check::{DenialSource, PinCheck, check, check_without_own, differing, position};
use crate::pins::facts::{DirectoryId, Facts, ObservedPlugin, PinOrigin, ReadScope};
use crate::pins::pin::{AgreedState, Denial, McpOwner, McpPin, Pin, PinState, most_agreed, most_states};
use crate::pins::reviewed::{DigestMismatch, ReviewedDigests};
use crate::revocations::entry::Revocation;
use plugward_types::Timestamp;

/// The most pins of an MCP server. It has one for each client and command.
const MAX_OFFERS: usize = 16;
const DAY: u64 = 24 * 60 * 60;

/// One change to the pins.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_enums,
    reason = "created by the host; a new change does not affect existing ones"
)]
pub enum Change {
    /// Creates the first pin, carries a pin over from the predecessor, or adds what version 3 of the file did not cover.
    ///
    /// Several states of one installed plugin can be enrolled in one commit. After that commit, another state of it is
    /// a conflict.
    Enroll {
        /// The plugin.
        observed: ObservedPlugin,
        /// The origin of the pin. A carried-over pin keeps its own, unless the user was asked.
        via: PinOrigin,
        /// The user, if the host knows.
        by: Option<String>,
    },
    /// Updates the directory and the names in a pin, if the plugin matches it.
    Refresh {
        /// The plugin.
        observed: ObservedPlugin,
    },
    /// Replaces the pin, if the plugin and its pin still are the ones that the user reviewed. The states that it had before
    /// are not agreed to any more.
    Accept {
        /// The plugin, digested again.
        observed: ObservedPlugin,
        /// The digests that the user reviewed and named.
        shown: ReviewedDigests,
        /// The latest agreed tree at the time of the review.
        expected: Option<TreeDigest>,
        /// The trees of other directories that records name for an installed plugin. Their states stay agreed.
        recorded: BTreeSet<TreeDigest>,
        /// The user, if the host knows.
        by: Option<String>,
    },
    /// Deletes a pin, and version 1 pins of its names. A denial is not deleted.
    Forget {
        /// The plugin.
        key: PluginKey,
    },
    /// Deletes all pins and accepted lockfiles. Denials and revocations are not deleted.
    ForgetAll,
    /// Denies a plugin, regardless of its contents. Its pin counts again if the plugin is allowed later.
    Deny {
        /// The plugin.
        key: PluginKey,
        /// The identity of its directory, if known.
        directory: Option<DirectoryId>,
        /// The names in its manifests.
        called: BTreeSet<CalledName>,
        /// The tree on disk, if it was read. Equal trees are then denied under every key.
        seen: Option<TreeDigest>,
        /// The user, if the host knows.
        by: Option<String>,
    },
    /// Deletes a denial. Nothing is enrolled.
    Allow {
        /// The plugin.
        key: PluginKey,
    },
    /// Adds an entry to the user's revocation list.
    Revoke(Revocation),
    /// Deletes the entries of the user's revocation list that name exactly this id or digest.
    Unrevoke {
        /// The id or digest, as the entry has it.
        what: String,
    },
    /// Enrolls the plugins of a lockfile without a question, as long as the lockfile has these contents.
    AcceptLock {
        /// The SHA-256 of the lockfile.
        lock: Digest,
    },
    /// Pins the offer of an MCP server, if its pins still are the reviewed ones. A server has up to 16 pins; a further one
    /// replaces the least recently used.
    McpPin {
        /// The owner of the server.
        owner: McpOwner,
        /// The server.
        server: String,
        /// The offered tools, prompts and resources.
        pin: McpPin,
        /// The pinned sets of the server at the time of the review.
        expected: BTreeSet<Digest>,
    },
    /// Deletes the pins of an MCP server.
    McpForget {
        /// The owner of the server.
        owner: McpOwner,
        /// The server.
        server: String,
    },
}

/// The outcome of one change. A change that cannot be made does not affect the others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum ChangeOutcome {
    /// The change was made.
    Done,
    /// There was nothing to change.
    Already,
    /// There is no pin to change.
    Absent,
    /// The pins disagree: another process was first, or the plugin is denied.
    Conflict(PinCheck),
    /// The plugin differs from the reviewed one.
    NotShown {
        /// The reviewed tree.
        shown: TreeDigest,
        /// The tree on disk.
        actual: TreeDigest,
    },
    /// A digest outside the tree differs from the reviewed one.
    NotShownBeside(DigestMismatch),
    /// The pin differs from the reviewed one.
    Raced {
        /// The latest agreed tree.
        current: Option<TreeDigest>,
    },
    /// The pins of an MCP server differ from the reviewed ones.
    McpRaced {
        /// The pinned sets.
        current: BTreeSet<Digest>,
    },
    /// The revocation is invalid: it has no condition, an invalid id, or versions without an id.
    Malformed(crate::FormatError),
}

impl ChangeOutcome {
    /// Returns the stable code of an outcome that differs from the requested one.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::Already => None,
            Self::Absent | Self::Conflict(PinCheck::Unpinned | PinCheck::ManifestOnly) => Some("pin/none"),
            Self::Conflict(check) => match check {
                PinCheck::Changed(_) | PinCheck::RolledBack { .. } | PinCheck::Denied { .. } => check.code(),
                _ => None,
            },
            Self::NotShown { .. } | Self::NotShownBeside(_) => Some("pin/not-shown"),
            Self::Raced { .. } | Self::McpRaced { .. } => Some("pin/raced"),
            Self::Malformed(error) => Some(error.code()),
        }
    }
}

/// Makes the changes of one commit, under the file lock, on the current contents of the file.
pub(crate) fn apply(model: &mut Model, changes: Vec<Change>, now: Timestamp) -> Vec<ChangeOutcome> {
    // The file stores whole seconds. A fraction would make the model in memory differ from the one that is read back.
    let now = now.truncated_to_second();
    let mut batch = Batch { model, now, created: BTreeSet::new(), refreshed: BTreeSet::new() };
    changes.into_iter().map(|change| batch.apply(change)).collect()
}

/// One commit while its changes are made.
struct Batch<'m> {
    model: &'m mut Model,
    now: Timestamp,
    /// The keys whose pins this commit created. A first check enrolls every recorded directory of such a
    /// key.
    created: BTreeSet<PluginKey>,
    /// The keys whose names this commit replaced. The names of two directories of one key are merged.
    refreshed: BTreeSet<PluginKey>,
}

impl Batch<'_> {
    fn apply(&mut self, change: Change) -> ChangeOutcome {
        match change {
            Change::Enroll { observed, via, by } => self.enroll(observed, via, by),
            Change::Refresh { observed } => self.refresh(observed),
            Change::Accept { observed, shown, expected, recorded, by } => {
                self.accept(observed, &shown, expected, &recorded, by)
            }
            Change::Forget { key } => self.forget(&key),
            Change::ForgetAll => self.forget_all(),
            Change::Deny { key, directory, called, seen, by } => {
                let denial = Denial { at: self.now, by, tree: seen };
                self.deny(key, directory, called, denial)
            }
            Change::Allow { key } => self.allow(&key),
            Change::Unrevoke { what } => {
                let before = self.model.revoked.len();
                self.model.revoked.retain(|entry| !entry.names(&what));
                if self.model.revoked.len() < before { ChangeOutcome::Done } else { ChangeOutcome::Absent }
            }
            Change::Revoke(mut entry) => {
                entry.since = entry.since.map(Timestamp::truncated_to_second);
                match entry.check() {
                    Err(error) => ChangeOutcome::Malformed(error),
                    Ok(()) if self.model.revoked.contains(&entry) => ChangeOutcome::Already,
                    Ok(()) => {
                        // A user who revokes again states the reason that applies from now on.
                        self.model.revoked.retain(|old| !old.has_conditions_of(&entry));
                        self.model.revoked.push(entry);
                        ChangeOutcome::Done
                    }
                }
            }
            Change::AcceptLock { lock } if self.model.locks.contains_key(&lock) => ChangeOutcome::Already,
            Change::AcceptLock { lock } => {
                self.model.locks.insert(lock, self.now);
                ChangeOutcome::Done
            }
            Change::McpPin { owner, server, pin, expected } => self.mcp_pin(&owner, &server, pin, &expected),
            Change::McpForget { owner, server } => {
                let Some(pins) = self.mcp_of(&owner) else { return ChangeOutcome::Absent };
                let before = pins.len();
                pins.retain(|name, pin| !pin.is_of(name, &server));
                if pins.len() < before { ChangeOutcome::Done } else { ChangeOutcome::Absent }
            }
        }
    }

    fn enroll(&mut self, observed: ObservedPlugin, via: PinOrigin, by: Option<String>) -> ChangeOutcome {
        let agreed = AgreedState {
            facts: observed.facts.clone(),
            version: observed.version.clone(),
            reads: ReadScope::Execution,
            behaviors: observed.behaviors.clone(),
            via,
            at: self.now,
            by,
            superseded: None,
        };
        match check(self.model, &observed) {
            PinCheck::Same { .. } => ChangeOutcome::Already,
            PinCheck::Moved { from } => {
                let Some(mut pin) = self.model.pins.remove(&from) else { return ChangeOutcome::Absent };
                if most_agreed(&observed.key) == 1 {
                    let index = position(&pin, &observed);
                    let all = pin.agreed.into_iter().enumerate();
                    let kept = all.filter(|(at, state)| Some(*at) == index || state.superseded.is_some());
                    pin.agreed = kept.map(|(_, state)| state).collect();
                }
                (pin.directory, pin.called) = (directory_of(&observed), observed.called);
                self.model.pins.insert(observed.key, pin);
                ChangeOutcome::Done
            }
            PinCheck::Migrated { .. } => self.read_again(&observed, agreed),
            PinCheck::Unpinned | PinCheck::ManifestOnly => {
                let pin = fresh(&observed, vec![agreed]);
                self.forget_names(&observed.called);
                self.created.insert(observed.key.clone());
                self.model.pins.insert(observed.key, pin);
                ChangeOutcome::Done
            }
            changed @ PinCheck::Changed(_) => {
                self.enroll_further(observed, agreed).unwrap_or(ChangeOutcome::Conflict(changed))
            }
            refused @ (PinCheck::RolledBack { .. } | PinCheck::Denied { .. }) => {
                ChangeOutcome::Conflict(refused)
            }
        }
    }

    /// Adds a further state to a pin that this commit created, if the state alone could have been enrolled.
    fn enroll_further(&mut self, observed: ObservedPlugin, agreed: AgreedState) -> Option<ChangeOutcome> {
        let own = check_without_own(self.model, &observed);
        let is_new = matches!(own, PinCheck::Unpinned | PinCheck::ManifestOnly);
        if !is_new || !self.created.contains(&observed.key) {
            return None;
        }
        let pin = self.model.pins.get_mut(&observed.key)?;
        // A state that is dropped for lack of room would be refused by the next check.
        if pin.agreed.len() >= most_agreed(&observed.key) {
            return None;
        }
        pin.agreed.push(agreed);
        pin.called.extend(observed.called);
        Some(ChangeOutcome::Done)
    }

    /// Adds to a state what version 3 of the file did not cover. The state keeps its origin unless the user was asked.
    fn read_again(&mut self, observed: &ObservedPlugin, new: AgreedState) -> ChangeOutcome {
        let Some(pin) = self.model.pins.get_mut(&observed.key) else { return ChangeOutcome::Absent };
        let index = position(pin, observed);
        let Some(state) = index.and_then(|index| pin.agreed.get_mut(index)) else {
            return ChangeOutcome::Absent;
        };
        let old = state.clone();
        *state = match new.via {
            PinOrigin::Prompt => new,
            _ => AgreedState { via: old.via, at: old.at, by: old.by, superseded: old.superseded, ..new },
        };
        pin.directory = directory_of(observed).or(pin.directory);
        pin.called.extend(observed.called.iter().cloned());
        ChangeOutcome::Done
    }

    fn refresh(&mut self, observed: ObservedPlugin) -> ChangeOutcome {
        if !matches!(check(self.model, &observed), PinCheck::Same { .. }) {
            return ChangeOutcome::Already;
        }
        let is_first = self.refreshed.insert(observed.key.clone());
        let Some(pin) = self.model.pins.get_mut(&observed.key) else { return ChangeOutcome::Already };
        let before = pin.clone();
        pin.directory = directory_of(&observed).or(pin.directory);
        if is_first {
            pin.called = observed.called;
        } else {
            pin.called.extend(observed.called);
        }
        if *pin == before { ChangeOutcome::Already } else { ChangeOutcome::Done }
    }

    fn accept(
        &mut self,
        observed: ObservedPlugin,
        shown: &ReviewedDigests,
        expected: Option<TreeDigest>,
        recorded: &BTreeSet<TreeDigest>,
        by: Option<String>,
    ) -> ChangeOutcome {
        let facts = &observed.facts;
        if facts.tree != shown.tree {
            return ChangeOutcome::NotShown { shown: shown.tree, actual: facts.tree };
        }
        if let denied @ PinCheck::Denied { .. } = check(self.model, &observed) {
            return ChangeOutcome::Conflict(denied);
        }
        let own = self.model.pins.contains_key(&observed.key);
        let base = if own { Some(&observed.key) } else { observed.predecessor.as_ref() };
        let old = base.and_then(|key| self.model.pins.get_key_value(key));
        let latest = old.and_then(|(_, pin)| pin.latest());
        let pinned: Option<&Facts> = latest.map(|agreed| &agreed.facts);
        let current = pinned.map(|pinned| pinned.tree);
        if current != expected {
            return ChangeOutcome::Raced { current };
        }
        // A pin of the first use becomes one that a person agreed to, and an old one covers more.
        let is_agreed = |latest: &AgreedState| {
            latest.facts == *facts
                && latest.reads == ReadScope::Execution
                && matches!(latest.via, PinOrigin::Accept | PinOrigin::Prompt)
        };
        if own && latest.is_some_and(is_agreed) {
            return ChangeOutcome::Already;
        }
        if let Some(unshown) = shown.against(facts, pinned) {
            return ChangeOutcome::NotShownBeside(unshown);
        }
        let agreed = AgreedState {
            facts: facts.clone(),
            version: observed.version.clone(),
            reads: ReadScope::Execution,
            behaviors: observed.behaviors.clone(),
            via: PinOrigin::Accept,
            at: self.now,
            by,
            superseded: None,
        };
        let base = old.map(|(key, _)| key.clone());
        let removed = base.and_then(|key| self.model.pins.remove(&key));
        self.replace(observed, agreed, recorded, removed);
        ChangeOutcome::Done
    }

    /// Stores an accepted state over the pin that the plugin had, if any.
    fn replace(
        &mut self,
        observed: ObservedPlugin,
        agreed: AgreedState,
        recorded: &BTreeSet<TreeDigest>,
        old: Option<Pin>,
    ) {
        self.forget_names(&observed.called);
        let mut pin = old.unwrap_or_else(|| fresh(&observed, Vec::new()));
        // An older state that is accepted again becomes the latest one.
        pin.agreed.retain(|one| !differing(one, &observed).is_empty());
        for state in &mut pin.agreed {
            // A placed plugin is in one directory, so no other record names a state of it.
            let stays = observed.key.placed().is_none() && recorded.contains(&state.facts.tree);
            if !stays {
                state.superseded.get_or_insert(self.now);
            }
        }
        pin.agreed.push(agreed);
        let excess = pin.agreed.len().saturating_sub(most_states(&observed.key));
        pin.agreed.drain(..excess);
        pin.directory = directory_of(&observed).or(pin.directory);
        match observed.key {
            PluginKey::Installed { .. } => pin.called.extend(observed.called),
            PluginKey::Placed(_) => pin.called = observed.called,
        }
        self.model.pins.insert(observed.key, pin);
    }

    fn forget_names(&mut self, called: &BTreeSet<CalledName>) {
        for name in called {
            self.model.v1.remove(name.name());
        }
    }

    fn forget(&mut self, key: &PluginKey) -> ChangeOutcome {
        let pin = self.model.pins.get(key);
        if let Some(Pin { denied: Some(denial), .. }) = pin {
            return ChangeOutcome::Conflict(PinCheck::Denied { since: denial.at, by: DenialSource::Key });
        }
        if let Some(called) = pin.map(|pin| pin.called.clone()) {
            self.forget_names(&called);
        }
        let is_named = self.model.v1.remove(key.name()).is_some();
        let is_pinned = self.model.pins.remove(key).is_some();
        if is_pinned || is_named { ChangeOutcome::Done } else { ChangeOutcome::Absent }
    }

    fn forget_all(&mut self) -> ChangeOutcome {
        let before = self.model.clone();
        self.model.pins.retain(|_, pin| pin.state == PinState::Denied);
        for pin in self.model.pins.values_mut() {
            // Only the denial remains: if the plugin is allowed later, it is new.
            let latest = pin.latest().map(|agreed| agreed.facts.tree);
            if let Some(denial) = &mut pin.denied {
                denial.tree = denial.tree.or(latest);
            }
            pin.agreed.clear();
            pin.mcp.clear();
        }
        self.model.mcp.clear();
        self.model.v1.clear();
        self.model.locks.clear();
        if *self.model == before { ChangeOutcome::Already } else { ChangeOutcome::Done }
    }

    fn deny(
        &mut self,
        key: PluginKey,
        directory: Option<DirectoryId>,
        called: BTreeSet<CalledName>,
        denial: Denial,
    ) -> ChangeOutcome {
        let directory = directory.filter(|_| key.placed().is_some());
        let blank = Pin {
            state: PinState::Denied,
            called: BTreeSet::new(),
            directory: None,
            agreed: Vec::new(),
            denied: None,
            mcp: BTreeMap::new(),
        };
        let pin = self.model.pins.entry(key).or_insert(blank);
        if pin.denied.is_some() {
            return ChangeOutcome::Already;
        }
        (pin.state, pin.denied) = (PinState::Denied, Some(denial));
        pin.directory = directory.or(pin.directory);
        pin.called.extend(called);
        ChangeOutcome::Done
    }

    fn allow(&mut self, key: &PluginKey) -> ChangeOutcome {
        let Some(pin) = self.model.pins.get_mut(key) else { return ChangeOutcome::Absent };
        if pin.denied.is_none() {
            return ChangeOutcome::Already;
        }
        // The pin from before the denial counts again, so a plugin that changed meanwhile is refused.
        (pin.state, pin.denied) = (PinState::Trusted, None);
        if pin.agreed.is_empty() {
            self.model.pins.remove(key);
        }
        ChangeOutcome::Done
    }

    fn mcp_of(&mut self, owner: &McpOwner) -> Option<&mut BTreeMap<String, McpPin>> {
        match owner {
            McpOwner::Plugin(key) => Some(&mut self.model.pins.get_mut(key)?.mcp),
            McpOwner::User => Some(&mut self.model.mcp),
        }
    }

    fn mcp_pin(
        &mut self,
        owner: &McpOwner,
        server: &str,
        mut pin: McpPin,
        expected: &BTreeSet<Digest>,
    ) -> ChangeOutcome {
        let now = self.now;
        let Some(pins) = self.mcp_of(owner) else { return ChangeOutcome::Absent };
        let name = pin.name(server);
        if let Some(old) = pins.get_mut(&name).filter(|old| old.covers_same(&pin)) {
            // A write for each start would be expensive, and a day is exact enough for the choice of the oldest pin.
            let used = old.used.map_or(0, Timestamp::unix_seconds);
            if now.unix_seconds().abs_diff(used) < DAY {
                return ChangeOutcome::Already;
            }
            old.used = Some(now);
            return ChangeOutcome::Done;
        }
        let current = sets_of(pins, server);
        if current != *expected {
            return ChangeOutcome::McpRaced { current };
        }
        pin.used = Some(now);
        pins.insert(name.clone(), pin);
        let of_server = pins.iter().filter(|(other, pin)| **other != name && pin.is_of(other, server));
        let mut others: Vec<_> = of_server.map(|(other, pin)| (pin.used, other.clone())).collect();
        others.sort_unstable();
        let excess = others.len().saturating_sub(MAX_OFFERS.saturating_sub(1));
        for (_, other) in others.into_iter().take(excess) {
            pins.remove(&other);
        }
        ChangeOutcome::Done
    }
}

/// Returns the pinned sets of a server.
fn sets_of(pins: &BTreeMap<String, McpPin>, server: &str) -> BTreeSet<Digest> {
    pins.iter().filter(|(name, pin)| pin.is_of(name, server)).map(|(_, pin)| pin.set).collect()
}

fn fresh(observed: &ObservedPlugin, agreed: Vec<AgreedState>) -> Pin {
    Pin {
        state: PinState::Trusted,
        called: observed.called.clone(),
        directory: directory_of(observed),
        agreed,
        denied: None,
        mcp: BTreeMap::new(),
    }
}

/// Returns the identity for the pin. An installed plugin can have several directories, so none identifies
/// it.
fn directory_of(observed: &ObservedPlugin) -> Option<DirectoryId> {
    observed.directory.filter(|_| observed.key.placed().is_some())
}
