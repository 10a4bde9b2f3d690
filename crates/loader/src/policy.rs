//! The policy gate as far as this machine's memory decides it: revocations, and denials under another name.

use plugward_pinstore::{
    Pin, PinState, Pins, RevocationCheck, Revocations, Scope, Settled, Shown, Subject, Via,
};
use plugward_state_file::StateError;
use plugward_tree_lock::{EntryKind, Snapshot};
use plugward_types::{Digest, PluginId};

use crate::facts::PinFacts;
use crate::report::{Gate, Notice, PluginReport, Reason, Weight};
use crate::text::chain;

/// The revocation lists that the host's settings name, each as it could be had.
#[derive(Debug, Default)]
pub struct RevocationStore {
    lists: Vec<Revocations>,
    notices: Vec<Notice>,
    failures: Vec<Reason>,
}

impl RevocationStore {
    /// Has no list: the entries of the pins count all the same.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds what was settled for a list; `name` is what reports call it.
    ///
    /// A list that nobody could read, neither it nor the one that was kept, refuses every plugin: what it says is not known.
    pub fn add(&mut self, name: &str, settled: Result<Settled, StateError>) {
        let say = |code: &str, message: String| Notice { code: code.to_owned(), gate: Gate::Policy, message };
        match settled {
            Ok(Settled::Fresh { list, not_kept }) => {
                if let Some(error) = not_kept {
                    let message = format!("{name}: it holds, and is not kept for the next time: {error}");
                    self.notices.push(say("revocation/kept", message));
                }
                self.lists.push(list);
            }
            Ok(Settled::Kept { list, why }) => {
                self.notices.push(say("revocation/kept", format!("{name}: the last good one holds: {why}")));
                self.lists.push(list);
            }
            Ok(Settled::None { why }) => {
                self.notices
                    .push(say("revocation/none", format!("{name}: nothing was ever read of it: {why}")));
            }
            Err(error) => self.failures.push(Reason {
                code: "revocation/unreadable".to_owned(),
                gate: Gate::Policy,
                message: format!("{name}: neither it nor the kept one can be read: {}", chain(&error)),
                help: error.help(),
                weight: Weight::Store,
            }),
        }
    }

    /// Says that the folder of the kept lists cannot be had: what a list says, and whether it is the newest, is not known.
    pub fn unkept(&mut self, name: &str, why: &str) {
        self.failures.push(Reason {
            code: "revocation/unreadable".to_owned(),
            gate: Gate::Policy,
            message: format!("{name}: the kept lists cannot be read: {why}"),
            help: "mend the state folder, or name another one with --state-dir".to_owned(),
            weight: Weight::Store,
        });
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        let failed = self.failures.iter().map(|reason| Notice {
            code: reason.code.clone(),
            gate: Gate::Policy,
            message: format!("{}\nnext: {}", reason.message, reason.help),
        });
        self.notices.iter().cloned().chain(failed).collect()
    }

    pub(crate) const fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }
}

/// What to do about a revocation of one's own.
const OWN_LIST: &str = "use another version, or take its [[revoked]] entry out of plugins.pins.toml by hand";
/// What to do about one of a list that the settings name.
const OTHER_LIST: &str = "use another version, or ask whoever keeps the list of plugins.revocation_lists";

/// Holds one plugin, its shared folders and the programs that it brings against all revocations.
pub(crate) fn gate(
    report: &mut PluginReport,
    pin: &PinFacts,
    snapshot: &Snapshot,
    (store, pins): (&RevocationStore, Option<&Pins>),
) {
    report.reasons.extend(store.failures.iter().cloned());
    let own = pins.map(|pins| Revocations::of(pins.revoked()));
    let lists: Vec<&Revocations> = store.lists.iter().chain(own.as_ref()).collect();
    let asks_for_files = lists.iter().flat_map(|list| list.entries()).any(|entry| entry.binary.is_some());
    let binaries: Vec<Digest> = if asks_for_files {
        snapshot.entries().filter(|e| e.kind() != EntryKind::Link).map(|e| *e.digest()).collect()
    } else {
        Vec::new()
    };
    let version = report.version.clone();
    let trees = core::iter::once(&pin.facts.tree).chain(pin.facts.shared.values());
    let found = trees.flat_map(|tree| lists.iter().map(move |list| (tree, list))).find_map(|(tree, list)| {
        let subject = Subject {
            id: &pin.id,
            version: version.as_deref(),
            tree: Some(tree),
            manifest: pin.facts.manifest.as_ref(),
            binaries: &binaries,
            signers: pin.facts.signer.as_slice(),
        };
        match list.check(&subject) {
            RevocationCheck::Revoked(entry) => {
                let own = own.as_ref().is_some_and(|own| std::ptr::eq(*list, own));
                Some((entry.reason.clone(), if own { OWN_LIST } else { OTHER_LIST }))
            }
            RevocationCheck::Clear => None,
        }
    });
    if let Some((reason, help)) = found {
        report.reasons.push(Reason {
            code: "policy/revoked".to_owned(),
            gate: Gate::Policy,
            message: format!("revoked: {reason}"),
            help: help.to_owned(),
            weight: Weight::Denied,
        });
    }
}

