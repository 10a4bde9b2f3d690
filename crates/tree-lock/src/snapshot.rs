//! A folder that was read once: its bytes, and everything that is answered from them.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, TreeDigest};

use crate::entry::Entry;
use crate::error::TreeError;
use crate::exclude::Excludes;
use crate::links::{Listed, Nodes};
use crate::list::{EntryKind, TreeList};
use crate::problem::{Notice, TreeProblem, TreeProblemKind, TreeRefusal};

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
    /// A link leads into what the longer list leaves out, or a name is a second spelling of one on it.
    Refused(TreeRefusal),
}

/// Where the kinds `f` and `x` were taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host must answer for each source")]
pub enum ExecSource {
    /// The files' own bits.
    Modes,
    /// A recorded list: the file system keeps no bits.
    Recorded,
    /// Nowhere, so all are `f`: the digest holds on this machine only and is never put into a lock.
    Unknown,
}

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Landing {
    Row(u32),
    Folder(u32),
    Root,
}

#[derive(Debug)]
pub(crate) struct Row {
    /// Where in the list's text the path stands, so that it is kept once.
    pub(crate) start: usize,
    pub(crate) len: u32,
    pub(crate) kind: EntryKind,
    pub(crate) landing: Landing,
    pub(crate) digest: Digest,
    /// A vector, since its spare byte (see [`crate::read`]) would cost a copy of the file to give back.
    pub(crate) bytes: Vec<u8>,
}

/// A folder that was read once: every file's bytes, every link's target, and the digest over all of them.
///
/// # Guarantees
/// The digest is of the bytes in here, whatever has become of the folder since. Each file had one size, one
/// identity and one set of times from before its first byte was read until after its last, and each folder listed
/// the same names before and after. A change that keeps size and times, made while a file was read, may go
/// unnoticed; the bytes here are still the ones that were digested.
///
/// # Source
/// ADR-0011: `PLUGINS.lock`; HyperAgent hashed the disk and not what was audited.
pub struct Snapshot {
    pub(crate) list: TreeList,
    pub(crate) rows: Vec<Row>,
    /// All folders, empty ones too, sorted; the root is not among them.
    pub(crate) folders: Vec<Box<str>>,
    pub(crate) exclude: Excludes,
    pub(crate) exec: ExecSource,
    pub(crate) notices: Vec<Notice>,
    pub(crate) notices_left_out: usize,
    pub(crate) size: u64,
}

