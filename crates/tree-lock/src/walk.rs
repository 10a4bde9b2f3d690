//! Listing: every name below the folder, judged before a byte is read.

use core::num::NonZeroUsize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use plugward_sandbox_path::{FileKind, Jail, Listing, Metadata, OpenError, OpenErrorKind, PathEscapeKind};
use sha2::{Digest as _, Sha256};

use crate::error::TreeError;
use crate::exclude::Excludes;
use crate::item::{Again, FolderSeen, Item, Listed, State};
use crate::limits::{Limit, Limits};
use crate::name;
use crate::problem::{Notice, NoticeKind, TreeProblem, TreeProblemKind};
use crate::read::each;

/// How many folders are listed at one time, at most: what they hold is kept until it is taken up.
const WAVE: usize = 256;

/// Lists the folder. Excluded names at the root are neither listed nor counted nor entered.
pub(crate) fn list(
    jail: &Jail,
    limits: &Limits,
    exclude: &Excludes,
    jobs: NonZeroUsize,
) -> Result<Listed, TreeError> {
    let mut walk =
        Walk { jail, limits, exclude, out: Listed::default(), seen: 0, pending: vec![Box::from("")] };
    while !walk.pending.is_empty() && !walk.out.is_cut {
        walk.wave(jobs)?;
    }
    let mut out = walk.out;
    out.items.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    out.folders.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    Ok(out)
}

struct Walk<'a> {
    jail: &'a Jail,
    limits: &'a Limits,
    exclude: &'a Excludes,
    out: Listed,
    seen: usize,
    pending: Vec<Box<str>>,
}

/// A folder that is about to be listed, or was.
struct Visit {
    path: Box<str>,
    looked: Option<Result<Looked, OpenErrorOrIo>>,
}

/// What one folder held.
struct Looked {
    listing: Listing,
    meta: Metadata,
    held: [u8; 32],
}

/// What the jail says when something is no longer what it was listed as.
pub(crate) fn is_change(error: &OpenError) -> bool {
    match error.kind() {
        OpenErrorKind::Race(_) => true,
        OpenErrorKind::Path(kind) => matches!(
            kind,
            PathEscapeKind::NotFound
                | PathEscapeKind::Symlink
                | PathEscapeKind::NotADirectory
                | PathEscapeKind::NotRegular { .. }
                | PathEscapeKind::Outside
        ),
        _ => false,
    }
}

