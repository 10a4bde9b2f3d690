//! Reading: every byte once, hashed as it comes, on as many threads as asked for.

use core::num::NonZeroUsize;
use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use plugward_sandbox_path::{Jail, RaceCause, SandboxedFile};
use sha2::{Digest as _, Sha256};

use crate::error::TreeError;
use crate::item::{Item, State};
use crate::limits::{Limit, Limits};
use crate::problem::TreeProblemKind;
use crate::progress::{Progress, Step};
use crate::race::{report_change, report_error};

/// How many files or folders a thread takes at a time, at most.
const BATCH: usize = 32;
/// For fewer than this many each, no further thread is started.
const WORTH: usize = 16;
/// What a thread reads into where nothing is kept.
const BUFFER: usize = 128 << 10;

/// Whether contents are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Read and hash.
    Contents,
    /// The tree is refused anyway: look at each file's size and bits, to gather what else is wrong.
    Facts,
}

/// Whether what was read and hashed is held on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All bytes: for a snapshot.
    Bytes,
    /// Nothing but the digest: each thread reads into one buffer, over and over.
    Nothing,
}

/// How to read the files.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) depth: Depth,
    pub(crate) keep: Keep,
    pub(crate) jobs: NonZeroUsize,
    pub(crate) progress: &'a dyn Progress,
}

struct Work<'a> {
    jail: &'a Jail,
    how: How<'a>,
    /// Bytes taken on so far; a file counts before its first byte is read.
    bytes: AtomicU64,
    files: AtomicU64,
    of: u64,
    /// The limit on all bytes was met: what follows is looked at and not read.
    full: AtomicBool,
}

/// Reads all listed files in place. Gives the problem that is nobody's own: more bytes in all than the limit.
pub(crate) fn read_all(
    jail: &Jail,
    items: &mut [Item],
    already: u64,
    how: How<'_>,
) -> Option<TreeProblemKind> {
    let of = items.iter().filter(|item| matches!(item.state, State::Listed)).count();
    let max = how.limits.bytes;
    let work = Work {
        jail,
        how,
        bytes: AtomicU64::new(already),
        files: AtomicU64::new(0),
        of: u64::try_from(of).unwrap_or(u64::MAX),
        full: AtomicBool::new(already > max),
    };
    let act = |buffer: &mut Vec<u8>, item: &mut Item| {
        if matches!(item.state, State::Listed) {
            item.state = work.file(&item.path, buffer);
        }
    };
    each_with(items, how.jobs, Vec::new, act, || ());
    let full = work.full.load(Ordering::Relaxed);
    full.then_some(TreeProblemKind::Limit { limit: Limit::Bytes, max })
}

/// Does something to every element, on up to `jobs` threads; the calling one does something else first.
pub(crate) fn each_beside<T: Send>(
    items: &mut [T],
    jobs: NonZeroUsize,
    act: impl Fn(&mut T) + Sync,
    first: impl FnOnce(),
) {
    each_with(items, jobs, || (), |(), item| act(item), first);
}

