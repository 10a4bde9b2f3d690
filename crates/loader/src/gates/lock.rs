//! The lock gate: does the PLUGINS.lock for the plugin's place contain this tree?

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_pinstore::{LockMatch, PinCheck};
use plugward_sandbox_path::ErrorClass;
use plugward_tree_lock::{
    AnyLockFile, CodewizardDigest, JsonLock, JsonLockCheck, LOCK_BYTES, LockCheck, LockDifference, LockError,
    LockFacts, LockFile, LockOutcome, LockRule, Snapshot, Verifier,
};
use plugward_types::{Digest, PlacePath};

use super::{Context, passed};
use crate::contents::subject::Subject;
use crate::contents::trees;
use crate::discovery::discover::PluginPlace;
use crate::discovery::roots::{Root, ancestors, inside};
use crate::gates::verifiers::{self, VerifierInput, Verifiers};
use crate::report::{Gate, LockReport, LockState};
use crate::run::examined::Examined;
use crate::run::options::Trust;
use crate::run::outcome::{GateOutcome, Notice, Weight};

/// The lockfile's name.
pub(crate) const NAME: &str = "PLUGINS.lock";
/// The name of its signature.
const SIGNATURE: &str = "PLUGINS.lock.minisig";
/// The most differing files that a message names.
const FILES_SHOWN: usize = 5;
/// Bytes of a signature that are read; a real one has about 300.
const SIGNATURE_BYTES: u64 = 4096;

/// The lockfile of one directory.
pub(crate) enum DirectoryLock {
    Absent,
    /// plugward's own format.
    Own {
        file: LockFile,
        /// The digest of the file's bytes.
        digest: Digest,
        /// Verifies its signature, if the settings name signers.
        signature: Option<Arc<dyn Verifier>>,
    },
    /// The older JSON format.
    Json(JsonLock),
    /// A file that cannot be used.
    Broken {
        code: &'static str,
        message: String,
        help: String,
    },
}

impl DirectoryLock {
    fn read(root: &Root, dir: &str, verifiers: &Verifiers) -> Self {
        let jail = &root.jail;
        let at = |name: &str| crate::discovery::roots::join(dir, name);
        let bytes = match jail.read(at(NAME).as_str(), u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX)) {
            Ok(bytes) => bytes,
            Err(error) if error.class() == ErrorClass::NotFound => return Self::Absent,
            Err(error) => {
                let message = format!("{NAME}: {error} ({})", error.code());
                return Self::Broken { code: "lock/malformed", message, help: error.help().to_owned() };
            }
        };
        match AnyLockFile::parse(&bytes) {
            Ok(AnyLockFile::Plugins(file)) => {
                let signature = match jail.read(at(SIGNATURE).as_str(), SIGNATURE_BYTES) {
                    Ok(bytes) => Some(bytes),
                    Err(error) if error.class() == ErrorClass::NotFound => None,
                    // An unreadable signature is treated as an empty one, which verifies nothing.
                    Err(_) => Some(Vec::new()),
                };
                match verifiers.of_lock(&bytes, signature.as_deref()) {
                    Ok(signature) => {
                        Self::Own { file, digest: crate::contents::hash::sha256(&bytes), signature }
                    }
                    Err(error) => Self::broken(&error),
                }
            }
            Ok(AnyLockFile::Json(file)) => Self::Json(file),
            Err(error) => Self::broken(&error),
        }
    }

    /// Returns `true` if it has an entry for a path.
    fn names(&self, path: &str) -> bool {
        matches!(self, Self::Own { file, .. } if file.get(path).is_some())
    }

    fn broken(error: &LockError) -> Self {
        Self::Broken { code: error.code(), message: format!("{NAME}: {error}"), help: error.help() }
    }
}

/// The lockfiles around the plugins of a run. Each is read once.
#[derive(Default)]
pub(crate) struct LockFiles {
    read: RefCell<BTreeMap<PlacePath, Arc<DirectoryLock>>>,
    /// The directories whose lockfile covers a plugin.
    covering: RefCell<BTreeSet<PlacePath>>,
}

/// A lockfile, and the directory that contains it.
pub(crate) struct LocatedLock {
    /// Relative to the root's jail.
    pub(crate) dir: String,
    pub(crate) lock: Arc<DirectoryLock>,
}

