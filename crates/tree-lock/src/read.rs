//! Reading: every byte once, hashed as it comes, on as many threads as asked for.

use core::num::NonZeroUsize;
use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use plugward_sandbox_path::{Jail, SandboxedFile};
use sha2::{Digest as _, Sha256};

use crate::error::TreeError;
use crate::item::{Item, State};
use crate::limits::{Limit, Limits};
use crate::problem::TreeProblemKind;
use crate::progress::{Progress, Step};
use crate::walk::is_change;

/// How many files or folders a thread takes at a time.
const BATCH: usize = 32;

/// Whether contents are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Read and hash.
    Contents,
    /// The tree is refused anyway: look at each file's size and bits, to gather what else is wrong.
    Facts,
}

struct Work<'a> {
    jail: &'a Jail,
    limits: &'a Limits,
    depth: Depth,
    /// Bytes taken on so far; a file counts before its first byte is read.
    bytes: AtomicU64,
    files: AtomicU64,
    of: u64,
    /// The limit on all bytes was met: what follows is looked at and not read.
    full: AtomicBool,
    progress: &'a dyn Progress,
}

/// Reads all listed files in place. Gives the problem that is nobody's own: more bytes in all than the limit.
pub(crate) fn read_all(
    jail: &Jail,
    limits: &Limits,
    items: &mut [Item],
    depth: Depth,
    already: u64,
    jobs: NonZeroUsize,
    progress: &dyn Progress,
) -> Option<TreeProblemKind> {
    let of = items.iter().filter(|item| matches!(item.state, State::Listed)).count();
    let work = Work {
        jail,
        limits,
        depth,
        bytes: AtomicU64::new(already),
        files: AtomicU64::new(0),
        of: u64::try_from(of).unwrap_or(u64::MAX),
        full: AtomicBool::new(already > limits.bytes),
        progress,
    };
    each(items, jobs, |item| {
        if matches!(item.state, State::Listed) {
            item.state = work.file(&item.path);
        }
    });
    let full = work.full.load(Ordering::Relaxed);
    full.then_some(TreeProblemKind::Limit { limit: Limit::Bytes, max: limits.bytes })
}

/// Does something to every element, on up to `jobs` threads, the calling one among them.
pub(crate) fn each<T: Send>(items: &mut [T], jobs: NonZeroUsize, act: impl Fn(&mut T) + Sync) {
    let threads = jobs.get().min(items.len().div_ceil(BATCH));
    let batches = Mutex::new(items.chunks_mut(BATCH));
    let run = || {
        loop {
            // A poisoned lock would mean that taking a batch panicked, which it cannot.
            let batch = batches.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(batch) = batch else { break };
            batch.iter_mut().for_each(&act);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system gives no thread, the others do the work.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
}

impl Work<'_> {
    fn file(&self, path: &str) -> State {
        let state = self.read(path);
        let files = self.files.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.progress.step(Step { files, of: self.of, bytes });
        state
    }

    fn read(&self, path: &str) -> State {
        let error = |source: Box<dyn std::error::Error + Send + Sync>| {
            State::Error(Box::new(TreeError::io(path.as_bytes(), source)))
        };
        let file = match self.jail.open_read(path) {
            Ok(file) => file,
            Err(why) if is_change(&why) => return State::Fault(TreeProblemKind::ChangedWhileRead),
            Err(why) => return error(Box::new(why)),
        };
        let meta = *file.opened();
        if meta.mode() & 0o7000 != 0 {
            return State::Fault(TreeProblemKind::Setuid);
        }
        if meta.len() > self.limits.file_bytes {
            let (limit, max) = (Limit::FileBytes, self.limits.file_bytes);
            return State::Fault(TreeProblemKind::Limit { limit, max });
        }
        // What was taken on is never given back, so that the answer is the same in any order.
        let before = self.bytes.fetch_add(meta.len(), Ordering::Relaxed);
        if before.saturating_add(meta.len()) > self.limits.bytes {
            self.full.store(true, Ordering::Relaxed);
        }
        if self.depth == Depth::Facts || self.full.load(Ordering::Relaxed) {
            return State::Seen;
        }
        match contents(file, meta.len()) {
            Ok(Some((bytes, digest, after))) if after == meta => {
                State::Read { bytes, digest, mode: meta.mode() }
            }
            Ok(_) => State::Fault(TreeProblemKind::ChangedWhileRead),
            Err(why) => error(Box::new(why)),
        }
    }
}

type Contents = (Box<[u8]>, [u8; 32], plugward_sandbox_path::Metadata);

/// Reads exactly `size` bytes and then the end; `None` where the file is shorter or longer than it said.
fn contents(mut file: SandboxedFile, size: u64) -> std::io::Result<Option<Contents>> {
    let Ok(size) = usize::try_from(size) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_full| std::io::ErrorKind::OutOfMemory)?;
    while bytes.len() < size {
        if again(|| fill(&mut file, &mut bytes, size))? == 0 {
            return Ok(None);
        }
    }
    if again(|| file.read(&mut [0_u8]))? != 0 {
        return Ok(None);
    }
    let digest = Sha256::digest(&bytes).into();
    let after = file.meta()?;
    // An allocator may have given more room than was asked for, and all of it may be full.
    Ok((bytes.len() == size).then(|| (bytes.into_boxed_slice(), digest, after)))
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
