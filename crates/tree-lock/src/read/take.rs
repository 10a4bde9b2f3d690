//! Taking a snapshot: list, resolve symlinks, read, list again, digest.

use core::num::NonZeroUsize;
use std::collections::{BTreeMap, BTreeSet};

use plugward_sandbox_path::{Dotfiles, Jail};
use sha2::{Digest as _, Sha256};

use crate::problem::error::TreeError;
use crate::problem::{MAX_LISTED, TreeProblem, TreeProblemKind, TreeRefusal, TreeWarning, TreeWarningKind};
use crate::read::files::{ReadDepth, ReadPlan, Retention, read_all};
use crate::read::item::{Item, ItemState, TreeListing};
use crate::read::links::{NodeKind, Nodes};
use crate::read::progress::{Progress, Silent};
use crate::read::walk::list;
use crate::tree::digested::{DigestCheck, DigestedTree};
use crate::tree::exclude::Excludes;
use crate::tree::limits::TreeLimits;
use crate::tree::list::{EntryKind, TreeList};
use crate::tree::snapshot::{ExecSource, LinkTarget, Row, Snapshot, TreeCheck};

/// The source of the execute bits for a read.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a host must choose among all sources")]
pub enum ExecBits<'a> {
    /// The modes of the files. On a system without modes, no file is executable.
    Modes,
    /// A list recorded on another system: the baseline, or `executable` of the lock entry.
    Recorded(&'a BTreeSet<String>),
    /// The file system has no execute bits and none are recorded, so no file is executable.
    Unknown,
}

/// The options of a read.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new choice must be made by every host")]
pub struct ReadOptions<'a> {
    /// The limits.
    pub limits: &'a TreeLimits,
    /// The names to leave out.
    pub exclude: &'a Excludes,
    /// The source of the execute bits.
    pub exec: ExecBits<'a>,
    /// The number of threads.
    pub jobs: NonZeroUsize,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
}

impl core::fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ReadOptions")
            .field("limits", self.limits)
            .field("exclude", self.exclude)
            .field("exec", &self.exec)
            .field("jobs", &self.jobs)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Reads a directory once: every file and symlink in the jail, except the excluded names.
    ///
    /// The result does not depend on `jobs`, on the order in which the file system lists, or on owners and times.
    ///
    /// # Errors
    /// `tree/io` if an entry cannot be listed or read, and `tree/jail` if the jail's policy hides dotfiles.
    ///
    /// # Guarantees
    /// Memory stays below the bytes of the files plus, for each entry, three times its path and about 250 bytes. A
    /// file above the limit is refused before it is read, and listing stops at the limit. No symlink is followed, and
    /// no call waits for the writer of a pipe. Each path that is refused as `tree/changed-while-read` was reported to
    /// the jail's observer once.
    ///
    /// # Examples
    /// ```
    /// use std::num::NonZeroUsize;
    /// use plugward_sandbox_path::{Jail, Policy};
    /// use plugward_tree_lock::{Excludes, TreeLimits, Snapshot, TreeCheck};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # std::fs::write(dir.path().join("plugin.json"), "{}\n")?;
    /// let jail = Jail::open(dir.path(), Policy::standard())?;
    /// let read = Snapshot::read(&jail, &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::MIN)?;
    /// assert!(matches!(read, TreeCheck::Read(tree) if tree.len() == 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(
        jail: &Jail,
        limits: &TreeLimits,
        exclude: &Excludes,
        jobs: NonZeroUsize,
    ) -> Result<TreeCheck, TreeError> {
        Self::read_with(
            jail,
            &ReadOptions { limits, exclude, exec: ExecBits::Modes, jobs, progress: &Silent },
        )
    }

    /// Reads a directory once, with all options.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub fn read_with(jail: &Jail, options: &ReadOptions<'_>) -> Result<TreeCheck, TreeError> {
        Ok(match take(jail, options, Retention::Bytes)? {
            Ok(taken) => TreeCheck::Read(build(taken, options)),
            Err(refusal) => TreeCheck::Refused(refusal),
        })
    }
}

