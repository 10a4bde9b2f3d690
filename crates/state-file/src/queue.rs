//! Waiting for the hold in the kernel's own queue, and no longer than was said.
//!
//! A call that waits for `flock` cannot be given an end. So it is made on a thread of its own, and the caller waits for
//! the thread. A thread whose caller went away gives up the hold as soon as it has it; the next caller of this process
//! that wants the same hold takes the thread over, so that there are never more of them than callers at one time.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs;

use crate::error::StateError;
use crate::file::StateFile;
use crate::hold::{Locked, wait_for_lock};

/// Device and inode of the folder, and the file's name.
type Key = (u64, u64, String);

/// The threads whose callers went away, and that still wait.
static LEFT: Mutex<BTreeMap<Key, Vec<Arc<Waiter>>>> = Mutex::new(BTreeMap::new());

/// One thread that waits, as its caller and the thread see it.
#[derive(Debug)]
struct Waiter {
    state: Mutex<State>,
    told: Condvar,
}

#[derive(Debug)]
enum State {
    /// Somebody waits for it.
    Wanted,
    /// Nobody does any more.
    Left,
    /// The thread is done, and this is what it brought.
    Brought(Result<Locked, StateError>),
    /// The thread is done, and nobody wanted to know.
    Over,
}

/// Nothing panics while a lock is held, and each state is whole at any moment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the hold until `most` is over; none where it was not to be had by then.
///
/// # Guarantees
/// Who waits gets it before those who came later, but for one who comes at the very moment when it is handed on.
pub(crate) fn wait(file: &StateFile, most: Duration) -> Result<Option<Locked>, StateError> {
    let failed = |source| StateError::io("wait for", &file.names.lock, source);
    let stat = fs::fstat(&*file.dir).map_err(|errno| failed(errno.into()))?;
    let key = (wide(stat.st_dev), wide(stat.st_ino), file.names.lock.clone());
    let waiter = match take_over(&key) {
        Some(waiter) => waiter,
        None => Waiter::start(file.clone()).map_err(failed)?,
    };
    let (mut state, _) = waiter
        .told
        .wait_timeout_while(lock(&waiter.state), most, |state| matches!(state, State::Wanted))
        .unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *state, State::Left) {
        State::Brought(brought) => brought.map(Some),
        State::Wanted | State::Left | State::Over => {
            drop(state);
            lock(&LEFT).entry(key).or_default().push(waiter);
            Ok(None)
        }
    }
}

/// Device and inode numbers have another width on each platform.
fn wide(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// Takes a thread that waits for nobody.
fn take_over(key: &Key) -> Option<Arc<Waiter>> {
    let mut left = lock(&LEFT);
    let waiters = left.get_mut(key)?;
    let found = core::iter::from_fn(|| waiters.pop()).find(|waiter| {
        let mut state = lock(&waiter.state);
        let waits = matches!(*state, State::Left);
        if waits {
            *state = State::Wanted;
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
        let waiter = Arc::new(Self { state: Mutex::new(State::Wanted), told: Condvar::new() });
        let shared = Arc::clone(&waiter);
        thread::Builder::new().name("hold".to_owned()).spawn(move || shared.bring(wait_for_lock(&file)))?;
        Ok(waiter)
    }

    fn bring(&self, brought: Result<Locked, StateError>) {
        let mut state = lock(&self.state);
        // Where nobody wants it the hold ends here, with what was brought.
        *state = if matches!(*state, State::Wanted) { State::Brought(brought) } else { State::Over };
        drop(state);
        self.told.notify_all();
    }
}
