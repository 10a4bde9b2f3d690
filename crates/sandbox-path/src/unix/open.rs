//! Opening one path inside the jail, on its tier.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::root::{Root, Tier};
use super::{steps, sys};
use crate::error::{LookupError, PathEscapeKind};
use crate::meta::{FileKind, Metadata};
use crate::path::relative::RelPath;
use crate::policy::{HardLinks, Policy};

/// The flags and mode with which the last component is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenFlags {
    pub(crate) flags: OFlags,
    pub(crate) mode: Mode,
}

/// The flags of every open for contents: it does not block and does not acquire a terminal.
const CONTENT: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl OpenFlags {
    /// The object for its identity only; a symlink is an error.
    pub(crate) const PIN: Self = Self::of(sys::PATH);
    /// The object for its identity only; a symlink is the object.
    pub(crate) const LINK: Self = Self::of(sys::PATH.union(OFlags::NOFOLLOW));
    /// A directory, for lookups.
    pub(crate) const DIRECTORY: Self = Self::of(sys::PATH.union(OFlags::DIRECTORY));
    /// A directory, for listing.
    pub(crate) const LIST: Self = Self::of(OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK));
    /// A file, for reading.
    pub(crate) const READ: Self = Self::of(CONTENT);
    /// A file, for writing from its start.
    pub(crate) const WRITE: Self = Self::of(CONTENT.union(OFlags::WRONLY));
    /// A file, for appending.
    pub(crate) const APPEND: Self = Self::of(CONTENT.union(OFlags::WRONLY).union(OFlags::APPEND));

    const fn of(flags: OFlags) -> Self {
        Self { flags, mode: Mode::empty() }
    }

    /// A new file.
    pub(crate) const fn make(mode: Mode) -> Self {
        let new = OFlags::CREATE.union(OFlags::EXCL).union(OFlags::WRONLY).union(OFlags::NOFOLLOW);
        Self { flags: new.union(OFlags::NOCTTY), mode }
    }

    /// A new file, for appending.
    pub(crate) const fn make_to_append(mode: Mode) -> Self {
        let new = Self::make(mode);
        Self { flags: new.flags.union(OFlags::APPEND), mode }
    }

    pub(crate) fn makes(self) -> bool {
        self.flags.contains(OFlags::CREATE)
    }

    /// Returns `true` if a symlink in the last component is itself opened.
    pub(crate) fn link_itself(self) -> bool {
        self.flags == Self::LINK.flags
    }
}

/// Opens a path.
#[inline]
pub(crate) fn open(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    want: OpenFlags,
) -> Result<OwnedFd, LookupError> {
    strict(root, policy, &rel.bytes, want)
}

/// Opens a path without following symlinks.
#[inline]
pub(crate) fn strict(
    root: &Root,
    policy: Policy,
    path: &[u8],
    want: OpenFlags,
) -> Result<OwnedFd, LookupError> {
    let found = match root.tier {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        Tier::Kernel => {
            let name = if path.is_empty() { b"." } else { path };
            super::kernel::open(root.handle(), policy.mounts, name, want.flags, want.mode)
                .map_err(|errno| from_kernel(root, policy, path, errno))
        }
        Tier::Walk => walked(root, policy, path, want),
    };
    found.map_err(|error| explained(root, policy, path, error))
}

fn walked(root: &Root, policy: Policy, path: &[u8], want: OpenFlags) -> Result<OwnedFd, LookupError> {
    let fd = steps::open(root, policy.mounts, path, want)?;
    // Without `O_DIRECTORY`, opening a symlink with `O_PATH` opens the symlink itself.
    if want.flags == OpenFlags::PIN.flags
        && sys::meta(&fd).map_err(sys::lookup_error)?.kind == FileKind::Symlink
    {
        let errno = Some(Errno::LOOP.raw_os_error());
        return Err(LookupError { errno, ..LookupError::at(PathEscapeKind::Symlink, count(path)) });
    }
    Ok(fd)
}