impl Snapshot {
    /// Creates the tree of some files in memory, none of them executable, such as the parts of a settings file.
    ///
    /// The names have one component. Of two files with one name, the last counts.
    ///
    /// # Examples
    /// ```
    /// use plugward_tree_lock::Snapshot;
    ///
    /// let tree = Snapshot::of_files([("hooks.json", b"{}".to_vec())]);
    /// assert_eq!(tree.get("hooks.json").map(|entry| entry.bytes()), Some(&b"{}"[..]));
    /// ```
    #[must_use]
    pub fn of_files(files: impl IntoIterator<Item = (&'static str, Vec<u8>)>) -> Self {
        let files: BTreeMap<&str, Vec<u8>> = files.into_iter().collect();
        let item = |(path, bytes): (&str, Vec<u8>)| {
            let (size, digest) = (bytes.len() as u64, Sha256::digest(&bytes).into());
            Item { path: path.into(), state: ItemState::Read { bytes, size, digest, mode: 0o600 } }
        };
        let items: Vec<Item> = files.into_iter().map(item).collect();
        let options = ReadOptions {
            limits: &TreeLimits::standard(),
            exclude: &Excludes::none(),
            exec: ExecBits::Recorded(&BTreeSet::new()),
            jobs: NonZeroUsize::MIN,
            progress: &Silent,
        };
        let mut seen = TreeFacts::of(&items, Vec::new(), &options);
        // There is no file system here whose execute bits could be missing.
        seen.warnings.clear();
        let listed = TreeListing { items, ..TreeListing::default() };
        build(ListedTree { listed, landings: Vec::new(), seen }, &options)
    }
}

impl DigestedTree {
    /// Reads and hashes a directory once, as [`Snapshot::read`] does, and keeps none of its bytes.
    ///
    /// The answer is the same as a snapshot's: digest, list, warnings and refusals.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    ///
    /// # Guarantees
    /// As [`Snapshot::read`], but memory stays below 128 KiB for each thread plus, for each entry, three times its path
    /// and about 250 bytes, however large the files are.
    pub fn read(
        jail: &Jail,
        limits: &TreeLimits,
        exclude: &Excludes,
        jobs: NonZeroUsize,
    ) -> Result<DigestCheck, TreeError> {
        Self::read_with(
            jail,
            &ReadOptions { limits, exclude, exec: ExecBits::Modes, jobs, progress: &Silent },
        )
    }

    /// Reads and hashes a directory once, with all options.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub fn read_with(jail: &Jail, options: &ReadOptions<'_>) -> Result<DigestCheck, TreeError> {
        Ok(match take(jail, options, Retention::Nothing)? {
            Ok(taken) => {
                let TreeFacts { list, source, warnings, warnings_left_out, size } = taken.seen;
                DigestCheck::Digested(Self { list, exec: source, warnings, warnings_left_out, size })
            }
            Err(refusal) => DigestCheck::Refused(refusal),
        })
    }
}

/// A tree without problems.
struct ListedTree {
    listed: TreeListing,
    /// The target of each symlink, in the order of the symlinks' paths.
    landings: Vec<LinkTarget>,
    seen: TreeFacts,
}

/// Lists a directory, resolves its symlinks, reads its files and lists it again.
// The second listing detects changes during the read. Problems are collected throughout, so that one report shows all.
fn take(
    jail: &Jail,
    options: &ReadOptions<'_>,
    keep: Retention,
) -> Result<Result<ListedTree, TreeRefusal>, TreeError> {
    let ReadOptions { limits, exclude, jobs, progress, .. } = *options;
    // A jail that hides dotfiles would leave them out of the digest.
    if jail.policy().dotfiles != Dotfiles::Allow {
        return Err(TreeError::jail());
    }
    let mut listed = list(jail, limits, exclude, jobs)?;
    let links = judge_links(&listed, exclude);
    let mut problems = core::mem::take(&mut listed.problems);
    problems.extend(links.problems);
    let is_refused =
        !problems.is_empty() || listed.items.iter().any(|item| matches!(item.state, ItemState::Fault(_)));
    // A tree that is refused anyway is not hashed, but its files are still opened, so that one report shows all
    // problems.
    let depth = if is_refused { ReadDepth::Facts } else { ReadDepth::Contents };
    if !listed.is_cut {
        let already = listed.link_bytes;
        let plan = ReadPlan { limits, depth, keep, jobs, progress };
        let full = read_all(jail, &mut listed.items, already, plan);
        problems.extend(full.map(|kind| TreeProblem::new(Vec::new(), kind)));
    }
    problems.extend(faults(&mut listed.items)?);
    let mut seen = None;
    if problems.is_empty() {
        let warnings = core::mem::take(&mut listed.warnings);
        let render = |items: &[Item]| seen = Some(TreeFacts::of(items, warnings, options));
        problems = listed.changed_since(jail, limits, exclude, jobs, render)?;
    }
    Ok(match seen {
        Some(seen) if problems.is_empty() => Ok(ListedTree { listed, landings: links.landings, seen }),
        _ => Err(TreeRefusal::new(problems)),
    })
}

