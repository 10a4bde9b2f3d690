//! Tier W: one open per component, each from the handle of its parent.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::open::OpenFlags;
use super::root::Root;
use super::sys::{self, PATH, TRIES, YIELD_AFTER};
use crate::error::{LookupError, PathEscapeKind};
use crate::meta::FileKind;
use crate::policy::Mounts;

/// The most `../` in one lookup, so that it stays below the kernel's limit of 4,095 bytes.
const UPS: usize = 1300;
/// Enough `../` for most paths, with the terminating NUL, so that no path has to be allocated.
const SHORT_UPS: &[u8] =
    b"../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../\0";
/// The flags for a parent directory.
const STEP: OFlags = PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);

/// The reason why a walk ended without a result.
enum WalkEnd {
    /// An error.
    Failed(LookupError),
    /// The path changed between two lookups, so the walk proves nothing and starts again.
    Again,
}

impl From<LookupError> for WalkEnd {
    fn from(error: LookupError) -> Self {
        Self::Failed(error)
    }
}

/// Opens a path without `..`, and starts again while other processes change it.
pub(crate) fn open(
    root: &Root,
    mounts: Mounts,
    path: &[u8],
    want: OpenFlags,
) -> Result<OwnedFd, LookupError> {
    // A walk that raced with a rename is repeated, but not forever: an attacker who renames in a loop must get
    // an error and not a hang.
    for round in 0..TRIES {
        match walk(root, mounts, path, want) {
            Ok(found) => return Ok(found),
            Err(WalkEnd::Failed(error)) => return Err(error),
            Err(WalkEnd::Again) if round > YIELD_AFTER => std::thread::yield_now(),
            Err(WalkEnd::Again) => {}
        }
    }
    Err(PathEscapeKind::Contended.into())
}

fn walk(root: &Root, mounts: Mounts, path: &[u8], want: OpenFlags) -> Result<OwnedFd, WalkEnd> {
    let mut held: Option<OwnedFd> = None;
    let mut names = path.split(|byte| *byte == b'/').enumerate().peekable();
    while let Some((above, name)) = names.next() {
        let number = above.saturating_add(1);
        let at = held.as_ref().map_or(root.handle(), AsFd::as_fd);
        if names.peek().is_some() {
            let next = sys::openat(at, name, STEP, Mode::empty())
                .map_err(|errno| explain(at, name, number, errno, FileKind::Directory))?;
            same_mount(root, mounts, &next, number)?;
            held = Some(next);
        } else {
            return last(root, mounts, at, name, number, want);
        }
    }
    Err(LookupError::from(PathEscapeKind::Empty).into())
}

/// Opens the last component, and checks that its parent was not moved out of the jail.
fn last(
    root: &Root,
    mounts: Mounts,
    at: BorrowedFd<'_>,
    name: &[u8],
    number: usize,
    want: OpenFlags,
) -> Result<OwnedFd, WalkEnd> {
    let above = number.saturating_sub(1);
    // A path to the jail itself has one empty component.
    let name = if name.is_empty() { b"." } else { name };
    if want.makes() {
        still_below(root, at, above)?;
    }
    let flags = if want.link_itself() { want.flags } else { want.flags | OFlags::NOFOLLOW };
    let expected = if flags.contains(OFlags::DIRECTORY) { FileKind::Directory } else { FileKind::File };
    let found = sys::openat(at, name, flags, want.mode)
        .map_err(|errno| explain(at, name, number, errno, expected))?;
    let after = still_below(root, at, above).and_then(|()| same_mount(root, mounts, &found, number));
    if let Err(stop) = after {
        if want.makes() {
            // A file created in a directory that was moved out of the jail is removed again, if it is still the same.
            let ours =
                sys::meta(&found).ok().zip(sys::look(at, name).ok()).is_some_and(|(a, b)| a.id == b.id);
            let gone = ours && rustix::fs::unlinkat(at, name, rustix::fs::AtFlags::empty()).is_ok();
            if gone && matches!(stop, WalkEnd::Again) {
                return Err(stop);
            }
            return Err(LookupError::from(PathEscapeKind::Outside).into());
        }
        return Err(stop);
    }
    Ok(found)
}

