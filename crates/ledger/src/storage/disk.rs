//! The files of a ledger in a directory.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{LedgerError, LedgerErrorKind};
use crate::ledger::open::first_of;
use crate::ledger::state::segment_range;
use crate::storage::lines::read_range;
use crate::storage::{ANCHOR, LIVE, LOCK, LiveFileState, Medium, SyncMode, Tape};

/// How long to wait for the file lock. An append takes milliseconds, so a longer wait means that a process is
/// stuck.
const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);
const CHUNK: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct DiskMedium {
    directory: OwnedFd,
    lock: (OwnedFd, Stat),
    live: Option<Live>,
    stuck: Option<Errno>,
}

#[derive(Debug)]
struct Live {
    file: OwnedFd,
    stat: Stat,
}

#[derive(Debug)]
struct File(OwnedFd);

impl DiskMedium {
    /// Opens the directory and its lock file.
    pub(crate) fn open(dir: &Dir) -> Result<Self, LedgerError> {
        // Reopened, because the caller's handle may be path-only (`O_PATH`), and a directory must be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(dir, ".", flags, Mode::empty())
            .map_err(|errno| LedgerError::io("open the state directory", errno.into()))?;
        let stat = stat_of(&directory, ".")?;
        check_rights(".", &stat)?;
        let lock = open_ours(&directory, LOCK, lock_flags())?;
        Ok(Self { directory, lock, live: None, stuck: None })
    }

    fn handle(&self) -> io::Result<&Live> {
        self.live.as_ref().ok_or_else(|| io::Error::other("the live file is not open"))
    }

    /// Returns `true` if the open lock file is still the one at the path.
    fn is_the_lock(&self) -> Result<bool, LedgerError> {
        let (_, ours) = &self.lock;
        match rustix::fs::statat(&self.directory, LOCK, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(named) => Ok(named.st_ino == ours.st_ino && named.st_dev == ours.st_dev),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(LedgerError::io("stat ledger.lock", errno.into())),
        }
    }

    fn sync_directory(&self, keep: SyncMode) -> io::Result<()> {
        if keep == SyncMode::Synced { Ok(rustix::fs::fsync(&self.directory)?) } else { Ok(()) }
    }

    fn create(&self, name: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.directory, name, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR)?)
    }
}

fn stat_of(fd: impl AsFd, file: &str) -> Result<Stat, LedgerError> {
    rustix::fs::fstat(fd).map_err(|errno| {
        let doing = if file == "." { "stat the state directory" } else { "stat a ledger file" };
        LedgerError::io(doing, errno.into())
    })
}

fn not_ours(file: &str, why: &'static str) -> LedgerError {
    LedgerError::new(LedgerErrorKind::NotOurs { file: file.to_owned(), why })
}

fn check_rights(file: &str, stat: &Stat) -> Result<(), LedgerError> {
    // Files of root are accepted, as for the pins. A group that can write is a matter of the caller's warnings.
    if stat.st_uid != 0 && stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(not_ours(file, "it belongs to another user"));
    }
    if Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH) {
        return Err(not_ours(file, "every user can write it"));
    }
    Ok(())
}

fn open_ours(directory: &OwnedFd, name: &str, flags: OFlags) -> Result<(OwnedFd, Stat), LedgerError> {
    let file =
        rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| match errno {
            // A symlink, or a FIFO or device that cannot be opened this way.
            Errno::LOOP | Errno::NXIO | Errno::ISDIR => not_ours(name, "it is not a regular file"),
            errno => LedgerError::io("open a ledger file", errno.into()),
        })?;
    let stat = stat_of(&file, name)?;
    check_file(name, &stat)?;
    Ok((file, stat))
}

fn check_file(name: &str, stat: &Stat) -> Result<(), LedgerError> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(not_ours(name, "it is not a regular file"));
    }
    if stat.st_nlink != 1 {
        return Err(not_ours(name, "it has more than one hard link"));
    }
    check_rights(name, stat)
}

fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn lock_flags() -> OFlags {
    OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC
}

fn live_flags() -> OFlags {
    OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC
}

fn data_sync(file: &OwnedFd) -> io::Result<()> {
    #[cfg(not(target_vendor = "apple"))]
    rustix::fs::fdatasync(file)?;
    #[cfg(target_vendor = "apple")]
    rustix::fs::fcntl_fullfsync(file)?;
    Ok(())
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(file, bytes))?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or(&[]);
    }
    Ok(())
}

impl Tape for File {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| rustix::io::pread(&self.0, &mut *buf, at))?)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(size_of(&rustix::fs::fstat(&self.0)?))
    }
}

impl Tape for Live {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| rustix::io::pread(&self.file, &mut *buf, at))?)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(size_of(&rustix::fs::fstat(&self.file)?))
    }
}

impl Medium for DiskMedium {
    fn lock(&mut self) -> Result<(), LedgerError> {
        if let Some(errno) = self.stuck {
            return Err(LedgerError::io("release ledger.lock", errno.into()));
        }
        let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
        loop {
            match rustix::fs::flock(&self.lock.0, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if self.is_the_lock()? => return Ok(()),
                Ok(()) => {
                    // The lock file was deleted. Another process would create and lock a new one, so that
                    // must be locked here.
                    self.lock = open_ours(&self.directory, LOCK, lock_flags())?;
                    continue;
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(errno) => return Err(LedgerError::io("lock ledger.lock", errno.into())),
            }
            if waited >= PATIENCE {
                let millis = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                return Err(LedgerError::new(LedgerErrorKind::LockTimeout { millis }));
            }
            // Polling, because a stopped process can hold the lock, and a blocking wait for it might never
            // end.
            std::thread::sleep(pause);
            waited = waited.saturating_add(pause);
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    fn unlock(&mut self) {
        // Unlocking an open file cannot fail. If it did, other processes would stay locked out; the next lock
        // reports it.
        self.stuck = rustix::fs::flock(&self.lock.0, FlockOperation::Unlock).err();
    }

    fn live_state(&mut self) -> Result<LiveFileState, LedgerError> {
        let stat = match rustix::fs::statat(&self.directory, LIVE, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(LiveFileState::Missing),
            Err(errno) => return Err(LedgerError::io("stat ledger.jsonl", errno.into())),
        };
        match &self.live {
            Some(live) if live.stat.st_ino == stat.st_ino && live.stat.st_dev == stat.st_dev => {
                check_file(LIVE, &stat)?;
                Ok(LiveFileState::Same(size_of(&stat)))
            }
            _ => Ok(LiveFileState::Other),
        }
    }

    fn open_live(&mut self) -> Result<u64, LedgerError> {
        let (file, stat) = open_ours(&self.directory, LIVE, live_flags())?;
        let size = size_of(&stat);
        self.live = Some(Live { file, stat });
        Ok(size)
    }

    fn create_live(&mut self) -> Result<(), LedgerError> {
        let (file, stat) = open_ours(&self.directory, LIVE, live_flags() | OFlags::CREATE | OFlags::EXCL)?;
        self.live = Some(Live { file, stat });
        self.sync_directory(SyncMode::Synced)
            .map_err(|error| LedgerError::io("sync the state directory", error))
    }

    fn live(&self) -> Result<&dyn Tape, LedgerError> {
        let live = self.handle().map_err(|error| LedgerError::io("read ledger.jsonl", error))?;
        Ok(live)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(&self.handle()?.file, bytes)?)
    }

    fn cut(&mut self, to: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(&self.handle()?.file, to)?)
    }

    fn sync(&mut self) -> io::Result<()> {
        data_sync(&self.handle()?.file)
    }

    fn copy_tail(&mut self, from: u64, name: &str) -> io::Result<()> {
        let copy = self.create(name)?;
        let live = self.handle()?;
        let mut buf = vec![0; CHUNK];
        let mut at = from;
        loop {
            let read = live.read_at(at, &mut buf)?;
            if read == 0 {
                break;
            }
            write_all(&copy, buf.get(..read).unwrap_or(&[]))?;
            at = at.saturating_add(u64::try_from(read).unwrap_or(0));
        }
        data_sync(&copy)?;
        self.sync_directory(SyncMode::Synced)
    }

    fn write_file(&mut self, name: &str, bytes: &[u8], keep: SyncMode) -> io::Result<()> {
        let file = self.create(name)?;
        write_all(&file, bytes)?;
        if keep == SyncMode::Synced { data_sync(&file) } else { Ok(()) }
    }

    fn rename(&mut self, from: &str, to: &str, keep: SyncMode) -> io::Result<()> {
        rustix::fs::renameat(&self.directory, from, &self.directory, to)?;
        self.sync_directory(keep)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.directory)? {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn open_file(&self, name: &str) -> Result<Box<dyn Tape>, LedgerError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(Box::new(File(open_ours(&self.directory, name, flags)?.0)))
    }
}

/// Wraps a file that the caller opened.
pub(crate) fn given(name: String, file: std::fs::File) -> Result<(String, Box<dyn Tape>, u64), LedgerError> {
    let file = OwnedFd::from(file);
    let stat = stat_of(&file, &name)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(not_ours(&name, "it is not a regular file"));
    }
    Ok((name, Box::new(File(file)), size_of(&stat)))
}