/// Does something to every element with something of the thread's own, on up to `jobs` threads, the calling one among
/// them once it has done what it has to do first.
///
/// Whoever is done takes the next few, so that a thread with a large file has fewer of the others.
fn each_with<S, T: Send>(
    items: &mut [T],
    jobs: NonZeroUsize,
    own: impl Fn() -> S + Sync,
    act: impl Fn(&mut S, &mut T) + Sync,
    first: impl FnOnce(),
) {
    let threads = jobs.get().min(items.len().div_ceil(WORTH));
    let batch = items.len().div_ceil(threads.saturating_mul(8).max(1)).clamp(1, BATCH);
    let batches = Mutex::new(items.chunks_mut(batch));
    let run = || {
        let mut own = own();
        loop {
            // A poisoned lock would mean that taking a batch panicked, which it cannot.
            let batch = batches.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(batch) = batch else { break };
            for item in batch {
                act(&mut own, item);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system gives no thread, the others do the work.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        first();
        run();
    });
}

impl Work<'_> {
    fn file(&self, path: &str, buffer: &mut Vec<u8>) -> State {
        let state = self.read(path, buffer);
        let files = self.files.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.how.progress.step(Step { files, of: self.of, bytes });
        state
    }

    fn read(&self, path: &str, buffer: &mut Vec<u8>) -> State {
        let error = |source: Box<dyn std::error::Error + Send + Sync>| {
            State::Error(Box::new(TreeError::io(path.as_bytes(), source)))
        };
        let file = match self.jail.open_read(path) {
            Ok(file) => file,
            Err(why) if report_error(self.jail, path, &why) => {
                return State::Fault(TreeProblemKind::ChangedWhileRead);
            }
            Err(why) => return error(Box::new(why)),
        };
        let meta = *file.opened();
        if meta.mode() & 0o7000 != 0 {
            return State::Fault(TreeProblemKind::Setuid);
        }
        if meta.len() > self.how.limits.file_bytes {
            let (limit, max) = (Limit::FileBytes, self.how.limits.file_bytes);
            return State::Fault(TreeProblemKind::Limit { limit, max });
        }
        // What was taken on is never given back, so that the answer is the same in any order.
        let before = self.bytes.fetch_add(meta.len(), Ordering::Relaxed);
        if before.saturating_add(meta.len()) > self.how.limits.bytes {
            self.full.store(true, Ordering::Relaxed);
        }
        if self.how.depth == Depth::Facts || self.full.load(Ordering::Relaxed) {
            return State::Seen;
        }
        let read = match self.how.keep {
            Keep::Bytes => contents(file, meta.len()),
            Keep::Nothing => hash(file, meta.len(), buffer),
        };
        match read {
            Ok(Some(Contents { bytes, digest, after })) if after == meta => {
                State::Read { bytes, size: meta.len(), digest, mode: meta.mode() }
            }
            Ok(read) => {
                // A file without a name was unlinked while it was read; any other difference is a write.
                let is_gone = read.is_some_and(|read| read.after.links() == 0);
                let cause = if is_gone { RaceCause::Vanished } else { RaceCause::Changed };
                report_change(self.jail, path, cause);
                State::Fault(TreeProblemKind::ChangedWhileRead)
            }
            Err(why) => error(Box::new(why)),
        }
    }
}

struct Contents {
    bytes: Vec<u8>,
    digest: [u8; 32],
    /// The file as it was after its last byte.
    after: plugward_sandbox_path::Metadata,
}

/// Reads exactly `size` bytes and then the end; `None` where the file is shorter or longer than it said.
fn contents(mut file: SandboxedFile, size: u64) -> std::io::Result<Option<Contents>> {
    let Some((size, room)) = usize::try_from(size).ok().and_then(|size| Some((size, size.checked_add(1)?)))
    else {
        return Ok(None);
    };
    // One byte more than the file states shows the end of the file in the same call that reads its last byte. The
    // spare byte is kept: some allocators copy the whole file to give it back.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_full| std::io::ErrorKind::OutOfMemory)?;
    loop {
        let before = bytes.len();
        let read = again(|| fill(&mut file, &mut bytes, room))?;
        // There was room for more and the file had none: that was its end.
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

/// Hashes exactly `size` bytes up to the end, a buffer at a time; `None` where the file is shorter or longer than it said.
fn hash(mut file: SandboxedFile, size: u64, buffer: &mut Vec<u8>) -> std::io::Result<Option<Contents>> {
    if buffer.is_empty() {
        buffer.try_reserve_exact(BUFFER).map_err(|_full| std::io::ErrorKind::OutOfMemory)?;
        buffer.resize(BUFFER, 0);
    }
    let mut hash = Sha256::new();
    let mut seen = 0_u64;
    loop {
        let read = again(|| file.read(buffer))?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            break;
        };
        seen = seen.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        if seen > size {
            return Ok(None);
        }
        hash.update(part);
        // There was room for more and the file had none: that was its end.
        if seen == size && read < buffer.len() {
            break;
        }
    }
    let digest = hash.finalize().into();
    let after = file.meta()?;
    Ok((seen == size).then(|| Contents { bytes: Vec::new(), digest, after }))
}

/// Repeats a call that a signal interrupted.
fn again<T>(mut call: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Reads into the room that is left, which is not written twice for that.
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
