//! Following links below the jail, handle by handle, to a path without links.
//!
//! The answer is a path and no handle: it is opened afterwards without following, so that a wrong resolution can only
//! meet a refusal.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::open::{Want, strict};
use super::root::Root;
use super::sys;
use crate::error::{No, PathEscapeKind};
use crate::gate::{Form, PATH_MAX, gate};
use crate::meta::{FileKind, Metadata};
use crate::policy::{Mounts, Policy, Symlinks};
use crate::rel::RelPath;

/// How often a path is resolved again that changed between resolving and opening.
pub(crate) const TRIES: u32 = 8;
/// How many links are followed, on every tier.
const HOPS: u32 = 40;

/// One resolution under way.
struct Way<'a> {
    root: &'a Root,
    policy: Policy,
    /// What was resolved so far: no links, no `..`.
    done: Vec<u8>,
    /// The handle of `done`; `None` for the jail's own folder.
    at: Option<OwnedFd>,
    /// The kind of `done`.
    kind: FileKind,
    /// What is left, each with the number of the given component that it stems from.
    todo: VecDeque<(Vec<u8>, usize)>,
    left: usize,
    hops: u32,
}

/// Resolves a path to one without links and `..`; the last link only where `follow_last` says so.
pub(crate) fn resolve(root: &Root, policy: Policy, rel: &RelPath<'_>, last: Last) -> Result<Vec<u8>, No> {
    let todo: VecDeque<_> = rel.components().map(<[u8]>::to_vec).zip(1_usize..).collect();
    let left = rel.bytes.len();
    let mut way =
        Way { root, policy, done: Vec::new(), at: None, kind: FileKind::Folder, todo, left, hops: 0 };
    while let Some((name, number)) = way.todo.pop_front() {
        way.left = way.left.saturating_sub(name.len().saturating_add(1));
        way.step(&name, number, last).map_err(|no| No { component: Some(number), ..no })?;
    }
    // The names that the links brought in are judged like given ones.
    if way.done.is_empty() {
        return Ok(way.done);
    }
    gate(&way.done, policy, Form::Name).map_err(|no| No { component: None, ..no })?;
    Ok(way.done)
}

/// Whether a link as last name is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Follow,
    Keep,
}

impl Way<'_> {
    fn handle(&self) -> BorrowedFd<'_> {
        self.at.as_ref().map_or(self.root.handle(), OwnedFd::as_fd)
    }

    fn step(&mut self, name: &[u8], number: usize, last: Last) -> Result<(), No> {
        if self.kind != FileKind::Folder {
            return Err(PathEscapeKind::NotADirectory.into());
        }
        match name {
            b"" | b"." => Ok(()),
            b".." => self.up(),
            _ => self.down(name, number, last),
        }
    }

    /// Goes to the folder above, which is the parent of where the links led.
    fn up(&mut self) -> Result<(), No> {
        if self.done.is_empty() {
            return Err(PathEscapeKind::Outside.into());
        }
        let end = self.done.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        self.done.truncate(end);
        self.at = match end {
            0 => None,
            _ => Some(strict(self.root, self.policy, &self.done, Want::FOLDER)?),
        };
        Ok(())
    }

    fn down(&mut self, name: &[u8], number: usize, last: Last) -> Result<(), No> {
        if name.len() > crate::gate::NAME_MAX {
            return Err(PathEscapeKind::TooLong.into());
        }
        let flags = sys::PATH | OFlags::NOFOLLOW;
        let is_last = self.todo.is_empty();
        let found = match sys::openat(self.handle(), name, flags, Mode::empty()) {
            Ok(found) => found,
            // Something to make need not be there.
            Err(Errno::NOENT) if is_last && last == Last::Keep => {
                return self.push(name, None, FileKind::Other);
            }
            Err(errno) => return Err(sys::no(errno)),
        };
        let meta = sys::meta(&found).map_err(sys::no)?;
        if meta.kind != FileKind::Symlink || (is_last && last == Last::Keep) {
            return self.push(name, Some(found), meta.kind);
        }
        if self.policy.symlinks == Symlinks::Refuse {
            return Err(PathEscapeKind::Symlink.into());
        }
        self.follow(&found, &meta, number)
    }

    fn push(&mut self, name: &[u8], at: Option<OwnedFd>, kind: FileKind) -> Result<(), No> {
        if self.policy.mounts == Mounts::Refuse
            && let Some(fd) = &at
        {
            let id = sys::mount_id(fd, b"").map_err(sys::no)?;
            if id != self.root.mount {
                return Err(PathEscapeKind::Mount.into());
            }
        }
        if !self.done.is_empty() {
            self.done.push(b'/');
        }
        self.done.extend_from_slice(name);
        if self.done.len() > PATH_MAX {
            return Err(PathEscapeKind::TooLong.into());
        }
        (self.at, self.kind) = (at, kind);
        Ok(())
    }

    /// Puts a link's target in front of what is left.
    fn follow(&mut self, link: &OwnedFd, meta: &Metadata, number: usize) -> Result<(), No> {
        self.hops = self.hops.saturating_add(1);
        if self.hops > HOPS {
            return Err(PathEscapeKind::TooManyLinks.into());
        }
        may_follow(self.handle(), link, meta)?;
        let target = sys::target(link, c"").map_err(sys::no)?;
        match target.first() {
            None => return Err(PathEscapeKind::NotFound.into()),
            Some(b'/') => return Err(PathEscapeKind::Outside.into()),
            Some(_) => {}
        }
        self.left = self.left.saturating_add(target.len()).saturating_add(1);
        if self.left.saturating_add(self.done.len()) > PATH_MAX.saturating_add(1) {
            return Err(PathEscapeKind::TooLong.into());
        }
        for part in target.rsplit(|byte| *byte == b'/') {
            self.todo.push_front((part.to_vec(), number));
        }
        Ok(())
    }
}

/// Refuses links that lead to objects and not to names, and those that the kernel would not follow.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn may_follow(folder: BorrowedFd<'_>, link: &OwnedFd, meta: &Metadata) -> Result<(), No> {
    /// `ST_NOSYMFOLLOW`: the mount follows no links.
    const NO_FOLLOW: u64 = 0x2000;
    let system = sys::retry(|| rustix::fs::fstatfs(link)).map_err(sys::no)?;
    if system.f_type == rustix::fs::PROC_SUPER_MAGIC {
        return Err(PathEscapeKind::MagicLink.into());
    }
    let mount = sys::retry(|| rustix::fs::fstatvfs(link)).map_err(sys::no)?;
    if mount.f_flag.bits() & NO_FOLLOW != 0 {
        return Err(PathEscapeKind::Symlink.into());
    }
    // The rule of `fs.protected_symlinks`, whether or not it is switched on.
    let parent = sys::meta(folder).map_err(sys::no)?;
    let shared = parent.mode & 0o1002 == 0o1002;
    if shared && meta.uid != parent.uid && meta.uid != rustix::process::geteuid().as_raw() {
        return Err(PathEscapeKind::Symlink.into());
    }
    Ok(())
}

/// Elsewhere a link has no handle to be read by, and following is not claimed.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn may_follow(_: BorrowedFd<'_>, _: &OwnedFd, _: &Metadata) -> Result<(), No> {
    Err(PathEscapeKind::Symlink.into())
}
