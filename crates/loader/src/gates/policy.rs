//! The policy gate for stored decisions: revocations, and denials under another name.

use std::collections::BTreeSet;

use plugward_manifest::{MAIN_FILES, Manifest, SurfaceKind};
use plugward_pinstore::{
    Baselines, EffectiveList, Pin, PinCheck, PinOrigin, Pins, ReviewedDigests, Revocation, RevocationCheck,
    RevocationSubject, Revocations,
};
use plugward_state_file::StateError;
use plugward_tree_lock::{EntryKind, Excludes, Snapshot};
use plugward_types::{Digest, PlacePath, PluginKey, TreeDigest};

use super::pin::shown;
use super::{Context, passed};
use crate::contents::subject::Subject;
use crate::contents::view::manifests;
use crate::report::Gate;
use crate::report::text::{chain, plain};
use crate::run::examined::Examined;
use crate::run::outcome::{GateOutcome, Notice, Reason, Weight};
use crate::state::pins::PinStore;

/// The revocation lists in the host's settings, with the error of each that cannot be used.
#[derive(Debug, Default)]
pub struct RevocationStore {
    lists: Vec<Revocations>,
    notices: Vec<Notice>,
    failures: Vec<Reason>,
}

impl RevocationStore {
    /// Creates a store without lists. Revocations in the pins file still count.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds the result of reading a list, which reports call `name`.
    ///
    /// If neither the list nor its stored copy can be read, every plugin is refused, since its entries are
    /// unknown.
    pub fn add(&mut self, name: &str, settled: Result<EffectiveList, StateError>) {
        let say = |code: &str, message: String| Notice::new(code, Gate::Policy, message);
        match settled {
            Ok(EffectiveList::Fresh { list, not_kept }) => {
                if let Some(error) = not_kept {
                    let message = format!("{name}: used, but its copy could not be stored: {error}");
                    self.notices.push(say("revocation/kept", message));
                }
                self.lists.push(list);
            }
            Ok(EffectiveList::Kept { list, why }) => {
                self.notices
                    .push(say("revocation/kept", format!("{name}: the last valid copy is used: {why}")));
                self.lists.push(list);
            }
            Ok(EffectiveList::None { why }) => {
                self.notices.push(say("revocation/none", format!("{name}: the list was never read: {why}")));
            }
            Err(error) => self.failures.push(Reason::new(
                "revocation/unreadable",
                Gate::Policy,
                Weight::Store,
                format!("{name}: neither the list nor its copy can be read: {}", chain(&error)),
                error.help(),
            )),
        }
    }

    /// Adds a failure for a list whose stored copies cannot be accessed: its entries, and whether it is the
    /// newest, are unknown.
    pub fn unkept(&mut self, name: &str, why: &str) {
        self.failures.push(Reason::new(
            "revocation/unreadable",
            Gate::Policy,
            Weight::Store,
            format!("{name}: the stored copies of revocation lists cannot be read: {why}"),
            "fix the state directory, or use another one".to_owned(),
        ));
    }

    /// Returns the reason if a list, or the user's own pins, revoke a file that has one of these names.
    ///
    /// A space and `-` are the same: the words of a command name are joined in its id and its file name.
    #[must_use]
    pub fn file_reason(&self, pins: &PinStore, names: &[String], digest: &Digest) -> Option<String> {
        let joined = |name: &String| name.replace(' ', "-");
        let own = pins.pins().map(Pins::revoked).unwrap_or_default();
        let entries = self.lists.iter().flat_map(Revocations::entries).chain(own);
        let entries = entries.map(|one| Revocation { id: one.id.as_ref().map(joined), ..one.clone() });
        let entries = Revocations::of(&entries.collect::<Vec<_>>());
        let (names, files) = (names.iter().map(joined).collect::<Vec<_>>(), [*digest]);
        // A command plugin has no key, and no entry has the key of the root directory.
        let key = PluginKey::Placed(PlacePath::new("/").ok()?);
        let subject = RevocationSubject {
            key: &key,
            names: &names,
            version: None,
            tree: None,
            // An entry for the digest of a manifest is about that file as well.
            manifests: &files,
            binaries: &files,
            signers: &[],
        };
        match entries.check(&subject) {
            RevocationCheck::Revoked(entry) => Some(entry.reason.clone()),
            RevocationCheck::Clear => None,
        }
    }

