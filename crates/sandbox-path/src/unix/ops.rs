//! The operations of a jail that change nothing, on handles.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use rustix::buffer::spare_capacity;

use super::open::{OpenFlags, open, regular};
use super::root::Root;
use super::{dir, sys};
use crate::error::{LookupError, PathEscapeKind};
use crate::file::SandboxedFile;
use crate::meta::{FileKind, Metadata, Stamp};
use crate::path::relative::RelPath;
use crate::policy::{HardLinks, Policy};

/// A directory, opened for listing.
pub(crate) type DirectoryHandle = OwnedFd;
/// An open object whose inode number cannot be reused.
pub(crate) type PinHandle = OwnedFd;

/// The access with which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenMode {
    Read,
    Write,
    Append,
}

#[inline]
pub(crate) fn open_file(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    mode: OpenMode,
    names: HardLinks,
) -> Result<SandboxedFile, LookupError> {
    let want = match mode {
        OpenMode::Read => OpenFlags::READ,
        OpenMode::Write => OpenFlags::WRITE,
        OpenMode::Append => OpenFlags::APPEND,
    };
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    let fd = open(root, policy, rel, want)?;
    let meta = regular(&fd, names)?;
    Ok(SandboxedFile::new(File::from(fd), meta))
}

/// Opens the object of a path, which must be a regular file, for its identity.
pub(crate) fn pin(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
) -> Result<(PinHandle, Metadata), LookupError> {
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    let fd = open(root, policy, rel, OpenFlags::PIN)?;
    let meta = regular(&fd, HardLinks::Allow)?;
    Ok((fd, meta))
}

pub(crate) fn metadata(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<Metadata, LookupError> {
    let fd = open(root, policy, rel, OpenFlags::PIN)?;
    sys::meta(&fd).map_err(sys::lookup_error)
}

pub(crate) fn read_link(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<Vec<u8>, LookupError> {
    let fd = open(root, policy, rel, OpenFlags::LINK)?;
    match sys::meta(&fd).map_err(sys::lookup_error)?.kind {
        FileKind::Symlink => sys::target(&fd, c"").map_err(sys::lookup_error),
        is => Err(PathEscapeKind::NotRegular { is }.into()),
    }
}

pub(crate) fn open_directory(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
) -> Result<DirectoryHandle, LookupError> {
    open(root, policy, rel, OpenFlags::LIST)
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
pub(crate) fn cut_off(file: &File) -> Result<(), LookupError> {
    sys::retry(|| rustix::fs::ftruncate(file, 0)).map_err(sys::lookup_error)
}

pub(crate) fn entries(
    directory: &DirectoryHandle,
    buffer: &mut Vec<u8>,
    visit: impl FnMut(&[u8], FileKind) -> std::ops::ControlFlow<()>,
) -> Result<(), LookupError> {
    dir::rewind(directory).and_then(|()| dir::entries(directory, buffer, visit)).map_err(sys::lookup_error)
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
pub(crate) fn read_into(file: &File, bytes: &mut Vec<u8>) -> Result<usize, LookupError> {
    loop {
        match rustix::io::read(file, spare_capacity(bytes)) {
            Err(rustix::io::Errno::INTR) => {}
            done => return done.map_err(sys::lookup_error),
        }
    }
}

/// Opens a directory by a path from a listing, which can be longer than a given one.
pub(crate) fn open_listed_directory(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
) -> Result<DirectoryHandle, LookupError> {
    if rel.bytes.len() > crate::path::check::PATH_MAX {
        return Err(PathEscapeKind::TooLong.into());
    }
    super::open::strict(root, policy, &rel.bytes, OpenFlags::LIST)
}

/// Opens a directory inside the jail as a root of its own.
pub(crate) fn subroot(root: &Root, policy: Policy, rel: &RelPath<'_>) -> Result<Root, LookupError> {
    let fd = open(root, policy, rel, OpenFlags::DIRECTORY)?;
    root.below(fd, rel, policy)
}
