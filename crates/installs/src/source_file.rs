//! The bytes of a record, and the syntax in which they are read.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BTreeSet;

use plugward_manifest::json::{self, JsonNode, ParseLimits};
use plugward_types::{Digest, LineColumn, LineEnds, LineIndex, Part, escape};
use sha2::{Digest as _, Sha256};

use crate::parts::{FoundSetting, quoted};
use crate::{FileFormat, SettingsFinding, json5, yaml};

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Json,
    JsonWithComments,
    /// With comments and commas after the last item.
    JsonWithCommas,
    Json5,
    Toml,
    Yaml,
    Text,
}

/// A file that was read, but not parsed.
///
/// The nodes borrow from the bytes, so the file outlives them.
pub(crate) struct SourceFile {
    pub(crate) path: String,
    bytes: Vec<u8>,
    syntax: Syntax,
    is_blank: bool,
    /// The reason that the file could not be rewritten as JSON.
    fault: Option<String>,
}

/// Blanks what tools accept in JSON besides the standard: a byte order mark, comments, and commas after the last item.
pub fn blank_extensions(bytes: &mut [u8]) {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        blank(bytes, 0, 3);
    }
    blank_comments(bytes);
    blank_last_commas(bytes);
}

/// Records are larger than files of plugins. The number of values limits the memory of a hostile file to about 128 MiB.
const LIMITS: ParseLimits =
    ParseLimits::standard().with_bytes(64 << 20).with_depth(64).with_values(2_000_000).with_string(64 << 20);

/// People write files in TOML, and each of its tables takes many times its bytes.
const TOML_LIMITS: ParseLimits = LIMITS.with_bytes(4 << 20);

impl SourceFile {
    pub(crate) fn new(path: String, mut bytes: Vec<u8>, syntax: Syntax) -> Self {
        // Hosts accept a byte order mark at the start.
        if !matches!(syntax, Syntax::Toml | Syntax::Text) && bytes.starts_with(b"\xef\xbb\xbf") {
            blank(&mut bytes, 0, 3);
        }
        let mut fault = None;
        if matches!(syntax, Syntax::Json5 | Syntax::Yaml) {
            match rewritten(&bytes, syntax) {
                Ok(json) => bytes = json.into_bytes(),
                Err(message) => fault = Some(message),
            }
        }
        if !matches!(syntax, Syntax::Toml | Syntax::Text) {
            replace_surrogates(&mut bytes);
        }
        let is_blank = fault.is_none() && bytes.iter().all(u8::is_ascii_whitespace);
        if matches!(syntax, Syntax::JsonWithComments | Syntax::JsonWithCommas) {
            blank_comments(&mut bytes);
        }
        if matches!(syntax, Syntax::JsonWithCommas | Syntax::Json5) {
            blank_last_commas(&mut bytes);
        }
        Self { path, bytes, syntax, is_blank, fault }
    }

    /// Returns `true` if there is nothing in the file. Hosts read an empty settings file as an empty object.
    pub(crate) const fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Puts the contents, which are JSON, at the keys of an object.
    pub(crate) fn inside(mut self, keys: &[String]) -> Self {
        let before = keys.iter().fold(String::new(), |before, key| before + "{" + &quoted(key) + ":");
        let after = "}".repeat(keys.len());
        self.bytes = [before.as_bytes(), &self.bytes, after.as_bytes()].concat();
        self
    }

    /// Returns the file as text; the error is a message with its place.
    pub(crate) fn text(&self) -> Result<&str, String> {
        core::str::from_utf8(&self.bytes)
            .map_err(|error| format!("expected UTF-8, got other bytes at offset {}", error.valid_up_to()))
    }

    /// Returns the line of an offset, from 1.
    pub(crate) fn line(text: &str, offset: usize) -> u32 {
        LineIndex::new(text.as_bytes(), LineEnds::Text).line(offset)
    }

    /// Returns findings with their lines. Most files have none, so lines are counted only if they are needed.
    pub(crate) fn findings(&self, found: &BTreeSet<FoundSetting>) -> Vec<SettingsFinding> {
        if found.is_empty() {
            return Vec::new();
        }
        let ends = if self.syntax == Syntax::Toml { LineEnds::Lf } else { LineEnds::Text };
        let lines = LineIndex::new(&self.bytes, ends);
        let digest = Digest::from_bytes(Sha256::digest(&self.bytes).into());
        let place = |one: &FoundSetting| {
            let LineColumn { line, column } = lines.line_column(one.span.start);
            let FoundSetting { span, code, severity, scope, name, message } = one.clone();
            SettingsFinding {
                code,
                severity,
                scope,
                file: self.path.clone(),
                line,
                column,
                span,
                name,
                message,
                digest,
            }
        };
        found.iter().map(place).collect()
    }

