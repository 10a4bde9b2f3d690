//! Reading and hashing every file once, on several threads.

use core::num::NonZeroUsize;
use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use plugward_sandbox_path::{Jail, RaceCause, SandboxedFile};
use sha2::{Digest as _, Sha256};

use crate::problem::TreeProblemKind;
use crate::problem::error::TreeError;
use crate::read::item::{Item, ItemState};
use crate::read::progress::{Progress, ReadProgress};
use crate::read::race::{report_change, report_error};
use crate::tree::limits::{TreeLimit, TreeLimits};

/// The most files or directories that a thread takes at a time. More would leave the threads unevenly loaded.
const MAX_BATCH: usize = 32;
/// The fewest elements per thread that are worth the start of a thread.
const MIN_PER_THREAD: usize = 16;
/// The size of a thread's buffer if contents are not kept.
const BUFFER: usize = 128 << 10;

/// Whether files are read or only checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadDepth {
    /// Reads and hashes each file.
    Contents,
    /// Checks the size and mode of each file. The tree is refused anyway, and the report should be complete.
    Facts,
}

/// Whether contents are kept after hashing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retention {
    /// Keeps all bytes, for a snapshot.
    Bytes,
    /// Keeps only digests; each thread reuses one buffer.
    Nothing,
}

/// The parameters of a read.
#[derive(Clone, Copy)]
pub(crate) struct ReadPlan<'a> {
    pub(crate) limits: &'a TreeLimits,
    pub(crate) depth: ReadDepth,
    pub(crate) keep: Retention,
    pub(crate) jobs: NonZeroUsize,
    pub(crate) progress: &'a dyn Progress,
}

struct Reader<'a> {
    jail: &'a Jail,
    plan: ReadPlan<'a>,
    /// The size of the files so far. A file counts before its first byte is read.
    bytes: AtomicU64,
    files: AtomicU64,
    of: u64,
    /// Set once the limit on all bytes is exceeded. Further files are checked but not read.
    full: AtomicBool,
}

/// Reads all listed files in place, and returns a problem if their total size exceeds the limit.
pub(crate) fn read_all(
    jail: &Jail,
    items: &mut [Item],
    already: u64,
    plan: ReadPlan<'_>,
) -> Option<TreeProblemKind> {
    let of = items.iter().filter(|item| matches!(item.state, ItemState::Listed)).count();
    let max = plan.limits.bytes;
    let work = Reader {
        jail,
        plan,
        bytes: AtomicU64::new(already),
        files: AtomicU64::new(0),
        of: u64::try_from(of).unwrap_or(u64::MAX),
        full: AtomicBool::new(already > max),
    };
    let act = |buffer: &mut Vec<u8>, item: &mut Item| {
        if matches!(item.state, ItemState::Listed) {
            item.state = work.file(&item.path, buffer);
        }
    };
    for_each_with(items, plan.jobs, Vec::new, act, || ());
    let full = work.full.load(Ordering::Relaxed);
    full.then_some(TreeProblemKind::Limit { limit: TreeLimit::Bytes, max })
}

/// Calls `act` on every element, on up to `jobs` threads. The calling thread calls `first` before it joins them.
pub(crate) fn for_each_parallel<T: Send>(
    items: &mut [T],
    jobs: NonZeroUsize,
    act: impl Fn(&mut T) + Sync,
    first: impl FnOnce(),
) {
    for_each_with(items, jobs, || (), |(), item| act(item), first);
}