/// The root is `.` to a jail.
fn at(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

pub(crate) fn look(jail: &Jail, path: &str, max: usize) -> Result<(Listing, Metadata), OpenErrorOrIo> {
    let mut folder = jail.open_folder(at(path)).map_err(OpenErrorOrIo::Open)?;
    let meta = folder.meta().map_err(OpenErrorOrIo::Io)?;
    let listing = folder.list(max).map_err(OpenErrorOrIo::Open)?;
    Ok((listing, meta))
}

#[derive(Debug)]
pub(crate) enum OpenErrorOrIo {
    Open(OpenError),
    Io(std::io::Error),
}

impl OpenErrorOrIo {
    pub(crate) fn is_change(&self) -> bool {
        matches!(self, Self::Open(error) if is_change(error))
    }

    pub(crate) fn into_tree(self, path: &str) -> TreeError {
        match self {
            Self::Open(error) => TreeError::io(path.as_bytes(), error),
            Self::Io(error) => TreeError::io(path.as_bytes(), error),
        }
    }
}

impl Walk<'_> {
    fn problem(&mut self, path: impl Into<Vec<u8>>, kind: TreeProblemKind) {
        self.out.problems.push(TreeProblem::new(path, kind));
    }

    fn limit(&mut self, path: impl Into<Vec<u8>>, limit: Limit, max: usize) {
        let max = u64::try_from(max).unwrap_or(u64::MAX);
        self.problem(path, TreeProblemKind::Limit { limit, max });
        self.out.is_partial = true;
    }

    /// Lists the folders that are known and not listed yet, on all threads, and then takes up what they hold.
    fn wave(&mut self, jobs: NonZeroUsize) -> Result<(), TreeError> {
        // What is excluded does not count, and stands at the root alone.
        let left = self.limits.entries.saturating_sub(self.seen);
        let room = if self.seen == 0 { left.saturating_add(self.exclude.iter().count()) } else { left };
        let from = self.pending.len().saturating_sub(WAVE);
        let visit = |path| Visit { path, looked: None };
        let mut visits: Vec<Visit> = self.pending.split_off(from).into_iter().map(visit).collect();
        let (jail, exclude, held) = (self.jail, self.exclude, AtomicUsize::new(0));
        each(&mut visits, jobs, |visit| {
            // One more than there is room for, so that the limit is seen.
            let max = room.saturating_sub(held.load(Ordering::Relaxed)).saturating_add(1);
            let at_root = visit.path.is_empty().then_some(exclude);
            visit.looked = Some(look(jail, &visit.path, max).map(|(listing, meta)| {
                held.fetch_add(listing.entries().len(), Ordering::Relaxed);
                Looked { held: fingerprint(&listing, at_root), listing, meta }
            }));
        });
        if held.into_inner() > room {
            // Which of them were listed in full depends on who was first; that there are too many does not.
            self.cut();
            return Ok(());
        }
        for Visit { path, looked } in visits {
            if let Some(looked) = looked {
                self.folder(path, looked)?;
            }
            if self.out.is_cut {
                break;
            }
        }
        Ok(())
    }

    fn cut(&mut self) {
        self.limit(Vec::new(), Limit::Entries, self.limits.entries);
        self.out.is_cut = true;
    }

    fn folder(&mut self, path: Box<str>, looked: Result<Looked, OpenErrorOrIo>) -> Result<(), TreeError> {
        let is_root = path.is_empty();
        let Looked { listing, meta, held } = match looked {
            Ok(looked) => looked,
            Err(error) if error.is_change() && !is_root => {
                self.out.is_partial = true;
                self.problem(path.as_bytes(), TreeProblemKind::ChangedWhileRead);
                return Ok(());
            }
            Err(error) => return Err(error.into_tree(&path)),
        };
        if cfg!(unix) && meta.mode() & 0o002 != 0 {
            self.out.notices.push(Notice::new(&*path, NoticeKind::WritableByOthers));
        }
        self.collisions(&path, &listing);
        for entry in listing.entries() {
            let excluded =
                |name: &[u8]| core::str::from_utf8(name).is_ok_and(|name| self.exclude.contains(name));
            if is_root && excluded(entry.name()) {
                continue;
            }
            self.seen = self.seen.saturating_add(1);
            // Rows are counted in 32 bits.
            if self.seen > self.limits.entries.min(u32::MAX as usize) {
                self.cut();
                return Ok(());
            }
            self.entry(&path, entry.name(), entry.kind())?;
        }
        self.out.folders.push(FolderSeen { path, held, id: meta.id(), again: Again::Same });
        Ok(())
    }

    /// Blames the later one of two names that another system takes for one.
    ///
    /// Siblings suffice: two paths have one key only where all their parts have. An empty folder is no part of the
    /// tree, but may be of the next one, so it counts.
    fn collisions(&mut self, folder: &str, listing: &Listing) {
        let names = || listing.entries().iter().filter_map(|entry| name::text(entry.name()));
        // Names are distinct as they are, so there is nothing to find where each is its own key.
        if names().all(name::is_own_key) && (!folder.is_empty() || self.exclude.is_empty()) {
            return;
        }
        let mut keys: BTreeMap<String, &str> = BTreeMap::new();
        if folder.is_empty() {
            // A name that another system takes for an excluded one would be part of the digest on this one only.
            keys.extend(self.exclude.iter().map(|name| (name::collision_key(name), name)));
        }
        for name in names() {
            let earlier = *keys.entry(name::collision_key(name)).or_insert(name);
            if earlier != name {
                let with = if folder.is_empty() { earlier.to_owned() } else { format!("{folder}/{earlier}") };
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                self.problem(path, TreeProblemKind::Collision { with });
            }
        }
    }

    fn entry(&mut self, folder: &str, name: &[u8], kind: FileKind) -> Result<(), TreeError> {
        let joined = || {
            let mut bytes = folder.as_bytes().to_vec();
            if !folder.is_empty() {
                bytes.push(b'/');
            }
            bytes.extend_from_slice(name);
            bytes
        };
        let Some(text) = name::text(name) else {
            self.out.is_partial |= kind == FileKind::Folder;
            self.problem(joined(), TreeProblemKind::Name);
            return Ok(());
        };
        let path = if folder.is_empty() { text.to_owned() } else { format!("{folder}/{text}") };
        if path.len() > self.limits.path_bytes {
            self.limit(path, Limit::PathBytes, self.limits.path_bytes);
            return Ok(());
        }
        if path.split('/').count() > self.limits.depth {
            self.limit(path, Limit::Depth, self.limits.depth);
            return Ok(());
        }
        if let Some(why) = name::not_portable(text) {
            self.out.notices.push(Notice::new(path.as_str(), NoticeKind::NotPortable { why }));
        }
        if folder.is_empty() && matches!(text, ".git" | ".hg" | ".jj" | ".svn") {
            self.out.notices.push(Notice::new(text, NoticeKind::VcsFolder));
        }
        self.kind(path, kind)
    }

    fn kind(&mut self, path: String, kind: FileKind) -> Result<(), TreeError> {
        let state = match kind {
            FileKind::File => State::Listed,
            FileKind::Folder => {
                self.pending.push(path.into());
                return Ok(());
            }
            FileKind::Symlink => match self.jail.read_link(&path) {
                Ok(target) => {
                    let size = u64::try_from(target.len()).unwrap_or(u64::MAX);
                    self.out.link_bytes = self.out.link_bytes.saturating_add(size);
                    State::Link(target.into())
                }
                Err(error) if is_change(&error) => State::Fault(TreeProblemKind::ChangedWhileRead),
                Err(error) => return Err(TreeError::io(path.as_bytes(), error)),
            },
            other => State::Fault(TreeProblemKind::SpecialFile { what: special(other) }),
        };
        self.out.items.push(Item { path: path.into(), state });
        Ok(())
    }
}

fn special(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Fifo => "named pipe",
        FileKind::Socket => "socket",
        FileKind::CharDevice => "character device",
        FileKind::BlockDevice => "block device",
        _ => "special file of unknown kind",
    }
}

/// Digests the names and kinds of a folder, so that they can be compared in little memory.
pub(crate) fn fingerprint(listing: &Listing, exclude: Option<&Excludes>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for entry in listing.entries() {
        let name = core::str::from_utf8(entry.name());
        if exclude.is_some_and(|exclude| name.is_ok_and(|name| exclude.contains(name))) {
            continue;
        }
        let kind: u8 = match entry.kind() {
            FileKind::File => b'f',
            FileKind::Folder => b'd',
            FileKind::Symlink => b'l',
            _ => b'?',
        };
        hash.update(entry.name());
        hash.update([0, kind]);
    }
    hash.finalize().into()
}
