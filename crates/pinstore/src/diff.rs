//! What changed since it was trusted, worst first.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, PluginId};

use crate::facts::Facts;
use crate::hunks::{Hunks, hunks};
use crate::preimage::{EntryKind, TreeEntry, entries};
use crate::shown::Shown;

/// What a change touches, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a new class must stop every host from building")]
pub enum Class {
    /// Launchers, remotes, new programs or network addresses.
    Reach,
    /// What runs, and when.
    Surface,
    /// Files that are run or imported.
    Code,
    /// Text that enters a model.
    Prompt,
    /// Source, signer, version, name.
    Identity,
    /// All else.
    Other,
}

impl Class {
    /// All classes, in order.
    pub const ALL: [Self; 6] =
        [Self::Reach, Self::Surface, Self::Code, Self::Prompt, Self::Identity, Self::Other];

    /// Gives the word for a report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reach => "reach",
            Self::Surface => "surface",
            Self::Code => "code",
            Self::Prompt => "prompt",
            Self::Identity => "identity",
            Self::Other => "other",
        }
    }
}

/// Says what files and surface lines are; the loader knows, since it read the manifest.
pub trait Classify {
    /// Says what a file is.
    fn file(&self, path: &str, kind: EntryKind) -> Class;
    /// Says whether a line of the surface is reach or plain surface.
    fn surface_line(&self, line: &str) -> Class;
}

/// What was trusted, as far as it was kept.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new text must stop every host from building")]
#[expect(missing_debug_implementations, reason = "it borrows a function")]
pub struct Baseline<'a> {
    /// What the pin says.
    pub facts: &'a Facts,
    /// The list of the tree, where it was kept.
    pub preimage: Option<&'a str>,
    /// The text of the surface, where it was kept.
    pub surface: Option<&'a str>,
    /// The lists of the folders outside that it imports, as far as they were kept: (path from the plugin, list).
    pub shared: &'a [(String, String)],
    /// Source, version, name and so on, as far as they are known.
    pub identity: &'a BTreeMap<String, String>,
    /// Gives a kept file's text by its digest.
    pub text: &'a dyn Fn(&Digest) -> Option<String>,
}

/// What is there.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new text must stop every host from building")]
#[expect(missing_debug_implementations, reason = "it borrows a function")]
pub struct Side<'a> {
    /// The plugin.
    pub id: &'a PluginId,
    /// What was seen.
    pub facts: &'a Facts,
    /// The list of the tree.
    pub preimage: &'a str,
    /// The text of the surface.
    pub surface: &'a str,
    /// The lists of the folders outside that it imports, of those that the old side has or that are new.
    pub shared: &'a [(String, String)],
    /// Source, version, name and so on.
    pub identity: &'a BTreeMap<String, String>,
    /// Gives a file's bytes by its path; below a shared folder by that folder's path and its own.
    pub bytes: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

/// What changed, worst first. It prints nothing; foreign text in it has to be escaped by whoever does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// Every class in which something changed, in order.
    pub sections: Vec<Section>,
    /// How much of the old side was kept.
    pub old: OldSide,
    /// The exact line that accepts what this diff shows.
    pub accept: String,
}

/// How much of the old side was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum OldSide {
    /// Nothing was ever trusted.
    Nothing,
    /// Digests alone: what differs is known by digest, and no file by name.
    DigestsOnly,
    /// The list of the tree, and as many texts as were kept.
    Listed,
}

/// The changes of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// The class.
    pub class: Class,
    /// Lines that went (`-`) or came (`+`), of the surface or of the identity.
    pub lines: Vec<LineChange>,
    /// Files, by path.
    pub files: Vec<FileChange>,
}

/// One line that went or came.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a line goes or comes")]
pub enum LineChange {
    /// It went.
    Gone(String),
    /// It came.
    Came(String),
}

/// One file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileChange {
    /// Its path in the plugin.
    pub path: String,
    /// What it was, if it was there.
    pub old: Option<TreeEntry>,
    /// What it is, if it is there.
    pub new: Option<TreeEntry>,
    /// Its path before, where the same bytes stood under another name that is gone.
    pub from: Option<String>,
    /// Its text, line by line.
    pub hunks: Hunks,
}

impl FileChange {
    /// Says whether the execute bit came (`Some(true)`) or went, on a file that is one on both sides.
    #[must_use]
    pub fn executable(&self) -> Option<bool> {
        match (self.old.as_ref()?.kind, self.new.as_ref()?.kind) {
            (EntryKind::File, EntryKind::Executable) => Some(true),
            (EntryKind::Executable, EntryKind::File) => Some(false),
            _ => None,
        }
    }

