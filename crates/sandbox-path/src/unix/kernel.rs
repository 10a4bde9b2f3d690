//! Tier K: one call of `openat2` from the jail's handle.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::sys::retry;
use crate::policy::Mounts;

/// The resolve flags of every lookup.
const STRICT: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);

/// Returns `true` if `openat2` works, by opening the jail itself.
///
/// # Errors
/// Any error that does not show whether the system call is available.
pub(crate) fn is_supported(jail: impl AsFd) -> Result<bool, Errno> {
    match open(jail, Mounts::Allow, b".", super::sys::PATH | OFlags::DIRECTORY, Mode::empty()) {
        Ok(_) => Ok(true),
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::TOOBIG) => Ok(false),
        Err(errno) => Err(errno),
    }
}

#[inline]
pub(crate) fn open(
    jail: impl AsFd,
    mounts: Mounts,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let resolve = match mounts {
        Mounts::Allow => STRICT,
        Mounts::Refuse => STRICT | ResolveFlags::NO_XDEV,
    };
    retry(|| fs::openat2(&jail, path, flags | OFlags::CLOEXEC, mode, resolve))
}
