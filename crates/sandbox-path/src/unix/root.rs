//! The handle of the jail's directory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::sys::{self, PATH};
use crate::error::jail::{JailError, JailErrorKind};
use crate::error::{LookupError, PathEscapeKind};
use crate::jail::guarantee::{CaseFolding, Guarantee, JailPlace};
use crate::meta::{FileId, FileKind};
use crate::path::relative::RelPath;
use crate::policy::{Mounts, Policy};

/// The mechanism of lookups in the jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Kernel,
    Walk,
}

/// The handle of the jail's directory, with its identity and tier.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    pub(crate) id: FileId,
    pub(crate) mount: Option<u64>,
    pub(crate) tier: Tier,
    pub(crate) path: Option<Box<Path>>,
}

/// Whether the last component of the jail's path can be a symlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLink {
    Refuse,
    Follow,
}

/// Whether the jail can be the root of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TopDirectory {
    Refuse,
    Accept,
}

impl Root {
    /// Returns when the directory was created, if the file system stores that.
    pub(crate) fn birth(&self) -> Option<crate::meta::Stamp> {
        sys::birth(&self.fd)
    }

    pub(crate) fn open(
        path: &Path,
        policy: Policy,
        link: LastLink,
        top: TopDirectory,
    ) -> Result<Self, JailError> {
        let fd = open_path(path, link)?;
        Self::from_fd(fd, Some(path.into()), policy, top)
    }