impl LockFiles {
    /// Returns the lockfile of a directory.
    pub(crate) fn of(&self, root: &Root, dir: &str, verifiers: &Verifiers) -> Arc<DirectoryLock> {
        let Ok(real) = root.top.join(dir) else { return Arc::new(DirectoryLock::Absent) };
        let known = self.read.borrow().get(&real).cloned();
        known.unwrap_or_else(|| {
            let lock = Arc::new(DirectoryLock::read(root, dir, verifiers));
            self.read.borrow_mut().insert(real, lock.clone());
            lock
        })
    }

    /// Returns the lockfiles that cover a place, nearest first. Inside the plugin's reach every lockfile
    /// counts. Further up, where a planted project mark could hide them, those with an entry for the place
    /// count.
    ///
    /// The plugin's own lockfile counts only if there is none above it, the plugin is a project or in none, and the
    /// user checks it by itself. Otherwise a plugin could vouch for itself.
    pub(crate) fn covering(
        &self,
        place: &PluginPlace,
        root: &Root,
        verifiers: &Verifiers,
    ) -> Vec<LocatedLock> {
        let mut all = Vec::new();
        for dir in ancestors(&place.dir).take_while(|dir| inside(dir, &place.reach.outer).is_some()) {
            let lock = self.of(root, dir, verifiers);
            let names = inside(&place.dir, dir).is_some_and(|path| lock.names(path));
            let near = inside(dir, &place.reach.top).is_some() && !matches!(*lock, DirectoryLock::Absent);
            if near || names {
                all.push(LocatedLock { dir: dir.to_owned(), lock });
            }
        }
        let is_project = place.reach.project.as_deref() == Some(&place.dir);
        // The archive of a repository has no mark of a project.
        let is_archive = place.reach.project.is_none() && place.installed.is_none() && root.dir == place.dir;
        if all.is_empty() && (is_archive || is_project && inside(&root.dir, &place.dir).is_some()) {
            let lock = self.of(root, &place.dir, verifiers);
            if !matches!(*lock, DirectoryLock::Absent) {
                all.push(LocatedLock { dir: place.dir.clone(), lock });
            }
        }
        self.covering.borrow_mut().extend(all.iter().filter_map(|at| root.top.join(&at.dir).ok()));
        all
    }

    /// Returns the nearest lockfile that covers a place.
    fn nearest(&self, place: &PluginPlace, context: &Context<'_>) -> Option<LocatedLock> {
        self.covering(place, context.root, &context.options.verifiers).into_iter().next()
    }

    /// Returns `true` if the lockfile of a place has the older JSON format.
    pub(crate) fn is_json(&self, place: &PluginPlace, context: &Context<'_>) -> bool {
        self.nearest(place, context).is_some_and(|at| matches!(*at.lock, DirectoryLock::Json(_)))
    }

    /// Returns the names of the shared directories in the lock entry of a plugin.
    pub(crate) fn shared_of(&self, place: &PluginPlace, context: &Context<'_>) -> Vec<String> {
        let Some(at) = self.nearest(place, context) else { return Vec::new() };
        let DirectoryLock::Own { file, .. } = &*at.lock else { return Vec::new() };
        let entry = inside(&place.dir, &at.dir).and_then(|path| file.get(path));
        entry.map(|entry| entry.shared.keys().cloned().collect()).unwrap_or_default()
    }
}

/// Returns the places inside a root that a lockfile lists and at which no plugin was found. `visited` has
/// the names of the found plugins.
pub(crate) fn unvisited(
    locks: &LockFiles,
    root: &Root,
    visited: &BTreeMap<PlacePath, String>,
    verifiers: &Verifiers,
) -> Vec<PlacePath> {
    let reach = crate::discovery::roots::reach(root, &root.dir);
    let above = ancestors(&root.dir).take_while(|dir| inside(dir, &reach.top).is_some());
    // The nearest lockfile at or above the directory, and those of the plugins inside it.
    let nearest = core::iter::once(root.dir.as_str())
        .chain(above)
        .find(|dir| !matches!(*locks.of(root, dir, verifiers), DirectoryLock::Absent));
    let mut dirs: BTreeSet<PlacePath> = nearest.and_then(|dir| root.top.join(dir).ok()).into_iter().collect();
    let real = root.real();
    dirs.extend(locks.covering.borrow().iter().filter(|dir| dir.relative_to(&real).is_some()).cloned());
    let mut missing = Vec::new();
    for dir in dirs {
        let lock = locks.read.borrow().get(&dir).cloned();
        let paths: Vec<String> = match lock.as_deref() {
            Some(DirectoryLock::Own { file, .. }) => {
                file.entries().map(|(path, _)| path.to_owned()).collect()
            }
            // That format lists plugins by name, which by convention is the name of the directory.
            Some(DirectoryLock::Json(file)) if dir == real => {
                file.unvisited(&visited.values().cloned().collect())
            }
            _ => Vec::new(),
        };
        let places = paths.iter().filter_map(|path| dir.join(path).ok());
        missing.extend(
            places.filter(|place| place.relative_to(&real).is_some() && !visited.contains_key(place)),
        );
    }
    missing
}

