//! A tree as a value: its entries, its list and digest, and the rules for names and limits.

pub(crate) mod digested;
pub(crate) mod entry;
pub(crate) mod exclude;
pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod name;
pub(crate) mod snapshot;
