//! Reads the names that a `.env` file sets, in the syntax of the package `dotenv`.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::Part;

/// A variable that a `.env` file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileVariable {
    /// The name.
    pub name: String,
    /// The offset of the name.
    pub at: usize,
    /// The value without its quotes. It can be a secret.
    pub value: String,
}

/// Returns the variables that a `.env` file sets. Bytes that are not UTF-8 belong to no name.
#[must_use]
pub fn file_variables(bytes: &[u8]) -> Vec<FileVariable> {
    let mut found = Vec::new();
    // A byte order mark is not part of the first name.
    let mut at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    while at < bytes.len() {
        let rest = bytes.part(at..);
        let length = match assignment(rest) {
            Some(Assignment { start, name, value, length }) => {
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                found.push(FileVariable { name: text(name), at: at + start, value: text(value) });
                length
            }
            None => line_length(rest),
        };
        at += length.max(1);
    }
    found
}

struct Assignment<'b> {
    /// The offset of the name.
    start: usize,
    name: &'b [u8],
    value: &'b [u8],
    /// The length with everything up to the end of the line.
    length: usize,
}

/// Reads `NAME=VALUE`, `export NAME=VALUE` or `NAME: VALUE` at the start of a text that starts with a line.
fn assignment(text: &[u8]) -> Option<Assignment<'_>> {
    let blank = |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let mut at = blank(text);
    if let Some(after) = text.get(at..)?.strip_prefix(b"export") {
        let blanks = blank(after);
        at += if blanks > 0 { "export".len() + blanks } else { 0 };
    }
    let name = text.get(at..)?;
    let name = name.get(..name.iter().take_while(is_name).count()).filter(|name| !name.is_empty())?;
    let start = at;
    at += name.len();
    let after = text.get(at..)?;
    // The package accepts line breaks before the sign.
    let blanks = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    match after.get(blanks..)? {
        [b'=', ..] => at += blanks + 1,
        [b':', b' ' | b'\t', ..] if blanks == 0 => at += 2,
        _ => return None,
    }
    let value = text.get(at..)?;
    at += blank(value);
    let value = text.get(at..)?;
    let (value, length) = quoted(value).unwrap_or_else(|| {
        let length = line_length(value);
        let line = value.get(..length).unwrap_or(value);
        // A comment needs no blank before it.
        (line.split(|byte| *byte == b'#').next().unwrap_or(line).trim_ascii(), length)
    });
    Some(Assignment { start, name, value, length: at + length })
}

/// Returns a quoted value, which can contain line breaks, and its length with the end of its line. Text after the
/// closing quote makes it a plain value.
fn quoted(text: &[u8]) -> Option<(&[u8], usize)> {
    let quote = text.first().filter(|quote| matches!(quote, b'"' | b'\'' | b'`'))?;
    let mut is_escaped = false;
    let end = text.iter().skip(1).position(|byte| {
        let is_end = byte == quote && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    let after = text.get(end + 2..)?;
    let rest = after.get(..line_length(after))?;
    let tail = rest.trim_ascii();
    (tail.is_empty() || tail.starts_with(b"#")).then(|| (text.part(1..=end), end + 2 + rest.len()))
}

/// Returns the length of the first line with its end.
fn line_length(text: &[u8]) -> usize {
    text.iter().position(|byte| matches!(byte, b'\n' | b'\r')).map_or(text.len(), |end| end + 1)
}
