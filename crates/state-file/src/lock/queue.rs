//! Waiting for the lock in the kernel's queue, with a time limit.
//!
//! A blocking `flock` has no time limit. It is called on a thread of its own, and the caller waits for the thread. If
//! the caller's time limit ends first, the thread releases the lock as soon as it gets it. The next caller of this
//! process that wants the same lock takes over the thread, so there are never more threads than concurrent callers.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs;

use crate::error::StateError;
use crate::file::StateFile;
use crate::lock::{FlockGuard, wait_for_lock};

/// Device and inode of the directory, and the name of the lock file.
type Key = (u64, u64, String);

/// The threads that still wait and have no caller.
static ABANDONED: Mutex<BTreeMap<Key, Vec<Arc<Waiter>>>> = Mutex::new(BTreeMap::new());

/// The state that a waiting thread shares with its caller.
#[derive(Debug)]
struct Waiter {
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Debug)]
enum State {
    /// The thread waits, and a caller waits for it.
    Waiting,
    /// The thread waits, and no caller does.
    Abandoned,
    /// The thread is done, with this result.
    Done(Result<FlockGuard, StateError>),
    /// The thread was done when it had no caller.
    Discarded,
}

/// Locks a mutex. No code panics while it has the mutex, so a poisoned one is still consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the lock for at most `most`. Returns `None` after that.
///
/// # Guarantees
/// Callers get the lock in the order of their calls, except for a call at the very moment of a release.
pub(crate) fn wait(file: &StateFile, most: Duration) -> Result<Option<FlockGuard>, StateError> {
    let failed = |source| StateError::io("wait for", &file.names.lock, source);
    let stat = fs::fstat(&*file.dir).map_err(|errno| failed(errno.into()))?;
    let key = (wide(stat.st_dev), wide(stat.st_ino), file.names.lock.clone());
    let waiter = match take_over(&key) {
        Some(waiter) => waiter,
        None => Waiter::start(file.clone()).map_err(failed)?,
    };
    let (mut state, _) = waiter
        .done
        .wait_timeout_while(lock(&waiter.state), most, |state| matches!(state, State::Waiting))
        .unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *state, State::Abandoned) {
        State::Done(result) => result.map(Some),
        State::Waiting | State::Abandoned | State::Discarded => {
            drop(state);
            lock(&ABANDONED).entry(key).or_default().push(waiter);
            Ok(None)
        }
    }
}

/// Widens a device or inode number, whose type differs between platforms.
fn wide(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// Takes over a waiting thread that has no caller.
fn take_over(key: &Key) -> Option<Arc<Waiter>> {
    let mut left = lock(&ABANDONED);
    let waiters = left.get_mut(key)?;
    let found = core::iter::from_fn(|| waiters.pop()).find(|waiter| {
        let mut state = lock(&waiter.state);
        let waits = matches!(*state, State::Abandoned);
        if waits {
            *state = State::Waiting;
        }
        waits
    });
    if waiters.is_empty() {
        left.remove(key);
    }
    found
}

impl Waiter {
    fn start(file: StateFile) -> std::io::Result<Arc<Self>> {
        let waiter = Arc::new(Self { state: Mutex::new(State::Waiting), done: Condvar::new() });
        let shared = Arc::clone(&waiter);
        thread::Builder::new().name("lock".to_owned()).spawn(move || shared.finish(wait_for_lock(&file)))?;
        Ok(waiter)
    }

    fn finish(&self, result: Result<FlockGuard, StateError>) {
        let mut state = lock(&self.state);
        // Without a caller, dropping the result releases the lock.
        *state = if matches!(*state, State::Waiting) { State::Done(result) } else { State::Discarded };
        drop(state);
        self.done.notify_all();
    }
}