/// Refines errors that need another lookup, of the object's kind or of the jail itself.
#[cold]
fn explained(root: &Root, policy: Policy, path: &[u8], error: LookupError) -> LookupError {
    let is_kind =
        [Errno::NXIO, Errno::ISDIR, Errno::NODEV].iter().any(|e| error.errno == Some(e.raw_os_error()));
    if is_kind && error.kind == PathEscapeKind::Io {
        return not_regular(root, policy, path).unwrap_or(error);
    }
    if error.kind == PathEscapeKind::NotFound && root.is_gone() {
        return LookupError { kind: PathEscapeKind::JailGone, component: None, ..error };
    }
    error
}

fn count(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').count()
}

/// Converts an error of `openat2`, with a second lookup for the component.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[cold]
fn from_kernel(root: &Root, policy: Policy, path: &[u8], errno: Errno) -> LookupError {
    let kind = match errno {
        // Without `NO_XDEV` it means that the directory was moved out of the jail during the lookup.
        Errno::XDEV if policy.mounts == crate::policy::Mounts::Allow => PathEscapeKind::Outside,
        Errno::XDEV => PathEscapeKind::Mount,
        Errno::NOSYS => PathEscapeKind::BackendLost,
        _ => sys::lookup_error(errno).kind,
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
    if kind == PathEscapeKind::NotFound && has_directory(root, path) {
        component = Some(count(path));
    } else if found_by_looking {
        let mounts = if kind == PathEscapeKind::Mount { policy.mounts } else { crate::policy::Mounts::Allow };
        component = match steps::open(root, mounts, path, OpenFlags::PIN) {
            Err(second) if second.kind == kind => second.component,
            Ok(fd) if kind == PathEscapeKind::Symlink => {
                let is_link = sys::meta(&fd).is_ok_and(|meta| meta.kind == FileKind::Symlink);
                is_link.then(|| count(path))
            }
            // The lookup accepts files in the last component, so that is the one that should be a directory.
            Ok(fd) if kind == PathEscapeKind::NotADirectory => {
                let is_directory = sys::meta(&fd).is_ok_and(|meta| meta.kind == FileKind::Directory);
                (!is_directory).then(|| count(path))
            }
            _ => None,
        };
    }
    // Both cases are `EXDEV`: if no component is a mount, the directory was moved out of the jail.
    let kind =
        if kind == PathEscapeKind::Mount && component.is_none() { PathEscapeKind::Outside } else { kind };
    LookupError { kind, component, errno: Some(errno.raw_os_error()) }
}

/// Returns `true` if the directory of a path exists, so that the last component is the missing one. Programs often look
/// for files that do not exist, and this is one lookup instead of one per component.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_directory(root: &Root, path: &[u8]) -> bool {
    let Some(at) = path.iter().rposition(|byte| *byte == b'/') else { return true };
    let OpenFlags { flags, mode } = OpenFlags::DIRECTORY;
    let directory = path.split_at(at).0;
    super::kernel::open(root.handle(), crate::policy::Mounts::Allow, directory, flags, mode).is_ok()
}

/// Looks up the kind of an object that cannot be opened as a file.
fn not_regular(root: &Root, policy: Policy, path: &[u8]) -> Option<LookupError> {
    let fd = strict(root, policy, path, OpenFlags::PIN).ok()?;
    let is = sys::meta(&fd).ok()?.kind;
    Some(LookupError { kind: PathEscapeKind::NotRegular { is }, component: Some(count(path)), errno: None })
}

/// Checks the kind and the number of hard links of an open file.
#[inline]
pub(crate) fn regular(fd: &OwnedFd, names: HardLinks) -> Result<Metadata, LookupError> {
    let meta = sys::meta(fd).map_err(sys::lookup_error)?;
    if meta.kind != FileKind::File {
        return Err(PathEscapeKind::NotRegular { is: meta.kind }.into());
    }
    if names == HardLinks::Refuse && meta.links > 1 {
        return Err(PathEscapeKind::HardLinked { links: meta.links }.into());
    }
    Ok(meta)
}

/// Opens the jail's directory again.
pub(crate) fn strict_directory(root: &Root, want: OpenFlags) -> Result<OwnedFd, LookupError> {
    sys::openat(root.handle(), b".", want.flags | OFlags::NOFOLLOW, want.mode).map_err(sys::lookup_error)
}
