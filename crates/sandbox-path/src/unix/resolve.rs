//! Resolution of symlinks inside the jail, handle by handle, to a path without symlinks.
//!
//! The result is a path and not a handle. It is opened afterwards without following symlinks, so a wrong resolution can
//! only lead to a refusal.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::open::{OpenFlags, strict};
use super::root::Root;
use super::sys;
use crate::error::{LookupError, PathEscapeKind};
use crate::meta::{FileKind, Metadata};
use crate::path::check::{PATH_MAX, PathForm, check_path};
use crate::path::relative::RelPath;
use crate::policy::{Mounts, Policy, Symlinks};

/// The number of attempts for a path that changes between resolution and open.
pub(crate) const TRIES: u32 = 8;
/// The most symlinks that are followed, on every tier, as on Linux.
const HOPS: u32 = 40;

/// The state of resolving a path.
struct Resolution<'a> {
    root: &'a Root,
    policy: Policy,
    /// The resolved part of the path, without symlinks and `..`.
    done: Vec<u8>,
    /// The handle of `done`; `None` for the jail's directory.
    at: Option<OwnedFd>,
    /// The kind of `done`.
    kind: FileKind,
    /// The remaining components, each with the number of the given component from which it originates.
    todo: VecDeque<(Vec<u8>, usize)>,
    left: usize,
    hops: u32,
}

/// Resolves a path to one without symlinks and `..`; a symlink in the last component depends on `last`.
pub(crate) fn resolve(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    last: LastComponent,
) -> Result<Vec<u8>, LookupError> {
    let todo: VecDeque<_> = rel.components().map(<[u8]>::to_vec).zip(1_usize..).collect();
    let left = rel.bytes.len();
    let mut way = Resolution {
        root,
        policy,
        done: Vec::new(),
        at: None,
        kind: FileKind::Directory,
        todo,
        left,
        hops: 0,
    };
    while let Some((name, number)) = way.todo.pop_front() {
        way.left = way.left.saturating_sub(name.len().saturating_add(1));
        way.step(&name, number, last).map_err(|error| LookupError { component: Some(number), ..error })?;
    }
    // Components from symlink targets are checked like given ones.
    if way.done.is_empty() {
        return Ok(way.done);
    }
    check_path(&way.done, policy, PathForm::Name)
        .map_err(|error| LookupError { component: None, ..error })?;
    Ok(way.done)
}

/// Whether a symlink in the last component is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastComponent {
    Follow,
    Keep,
}

