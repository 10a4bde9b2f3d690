//! The hold on a file, and what may be done under it.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::content::Content;
use crate::error::{StateError, StateErrorKind};
use crate::file::StateFile;
use crate::folder::{Folder, check_folder, open_file, unwritable};
use crate::protocol::{self, Failure, Placed};
use crate::queue;

/// How many names [`Hold::set_aside`] tries for one suffix.
const ASIDE: u32 = 3;

/// The one right to replace a file. The kernel drops it with the process.
#[derive(Debug)]
pub struct Hold<'a> {
    file: &'a StateFile,
    folder: Folder,
    // Dropping it ends the hold.
    _lock: Locked,
}

/// A file that is locked until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // To close it is not enough: a process that another thread starts at this moment has the file open too, until it
        // runs its program. Should the call fail, closing ends the lock all the same.
        let _unlocked: Result<(), Errno> = fs::flock(&self.0, FlockOperation::Unlock);
    }
}

impl<'a> Hold<'a> {
    pub(crate) fn take(file: &'a StateFile, wait: Duration) -> Result<Self, StateError> {
        check_folder(&file.dir, file.owner, "hold")?;
        let lock = match lock_at_once(file)? {
            Some(lock) => Some(lock),
            None if wait.is_zero() => None,
            None => queue::wait(file, wait)?,
        };
        let Some(lock) = lock else {
            let kind = StateErrorKind::Held { pid: holder(file) };
            return Err(StateError::new("hold", &file.names.main, kind));
        };
        let folder = Folder::open(&file.dir).map_err(|source| StateError::io("open", ".", source))?;
        // A hint for others, and no more: a full disk must not stop the hold.
        let _hint: Option<()> = write_pid(&lock.0);
        Ok(Self { file, folder, _lock: lock })
    }

    /// Reads the file, as it will stay until this hold ends (but for programs that ask for none).
    ///
    /// # Errors
    /// As [`StateFile::read`].
    pub fn read(&self) -> Result<Option<Content>, StateError> {
        self.file.read()
    }

    /// Reads the last good copy, as [`StateFile::read_last_good`] does.
    ///
    /// # Errors
    /// As [`StateFile::read`].
    pub fn read_last_good(&self, valid: &dyn Fn(&[u8]) -> bool) -> Result<Option<Content>, StateError> {
        self.file.read_last_good(valid)
    }

    /// Replaces the file, and before it the last good copy where one is kept.
    ///
    /// # Errors
    /// `state/too-large` before anything is touched; `state/full`, `state/read-only`, `state/no-access` or `state/io`
    /// with the old file in place (the last good copy may be the new one already); `state/not-synced` with the new
    /// file in place.
    ///
    /// # Guarantees
    /// After `Ok`: all copies hold the bytes and are synced with their folder. A crash, kill or power cut at any
    /// point leaves the file as it was or as it should be, whole, and a good copy that is at least as new: the last good
    /// one, or the one that was to become it ([`StateFile::read_last_good`] finds both).
    pub fn replace(&self, bytes: &[u8]) -> Result<(), StateError> {
        let cap = self.file.cap;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > cap {
            let kind = StateErrorKind::TooLarge { cap };
            return Err(StateError::new("write", &self.file.names.main, kind));
        }
        protocol::replace(&self.folder, &self.file.names, bytes, self.file.keep).map_err(told)
    }

    /// Moves the file, whatever it is, to `NAME.SUFFIX`, or `NAME.SUFFIX-2`, `-3` where that is taken; gives the name.
    ///
    /// # Errors
    /// `state/name` for a suffix that is not plain; `state/io` where all three names are taken or the system refuses.
    pub fn set_aside(&self, suffix: &str) -> Result<String, StateError> {
        self.move_away(&self.file.names.main, suffix)
    }

