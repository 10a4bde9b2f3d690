//! Digests of one snapshot under other excludes than those it was read with.

use std::collections::{BTreeMap, BTreeSet};

use plugward_pinstore::Facts;
use plugward_tree_lock::{EntryKind, Excludes, ListCheck, Snapshot, TreeList};
use plugward_types::{Digest, TreeDigest};

use crate::discovery::discover::CONTROL;

/// Returns the digest under other excludes, or `None` if the snapshot lacks files that they include.
///
/// Version control directories are not read, and the preimage lists exactly the given names. So a pin or a lock entry
/// matches whether or not the directory is a repository now. A file that has the name of one is never left out.
pub(crate) fn under(snapshot: &Snapshot, excludes: &Excludes) -> Option<TreeDigest> {
    if excludes == snapshot.exclude() {
        return Some(*snapshot.digest());
    }
    Some(*list_under(snapshot, excludes)?.digest())
}

fn list_under(snapshot: &Snapshot, excludes: &Excludes) -> Option<TreeList> {
    let unread = || snapshot.exclude().iter().filter(|name| !excludes.contains(name));
    let is_file = |name: &str| CONTROL.contains(&name) && snapshot.get(name).is_some();
    if unread().any(|name| !CONTROL.contains(&name)) || excludes.iter().any(is_file) {
        return None;
    }
    let all = Excludes::new(excludes.iter().chain(unread())).ok()?;
    let Ok(ListCheck::Listed(list)) = snapshot.list_under(&all) else { return None };
    if unread().next().is_none() {
        return Some(list);
    }
    naming(&list, excludes)
}

/// Returns a list that names only the given excludes.
fn naming(list: &TreeList, excludes: &Excludes) -> Option<TreeList> {
    let is_listed = |line: &&str| line.strip_prefix("exclude ").is_none_or(|name| excludes.contains(name));
    let lines: Vec<&str> = list.as_str().lines().filter(is_listed).collect();
    TreeList::parse(&format!("{}\n", lines.join("\n"))).ok()
}

/// Returns the digest that the tree had under the given excludes before a lockfile was written into it.
pub(crate) fn before_lock(snapshot: &Snapshot, excludes: &Excludes) -> Option<TreeDigest> {
    let list = list_under(snapshot, &with_lock_files(excludes))?;
    Some(*naming(&list, excludes)?.digest())
}

/// Returns the excludes together with the lockfile and signature at the top of the tree.
pub(crate) fn with_lock_files(excludes: &Excludes) -> Excludes {
    let names: Vec<&str> = excludes.iter().chain(["PLUGINS.lock", "PLUGINS.lock.minisig"]).collect();
    // The names are valid excludes, so this does not fail.
    Excludes::new(names).unwrap_or_else(|_| excludes.clone())
}

/// Returns the digest without the lockfile at the top of the tree.
pub(crate) fn without_lock(snapshot: &Snapshot) -> Option<TreeDigest> {
    under(snapshot, &with_lock_files(snapshot.exclude()))
}

/// The files that OpenClaw writes into a skill when it installs it.
const WRITTEN_BY_HOSTS: [&str; 2] = [".clawhub/origin.json", ".openclaw/source-origin.json"];

/// Returns the digests that a directory can have had before its host installed it: as a repository, and without the files
/// that the host writes.
pub(crate) fn before_installation(snapshot: &Snapshot) -> BTreeSet<TreeDigest> {
    let excludes = snapshot.exclude();
    let repository = Excludes::new(excludes.iter().chain([".git"])).ok();
    let lists = core::iter::once(excludes).chain(&repository).filter_map(|one| list_under(snapshot, one));
    let is_written = |line: &str| {
        let path = line.splitn(4, ' ').nth(3);
        path.is_some_and(|path| WRITTEN_BY_HOSTS.contains(&path))
    };
    let both = lists.flat_map(|list| {
        let lines: Vec<&str> = list.as_str().lines().filter(|line| !is_written(line)).collect();
        let own = TreeList::parse(&format!("{}\n", lines.join("\n"))).ok();
        [Some(*list.digest()), own.map(|list| *list.digest())]
    });
    both.flatten().collect()
}

/// Returns the digest of a directory inside the snapshot, as if it had been read by itself.
pub(crate) fn inside(snapshot: &Snapshot, dir: &str) -> Option<TreeDigest> {
    let mut text = String::new();
    for line in snapshot.preimage().lines() {
        if line == "plugtree-v1" || line.starts_with("exclude ") {
            text.push_str(&format!("{line}\n"));
            continue;
        }
        // Kind, digest and size contain no spaces; the rest of the line is the path.
        let at = line.match_indices(' ').nth(2).map_or(0, |(at, _)| at.saturating_add(1));
        let Some((row, path)) = line.split_at_checked(at) else { continue };
        if let Some(inner) = path.strip_prefix(dir).and_then(|path| path.strip_prefix('/')) {
            text.push_str(&format!("{row}{inner}\n"));
        }
    }
    TreeList::parse(&text).ok().map(|list| *list.digest())
}