impl Resolution<'_> {
    fn handle(&self) -> BorrowedFd<'_> {
        self.at.as_ref().map_or(self.root.handle(), OwnedFd::as_fd)
    }

    fn step(&mut self, name: &[u8], number: usize, last: LastComponent) -> Result<(), LookupError> {
        if self.kind != FileKind::Directory {
            return Err(PathEscapeKind::NotADirectory.into());
        }
        match name {
            b"" | b"." => Ok(()),
            b".." => self.up(),
            _ => self.down(name, number, last),
        }
    }

    /// Moves to the parent of the directory reached so far.
    fn up(&mut self) -> Result<(), LookupError> {
        if self.done.is_empty() {
            return Err(PathEscapeKind::Outside.into());
        }
        let end = self.done.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        self.done.truncate(end);
        // The parent is opened again from the jail. `..` of the open directory may lead elsewhere if it was
        // moved.
        self.at = match end {
            0 => None,
            _ => Some(strict(self.root, self.policy, &self.done, OpenFlags::DIRECTORY)?),
        };
        Ok(())
    }

    fn down(&mut self, name: &[u8], number: usize, last: LastComponent) -> Result<(), LookupError> {
        if name.len() > crate::path::check::NAME_MAX {
            return Err(PathEscapeKind::TooLong.into());
        }
        let flags = sys::PATH | OFlags::NOFOLLOW;
        let is_last = self.todo.is_empty();
        let found = match sys::openat(self.handle(), name, flags, Mode::empty()) {
            Ok(found) => found,
            // An entry to create need not exist.
            Err(Errno::NOENT) if is_last && last == LastComponent::Keep => {
                return self.push(name, None, FileKind::Other);
            }
            Err(errno) => return Err(sys::lookup_error(errno)),
        };
        let meta = sys::meta(&found).map_err(sys::lookup_error)?;
        if meta.kind != FileKind::Symlink || (is_last && last == LastComponent::Keep) {
            return self.push(name, Some(found), meta.kind);
        }
        if self.policy.symlinks == Symlinks::Refuse {
            return Err(PathEscapeKind::Symlink.into());
        }
        self.follow(&found, &meta, number)
    }

    fn push(&mut self, name: &[u8], at: Option<OwnedFd>, kind: FileKind) -> Result<(), LookupError> {
        if self.policy.mounts == Mounts::Refuse
            && let Some(fd) = &at
        {
            let id = sys::mount_id(fd, b"").map_err(sys::lookup_error)?;
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

    /// Puts the target of a symlink before the remaining components.
    fn follow(&mut self, link: &OwnedFd, meta: &Metadata, number: usize) -> Result<(), LookupError> {
        self.hops = self.hops.saturating_add(1);
        // A counter ends cycles without a set of visited symlinks.
        if self.hops > HOPS {
            return Err(PathEscapeKind::TooManyLinks.into());
        }
        may_follow(self.handle(), link, meta)?;
        // The target is read from the open symlink. Reading it by name could return that of a replacement,
        // which `may_follow` has not checked.
        let target = sys::target(link, c"").map_err(sys::lookup_error)?;
        match target.first() {
            None => return Err(PathEscapeKind::NotFound.into()),
            Some(b'/') => return Err(PathEscapeKind::Outside.into()),
            Some(_) => {}
        }
        // Each hop can add a long target, so the remaining length is limited and not only the number of hops.
        self.left = self.left.saturating_add(target.len()).saturating_add(1);
        if self.left.saturating_add(self.done.len()) > PATH_MAX.saturating_add(1) {
            return Err(PathEscapeKind::TooLong.into());
        }
        // In reverse, because each part is pushed to the front.
        for part in target.rsplit(|byte| *byte == b'/') {
            self.todo.push_front((part.to_vec(), number));
        }
        Ok(())
    }
}

/// Refuses magic links, and symlinks that the kernel would not follow.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn may_follow(directory: BorrowedFd<'_>, link: &OwnedFd, meta: &Metadata) -> Result<(), LookupError> {
    /// `ST_NOSYMFOLLOW`: the mount does not follow symlinks.
    const NO_FOLLOW: u64 = 0x2000;
    // Symlinks in `/proc` jump to an object without a path, so their text says nothing about their target.
    let system = sys::retry(|| rustix::fs::fstatfs(link)).map_err(sys::lookup_error)?;
    if system.f_type == rustix::fs::PROC_SUPER_MAGIC {
        return Err(PathEscapeKind::MagicLink.into());
    }
    let mount = sys::retry(|| rustix::fs::fstatvfs(link)).map_err(sys::lookup_error)?;
    if mount.f_flag.bits() & NO_FOLLOW != 0 {
        return Err(PathEscapeKind::Symlink.into());
    }
    // The rule of `fs.protected_symlinks`, whether or not the system enables it.
    let parent = sys::meta(directory).map_err(sys::lookup_error)?;
    let shared = parent.mode & 0o1002 == 0o1002;
    if shared && meta.uid != parent.uid && meta.uid != rustix::process::geteuid().as_raw() {
        return Err(PathEscapeKind::Symlink.into());
    }
    Ok(())
}

/// Refuses every symlink: on other systems a symlink has no handle, so following it would be a race.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn may_follow(_: BorrowedFd<'_>, _: &OwnedFd, _: &Metadata) -> Result<(), LookupError> {
    Err(PathEscapeKind::Symlink.into())
}
