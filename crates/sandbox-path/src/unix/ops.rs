//! The operations of a jail that change nothing, on handles.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use rustix::buffer::spare_capacity;

use super::open::{Want, open, regular};
use super::root::Root;
use super::{dir, sys};
use crate::error::{No, PathEscapeKind};
use crate::file::SandboxedFile;
use crate::meta::{FileKind, Metadata, Stamp};
use crate::policy::{HardLinks, Policy};
use crate::rel::RelPath;

/// A directory, opened for listing.
pub(crate) type DirectoryHandle = OwnedFd;
/// An open object whose inode number cannot be reused.
pub(crate) type PinHandle = OwnedFd;

/// The access with which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mean {
    Read,
    Write,
    Append,
}

#[inline]
pub(crate) fn open_file(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    mean: Mean,
    names: HardLinks,
) -> Result<SandboxedFile, No> {
    let want = match mean {
        Mean::Read => Want::READ,
        Mean::Write => Want::WRITE,
        Mean::Append => Want::APPEND,
    };
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    let fd = open(root, policy, rel, want)?;
    let meta = regular(&fd, names)?;
    Ok(SandboxedFile::new(File::from(fd), meta))
}

/// Opens the object of a path, which must be a regular file, for its identity.
pub(crate) fn pin(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<(PinHandle, Metadata), No> {
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    let fd = open(root, policy, rel, Want::PIN)?;
    let meta = regular(&fd, HardLinks::Allow)?;
    Ok((fd, meta))
}

pub(crate) fn metadata(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<Metadata, No> {
    let fd = open(root, policy, rel, Want::PIN)?;
    sys::meta(&fd).map_err(sys::no)
}

pub(crate) fn read_link(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<Vec<u8>, No> {
    let fd = open(root, policy, rel, Want::LINK)?;
    match sys::meta(&fd).map_err(sys::no)?.kind {
        FileKind::Symlink => sys::target(&fd, c"").map_err(sys::no),
        is => Err(PathEscapeKind::NotRegular { is }.into()),
    }
}

pub(crate) fn open_directory(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<DirectoryHandle, No> {
    open(root, policy, rel, Want::LIST)
}

pub(crate) fn directory_meta(directory: &DirectoryHandle) -> io::Result<Metadata> {
    Ok(sys::meta(directory)?)
}

pub(crate) fn pin_meta(pin: &PinHandle) -> io::Result<Metadata> {
    Ok(sys::meta(pin)?)
}

pub(crate) fn file_meta(file: &File) -> io::Result<Metadata> {
    Ok(sys::meta(file)?)
}

pub(crate) fn pin_birth(pin: &PinHandle) -> Option<Stamp> {
    sys::birth(pin)
}

pub(crate) fn file_birth(file: &File) -> Option<Stamp> {
    sys::birth(file)
}

/// Truncates the file, on the handle.
pub(crate) fn cut_off(file: &File) -> Result<(), No> {
    sys::retry(|| rustix::fs::ftruncate(file, 0)).map_err(sys::no)
}

pub(crate) fn entries(
    directory: &DirectoryHandle,
    buffer: &mut Vec<u8>,
    visit: impl FnMut(&[u8], FileKind) -> std::ops::ControlFlow<()>,
) -> Result<(), No> {
    dir::rewind(directory).and_then(|()| dir::entries(directory, buffer, visit)).map_err(sys::no)
}

pub(crate) fn read_at(file: &File, space: &mut [u8], offset: u64) -> io::Result<usize> {
    // A file cannot be larger than a signed offset.
    if i64::try_from(offset).is_err() {
        return Ok(0);
    }
    loop {
        match file.read_at(space, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Reads once into the spare capacity of a buffer.
pub(crate) fn read_into(file: &File, bytes: &mut Vec<u8>) -> Result<usize, No> {
    loop {
        match rustix::io::read(file, spare_capacity(bytes)) {
            Err(rustix::io::Errno::INTR) => {}
            done => return done.map_err(sys::no),
        }
    }
}

/// Returns the path from which a walk starts. It has no symlinks and `..`, because a walk does not follow them.
pub(crate) fn walk_start<'rel>(root: &Root, policy: Policy, rel: RelPath<'rel>) -> Result<RelPath<'rel>, No> {
    super::open::without_links(root, policy, rel, Want::LIST)
}

/// Opens a directory by a path from a listing. Symlinks are not followed under any policy.
pub(crate) fn open_directory_unfollowed(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
) -> Result<DirectoryHandle, No> {
    if rel.bytes.len() > crate::gate::PATH_MAX {
        return Err(PathEscapeKind::TooLong.into());
    }
    super::open::strict(root, policy, &rel.bytes, Want::LIST)
}

/// Opens a directory inside the jail as a root of its own.
pub(crate) fn subroot(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<Root, No> {
    let fd = open(root, policy, rel, Want::DIRECTORY)?;
    root.below(fd, rel, policy)
}