    /// Returns the first failure to read a list, because of which nothing may be used.
    #[must_use]
    pub fn failure(&self) -> Option<&Reason> {
        self.failures.first()
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

/// Plugins inside one plugin that are compared with denials. The limit bounds the time for a crafted tree.
const INNER: usize = 1_000;

/// The size from which a file says something about its plugin. Many plugins have the same file of one line.
const LEAST: usize = 32;

/// Help for a revocation in the user's own pins file.
const OWN_LIST: &str = "use another version, or delete its [[revoked]] entry from plugins.pins.toml";
/// Help for a revocation in a list from the settings.
const OTHER_LIST: &str = "use another version, or ask the maintainer of the list in plugins.revocation_lists";

/// Compares a plugin, its shared directories and its files with all revocations.
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
    let mut names = crate::gates::verifiers::names(one);
    // Entries of older versions contain the name of the parent directory.
    if let Some(parent) = one.place.real.parent() {
        names.extend(one.called.iter().map(|name| format!("{name}@{}", parent.name())));
    }
    // A name alone means every plugin that has it, wherever it is.
    let keys = || core::iter::once(subject.key()).chain(&subject.further);
    names.extend(one.called.iter().map(|name| name.name().to_owned()));
    names.extend(keys().flat_map(|key| match key {
        PluginKey::Installed { id, .. } => vec![id.as_str().to_owned(), id.name().to_owned()],
        PluginKey::Placed(place) => {
            [Some(place.name().to_owned()), collection(place)].into_iter().flatten().collect()
        }
    }));
    let manifests: Vec<Digest> = facts.manifest.values().copied().collect();
    let asks_for_trees = lists.iter().flat_map(|list| list.entries()).any(|entry| entry.tree.is_some());
    let inner: Vec<TreeDigest> = match context.stores.pins.pins() {
        Some(pins) if asks_for_trees => {
            inner_trees(one, snapshot, pins).into_iter().map(|(_, tree)| tree).collect()
        }
        _ => Vec::new(),
    };
    let of_plugin = trees_of(subject, snapshot);
    let trees = of_plugin.iter().chain(facts.shared.values()).chain(&inner);
    let found = trees.flat_map(|tree| lists.iter().map(move |list| (tree, list))).find_map(|(tree, list)| {
        let revocable = RevocationSubject {
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
                let name = entry.id.clone().or_else(|| entry.tree.map(|tree| tree.to_string()));
                let name = name.or_else(|| entry.manifest.map(|digest| digest.to_string()));
                Some((entry.reason.clone(), if own { OWN_LIST } else { OTHER_LIST }, name.filter(|_| own)))
            }
            RevocationCheck::Clear => None,
        }
    });
    if let Some((reason, help, selector)) = found {
        let message = format!("revoked: {reason}");
        let mut reason = Reason::new("policy/revoked", Gate::Policy, Weight::Denied, message, help);
        reason.selector = selector;
        outcome.reasons.push(reason);
    }
    outcome
}

/// Returns the name of the directory whose `skills` contain a skill: a revocation of that name means them all.
fn collection(place: &PlacePath) -> Option<String> {
    let skills = place.parent().filter(|parent| parent.name() == "skills")?;
    Some(skills.parent()?.name().to_owned())
}

/// Returns the digests of a plugin under the list of its pin, the list of this run, and the empty one. A version control
/// directory must not hide a denied plugin.
fn trees_of(subject: &Subject, snapshot: &Snapshot) -> BTreeSet<TreeDigest> {
    let bare = crate::contents::trees::under(snapshot, &Excludes::none());
    [subject.facts().tree, *snapshot.digest()].into_iter().chain(bare).collect()
}