    /// Moves the last good copy, whatever it is, as [`Hold::set_aside`] does the file.
    ///
    /// # Errors
    /// As [`Hold::set_aside`].
    pub fn set_last_good_aside(&self, suffix: &str) -> Result<String, StateError> {
        self.move_away(&self.file.names.last_good, suffix)
    }

    fn move_away(&self, from: &str, suffix: &str) -> Result<String, StateError> {
        let first = self.file.names.with_suffix(suffix)?;
        for number in 1..=ASIDE {
            let to = if number == 1 { first.clone() } else { format!("{first}-{number}") };
            match fs::statat(self.folder.fd(), &to, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => continue,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(StateError::io("look at", &to, errno.into())),
            }
            fs::renameat(self.folder.fd(), from, self.folder.fd(), &to)
                .map_err(|errno| unwritable(StateError::io("move away", from, errno.into())))?;
            return Ok(to);
        }
        Err(StateError::io("move away", &first, Errno::EXIST.into()))
    }

    /// Writes one more copy, `NAME.SUFFIX`, if there is none.
    ///
    /// # Errors
    /// `state/name` for a suffix that is not plain; `state/io` where another file has the name and holds other bytes
    /// or cannot be read; else as [`Hold::replace`].
    pub fn keep_copy(&self, suffix: &str, bytes: &[u8]) -> Result<String, StateError> {
        let to = self.file.names.with_suffix(suffix)?;
        match fs::statat(self.folder.fd(), &to, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(StateError::io("look at", &to, errno.into())),
            Ok(_) => {
                let there = crate::folder::read_file(&self.file.dir, &to, self.file.owner, self.file.cap)?;
                return match there {
                    Some(old) if old.bytes() == bytes => Ok(to),
                    _ => Err(StateError::io("keep", &to, Errno::EXIST.into())),
                };
            }
        }
        protocol::copy(&self.folder, &self.file.names, &to, bytes).map_err(told)?;
        Ok(to)
    }

    /// Removes the oldest files whose names are `NAME.PREFIX…`, until `keep` of them are left. Folders stay.
    ///
    /// # Errors
    /// `state/name` for a prefix that is not plain; `state/read-only`, `state/no-access` or `state/io`.
    pub fn prune(&self, prefix: &str, keep: usize) -> Result<(), StateError> {
        let prefix = self.file.names.with_suffix(prefix)?;
        let failed = |source| StateError::io("list", ".", source);
        let mut found = Vec::new();
        let mut entries = fs::Dir::read_from(self.folder.fd()).map_err(|errno| failed(errno.into()))?;
        while let Some(entry) = entries.read() {
            let entry = entry.map_err(|errno| failed(errno.into()))?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !name.starts_with(&prefix) {
                continue;
            }
            match fs::statat(self.folder.fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if fs::FileType::from_raw_mode(stat.st_mode).is_dir() => {}
                Ok(stat) => found.push((stat.st_mtime, stat.st_mtime_nsec, name.to_owned())),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(StateError::io("look at", name, errno.into())),
            }
        }
        found.sort();
        let surplus = found.len().saturating_sub(keep);
        for (_, _, name) in found.iter().take(surplus) {
            fs::unlinkat(self.folder.fd(), name, AtFlags::empty())
                .map_err(|errno| unwritable(StateError::io("remove", name, errno.into())))?;
        }
        Ok(())
    }
}

fn told(failure: Failure) -> StateError {
    let Failure { doing, name, source, placed } = failure;
    let error = StateError::io(doing, &name, source);
    match placed {
        Placed::Yes => error.of_kind(StateErrorKind::NotSynced),
        Placed::No if doing == "create" => unwritable(error),
        Placed::No => error,
    }
}

/// Whether a lock is asked for once, or waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Once,
    Wait,
}