    /// Says in one word what happened: the worst of it, where there is more.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "added",
            (_, None) => "removed",
            (Some(old), Some(new)) if self.from.is_some() && old.kind == new.kind => "renamed",
            (Some(old), Some(new)) => match (old.kind, new.kind) {
                (EntryKind::Link, EntryKind::File | EntryKind::Executable)
                | (EntryKind::File | EntryKind::Executable, EntryKind::Link) => "kind",
                (EntryKind::File, EntryKind::Executable) | (EntryKind::Executable, EntryKind::File)
                    if old.digest == new.digest =>
                {
                    "mode"
                }
                _ => "content",
            },
        }
    }
}

/// Compares what was trusted with what is there.
///
/// `out_of_time` is asked before each file's text is compared: from its first yes on, files are counted by digest alone.
///
/// # Guarantees
/// The order is that of [`Class`], then of bytes; it does not depend on anything else. Every file whose entry differs is
/// named. At most 2,000 lines of each side of a file are compared; the rest is counted.
#[must_use]
pub fn diff(
    old: Option<&Baseline<'_>>,
    new: &Side<'_>,
    classify: &dyn Classify,
    out_of_time: &dyn Fn() -> bool,
) -> Diff {
    let mut sections = Sections::default();
    let listed = old.and_then(|old| entries(old.preimage?));
    let old_side = match (old, &listed) {
        (None, _) => OldSide::Nothing,
        (Some(_), None) => OldSide::DigestsOnly,
        (Some(_), Some(_)) => OldSide::Listed,
    };
    surface(&mut sections, old.and_then(|old| old.surface), new.surface, old_side, classify);
    if old_side != OldSide::DigestsOnly {
        let listed = listed.unwrap_or_default();
        files(&mut sections, old, listed, new, classify, out_of_time);
    }
    if let Some(old) = old {
        identity(&mut sections, old, new);
    }
    let accept = Shown::wanted(new.facts, old.map(|old| old.facts)).accept_line(new.id);
    Diff { sections: sections.done(), old: old_side, accept }
}

/// The sections while they are filled.
#[derive(Debug, Default)]
struct Sections(BTreeMap<Class, (BTreeSet<LineChange>, Vec<FileChange>)>);

impl Sections {
    fn line(&mut self, class: Class, change: LineChange) {
        self.0.entry(class).or_default().0.insert(change);
    }

    fn file(&mut self, class: Class, change: FileChange) {
        self.0.entry(class).or_default().1.push(change);
    }

    fn done(self) -> Vec<Section> {
        let section = |(class, (lines, files)): (_, (BTreeSet<_>, _))| Section {
            class,
            lines: lines.into_iter().collect(),
            files,
        };
        self.0.into_iter().map(section).collect()
    }
}

fn surface(sections: &mut Sections, old: Option<&str>, new: &str, side: OldSide, classify: &dyn Classify) {
    // Without the old text, all lines would look new: only where nothing was trusted that is the truth.
    if old.is_none() && side != OldSide::Nothing {
        return;
    }
    let lines = |text: Option<&'_ str>| -> BTreeSet<String> {
        text.unwrap_or_default().lines().skip(1).map(str::to_owned).collect()
    };
    let (old, new) = (lines(old), lines(Some(new)));
    for gone in old.difference(&new) {
        sections.line(classify.surface_line(gone), LineChange::Gone(gone.clone()));
    }
    for came in new.difference(&old) {
        sections.line(classify.surface_line(came), LineChange::Came(came.clone()));
    }
}

fn files(
    sections: &mut Sections,
    old: Option<&Baseline<'_>>,
    listed: BTreeMap<&str, TreeEntry>,
    new: &Side<'_>,
    classify: &dyn Classify,
    out_of_time: &dyn Fn() -> bool,
) {
    let listed = with_shared(listed, old.map_or(&[], |old| old.shared));
    let present = with_shared(entries(new.preimage).unwrap_or_default(), new.shared);
    let mut changes: Vec<(Class, FileChange)> = differing(&listed, &present)
        .into_iter()
        .map(|change| {
            let was = change.old.as_ref().map(|entry| (change.from.as_ref().unwrap_or(&change.path), entry));
            let is = change.new.as_ref().map(|entry| (&change.path, entry));
            // The worse of what it was and what it is.
            let classes =
                [was, is].into_iter().flatten().map(|(path, entry)| classify.file(path, entry.kind));
            (classes.min().unwrap_or(Class::Other), change)
        })
        .collect();
    // The worst first, so that time runs out over what matters least.
    changes.sort_by(|a, b| (a.0, &a.1.path).cmp(&(b.0, &b.1.path)));
    for (class, mut change) in changes {
        let same = change.old.as_ref().map(|old| old.digest) == change.new.as_ref().map(|new| new.digest);
        change.hunks = if same {
            Hunks::Same
        } else if out_of_time() {
            Hunks::OutOfTime
        } else {
            let before = match (&change.old, old) {
                (None, _) => Some(Vec::new()),
                (Some(entry), Some(old)) => (old.text)(&entry.digest).map(String::into_bytes),
                (Some(_), None) => None,
            };
            let after = match &change.new {
                None => Some(Vec::new()),
                Some(_) => (new.bytes)(&change.path),
            };
            hunks(before.as_deref(), after.as_deref())
        };
        sections.file(class, change);
    }
}