/// Calls `act` on every element with a value that each thread creates for itself.
///
/// Up to `jobs` threads work, including the calling one once it has called `first`. A thread that is done takes the
/// next batch, so a thread with a large file gets fewer of the other files.
fn for_each_with<S, T: Send>(
    items: &mut [T],
    jobs: NonZeroUsize,
    own: impl Fn() -> S + Sync,
    act: impl Fn(&mut S, &mut T) + Sync,
    first: impl FnOnce(),
) {
    let threads = jobs.get().min(items.len().div_ceil(MIN_PER_THREAD));
    // About eight batches for each thread: few enough that the lock is rarely contended, and enough that a
    // thread with large files does not finish long after the others.
    let batch = items.len().div_ceil(threads.saturating_mul(8).max(1)).clamp(1, MAX_BATCH);
    let batches = Mutex::new(items.chunks_mut(batch));
    let run = || {
        let mut own = own();
        loop {
            // Taking a batch cannot panic, so a poisoned lock would not mean that a batch was lost.
            let batch = batches.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(batch) = batch else { break };
            for item in batch {
                act(&mut own, item);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Without a new thread, the existing ones do the work.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        first();
        run();
    });
}

impl Reader<'_> {
    fn file(&self, path: &str, buffer: &mut Vec<u8>) -> ItemState {
        let state = self.read(path, buffer);
        let files = self.files.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.plan.progress.step(ReadProgress { files, of: self.of, bytes });
        state
    }

    fn read(&self, path: &str, buffer: &mut Vec<u8>) -> ItemState {
        let error = |source: Box<dyn std::error::Error + Send + Sync>| {
            ItemState::Error(Box::new(TreeError::io(path.as_bytes(), source)))
        };
        let file = match self.jail.open_read(path) {
            Ok(file) => file,
            Err(why) if report_error(self.jail, path, &why) => {
                return ItemState::Fault(TreeProblemKind::ChangedWhileRead);
            }
            Err(why) => return error(Box::new(why)),
        };
        let meta = *file.opened();
        if meta.mode() & 0o7000 != 0 {
            return ItemState::Fault(TreeProblemKind::Setuid);
        }
        if meta.len() > self.plan.limits.file_bytes {
            let (limit, max) = (TreeLimit::FileBytes, self.plan.limits.file_bytes);
            return ItemState::Fault(TreeProblemKind::Limit { limit, max });
        }
        // A size is never subtracted again, even if the read fails, so that the result is the same in any order.
        let before = self.bytes.fetch_add(meta.len(), Ordering::Relaxed);
        if before.saturating_add(meta.len()) > self.plan.limits.bytes {
            self.full.store(true, Ordering::Relaxed);
        }
        // Past the limit the result is an error in any case, so the remaining files are not read.
        if self.plan.depth == ReadDepth::Facts || self.full.load(Ordering::Relaxed) {
            return ItemState::Seen;
        }
        let read = match self.plan.keep {
            Retention::Bytes => contents(file, meta.len()),
            Retention::Nothing => hash(file, meta.len(), buffer),
        };
        match read {
            // Equal metadata before and after, including the change time, is the evidence that no write
            // happened during the read.
            Ok(Some(Contents { bytes, digest, after })) if after == meta => {
                ItemState::Read { bytes, size: meta.len(), digest, mode: meta.mode() }
            }
            Ok(read) => {
                // A file without a hard link was deleted while it was read; any other difference is a write.
                let is_gone = read.is_some_and(|read| read.after.links() == 0);
                let cause = if is_gone { RaceCause::Vanished } else { RaceCause::Changed };
                report_change(self.jail, path, cause);
                ItemState::Fault(TreeProblemKind::ChangedWhileRead)
            }
            Err(why) => error(Box::new(why)),
        }
    }
}

struct Contents {
    bytes: Vec<u8>,
    digest: [u8; 32],
    /// The metadata of the file after its last byte was read.
    after: plugward_sandbox_path::Metadata,
}

/// Reads exactly `size` bytes and the end of the file. Returns `None` if the file is shorter or longer.
fn contents(mut file: SandboxedFile, size: u64) -> std::io::Result<Option<Contents>> {
    let Some((size, room)) = usize::try_from(size).ok().and_then(|size| Some((size, size.checked_add(1)?)))
    else {
        return Ok(None);
    };
    // With room for one byte more than the size, the call that reads the last byte also shows the end of the file.
    // The spare byte is kept, because some allocators copy the whole file to free it.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_full| std::io::ErrorKind::OutOfMemory)?;
    loop {
        let before = bytes.len();
        let read = retry_interrupted(|| fill(&mut file, &mut bytes, room))?;
        // The file did not fill the room, so this was its end.
        if read == 0 || bytes.len() > size || (bytes.len() == size && read < room.saturating_sub(before)) {
            break;
        }
    }
    if bytes.len() != size {
        return Ok(None);
    }
    let digest = Sha256::digest(&bytes).into();
    let after = file.meta()?;
    Ok(Some(Contents { bytes, digest, after }))
}

/// Hashes exactly `size` bytes, one buffer at a time. Returns `None` if the file is shorter or longer.
fn hash(mut file: SandboxedFile, size: u64, buffer: &mut Vec<u8>) -> std::io::Result<Option<Contents>> {
    if buffer.is_empty() {
        buffer.try_reserve_exact(BUFFER).map_err(|_full| std::io::ErrorKind::OutOfMemory)?;
        buffer.resize(BUFFER, 0);
    }
    let mut hash = Sha256::new();
    let mut seen = 0_u64;
    loop {
        let read = retry_interrupted(|| file.read(buffer))?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            break;
        };
        seen = seen.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        // A file that grows is a change, and reading on could take forever.
        if seen > size {
            return Ok(None);
        }
        hash.update(part);
        // The file did not fill the room, so this was its end.
        if seen == size && read < buffer.len() {
            break;
        }
    }
    let digest = hash.finalize().into();
    let after = file.meta()?;
    Ok((seen == size).then(|| Contents { bytes: Vec::new(), digest, after }))
}

/// Repeats a call that a signal interrupted.
fn retry_interrupted<T>(mut call: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Reads into the spare capacity without initializing it first.
#[cfg(unix)]
fn fill(file: &mut SandboxedFile, bytes: &mut Vec<u8>, _: usize) -> std::io::Result<usize> {
    Ok(rustix::io::read(&*file, rustix::buffer::spare_capacity(bytes))?)
}

#[cfg(not(unix))]
fn fill(file: &mut SandboxedFile, bytes: &mut Vec<u8>, size: usize) -> std::io::Result<usize> {
    let before = bytes.len();
    bytes.resize(size, 0);
    let read = match bytes.get_mut(before..) {
        Some(room) => file.read(room),
        None => Ok(0),
    };
    bytes.truncate(before.saturating_add(*read.as_ref().unwrap_or(&0)));
    read
}
