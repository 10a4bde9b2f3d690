//! Names: what each file defines and imports, the modules of all crates, and the meaning of a path.

pub(crate) mod callers;
pub(crate) mod collect;
pub(crate) mod inventory;
pub(crate) mod modules;
pub(crate) mod resolve;
pub(crate) mod scopes;
