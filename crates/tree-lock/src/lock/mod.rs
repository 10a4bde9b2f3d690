//! Lockfiles: PLUGINS.lock, and the older JSON lock.

mod check;
mod entry;
mod error;
mod file;
mod json;
mod merge;
mod migrate;
mod parse;
mod render;

pub use check::{LockCheck, LockDifference, LockOutcome, LockRule, SurfaceWarning};
pub use entry::{LockEntry, LockSource};
pub use error::LockError;
pub use file::{LOCK_BYTES, LOCK_ENTRIES, LockFacts, LockFile};
pub use json::{AnyLockFile, JSON_LOCK_BYTES, JsonLock, JsonLockCheck};
pub use migrate::{MigratedPlugin, Migration};
