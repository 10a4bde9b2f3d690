//! Escaping of text from plugins for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes control characters, line breaks, bidirectional overrides and invisible characters.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unprintable(c) => {
                // Writing to a String cannot fail.
                if write!(out, "\\u{{{:x}}}", u32::from(c)).is_err() {
                    out.push('\u{fffd}');
                }
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Escapes each line and keeps the line breaks.
pub(crate) fn block(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(line).collect();
    lines.join("\n")
}

/// Returns `true` if a character must be escaped for a terminal.
pub(crate) fn is_unprintable(character: char) -> bool {
    character.is_control()
        // A blank that no word break recognizes can push text to the start of a terminal line.
        || (character.is_whitespace() && character != ' ')
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{2800}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_or_turns_text_survives() {
        assert_eq!(line("plain – ünï 漢 🎉"), "plain – ünï 漢 🎉");
        assert_eq!(line("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(line("a\u{202e}b\u{200b}c\u{e0041}"), "a\\u{202e}b\\u{200b}c\\u{e0041}");
        assert_eq!(line("two\nlines\u{9b}31m"), "two\\nlines\\u{9b}31m");
        assert_eq!(block("two\nlines\r"), "two\nlines\\r");
        assert_eq!(line("a\u{a0}b\u{3000}c"), "a\\u{a0}b\\u{3000}c");
    }
}
