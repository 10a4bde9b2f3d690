//! Lexers for JSON, TOML, YAML and settings files.
//!
//! They produce keys with their paths, decoded values, comments, and commands for other lexers.

mod cmake;
mod command;
mod context;
mod format;
mod ini;
mod json;
mod launch;
mod path;
mod scalar;
mod shell;
mod toml;
mod tree;
pub(crate) mod uri;
mod yaml;

pub(crate) use path::{KeyIndex, KeyPath, KeyPattern};

use super::Lexed;
use crate::entry::Role;
use crate::options::Limits;
use crate::sink::Sink;
use format::Format;
use tree::{DuplicateKeys, Tree};

/// Lexes a text as data.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    let format = format::of(sink.path, src);
    let manifest = matches!(sink.role, Role::Manifest | Role::Prompt);
    // Settings files may repeat a section or key.
    let counts = manifest && !matches!(format, Format::Ini | Format::Cmake);
    let duplicates = if counts { DuplicateKeys::Reported } else { DuplicateKeys::Allowed };
    let mut tree = Tree::new(src, sink, out, limits.brackets, duplicates);
    match format {
        Format::Json => json::read(&mut tree),
        Format::Toml => toml::read(&mut tree),
        Format::Yaml => yaml::read(&mut tree),
        Format::Ini => ini::read(&mut tree),
        Format::Cmake => cmake::read(&mut tree),
    }
    tree.finish();
}
