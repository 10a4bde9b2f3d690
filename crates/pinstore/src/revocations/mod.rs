//! Revocation lists, their entries, and the stored copies.

pub(crate) mod copies;
pub(crate) mod entry;
pub(crate) mod list;
