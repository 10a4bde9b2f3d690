//! A snapshot as the manifest's and the scanner's crates want to see it.

use plugward_manifest::{FileView, Files};
use plugward_scanner::{Content, Entry, RoleHint};
use plugward_tree_lock::{EntryKind, Snapshot};

/// The files of a snapshot, links followed inside it.
pub(crate) struct TreeFiles<'a>(pub(crate) &'a Snapshot);

impl Files for TreeFiles<'_> {
    fn get(&self, path: &str) -> Option<FileView<'_>> {
        let entry = self.0.file(path)?;
        Some(FileView { bytes: entry.bytes(), executable: entry.is_executable() })
    }

    fn under<'a>(&'a self, folder: &str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        if folder.is_empty() || folder == "." {
            return Box::new(self.0.entries().map(plugward_tree_lock::Entry::path));
        }
        let paths: Vec<&'a str> = self.0.under(folder).map(plugward_tree_lock::Entry::path).collect();
        Box::new(paths.into_iter())
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
