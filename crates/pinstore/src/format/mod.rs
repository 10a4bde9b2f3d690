//! The text of the stored files: reading, writing, and older versions.

pub(crate) mod hash;
pub(crate) mod model;
pub(crate) mod old_formats;
pub(crate) mod reader;
pub(crate) mod writer;