/// Returns a notice about an unusable lockfile that no plugin's reasons mention.
pub(crate) fn broken(locks: &LockFiles, root: &Root, verifiers: &Verifiers) -> Option<Notice> {
    match &*locks.of(root, &root.dir, verifiers) {
        DirectoryLock::Broken { code, message, help } => {
            Some(Notice::new(*code, Gate::Lock, format!("{message}\nnext: {help}")))
        }
        DirectoryLock::Absent | DirectoryLock::Own { .. } | DirectoryLock::Json(_) => None,
    }
}

/// The result of the gate, and the input of the pin gate.
pub(crate) struct LockResult {
    pub(crate) report: LockReport,
    pub(crate) says: LockMatch,
    pub(crate) outcome: GateOutcome,
    /// The unresolved commands that the lockfile lists, if it counts as an agreement to them.
    pub(crate) unresolved: BTreeSet<Digest>,
}

/// Compares one plugin with the lockfile of its place, and runs the host's verifiers.
pub(crate) fn gate(
    one: &Examined,
    subject: &Subject,
    snapshot: &Snapshot,
    context: &Context<'_>,
) -> LockResult {
    let verifiers = &context.options.verifiers;
    let mut all = context.locks.covering(&one.place, context.root, verifiers).into_iter();
    let at = all.next();
    let mut gate = LockGate {
        subject,
        snapshot,
        names: verifiers::names(one),
        path: at.as_ref().and_then(|at| inside(&one.place.dir, &at.dir)).unwrap_or(".").to_owned(),
        directory: one.place.real.name().to_owned(),
        entry: listed_entry(one, subject, snapshot),
        result: LockResult {
            report: LockReport::state(LockState::Absent),
            says: LockMatch::Nothing,
            outcome: passed(Gate::Lock),
            unresolved: BTreeSet::new(),
        },
    };
    match at.as_ref().map(|at| &*at.lock) {
        None | Some(DirectoryLock::Absent) => {
            gate.result.says = gate.decide(&LockCheck::NoFile, context);
            gate.ask(None, None, &subject.observed.facts.tree, verifiers);
        }
        Some(DirectoryLock::Broken { code, message, help }) => {
            gate.result.report.state = LockState::Malformed;
            gate.result.outcome.add(*code, Weight::Store, message.clone(), help.clone());
            gate.ask(None, None, &subject.observed.facts.tree, verifiers);
        }
        Some(DirectoryLock::Own { file, digest, signature }) => {
            let tree =
                trees::under(snapshot, &file.exclude_of(&gate.path)).unwrap_or(subject.observed.facts.tree);
            gate.result.says = gate.compare(file, &tree, context);
            gate.ask(Some(file), signature.as_ref(), &tree, verifiers);
            let accepted = context.stores.pins.pins().is_some_and(|pins| pins.is_lock_accepted(digest));
            if gate.result.says == LockMatch::Matched && accepted {
                gate.result.says = LockMatch::Accepted;
            }
            // A lockfile of a repository grants nothing, unless the caller has chosen it as the anchor.
            let agrees = gate.result.says == LockMatch::Accepted || context.options.trust == Trust::Locked;
            let entry = file.get(&gate.path).filter(|_| agrees);
            gate.result.unresolved = entry.map(|entry| entry.unresolved.clone()).unwrap_or_default();
        }
        Some(DirectoryLock::Json(file)) => {
            gate.json(file, one.name());
            gate.ask(None, None, &subject.observed.facts.tree, verifiers);
        }
    }
    for outer in all {
        gate.narrow(one, &outer);
    }
    // Reading the name from the snapshot saves a lookup per plugin. An excluded file is not in the
    // snapshot.
    let has_own = snapshot.get(NAME).is_some() || snapshot.exclude().contains(NAME);
    if has_own && at.as_ref().is_none_or(|at| at.dir != one.place.dir) {
        gate.own_lock(one, context);
    }
    gate.result
}

