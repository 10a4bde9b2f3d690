//! From the items of plugins and hooks files to a plan of hooks.

pub(crate) mod define;
pub(crate) mod hook;
pub(crate) mod matcher;
pub(crate) mod plan;
