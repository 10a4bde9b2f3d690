//! The operations of a jail that change nothing.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::windows::fs::{FileExt as _, MetadataExt as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

use super::root::{Root, dir_meta, look, lookup_error, meta, refine, stamp};
use crate::error::{LookupError, PathEscapeKind};
use crate::file::SandboxedFile;
use crate::meta::{FileKind, Metadata, Stamp};
use crate::path::relative::RelPath;
use crate::policy::{HardLinks, Policy};

/// A directory, opened for listing.
pub(crate) type DirectoryHandle = Dir;
/// An open object whose file id cannot be reused.
pub(crate) type PinHandle = File;

/// The access with which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenMode {
    Read,
    Write,
    Append,
}

impl OpenMode {
    pub(super) fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        match self {
            Self::Read => options.read(true),
            Self::Write => options.write(true),
            Self::Append => options.append(true),
        };
        options.follow(FollowSymlinks::No);
        options
    }
}

pub(crate) fn open_file(
    root: &Root,
    _: Policy,
    rel: &RelPath<'_>,
    mode: OpenMode,
    names: HardLinks,
) -> Result<SandboxedFile, LookupError> {
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    let (at, name) = root.parent(rel)?;
    let file = match at.open_with(name, &mode.options()) {
        Ok(file) => file.into_std(),
        // Windows cannot open a directory as a file, so its kind is looked up.
        Err(error) => {
            return Err(match look(&at, name) {
                Ok(seen) if seen.kind == FileKind::Directory => {
                    PathEscapeKind::NotRegular { is: seen.kind }.into()
                }
                _ => refine(&at, name, &error),
            });
        }
    };
    let seen = regular(&file, names)?;
    Ok(SandboxedFile::new(file, seen))
}

/// Checks the kind and the number of hard links of an open file.
pub(super) fn regular(file: &File, names: HardLinks) -> Result<Metadata, LookupError> {
    let seen = meta(file).map_err(|error| lookup_error(&error))?;
    match seen.kind {
        FileKind::File if names == HardLinks::Refuse && seen.links > 1 => {
            Err(PathEscapeKind::HardLinked { links: seen.links }.into())
        }
        FileKind::File => Ok(seen),
        FileKind::Symlink => Err(PathEscapeKind::Symlink.into()),
        is => Err(PathEscapeKind::NotRegular { is }.into()),
    }
}

/// Opens the object of a path, which must be a readable regular file, for its identity.
pub(crate) fn pin(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
) -> Result<(PinHandle, Metadata), LookupError> {
    let file = open_file(root, policy, rel, OpenMode::Read, HardLinks::Allow)?;
    let seen = *file.opened();
    Ok((file.into_std(), seen))
}

pub(crate) fn metadata(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<Metadata, LookupError> {
    if rel.is_jail() {
        return dir_meta(&root.dir).map_err(|error| lookup_error(&error));
    }
    let (at, name) = root.parent(rel)?;
    let seen = look(&at, name)?;
    if seen.kind == FileKind::Symlink { Err(PathEscapeKind::Symlink.into()) } else { Ok(seen) }
}

pub(crate) fn read_link(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<Vec<u8>, LookupError> {
    let (at, name) = root.parent(rel)?;
    match at.read_link_contents(name) {
        Ok(target) => Ok(target.into_os_string().into_encoded_bytes()),
        Err(error) => Err(match look(&at, name) {
            Ok(seen) if seen.kind != FileKind::Symlink => PathEscapeKind::NotRegular { is: seen.kind }.into(),
            _ => lookup_error(&error),
        }),
    }
}

pub(crate) fn open_directory(
    root: &Root,
    _: Policy,
    rel: &RelPath<'_>,
) -> Result<DirectoryHandle, LookupError> {
    root.directory(rel)
}

/// Returns the path from which a walk starts. Symlinks and `..` are never resolved on Windows.
pub(crate) fn walk_start<'rel>(
    _: &Root,
    _: Policy,
    rel: RelPath<'rel>,
) -> Result<RelPath<'rel>, LookupError> {
    Ok(rel)
}

pub(crate) fn open_directory_unfollowed(
    root: &Root,
    _: Policy,
    rel: &RelPath<'_>,
) -> Result<DirectoryHandle, LookupError> {
    root.directory(rel)
}

pub(crate) fn subroot(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<Root, LookupError> {
    let dir = root.directory(rel)?;
    let id = dir_meta(&dir).map_err(|error| lookup_error(&error))?.id;
    let path = root.path.as_ref().zip(rel.as_str()).map(|(path, name)| path.join(name).into());
    Ok(Root { dir, id, path })
}

pub(crate) fn directory_meta(directory: &DirectoryHandle) -> io::Result<Metadata> {
    dir_meta(directory)
}

pub(crate) fn pin_meta(pin: &PinHandle) -> io::Result<Metadata> {
    meta(pin)
}

pub(crate) fn file_meta(file: &File) -> io::Result<Metadata> {
    meta(file)
}

pub(crate) fn pin_birth(pin: &PinHandle) -> Option<Stamp> {
    pin.metadata().ok().map(|seen| stamp(seen.creation_time()))
}

pub(crate) fn file_birth(file: &File) -> Option<Stamp> {
    pin_birth(file)
}

/// Truncates the file, on the handle.
pub(crate) fn cut_off(file: &File) -> Result<(), LookupError> {
    file.set_len(0).map_err(|error| lookup_error(&error))
}

pub(crate) fn entries(
    directory: &DirectoryHandle,
    _: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> ControlFlow<()>,
) -> Result<(), LookupError> {
    for entry in directory.entries().map_err(|error| lookup_error(&error))? {
        let entry = entry.map_err(|error| lookup_error(&error))?;
        let seen = entry.file_type().map_err(|error| lookup_error(&error))?;
        let kind = match (seen.is_symlink(), seen.is_dir(), seen.is_file()) {
            (true, ..) => FileKind::Symlink,
            (_, true, _) => FileKind::Directory,
            (_, _, true) => FileKind::File,
            _ => FileKind::Other,
        };
        if visit(entry.file_name().as_encoded_bytes(), kind).is_break() {
            break;
        }
    }
    Ok(())
}

pub(crate) fn read_at(file: &File, space: &mut [u8], offset: u64) -> io::Result<usize> {
    // Reading at an offset moves the position on Windows, so it is restored afterwards.
    use std::io::{Seek as _, SeekFrom};
    let mut file = file;
    let before = file.stream_position()?;
    let read = file.seek_read(space, offset);
    file.seek(SeekFrom::Start(before))?;
    read
}

/// Reads once into the spare capacity of a buffer.
pub(crate) fn read_into(file: &File, bytes: &mut Vec<u8>) -> Result<usize, LookupError> {
    use std::io::Read as _;
    let room = bytes.capacity().saturating_sub(bytes.len());
    let mut file = file.take(u64::try_from(room).unwrap_or(u64::MAX));
    file.read_to_end(bytes).map_err(|error| lookup_error(&error))
}