/// Returns the digest of the marketplace entry that a lockfile lists: that of the file around the directory, also if a
/// host's record names another definition of the plugin.
fn listed_entry(one: &Examined, subject: &Subject, snapshot: &Snapshot) -> Option<Digest> {
    match &one.place.installed {
        Some(_) if one.is_plugin() => super::manifest::listed_entry(one, snapshot)
            .map(|text| crate::contents::hash::sha256(text.as_bytes())),
        _ => subject.facts().entry,
    }
}

struct LockGate<'a> {
    subject: &'a Subject,
    snapshot: &'a Snapshot,
    /// The texts that a signer's patterns can match.
    names: Vec<String>,
    /// The plugin's directory, relative to the lockfile.
    path: String,
    /// The name of the plugin's directory.
    directory: String,
    /// The digest of the marketplace entry that a lockfile lists.
    entry: Option<Digest>,
    result: LockResult,
}

impl LockGate<'_> {
    fn check(&self, file: &LockFile, path: &str, tree: &plugward_types::TreeDigest) -> LockCheck {
        let facts = self.subject.facts();
        file.check(&LockFacts {
            path,
            tree,
            manifest: &facts.manifest,
            entry: self.entry.as_ref(),
            shared: &facts.shared,
            closure: facts.closure.as_ref(),
            // The surface gate decides about them, since a pin can list them too.
            unresolved: const { &BTreeSet::new() },
        })
    }

    fn compare(
        &mut self,
        file: &LockFile,
        tree: &plugward_types::TreeDigest,
        context: &Context<'_>,
    ) -> LockMatch {
        let check = self.check(file, &self.path, tree);
        let says = self.decide(&check, context);
        if let (LockCheck::Mismatch(LockDifference::Tree { .. }), Some(reason)) =
            (&check, self.result.outcome.reasons.last_mut())
        {
            reason.message.push_str(&differing(file, &self.path, self.snapshot));
        }
        if check == LockCheck::Match && !self.files_belong(file) {
            return LockMatch::Nothing;
        }
        self.explain(file);
        says
    }

    /// Compares the files that an entry lists, which its tree covers, and returns `true` if they are the same.
    fn files_belong(&mut self, file: &LockFile) -> bool {
        let differ = differing_files(file, &self.path, self.snapshot);
        // The list of an entry with several trees is that of one.
        if differ.is_empty() || file.get(&self.path).is_none_or(|entry| entry.tree.len() > 1) {
            return true;
        }
        let message =
            format!("{NAME} lists this tree, but its list of files belongs to another\n{}", shown(&differ));
        let help = "the entry was edited by hand: write it again with `plugward lock --files DIR`";
        self.result.report.state = LockState::Malformed;
        self.result.outcome.add("lock/malformed", Weight::Integrity, message, help);
        false
    }

    fn decide(&mut self, check: &LockCheck, context: &Context<'_>) -> LockMatch {
        let rule = if context.options.trust == Trust::Locked { LockRule::Anchors } else { LockRule::Narrows };
        self.result.report.state = state(check);
        match check.outcome(rule) {
            LockOutcome::GoOn if *check == LockCheck::Match => LockMatch::Matched,
            LockOutcome::GoOn => LockMatch::Nothing,
            LockOutcome::CountsAsPin => LockMatch::Matched,
            LockOutcome::NeedsPin(code) => {
                // A pin of the old place or of an older format counts, and so does a denial.
                let pinned = context.stores.pins.pins().is_some_and(|pins| {
                    !matches!(pins.check(&self.subject.observed), PinCheck::Unpinned | PinCheck::ManifestOnly)
                });
                if !pinned {
                    let message = format!("no {NAME} covers this plugin, and it is not pinned");
                    self.result.outcome.add(code, Weight::Integrity, message, check.help());
                }
                LockMatch::Nothing
            }
            LockOutcome::Refuse(code) => {
                self.result.outcome.add(code, Weight::Integrity, text(check), check.help());
                LockMatch::Nothing
            }
        }
    }

    /// Explains a different surface or launcher. The contents match, but this version detects something
    /// else in them.
    fn explain(&mut self, file: &LockFile) {
        let facts = self.subject.facts();
        let Some(surface) = facts.surface.as_ref().filter(|_| self.result.report.state == LockState::Match)
        else {
            return;
        };
        if let Some(said) = file.surface_warning(&self.path, surface, &self.subject.launchers) {
            let mut message = format!(
                "the contents match, but this version detects another execution surface in them than {NAME} lists"
            );
            for (sign, names) in [('+', &said.added), ('-', &said.removed)] {
                for name in names {
                    message.push_str(&format!("\n{sign} {name}"));
                }
            }
            self.result.outcome.note(said.code(), message);
        }
    }

    fn json(&mut self, file: &JsonLock, name: &str) {
        let message = "the JSON lockfile does not cover compiled caches, execute bits or symlinks; replace it with a current one";
        self.result.outcome.note(JsonLock::NOTICE, message);
        let help = "review what changed, then update the lockfile";
        match file.check(name, CodewizardDigest::of(self.snapshot)) {
            JsonLockCheck::Match => self.result.report.state = LockState::Match,
            JsonLockCheck::Unlisted => {
                self.result.report.state = LockState::Unlisted;
                let message = format!("{NAME} has no entry for this plugin");
                self.result.outcome.add("lock/unlisted", Weight::Integrity, message, help);
                return;
            }
            JsonLockCheck::Mismatch { expected, actual } => {
                self.result.report.state = LockState::Mismatch;
                let text = format!("{NAME} lists another tree\nexpected {expected}\nactual {actual}");
                self.result.outcome.add("lock/mismatch", Weight::Integrity, text, help);
            }
        }
        if self.directory != name {
            // That format lists plugin names only, so an entry does not cover the directory.
            let message = format!(
                "{NAME} identifies plugins by name only, and the directory has another name: `{}`",
                self.directory
            );
            self.result.outcome.note("manifest/name-not-folder", message);
        }
    }

    /// Compares the plugin with a lockfile further up. It must match as well, so that a nearer one cannot
    /// overrule it.
    fn narrow(&mut self, one: &Examined, outer: &LocatedLock) {
        let path = inside(&one.place.dir, &outer.dir).unwrap_or(".");
        match &*outer.lock {
            DirectoryLock::Own { file, .. } => {
                let tree = trees::under(self.snapshot, &file.exclude_of(path));
                let check = self.check(file, path, &tree.unwrap_or(self.subject.observed.facts.tree));
                if check != LockCheck::Match {
                    let message = format!("the {NAME} further up: {}", text(&check));
                    let code = check.code().unwrap_or("lock/mismatch");
                    self.result.report.state = state(&check);
                    self.result.outcome.add(code, Weight::Integrity, message, check.help());
                }
            }
            DirectoryLock::Broken { code, message, help } => {
                let message = format!("the {NAME} further up: {message}");
                self.result.outcome.add(*code, Weight::Store, message, help.clone());
            }
            DirectoryLock::Json(_) | DirectoryLock::Absent => {}
        }
    }

    /// Compares the plugin with its own lockfile, which can only restrict: it must match if it has an entry
    /// for the plugin.
    fn own_lock(&mut self, one: &Examined, context: &Context<'_>) {
        let own = context.locks.of(context.root, &one.place.dir, &context.options.verifiers);
        match &*own {
            DirectoryLock::Own { file, .. } if file.get(".").is_some() => {
                let tree = trees::under(self.snapshot, &file.exclude_of("."));
                let check = self.check(file, ".", &tree.unwrap_or(self.subject.observed.facts.tree));
                if check != LockCheck::Match {
                    let message = format!("the plugin's own lockfile does not match: {}", text(&check));
                    let code = check.code().unwrap_or("lock/mismatch");
                    self.result.outcome.add(code, Weight::Integrity, message, check.help());
                }
            }
            DirectoryLock::Broken { code, message, help } => {
                let message = format!("the plugin's own lockfile: {message}");
                self.result.outcome.add(*code, Weight::Integrity, message, help.clone());
            }
            DirectoryLock::Own { .. } | DirectoryLock::Json(_) | DirectoryLock::Absent => {}
        }
    }

    /// Runs the host's verifiers for the plugin.
    fn ask(
        &mut self,
        lock: Option<&LockFile>,
        signature: Option<&Arc<dyn Verifier>>,
        digest: &plugward_types::TreeDigest,
        verifiers: &Verifiers,
    ) {
        let asked = VerifierInput {
            names: &self.names,
            path: &self.path,
            digest,
            files: self.snapshot,
            lock,
            signature,
        };
        verifiers::ask(&mut self.result, verifiers, &asked);
    }
}

