//! Opening one path below the jail, on whichever tier it has.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::root::{Root, Tier};
use super::{resolve, steps, sys};
use crate::error::{No, PathEscapeKind};
use crate::meta::{FileKind, Metadata};
use crate::policy::{HardLinks, Policy, Symlinks};
use crate::rel::RelPath;

/// How the last name is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Want {
    pub(crate) flags: OFlags,
    pub(crate) mode: Mode,
}

/// Flags that every open of content has: it waits for nobody and gains no terminal.
const CONTENT: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl Want {
    /// The object alone; a link as last name is an error.
    pub(crate) const PIN: Self = Self::of(sys::PATH);
    /// The object alone; a link as last name is the object.
    pub(crate) const LINK: Self = Self::of(sys::PATH.union(OFlags::NOFOLLOW));
    /// A folder, to look names up in.
    pub(crate) const FOLDER: Self = Self::of(sys::PATH.union(OFlags::DIRECTORY));
    /// A folder, to list.
    pub(crate) const LIST: Self = Self::of(OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK));
    /// A file, to read.
    pub(crate) const READ: Self = Self::of(CONTENT);
    /// A file, to write from its start.
    pub(crate) const WRITE: Self = Self::of(CONTENT.union(OFlags::WRONLY));
    /// A file, to write at its end.
    pub(crate) const APPEND: Self = Self::of(CONTENT.union(OFlags::WRONLY).union(OFlags::APPEND));

    const fn of(flags: OFlags) -> Self {
        Self { flags, mode: Mode::empty() }
    }

    /// A new file.
    pub(crate) const fn make(mode: Mode) -> Self {
        let new = OFlags::CREATE.union(OFlags::EXCL).union(OFlags::WRONLY).union(OFlags::NOFOLLOW);
        Self { flags: new.union(OFlags::NOCTTY), mode }
    }

    /// A new file, to write at its end.
    pub(crate) const fn make_to_append(mode: Mode) -> Self {
        let new = Self::make(mode);
        Self { flags: new.flags.union(OFlags::APPEND), mode }
    }

    pub(crate) fn makes(self) -> bool {
        self.flags.contains(OFlags::CREATE)
    }

    /// Tells whether a link as last name is what is wanted.
    pub(crate) fn link_itself(self) -> bool {
        self.flags == Self::LINK.flags
    }

    /// Tells whether a link as last name is looked through where the policy follows links.
    fn last(self) -> resolve::Last {
        if self.makes() || self.link_itself() { resolve::Last::Keep } else { resolve::Last::Follow }
    }
}

/// Opens a path, following links and `..` by resolving them first where the policy says so.
#[inline]
pub(crate) fn open(root: &Root, policy: Policy, rel: &RelPath<'_>, want: Want) -> Result<OwnedFd, No> {
    if rel.parents {
        return resolved(root, policy, rel, want);
    }
    match strict(root, policy, &rel.bytes, want) {
        Err(no) if policy.symlinks == Symlinks::FollowBeneath && no.kind == PathEscapeKind::Symlink => {
            resolved(root, policy, rel, want)
        }
        done => done,
    }
}

#[cold]
fn resolved(root: &Root, policy: Policy, rel: &RelPath<'_>, want: Want) -> Result<OwnedFd, No> {
    for _ in 0..resolve::TRIES {
        let clean = resolve::resolve(root, policy, rel, want.last())?;
        match strict(root, policy, &clean, want) {
            // The path was free of links a moment ago.
            Err(no) if no.kind == PathEscapeKind::Symlink => {}
            done => return done.map_err(|no| No { component: given(rel, &clean, no.component), ..no }),
        }
    }
    Err(PathEscapeKind::Contended.into())
}

/// Gives the component of the given path for one of the resolved path: only the last is known to be the last.
fn given(rel: &RelPath<'_>, clean: &[u8], component: Option<usize>) -> Option<usize> {
    component.filter(|number| *number == count(clean)).map(|_last| rel.depth)
}

/// Gives the path of a folder without links and `..`, where the policy resolves them.
///
/// What stands in the way of opening it is left to the open.
pub(crate) fn without_links<'rel>(
    root: &Root,
    policy: Policy,
    rel: RelPath<'rel>,
    want: Want,
) -> Result<RelPath<'rel>, No> {
    if !rel.parents {
        let met = strict(root, policy, &rel.bytes, want).map(drop);
        let link = met.is_err_and(|no| no.kind == PathEscapeKind::Symlink);
        if !(link && policy.symlinks == Symlinks::FollowBeneath) {
            return Ok(rel);
        }
    }
    let bytes = resolve::resolve(root, policy, &rel, want.last())?;
    let depth = if bytes.is_empty() { 0 } else { count(&bytes) };
    Ok(RelPath { bytes: bytes.into(), depth, parents: false })
}

