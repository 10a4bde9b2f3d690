//! The file lock, and the operations that require it.

mod queue;

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::content::StateContents;
use crate::directory::{Directory, check_directory, open_file, unwritable};
use crate::error::{StateError, StateErrorKind};
use crate::file::StateFile;
use crate::replace::{self, Failure, Placed};

/// The number of names that [`FileLock::set_aside`] tries for one suffix.
const ASIDE: u32 = 3;

/// An exclusive lock on a state file. The kernel releases it when the process exits.
/// # Examples
/// ```
/// use std::time::Duration;
/// use cap_std::{ambient_authority, fs::Dir};
/// use plugward_state_file::{Backup, Owner, StateFile};
/// # use std::os::unix::fs::MetadataExt as _;
/// # let directory = tempfile::tempdir()?;
/// # let uid = directory.path().metadata()?.uid();
///
/// let dir = Dir::open_ambient_dir(directory.path(), ambient_authority())?;
/// let file = StateFile::at(&dir, "pins.toml", 8 << 20, Owner::uid(uid), Backup::Keep)?;
///
/// // Read under the lock: the file may have changed while another process had it.
/// let lock = file.lock(Duration::from_secs(5))?;
/// let old = lock.read()?.map(|content| content.bytes().to_vec()).unwrap_or_default();
/// lock.replace(&[old.as_slice(), b"version = 2\n"].concat())?;
/// assert_eq!(lock.read()?.unwrap().bytes(), b"version = 2\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileLock<'a> {
    file: &'a StateFile,
    directory: Directory,
    // Dropping it releases the lock.
    _lock: FlockGuard,
}

/// An open file with an `flock`, which is released on drop.
#[derive(Debug)]
pub(crate) struct FlockGuard(File);

impl Drop for FlockGuard {
    fn drop(&mut self) {
        // Closing is not enough: a child process that another thread forks at this moment has the file open as well,
        // until it runs its program. If the call fails, closing still releases the lock.
        let _unlocked: Result<(), Errno> = fs::flock(&self.0, FlockOperation::Unlock);
    }
}

impl<'a> FileLock<'a> {
    pub(crate) fn take(file: &'a StateFile, wait: Duration) -> Result<Self, StateError> {
        check_directory(&file.dir, file.owner, "lock")?;
        let lock = match lock_at_once(file)? {
            Some(lock) => Some(lock),
            None if wait.is_zero() => None,
            None => queue::wait(file, wait)?,
        };
        let Some(lock) = lock else {
            let kind = StateErrorKind::Held { pid: holder(file) };
            return Err(StateError::new("lock", &file.names.main, kind));
        };
        let directory = Directory::open(&file.dir).map_err(|source| StateError::io("open", ".", source))?;
        // The process id is only a hint for others, so a full disk must not prevent the lock.
        let _hint: Option<()> = write_pid(&lock.0);
        Ok(Self { file, directory, _lock: lock })
    }

    /// Reads the file. It does not change until the lock is released, except by programs that do not lock it.
    ///
    /// # Errors
    /// As [`StateFile::read`].
    pub fn read(&self) -> Result<Option<StateContents>, StateError> {
        self.file.read()
    }

    /// Reads the backup, as [`StateFile::read_backup`] does.
    ///
    /// # Errors
    /// As [`StateFile::read`].
    pub fn read_backup(&self, valid: &dyn Fn(&[u8]) -> bool) -> Result<Option<StateContents>, StateError> {
        self.file.read_backup(valid)
    }

