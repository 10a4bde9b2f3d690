//! F05: macro calls, macro bodies and attributes.

pub(crate) mod attributes;
pub(crate) mod bodies;
pub(crate) mod calls;
pub(crate) mod tokens;