/// Opens a path in which nothing is followed.
#[inline]
pub(crate) fn strict(root: &Root, policy: Policy, path: &[u8], want: Want) -> Result<OwnedFd, No> {
    let found = match root.tier {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        Tier::Kernel => {
            let name = if path.is_empty() { b"." } else { path };
            super::kernel::open(root.handle(), policy.mounts, name, want.flags, want.mode)
                .map_err(|errno| from_kernel(root, policy, path, errno))
        }
        Tier::Walk => walked(root, policy, path, want),
    };
    found.map_err(|no| explained(root, policy, path, no))
}

fn walked(root: &Root, policy: Policy, path: &[u8], want: Want) -> Result<OwnedFd, No> {
    let fd = steps::open(root, policy.mounts, path, want)?;
    // Without `O_DIRECTORY` a look at a link gives the link.
    if want.flags == Want::PIN.flags && sys::meta(&fd).map_err(sys::no)?.kind == FileKind::Symlink {
        let errno = Some(Errno::LOOP.raw_os_error());
        return Err(No { errno, ..No::at(PathEscapeKind::Symlink, count(path)) });
    }
    Ok(fd)
}

/// Names errors that need another look: at the kind of what is there, or at the jail itself.
#[cold]
fn explained(root: &Root, policy: Policy, path: &[u8], no: No) -> No {
    let is_kind =
        [Errno::NXIO, Errno::ISDIR, Errno::NODEV].iter().any(|e| no.errno == Some(e.raw_os_error()));
    if is_kind && no.kind == PathEscapeKind::Io {
        return not_regular(root, policy, path).unwrap_or(no);
    }
    if no.kind == PathEscapeKind::NotFound && root.is_gone() {
        return No { kind: PathEscapeKind::JailGone, component: None, ..no };
    }
    no
}

fn count(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').count()
}

/// Names an error of `openat2`, with a second look for the component.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[cold]
fn from_kernel(root: &Root, policy: Policy, path: &[u8], errno: Errno) -> No {
    let kind = match errno {
        // Without `NO_XDEV` it means that the folder was carried out of the jail during the lookup.
        Errno::XDEV if policy.mounts == crate::policy::Mounts::Allow => PathEscapeKind::Outside,
        Errno::XDEV => PathEscapeKind::Mount,
        Errno::NOSYS => PathEscapeKind::BackendLost,
        _ => sys::no(errno).kind,
    };
    let found_by_looking = matches!(
        kind,
        PathEscapeKind::Mount
            | PathEscapeKind::Symlink
            | PathEscapeKind::NotADirectory
            | PathEscapeKind::NotFound
            | PathEscapeKind::TooLong
    );
    let mut component = None;
    if found_by_looking {
        let mounts = if kind == PathEscapeKind::Mount { policy.mounts } else { crate::policy::Mounts::Allow };
        component = match steps::open(root, mounts, path, Want::PIN) {
            Err(second) if second.kind == kind => second.component,
            Ok(fd) if kind == PathEscapeKind::Symlink => {
                let is_link = sys::meta(&fd).is_ok_and(|meta| meta.kind == FileKind::Symlink);
                is_link.then(|| count(path))
            }
            // The look takes what is no folder, so it is the last that should be one.
            Ok(fd) if kind == PathEscapeKind::NotADirectory => {
                let is_folder = sys::meta(&fd).is_ok_and(|meta| meta.kind == FileKind::Folder);
                (!is_folder).then(|| count(path))
            }
            _ => None,
        };
    }
    // Both say `EXDEV`: where no mount is seen on the way, it was the folder that left.
    let kind =
        if kind == PathEscapeKind::Mount && component.is_none() { PathEscapeKind::Outside } else { kind };
    No { kind, component, errno: Some(errno.raw_os_error()) }
}

/// Asks what is there that cannot be opened as a file.
fn not_regular(root: &Root, policy: Policy, path: &[u8]) -> Option<No> {
    let fd = strict(root, policy, path, Want::PIN).ok()?;
    let is = sys::meta(&fd).ok()?.kind;
    Some(No { kind: PathEscapeKind::NotRegular { is }, component: Some(count(path)), errno: None })
}

/// Checks what was opened as a file: its kind, and its number of names.
#[inline]
pub(crate) fn regular(fd: &OwnedFd, names: HardLinks) -> Result<Metadata, No> {
    let meta = sys::meta(fd).map_err(sys::no)?;
    if meta.kind != FileKind::File {
        return Err(PathEscapeKind::NotRegular { is: meta.kind }.into());
    }
    if names == HardLinks::Refuse && meta.links > 1 {
        return Err(PathEscapeKind::HardLinked { links: meta.links }.into());
    }
    Ok(meta)
}

/// Opens the jail's own folder again.
pub(crate) fn strict_folder(root: &Root, want: Want) -> Result<OwnedFd, No> {
    sys::openat(root.handle(), b".", want.flags | OFlags::NOFOLLOW, want.mode).map_err(sys::no)
}