/// Returns `true` if a denied pin covers a tree.
fn covers(pin: &Pin, tree: &TreeDigest) -> bool {
    pin.denied.as_ref().is_some_and(|denial| denial.tree == Some(*tree))
        || pin.agreed.iter().any(|agreed| agreed.facts.tree == *tree)
}

/// Returns the digests of directories inside a plugin that are plugins themselves but have no pin, so are
/// not checked separately. A manifest above a denied plugin must not hide it.
fn inner_trees(one: &Examined, snapshot: &Snapshot, pins: &Pins) -> Vec<(String, TreeDigest)> {
    let dir_of = |path: &str| {
        let main = MAIN_FILES.iter().filter_map(|(_, file)| path.strip_suffix(file)?.strip_suffix('/'));
        main.map(str::to_owned).collect::<Vec<String>>()
    };
    let has_row = |dir: &String| {
        let place = one.place.real.join(dir);
        place.is_ok_and(|place| pins.get(&PluginKey::Placed(place)).is_some())
    };
    let dirs: BTreeSet<String> =
        snapshot.entries().flat_map(|entry| dir_of(entry.path())).filter(|dir| !has_row(dir)).collect();
    let inner = |dir: String| Some((crate::contents::trees::inside(snapshot, &dir)?, dir));
    dirs.into_iter().take(INNER).filter_map(inner).map(|(tree, dir)| (dir, tree)).collect()
}

/// A denial or revocation of another plugin that can apply to this one (ADR 0004 of this repository).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "each variant is what the two plugins share")]
pub(crate) enum Namesake {
    /// The contents are denied.
    SameBytes {
        denied: Denied,
        /// The directory inside the plugin that contains them; `None` for the whole plugin.
        at: Option<String>,
    },
    /// A plugin elsewhere with this dialect and name is denied or revoked.
    SameName { other: String, state: &'static str },
    /// The plugin runs a file that a denied one has, too.
    SameFile { denied: Denied, path: String },
}

/// A denied pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denied {
    /// The display form.
    shown: String,
    /// The name that selects it.
    selector: String,
}

impl Denied {
    fn key(key: &PluginKey) -> Self {
        Self { shown: shown(key), selector: key.name().to_owned() }
    }
}

impl Namesake {
    fn message(&self) -> String {
        match self {
            Self::SameBytes { denied, at: None } => {
                format!("the same contents are denied as `{}`", denied.shown)
            }
            Self::SameBytes { denied, at: Some(at) } => {
                format!("contains contents that are denied as `{}`, in `{}`", denied.shown, plain(at))
            }
            Self::SameFile { denied, path } => {
                format!("runs `{}`, which the denied `{}` contains, too", plain(path), denied.shown)
            }
            Self::SameName { other, state } => {
                format!(
                    "`{other}` is {state} and has the same name; this may be the same plugin from another source"
                )
            }
        }
    }

    pub(crate) fn notice(&self) -> Notice {
        Notice::new("policy/namesake", Gate::Policy, self.message())
    }

    pub(crate) fn reason(&self, subject: &Subject) -> Reason {
        let (code, help, weight, denied) = match self {
            Self::SameBytes { denied, .. } => (
                "policy/denied",
                "allow the denied plugin again, or accept this one alone",
                Weight::Denied,
                Some(denied.selector.clone()),
            ),
            Self::SameName { .. } | Self::SameFile { .. } => (
                "policy/namesake",
                "deny this plugin too, or accept it if it is a different one",
                Weight::Undecided,
                None,
            ),
        };
        let mut reason = Reason::new(code, Gate::Policy, weight, self.message(), help);
        reason.accept = Some(ReviewedDigests::wanted(subject.facts(), None));
        reason.selector = denied;
        reason
    }
}

