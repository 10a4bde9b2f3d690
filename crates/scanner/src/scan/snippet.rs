//! The snippet of a finding: one line, escaped, with secrets masked and encoded runs decoded.

use core::ops::Range;

use plugward_types::{LineEnds, LineIndex, Part, base64, code_points, hex};

use crate::rules::Rules;
use crate::scan::file::secrets;
use crate::text::encoded::{self, Uris};

/// The most characters of a snippet.
const SNIPPET: usize = 120;
/// How many bytes before a position are shown with it.
const BEFORE: usize = 64;
/// The most characters of a decoded run.
const DECODED: usize = 76;
/// The most bytes of an encoded run that are decoded for display.
const SHOWN: usize = 8192;
/// The most layers of encoding that are undone for display.
const LAYERS: usize = 3;

/// Line and column of offsets in one text. Offsets are queried in rising order, so that a long line is counted once.
pub(crate) struct Places<'a> {
    text: &'a [u8],
    index: LineIndex<'a>,
    last: (usize, u32, u32),
    /// The ranges of secrets, disjoint and in order.
    secrets: Vec<(usize, usize)>,
}

impl<'a> Places<'a> {
    /// Indexes a text up to `limit`, the last offset that will be queried.
    pub(crate) fn new(text: &'a [u8], limit: usize, ends: LineEnds, secrets: Vec<(usize, usize)>) -> Self {
        // A line feed ends a line in both modes, so the line of the last offset is complete.
        let rest = text.part(limit..);
        let more = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let seen = text.get(..limit + more).unwrap_or(text);
        Self { text, index: LineIndex::new(seen, ends), last: (0, 1, 1), secrets: apart(secrets) }
    }

    /// Starts counting again, so that the next offset can be any.
    pub(crate) const fn restart(&mut self) {
        self.last = (0, 1, 1);
    }

    /// Returns the line and column of an offset.
    pub(crate) fn place(&mut self, at: usize) -> (u32, u32) {
        let line = self.index.line(at);
        let (from, column) = if line == self.last.1 && at >= self.last.0 {
            (self.last.0, self.last.2)
        } else {
            (self.index.range(line).start, 1)
        };
        let more = self.text.get(from..at).map_or(0, code_points);
        let column = column.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        // An offset inside a character is not stored: the next count would begin in its middle.
        if self.text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80) {
            self.last = (at, line, column);
        }
        (line, column)
    }

    /// Returns the line around a match, shortened and escaped, and the characters of it that belong to the match.
    pub(crate) fn excerpt(&self, at: usize, end: usize) -> (String, Range<usize>) {
        let text = self.snippet(at);
        let Range { start, end: line_end } = self.index.range(self.index.line(at));
        let from = self.head(start, at);
        let shown = |to: usize| {
            let text = masked(self.text, (from, to), &self.secrets);
            text.trim_start().chars().map(|char| escape(char).chars().count()).sum::<usize>()
        };
        let before = usize::from(text.starts_with('\u{2026}'));
        let length = text.chars().count();
        let first = (before + shown(at)).min(length);
        let last = (before + shown(end.min(line_end))).min(length);
        // A match that is a line break, or is masked, is marked by the character where it begins.
        (text, first..last.max(first + 1))
    }

    /// Returns the line around an offset, shortened and escaped.
    pub(crate) fn snippet(&self, at: usize) -> String {
        let Range { start, end } = self.index.range(self.index.line(at));
        let from = self.head(start, at);
        let to = end.min(at.saturating_add(SNIPPET.saturating_mul(4)));
        let text = masked(self.text, (from, to), &self.secrets);
        if self.text.part(start..from).trim_ascii().is_empty() {
            return cut(&text, SNIPPET);
        }
        format!("\u{2026}{}", cut(&text, SNIPPET.saturating_sub(1)))
    }

    /// Returns where the shown part of a line begins: at its start, at a near word, or at a whole character.
    fn head(&self, start: usize, at: usize) -> usize {
        let from = start.max(at.saturating_sub(BEFORE));
        if from == start {
            return start;
        }
        // A secret that the cut would split is shown by its head.
        let next = self.secrets.partition_point(|(_, end)| *end <= from);
        if let Some((first, _)) = self.secrets.get(next).filter(|(first, end)| *first <= from && *end <= at) {
            return start.max(*first);
        }
        let near = self.text.part(from..at);
        let blank = near.iter().position(u8::is_ascii_whitespace);
        let inside = || near.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
        from + blank.map_or_else(inside, |blank| blank + 1)
    }

    /// Returns the snippet with the decoded text of the encoded run from `start` to `end`.
    pub(crate) fn decoded(&self, rules: &Rules, start: usize, end: usize) -> String {
        let plain = self.snippet(start);
        let run = self.text.part(start..end.min(start + SHOWN));
        let Some(text) = decoded(run) else { return plain };
        let hidden = apart(secrets(rules, &text));
        let said = cut(&masked(&text, (0, text.len()), &hidden), DECODED);
        if said.is_empty() {
            return plain;
        }
        let room = SNIPPET.saturating_sub(said.chars().count()).saturating_sub(3);
        let head: String = plain.chars().take(room).collect();
        format!("{} ⇒ {said}", head.trim_end())
    }

    /// Returns the first characters of a secret and its length.
    pub(crate) fn secret(&self, start: usize, end: usize) -> String {
        hidden(self.text.part(start..end))
    }
}

