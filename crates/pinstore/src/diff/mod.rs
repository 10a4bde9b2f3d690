//! Differences between a pinned plugin and its present state.

pub(crate) mod baselines;
pub(crate) mod compare;
pub(crate) mod hunks;
pub(crate) mod preimage;