    /// Parses the file, which must contain one object or table; the error is a message with its place.
    pub(crate) fn parse(&self) -> Result<JsonNode<'_>, String> {
        if let Some(message) = &self.fault {
            return Err(message.clone());
        }
        let root = match self.syntax {
            Syntax::Toml => json::parse_toml(&self.bytes, &TOML_LIMITS),
            Syntax::Text => return Err("expected an object, got a text".to_owned()),
            _ => json::parse(&self.bytes, &LIMITS),
        };
        let root = root.map_err(|errors| escape::line(&errors.to_string()).into_owned())?;
        let is_object = root.members().is_some();
        if is_object { Ok(root) } else { Err(format!("expected an object, got {}", root.type_name())) }
    }
}

/// Returns JSON with the meaning of JSON5 or YAML.
fn rewritten(bytes: &[u8], syntax: Syntax) -> Result<String, String> {
    let text = core::str::from_utf8(bytes)
        .map_err(|error| format!("expected UTF-8, got other bytes at offset {}", error.valid_up_to()))?;
    if syntax == Syntax::Yaml { yaml::normalized(text) } else { Ok(json5::normalized(text)) }
}

impl From<FileFormat> for Syntax {
    fn from(format: FileFormat) -> Self {
        match format {
            FileFormat::Json | FileFormat::Jsonc => Self::JsonWithCommas,
            FileFormat::Json5 => Self::Json5,
            FileFormat::Toml => Self::Toml,
            FileFormat::Yaml => Self::Yaml,
            FileFormat::Env => Self::Text,
        }
    }
}

/// Replaces each comma that no item follows with a space. Comments are blank already.
fn blank_last_commas(bytes: &mut [u8]) {
    let mut at = 0;
    let mut comma = None;
    while let Some(byte) = bytes.get(at).copied() {
        let length = match byte {
            b'"' => string_length(bytes.part(at..)),
            _ => 1,
        };
        match byte {
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    blank(bytes, comma, 1);
                }
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += length;
    }
}

/// Replaces comments with spaces, so that offsets and lines stay the same.
///
/// An unclosed comment is left as it is, because no host accepts it.
pub(crate) fn blank_comments(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let length = match (byte, bytes.get(at + 1)) {
            (b'"', _) => string_length(bytes.part(at..)),
            (b'/', Some(b'/')) => {
                let rest = bytes.part(at..);
                let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
                blank(bytes, at, length);
                length
            }
            (b'/', Some(b'*')) => {
                let inner = bytes.part(at + 2..);
                let Some(end) = inner.windows(2).position(|pair| pair == b"*/") else { return };
                blank(bytes, at, end + 4);
                end + 4
            }
            _ => 1,
        };
        at += length;
    }
}

fn blank(bytes: &mut [u8], start: usize, length: usize) {
    for byte in bytes.iter_mut().skip(start).take(length).filter(|byte| !matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

/// Replaces escaped surrogates without a partner, which JavaScript accepts, by U+FFFD, which it writes for them.
fn replace_surrogates(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match (surrogate(bytes, at), surrogate(bytes, at + 6)) {
            (Some(true), Some(false)) => 12,
            (Some(_), _) => {
                bytes.iter_mut().skip(at + 2).zip(*b"fffd").for_each(|(byte, new)| *byte = new);
                6
            }
            (None, _) => 2,
        };
    }
}

/// Returns `true` for the escape of a high surrogate and `false` for that of a low one.
fn surrogate(bytes: &[u8], at: usize) -> Option<bool> {
    let [b'\\', b'u', b'd' | b'D', kind, more @ ..] = bytes.get(at..at + 6)? else { return None };
    match kind.to_ascii_lowercase() {
        _ if !more.iter().all(u8::is_ascii_hexdigit) => None,
        b'8'..=b'9' | b'a'..=b'b' => Some(true),
        b'c'..=b'f' => Some(false),
        _ => None,
    }
}

/// Returns the length of a string with its quotes, up to the end of the text if it is not closed.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}