/// A denial or a revocation that names another id and may mean this plugin.
///
/// # Source
/// A marketplace that is renamed gives all its plugins new ids. Who denied one of them did not mean its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Namesake {
    /// The bytes are those that were denied.
    SameBytes { denied: PluginId },
    /// Dialect and name are those of a denied or revoked plugin; the source is another.
    SameName { no: PluginId, what: &'static str },
    /// Its own marketplace says that it is the new name of a denied or revoked plugin.
    NewName { no: PluginId, what: &'static str },
}

impl Namesake {
    fn message(&self) -> String {
        match self {
            Self::SameBytes { denied } => format!("these are the bytes of {denied}, which is denied"),
            Self::SameName { no, what } => {
                format!("{no} is {what}; it has this name, and may be the same plugin from another source")
            }
            Self::NewName { no, what } => {
                format!("{no} is {what}, and the marketplace says that this is its new name")
            }
        }
    }

    pub(crate) fn notice(&self) -> Notice {
        Notice { code: "policy/namesake".to_owned(), gate: Gate::Policy, message: self.message() }
    }

    pub(crate) fn reason(&self, pin: &PinFacts) -> Reason {
        let accept = Shown::wanted(&pin.facts, None).accept_line(&pin.id);
        let (code, help, weight) = match self {
            Self::SameBytes { denied } => (
                "policy/denied",
                format!("plugward allow {denied}\nor for this one alone\n{accept}"),
                Weight::Denied,
            ),
            Self::SameName { .. } | Self::NewName { .. } => (
                "policy/namesake",
                format!("plugward deny {}\nor, if it is another\n{accept}", pin.id),
                Weight::Undecided,
            ),
        };
        Reason { code: code.to_owned(), gate: Gate::Policy, message: self.message(), help, weight }
    }
}

/// Looks for a denial or revocation of another id that may mean this plugin.
///
/// A pin that a person made for this very id is an answer, and nothing is held against it.
pub(crate) fn namesake(pins: &Pins, scope: &Scope, pin: &PinFacts) -> Option<Namesake> {
    let own = pins.get(scope, &pin.id);
    if own.is_some_and(|own| matches!(own.via, Via::Accept | Via::Prompt)) {
        return None;
    }
    let here = |at: &Scope| *at == Scope::USER || at == scope;
    let denied: Vec<(&PluginId, &Pin)> = pins
        .iter()
        .filter(|(at, id, one)| one.state == PinState::Denied && here(at) && **id != pin.id)
        .map(|(_, id, one)| (id, one))
        .collect();
    let same_bytes = |one: &Pin| {
        one.denied == Some(pin.facts.tree)
            || one.facts.as_ref().is_some_and(|facts| {
                facts.tree == pin.facts.tree
                    || (facts.manifest.is_some() && facts.manifest == pin.facts.manifest)
            })
    };
    if let Some((id, _)) = denied.iter().find(|(_, one)| same_bytes(one)) {
        return Some(Namesake::SameBytes { denied: (*id).clone() });
    }
    let same_name = |id: &PluginId| id.dialect() == pin.id.dialect() && id.name() == pin.id.name();
    if let Some((id, _)) = denied.iter().find(|(id, _)| same_name(id)) {
        return Some(Namesake::SameName { no: (*id).clone(), what: "denied" });
    }
    let revoked = || pins.revoked().iter().filter_map(|entry| entry.id.as_ref()).filter(|id| **id != pin.id);
    let was = |id: &&PluginId| pin.was.contains(*id);
    if let Some(id) = denied.iter().map(|(id, _)| *id).find(was) {
        return Some(Namesake::NewName { no: id.clone(), what: "denied" });
    }
    if let Some(id) = revoked().find(was) {
        return Some(Namesake::NewName { no: id.clone(), what: "revoked" });
    }
    let found = revoked().find(|id| same_name(id));
    found.map(|id| Namesake::SameName { no: id.clone(), what: "revoked" })
}

/// Tells of a pin of the old name of a plugin that its marketplace renamed: it is offered, and never carried over.
pub(crate) fn renamed(pins: &Pins, scope: &Scope, pin: &PinFacts) -> Option<Notice> {
    let trusted = |id: &&PluginId| pins.get(scope, id).is_some_and(|old| old.state == PinState::Trusted);
    let old = pin.was.iter().find(trusted)?;
    let tree = pins.get(scope, old)?.facts.as_ref().map(|facts| facts.tree);
    let bytes = if tree == Some(pin.facts.tree) { "with these bytes" } else { "with other bytes" };
    Some(Notice {
        code: "pin/renamed".to_owned(),
        gate: Gate::Pin,
        message: format!(
            "the marketplace says that it was {old}, which is pinned {bytes}; that pin is not carried over\n\
             next: plugward forget {old}"
        ),
    })
}
