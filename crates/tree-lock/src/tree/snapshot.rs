//! The contents of a directory, read once.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, Part, TreeDigest};

use crate::problem::error::TreeError;
use crate::problem::{TreeProblem, TreeProblemKind, TreeRefusal, TreeWarning};
use crate::read::links::{NodeKind, Nodes};
use crate::tree::entry::SnapshotEntry;
use crate::tree::exclude::Excludes;
use crate::tree::list::{EntryKind, TreeList};

/// The result of reading a directory.
#[derive(Debug)]
#[must_use = "a refused tree must not be loaded"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum TreeCheck {
    /// The directory is a tree, with these bytes.
    Read(Snapshot),
    /// The directory is refused for these problems.
    Refused(TreeRefusal),
}

/// The result of digesting a snapshot with a longer exclude list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a refused tree must not be loaded"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum ListCheck {
    /// The list, with its digest.
    Listed(TreeList),
    /// A symlink leads to an excluded name, or a name is another spelling of an excluded one.
    Refused(TreeRefusal),
}

/// The source of the execute bits of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host must answer for each source")]
pub enum ExecSource {
    /// The modes of the files.
    Modes,
    /// A recorded list, because the file system has no execute bits.
    Recorded,
    /// None, so no file is executable. Such a digest is valid on this machine only and is never written to a lockfile.
    Unknown,
}

/// The target of a symlink, as an index into the rows or directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    Row(u32),
    Directory(u32),
    Root,
}

#[derive(Debug)]
pub(crate) struct Row {
    /// The offset of the path in the text of the list. The path is stored only there.
    pub(crate) start: usize,
    pub(crate) len: u32,
    pub(crate) kind: EntryKind,
    pub(crate) landing: LinkTarget,
    pub(crate) digest: Digest,
    /// A vector and not a boxed slice: freeing the spare byte (see [`crate::read`]) could copy the file.
    pub(crate) bytes: Vec<u8>,
}

/// The contents of a directory, read once: file bytes, symlink targets, and the digest over both.
///
/// # Guarantees
/// The digest is that of the bytes in the snapshot, whatever happens to the directory later. Each file had one size,
/// one identity and one set of times from before its first byte was read until after its last, and each directory
/// listed the same names before and after. A change during the read that keeps the size and the times may not be
/// detected; the digest is that of the bytes in the snapshot even then.
pub struct Snapshot {
    pub(crate) list: TreeList,
    pub(crate) rows: Vec<Row>,
    /// All directories except the root, also empty ones, sorted.
    pub(crate) directories: Vec<Box<str>>,
    pub(crate) exclude: Excludes,
    pub(crate) exec: ExecSource,
    pub(crate) warnings: Vec<TreeWarning>,
    pub(crate) warnings_left_out: usize,
    pub(crate) size: u64,
}

