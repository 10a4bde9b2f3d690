//! Wrappers of system calls, and conversions to the types of this crate.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{LookupError, PathEscapeKind};
use crate::meta::{FileId, FileKind, Metadata, Stamp};

/// Opens an object for its identity only, which needs no permission on the object.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(crate) const PATH: OFlags = OFlags::PATH;
/// On systems without `O_PATH`: an ordinary open that does not block.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub(crate) const PATH: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// The number of attempts for a call that other processes disturb (`EAGAIN` of `openat2`).
pub(crate) const TRIES: u32 = 128;
/// The number of attempts after which the thread yields the processor in between.
pub(crate) const YIELD_AFTER: u32 = 32;

/// Repeats a call that a signal interrupted, and one that was disturbed up to [`TRIES`] times.
#[inline]
pub(crate) fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut disturbed = 0_u32;
    loop {
        match call() {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if disturbed < TRIES => {
                disturbed += 1;
                if disturbed > YIELD_AFTER {
                    std::thread::yield_now();
                }
            }
            done => return done,
        }
    }
}

pub(crate) fn openat(at: impl AsFd, name: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    retry(|| fs::openat(&at, name, flags | OFlags::CLOEXEC, mode))
}

/// Returns the metadata of an entry without following symlinks.
pub(crate) fn look(at: impl AsFd, name: &[u8]) -> Result<Metadata, Errno> {
    retry(|| fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW)).map(|stat| metadata(&stat))
}

/// Returns the metadata of a path that has no symlinks (`.`, `..`, `../..`), or that is a path of the host.
pub(crate) fn look_through(at: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<Metadata, Errno> {
    retry(|| fs::statat(&at, name, AtFlags::empty())).map(|stat| metadata(&stat))
}

#[inline]
pub(crate) fn meta(fd: impl AsFd) -> Result<Metadata, Errno> {
    retry(|| fs::fstat(&fd)).map(|stat| metadata(&stat))
}

#[inline]
pub(crate) fn metadata(stat: &Stat) -> Metadata {
    Metadata {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        id: FileId { dev: unsigned(stat.st_dev), ino: unsigned(stat.st_ino) },
        len: u64::try_from(stat.st_size).unwrap_or(0),
        links: unsigned(stat.st_nlink),
        mode: u32::try_from(unsigned(stat.st_mode) & 0o7777).unwrap_or(0),
        uid: stat.st_uid,
        gid: stat.st_gid,
        modified: stamp(stat.st_mtime, stat.st_mtime_nsec),
        changed: stamp(stat.st_ctime, stat.st_ctime_nsec),
    }
}

pub(crate) fn stamp(seconds: impl Into<i128>, nanos: impl Into<i128>) -> Stamp {
    Stamp {
        seconds: i64::try_from(seconds.into()).unwrap_or(i64::MAX),
        nanos: u32::try_from(nanos.into()).unwrap_or(0),
    }
}

/// Converts a number whose width and sign differ between systems.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bits are an identity, not an amount"
)]
fn unsigned(number: impl Into<i128>) -> u64 {
    number.into() as u64
}

pub(crate) fn kind(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        FileType::CharacterDevice => FileKind::CharDevice,
        FileType::BlockDevice => FileKind::BlockDevice,
        FileType::Unknown => FileKind::Other,
    }
}

/// Reads the target of a symlink by name, or by its handle with an empty name.
pub(crate) fn target(at: impl AsFd, name: &CStr) -> Result<Vec<u8>, Errno> {
    fs::readlinkat(at, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Returns the mount id, which differs between two mounts of the same device.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn mount_id(at: impl AsFd, name: &[u8]) -> Result<Option<u64>, Errno> {
    use rustix::fs::StatxFlags;
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let found = retry(|| fs::statx(&at, name, flags, StatxFlags::MNT_ID))?;
    let told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    Ok(told.then_some(found.stx_mnt_id))
}

/// Returns `None`, because this system has no mount ids.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn mount_id(_: impl AsFd, _: &[u8]) -> Result<Option<u64>, Errno> {
    Ok(None)
}

/// Returns the creation time, if the file system stores it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn birth(fd: impl AsFd) -> Option<Stamp> {
    use rustix::fs::StatxFlags;
    let found = retry(|| fs::statx(&fd, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME)).ok()?;
    let told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    told.then(|| stamp(found.stx_btime.tv_sec, found.stx_btime.tv_nsec))
}

/// Returns `None`, because the creation time is not read on this system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn birth(_: impl AsFd) -> Option<Stamp> {
    None
}

/// Converts an error that does not depend on the kind of the object.
#[cold]
pub(crate) fn lookup_error(errno: Errno) -> LookupError {
    let kind = match errno {
        Errno::NOENT => PathEscapeKind::NotFound,
        Errno::LOOP => PathEscapeKind::Symlink,
        Errno::NOTDIR => PathEscapeKind::NotADirectory,
        Errno::NAMETOOLONG => PathEscapeKind::TooLong,
        Errno::ACCESS | Errno::PERM => PathEscapeKind::Denied,
        Errno::AGAIN => PathEscapeKind::Contended,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => PathEscapeKind::Exhausted,
        Errno::OPNOTSUPP => PathEscapeKind::Unsupported,
        _ => PathEscapeKind::Io,
    };
    LookupError { kind, component: None, errno: Some(errno.raw_os_error()) }
}
