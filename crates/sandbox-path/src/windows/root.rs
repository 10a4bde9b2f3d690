//! The handle of the jail's directory, and the walk from it.

use std::fs::File;
use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::path::Path;

use cap_fs_ext::{
    DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsMaybeDirExt as _,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::error::jail::{JailError, JailErrorKind};
use crate::error::{LookupError, PathEscapeKind};
use crate::jail::guarantee::{CaseFolding, Guarantee, JailPlace};
use crate::meta::{FileId, FileKind, Metadata, Stamp};
use crate::path::relative::RelPath;
use crate::policy::{Parents, Policy, Symlinks};

/// `FILE_ATTRIBUTE_REPARSE_POINT`.
const REPARSE: u32 = 0x400;
/// `ERROR_STOPPED_ON_SYMLINK`, the error of an open that does not follow symlinks.
const STOPPED: i32 = 681;

/// The handle of the jail's directory, with its identity.
#[derive(Debug)]
pub(crate) struct Root {
    pub(super) dir: Dir,
    pub(crate) id: FileId,
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
    /// Returns `None`, because the creation time is not read on Windows.
    #[expect(clippy::unused_self, reason = "the signature is that of Unix")]
    pub(crate) const fn birth(&self) -> Option<crate::meta::Stamp> {
        None
    }

    pub(crate) fn open(
        path: &Path,
        policy: Policy,
        link: LastLink,
        top: TopDirectory,
    ) -> Result<Self, JailError> {
        // Symlinks and `..` are never resolved on Windows.
        if policy.symlinks == Symlinks::FollowBeneath || policy.parents == Parents::Resolve {
            return Err(JailError::new(JailErrorKind::PolicyUnsupported));
        }
        if top == TopDirectory::Refuse && path.parent().is_none() && path.has_root() {
            return Err(JailError::new(JailErrorKind::IsRoot));
        }
        let seen = std::fs::symlink_metadata(path).map_err(|error| jail_error(&error))?;
        let is_link = seen.file_attributes() & REPARSE != 0;
        if is_link && link == LastLink::Refuse {
            return Err(JailError::new(JailErrorKind::Symlink));
        }
        if !is_link && !seen.is_dir() {
            return Err(JailError::new(JailErrorKind::NotADirectory));
        }
        let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| jail_error(&error))?;
        let meta = dir_meta(&dir).map_err(|error| jail_error(&error))?;
        Ok(Self { dir, id: meta.id, path: Some(path.into()) })
    }

    /// Creates a new directory. It inherits the owner and access control list of its parent.
    pub(crate) fn create_unique(
        parent: &Path,
        prefix: &str,
        random: [u8; 8],
        policy: Policy,
    ) -> Result<Self, JailError> {
        let name = format!("{prefix}{:016x}", u64::from_be_bytes(random));
        if crate::path::names::portable_fault(name.as_bytes()).is_some() || name.contains('/') {
            return Err(JailError::new(JailErrorKind::Io));
        }
        let above = Dir::open_ambient_dir(parent, ambient_authority()).map_err(|error| jail_error(&error))?;
        above.create_dir(&name).map_err(|error| jail_error(&error))?;
        Self::open(&parent.join(name), policy, LastLink::Refuse, TopDirectory::Refuse)
    }

    #[expect(clippy::unused_self, reason = "on other systems it depends on the directory")]
    pub(crate) fn guarantee(&self) -> Guarantee {
        Guarantee::AtConstruction
    }

    pub(crate) fn place(&self) -> Result<JailPlace, JailError> {
        let Some(path) = &self.path else { return Ok(JailPlace::Moved) };
        match Dir::open_ambient_dir(path, ambient_authority()).and_then(|dir| dir_meta(&dir)) {
            Ok(meta) if meta.id == self.id => Ok(JailPlace::Same),
            Ok(_) => Ok(JailPlace::Moved),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(JailPlace::Moved),
            Err(error) => Err(jail_error(&error)),
        }
    }

    #[expect(clippy::unused_self, reason = "on other systems it is looked up in the directory")]
    pub(crate) fn case_folding(&self) -> CaseFolding {
        // On Windows, case sensitivity is a flag of each directory, which is not read.
        CaseFolding::Unknown
    }

    /// Opens the directory of a path, component by component.
    pub(super) fn directory(&self, rel: &RelPath<'_>) -> Result<Dir, LookupError> {
        let mut at = self.dir.try_clone().map_err(|error| lookup_error(&error))?;
        for (name, number) in rel.components().zip(1..) {
            at = enter(&at, text(name)?).map_err(|error| LookupError { component: Some(number), ..error })?;
        }
        Ok(at)
    }

    /// Opens the parent of a path.
    pub(super) fn parent<'rel>(&self, rel: &'rel RelPath<'_>) -> Result<(Dir, &'rel str), LookupError> {
        let (directory, name) = rel.split_last().ok_or(PathEscapeKind::JailItself)?;
        Ok((self.directory(&directory)?, text(name)?))
    }
}