fn hidden(secret: &[u8]) -> String {
    let head: String = String::from_utf8_lossy(secret).chars().take(4).map(escape).collect();
    format!("{head}… ({} bytes)", secret.len())
}

/// Merges overlapping spans and sorts them.
fn apart(mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    spans.sort_unstable();
    let mut out: Vec<(usize, usize)> = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}

/// Returns a range of a text, with only the heads of the secrets in it.
fn masked(text: &[u8], (from, to): (usize, usize), secrets: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let mut at = from;
    let first = secrets.partition_point(|(_, end)| *end <= from);
    for &(start, end) in secrets.part(first..) {
        if start >= to {
            break;
        }
        out.push_str(&String::from_utf8_lossy(text.part(at..start.max(at))));
        out.push_str(&hidden(text.part(start..end)));
        at = end;
    }
    out.push_str(&String::from_utf8_lossy(text.part(at.min(to)..to)));
    out
}

/// Returns as much of a text as fits, escaped, with line breaks as blanks.
fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0_usize;
    for char in text.trim().chars() {
        let before = out.len();
        push_escaped(&mut out, if matches!(char, '\n' | '\r') { ' ' } else { char });
        let shown = out.part(before..);
        count += shown.chars().count();
        if count > most {
            out.truncate(before);
            break;
        }
    }
    out
}

/// Decodes an encoded run.
fn decoded(run: &[u8]) -> Option<Vec<u8>> {
    if let Some(text) = characters(run) {
        return Some(text);
    }
    let mut text = layer(run).or_else(|| short(run))?;
    for _ in 1..LAYERS {
        match layer(&text) {
            Some(next) => text = next,
            None => break,
        }
    }
    Some(text)
}

/// Decodes the run that makes up most of a text.
fn layer(text: &[u8]) -> Option<Vec<u8>> {
    let found = encoded::find(text, Uris::Here);
    let length = |view: &crate::text::view::View| {
        let (start, end, _) = view.map.back(0, view.bytes.len());
        end.saturating_sub(start)
    };
    let longest = found.into_iter().max_by_key(|found| length(&found.view))?;
    (length(&longest.view).saturating_mul(2) > text.len()).then_some(longest.view.bytes)
}

/// Decodes a short run in a command.
fn short(text: &[u8]) -> Option<Vec<u8>> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=');
    let shown = |bytes: &Vec<u8>| !bytes.is_empty() && bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let runs = text.split(|byte| !part(byte)).filter(|run| run.len() >= 4);
    let read = runs.filter_map(|run| {
        hex::decode(run)
            .filter(shown)
            .or_else(|| Some(base64::decode_lenient(run)).filter(shown))
            .map(|said| (run.len(), said))
    });
    read.max_by_key(|(len, _)| *len).map(|(_, said)| said)
}

/// Decodes tag characters and variation selectors.
fn characters(run: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for char in run.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
        let code = u32::from(char);
        let byte = match code {
            0xE0020..=0xE007E => code.checked_sub(0xE0000),
            0xFE00..=0xFE0F => code.checked_sub(0xFE00),
            0xE0100..=0xE01EF => code.checked_sub(0xE0100).and_then(|byte| byte.checked_add(16)),
            _ => None,
        };
        out.extend(byte.and_then(|byte| u8::try_from(byte).ok()));
    }
    (!out.is_empty()).then_some(out)
}

/// Escapes a character so that a terminal shows it and does not act on it.
pub(crate) fn escape(char: char) -> String {
    let mut out = String::new();
    push_escaped(&mut out, char);
    out
}

fn push_escaped(out: &mut String, char: char) {
    if char == '\t' {
        out.push(' ');
    } else if char.is_control() || crate::text::unicode::is_invisible(char) {
        out.push_str(&format!("\\u{{{:x}}}", u32::from(char)));
    } else {
        out.push(char);
    }
}
