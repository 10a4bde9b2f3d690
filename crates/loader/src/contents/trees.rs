//! Digests of one snapshot under other excludes than those it was read with.

use std::collections::{BTreeMap, BTreeSet};

use plugward_tree_lock::{Excludes, ListCheck, Snapshot, TreeList};
use plugward_types::{Digest, TreeDigest};

/// Returns the digest under other excludes, or `None` if the snapshot lacks files that they include.
pub(crate) fn under(snapshot: &Snapshot, excludes: &Excludes) -> Option<TreeDigest> {
    if excludes == snapshot.exclude() {
        return Some(*snapshot.digest());
    }
    match snapshot.list_under(excludes) {
        Ok(ListCheck::Listed(list)) => Some(*list.digest()),
        Ok(ListCheck::Refused(_)) | Err(_) => None,
    }
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

/// Returns the preimage under other excludes, or the snapshot's own if that cannot be computed.
pub(crate) fn preimage(snapshot: &Snapshot, excludes: &Excludes) -> String {
    match snapshot.list_under(excludes) {
        Ok(ListCheck::Listed(list)) => list.as_str().to_owned(),
        Ok(ListCheck::Refused(_)) | Err(_) => snapshot.preimage().to_owned(),
    }
}
