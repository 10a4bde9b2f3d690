//! A snapshot as the manifest's and the scanner's crates want to see it.

use plugward_manifest::{FileView, Files};
use plugward_scanner::{Content, Entry, RoleHint};
use plugward_tree_lock::{EntryKind, Place, Snapshot};

/// Most paths that links to folders may add.
const THROUGH_LINKS: usize = 20_000;

/// The files of a snapshot, links followed inside it.
pub(crate) struct TreeFiles<'a> {
    snapshot: &'a Snapshot,
    /// Every path, sorted, with those below links to folders.
    paths: Vec<String>,
}

impl<'a> TreeFiles<'a> {
    /// Lists a snapshot; a link to a folder is looked through once, as a host does that opens it by name.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let mut paths: Vec<String> = snapshot.entries().map(|entry| entry.path().to_owned()).collect();
        let mut more = Vec::new();
        for link in snapshot.entries().filter(|entry| entry.kind() == EntryKind::Link) {
            let Some(Place::Folder(own)) = snapshot.resolve(link.path()) else { continue };
            for entry in snapshot.entries() {
                let below = if own.is_empty() { Some(entry.path()) } else { below(entry.path(), own) };
                if let Some(rest) = below.filter(|_| more.len() < THROUGH_LINKS) {
                    more.push(format!("{}/{rest}", link.path()));
                }
            }
        }
        paths.append(&mut more);
        paths.sort();
        Self { snapshot, paths }
    }
}

/// The part of a path below a folder.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

impl Files for TreeFiles<'_> {
    fn get(&self, path: &str) -> Option<FileView<'_>> {
        let entry = self.snapshot.file(path)?;
        Some(FileView { bytes: entry.bytes(), executable: entry.is_executable() })
    }

    fn under<'a>(&'a self, folder: &str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        let folder = folder.to_owned();
        let all = folder.is_empty() || folder == ".";
        let inside = move |path: &&'a str| all || below(path, &folder).is_some();
        Box::new(self.paths.iter().map(String::as_str).filter(inside))
    }
}

/// Each entry of a snapshot for the scanner, with what the surface says of its use.
pub(crate) fn entries<'a>(snapshot: &'a Snapshot, hint: &dyn Fn(&str) -> RoleHint) -> Vec<Entry<'a>> {
    snapshot
        .entries()
        .map(|entry| Entry {
            path: entry.path(),
            content: match entry.kind() {
                EntryKind::Link => Content::Link,
                EntryKind::File | EntryKind::Executable => {
                    Content::Bytes { bytes: entry.bytes(), digest: *entry.digest() }
                }
            },
            role: hint(entry.path()),
        })
        .collect()
}
