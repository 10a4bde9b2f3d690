//! The difference between a trusted plugin and its present state, worst changes first.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::Digest;

use crate::diff::hunks::{Hunks, hunks};
use crate::diff::preimage::{TreeEntry, TreeEntryKind, entries};
use crate::pins::facts::Facts;
use crate::pins::reviewed::ReviewedDigests;

plugward_types::named! {
    /// The part of a plugin that a change affects, worst first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new class")]
    pub enum ChangeClass {
        /// Launchers, remote servers, new programs or network addresses.
        Reach = "reach",
        /// The execution surface.
        Surface = "surface",
        /// Files that are executed or imported.
        Code = "code",
        /// Text that reaches a prompt.
        Prompt = "prompt",
        /// Signer, version, name.
        Identity = "identity",
        /// Everything else.
        Other = "other",
    }
}

/// Classifies files and surface lines. The loader implements it, because it has read the manifest.
pub trait Classify {
    /// Returns the class of a file.
    fn file(&self, path: &str, kind: TreeEntryKind) -> ChangeClass;
    /// Returns the class of a surface line: reach or surface.
    fn surface_line(&self, line: &str) -> ChangeClass;
}

/// The trusted state, as far as it was stored.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new text")]
#[expect(missing_debug_implementations, reason = "it borrows a function")]
pub struct Baseline<'a> {
    /// The pinned facts.
    pub facts: &'a Facts,
    /// The list of the tree, if it was stored.
    pub preimage: Option<&'a str>,
    /// The text of the surface, if it was stored.
    pub surface: Option<&'a str>,
    /// The stored lists of its shared directories: (path relative to the plugin, list). The path of a closure is empty.
    pub shared: &'a [(String, String)],
    /// Version, name and so on, as far as they are known.
    pub identity: &'a BTreeMap<String, String>,
    /// Returns the stored text of a file by its digest.
    pub text: &'a dyn Fn(&Digest) -> Option<String>,
}

/// The present state.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new text")]
#[expect(missing_debug_implementations, reason = "it borrows a function")]
pub struct DiffSide<'a> {
    /// The observed facts.
    pub facts: &'a Facts,
    /// The list of the tree.
    pub preimage: &'a str,
    /// The text of the surface.
    pub surface: &'a str,
    /// The lists of its shared directories, except those whose old lists were not stored.
    pub shared: &'a [(String, String)],
    /// Version, name and so on.
    pub identity: &'a BTreeMap<String, String>,
    /// Returns the contents of a file by its path. Files in shared directories have the directory's path as a prefix.
    pub bytes: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

/// All changes, worst first. The texts of plugins in it are not escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// The classes with changes, in order.
    pub sections: Vec<DiffSection>,
    /// How much of the old state was stored.
    pub old: OldSide,
    /// The digests to confirm when accepting what this diff shows.
    pub accept: ReviewedDigests,
}

/// How much of the old state was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum OldSide {
    /// The plugin was never trusted.
    Nothing,
    /// Digests only: no file is known by name.
    DigestsOnly,
    /// The list of the tree, and the stored texts.
    Listed,
}

/// The changes of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffSection {
    /// The class.
    pub class: ChangeClass,
    /// Removed and added lines of the surface or of the identity.
    pub lines: Vec<LineChange>,
    /// Files, by path.
    pub files: Vec<FileChange>,
}

/// One removed or added line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a line is removed or added")]
pub enum LineChange {
    /// It was removed.
    Removed(String),
    /// It was added.
    Added(String),
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileChange {
    /// Its path in the plugin.
    pub path: String,
    /// Its old entry, if it existed.
    pub old: Option<TreeEntry>,
    /// Its new entry, if it exists.
    pub new: Option<TreeEntry>,
    /// Its old path, if it was renamed.
    pub from: Option<String>,
    /// Its changed lines.
    pub hunks: Hunks,
}

impl FileChange {
    /// Returns whether the file became executable (`Some(true)`) or stopped being so; `None` if neither.
    #[must_use]
    pub fn executable(&self) -> Option<bool> {
        match (self.old.as_ref()?.kind, self.new.as_ref()?.kind) {
            (TreeEntryKind::File, TreeEntryKind::Executable) => Some(true),
            (TreeEntryKind::Executable, TreeEntryKind::File) => Some(false),
            _ => None,
        }
    }

