//! Progress of a read.

/// The progress of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadProgress {
    /// The number of files that are done.
    pub files: u64,
    /// The number of all files.
    pub of: u64,
    /// The size of the files that are done or being read, in bytes.
    pub bytes: u64,
}

/// Receives the progress after every file, on the thread that read the file. It should return quickly.
///
/// # Examples
/// ```
/// use plugward_tree_lock::{Progress, ReadProgress};
/// let show = |step: ReadProgress| assert!(step.files <= step.of);
/// fn takes(_: &dyn Progress) {}
/// takes(&show);
/// ```
pub trait Progress: Sync {
    /// Receives the new figures. With several threads they can arrive out of order.
    fn step(&self, step: ReadProgress);
}

impl<F: Fn(ReadProgress) + Sync> Progress for F {
    fn step(&self, step: ReadProgress) {
        self(step);
    }
}

/// Discards the progress.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Silent;

impl Progress for Silent {
    fn step(&self, _: ReadProgress) {}
}
