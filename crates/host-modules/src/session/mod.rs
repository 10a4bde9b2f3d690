//! Sessions with plugins and guests over lines of JSON, without I/O.

pub(crate) mod error;
pub(crate) mod guest;
mod message;
pub(crate) mod pipe;
pub(crate) mod plugin;
