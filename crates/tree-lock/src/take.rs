//! Taking a snapshot: list, judge links, read, list again, digest.

use core::num::NonZeroUsize;
use std::collections::BTreeSet;

use plugward_sandbox_path::{Dotfiles, Jail, Symlinks};

use crate::error::TreeError;
use crate::exclude::Excludes;
use crate::item::{Item, Listed, State};
use crate::limits::Limits;
use crate::links::{Listed as Node, Nodes};
use crate::list::{EntryKind, TreeList};
use crate::problem::{KEPT, Notice, NoticeKind, TreeProblem, TreeProblemKind, TreeRefusal};
use crate::progress::{Progress, Silent};
use crate::read::{Depth, read_all};
use crate::snapshot::{ExecSource, Landing, Row, Snapshot, TreeCheck};
use crate::walk::list;

/// Where the kinds `f` and `x` are to be taken from.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a host must choose among all sources there are")]
pub enum ExecBits<'a> {
    /// The files' own bits; on a system that has none, all are `f`.
    Modes,
    /// A list that was recorded where there are bits: the baseline, or `executable` of the lock's entry.
    Recorded(&'a BTreeSet<String>),
    /// The file system keeps none, and nothing is recorded: all are `f`.
    Unknown,
}

/// How to read a folder.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new choice must be made by every host")]
pub struct ReadOptions<'a> {
    /// How much at most.
    pub limits: &'a Limits,
    /// What to leave out.
    pub exclude: &'a Excludes,
    /// Where execute bits come from.
    pub exec: ExecBits<'a>,
    /// On how many threads.
    pub jobs: NonZeroUsize,
    /// Who is told how far it has come.
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
    /// Reads a folder once, as it is: every file and link below the jail but what is excluded.
    ///
    /// The answer does not depend on `jobs`, on the order in which the file system lists, or on owners and times.
    ///
    /// # Errors
    /// `tree/io` where an entry cannot be listed or read, and `tree/jail` where the jail's policy hides dotfiles or
    /// follows links: then nothing is known of the folder.
    ///
    /// # Guarantees
    /// Memory stays below the bytes of the files plus, for each entry, three times its path and about 200 bytes; a
    /// file above the limit is refused before it is read, and listing stops at the limit. No link is followed, no pipe is waited for.
    ///
    /// # Source
    /// Rule 4 of the design: what was hashed is what was scanned is what runs.
    pub fn read(
        jail: &Jail,
        limits: &Limits,
        exclude: &Excludes,
        jobs: NonZeroUsize,
    ) -> Result<TreeCheck, TreeError> {
        Self::read_with(
            jail,
            &ReadOptions { limits, exclude, exec: ExecBits::Modes, jobs, progress: &Silent },
        )
    }

    /// Reads a folder once, with all choices said.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub fn read_with(jail: &Jail, options: &ReadOptions<'_>) -> Result<TreeCheck, TreeError> {
        let (limits, exclude) = (options.limits, options.exclude);
        if jail.policy().dotfiles != Dotfiles::Allow || jail.policy().symlinks != Symlinks::Refuse {
            return Err(TreeError::jail());
        }
        let mut listed = list(jail, limits, exclude)?;
        let links = judge_links(&listed, exclude);
        let mut problems = core::mem::take(&mut listed.problems);
        problems.extend(links.problems);
        let is_refused =
            !problems.is_empty() || listed.items.iter().any(|item| matches!(item.state, State::Fault(_)));
        let depth = if is_refused { Depth::Facts } else { Depth::Contents };
        if !listed.is_cut {
            let already = listed.link_bytes;
            let full =
                read_all(jail, limits, &mut listed.items, depth, already, options.jobs, options.progress);
            problems.extend(full.map(|kind| TreeProblem::new(Vec::new(), kind)));
        }
        problems.extend(faults(&mut listed.items)?);
        if problems.is_empty() {
            problems = listed.changed_since(jail, limits, exclude, options.jobs)?;
        }
        if !problems.is_empty() {
            return Ok(TreeCheck::Refused(TreeRefusal::new(problems)));
        }
        Ok(TreeCheck::Read(build(listed, &links.landings, exclude, options.exec)))
    }
}

/// Takes the faults out of the items; of several errors the one with the first path is given.
fn faults(items: &mut [Item]) -> Result<Vec<TreeProblem>, TreeError> {
    let mut out = Vec::new();
    for item in items {
        match core::mem::replace(&mut item.state, State::Seen) {
            State::Error(error) => return Err(*error),
            State::Fault(kind) => out.push(TreeProblem::new(item.path.as_bytes(), kind)),
            state @ (State::Listed | State::Link(_) | State::Read { .. } | State::Seen) => item.state = state,
        }
    }
    Ok(out)
}

