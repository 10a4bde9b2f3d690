//! Paths: their syntax, and files that are looked up now and opened later.

pub(crate) mod check;
pub(crate) mod names;
pub(crate) mod relative;
pub(crate) mod sandboxed;