/// Takes the faults out of the items. Of several errors, the one with the first path is returned.
fn faults(items: &mut [Item]) -> Result<Vec<TreeProblem>, TreeError> {
    let mut out = Vec::new();
    for item in items {
        match core::mem::replace(&mut item.state, ItemState::Seen) {
            ItemState::Error(error) => return Err(*error),
            ItemState::Fault(kind) => out.push(TreeProblem::new(item.path.as_bytes(), kind)),
            state @ (ItemState::Listed | ItemState::Link(_) | ItemState::Read { .. } | ItemState::Seen) => {
                item.state = state;
            }
        }
    }
    Ok(out)
}

#[derive(Default)]
struct ResolvedLinks {
    problems: Vec<TreeProblem>,
    /// The target of each symlink, in the order of the symlinks' paths.
    landings: Vec<LinkTarget>,
}

/// Resolves all symlinks over the listed entries.
// In a partial listing a missing target may exist, so a broken symlink is not reported.
fn judge_links(listed: &TreeListing, exclude: &Excludes) -> ResolvedLinks {
    let mut out = ResolvedLinks::default();
    if !listed.items.iter().any(|item| matches!(item.state, ItemState::Link(_))) {
        return out;
    }
    let files = listed.items.iter().map(|item| {
        let what = match &item.state {
            ItemState::Link(target) => NodeKind::Link(crate::tree::name::text(target)),
            _ => NodeKind::File,
        };
        (&*item.path, what)
    });
    let directories = listed.directories.iter().filter(|directory| !directory.path.is_empty());
    let mut all: Vec<_> =
        files.chain(directories.map(|directory| (&*directory.path, NodeKind::Directory))).collect();
    // A parent sorts before its entries, so `Nodes::new` knows it when they arrive.
    all.sort_unstable_by_key(|(path, _)| *path);
    let nodes = Nodes::new(all, exclude);
    for (path, landing) in nodes.landings() {
        match landing {
            Ok(id) => {
                let target = nodes.path(id);
                let found = if target.is_empty() {
                    Some(LinkTarget::Root)
                } else if nodes.is_directory(id) {
                    // The root is the first listed directory, and the snapshot does not store it.
                    let index =
                        listed.directories.binary_search_by(|directory| (*directory.path).cmp(target)).ok();
                    index.map(|index| LinkTarget::Directory(narrow(index.saturating_sub(1))))
                } else {
                    listed
                        .items
                        .binary_search_by(|item| (*item.path).cmp(target))
                        .ok()
                        .map(|index| LinkTarget::Row(narrow(index)))
                };
                out.landings.push(found.unwrap_or(LinkTarget::Root));
            }
            Err(fault) => {
                let kind = fault.problem();
                let unsure = matches!(kind, TreeProblemKind::LinkBroken { .. }) && listed.is_partial;
                if !unsure {
                    out.problems.push(TreeProblem::new(path, kind));
                }
            }
        }
    }
    out
}

/// Narrows an index. [`crate::read::walk::list`] limits the number of entries to 32 bits.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Determines the kinds of items from one source of execute bits.
#[derive(Clone, Copy)]
struct KindSource<'a> {
    source: ExecSource,
    exec: ExecBits<'a>,
}