pub(crate) fn wide(index: u32) -> usize {
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

    /// Returns the text that was hashed: what `plugward digest --list` prints.
    #[must_use]
    pub fn preimage(&self) -> &str {
        self.list.as_str()
    }

    /// Returns the list.
    #[must_use]
    pub const fn list(&self) -> &TreeList {
        &self.list
    }

    /// Returns what the digest leaves out.
    #[must_use]
    pub const fn exclude(&self) -> &Excludes {
        &self.exclude
    }

    /// Returns the source of the execute bits.
    #[must_use]
    pub const fn exec_source(&self) -> ExecSource {
        self.exec
    }

    /// Returns what is worth a line in the report: at most 100, ordered by path.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Returns the number of further notices.
    #[must_use]
    pub const fn notices_left_out(&self) -> usize {
        self.notices_left_out
    }

    /// Returns the bytes of all files and link targets together.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        self.size
    }

    /// Returns the number of files and links.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there is neither file nor link.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn row_path(&self, row: &Row) -> &str {
        self.list.as_str().get(row.start..row.start.saturating_add(wide(row.len))).unwrap_or_default()
    }

    pub(crate) fn find(&self, path: &str) -> Result<usize, usize> {
        self.rows.binary_search_by(|row| self.row_path(row).cmp(path))
    }

    pub(crate) fn entry(&self, index: usize) -> Option<Entry<'_>> {
        self.rows.get(index).map(|row| Entry::new(self, row))
    }

    /// Finds the file or link of exactly this path; no link is followed.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<Entry<'_>> {
        self.entry(self.find(path).ok()?)
    }

    /// Returns all files and links, in bytewise order of their paths.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + Clone {
        self.rows.iter().map(|row| Entry::new(self, row))
    }

    /// Returns all files and links below a folder, at any depth, in bytewise order; the empty path is the root.
    ///
    /// The path is taken as it is: a link to a folder has nothing below it. [`Snapshot::resolve`] follows.
    pub fn under(&self, folder: &str) -> impl Iterator<Item = Entry<'_>> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let start = self.find(&prefix).unwrap_or_else(|at| at);
        let rows = self.rows.get(start..).unwrap_or_default();
        rows.iter()
            .map(|row| Entry::new(self, row))
            .take_while(move |entry| entry.path().starts_with(&prefix))
    }

    /// Returns all folders below the root, empty ones too, in bytewise order. Empty ones have no part in the digest.
    pub fn folders(&self) -> impl ExactSizeIterator<Item = &str> {
        self.folders.iter().map(AsRef::as_ref)
    }

    /// Returns the paths of the files with the execute bit, in bytewise order: `executable` of a lock entry.
    pub fn executables(&self) -> impl Iterator<Item = &str> {
        self.entries().filter(|entry| entry.is_executable()).map(Entry::path)
    }

    pub(crate) fn folder_at(&self, path: &str) -> Option<usize> {
        self.folders.binary_search_by(|known| known.as_ref().cmp(path)).ok()
    }

    /// Digests the same bytes under a longer exclude list: where a pin and a lock exclude different names, the
    /// folder is read with what both leave out, and each digest is taken over its own list.
    ///
    /// # Errors
    /// `tree/not-read` where `exclude` has less on it than the list that the folder was read with.
    pub fn list_under(&self, exclude: &Excludes) -> Result<ListCheck, TreeError> {
        if !exclude.covers(&self.exclude) {
            let missing = Excludes::new(self.exclude.iter().filter(|name| !exclude.contains(name)));
            return Err(TreeError::not_read(missing.map(|names| names.to_string()).unwrap_or_default()));
        }
        let stays = |path: &str| !exclude.contains(path.split('/').next().unwrap_or_default());
        let mut problems = self.link_problems(exclude, &stays);
        problems.extend(self.second_spellings(exclude));
        if !problems.is_empty() {
            return Ok(ListCheck::Refused(TreeRefusal::new(problems)));
        }
        let lines = self.entries().map(Entry::line).filter(|line| stays(line.path));
        Ok(ListCheck::Listed(TreeList::render(exclude, lines)))
    }

    /// Finds root-level names that another system takes for an excluded one, as reading with that list would.
    fn second_spellings(&self, exclude: &Excludes) -> Vec<TreeProblem> {
        let keys: BTreeMap<String, &str> =
            exclude.iter().map(|name| (crate::name::collision_key(name), name)).collect();
        let root = |path: &'_ str| path.split('/').next().unwrap_or_default().to_owned();
        let names: BTreeSet<String> =
            self.entries().map(|entry| root(entry.path())).chain(self.folders().map(root)).collect();
        let second = names.into_iter().filter_map(|name| {
            let with = *keys.get(&crate::name::collision_key(&name))?;
            (with != name)
                .then(|| TreeProblem::new(name, TreeProblemKind::Collision { with: with.to_owned() }))
        });
        second.collect()
    }

    fn link_problems(&self, exclude: &Excludes, stays: &dyn Fn(&str) -> bool) -> Vec<TreeProblem> {
        let files = self.entries().map(|entry| {
            let what = match entry.kind() {
                EntryKind::Link => Listed::Link(entry.target()),
                EntryKind::File | EntryKind::Executable => Listed::File,
            };
            (entry.path(), what)
        });
        let mut listed: Vec<_> = files.chain(self.folders().map(|path| (path, Listed::Folder))).collect();
        listed.retain(|(path, _)| stays(path));
        listed.sort_unstable_by_key(|(path, _)| *path);
        let landings = Nodes::new(listed, exclude).landings();
        let faults = landings.into_iter().filter_map(|(path, landing)| Some((path, landing.err()?)));
        faults.map(|(path, fault)| TreeProblem::new(path, fault.problem())).collect()
    }
}
