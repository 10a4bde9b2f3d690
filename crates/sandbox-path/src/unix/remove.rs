//! Removing entries, and trees by handles.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::make::{fail, parent, seen};
use super::open::OpenFlags;
use super::root::Root;
use super::sys;
use crate::error::{OpenErrorKind, OperationError, PathEscapeKind};
use crate::jail::list::{EntryBudget, PackedListing};
use crate::jail::walk::WalkLimits;
use crate::meta::FileKind;
use crate::path::relative::RelPath;
use crate::policy::{Dotfiles, Mounts, Policy};

/// The most levels of directories that are entered. Each level keeps one descriptor open.
const DEPTH: usize = 256;
/// The number of attempts for a directory that other processes keep changing.
const ROUNDS: u32 = 8;

pub(crate) fn remove_file(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<(), OperationError> {
    let (at, name) = parent(root, policy, rel)?;
    sys::retry(|| fs::unlinkat(&at, name, AtFlags::empty())).map_err(|errno| {
        let is_directory = sys::look(&at, name).is_ok_and(|meta| meta.kind == FileKind::Directory);
        // Some systems return `EPERM` for a directory.
        if errno == Errno::PERM && is_directory { fail(rel, Errno::ISDIR) } else { fail(rel, errno) }
    })
}

pub(crate) fn remove_dir(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<(), OperationError> {
    let (at, name) = parent(root, policy, rel)?;
    sys::retry(|| fs::unlinkat(&at, name, AtFlags::REMOVEDIR)).map_err(|errno| {
        let is_link = sys::look(&at, name).is_ok_and(|meta| meta.kind == FileKind::Symlink);
        match errno {
            Errno::NOTDIR if is_link => fail(rel, Errno::LOOP),
            // POSIX allows both for a directory with entries.
            Errno::EXIST => fail(rel, Errno::NOTEMPTY),
            errno => fail(rel, errno),
        }
    })
}

/// A directory that is being emptied.
struct Level {
    directory: OwnedFd,
    entries: PackedListing,
    /// Its name in the parent.
    name: Vec<u8>,
    rounds: u32,
}

/// The state of removing a tree.
struct Removal<'a> {
    root: &'a Root,
    policy: Policy,
    limits: WalkLimits,
    removed: u64,
    buffer: Vec<u8>,
    levels: Vec<Level>,
}

pub(crate) fn remove_tree(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    limits: WalkLimits,
) -> Result<u64, OperationError> {
    let (at, name) = parent(root, policy, rel)?;
    if seen(root, policy, &at, name, rel)?.is_none() {
        return Err(fail(rel, Errno::NOENT));
    }
    let mut removal = Removal { root, policy, limits, removed: 0, buffer: Vec::new(), levels: Vec::new() };
    let directory = removal.enter(&at, name).map_err(|errno| fail(rel, errno))?;
    removal.push(directory, name)?;
    while let Some(level) = removal.levels.last_mut() {
        match level.entries.next() {
            Some((name, kind)) => {
                // A copy, because entering the directory changes the level that the name is borrowed from.
                let name = name.to_vec();
                removal.entry(&name, kind)?;
            }
            None => removal.leave(&at, rel)?,
        }
    }
    Ok(removal.removed)
}

impl Removal<'_> {
    /// Opens a directory that is not a symlink and, depending on the policy, not on another mount.
    fn enter(&self, at: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
        let directory = sys::openat(at, name, OpenFlags::LIST.flags | OFlags::NOFOLLOW, Mode::empty())?;
        if self.policy.mounts == Mounts::Refuse && sys::mount_id(&directory, b"")? != self.root.mount {
            return Err(Errno::XDEV);
        }
        Ok(directory)
    }

    fn push(&mut self, directory: OwnedFd, name: &[u8]) -> Result<(), OperationError> {
        let limit = self.limits.depth.min(DEPTH);
        if self.levels.len() >= limit {
            return Err(OpenErrorKind::TooDeep { limit }.into());
        }
        let entries = self.listed(&directory)?;
        self.levels.push(Level { directory, entries, name: name.to_vec(), rounds: 0 });
        Ok(())
    }

    fn listed(&mut self, directory: &OwnedFd) -> Result<PackedListing, OperationError> {
        // The directory itself, and the remaining entries of its parents, count towards the limit as well.
        let waiting = self.levels.iter().map(|level| level.entries.rest().saturating_add(1));
        let waiting = waiting.fold(1_usize, usize::saturating_add);
        let waiting = u64::try_from(waiting).unwrap_or(u64::MAX);
        let left = self.limits.entries.saturating_sub(self.removed).saturating_sub(waiting);
        // A directory is removed with its dotfiles.
        let budget = EntryBudget { left, limit: self.limits.entries };
        PackedListing::read(directory, &mut self.buffer, Dotfiles::Allow, budget, &mut 0)
    }

    /// Fails at the limit, before one more entry is removed.
    fn one_more(&self) -> Result<(), OperationError> {
        if self.removed >= self.limits.entries {
            return Err(OpenErrorKind::TooLarge { limit: self.limits.entries }.into());
        }
        Ok(())
    }

    /// Counts a removed entry.
    fn count(&mut self) {
        self.removed = self.removed.saturating_add(1);
    }

    /// Removes an entry of the innermost directory, or enters it.
    fn entry(&mut self, name: &[u8], kind: FileKind) -> Result<(), OperationError> {
        let Some(level) = self.levels.last() else { return Ok(()) };
        let mut is_directory = kind == FileKind::Directory;
        for _ in 0..ROUNDS {
            if is_directory {
                match self.enter(&level.directory, name) {
                    Ok(directory) => return self.push(directory, name),
                    Err(Errno::NOENT) => return Ok(()),
                    // Another process has replaced it with a symlink or a file, which is removed and not entered.
                    Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK | Errno::NXIO) => {}
                    Err(Errno::XDEV) => return Err(PathEscapeKind::Mount.into()),
                    Err(errno) => return Err(sys::lookup_error(errno).into()),
                }
            }
            // Checked before each removal, so that the limit is never exceeded by one.
            self.one_more()?;
            // The kind in the listing may be outdated. The call itself reports a directory, so no separate
            // check can race with it.
            match sys::retry(|| fs::unlinkat(&level.directory, name, AtFlags::empty())) {
                Ok(()) => {
                    self.count();
                    return Ok(());
                }
                Err(Errno::NOENT) => return Ok(()),
                Err(Errno::ISDIR) => is_directory = true,
                // POSIX allows this error for a directory. If the entry is a file, entering it fails and the
                // loop reports the error of the removal.
                Err(Errno::PERM) if !is_directory => is_directory = true,
                Err(errno) => return Err(sys::lookup_error(errno).into()),
            }
        }
        Err(PathEscapeKind::Contended.into())
    }

    /// Removes the innermost directory, which was emptied. Lists it again if another process has added entries.
    fn leave(&mut self, top: &impl AsFd, rel: &RelPath<'_>) -> Result<(), OperationError> {
        self.one_more()?;
        let Some(mut level) = self.levels.pop() else { return Ok(()) };
        let at = self.levels.last().map_or(top.as_fd(), |above| above.directory.as_fd());
        let name = level.name.as_slice();
        for _ in 0..ROUNDS {
            match sys::retry(|| fs::unlinkat(at, name, AtFlags::REMOVEDIR)) {
                Ok(()) => {
                    self.count();
                    return Ok(());
                }
                Err(Errno::NOENT) => return Ok(()),
                // Another process has created an entry after the listing. The rounds are limited, since it
                // could do so forever.
                Err(Errno::NOTEMPTY | Errno::EXIST) if level.rounds < ROUNDS => {
                    level.entries = self.listed(&level.directory)?;
                    level.rounds = level.rounds.saturating_add(1);
                    self.levels.push(level);
                    return Ok(());
                }
                // Another process has replaced it with a symlink or a file.
                Err(Errno::NOTDIR) => match sys::retry(|| fs::unlinkat(at, name, AtFlags::empty())) {
                    Ok(()) => {
                        self.count();
                        return Ok(());
                    }
                    // It is a directory again: try again.
                    Err(Errno::ISDIR | Errno::PERM) => {}
                    Err(Errno::NOENT) => return Ok(()),
                    Err(errno) => return Err(fail(rel, errno)),
                },
                Err(errno) => return Err(fail(rel, errno)),
            }
        }
        Err(PathEscapeKind::Contended.into())
    }
}
