//! The calls of a jail that change nothing.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::windows::fs::{FileExt as _, MetadataExt as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

use super::root::{Root, dir_meta, look, meta, no, refine, stamp};
use crate::error::{No, PathEscapeKind};
use crate::file::SandboxedFile;
use crate::meta::{FileKind, Metadata, Stamp};
use crate::policy::{HardLinks, Policy};
use crate::rel::RelPath;

/// A folder, opened to be listed.
pub(crate) type FolderHandle = Dir;
/// An object that is held so that its number cannot be given to another.
pub(crate) type PinHandle = File;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mean {
    Read,
    Write,
    Append,
}

impl Mean {
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
    mean: Mean,
    names: HardLinks,
) -> Result<SandboxedFile, No> {
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Folder }.into());
    }
    let (at, name) = root.parent(rel)?;
    let file = match at.open_with(name, &mean.options()) {
        Ok(file) => file.into_std(),
        // A folder cannot be opened as a file here: its kind is asked by a look.
        Err(error) => {
            return Err(match look(&at, name) {
                Ok(seen) if seen.kind == FileKind::Folder => {
                    PathEscapeKind::NotRegular { is: seen.kind }.into()
                }
                _ => refine(&at, name, &error),
            });
        }
    };
    let seen = regular(&file, names)?;
    Ok(SandboxedFile::new(file, seen))
}

/// Checks what was opened as a file: its kind, and its number of names.
pub(super) fn regular(file: &File, names: HardLinks) -> Result<Metadata, No> {
    let seen = meta(file).map_err(|error| no(&error))?;
    match seen.kind {
        FileKind::File if names == HardLinks::Refuse && seen.links > 1 => {
            Err(PathEscapeKind::HardLinked { links: seen.links }.into())
        }
        FileKind::File => Ok(seen),
        FileKind::Symlink => Err(PathEscapeKind::Symlink.into()),
        is => Err(PathEscapeKind::NotRegular { is }.into()),
    }
}

/// Holds what a path leads to, which must be a regular file. Here it needs the permission to read.
pub(crate) fn pin(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<(PinHandle, Metadata), No> {
    let file = open_file(root, policy, rel, Mean::Read, HardLinks::Allow)?;
    let seen = *file.opened();
    Ok((file.into_std(), seen))
}

pub(crate) fn metadata(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<Metadata, No> {
    if rel.is_jail() {
        return dir_meta(&root.dir).map_err(|error| no(&error));
    }
    let (at, name) = root.parent(rel)?;
    let seen = look(&at, name)?;
    if seen.kind == FileKind::Symlink { Err(PathEscapeKind::Symlink.into()) } else { Ok(seen) }
}

pub(crate) fn read_link(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<Vec<u8>, No> {
    let (at, name) = root.parent(rel)?;
    match at.read_link_contents(name) {
        Ok(target) => Ok(target.into_os_string().into_encoded_bytes()),
        Err(error) => Err(match look(&at, name) {
            Ok(seen) if seen.kind != FileKind::Symlink => PathEscapeKind::NotRegular { is: seen.kind }.into(),
            _ => no(&error),
        }),
    }
}

pub(crate) fn open_folder(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<FolderHandle, No> {
    root.folder(rel)
}

/// Gives the path that a walk starts from; links and `..` are not resolved here.
pub(crate) fn walk_start<'rel>(_: &Root, _: Policy, rel: RelPath<'rel>) -> Result<RelPath<'rel>, No> {
    Ok(rel)
}

pub(crate) fn open_folder_unfollowed(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<FolderHandle, No> {
    root.folder(rel)
}

pub(crate) fn subroot(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<Root, No> {
    let dir = root.folder(rel)?;
    let id = dir_meta(&dir).map_err(|error| no(&error))?.id;
    let path = root.path.as_ref().zip(rel.as_str()).map(|(path, name)| path.join(name).into());
    Ok(Root { dir, id, path })
}

pub(crate) fn folder_meta(folder: &FolderHandle) -> io::Result<Metadata> {
    dir_meta(folder)
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

/// Cuts the content off, on the handle.
pub(crate) fn cut_off(file: &File) -> Result<(), No> {
    file.set_len(0).map_err(|error| no(&error))
}

pub(crate) fn entries(
    folder: &FolderHandle,
    _: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> ControlFlow<()>,
) -> Result<(), No> {
    for entry in folder.entries().map_err(|error| no(&error))? {
        let entry = entry.map_err(|error| no(&error))?;
        let seen = entry.file_type().map_err(|error| no(&error))?;
        let kind = match (seen.is_symlink(), seen.is_dir(), seen.is_file()) {
            (true, ..) => FileKind::Symlink,
            (_, true, _) => FileKind::Folder,
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
    // Reading at an offset moves the position here, which a reader must not notice.
    use std::io::{Seek as _, SeekFrom};
    let mut file = file;
    let before = file.stream_position()?;
    let read = file.seek_read(space, offset);
    file.seek(SeekFrom::Start(before))?;
    read
}

/// Reads once into the free room of a buffer.
pub(crate) fn read_into(file: &File, bytes: &mut Vec<u8>) -> Result<usize, No> {
    use std::io::Read as _;
    let room = bytes.capacity().saturating_sub(bytes.len());
    let mut file = file.take(u64::try_from(room).unwrap_or(u64::MAX));
    file.read_to_end(bytes).map_err(|error| no(&error))
}
