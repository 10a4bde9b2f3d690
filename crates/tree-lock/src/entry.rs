//! One file or link of a snapshot, and what a path of it leads to.

use core::fmt;

use plugward_types::Digest;

use crate::list::{EntryKind, ListLine};
use crate::snapshot::{Landing, Row, Snapshot, wide};

/// One file or link of a snapshot.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    snapshot: &'a Snapshot,
    row: &'a Row,
}

/// What a path of a snapshot leads to, links followed.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a tree has files and folders")]
pub enum Place<'a> {
    /// A file; its own path, which is another than the one asked for if a link was followed.
    File(Entry<'a>),
    /// A folder; its own path, empty for the root.
    Folder(&'a str),
}

impl<'a> Entry<'a> {
    pub(crate) const fn new(snapshot: &'a Snapshot, row: &'a Row) -> Self {
        Self { snapshot, row }
    }

    /// Returns the path, relative, with `/`; no control character and no `\` is in it.
    #[must_use]
    pub fn path(self) -> &'a str {
        self.snapshot.row_path(self.row)
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(self) -> EntryKind {
        self.row.kind
    }

    /// Returns the content of a file, or the target of a link.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.row.bytes.as_slice()
    }

    /// Returns the SHA-256 of [`Entry::bytes`].
    #[must_use]
    pub const fn digest(self) -> &'a Digest {
        &self.row.digest
    }

    /// Returns a link's target, as it stands; `None` for a file.
    #[must_use]
    pub fn target(self) -> Option<&'a str> {
        if self.row.kind == EntryKind::Link { core::str::from_utf8(&self.row.bytes).ok() } else { None }
    }

    /// Returns whether it is a file with the owner's execute bit.
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

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("path", &self.path())
            .field("kind", &self.row.kind)
            .field("digest", &self.row.digest)
            .field("bytes", &self.row.bytes.len())
            .finish()
    }
}

/// Where a walk along a path stands.
#[derive(Debug, Clone, Copy)]
enum Stand<'a> {
    Folder(&'a str),
    Row(usize),
}

impl Snapshot {
    /// Finds what a path leads to, inside this snapshot, as a program would that opens it: links are followed, at
    /// any part; `.` and empty parts are dropped, `..` goes up.
    ///
    /// The answer is of the bytes that were read; nothing on the disk is looked at.
    /// `None` where nothing is there, where a part on the way is a file, and where the path leaves the folder.
    #[must_use]
    pub fn resolve(&self, path: &str) -> Option<Place<'_>> {
        if path.starts_with('/') {
            return None;
        }
        let mut at = Stand::Folder("");
        for part in path.split('/') {
            if matches!(part, "" | ".") {
                continue;
            }
            let Stand::Folder(folder) = at else {
                return None;
            };
            at = match part {
                ".." if folder.is_empty() => return None,
                ".." => Stand::Folder(folder.rsplit_once('/').map_or("", |(parent, _)| parent)),
                name => self.step(folder, name)?,
            };
        }
        match at {
            Stand::Folder(path) => Some(Place::Folder(path)),
            Stand::Row(index) => self.entry(index).map(Place::File),
        }
    }

    fn step(&self, folder: &str, name: &str) -> Option<Stand<'_>> {
        let joined = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let folder_at = |index: usize| self.folders.get(index).map(|path| Stand::Folder(path));
        let Ok(index) = self.find(&joined) else {
            return folder_at(self.folder_at(&joined)?);
        };
        match self.rows.get(index)? {
            Row { kind: EntryKind::Link, landing, .. } => match landing {
                Landing::Root => Some(Stand::Folder("")),
                Landing::Folder(index) => folder_at(wide(*index)),
                Landing::Row(index) => Some(Stand::Row(wide(*index))),
            },
            _ => Some(Stand::Row(index)),
        }
    }

    /// Finds the file that a path leads to; links are followed as in [`Snapshot::resolve`].
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Entry<'_>> {
        match self.resolve(path)? {
            Place::File(entry) => Some(entry),
            Place::Folder(_) => None,
        }
    }
}