/// Takes the lock if nobody has it and nobody waits for it.
///
/// Who has to wait does so with the queue's lock in hand, or for that. So whoever finds it taken has others before it,
/// and joins them: one that lets go and comes again at once would otherwise always be the first.
fn lock_at_once(file: &StateFile) -> Result<Option<Locked>, StateError> {
    // The queue's file is made by the first that has to wait.
    let queue = match open_file(&file.dir, &file.names.queue, file.owner, OFlags::RDWR)? {
        Some((queue, _)) => match flock(queue, &file.names.queue, Ask::Once)? {
            Some(queue) => Some(queue),
            None => return Ok(None),
        },
        None => None,
    };
    let lock = lock_main(file, Ask::Once)?;
    drop(queue);
    Ok(lock)
}

/// Joins the queue, then waits for the lock at its head.
pub(crate) fn wait_for_lock(file: &StateFile) -> Result<Locked, StateError> {
    let queue = loop {
        if let Some((queue, _)) = open_or_make(file, &file.names.queue)? {
            break queue;
        }
    };
    let _turn = flock(queue, &file.names.queue, Ask::Wait)?;
    loop {
        if let Some(lock) = lock_main(file, Ask::Wait)? {
            return Ok(lock);
        }
    }
}

/// Takes the lock itself; none where another has it, or the file is no longer the one that was opened.
fn lock_main(file: &StateFile, ask: Ask) -> Result<Option<Locked>, StateError> {
    let name = &file.names.lock;
    let Some((lock, stat)) = open_or_make(file, name)? else { return Ok(None) };
    let Some(lock) = flock(lock, name, ask)? else { return Ok(None) };
    // Somebody may have removed the lock file between our open and our lock, and a rival made a new one.
    match fs::statat(&*file.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) if (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino) => Ok(Some(lock)),
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(StateError::io("hold", name, errno.into())),
    }
}

/// Locks a file; none where another has it and we are not to wait.
fn flock(file: File, name: &str, ask: Ask) -> Result<Option<Locked>, StateError> {
    let operation = match ask {
        Ask::Once => FlockOperation::NonBlockingLockExclusive,
        Ask::Wait => FlockOperation::LockExclusive,
    };
    loop {
        match fs::flock(&file, operation) {
            Ok(()) => return Ok(Some(Locked(file))),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno @ (Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL)) => {
                return Err(StateError::io("hold", name, errno.into()).of_kind(StateErrorKind::NoLock));
            }
            Err(errno) => return Err(StateError::io("hold", name, errno.into())),
        }
    }
}

/// Opens a lock file, or makes it; none where it came and went while we looked.
fn open_or_make(file: &StateFile, name: &str) -> Result<Option<(File, Stat)>, StateError> {
    // A file that is there is opened without `O_CREAT`: in a sticky folder the kernel may refuse that for another's.
    if let Some(found) = open_file(&file.dir, name, file.owner, OFlags::RDWR)? {
        return Ok(Some(found));
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::openat(&*file.dir, name, flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => {
            let stat = fs::fstat(&fd).map_err(|errno| StateError::io("hold", name, errno.into()))?;
            Ok(Some((File::from(fd), stat)))
        }
        Err(Errno::EXIST) => open_file(&file.dir, name, file.owner, OFlags::RDWR),
        Err(errno) => Err(unwritable(StateError::io("hold", name, errno.into()))),
    }
}

/// All of one length, so that the file keeps its block: to free it costs the next sync of anything.
fn write_pid(lock: &File) -> Option<()> {
    let text = format!("{:<10}\n", std::process::id());
    let length = u64::try_from(text.len()).ok()?;
    if lock.metadata().ok()?.len() > length {
        lock.set_len(0).ok()?;
    }
    lock.write_all_at(text.as_bytes(), 0).ok()
}

fn holder(file: &StateFile) -> Option<u32> {
    let (lock, _) = open_file(&file.dir, &file.names.lock, file.owner, OFlags::RDONLY).ok()??;
    let mut text = String::new();
    lock.take(16).read_to_string(&mut text).ok()?;
    text.trim_end().parse().ok()
}
