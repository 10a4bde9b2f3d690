//! The formats of data files, and their detection.

pub(super) mod cmake;
pub(super) mod detect;
pub(super) mod ini;
pub(super) mod json;
pub(super) mod toml;
pub(super) mod yaml;