/// The entries of a plugin by path, and below them those of the folders outside that it imports.
fn with_shared(own: BTreeMap<&str, TreeEntry>, shared: &[(String, String)]) -> BTreeMap<String, TreeEntry> {
    let mut all: BTreeMap<String, TreeEntry> =
        own.into_iter().map(|(path, entry)| (path.to_owned(), entry)).collect();
    for (folder, list) in shared {
        let below = entries(list).unwrap_or_default();
        all.extend(below.into_iter().map(|(path, entry)| (format!("{folder}/{path}"), entry)));
    }
    all
}

/// Every path whose entry differs; one that went and one that came with the same bytes are one file, renamed.
fn differing(listed: &BTreeMap<String, TreeEntry>, present: &BTreeMap<String, TreeEntry>) -> Vec<FileChange> {
    let mut gone: BTreeMap<Digest, std::collections::VecDeque<&String>> = BTreeMap::new();
    // Empty files are all alike: that one went and another came says nothing.
    for (path, entry) in listed.iter().filter(|(path, entry)| entry.size > 0 && !present.contains_key(*path))
    {
        if entry.kind != EntryKind::Link {
            gone.entry(entry.digest).or_default().push_back(path);
        }
    }
    let mut from: BTreeMap<&String, &String> = BTreeMap::new();
    for (path, entry) in present.iter().filter(|(path, _)| !listed.contains_key(*path)) {
        if entry.kind == EntryKind::Link {
            continue;
        }
        if let Some(old) = gone.get_mut(&entry.digest).and_then(std::collections::VecDeque::pop_front) {
            from.insert(path, old);
        }
    }
    let moved: BTreeSet<&String> = from.values().copied().collect();
    let paths: BTreeSet<&String> = listed.keys().chain(present.keys()).collect();
    let differs = |path: &&String| listed.get(*path) != present.get(*path) && !moved.contains(path);
    let change = |path: &String| {
        let from = from.get(path).copied();
        FileChange {
            path: path.clone(),
            old: listed.get(from.unwrap_or(path)).cloned(),
            new: present.get(path).cloned(),
            from: from.cloned(),
            hunks: Hunks::Same,
        }
    };
    paths.into_iter().filter(differs).map(change).collect()
}

fn identity(sections: &mut Sections, old: &Baseline<'_>, new: &Side<'_>) {
    let mut change = |class, name: &str, before: Option<String>, after: Option<String>| {
        if before == after {
            return;
        }
        if let Some(before) = before {
            sections.line(class, LineChange::Gone(format!("{name}: {before}")));
        }
        if let Some(after) = after {
            sections.line(class, LineChange::Came(format!("{name}: {after}")));
        }
    };
    let keys: BTreeSet<&String> = old.identity.keys().chain(new.identity.keys()).collect();
    for key in keys {
        let (before, after) = (old.identity.get(key), new.identity.get(key));
        // What was not kept is no change.
        if before.is_some() || !old.identity.is_empty() {
            change(Class::Identity, key, before.cloned(), after.cloned());
        }
    }
    let (before, after) = (old.facts, new.facts);
    change(Class::Identity, "signer", before.signer.clone(), after.signer.clone());
    let text = |digest: &Option<Digest>| digest.map(|digest| digest.to_string());
    change(Class::Identity, "marketplace entry", text(&before.entry), text(&after.entry));
    let shared: BTreeSet<&String> = before.shared.keys().chain(after.shared.keys()).collect();
    for name in shared {
        let text = |facts: &Facts| facts.shared.get(name).map(ToString::to_string);
        change(Class::Code, &format!("shared {name}"), text(before), text(after));
    }
    if old.preimage.is_none() {
        change(Class::Other, "tree", Some(before.tree.to_string()), Some(after.tree.to_string()));
        change(Class::Other, "manifest", text(&before.manifest), text(&after.manifest));
    }
}
