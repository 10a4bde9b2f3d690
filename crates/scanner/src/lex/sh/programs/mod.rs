//! The meaning of programs that the lexer knows: wrappers, filters, downloaders, archivers, builtins.

pub(super) mod archives;
pub(super) mod downloaders;
pub(super) mod effects;
pub(super) mod filters;
pub(super) mod names;
