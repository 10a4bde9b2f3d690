//! Reading: every byte once, hashed as it comes, on as many threads as asked for.

use core::num::NonZeroUsize;
use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use plugward_sandbox_path::{Jail, SandboxedFile};
use sha2::{Digest as _, Sha256};

use crate::error::TreeError;
use crate::limits::{Limit, Limits};
use crate::problem::TreeProblemKind;
use crate::progress::{Progress, Step};
use crate::walk::{Item, State, is_change};

/// How much is read before it is hashed: small enough to be in the cache still.
const PIECE: usize = 256 << 10;
/// How many files a thread takes at a time.
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
    let threads = jobs.get().min(items.len().div_ceil(BATCH)).max(1);
    let batches = Mutex::new(items.chunks_mut(BATCH));
    let run = || {
        loop {
            // A poisoned lock would mean that taking a batch panicked, which it cannot.
            let batch = batches.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(batch) = batch else { break };
            for item in batch {
                if matches!(item.state, State::Listed) {
                    item.state = work.file(&item.path);
                }
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
        run();
    });
    let full = work.full.load(Ordering::Relaxed);
    full.then_some(TreeProblemKind::Limit { limit: Limit::Bytes, max: limits.bytes })
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
    bytes.resize(size, 0_u8);
    let mut hash = Sha256::new();
    for piece in bytes.chunks_mut(PIECE) {
        match file.read_exact(piece) {
            Ok(()) => hash.update(&*piece),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    loop {
        match file.read(&mut [0_u8]) {
            Ok(0) => break,
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let after = file.meta()?;
    Ok(Some((bytes.into_boxed_slice(), hash.finalize().into(), after)))
}
