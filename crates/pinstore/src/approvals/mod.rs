//! Approvals of audited plugins, and their file.

pub(crate) mod approval;
pub(crate) mod store;
