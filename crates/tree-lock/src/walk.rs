//! Listing a tree on several threads, before any file is read.

use core::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use plugward_sandbox_path::Jail;

use crate::directory::{Found, Rules};
use crate::error::TreeError;
use crate::exclude::Excludes;
use crate::item::Listed;
use crate::limits::{Limit, Limits};
use crate::problem::{TreeProblem, TreeProblemKind};

/// The number of pending directories from which further threads are worth their start.
const WORTH: usize = 4;

/// Lists a tree. Excluded names at the root are neither listed, counted nor entered.
///
/// The result does not depend on the order in which threads list directories. A directory that cannot be listed does not
/// stop the others, and if there are too many entries, that is the only reported problem.
pub(crate) fn list(
    jail: &Jail,
    limits: &Limits,
    exclude: &Excludes,
    jobs: NonZeroUsize,
) -> Result<Listed, TreeError> {
    let rules = Rules { jail, limits, exclude };
    // A snapshot stores indexes in 32 bits.
    let queue = Queue::new(limits.entries.min(u32::MAX as usize));
    let mut found = Found::default();
    queue.work(&rules, &mut found, Until::Worth(jobs));
    if queue.is_worth() && jobs.get() > 1 {
        let others = Mutex::new(Vec::new());
        let run = || {
            let mut own = Found::default();
            queue.work(&rules, &mut own, Until::Done);
            own.sort();
            others.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs.get() {
                // Without a new thread, the existing ones do the work.
                if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                    break;
                }
            }
            queue.work(&rules, &mut found, Until::Done);
            found.sort();
        });
        for other in others.into_inner().unwrap_or_else(PoisonError::into_inner) {
            found.append(other);
        }
    }
    if queue.turn().is_over {
        let max = u64::try_from(limits.entries).unwrap_or(u64::MAX);
        let kind = TreeProblemKind::Limit { limit: Limit::Entries, max };
        let problems = vec![TreeProblem::new(Vec::new(), kind)];
        return Ok(Listed { problems, is_cut: true, is_partial: true, ..Listed::default() });
    }
    // The part of each thread is sorted already, so this is a merge.
    found.sort();
    found.into_listed()
}

/// The condition on which a thread stops working.
#[derive(Clone, Copy)]
enum Until {
    /// No directory is left.
    Done,
    /// Enough directories are pending for more threads, if `jobs` allows more.
    Worth(NonZeroUsize),
}

/// The directories that are known and not listed yet, shared by the threads.
struct Queue {
    turn: Mutex<Turn>,
    more: Condvar,
    most: usize,
}

#[derive(Debug)]
struct Turn {
    pending: Vec<Box<str>>,
    /// The number of directories that are being listed, each of which may add more.
    under_way: usize,
    /// The number of entries so far.
    seen: usize,
    /// Set once there are more entries than the limit.
    is_over: bool,
    waiting: usize,
}

/// A directory that is being listed. Other threads wait for it, so `Drop` counts it down even after a panic.
struct UnderWay<'a> {
    queue: &'a Queue,
    directories: Vec<Box<str>>,
    entries: usize,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut turn = self.queue.turn();
        turn.under_way = turn.under_way.saturating_sub(1);
        turn.seen = turn.seen.saturating_add(self.entries);
        turn.is_over |= turn.seen > self.queue.most;
        turn.pending.append(&mut self.directories);
        if turn.waiting > 0 {
            self.queue.more.notify_all();
        }
    }
}

impl Queue {
    fn new(most: usize) -> Self {
        let pending = vec![Box::from("")];
        let turn = Turn { pending, under_way: 0, seen: 0, is_over: false, waiting: 0 };
        Self { turn: Mutex::new(turn), more: Condvar::new(), most }
    }

    /// Locks the state. No code panics while it holds the lock, so a poisoned lock is still consistent.
    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_worth(&self) -> bool {
        let turn = self.turn();
        turn.pending.len() >= WORTH && !turn.is_over
    }

    /// Takes a directory and the rest of the entry limit. Waits while other threads may still add directories.
    fn take(&self) -> Option<(Box<str>, usize)> {
        let mut turn = self.turn();
        loop {
            if turn.is_over {
                return None;
            }
            if let Some(path) = turn.pending.pop() {
                turn.under_way = turn.under_way.saturating_add(1);
                return Some((path, self.most.saturating_sub(turn.seen)));
            }
            if turn.under_way == 0 {
                return None;
            }
            turn.waiting = turn.waiting.saturating_add(1);
            turn = self.more.wait(turn).unwrap_or_else(PoisonError::into_inner);
            turn.waiting = turn.waiting.saturating_sub(1);
        }
    }

    fn work(&self, rules: &Rules<'_>, found: &mut Found, until: Until) {
        loop {
            if let Until::Worth(jobs) = until
                && jobs.get() > 1
                && self.is_worth()
            {
                return;
            }
            let Some((path, room)) = self.take() else { return };
            let mut under_way = UnderWay { queue: self, directories: Vec::new(), entries: 0 };
            under_way.entries = rules.visit(path, room, found, &mut under_way.directories);
        }
    }
}