/// Returns a file that a plugin runs and that a denied plugin has, too, as far as the baselines list its files.
fn shared_file(one: &Examined, snapshot: &Snapshot, denied: &Pin, baselines: &Baselines) -> Option<String> {
    let own: Vec<(&str, Digest)> = manifests(&one.views)
        .flat_map(Manifest::surface)
        .filter(|item| item.kind() != SurfaceKind::Prompt)
        .flat_map(plugward_manifest::SurfaceItem::files)
        .filter_map(|path| Some((path.as_str(), snapshot.file(path)?)))
        .filter(|(_, entry)| entry.bytes().len() >= LEAST)
        .map(|(path, entry)| (path, *entry.digest()))
        .collect();
    let seen = denied.denied.as_ref().and_then(|denial| denial.tree);
    let trees = seen.into_iter().chain(denied.agreed.iter().map(|agreed| agreed.facts.tree));
    trees.filter_map(|tree| baselines.tree(&tree).ok()?.found()).find_map(|list| {
        let mut same = own.iter().filter(|(_, digest)| list.contains(&digest.hex()));
        same.next().map(|(path, _)| (*path).to_owned())
    })
}

/// Returns the names of a plugin, and its former names in its marketplace.
fn called(one: &Examined) -> Vec<String> {
    let mut called: Vec<String> = one.called.iter().map(|name| name.as_str().to_owned()).collect();
    for old in one.place.named.iter().flat_map(|named| &named.was) {
        called.extend(one.dialects.iter().map(|dialect| format!("{}:{old}", dialect.as_str())));
    }
    called
}

/// Returns a denial or revocation of another plugin that can apply to this one.
///
/// A pin that a person made for this key is an answer, so nothing is held against it.
pub(crate) fn namesake(
    pins: &Pins,
    one: &Examined,
    subject: &Subject,
    snapshot: &Snapshot,
    check: &PinCheck,
    baselines: Option<&Baselines>,
) -> Option<Namesake> {
    if matches!(check, PinCheck::Denied { .. }) {
        return None;
    }
    let own = pins.get(subject.key()).and_then(Pin::latest);
    if own.is_some_and(|own| matches!(own.via, PinOrigin::Accept | PinOrigin::Prompt)) {
        return None;
    }
    let facts = subject.facts();
    let called = called(one);
    let others = |key: &PluginKey| key != subject.key() && subject.observed.predecessor.as_ref() != Some(key);
    let denied = || pins.denied().filter(|(key, _)| others(key));
    let same_manifest = |pin: &Pin| {
        let known = pin.agreed.iter().flat_map(|agreed| &agreed.facts.manifest);
        known.into_iter().any(|(dialect, digest)| facts.manifest.get(dialect) == Some(digest))
    };
    let own = trees_of(subject, snapshot);
    let is_own = |pin: &Pin| own.iter().any(|tree| covers(pin, tree)) || same_manifest(pin);
    if let Some((key, _)) = denied().find(|(_, pin)| is_own(pin)) {
        return Some(Namesake::SameBytes { denied: Denied::key(key), at: None });
    }
    if denied().next().is_some() {
        for (dir, tree) in inner_trees(one, snapshot, pins) {
            if let Some((key, _)) = denied().find(|(_, pin)| covers(pin, &tree)) {
                return Some(Namesake::SameBytes { denied: Denied::key(key), at: Some(dir) });
            }
        }
    }
    let same_name =
        |pin: &Pin| pin.called.iter().any(|name| called.iter().any(|called| called == name.as_str()));
    if let Some((key, _)) = denied().find(|(_, pin)| same_name(pin)) {
        return Some(Namesake::SameName { other: shown(key), state: "denied" });
    }
    if let Some((key, path)) =
        denied().find_map(|(key, pin)| Some((key, shared_file(one, snapshot, pin, baselines?)?)))
    {
        return Some(Namesake::SameFile { denied: Denied::key(key), path });
    }
    // A revoked id of another host or marketplace that has a name of this plugin. The plugin's own ids were
    // compared before.
    let own = crate::gates::verifiers::names(one);
    let revoked = pins.revoked().iter().filter_map(|entry| entry.id.as_deref()).find(|id| {
        let name = id.split_once('@').map_or(*id, |(name, _)| name);
        !own.iter().any(|own| own == id) && called.iter().any(|called| called == name)
    });
    revoked.map(|id| Namesake::SameName { other: id.to_owned(), state: "revoked" })
}