/// Returns a name as text, which handle-relative opens require.
pub(super) fn text(name: &[u8]) -> Result<&str, LookupError> {
    std::str::from_utf8(name).map_err(|_not| PathEscapeKind::NotUtf8.into())
}

/// Opens a directory from its parent, and refuses every reparse point.
pub(super) fn enter(at: &Dir, name: &str) -> Result<Dir, LookupError> {
    let directory = at.open_dir_nofollow(name).map_err(|error| refine(at, name, &error))?;
    let file = directory.try_clone().map_err(|error| lookup_error(&error))?.into_std_file();
    match meta(&file).map_err(|error| lookup_error(&error))?.kind {
        FileKind::Directory => Ok(directory),
        FileKind::Symlink => Err(PathEscapeKind::Symlink.into()),
        _ => Err(PathEscapeKind::NotADirectory.into()),
    }
}

/// Returns the metadata of an entry of any kind, without following symlinks.
pub(super) fn look(at: &Dir, name: &str) -> Result<Metadata, LookupError> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).maybe_dir(true);
    let file = at.open_with(name, &options).map_err(|error| refine(at, name, &error))?;
    meta(&file.into_std()).map_err(|error| lookup_error(&error))
}

/// Converts an error, with a lookup whether the entry is a symlink.
pub(super) fn refine(at: &Dir, name: &str, error: &io::Error) -> LookupError {
    let is_link = error.raw_os_error() == Some(STOPPED)
        || at.symlink_metadata(name).is_ok_and(|meta| meta.file_type().is_symlink());
    if is_link { PathEscapeKind::Symlink.into() } else { lookup_error(error) }
}

pub(super) fn dir_meta(dir: &Dir) -> io::Result<Metadata> {
    meta(&dir.try_clone()?.into_std_file())
}

/// Returns the metadata of a handle. Any reparse point counts as a symlink.
pub(super) fn meta(file: &File) -> io::Result<Metadata> {
    let seen = file.metadata()?;
    let by_handle = cap_std::fs::Metadata::from_file(file)?;
    let kind = match (seen.file_attributes() & REPARSE != 0, seen.is_dir(), seen.is_file()) {
        (true, ..) => FileKind::Symlink,
        (_, true, _) => FileKind::Directory,
        (_, _, true) => FileKind::File,
        _ => FileKind::Other,
    };
    Ok(Metadata {
        kind,
        id: FileId { dev: by_handle.dev(), ino: by_handle.ino() },
        len: seen.file_size(),
        links: by_handle.nlink(),
        mode: 0,
        uid: 0,
        gid: 0,
        modified: stamp(seen.last_write_time()),
        changed: stamp(seen.last_write_time()),
    })
}

/// Converts 100-nanosecond intervals since 1601 to seconds since 1970.
pub(super) fn stamp(steps: u64) -> Stamp {
    let seconds = i64::try_from(steps / 10_000_000).unwrap_or(i64::MAX).saturating_sub(11_644_473_600);
    let nanos = u32::try_from((steps % 10_000_000).saturating_mul(100)).unwrap_or(0);
    Stamp { seconds, nanos }
}

/// Converts a system error.
pub(super) fn lookup_error(error: &io::Error) -> LookupError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => PathEscapeKind::NotFound,
        io::ErrorKind::PermissionDenied => PathEscapeKind::Denied,
        io::ErrorKind::NotADirectory => PathEscapeKind::NotADirectory,
        io::ErrorKind::InvalidFilename => PathEscapeKind::ReservedName,
        io::ErrorKind::OutOfMemory => PathEscapeKind::Exhausted,
        io::ErrorKind::Unsupported => PathEscapeKind::Unsupported,
        _ => PathEscapeKind::Io,
    };
    LookupError { kind, component: None, errno: error.raw_os_error() }
}

/// Creates one directory, unless it exists.
pub(crate) fn make_directory(path: &Path) -> Result<(), JailError> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(jail_error(&error)),
        _ => Ok(()),
    }
}

pub(super) fn jail_error(error: &io::Error) -> JailError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => JailErrorKind::NotFound,
        io::ErrorKind::NotADirectory => JailErrorKind::NotADirectory,
        io::ErrorKind::AlreadyExists => JailErrorKind::Exists,
        io::ErrorKind::PermissionDenied => JailErrorKind::Denied,
        _ => JailErrorKind::Io,
    };
    error.raw_os_error().map_or_else(|| JailError::new(kind), |errno| JailError::os(kind, errno))
}