impl<'a> KindSource<'a> {
    const fn new(exec: ExecBits<'a>) -> Self {
        let source = match exec {
            // Other systems have no execute bit in the mode, so it cannot be part of the digest there.
            ExecBits::Modes if cfg!(unix) => ExecSource::Modes,
            ExecBits::Recorded(_) => ExecSource::Recorded,
            ExecBits::Modes | ExecBits::Unknown => ExecSource::Unknown,
        };
        Self { source, exec }
    }

    fn of(self, item: &Item) -> EntryKind {
        let is_executable = |mode: u32| match (self.source, self.exec) {
            (ExecSource::Modes, _) => mode & 0o100 != 0,
            (ExecSource::Recorded, ExecBits::Recorded(paths)) => paths.contains(&*item.path),
            _ => false,
        };
        match &item.state {
            ItemState::Link(_) => EntryKind::Link,
            ItemState::Read { mode, .. } if is_executable(*mode) => EntryKind::Executable,
            _ => EntryKind::File,
        }
    }
}

/// The facts about a tree that a snapshot and a digest share.
struct TreeFacts {
    list: TreeList,
    source: ExecSource,
    warnings: Vec<TreeWarning>,
    warnings_left_out: usize,
    size: u64,
}

impl TreeFacts {
    fn of(items: &[Item], mut warnings: Vec<TreeWarning>, options: &ReadOptions<'_>) -> Self {
        let kinds = KindSource::new(options.exec);
        if kinds.source != ExecSource::Modes {
            warnings.push(TreeWarning::new("", TreeWarningKind::ExecBitsNotChecked));
        }
        let mut size = 0_u64;
        for item in items {
            size = size.saturating_add(item.size());
            if let ItemState::Read { mode, .. } = item.state
                && cfg!(unix)
                && mode & 0o002 != 0
            {
                warnings.push(TreeWarning::new(&*item.path, TreeWarningKind::WritableByOthers));
            }
        }
        warnings.sort_unstable();
        let warnings_left_out = warnings.len().saturating_sub(MAX_LISTED);
        warnings.truncate(MAX_LISTED);
        let list = TreeList::render(options.exclude, items.iter().map(|item| item.line(kinds.of(item))));
        Self { list, source: kinds.source, warnings, warnings_left_out, size }
    }
}

fn build(taken: ListedTree, options: &ReadOptions<'_>) -> Snapshot {
    let ListedTree { listed, landings, seen } = taken;
    let TreeFacts { list, source, warnings, warnings_left_out, size } = seen;
    let kinds = KindSource::new(options.exec);
    let mut landings = landings.into_iter();
    let mut at = list.first_line();
    // `collect` reuses the allocation of the items for the rows, so both lists never exist at the same time.
    let row = |item: Item| {
        let kind = kinds.of(&item);
        let line = item.line(kind).len();
        let len = u32::try_from(item.path.len()).unwrap_or(u32::MAX);
        at = at.saturating_add(line);
        let start = at.saturating_sub(item.path.len()).saturating_sub(1);
        let digest = item.digest();
        let (bytes, landing) = match item.state {
            ItemState::Read { bytes, .. } => (bytes, LinkTarget::Root),
            ItemState::Link(target) => (target.into_vec(), landings.next().unwrap_or(LinkTarget::Root)),
            // A tree without problems and errors has no item in these states.
            ItemState::Listed | ItemState::Seen | ItemState::Fault(_) | ItemState::Error(_) => {
                (Vec::new(), LinkTarget::Root)
            }
        };
        Row { start, len, kind, landing, digest, bytes }
    };
    let mut rows: Vec<Row> = listed.items.into_iter().map(row).collect();
    // A row is smaller than an item, so the reused allocation is too large.
    rows.shrink_to_fit();
    let directories = listed
        .directories
        .into_iter()
        .map(|directory| directory.path)
        .filter(|path| !path.is_empty())
        .collect();
    let exclude = options.exclude.without_host_files();
    Snapshot { list, rows, directories, exclude, exec: source, warnings, warnings_left_out, size }
}
