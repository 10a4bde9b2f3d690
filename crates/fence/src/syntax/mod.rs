//! Rust and TOML as written, before any name has a meaning.

pub(crate) mod cfg;
pub(crate) mod depth;
pub(crate) mod parse;
pub(crate) mod peel;
pub(crate) mod toml_table;
pub(crate) mod written;

/// Returns `true` if a list of words in one string contains a name.
pub(crate) fn is_one_of(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}
