//! F05: macro calls, macro bodies and attributes.

pub(crate) mod calls;
pub(crate) mod tokens;
