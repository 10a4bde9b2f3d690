//! The policy gate as far as this machine's memory decides it: revocations, and denials under another name.

use plugward_pinstore::{
    Pin, PinCheck, PinState, Pins, RevocationCheck, Revocations, Settled, Shown, Subject as Revocable, Via,
};
use plugward_state_file::StateError;
use plugward_tree_lock::{EntryKind, Snapshot};
use plugward_types::{Digest, PluginKey, TreeDigest};

use super::pin::shown;
use super::{Context, passed};
use crate::examined::Examined;
use crate::outcome::{GateOutcome, Notice, Reason, Weight};
use crate::report::Gate;
use crate::subject::Subject;
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
        let say = |code: &str, message: String| Notice::new(code, Gate::Policy, message);
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
            Err(error) => self.failures.push(Reason::new(
                "revocation/unreadable",
                Gate::Policy,
                Weight::Store,
                format!("{name}: neither it nor the kept one can be read: {}", chain(&error)),
                error.help(),
            )),
        }
    }

    /// Says that the folder of the kept lists cannot be had: what a list says, and whether it is the newest, is not known.
    pub fn unkept(&mut self, name: &str, why: &str) {
        self.failures.push(Reason::new(
            "revocation/unreadable",
            Gate::Policy,
            Weight::Store,
            format!("{name}: the kept lists cannot be read: {why}"),
            "mend the state folder, or name another one with --state-dir".to_owned(),
        ));
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        let failed = self.failures.iter().map(|reason| {
            Notice::new(
                reason.code.clone(),
                Gate::Policy,
                format!("{}\nnext: {}", reason.message, reason.help),
            )
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

/// Compares one plugin, its shared directories and the programs in it with all revocations.
pub(crate) fn gate(
    one: &Examined,
    subject: &Subject,
    snapshot: &Snapshot,
    context: &Context<'_>,
) -> GateOutcome {
    let mut outcome = passed(Gate::Policy);
    let store = &context.stores.revocations;
    outcome.reasons.extend(store.failures.iter().cloned());
    let own = context.stores.pins.pins().map(|pins| Revocations::of(pins.revoked()));
    let lists: Vec<&Revocations> = store.lists.iter().chain(own.as_ref()).collect();
    let asks_for_files = lists.iter().flat_map(|list| list.entries()).any(|entry| entry.binary.is_some());
    let binaries: Vec<Digest> = if asks_for_files {
        snapshot.entries().filter(|e| e.kind() != EntryKind::Link).map(|e| *e.digest()).collect()
    } else {
        Vec::new()
    };
    let facts = subject.facts();
    let names = crate::verifiers::names(one);
    let manifests: Vec<Digest> = facts.manifest.values().copied().collect();
    let trees = core::iter::once(&facts.tree).chain(facts.shared.values());
    let found = trees.flat_map(|tree| lists.iter().map(move |list| (tree, list))).find_map(|(tree, list)| {
        let revocable = Revocable {
            key: subject.key(),
            names: &names,
            version: one.version(),
            tree: Some(tree),
            manifests: &manifests,
            binaries: &binaries,
            signers: facts.signer.as_slice(),
        };
        match list.check(&revocable) {
            RevocationCheck::Revoked(entry) => {
                let own = own.as_ref().is_some_and(|own| std::ptr::eq(*list, own));
                Some((entry.reason.clone(), if own { OWN_LIST } else { OTHER_LIST }))
            }
            RevocationCheck::Clear => None,
        }
    });
    if let Some((reason, help)) = found {
        outcome.add("policy/revoked", Weight::Denied, format!("revoked: {reason}"), help);
    }
    outcome
}

/// A denial or a revocation of another plugin that may mean this one (ADR-0004).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Namesake {
    /// The bytes are denied.
    SameBytes { denied: String },
    /// The dialect and name are those of a denied or revoked plugin elsewhere.
    SameName { other: String, state: &'static str },
}

impl Namesake {
    fn message(&self) -> String {
        match self {
            Self::SameBytes { denied } => format!("these bytes are denied as `{denied}`"),
            Self::SameName { other, state } => {
                format!(
                    "`{other}` is {state}, and has the same name; this may be the same plugin from elsewhere"
                )
            }
        }
    }

    pub(crate) fn notice(&self) -> Notice {
        Notice::new("policy/namesake", Gate::Policy, self.message())
    }

    pub(crate) fn reason(&self, subject: &Subject) -> Reason {
        let accept = Shown::wanted(subject.facts(), None).accept_line("{id}");
        let (code, help, weight) = match self {
            Self::SameBytes { denied } => (
                "policy/denied",
                format!("plugward allow {denied}\nor for this one alone\n{accept}"),
                Weight::Denied,
            ),
            Self::SameName { .. } => (
                "policy/namesake",
                format!("plugward deny {{id}}\nor, if it is another plugin\n{accept}"),
                Weight::Undecided,
            ),
        };
        Reason::new(code, Gate::Policy, weight, self.message(), help)
    }
}

/// The names of a plugin, and those that it had before, as its marketplace says.
fn called(one: &Examined) -> Vec<String> {
    let mut called: Vec<String> = one.called.iter().map(|name| name.as_str().to_owned()).collect();
    for old in one.place.named.iter().flat_map(|named| &named.was) {
        called.extend(one.dialects.iter().map(|dialect| format!("{}:{old}", dialect.as_str())));
    }
    called
}

/// Looks for a denial or revocation of another plugin that may mean this one.
///
/// A pin that a person made for this very key is an answer, and nothing is held against it.
pub(crate) fn namesake(pins: &Pins, one: &Examined, subject: &Subject, check: &PinCheck) -> Option<Namesake> {
    if matches!(check, PinCheck::Denied { .. }) {
        return None;
    }
    let own = pins.get(subject.key()).and_then(Pin::latest);
    if own.is_some_and(|own| matches!(own.via, Via::Accept | Via::Prompt)) {
        return None;
    }
    let facts = subject.facts();
    let called = called(one);
    let others = |key: &PluginKey| key != subject.key() && subject.observed.predecessor.as_ref() != Some(key);
    let denied: Vec<(String, Option<TreeDigest>, Vec<&plugward_pinstore::Facts>, bool)> = pins
        .iter()
        .filter(|(key, pin)| pin.state == PinState::Denied && others(key))
        .map(|(key, pin)| {
            let same_name = pin.called.iter().any(|name| called.iter().any(|called| called == name.as_str()));
            let tree = pin.denied.as_ref().and_then(|denial| denial.tree);
            (shown(key), tree, pin.agreed.iter().map(|agreed| &agreed.facts).collect(), same_name)
        })
        .collect();
    let same_bytes = |tree: &Option<TreeDigest>, agreed: &[&plugward_pinstore::Facts]| {
        *tree == Some(facts.tree)
            || agreed.iter().any(|old| {
                let same_manifest =
                    old.manifest.iter().any(|(dialect, digest)| facts.manifest.get(dialect) == Some(digest));
                old.tree == facts.tree || same_manifest
            })
    };
    if let Some((key, ..)) = denied.iter().find(|(_, tree, agreed, _)| same_bytes(tree, agreed)) {
        return Some(Namesake::SameBytes { denied: key.clone() });
    }
    let pending = pins.pending().find(|(_, pin)| {
        pin.state == PinState::Denied && (pin.denied == Some(facts.tree) || pin.tree == Some(facts.tree))
    });
    if let Some((id, _)) = pending {
        return Some(Namesake::SameBytes { denied: id.to_string() });
    }
    if let Some((key, ..)) = denied.iter().find(|(_, _, _, same_name)| *same_name) {
        return Some(Namesake::SameName { other: key.clone(), state: "denied" });
    }
    // A revoked id of another host or marketplace, with a name of this plugin. One of its own was compared before.
    let own = crate::verifiers::names(one);
    let revoked = pins.revoked().iter().filter_map(|entry| entry.id.as_deref()).find(|id| {
        let name = id.split('@').next().unwrap_or(id);
        !own.iter().any(|own| own == id) && called.iter().any(|called| called == name)
    });
    revoked.map(|id| Namesake::SameName { other: id.to_owned(), state: "revoked" })
}