/// Returns the SHA-256 of each file, or of a symlink's target, without the excluded names.
pub(crate) fn files<'e>(
    snapshot: &Snapshot,
    exclude: impl Iterator<Item = &'e str>,
) -> BTreeMap<String, Digest> {
    let exclude: BTreeSet<&str> = exclude.collect();
    let is_excluded = |path: &str| path.split('/').next().is_some_and(|top| exclude.contains(top));
    let entries = snapshot.entries().filter(|entry| !is_excluded(entry.path()));
    entries.map(|entry| (entry.path().to_owned(), *entry.digest())).collect()
}

/// Returns the names that were excluded when a tree was read.
pub(crate) fn excludes_of(observed: &Facts) -> Excludes {
    let names = Excludes::new(observed.exclude.iter().map(String::as_str));
    debug_assert!(names.is_ok(), "names that no tree can exclude: {:?}", observed.exclude);
    names.unwrap_or_default()
}

/// Returns the preimage under other excludes, or the snapshot's own if that cannot be computed.
pub(crate) fn preimage(snapshot: &Snapshot, excludes: &Excludes) -> String {
    let list = list_under(snapshot, excludes);
    list.map_or_else(|| snapshot.preimage().to_owned(), |list| list.as_str().to_owned())
}

/// The only difference between a tree and an expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnlyDifference {
    LineEndings,
    ExecuteBits,
    Both,
}

impl OnlyDifference {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::LineEndings => "only line endings differ",
            Self::ExecuteBits => "only execute bits differ",
            Self::Both => "only line endings and execute bits differ",
        }
    }
}

/// Returns the only difference to one of the expected trees, if it is of this kind. `executable` lists the files that had
/// the execute bit.
pub(crate) fn only_difference(
    snapshot: &Snapshot,
    excludes: &Excludes,
    expected: &BTreeSet<TreeDigest>,
    executable: &BTreeSet<String>,
) -> Option<OnlyDifference> {
    let list = list_under(snapshot, excludes)?;
    let is = |endings: Option<LineEnding>, bits: Option<&BTreeSet<String>>| {
        let text = rewritten(list.as_str(), snapshot, endings, bits);
        TreeList::parse(&text).is_ok_and(|list| expected.contains(list.digest()))
    };
    if is(None, Some(executable)) {
        return Some(OnlyDifference::ExecuteBits);
    }
    for ending in [LineEnding::Lf, LineEnding::CrLf] {
        if is(Some(ending), None) {
            return Some(OnlyDifference::LineEndings);
        }
        if is(Some(ending), Some(executable)) {
            return Some(OnlyDifference::Both);
        }
    }
    None
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnding {
    Lf,
    CrLf,
}

/// Returns a list as if its files had other line endings or execute bits.
fn rewritten(
    list: &str,
    snapshot: &Snapshot,
    ending: Option<LineEnding>,
    executable: Option<&BTreeSet<String>>,
) -> String {
    let mut out = String::new();
    for line in list.lines() {
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        let [kind, digest, size, path] = *parts.as_slice() else {
            out.push_str(&format!("{line}\n"));
            continue;
        };
        let Some(entry) = snapshot.get(path).filter(|entry| entry.kind() != EntryKind::Link) else {
            out.push_str(&format!("{line}\n"));
            continue;
        };
        let kind = match executable {
            Some(files) if files.contains(path) => "x",
            Some(_) => "f",
            None => kind,
        };
        match ending.and_then(|ending| with_ending(entry.bytes(), ending)) {
            Some(bytes) => {
                let digest = crate::contents::hash::sha256(&bytes).hex();
                out.push_str(&format!("{kind} {digest} {} {path}\n", bytes.len()));
            }
            None => out.push_str(&format!("{kind} {digest} {size} {path}\n")),
        }
    }
    out
}

/// Returns a text with other line endings. Git converts no file that contains a NUL.
fn with_ending(bytes: &[u8], ending: LineEnding) -> Option<Vec<u8>> {
    let text = core::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let plain = text.replace("\r\n", "\n");
    Some(match ending {
        LineEnding::Lf => plain.into_bytes(),
        LineEnding::CrLf => plain.replace('\n', "\r\n").into_bytes(),
    })
}
