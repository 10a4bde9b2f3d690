//! Replies of hooks, rewritten arguments, and reports.

pub(crate) mod reply;
pub(crate) mod report;
pub(crate) mod rewrite;
