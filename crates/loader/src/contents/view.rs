//! Adapters that let the manifest and scanner crates read a snapshot.

use std::collections::BTreeSet;

use plugward_manifest::{Dialect, FileView, Files, Manifest, MarketplaceEntry};
use plugward_scanner::{Content, Entry, RoleHint};
use plugward_tree_lock::{EntryKind, ResolvedEntry, Snapshot};
use plugward_types::SurfaceDigest;

/// The most paths that symlinked directories can add, since nested links multiply paths.
const THROUGH_LINKS: usize = 20_000;

/// The files of a snapshot. Symlinks are followed inside it.
pub(crate) struct TreeFiles<'a> {
    snapshot: &'a Snapshot,
    /// Every path, sorted, including those through symlinked directories.
    paths: Vec<String>,
}

impl<'a> TreeFiles<'a> {
    /// Lists a snapshot. A symlink to a directory is followed once, as a host does that opens a path
    /// through it.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let mut paths: Vec<String> = snapshot.entries().map(|entry| entry.path().to_owned()).collect();
        let mut more = Vec::new();
        for link in snapshot.entries().filter(|entry| entry.kind() == EntryKind::Link) {
            let Some(ResolvedEntry::Directory(own)) = snapshot.resolve(link.path()) else { continue };
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

/// Returns the part of a path inside a directory.
fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}

impl Files for TreeFiles<'_> {
    fn get(&self, path: &str) -> Option<FileView<'_>> {
        let entry = self.snapshot.file(path)?;
        Some(FileView { bytes: entry.bytes(), executable: entry.is_executable() })
    }

    fn under<'a>(&'a self, directory: &str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        let directory = directory.to_owned();
        let all = directory.is_empty() || directory == ".";
        let inside = move |path: &&'a str| all || below(path, &directory).is_some();
        Box::new(self.paths.iter().map(String::as_str).filter(inside))
    }
}

/// Returns the entries of a snapshot for the scanner, with the role that `hint` returns for each path.
///
/// A symlink to a file has the bytes of that file, because its name decides how a host reads them: `main.py` can lead to
/// `notes.txt`.
pub(crate) fn entries<'a>(snapshot: &'a Snapshot, hint: &dyn Fn(&str) -> RoleHint) -> Vec<Entry<'a>> {
    snapshot
        .entries()
        .map(|entry| Entry {
            path: entry.path(),
            content: match entry.kind() {
                EntryKind::Link => snapshot.file(entry.path()).map_or(Content::Link, |target| {
                    Content::Bytes { bytes: target.bytes(), digest: *target.digest() }
                }),
                EntryKind::File | EntryKind::Executable => {
                    Content::Bytes { bytes: entry.bytes(), digest: *entry.digest() }
                }
            },
            role: hint(entry.path()),
        })
        .collect()
}

/// One dialect of a plugin directory.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) dialect: Dialect,
    /// `None` if the manifest of this dialect was refused.
    pub(crate) manifest: Option<Manifest>,
    /// The marketplace entry that only this view merges.
    pub(crate) entry: Option<MarketplaceEntry>,
}

/// Returns the manifests that could be read.
pub(crate) fn manifests(views: &[View]) -> impl Iterator<Item = &Manifest> {
    views.iter().filter_map(|view| view.manifest.as_ref())
}

/// Returns the surfaces of all dialects as text, one item per line, without duplicate lines.
pub(crate) fn surface_text(views: &[View]) -> String {
    let mut texts = manifests(views).map(Manifest::surface_text);
    let Some(first) = texts.next() else { return String::new() };
    let rest: Vec<String> = texts.collect();
    if rest.is_empty() {
        return first;
    }
    let (head, body) = first.split_once('\n').unwrap_or((&first, ""));
    let others = rest.iter().flat_map(|text| text.lines().skip(1));
    let lines: BTreeSet<&str> = body.lines().chain(others).collect();
    let mut out = format!("{head}\n");
    for line in lines {
        out.push_str(line);
        out.push('\n');
    }
    out
}

pub(crate) fn surface_digest(views: &[View]) -> SurfaceDigest {
    SurfaceDigest::from_bytes(*crate::contents::hash::sha256(surface_text(views).as_bytes()).as_bytes())
}
