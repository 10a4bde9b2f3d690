//! Creating and moving entries.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{self, AtFlags, Mode};
use rustix::io::Errno;

use super::open::{Want, open, regular};
use super::root::Root;
use super::sys;
use crate::change::{Over, Side};
use crate::error::{Fail, No, OpenErrorKind, PathEscapeKind};
use crate::meta::{FileKind, Metadata, Perm};
use crate::policy::{Mounts, Policy};
use crate::rel::RelPath;

/// The directory in which an entry is created, moved or removed.
pub(super) enum Parent<'root> {
    Jail(&'root Root),
    Below(OwnedFd),
}

impl AsFd for Parent<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Jail(root) => root.handle(),
            Self::Below(fd) => fd.as_fd(),
        }
    }
}

/// Opens the parent of a path, and returns it with the last component.
pub(super) fn parent<'root, 'rel>(
    root: &'root Root,
    policy: Policy,
    rel: &'rel RelPath<'_>,
) -> Result<(Parent<'root>, &'rel [u8]), No> {
    let (directory, name) = rel.split_last().ok_or(PathEscapeKind::JailItself)?;
    if name == b".." {
        return Err(No::at(PathEscapeKind::Parent, rel.depth));
    }
    let parent = if directory.is_jail() {
        // Nothing can be created in a removed directory, and the system's error would be a misleading `not-found`.
        if root.is_gone() {
            return Err(PathEscapeKind::JailGone.into());
        }
        Parent::Jail(root)
    } else {
        Parent::Below(open(root, policy, &directory, Want::DIRECTORY)?)
    };
    Ok((parent, name))
}

/// Converts an error about the last component of a path.
pub(super) fn fail(rel: &RelPath<'_>, errno: Errno) -> Fail {
    let no = No { component: Some(rel.depth), ..sys::no(errno) };
    let kind = match errno {
        Errno::EXIST => OpenErrorKind::Exists,
        Errno::NOTEMPTY => OpenErrorKind::NotEmpty,
        Errno::XDEV => OpenErrorKind::Path(PathEscapeKind::Mount),
        Errno::ISDIR => OpenErrorKind::Path(PathEscapeKind::NotRegular { is: FileKind::Directory }),
        _ => OpenErrorKind::Path(no.kind),
    };
    Fail { kind, component: no.component, errno: no.errno }
}

pub(super) fn mode(perm: Perm) -> Mode {
    Mode::from_raw_mode(perm.bits().into())
}

/// Creates a new file.
pub(crate) fn create_new(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    perm: Perm,
) -> Result<(File, Metadata), Fail> {
    make(root, policy, rel, Want::make(mode(perm)))
}

fn make(root: &Root, policy: Policy, rel: &RelPath<'_>, want: Want) -> Result<(File, Metadata), Fail> {
    if rel.is_jail() {
        return Err(PathEscapeKind::JailItself.into());
    }
    let fd = open(root, policy, rel, want).map_err(|no| match no.errno {
        Some(errno) if errno == Errno::EXIST.raw_os_error() => fail(rel, Errno::EXIST),
        _ => Fail::from(no),
    })?;
    let meta = sys::meta(&fd).map_err(sys::no)?;
    Ok((File::from(fd), meta))
}

/// The number of attempts for a file that other processes create and remove.
const ROUNDS: u32 = 8;

/// Opens a file for appending, or creates it if `perm` is given.
pub(crate) fn append(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    perm: Option<Perm>,
) -> Result<(File, Metadata, Made), Fail> {
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    for _ in 0..ROUNDS {
        match open(root, policy, rel, Want::APPEND) {
            Ok(fd) => {
                let meta = regular(&fd, policy.hard_links_write)?;
                return Ok((File::from(fd), meta, Made::Existing));
            }
            Err(no) if no.kind != PathEscapeKind::NotFound => return Err(no.into()),
            Err(no) => {
                let Some(perm) = perm else { return Err(no.into()) };
                match make(root, policy, rel, Want::make_to_append(mode(perm))) {
                    Ok((file, meta)) => return Ok((file, meta, Made::Created)),
                    Err(Fail { kind: OpenErrorKind::Exists, .. }) => {}
                    Err(other) => return Err(other),
                }
            }
        }
    }
    // A dangling symlink: opening does not find it and creating finds it existing. Its target is not created.
    let link = open(root, policy, rel, Want::LINK).and_then(|fd| sys::meta(&fd).map_err(sys::no));
    if link.is_ok_and(|meta| meta.kind == FileKind::Symlink) {
        return Err(fail(rel, Errno::LOOP));
    }
    Err(PathEscapeKind::Contended.into())
}

