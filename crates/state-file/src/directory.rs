//! The file operations, all relative to one directory handle.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::thread::{Builder, Scope};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::content::{StateContents, StateWarning};
use crate::error::{StateError, StateErrorKind, TrustFault};
use crate::names::is_plain;
use crate::owner::Owner;
use crate::replace::{Steps, Synced};

/// Opens a directory inside another one, and creates it with its parents if they do not exist.
///
/// # Errors
/// `state/name` if a component of the path is not plain; `state/read-only`, `state/no-access`, `state/full` or
/// `state/io` if the system fails.
///
/// # Guarantees
/// A new directory has mode 0700, restricted by the umask. An existing one is not changed.
pub fn make_directory(base: &Dir, path: &str) -> Result<Dir, StateError> {
    let mut here = base.try_clone().map_err(|source| StateError::io("open", ".", source))?;
    for part in path.split('/') {
        // A leading dot is usual for directories in a home directory, and harmless before a plain name.
        if !is_plain(part.strip_prefix('.').unwrap_or(part)) {
            return Err(StateError::new("name", &part.escape_default().to_string(), StateErrorKind::Name));
        }
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        match here.create_dir_with(part, &builder) {
            Ok(()) => {}
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(unwritable(StateError::io("create", part, source))),
        }
        here = here.open_dir(part).map_err(|source| StateError::io("open", part, source))?;
    }
    Ok(here)
}

/// Reports a directory without write permission as read-only, whatever the reason.
pub(crate) fn unwritable(error: StateError) -> StateError {
    if *error.kind() == StateErrorKind::NoAccess { error.of_kind(StateErrorKind::ReadOnly) } else { error }
}

/// Checks that no other user can create files in the directory.
pub(crate) fn check_directory(
    dir: &Dir,
    owner: Owner,
    doing: &'static str,
) -> Result<Vec<StateWarning>, StateError> {
    let stat = fs::fstat(dir).map_err(|errno| StateError::io(doing, ".", errno.into()))?;
    let not_ours = |what| Err(StateError::new(doing, ".", StateErrorKind::NotTrusted(what)));
    let mode = Mode::from_raw_mode(stat.st_mode);
    if !owner.trusts(stat.st_uid) {
        return not_ours(TrustFault::DirectoryOwner { uid: stat.st_uid });
    }
    // With the sticky bit, only the owner of a file can move or remove it.
    if mode.contains(Mode::SVTX) {
        return Ok(Vec::new());
    }
    if mode.contains(Mode::WOTH) {
        return not_ours(TrustFault::DirectoryWritable);
    }
    Ok(if mode.contains(Mode::WGRP) { vec![StateWarning::DirectoryGroupWritable] } else { Vec::new() })
}

/// Checks that a file is regular, has one hard link, and cannot be written by other users.
pub(crate) fn check_file(stat: &Stat, owner: Owner) -> Result<Mode, TrustFault> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(TrustFault::Link),
        _ => return Err(TrustFault::Kind),
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    // A file without a hard link was replaced after it was opened. Its contents are complete.
    if stat.st_nlink > 1 {
        return Err(TrustFault::Links { count: count(stat.st_nlink) });
    }
    if !owner.trusts(stat.st_uid) {
        return Err(TrustFault::Owner { uid: stat.st_uid });
    }
    if mode.contains(Mode::WOTH) { Err(TrustFault::Writable) } else { Ok(mode) }
}

/// Widens a link count, whose type differs between platforms.
fn count(links: impl TryInto<u64>) -> u64 {
    links.try_into().unwrap_or(u64::MAX)
}

