//! Rust and TOML syntax: parsing with limits, spanless paths and types, `cfg` predicates, and the bodies of macros.

pub(crate) mod cfg;
pub(crate) mod depth;
pub(crate) mod macro_rules;
pub(crate) mod name_list;
pub(crate) mod parse;
pub(crate) mod peel;
pub(crate) mod toml_table;
pub(crate) mod written;
