//! Creating and moving entries.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{self, AtFlags, Mode};
use rustix::io::Errno;

use super::open::{OpenFlags, open, regular};
use super::root::Root;
use super::sys;
use crate::error::{LookupError, OpenErrorKind, OperationError, PathEscapeKind};
use crate::jail::change::{RenameMode, RenameSide};
use crate::meta::{FileKind, Metadata, Perm};
use crate::path::relative::RelPath;
use crate::policy::{Mounts, Policy};

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
) -> Result<(Parent<'root>, &'rel [u8]), LookupError> {
    let (directory, name) = rel.split_last().ok_or(PathEscapeKind::JailItself)?;
    let parent = if directory.is_jail() {
        // Nothing can be created in a removed directory, and the system's error would be a misleading `not-found`.
        if root.is_gone() {
            return Err(PathEscapeKind::JailGone.into());
        }
        Parent::Jail(root)
    } else {
        Parent::Below(open(root, policy, &directory, OpenFlags::DIRECTORY)?)
    };
    Ok((parent, name))
}

/// Converts an error about the last component of a path.
pub(super) fn fail(rel: &RelPath<'_>, errno: Errno) -> OperationError {
    let error = LookupError { component: Some(rel.depth), ..sys::lookup_error(errno) };
    let kind = match errno {
        Errno::EXIST => OpenErrorKind::Exists,
        Errno::NOTEMPTY => OpenErrorKind::NotEmpty,
        Errno::XDEV => OpenErrorKind::Path(PathEscapeKind::Mount),
        Errno::ISDIR => OpenErrorKind::Path(PathEscapeKind::NotRegular { is: FileKind::Directory }),
        _ => OpenErrorKind::Path(error.kind),
    };
    OperationError { kind, component: error.component, errno: error.errno }
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
) -> Result<(File, Metadata), OperationError> {
    make(root, policy, rel, OpenFlags::make(mode(perm)))
}

fn make(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    want: OpenFlags,
) -> Result<(File, Metadata), OperationError> {
    if rel.is_jail() {
        return Err(PathEscapeKind::JailItself.into());
    }
    let fd = open(root, policy, rel, want).map_err(|error| match error.errno {
        Some(errno) if errno == Errno::EXIST.raw_os_error() => fail(rel, Errno::EXIST),
        _ => OperationError::from(error),
    })?;
    let meta = sys::meta(&fd).map_err(sys::lookup_error)?;
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
) -> Result<(File, Metadata, Creation), OperationError> {
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    // Opening and creating are two calls, because the caller must know which of them happened. Another process
    // can act between the two, hence the rounds.
    for _ in 0..ROUNDS {
        match open(root, policy, rel, OpenFlags::APPEND) {
            Ok(fd) => {
                let meta = regular(&fd, policy.hard_links_write)?;
                return Ok((File::from(fd), meta, Creation::Existing));
            }
            // Only a missing file may be created.
            Err(error) if error.kind != PathEscapeKind::NotFound => return Err(error.into()),
            Err(error) => {
                let Some(perm) = perm else { return Err(error.into()) };
                match make(root, policy, rel, OpenFlags::make_to_append(mode(perm))) {
                    Ok((file, meta)) => return Ok((file, meta, Creation::Created)),
                    Err(OperationError { kind: OpenErrorKind::Exists, .. }) => {}
                    Err(other) => return Err(other),
                }
            }
        }
    }
    Err(PathEscapeKind::Contended.into())
}

/// Whether a call created the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Creation {
    Created,
    Existing,
}

/// Creates one directory.
pub(crate) fn create_dir(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    perm: Perm,
) -> Result<(), OperationError> {
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
) -> Result<Option<Metadata>, OperationError> {
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
        // A mount point inside the jail belongs to another file system, which this policy excludes.
        if id != root.mount {
            return Err(LookupError::at(PathEscapeKind::Mount, rel.depth).into());
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
    over: RenameMode,
) -> Result<(), (RenameSide, OperationError)> {
    let (old_at, old) = parent(root, policy, from).map_err(|error| (RenameSide::From, error.into()))?;
    let (new_at, new) = parent(root, policy, to).map_err(|error| (RenameSide::To, error.into()))?;
    let source = seen(root, policy, &old_at, old, from)
        .and_then(|found| found.ok_or_else(|| fail(from, Errno::NOENT)))
        .map_err(|fail| (RenameSide::From, fail))?;
    let done = match over {
        RenameMode::Replace => sys::retry(|| fs::renameat(&old_at, old, &new_at, new)),
        RenameMode::Refuse => match without_replacing(&old_at, old, &new_at, new) {
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
        Errno::INVAL | Errno::NOSYS if sys::look(&old_at, old).is_ok() => (
            RenameSide::From,
            OperationError { errno: Some(errno.raw_os_error()), ..PathEscapeKind::Unsupported.into() },
        ),
        // A file over a directory, or a directory over a file.
        Errno::ISDIR | Errno::NOTDIR => (RenameSide::To, fail(to, Errno::EXIST)),
        Errno::EXIST | Errno::NOTEMPTY | Errno::XDEV | Errno::NAMETOOLONG => {
            (RenameSide::To, fail(to, errno))
        }
        Errno::NOENT if sys::look(&old_at, old).is_ok() => (RenameSide::To, fail(to, errno)),
        // The error can concern either path.
        errno => (RenameSide::From, OperationError { component: None, ..fail(from, errno) }),
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
