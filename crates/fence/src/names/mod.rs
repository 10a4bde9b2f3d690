//! The names of all scanned crates: definitions, the module tree, path resolution, and the capability inventory.

pub(crate) mod callers;
pub(crate) mod collect;
pub(crate) mod inventory;
pub(crate) mod macro_index;
pub(crate) mod modules;
pub(crate) mod resolve;
