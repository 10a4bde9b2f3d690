//! Hooks: their shapes in manifests and settings files, and the handlers that they start.

pub(crate) mod claude;
pub(crate) mod gnoma;
pub(crate) mod handler;
mod standalone;

pub use standalone::{HooksFile, read_hooks_file};
