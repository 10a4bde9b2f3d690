//! Files of environment variables, which some hosts load before they start.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use plugward_types::Span;

use super::variables::VariableReach;
use super::{Judge, NamedSetting};
use crate::parts::Parts;

/// The most bytes of such a file. Real ones have a few KiB.
pub(crate) const LIMIT: usize = 1 << 20;

/// A variable of a file.
pub(crate) struct Assignment<'t> {
    /// The name, as part of the text.
    pub(crate) name: &'t str,
    /// The offset of the name.
    pub(crate) at: usize,
    /// The value without its quotes.
    pub(crate) value: &'t str,
}

/// Judges the variables of a file. The others, such as keys, are not part of what counts.
pub(crate) fn judge(judge: &Judge, text: &str, parts: &mut Parts) {
    for Assignment { name, at, value } in assignments(text) {
        let setting = NamedSetting { name, span: Span::new(at, at + name.len()) };
        if judge.variable(parts, setting, value, VariableReach::Host) {
            parts.add_variable(name, value);
        }
    }
}

/// Returns the variables of a text: `NAME=VALUE`, `export NAME=VALUE` and `NAME: VALUE`, with values in quotes that can
/// have several lines. As for the hosts, a line of any other form is nothing.
pub(crate) fn assignments(text: &str) -> Vec<Assignment<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (length, assignment) = one(rest, line, at);
        found.extend(assignment);
        at += length.max(1);
    }
    found
}

/// Reads one line, whose value can go on after its end, and returns the number of bytes that were read.
fn one(rest: &str, line: usize, at: usize) -> (usize, Option<Assignment<'_>>) {
    let blank = |text: &str| text.len() - text.trim_start_matches([' ', '\t', '\u{feff}']).len();
    let Some(text) = rest.get(..line) else { return (line + 1, None) };
    let mut start = blank(text);
    if let Some(more) = text.get(start..).and_then(|text| text.strip_prefix("export")) {
        start += if more.starts_with([' ', '\t']) { "export".len() + blank(more) } else { 0 };
    }
    let name_end = |text: &str| {
        text.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c))).unwrap_or(text.len())
    };
    let name = text.get(start..).and_then(|text| text.get(..name_end(text))).unwrap_or_default();
    let mut after = start + name.len();
    let between = text.get(after..).unwrap_or_default();
    let is_colon = between.starts_with(": ") || between.starts_with(":\t");
    let sign = between.trim_start_matches([' ', '\t']);
    if name.is_empty() || !(is_colon || sign.starts_with('=')) {
        return (line + 1, None);
    }
    after += if is_colon { 1 } else { between.len() - sign.len() + 1 };
    after += blank(text.get(after..).unwrap_or_default());
    let assignment = |value| Some(Assignment { name, at: at + start, value });
    let value = rest.get(after..).unwrap_or_default();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some((quote, inner)) = quote.and_then(|quote| Some((quote, value.get(1..)?)))
        && let Some(end) = closing(inner, quote)
    {
        let rest_of_line = inner.get(end..).unwrap_or_default();
        let more = rest_of_line.find(['\n', '\r']).unwrap_or(rest_of_line.len());
        return (after + 1 + end + more + 1, assignment(inner.get(..end).unwrap_or_default()));
    }
    let value = text.get(after..).unwrap_or_default();
    (line + 1, assignment(value.split('#').next().unwrap_or_default().trim()))
}

/// Returns the place of the closing quote.
fn closing(inner: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    inner.char_indices().find_map(|(at, c)| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}