    /// Returns the worst change in one word.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "added",
            (_, None) => "removed",
            (Some(old), Some(new)) if self.from.is_some() && old.kind == new.kind => "renamed",
            (Some(old), Some(new)) => match (old.kind, new.kind) {
                (TreeEntryKind::Link, TreeEntryKind::File | TreeEntryKind::Executable)
                | (TreeEntryKind::File | TreeEntryKind::Executable, TreeEntryKind::Link) => "kind",
                (TreeEntryKind::File, TreeEntryKind::Executable)
                | (TreeEntryKind::Executable, TreeEntryKind::File)
                    if old.digest == new.digest =>
                {
                    "mode"
                }
                _ => "content",
            },
        }
    }
}

/// Compares the trusted state with the present one.
///
/// `out_of_time` is called before each file's text is compared. Once it returns `true`, no more texts are compared.
///
/// # Guarantees
/// The changes are sorted by [`ChangeClass`], then by bytes. Every file whose entry differs is listed. At most 2,000 lines of
/// each side of a file are compared; the others are counted.
#[must_use]
pub fn diff(
    old: Option<&Baseline<'_>>,
    new: &DiffSide<'_>,
    classify: &dyn Classify,
    out_of_time: &dyn Fn() -> bool,
) -> Diff {
    let mut sections = Sections::default();
    let listed = match old {
        None => Some(BTreeMap::new()),
        Some(old) => old.preimage.and_then(|preimage| with_shared(preimage, old.shared)),
    };
    let present = with_shared(new.preimage, new.shared);
    let old_side = match (old, &listed, &present) {
        (None, ..) => OldSide::Nothing,
        (Some(_), Some(_), Some(_)) => OldSide::Listed,
        // Without the list of one side, all files of the other would look changed.
        (Some(_), ..) => OldSide::DigestsOnly,
    };
    surface(&mut sections, old.and_then(|old| old.surface), new.surface, old_side, classify);
    if let (Some(listed), Some(present)) = (listed, present) {
        files(&mut sections, old, &listed, &present, new, classify, out_of_time);
    }
    if let Some(old) = old {
        identity(&mut sections, old, new);
    }
    let accept = ReviewedDigests::wanted(new.facts, old.map(|old| old.facts));
    Diff { sections: sections.done(), old: old_side, accept }
}

/// The sections while they are filled.
#[derive(Debug, Default)]
struct Sections(BTreeMap<ChangeClass, (BTreeSet<LineChange>, Vec<FileChange>)>);

impl Sections {
    fn line(&mut self, class: ChangeClass, change: LineChange) {
        self.0.entry(class).or_default().0.insert(change);
    }

    fn file(&mut self, class: ChangeClass, change: FileChange) {
        self.0.entry(class).or_default().1.push(change);
    }

    fn done(self) -> Vec<DiffSection> {
        let section = |(class, (lines, files)): (_, (BTreeSet<_>, _))| DiffSection {
            class,
            lines: lines.into_iter().collect(),
            files,
        };
        self.0.into_iter().map(section).collect()
    }
}

fn surface(sections: &mut Sections, old: Option<&str>, new: &str, side: OldSide, classify: &dyn Classify) {
    // Without the old text, all lines would look new. That is true only if nothing was trusted.
    if old.is_none() && side != OldSide::Nothing {
        return;
    }
    let lines = |text: Option<&'_ str>| -> BTreeSet<String> {
        text.unwrap_or_default().lines().skip(1).map(str::to_owned).collect()
    };
    let (old, new) = (lines(old), lines(Some(new)));
    for gone in old.difference(&new) {
        sections.line(classify.surface_line(gone), LineChange::Removed(gone.clone()));
    }
    for came in new.difference(&old) {
        sections.line(classify.surface_line(came), LineChange::Added(came.clone()));
    }
}