/// Checks that the jail is still `depth` levels above a directory.
fn still_below(root: &Root, directory: BorrowedFd<'_>, depth: usize) -> Result<(), WalkEnd> {
    if depth == 0 {
        return Ok(());
    }
    let mut left = depth;
    let mut held: Option<OwnedFd> = None;
    // A deep directory needs more `../` than one lookup may have. It climbs in stages.
    while left > UPS {
        let at = held.as_ref().map_or(directory, AsFd::as_fd);
        let up =
            sys::openat(at, &ups(UPS), STEP, Mode::empty()).map_err(|errno| moved(root, directory, errno))?;
        held = Some(up);
        left = left.saturating_sub(UPS);
    }
    let at = held.as_ref().map_or(directory, AsFd::as_fd);
    let short = SHORT_UPS.len().checked_sub(left.saturating_mul(3).saturating_add(1));
    let short = short.and_then(|start| SHORT_UPS.get(start..));
    let seen = match short.and_then(|ups| CStr::from_bytes_with_nul(ups).ok()) {
        Some(ups) => sys::look_through(at, ups),
        None => sys::look_through(at, &ups(left)[..]),
    };
    match seen {
        // The directory may have been moved while it was open. As many steps up as were taken down must lead to
        // the jail again; otherwise an open relative to it would be outside.
        Ok(meta) if meta.id == root.id => Ok(()),
        Ok(_) => Err(climb(root, directory)),
        Err(errno) => Err(moved(root, directory, errno)),
    }
}

fn ups(count: usize) -> Vec<u8> {
    b"../".repeat(count)
}

/// Converts a failed lookup of parents: a removed directory has no `..`, and access can end above the jail.
fn moved(root: &Root, directory: BorrowedFd<'_>, errno: Errno) -> WalkEnd {
    match errno {
        // A directory without search permission denies its own `.` as well, wherever it is.
        Errno::ACCESS | Errno::PERM if sys::look_through(directory, c".").is_err() => {
            WalkEnd::Failed(sys::lookup_error(errno))
        }
        Errno::NOENT | Errno::ACCESS | Errno::PERM | Errno::NOTDIR => climb(root, directory),
        _ => WalkEnd::Failed(sys::lookup_error(errno)),
    }
}

/// Looks for the jail level by level. At another depth, the directory was moved inside the jail: start again.
fn climb(root: &Root, directory: BorrowedFd<'_>) -> WalkEnd {
    let outside = || WalkEnd::Failed(PathEscapeKind::Outside.into());
    let stopped = |errno| match errno {
        // These errors do not depend on the position of the directory.
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => WalkEnd::Failed(sys::lookup_error(errno)),
        _ => outside(),
    };
    let mut held: Option<OwnedFd> = None;
    let Ok(mut last) = sys::meta(directory) else { return outside() };
    // A directory without a hard link was removed during the walk, which does not prove that it was outside.
    if last.links == 0 {
        return WalkEnd::Again;
    }
    // A directory cannot be deeper than a path can be long, and the limit ends the climb if another process
    // keeps moving the directory deeper.
    for _ in 0..crate::path::check::PATH_MAX {
        let at = held.as_ref().map_or(directory, AsFd::as_fd);
        let up = match sys::openat(at, b"..", STEP, Mode::empty()) {
            Ok(up) => up,
            Err(errno) => return stopped(errno),
        };
        let Ok(meta) = sys::meta(&up) else { return outside() };
        // It was moved within the jail, so only this attempt is lost.
        if meta.id == root.id {
            return WalkEnd::Again;
        }
        // The parent of the root of the file system is that root itself.
        if meta.id == last.id {
            return outside();
        }
        last = meta;
        held = Some(up);
    }
    outside()
}

/// Converts a failed open, with a lookup of the entry's kind.
fn explain(at: BorrowedFd<'_>, name: &[u8], number: usize, errno: Errno, expected: FileKind) -> WalkEnd {
    let named =
        |errno: Errno| WalkEnd::Failed(LookupError { component: Some(number), ..sys::lookup_error(errno) });
    match errno {
        // A symlink gives different errors depending on the flags of the open.
        Errno::LOOP | Errno::MLINK => named(Errno::LOOP),
        Errno::NOTDIR => match sys::look(at, name).map(|meta| meta.kind) {
            Ok(FileKind::Symlink) => named(Errno::LOOP),
            // The entry is what the open wanted, so another process has just replaced it.
            Ok(kind) if kind == expected => WalkEnd::Again,
            Ok(_) => named(Errno::NOTDIR),
            Err(Errno::NOENT) => WalkEnd::Again,
            Err(errno) => named(errno),
        },
        _ => named(errno),
    }
}

fn same_mount(root: &Root, mounts: Mounts, found: &OwnedFd, number: usize) -> Result<(), WalkEnd> {
    if mounts == Mounts::Allow {
        return Ok(());
    }
    let id = sys::mount_id(found, b"").map_err(sys::lookup_error)?;
    if id.is_some() && id == root.mount {
        Ok(())
    } else {
        Err(LookupError::at(PathEscapeKind::Mount, number).into())
    }
}