    pub(crate) fn from_fd(
        fd: OwnedFd,
        path: Option<Box<Path>>,
        policy: Policy,
        top: TopDirectory,
    ) -> Result<Self, JailError> {
        let meta = sys::meta(&fd).map_err(jail_error)?;
        if meta.kind != FileKind::Directory {
            return Err(JailError::new(JailErrorKind::NotADirectory));
        }
        if top == TopDirectory::Refuse && sys::look_through(&fd, c"..").is_ok_and(|up| up.id == meta.id) {
            return Err(JailError::new(JailErrorKind::IsRoot));
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let tier =
            if super::kernel::is_supported(&fd).map_err(jail_error)? { Tier::Kernel } else { Tier::Walk };
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let tier = Tier::Walk;
        Self { fd, id: meta.id, mount: None, tier, path }.holding(policy)
    }

    /// Creates a new directory, and checks that it belongs to this user and is closed to others.
    pub(crate) fn create_unique(
        parent: &Path,
        prefix: &str,
        random: [u8; 8],
        policy: Policy,
    ) -> Result<Self, JailError> {
        let name = format!("{prefix}{:016x}", u64::from_be_bytes(random));
        let alone =
            !name.bytes().any(|byte| matches!(byte, 0 | b'/')) && name.len() <= crate::path::check::NAME_MAX;
        if !alone {
            return Err(jail_error(Errno::INVAL));
        }
        let above = sys::openat(CWD, parent.as_os_str().as_bytes(), PATH | OFlags::DIRECTORY, Mode::empty())
            .map_err(jail_error)?;
        sys::retry(|| rustix::fs::mkdirat(&above, name.as_str(), Mode::RWXU)).map_err(jail_error)?;
        let flags = PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let fd = sys::openat(&above, name.as_bytes(), flags, Mode::empty()).map_err(|errno| match errno {
            // Another process has replaced the directory that was just created.
            Errno::NOTDIR | Errno::LOOP | Errno::NOENT | Errno::ACCESS => {
                JailError::new(JailErrorKind::NotOurs)
            }
            errno => jail_error(errno),
        })?;
        let meta = sys::meta(&fd).map_err(jail_error)?;
        if meta.uid != rustix::process::geteuid().as_raw() || meta.mode & 0o077 != 0 {
            return Err(JailError::new(JailErrorKind::NotOurs));
        }
        Self::from_fd(fd, Some(parent.join(name).into()), policy, TopDirectory::Refuse)
    }

    /// Checks that the system supports the policy.
    fn holding(mut self, policy: Policy) -> Result<Self, JailError> {
        if policy.mounts == Mounts::Refuse && self.mount.is_none() {
            self.mount = sys::mount_id(&self.fd, b"").map_err(jail_error)?;
            // On the kernel tier `openat2` could detect mounts, but renames and removals need the mount id.
            if self.mount.is_none() {
                return Err(JailError::new(JailErrorKind::PolicyUnsupported));
            }
        }
        Ok(self)
    }

    /// Returns the same directory on the walk tier.
    pub(crate) fn walking(&self, policy: Policy) -> Result<Self, JailError> {
        let fd = self
            .fd
            .try_clone()
            .map_err(|error| JailError::os(JailErrorKind::Io, error.raw_os_error().unwrap_or_default()))?;
        let copy = Self { fd, id: self.id, mount: self.mount, tier: Tier::Walk, path: self.path.clone() };
        copy.holding(policy)
    }

    /// Creates a root for a directory inside this one, on the same tier.
    pub(crate) fn below(&self, fd: OwnedFd, rel: &RelPath<'_>, policy: Policy) -> Result<Self, LookupError> {
        let id = sys::meta(&fd).map_err(sys::lookup_error)?.id;
        let name = std::ffi::OsStr::from_bytes(&rel.bytes);
        let path = self.path.as_ref().map(|path| path.join(name).into());
        let below = Self { fd, id, mount: None, tier: self.tier, path };
        below.holding(policy).map_err(|_refused| PathEscapeKind::Io.into())
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn guarantee(&self) -> Guarantee {
        match self.tier {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Tier::Kernel => Guarantee::AtOpenKernel,
            Tier::Walk => Guarantee::AtOpenWalk,
        }
    }

    /// Returns `true` if the directory was removed.
    pub(crate) fn is_gone(&self) -> bool {
        sys::meta(&self.fd).is_ok_and(|meta| meta.links == 0)
    }

    pub(crate) fn place(&self) -> Result<JailPlace, JailError> {
        if self.is_gone() {
            return Ok(JailPlace::Gone);
        }
        let Some(path) = &self.path else { return Ok(JailPlace::Moved) };
        match sys::look_through(CWD, cut(path.as_os_str().as_bytes())) {
            Ok(meta) if meta.id == self.id => Ok(JailPlace::Same),
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(JailPlace::Moved),
            Err(errno) => Err(jail_error(errno)),
        }
    }

    pub(crate) fn case_folding(&self) -> CaseFolding {
        super::dir::case_folding(self)
    }
}

/// Removes separators and `/.` from the end, which make the kernel follow a symlink despite `O_NOFOLLOW`.
pub(crate) fn cut(path: &[u8]) -> &[u8] {
    let mut rest = path;
    loop {
        rest = match rest {
            [b'/' | b'.'] => return rest,
            [head @ .., b'/'] if !head.is_empty() => head,
            [head @ .., b'/', b'.'] => {
                if head.is_empty() {
                    return b"/";
                }
                head
            }
            _ => return rest,
        };
    }
}

/// Creates one directory with mode 0700, unless it exists.
pub(crate) fn make_directory(path: &Path) -> Result<(), JailError> {
    let name = cut(path.as_os_str().as_bytes());
    match sys::retry(|| rustix::fs::mkdirat(CWD, name, Mode::RWXU)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(jail_error(errno)),
    }
}

fn open_path(path: &Path, link: LastLink) -> Result<OwnedFd, JailError> {
    let given = path.as_os_str().as_bytes();
    let (name, follow) = match link {
        LastLink::Refuse => (cut(given), OFlags::NOFOLLOW),
        LastLink::Follow => (given, OFlags::empty()),
    };
    sys::openat(CWD, name, PATH | OFlags::DIRECTORY | follow, Mode::empty()).map_err(|errno| {
        let is_link = matches!(errno, Errno::NOTDIR | Errno::LOOP | Errno::MLINK)
            && link == LastLink::Refuse
            && sys::look(CWD, name).is_ok_and(|meta| meta.kind == FileKind::Symlink);
        if is_link { JailError::os(JailErrorKind::Symlink, errno.raw_os_error()) } else { jail_error(errno) }
    })
}

pub(crate) fn jail_error(errno: Errno) -> JailError {
    let kind = match errno {
        Errno::NOENT => JailErrorKind::NotFound,
        Errno::NOTDIR => JailErrorKind::NotADirectory,
        Errno::EXIST => JailErrorKind::Exists,
        Errno::ACCESS | Errno::PERM => JailErrorKind::Denied,
        _ => JailErrorKind::Io,
    };
    JailError::os(kind, errno.raw_os_error())
}
