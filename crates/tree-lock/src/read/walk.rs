//! Listing a tree on several threads, before any file is read.

use core::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use plugward_sandbox_path::Jail;

use crate::problem::error::TreeError;
use crate::problem::{TreeProblem, TreeProblemKind};
use crate::read::directory::{ListingRules, PartialListing};
use crate::read::item::TreeListing;
use crate::tree::exclude::Excludes;
use crate::tree::limits::{TreeLimit, TreeLimits};

/// The number of pending directories from which further threads are worth their start.
const MIN_PENDING: usize = 4;

/// Lists a tree. Excluded names at the root are neither listed, counted nor entered.
///
/// The result does not depend on the order in which threads list directories. A directory that cannot be listed does
/// not stop the others, and if there are too many entries, that is the only reported problem.
pub(crate) fn list(
    jail: &Jail,
    limits: &TreeLimits,
    exclude: &Excludes,
    jobs: NonZeroUsize,
) -> Result<TreeListing, TreeError> {
    let rules = ListingRules { jail, limits, exclude };
    // A snapshot stores indexes in 32 bits.
    let queue = Queue::new(limits.entries.min(u32::MAX as usize));
    let mut found = PartialListing::default();
    // Most plugins are a few directories. They are listed before any thread would have started.
    queue.work(&rules, &mut found, StopCondition::WorthThreads(jobs));
    if queue.has_work_for_threads() && jobs.get() > 1 {
        let others = Mutex::new(Vec::new());
        let run = || {
            // Each thread collects its own part, because a shared one would need a lock for each entry.
            let mut own = PartialListing::default();
            queue.work(&rules, &mut own, StopCondition::Empty);
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
            queue.work(&rules, &mut found, StopCondition::Empty);
            found.sort();
        });
        for other in others.into_inner().unwrap_or_else(PoisonError::into_inner) {
            found.append(other);
        }
    }
    if queue.state().is_over_limit {
        let max = u64::try_from(limits.entries).unwrap_or(u64::MAX);
        let kind = TreeProblemKind::Limit { limit: TreeLimit::Entries, max };
        let problems = vec![TreeProblem::new(Vec::new(), kind)];
        return Ok(TreeListing { problems, is_cut: true, is_partial: true, ..TreeListing::default() });
    }
    // The part of each thread is sorted already, so this is a merge.
    found.sort();
    found.into_listed()
}

/// The condition on which a thread stops working.
#[derive(Clone, Copy)]
enum StopCondition {
    /// No directory is left.
    Empty,
    /// Enough directories are pending for more threads, if `jobs` allows more.
    WorthThreads(NonZeroUsize),
}

/// The directories that are known and not listed yet, shared by the threads.
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
    limit: usize,
}

#[derive(Debug)]
struct QueueState {
    pending: Vec<Box<str>>,
    /// The number of directories that are being listed, each of which may add more.
    active: usize,
    /// The number of entries so far.
    seen: usize,
    /// Set once there are more entries than the limit.
    is_over_limit: bool,
    waiting: usize,
}

/// A directory that is being listed. Other threads wait for it, so `Drop` counts it down even after a panic.
struct DirectoryInProgress<'a> {
    queue: &'a Queue,
    directories: Vec<Box<str>>,
    entries: usize,
}

impl Drop for DirectoryInProgress<'_> {
    fn drop(&mut self) {
        // On drop and not at the end of `visit`, so that a panic does not leave the other threads waiting
        // forever.
        let mut state = self.queue.state();
        state.active = state.active.saturating_sub(1);
        state.seen = state.seen.saturating_add(self.entries);
        state.is_over_limit |= state.seen > self.queue.limit;
        state.pending.append(&mut self.directories);
        // Waking costs a system call, so it is left out if no thread waits.
        if state.waiting > 0 {
            self.queue.changed.notify_all();
        }
    }
}

impl Queue {
    fn new(limit: usize) -> Self {
        let pending = vec![Box::from("")];
        let state = QueueState { pending, active: 0, seen: 0, is_over_limit: false, waiting: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new(), limit }
    }

    /// Locks the state. No code panics while it holds the lock, so a poisoned lock is still consistent.
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_work_for_threads(&self) -> bool {
        let state = self.state();
        state.pending.len() >= MIN_PENDING && !state.is_over_limit
    }

    /// Takes a directory and the rest of the entry limit. Waits while other threads may still add directories.
    fn take(&self) -> Option<(Box<str>, usize)> {
        let mut state = self.state();
        loop {
            if state.is_over_limit {
                return None;
            }
            if let Some(path) = state.pending.pop() {
                state.active = state.active.saturating_add(1);
                return Some((path, self.limit.saturating_sub(state.seen)));
            }
            // An empty queue is not the end while a directory is being listed, because it may add
            // subdirectories.
            if state.active == 0 {
                return None;
            }
            state.waiting = state.waiting.saturating_add(1);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting = state.waiting.saturating_sub(1);
        }
    }

    fn work(&self, rules: &ListingRules<'_>, found: &mut PartialListing, until: StopCondition) {
        loop {
            if let StopCondition::WorthThreads(jobs) = until
                && jobs.get() > 1
                && self.has_work_for_threads()
            {
                return;
            }
            let Some((path, room)) = self.take() else { return };
            let mut active = DirectoryInProgress { queue: self, directories: Vec::new(), entries: 0 };
            active.entries = rules.visit(path, room, found, &mut active.directories);
        }
    }
}
