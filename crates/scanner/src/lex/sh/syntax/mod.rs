//! The grammar of the shell: lists of commands, simple commands, words, expansions.

pub(super) mod expansion;
pub(super) mod list;
pub(super) mod simple;
pub(super) mod word;