fn files(
    sections: &mut Sections,
    old: Option<&Baseline<'_>>,
    listed: &Entries,
    present: &Entries,
    new: &DiffSide<'_>,
    classify: &dyn Classify,
    out_of_time: &dyn Fn() -> bool,
) {
    let mut changes: Vec<(ChangeClass, FileChange)> = differing(listed, present)
        .into_iter()
        .map(|change| {
            let was = change.old.as_ref().map(|entry| (change.from.as_ref().unwrap_or(&change.path), entry));
            let is = change.new.as_ref().map(|entry| (&change.path, entry));
            // The worse class of the old and the new entry.
            let classes =
                [was, is].into_iter().flatten().map(|(path, entry)| classify.file(path, entry.kind));
            (classes.min().unwrap_or(ChangeClass::Other), change)
        })
        .collect();
    // Worst first, so that the least important texts are skipped when time runs out.
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

/// Files by path.
type Entries = BTreeMap<String, TreeEntry>;

/// Returns the entries of a plugin and of its shared directories, by path; `None` if one of the preimages is not one.
fn with_shared(preimage: &str, shared: &[(String, String)]) -> Option<Entries> {
    let own = entries(preimage)?;
    let mut all: Entries = own.into_iter().map(|(path, entry)| (path.to_owned(), entry)).collect();
    for (directory, list) in shared {
        let below = entries(list)?;
        let joined = |path: &str| match directory.as_str() {
            "" => path.to_owned(),
            _ => format!("{directory}/{path}"),
        };
        all.extend(below.into_iter().map(|(path, entry)| (joined(path), entry)));
    }
    Some(all)
}

/// Returns all changed files. A removed and an added file with the same contents are one renamed file.
fn differing(listed: &Entries, present: &Entries) -> Vec<FileChange> {
    let mut gone: BTreeMap<Digest, std::collections::VecDeque<&String>> = BTreeMap::new();
    // All empty files are equal, so they do not show a rename.
    for (path, entry) in listed.iter().filter(|(path, entry)| entry.size > 0 && !present.contains_key(*path))
    {
        if entry.kind != TreeEntryKind::Link {
            gone.entry(entry.digest).or_default().push_back(path);
        }
    }
    let mut from: BTreeMap<&String, &String> = BTreeMap::new();
    for (path, entry) in present.iter().filter(|(path, _)| !listed.contains_key(*path)) {
        if entry.kind == TreeEntryKind::Link {
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

fn identity(sections: &mut Sections, old: &Baseline<'_>, new: &DiffSide<'_>) {
    let mut change = |class, name: &str, before: Option<String>, after: Option<String>| {
        if before == after {
            return;
        }
        if let Some(before) = before {
            sections.line(class, LineChange::Removed(format!("{name}: {before}")));
        }
        if let Some(after) = after {
            sections.line(class, LineChange::Added(format!("{name}: {after}")));
        }
    };
    let keys: BTreeSet<&String> = old.identity.keys().chain(new.identity.keys()).collect();
    for key in keys {
        let (before, after) = (old.identity.get(key), new.identity.get(key));
        // A value that was not stored is not a change.
        if before.is_some() || !old.identity.is_empty() {
            change(ChangeClass::Identity, key, before.cloned(), after.cloned());
        }
    }
    let (before, after) = (old.facts, new.facts);
    change(ChangeClass::Identity, "signer", before.signer.clone(), after.signer.clone());
    let text = |digest: &Option<Digest>| digest.map(|digest| digest.to_string());
    change(ChangeClass::Identity, "marketplace entry", text(&before.entry), text(&after.entry));
    let shared: BTreeSet<&String> = before.shared.keys().chain(after.shared.keys()).collect();
    for name in shared {
        let text = |facts: &Facts| facts.shared.get(name).map(ToString::to_string);
        change(ChangeClass::Code, &format!("shared {name}"), text(before), text(after));
    }
    let closure = |facts: &Facts| facts.closure.map(|tree| tree.to_string());
    change(ChangeClass::Code, "files outside the plugin", closure(before), closure(after));
    if old.preimage.is_none() {
        change(ChangeClass::Other, "tree", Some(before.tree.to_string()), Some(after.tree.to_string()));
        let dialects: BTreeSet<&String> = before.manifest.keys().chain(after.manifest.keys()).collect();
        for dialect in dialects {
            let text = |facts: &Facts| facts.manifest.get(dialect).map(ToString::to_string);
            change(ChangeClass::Other, &format!("{dialect} manifest"), text(before), text(after));
        }
    }
}