    /// Replaces the file, and before it the backup if one is kept.
    ///
    /// # Errors
    /// `state/too-large` before anything is written; `state/full`, `state/read-only`, `state/no-access` or `state/io`
    /// with the old file in place (the backup may already have the new contents); `state/not-synced` with the new file
    /// in place.
    ///
    /// # Guarantees
    /// After `Ok`, the file and the backup have the bytes and are synced with their directory. A crash, kill or power
    /// failure at any point leaves the file with the old or the new contents, complete, and a backup that is at least
    /// as new. The backup can have its temporary name then; [`StateFile::read_backup`] finds both.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), StateError> {
        let cap = self.file.cap;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > cap {
            let kind = StateErrorKind::TooLarge { cap };
            return Err(StateError::new("write", &self.file.names.main, kind));
        }
        replace::replace(&self.directory, &self.file.names, bytes, self.file.keep).map_err(to_state_error)
    }

    /// Renames the file, of any kind, to `NAME.SUFFIX`, and returns the new name.
    ///
    /// If that name exists, `NAME.SUFFIX-2` and `NAME.SUFFIX-3` are tried.
    ///
    /// # Errors
    /// `state/name` if the suffix is not plain; `state/io` if all three names exist or the system fails.
    pub fn set_aside(&self, suffix: &str) -> Result<String, StateError> {
        self.move_away(&self.file.names.main, suffix)
    }

    /// Renames the backup, as [`FileLock::set_aside`] renames the file.
    ///
    /// # Errors
    /// As [`FileLock::set_aside`].
    pub fn set_backup_aside(&self, suffix: &str) -> Result<String, StateError> {
        self.move_away(&self.file.names.backup, suffix)
    }

    fn move_away(&self, from: &str, suffix: &str) -> Result<String, StateError> {
        let first = self.file.names.with_suffix(suffix)?;
        for number in 1..=ASIDE {
            let to = if number == 1 { first.clone() } else { format!("{first}-{number}") };
            match fs::statat(self.directory.fd(), &to, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => continue,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(StateError::io("check", &to, errno.into())),
            }
            fs::renameat(self.directory.fd(), from, self.directory.fd(), &to)
                .map_err(|errno| unwritable(StateError::io("rename", from, errno.into())))?;
            return Ok(to);
        }
        Err(StateError::io("rename", &first, Errno::EXIST.into()))
    }

    /// Writes a copy to `NAME.SUFFIX`, unless it exists.
    ///
    /// # Errors
    /// `state/name` if the suffix is not plain; `state/io` if a file of that name exists with other contents or cannot
    /// be read; otherwise as [`FileLock::replace`].
    pub fn keep_copy(&self, suffix: &str, bytes: &[u8]) -> Result<String, StateError> {
        let to = self.file.names.with_suffix(suffix)?;
        match fs::statat(self.directory.fd(), &to, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(StateError::io("check", &to, errno.into())),
            Ok(_) => {
                let there = crate::directory::read_file(&self.file.dir, &to, self.file.owner, self.file.cap)?;
                return match there {
                    Some(old) if old.bytes() == bytes => Ok(to),
                    _ => Err(StateError::io("copy", &to, Errno::EXIST.into())),
                };
            }
        }
        replace::copy(&self.directory, &self.file.names, &to, bytes).map_err(to_state_error)?;
        Ok(to)
    }

    /// Removes the oldest files with names `NAME.PREFIX…`, until `keep` of them are left. Directories are kept.
    ///
    /// # Errors
    /// `state/name` if the prefix is not plain; `state/read-only`, `state/no-access` or `state/io`.
    pub fn prune(&self, prefix: &str, keep: usize) -> Result<(), StateError> {
        let prefix = self.file.names.with_suffix(prefix)?;
        let failed = |source| StateError::io("list", ".", source);
        let mut found = Vec::new();
        let mut entries = fs::Dir::read_from(self.directory.fd()).map_err(|errno| failed(errno.into()))?;
        while let Some(entry) = entries.read() {
            let entry = entry.map_err(|errno| failed(errno.into()))?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !name.starts_with(&prefix) {
                continue;
            }
            match fs::statat(self.directory.fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if fs::FileType::from_raw_mode(stat.st_mode).is_dir() => {}
                Ok(stat) => found.push((stat.st_mtime, stat.st_mtime_nsec, name.to_owned())),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(StateError::io("check", name, errno.into())),
            }
        }
        found.sort();
        let surplus = found.len().saturating_sub(keep);
        for (_, _, name) in found.iter().take(surplus) {
            fs::unlinkat(self.directory.fd(), name, AtFlags::empty())
                .map_err(|errno| unwritable(StateError::io("remove", name, errno.into())))?;
        }
        Ok(())
    }
}

fn to_state_error(failure: Failure) -> StateError {
    let Failure { doing, name, source, placed } = failure;
    let error = StateError::io(doing, &name, source);
    match placed {
        Placed::Yes => error.of_kind(StateErrorKind::NotSynced),
        Placed::No if doing == "create" => unwritable(error),
        Placed::No => error,
    }
}

/// Whether to wait for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LockWait {
    Try,
    Block,
}