type Files = Vec<(String, Box<dyn Tape>, u64)>;

/// Opens all segments for reading, whatever their owner, and reads the checkpoint file.
pub(crate) fn read_files(dir: &Dir) -> Result<(Files, Option<String>), LedgerError> {
    let doing = |errno: Errno| LedgerError::io("read the state directory", errno.into());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(dir, ".", flags, Mode::empty()).map_err(doing)?;
    // The checkpoint is read before the records. One that is written meanwhile could cover more records than
    // are read.
    let anchor = match read_file(&directory, ANCHOR)? {
        Some((file, size)) => {
            let bytes = read_range(&file, 0, size.min(1_024));
            let bytes = bytes.map_err(|error| LedgerError::io("read ledger.checkpoint", error))?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        None => None,
    };
    // The live file is opened first. If a new segment starts meanwhile, the open file is the sealed segment.
    let live = read_file(&directory, LIVE)?;
    let upto = match &live {
        Some((file, size)) => first_of(file, *size)?.map_or(u64::MAX, |record| record.seq()),
        None => u64::MAX,
    };
    let mut segments = Vec::new();
    for entry in rustix::fs::Dir::read_from(&directory).map_err(doing)? {
        let entry = entry.map_err(doing)?;
        let name = entry.file_name().to_str().unwrap_or("");
        if let Some((first, _)) = segment_range(name).filter(|(first, _)| *first < upto) {
            segments.push((first, name.to_owned()));
        }
    }
    segments.sort();
    let mut files: Files = Vec::new();
    for (_, name) in segments {
        if let Some((file, size)) = read_file(&directory, &name)? {
            files.push((name, Box::new(file), size));
        }
    }
    if let Some((file, size)) = live {
        files.push((LIVE.to_owned(), Box::new(file), size));
    }
    if files.is_empty() {
        return Err(doing(Errno::NOENT));
    }
    Ok((files, anchor))
}

fn read_file(directory: &OwnedFd, name: &str) -> Result<Option<(File, u64)>, LedgerError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(file) => {
            let stat = stat_of(&file, name)?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                return Err(not_ours(name, "it is not a regular file"));
            }
            Ok(Some((File(file), size_of(&stat))))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP) => Err(not_ours(name, "it is not a regular file")),
        Err(errno) => Err(LedgerError::io("open a ledger file", errno.into())),
    }
}
