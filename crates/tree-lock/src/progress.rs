//! How far a read has come, for whoever watches a terminal.

/// How far a read has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Files done.
    pub files: u64,
    /// Files in all.
    pub of: u64,
    /// Bytes taken on.
    pub bytes: u64,
}

/// Is told of every file that is done, from the thread that did it. It should return at once.
///
/// # Example
/// ```
/// use plugward_tree_lock::{Progress, Step};
/// let show = |step: Step| assert!(step.files <= step.of);
/// fn takes(_: &dyn Progress) {}
/// takes(&show);
/// ```
pub trait Progress: Sync {
    /// Receives the newest figures. With several threads they can arrive out of order.
    fn step(&self, step: Step);
}

impl<F: Fn(Step) + Sync> Progress for F {
    fn step(&self, step: Step) {
        self(step);
    }
}

/// Discards the progress.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Silent;

impl Progress for Silent {
    fn step(&self, _: Step) {}
}
