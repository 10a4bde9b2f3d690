//! F01 to F04: expressions that construct a capability.

pub(crate) mod calls;
pub(crate) mod general;
pub(crate) mod literal;
pub(crate) mod raw_memory;