/// Takes the lock if no process has it and no process waits for it.
// Every waiting process has the lock of the queue file or waits for that. If it is taken, other processes are waiting
// and this one must join them: a process that releases the lock and takes it again at once would otherwise always win.
fn lock_at_once(file: &StateFile) -> Result<Option<FlockGuard>, StateError> {
    // The queue file is created by the first process that has to wait.
    let queue = match open_file(&file.dir, &file.names.queue, file.owner, OFlags::RDWR)? {
        Some((queue, _)) => match flock(queue, &file.names.queue, LockWait::Try)? {
            Some(queue) => Some(queue),
            None => return Ok(None),
        },
        None => None,
    };
    let lock = lock_main(file, LockWait::Try)?;
    drop(queue);
    Ok(lock)
}

/// Joins the queue, then waits for the lock at its head.
pub(crate) fn wait_for_lock(file: &StateFile) -> Result<FlockGuard, StateError> {
    let queue = loop {
        if let Some((queue, _)) = open_or_make(file, &file.names.queue)? {
            break queue;
        }
    };
    let _turn = flock(queue, &file.names.queue, LockWait::Block)?;
    loop {
        if let Some(lock) = lock_main(file, LockWait::Block)? {
            return Ok(lock);
        }
    }
}

/// Takes the lock itself. Returns `None` if another process has it, or if the lock file was replaced.
fn lock_main(file: &StateFile, wait: LockWait) -> Result<Option<FlockGuard>, StateError> {
    let name = &file.names.lock;
    let Some((lock, stat)) = open_or_make(file, name)? else { return Ok(None) };
    let Some(lock) = flock(lock, name, wait)? else { return Ok(None) };
    // Between the open and the lock, the lock file can be removed and another process can create a new one.
    match fs::statat(&*file.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) if (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino) => Ok(Some(lock)),
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(StateError::io("lock", name, errno.into())),
    }
}

/// Locks a file. Returns `None` if another process has the lock and this one must not wait.
fn flock(file: File, name: &str, wait: LockWait) -> Result<Option<FlockGuard>, StateError> {
    let operation = match wait {
        LockWait::Try => FlockOperation::NonBlockingLockExclusive,
        LockWait::Block => FlockOperation::LockExclusive,
    };
    loop {
        match fs::flock(&file, operation) {
            Ok(()) => return Ok(Some(FlockGuard(file))),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno @ (Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL)) => {
                return Err(StateError::io("lock", name, errno.into()).of_kind(StateErrorKind::NoLock));
            }
            Err(errno) => return Err(StateError::io("lock", name, errno.into())),
        }
    }
}

/// Opens or creates a lock file. Returns `None` if another process created and removed it meanwhile.
fn open_or_make(file: &StateFile, name: &str) -> Result<Option<(File, Stat)>, StateError> {
    // An existing file is opened without `O_CREAT`, which the kernel can refuse for another user's file in a sticky
    // directory.
    if let Some(found) = open_file(&file.dir, name, file.owner, OFlags::RDWR)? {
        return Ok(Some(found));
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::openat(&*file.dir, name, flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => {
            let stat = fs::fstat(&fd).map_err(|errno| StateError::io("lock", name, errno.into()))?;
            Ok(Some((File::from(fd), stat)))
        }
        Err(Errno::EXIST) => open_file(&file.dir, name, file.owner, OFlags::RDWR),
        Err(errno) => Err(unwritable(StateError::io("lock", name, errno.into()))),
    }
}

/// Writes the process id as a hint for others.
// The text has a fixed length, so that the file keeps its block: freeing the block would slow down the next sync.
fn write_pid(lock: &File) -> Option<()> {
    let text = format!("{:<10}\n", std::process::id());
    let length = u64::try_from(text.len()).ok()?;
    if lock.metadata().ok()?.len() > length {
        lock.set_len(0).ok()?;
    }
    lock.write_all_at(text.as_bytes(), 0).ok()
}

/// Reads the process id from the lock file.
fn holder(file: &StateFile) -> Option<u32> {
    let (lock, _) = open_file(&file.dir, &file.names.lock, file.owner, OFlags::RDONLY).ok()??;
    let mut text = String::new();
    lock.take(16).read_to_string(&mut text).ok()?;
    text.trim_end().parse().ok()
}
