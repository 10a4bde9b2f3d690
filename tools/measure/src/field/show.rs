//! Lines of corpus files, in a form that a terminal can print.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "reads a directory that the user names"
)]

use std::path::{Path, PathBuf};

/// The most characters of a line that are printed.
const WIDTH: usize = 200;
/// The characters before the column of a finding that a shortened line keeps.
const BEFORE: usize = 80;

/// The lines of one repository's files. The last file is kept, because findings are sorted by file.
pub(super) struct FileLines {
    repository: PathBuf,
    path: String,
    lines: Vec<String>,
}

impl FileLines {
    /// Reads files of one repository.
    pub(super) fn new(repository: PathBuf) -> Self {
        Self { repository, path: String::new(), lines: Vec::new() }
    }

    /// Returns one line, shortened around a column; `None` if the file has no such line.
    pub(super) fn excerpt(&mut self, path: &str, line: u64, column: u64) -> Option<String> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        self.open(path).get(at).map(|line| visible(&shorten(line, column)))
    }

    /// Returns a line and those around it, numbered and marked; empty if the file has no such line.
    pub(super) fn context(&mut self, path: &str, line: u64, column: u64, around: u64) -> String {
        let mut out = String::new();
        let end = line.saturating_add(around);
        for number in line.saturating_sub(around).max(1)..=end {
            let column = if number == line { column } else { 0 };
            let Some(text) = self.excerpt(path, number, column) else { continue };
            let mark = if number == line { '>' } else { ' ' };
            out.push_str(format!("  {mark} {number:>5} | {text}").trim_end());
            out.push('\n');
        }
        out
    }

    fn open(&mut self, path: &str) -> &[String] {
        if self.path != path {
            path.clone_into(&mut self.path);
            self.lines = read(&self.repository, path);
        }
        &self.lines
    }
}

fn read(repository: &Path, path: &str) -> Vec<String> {
    // A repository is a stranger's: a path or symlink in it can point anywhere.
    let file = repository.canonicalize().ok().and_then(|repository| {
        let file = repository.join(path).canonicalize().ok()?;
        file.starts_with(&repository).then_some(file)
    });
    let bytes = file.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

/// Returns a part of a line that contains the column.
fn shorten(line: &str, column: u64) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let column = usize::try_from(column).unwrap_or_default();
    let start = if column < WIDTH.saturating_sub(BEFORE) { 0 } else { column.saturating_sub(BEFORE) };
    let part: String = line.chars().skip(start).take(WIDTH).collect();
    let more = line.chars().count() > start.saturating_add(WIDTH);
    format!("{}{part}{}", if start > 0 { "…" } else { "" }, if more { "…" } else { "" })
}

/// Escapes characters that a terminal does not show as themselves.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if is_hidden(character) {
            out.push_str(&character.escape_unicode().to_string());
        } else if character == '\t' {
            out.push_str("    ");
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether a character is a control, zero-width, bidi, tag or variation-selector character.
fn is_hidden(character: char) -> bool {
    (character.is_control() && character != '\t')
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(visible("a\u{202e}b\u{1b}\tc\u{e0041}é"), "a\\u{202e}b\\u{1b}    c\\u{e0041}é");
    }

    #[test]
    fn a_long_line_is_cut_around_the_column() {
        let line = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let part = shorten(&line, 1001);
        assert!(part.contains('X') && part.starts_with('…') && part.ends_with('…'));
        assert_eq!(part.chars().count(), WIDTH + 2);
        assert!(shorten(&line, 1).starts_with('a'));
        assert_eq!(shorten("short", 3), "short");
    }

    #[test]
    fn files_outside_the_repository_are_not_read() {
        let mut lines = FileLines::new(PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        assert!(lines.excerpt("Cargo.toml", 1, 1).is_some_and(|line| line == "[package]"));
        assert!(lines.context("Cargo.toml", 1, 1, 4).starts_with("  >     1 | [package]\n        2 | name"));
        assert_eq!(lines.excerpt("../Cargo.toml", 1, 1), Some(String::new()));
        assert_eq!(lines.excerpt("Cargo.toml", 0, 1), None);
    }
}
