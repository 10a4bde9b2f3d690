//! Finding plugins: roots, marketplaces, keys, and directories.

pub(crate) mod discover;
pub(crate) mod installed;
pub(crate) mod key;
pub(crate) mod markets;
pub(crate) mod nested;
pub(crate) mod roots;
pub(crate) mod survey;
pub(crate) mod unmarked;