/// Opens an existing file without following symlinks and without blocking.
pub(crate) fn open_file(
    dir: &Dir,
    name: &str,
    owner: Owner,
    write: OFlags,
) -> Result<Option<(File, Stat)>, StateError> {
    let not_ours = |what| StateError::new("open", name, StateErrorKind::NotTrusted(what));
    // The check before the open gives symlinks, sockets and devices a clear error. Only the check of the open file
    // is free of races.
    let before = match fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(StateError::io("open", name, errno.into())),
    };
    check_file(&before, owner).map_err(not_ours)?;
    let flags = write | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(not_ours(TrustFault::Link)),
        Err(errno) => return Err(StateError::io("open", name, errno.into())),
    };
    let stat = fs::fstat(&file).map_err(|errno| StateError::io("open", name, errno.into()))?;
    check_file(&stat, owner).map_err(not_ours)?;
    Ok(Some((File::from(file), stat)))
}

/// Reads a file to its end, and at most one byte more than `cap`.
pub(crate) fn read_file(
    dir: &Dir,
    name: &str,
    owner: Owner,
    cap: u64,
) -> Result<Option<StateContents>, StateError> {
    let Some((file, stat)) = open_file(dir, name, owner, OFlags::RDONLY)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(cap.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| StateError::io("read", name, source))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > cap {
        return Err(StateError::new("read", name, StateErrorKind::TooLarge { cap }));
    }
    let group = Mode::from_raw_mode(stat.st_mode).contains(Mode::WGRP);
    let warnings =
        if group { vec![StateWarning::GroupWritable { name: name.to_owned() }] } else { Vec::new() };
    Ok(Some(StateContents::new(bytes, warnings)))
}

/// The directory, opened so that it can be synced.
#[derive(Debug)]
pub(crate) struct Directory(OwnedFd);

impl Directory {
    pub(crate) fn open(dir: &Dir) -> io::Result<Self> {
        // A handle opened with `O_PATH` cannot be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::openat(dir, ".", flags, Mode::empty())?))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Steps for Directory {
    type File = File;

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        sync(file.as_fd())
    }

    fn sync_both(&self, first: &File, second: &File) -> Synced {
        // Both writes start before the first sync waits, so that one commit of the journal covers both.
        for file in [first, second] {
            set_off(file.as_fd());
        }
        // Each sync waits for that commit and for the disk's cache, and three concurrent waits take as long as one.
        std::thread::scope(|scope| {
            let second = beside(scope, || self.sync(second));
            let directory = beside(scope, || self.sync_directory());
            Synced { first: self.sync(first), second: second(), directory: directory() }
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    fn sync_directory(&self) -> io::Result<()> {
        sync(self.0.as_fd())
    }
}

/// Starts `run` on a new thread, and returns a function that waits for the result.
///
/// If no thread can be started, the returned function calls `run` itself.
fn beside<'scope, F>(
    scope: &'scope Scope<'scope, '_>,
    run: F,
) -> impl FnOnce() -> io::Result<()> + use<'scope, F>
where
    F: Fn() -> io::Result<()> + Clone + Send + 'scope,
{
    /// The stack size in bytes. A system call needs little.
    const STACK: usize = 64 << 10;
    let started = Builder::new().stack_size(STACK).spawn_scoped(scope, run.clone());
    move || match started {
        Ok(thread) => thread.join().unwrap_or_else(|_panic| Err(io::Error::other("a thread stopped"))),
        Err(_) => run(),
    }
}

/// Hints the kernel to start writing a file, so that the following sync waits less.
#[cfg(target_os = "linux")]
fn set_off(file: BorrowedFd<'_>) {
    let _hint: Result<(), Errno> = fs::fadvise(file, 0, None, fs::Advice::DontNeed);
}

/// Does nothing: no such hint is known on this system.
#[cfg(not(target_os = "linux"))]
const fn set_off(_file: BorrowedFd<'_>) {}

#[cfg(not(target_vendor = "apple"))]
fn sync(fd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fs::fsync(fd)?)
}

/// Syncs a file. On Apple systems, `fsync` does not wait for the disk's cache.
#[cfg(target_vendor = "apple")]
fn sync(fd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fs::fcntl_fullfsync(fd)?)
}
