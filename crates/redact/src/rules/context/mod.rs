//! Matchers for secrets that the text around them identifies: names, headers, URLs, command lines.

pub(crate) mod assign;
pub(crate) mod cli;
pub(crate) mod cloud;
pub(crate) mod header;
pub(crate) mod login;
pub(crate) mod near;
pub(crate) mod url;
pub(crate) mod value;