/// Whether a call created the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    Created,
    Existing,
}

/// Creates one directory.
pub(crate) fn create_dir(root: &Root, policy: Policy, rel: &RelPath<'_>, perm: Perm) -> Result<(), Fail> {
    let (at, name) = parent(root, policy, rel)?;
    sys::retry(|| fs::mkdirat(&at, name, mode(perm))).map_err(|errno| fail(rel, errno))
}

/// Returns the metadata of an entry; refuses symlinks and, depending on the policy, mounts.
pub(super) fn seen(
    root: &Root,
    policy: Policy,
    at: &Parent<'_>,
    name: &[u8],
    rel: &RelPath<'_>,
) -> Result<Option<Metadata>, Fail> {
    let meta = match sys::look(at, name) {
        Ok(meta) => meta,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(fail(rel, errno)),
    };
    if meta.kind == FileKind::Symlink {
        return Err(fail(rel, Errno::LOOP));
    }
    if policy.mounts == Mounts::Refuse {
        let id = sys::mount_id(at, name).map_err(|errno| fail(rel, errno))?;
        if id != root.mount {
            return Err(No::at(PathEscapeKind::Mount, rel.depth).into());
        }
    }
    Ok(Some(meta))
}

/// Renames an entry.
pub(crate) fn rename(
    root: &Root,
    policy: Policy,
    from: &RelPath<'_>,
    to: &RelPath<'_>,
    over: Over,
) -> Result<(), (Side, Fail)> {
    let (old_at, old) = parent(root, policy, from).map_err(|no| (Side::From, no.into()))?;
    let (new_at, new) = parent(root, policy, to).map_err(|no| (Side::To, no.into()))?;
    let source = seen(root, policy, &old_at, old, from)
        .and_then(|found| found.ok_or_else(|| fail(from, Errno::NOENT)))
        .map_err(|fail| (Side::From, fail))?;
    let done = match over {
        Over::Replace => sys::retry(|| fs::renameat(&old_at, old, &new_at, new)),
        Over::Refuse => match without_replacing(&old_at, old, &new_at, new) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if source.kind != FileKind::Directory => {
                // Creating a hard link fails if the target exists; then the old name is removed. `EPERM` means that
                // this file system has no hard links.
                sys::retry(|| fs::linkat(&old_at, old, &new_at, new, AtFlags::empty()))
                    .map_err(|errno| if errno == Errno::PERM { Errno::OPNOTSUPP } else { errno })
                    .and_then(|()| sys::retry(|| fs::unlinkat(&old_at, old, AtFlags::empty())))
            }
            done => done,
        },
    };
    done.map_err(|errno| match errno {
        // A directory into itself, or a file system that can neither rename without replacing nor link.
        Errno::INVAL | Errno::NOSYS if sys::look(&old_at, old).is_ok() => {
            (Side::From, Fail { errno: Some(errno.raw_os_error()), ..PathEscapeKind::Unsupported.into() })
        }
        // A file over a directory, or a directory over a file.
        Errno::ISDIR | Errno::NOTDIR => (Side::To, fail(to, Errno::EXIST)),
        Errno::EXIST | Errno::NOTEMPTY | Errno::XDEV | Errno::NAMETOOLONG => (Side::To, fail(to, errno)),
        Errno::NOENT if sys::look(&old_at, old).is_ok() => (Side::To, fail(to, errno)),
        // The error can concern either path.
        errno => (Side::From, Fail { component: None, ..fail(from, errno) }),
    })
}

/// Renames an entry, and fails with `EXIST` if the new name exists.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn without_replacing(
    old_at: &impl AsFd,
    old: &[u8],
    new_at: &impl AsFd,
    new: &[u8],
) -> Result<(), Errno> {
    sys::retry(|| fs::renameat_with(old_at, old, new_at, new, fs::RenameFlags::NOREPLACE))
}

/// Fails, because this system cannot do it.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn without_replacing(_: &impl AsFd, _: &[u8], _: &impl AsFd, _: &[u8]) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
