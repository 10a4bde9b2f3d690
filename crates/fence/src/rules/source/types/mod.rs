//! The types of expressions, as far as the source shows them.

pub(crate) mod arguments;
pub(crate) mod contents;
pub(crate) mod expected;
pub(crate) mod expressions;
