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

pub use check::{LockCheck, LockDifference, LockOutcome, LockRule, SurfaceNotice};
pub use entry::{LockEntry, Source};
pub use error::LockError;
pub use file::{LOCK_BYTES, LOCK_ENTRIES, LockFacts, LockFile};
pub use json::{JSON_LOCK_BYTES, JsonLock, JsonLockCheck, Lock};
pub use migrate::{Migrant, Migration};