/// Returns a line about the difference to an entry: its kind if that is harmless, or else the files, if the entry lists
/// files.
fn differing(file: &LockFile, path: &str, snapshot: &Snapshot) -> String {
    let Some(entry) = file.get(path) else { return String::new() };
    let only = trees::only_difference(snapshot, &entry.exclude, &entry.tree, &entry.executable);
    if let Some(only) = only {
        return format!("\n{}", only.as_str());
    }
    if entry.files.is_empty() {
        return String::new();
    }
    let differ = differing_files(file, path, snapshot);
    if differ.is_empty() {
        return "\nonly kinds or execute bits of files differ".to_owned();
    }
    format!("\n{}", shown(&differ))
}

/// Returns the files that differ from those that an entry lists; none if it lists no files.
fn differing_files(file: &LockFile, path: &str, snapshot: &Snapshot) -> BTreeSet<String> {
    let Some(entry) = file.get(path).filter(|entry| !entry.files.is_empty()) else { return BTreeSet::new() };
    let found = trees::files(snapshot, entry.exclude.iter());
    let differs = |name: &&String| entry.files.get(*name) != found.get(*name);
    entry.files.keys().chain(found.keys()).filter(differs).cloned().collect()
}

/// Returns a line with the names of files.
fn shown(files: &BTreeSet<String>) -> String {
    let names = files.iter().take(FILES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match files.len().saturating_sub(FILES_SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("differing files: {names}{more}")
}

const fn state(check: &LockCheck) -> LockState {
    match check {
        LockCheck::NoFile => LockState::Absent,
        LockCheck::Match => LockState::Match,
        LockCheck::Mismatch(_) => LockState::Mismatch,
        LockCheck::Unlisted => LockState::Unlisted,
        LockCheck::Missing => LockState::Missing,
        LockCheck::Inconsistent { .. } => LockState::Malformed,
    }
}

fn text(check: &LockCheck) -> String {
    match check {
        LockCheck::NoFile => format!("no {NAME} covers this plugin"),
        LockCheck::Match => format!("contents match {NAME}"),
        LockCheck::Unlisted => format!("{NAME} has no entry for this plugin"),
        LockCheck::Missing => format!("{NAME} lists this plugin, but it does not exist"),
        LockCheck::Inconsistent { expected, actual, .. } => {
            pair("the tree, but another manifest", Some(expected), Some(actual))
        }
        LockCheck::Mismatch(LockDifference::Entry { expected, actual }) => {
            pair("another marketplace entry", expected.as_ref(), actual.as_ref())
        }
        LockCheck::Mismatch(LockDifference::Tree { expected, actual }) => {
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            format!("{NAME} lists another tree\nexpected {}\nactual {actual}", expected.join(" or "))
        }
        LockCheck::Mismatch(LockDifference::Closure { expected, actual }) => {
            pair("other files outside the plugin", expected.as_ref(), actual.as_ref())
        }
        LockCheck::Mismatch(LockDifference::Unresolved { .. }) => check.to_string(),
        LockCheck::Mismatch(LockDifference::Shared { name, expected, actual }) => {
            pair(&format!("another tree for {name}"), expected.as_ref(), actual.as_ref())
        }
    }
}

/// Formats the lockfile's digest and the actual one, each on its own line.
fn pair<T: ToString>(what: &str, expected: Option<&T>, actual: Option<&T>) -> String {
    let show = |digest: Option<&T>| digest.map_or_else(|| "none".to_owned(), ToString::to_string);
    format!("{NAME} lists {what}\nexpected {}\nactual {}", show(expected), show(actual))
}