#[derive(Default)]
struct Links {
    problems: Vec<TreeProblem>,
    /// Where each link leads, in the order of the links' paths.
    landings: Vec<Landing>,
}

/// Walks all links over what was listed. Where the listing is partial only what stands in a target is judged.
fn judge_links(listed: &Listed, exclude: &Excludes) -> Links {
    let mut out = Links::default();
    if !listed.items.iter().any(|item| matches!(item.state, State::Link(_))) {
        return out;
    }
    let files = listed.items.iter().map(|item| {
        let what = match &item.state {
            State::Link(target) => Node::Link(crate::name::text(target)),
            _ => Node::File,
        };
        (&*item.path, what)
    });
    let folders = listed.folders.iter().filter(|folder| !folder.path.is_empty());
    let mut all: Vec<_> = files.chain(folders.map(|folder| (&*folder.path, Node::Folder))).collect();
    all.sort_unstable_by_key(|(path, _)| *path);
    let nodes = Nodes::new(all, exclude);
    for (path, landing) in nodes.landings() {
        match landing {
            Ok(id) => {
                let target = nodes.path(id);
                let found = if target.is_empty() {
                    Some(Landing::Root)
                } else if nodes.is_folder(id) {
                    // The root stands first among the folders that were listed, and not among those that are kept.
                    let index = listed.folders.binary_search_by(|folder| (*folder.path).cmp(target)).ok();
                    index.map(|index| Landing::Folder(small(index.saturating_sub(1))))
                } else {
                    listed
                        .items
                        .binary_search_by(|item| (*item.path).cmp(target))
                        .ok()
                        .map(|index| Landing::Row(small(index)))
                };
                out.landings.push(found.unwrap_or(Landing::Root));
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

/// There are never more entries than fit: see [`crate::walk::list`].
fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn build(listed: Listed, landings: &[Landing], exclude: &Excludes, exec: ExecBits<'_>) -> Snapshot {
    let source = match exec {
        ExecBits::Modes if cfg!(unix) => ExecSource::Modes,
        ExecBits::Recorded(_) => ExecSource::Recorded,
        ExecBits::Modes | ExecBits::Unknown => ExecSource::Unknown,
    };
    let mut notices = listed.notices;
    if source != ExecSource::Modes {
        notices.push(Notice::new("", NoticeKind::ExecBitsNotChecked));
    }
    let is_executable = |path: &str, mode: u32| match (source, exec) {
        (ExecSource::Modes, _) => mode & 0o100 != 0,
        (ExecSource::Recorded, ExecBits::Recorded(paths)) => paths.contains(path),
        _ => false,
    };
    let kind_of = |item: &Item| match &item.state {
        State::Link(_) => EntryKind::Link,
        State::Read { mode, .. } if is_executable(&item.path, *mode) => EntryKind::Executable,
        _ => EntryKind::File,
    };
    let list = TreeList::render(exclude, listed.items.iter().map(|item| item.line(kind_of(item))));
    let mut landings = landings.iter().copied();
    let mut size = 0_u64;
    let mut at = list.first_line();
    // One row takes the place of one item, so that both lists never lie side by side.
    let row = |item: Item| {
        let kind = kind_of(&item);
        let line = item.line(kind).len();
        let len = u32::try_from(item.path.len()).unwrap_or(u32::MAX);
        at = at.saturating_add(line);
        let start = at.saturating_sub(item.path.len()).saturating_sub(1);
        let digest = item.digest();
        let (bytes, landing) = match item.state {
            State::Read { bytes, mode, .. } => {
                if cfg!(unix) && mode & 0o002 != 0 {
                    notices.push(Notice::new(&*item.path, NoticeKind::WritableByOthers));
                }
                (bytes, Landing::Root)
            }
            State::Link(target) => (target, landings.next().unwrap_or(Landing::Root)),
            // Nothing else is left once there is no problem and no error.
            State::Listed | State::Seen | State::Fault(_) | State::Error(_) => {
                (Box::default(), Landing::Root)
            }
        };
        size = size.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Row { start, len, kind, landing, digest, bytes }
    };
    let rows: Vec<Row> = listed.items.into_iter().map(row).collect();
    notices.sort_unstable();
    let notices_left_out = notices.len().saturating_sub(KEPT);
    notices.truncate(KEPT);
    let folders =
        listed.folders.into_iter().map(|folder| folder.path).filter(|path| !path.is_empty()).collect();
    Snapshot { list, rows, folders, exclude: exclude.clone(), exec: source, notices, notices_left_out, size }
}
