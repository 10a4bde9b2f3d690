//! Lexers for JSON, TOML, YAML and settings files.
//!
//! They produce keys with their paths, decoded values, comments, and commands for other lexers.

mod commands;
mod formats;
mod path;
mod scalar;
mod tree;
pub(crate) mod uri;

pub(crate) use path::{KeyIndex, KeyPath, KeyPattern};

use super::Lexed;
use crate::scan::entry::FileKind;
use crate::scan::options::ScanLimits;
use crate::scan::sink::Sink;
use formats::detect::Format;
use tree::{DuplicateKeys, Tree};

/// Lexes a text as data.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    let format = formats::detect::of(sink.path, src);
    let manifest = matches!(sink.role, FileKind::Manifest | FileKind::Prompt);
    // Settings files may repeat a section or key.
    let counts = manifest && !matches!(format, Format::Ini | Format::Cmake);
    let duplicates = if counts { DuplicateKeys::Reported } else { DuplicateKeys::Allowed };
    let mut tree = Tree::new(src, sink, out, limits.brackets, duplicates);
    match format {
        Format::Json => formats::json::read(&mut tree),
        Format::Toml => formats::toml::read(&mut tree),
        Format::Yaml => formats::yaml::read(&mut tree),
        Format::Ini => formats::ini::read(&mut tree),
        Format::Cmake => formats::cmake::read(&mut tree),
    }
    tree.finish();
}
