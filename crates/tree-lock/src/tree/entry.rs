//! Entries of a snapshot, and path lookup that follows symlinks.

use core::fmt;

use plugward_types::Digest;

use crate::tree::list::{EntryKind, ListLine};
use crate::tree::snapshot::{LinkTarget, Row, Snapshot, widen};

/// One file or symlink of a snapshot.
#[derive(Clone, Copy)]
pub struct SnapshotEntry<'a> {
    snapshot: &'a Snapshot,
    row: &'a Row,
}

/// The file or directory that a path of a snapshot leads to after symlinks are followed.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a tree has files and directories")]
pub enum ResolvedEntry<'a> {
    /// A file. Its path differs from the requested one if a symlink was followed.
    File(SnapshotEntry<'a>),
    /// A directory, by its path; empty for the root.
    Directory(&'a str),
}

impl<'a> SnapshotEntry<'a> {
    pub(crate) const fn new(snapshot: &'a Snapshot, row: &'a Row) -> Self {
        Self { snapshot, row }
    }

    /// Returns the relative path with `/`. It contains no control character and no `\`.
    #[must_use]
    pub fn path(self) -> &'a str {
        self.snapshot.row_path(self.row)
    }

    /// Returns whether the entry is a file, an executable file or a symlink.
    #[must_use]
    pub const fn kind(self) -> EntryKind {
        self.row.kind
    }

    /// Returns the contents of a file, or the target of a symlink.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.row.bytes.as_slice()
    }

    /// Returns the SHA-256 of [`SnapshotEntry::bytes`].
    #[must_use]
    pub const fn digest(self) -> &'a Digest {
        &self.row.digest
    }

    /// Returns the unresolved target of a symlink; `None` for a file.
    #[must_use]
    pub fn target(self) -> Option<&'a str> {
        if self.row.kind == EntryKind::Link { core::str::from_utf8(&self.row.bytes).ok() } else { None }
    }

    /// Returns `true` if the entry is a file with the owner's execute bit.
    #[must_use]
    pub fn is_executable(self) -> bool {
        self.row.kind == EntryKind::Executable
    }

    pub(crate) fn line(self) -> ListLine<'a> {
        ListLine {
            kind: self.row.kind,
            digest: self.row.digest,
            size: u64::try_from(self.row.bytes.len()).unwrap_or(u64::MAX),
            path: self.path(),
        }
    }
}

impl fmt::Debug for SnapshotEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("path", &self.path())
            .field("kind", &self.row.kind)
            .field("digest", &self.row.digest)
            .field("bytes", &self.row.bytes.len())
            .finish()
    }
}

/// The object that the components resolved so far lead to.
#[derive(Debug, Clone, Copy)]
enum Position<'a> {
    Directory(&'a str),
    Row(usize),
}

impl Snapshot {
    /// Resolves a path inside this snapshot, as the system would when a program opens it.
    ///
    /// Symlinks are followed in every component, `.` and empty components are dropped, and `..` is the parent. The file
    /// system is not accessed. Returns `None` if nothing has that path, if a component before the last is a file, and
    /// if the path leads out of the tree.
    #[must_use]
    pub fn resolve(&self, path: &str) -> Option<ResolvedEntry<'_>> {
        if path.starts_with('/') {
            return None;
        }
        let mut at = Position::Directory("");
        for part in path.split('/') {
            if matches!(part, "" | ".") {
                continue;
            }
            let Position::Directory(directory) = at else {
                return None;
            };
            at = match part {
                ".." if directory.is_empty() => return None,
                ".." => Position::Directory(directory.rsplit_once('/').map_or("", |(parent, _)| parent)),
                name => self.step(directory, name)?,
            };
        }
        match at {
            Position::Directory(path) => Some(ResolvedEntry::Directory(path)),
            Position::Row(index) => self.entry(index).map(ResolvedEntry::File),
        }
    }

    fn step(&self, directory: &str, name: &str) -> Option<Position<'_>> {
        let joined = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        let directory_at = |index: usize| self.directories.get(index).map(|path| Position::Directory(path));
        let Ok(index) = self.find(&joined) else {
            return directory_at(self.directory_at(&joined)?);
        };
        match self.rows.get(index)? {
            Row { kind: EntryKind::Link, landing, .. } => match landing {
                LinkTarget::Root => Some(Position::Directory("")),
                LinkTarget::Directory(index) => directory_at(widen(*index)),
                LinkTarget::Row(index) => Some(Position::Row(widen(*index))),
            },
            _ => Some(Position::Row(index)),
        }
    }

    /// Returns the file that a path leads to, as [`Snapshot::resolve`] does.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<SnapshotEntry<'_>> {
        match self.resolve(path)? {
            ResolvedEntry::File(entry) => Some(entry),
            ResolvedEntry::Directory(_) => None,
        }
    }
}