pub(crate) fn widen(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("digest", self.list.digest())
            .field("entries", &self.rows.len())
            .field("bytes", &self.size)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns the digest.
    #[must_use]
    pub const fn digest(&self) -> &TreeDigest {
        self.list.digest()
    }

    /// Returns the hashed text, which `plugward digest --list` prints.
    #[must_use]
    pub fn preimage(&self) -> &str {
        self.list.as_str()
    }

    /// Returns the list of the tree, whose text is [`Snapshot::preimage`].
    #[must_use]
    pub const fn list(&self) -> &TreeList {
        &self.list
    }

    /// Returns the names that the digest leaves out.
    #[must_use]
    pub const fn exclude(&self) -> &Excludes {
        &self.exclude
    }

    /// Returns the source of the execute bits.
    #[must_use]
    pub const fn exec_source(&self) -> ExecSource {
        self.exec
    }

    /// Returns the warnings for the report, ordered by path, at most 100.
    #[must_use]
    pub fn warnings(&self) -> &[TreeWarning] {
        &self.warnings
    }

    /// Returns the number of warnings above that limit.
    #[must_use]
    pub const fn warnings_left_out(&self) -> usize {
        self.warnings_left_out
    }

    /// Returns the total size of all files and symlink targets, in bytes.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        self.size
    }

    /// Returns the number of files and symlinks.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if there is neither a file nor a symlink.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn row_path(&self, row: &Row) -> &str {
        self.list.as_str().part(row.start..row.start + widen(row.len))
    }

    pub(crate) fn find(&self, path: &str) -> Result<usize, usize> {
        self.rows.binary_search_by(|row| self.row_path(row).cmp(path))
    }

    pub(crate) fn entry(&self, index: usize) -> Option<SnapshotEntry<'_>> {
        self.rows.get(index).map(|row| SnapshotEntry::new(self, row))
    }

    /// Returns the file or symlink with exactly this path. Symlinks are not followed.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<SnapshotEntry<'_>> {
        self.entry(self.find(path).ok()?)
    }

    /// Returns all files and symlinks, sorted by the bytes of their paths.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = SnapshotEntry<'_>> + Clone {
        self.rows.iter().map(|row| SnapshotEntry::new(self, row))
    }

    /// Returns all files and symlinks below a directory, at any depth, sorted by the bytes of their paths.
    ///
    /// The empty path is the root. Symlinks in the path are not followed; see [`Snapshot::resolve`].
    pub fn under(&self, directory: &str) -> impl Iterator<Item = SnapshotEntry<'_>> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let start = self.find(&prefix).unwrap_or_else(|at| at);
        let rows = self.rows.part(start..);
        rows.iter()
            .map(|row| SnapshotEntry::new(self, row))
            .take_while(move |entry| entry.path().starts_with(&prefix))
    }

    /// Returns all directories below the root, sorted. Empty ones are included but not part of the digest.
    pub fn directories(&self) -> impl ExactSizeIterator<Item = &str> {
        self.directories.iter().map(AsRef::as_ref)
    }

    /// Returns the paths of the executable files, sorted, as a lock entry stores them.
    pub fn executables(&self) -> impl Iterator<Item = &str> {
        self.entries().filter(|entry| entry.is_executable()).map(SnapshotEntry::path)
    }

    pub(crate) fn directory_at(&self, path: &str) -> Option<usize> {
        self.directories.binary_search_by(|known| known.as_ref().cmp(path)).ok()
    }

    /// Digests the same bytes with a longer exclude list.
    ///
    /// If a pin and a lockfile exclude different names, the directory is read with the excludes that both share. Each
    /// digest is then taken with its own list.
    ///
    /// # Errors
    /// `tree/not-read` if `exclude` does not contain a name that was excluded when the directory was read.
    pub fn list_under(&self, exclude: &Excludes) -> Result<ListCheck, TreeError> {
        if !exclude.covers(&self.exclude) {
            let missing = Excludes::new(self.exclude.iter().filter(|name| !exclude.contains(name)));
            return Err(TreeError::not_read(missing.map(|names| names.to_string()).unwrap_or_default()));
        }
        let stays = |path: &str| !exclude.contains(path.split('/').next().unwrap_or(path));
        let mut problems = self.link_problems(exclude, &stays);
        problems.extend(self.second_spellings(exclude));
        if !problems.is_empty() {
            return Ok(ListCheck::Refused(TreeRefusal::new(problems)));
        }
        let lines = self.entries().map(SnapshotEntry::line).filter(|line| stays(line.path));
        Ok(ListCheck::Listed(TreeList::render(exclude, lines)))
    }

    /// Finds root-level names that another system treats as an excluded one, as reading with that list would.
    fn second_spellings(&self, exclude: &Excludes) -> Vec<TreeProblem> {
        let keys: BTreeMap<String, &str> =
            exclude.iter().map(|name| (crate::tree::name::collision_key(name), name)).collect();
        let root = |path: &'_ str| path.split('/').next().unwrap_or(path).to_owned();
        let names: BTreeSet<String> =
            self.entries().map(|entry| root(entry.path())).chain(self.directories().map(root)).collect();
        let second = names.into_iter().filter_map(|name| {
            let with = *keys.get(&crate::tree::name::collision_key(&name))?;
            (with != name)
                .then(|| TreeProblem::new(name, TreeProblemKind::Collision { with: with.to_owned() }))
        });
        second.collect()
    }

    fn link_problems(&self, exclude: &Excludes, stays: &dyn Fn(&str) -> bool) -> Vec<TreeProblem> {
        let files = self.entries().map(|entry| {
            let what = match entry.kind() {
                EntryKind::Link => NodeKind::Link(entry.target()),
                EntryKind::File | EntryKind::Executable => NodeKind::File,
            };
            (entry.path(), what)
        });
        let mut listed: Vec<_> =
            files.chain(self.directories().map(|path| (path, NodeKind::Directory))).collect();
        listed.retain(|(path, _)| stays(path));
        listed.sort_unstable_by_key(|(path, _)| *path);
        let landings = Nodes::new(listed, exclude).landings();
        let faults = landings.into_iter().filter_map(|(path, landing)| Some((path, landing.err()?)));
        faults.map(|(path, fault)| TreeProblem::new(path, fault.problem())).collect()
    }
}
