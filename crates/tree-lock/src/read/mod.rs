//! Reading a directory: list, resolve symlinks, read the files, list again.

pub(crate) mod directory;
pub(crate) mod files;
pub(crate) mod item;
pub(crate) mod links;
pub(crate) mod listing;
pub(crate) mod progress;
pub(crate) mod race;
pub(crate) mod take;
pub(crate) mod walk;
