//! The bytes of a plugin: snapshots, shared directories, private copies, and what the scanner reads of them.

pub(crate) mod audit;
pub(crate) mod closure;
pub(crate) mod closure_facts;
pub(crate) mod hash;
pub(crate) mod hints;
pub(crate) mod material;
pub(crate) mod seal;
pub(crate) mod secrets;
pub(crate) mod shared;
pub(crate) mod subject;
pub(crate) mod trees;
pub(crate) mod vcs;
pub(crate) mod view;
