//! Text by plugin authors, escaped for a terminal or a message.
//!
//! Such text can contain terminal control sequences, characters that reorder a line, and characters that show nothing.

use std::borrow::Cow;

/// Returns `true` if a character shows nothing or changes how its neighbors are shown.
///
/// These are joiners, zero-width and bidi characters, line and paragraph separators, fillers, variation selectors,
/// tags and the blank of Braille. Control characters are not among them; see [`is_hidden`].
#[must_use]
pub const fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns `true` if a character must not be shown: a control character, an invisible one, or a blank other than the
/// space.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    // A blank that no word break recognizes can push text to the start of a terminal line.
    character.is_control() || is_invisible(character) || (character.is_whitespace() && character != ' ')
}

/// Escapes text for one line of a message: `\n`, `\r`, `\t`, and `\u{…}` for other hidden characters.
///
/// # Examples
/// ```
/// use plugward_types::escape;
///
/// assert_eq!(escape::line("two\nlines \u{1b}[2J"), "two\\nlines \\u{1b}[2J");
/// assert_eq!(escape::line("plain – ünï"), "plain – ünï");
/// ```
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    // Nearly all texts have nothing to escape and are not copied.
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        push(&mut out, character);
    }
    Cow::Owned(out)
}

/// Escapes each line of a text as [`line`](fn@line) does, and keeps the line breaks.
#[must_use]
pub fn block(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Escapes the bytes of a file name.
///
/// In addition to [`line`](fn@line), `\` becomes `\\`, and a byte that is not UTF-8 becomes `\x…`. Two different names
/// therefore never look the same.
///
/// # Examples
/// ```
/// use plugward_types::escape;
///
/// assert_eq!(escape::name(b"a\xff\\"), "a\\xff\\\\");
/// ```
#[must_use]
pub fn name(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                // Otherwise a name that contains the text `\n` would look like one that contains a line break.
                '\\' => out.push_str("\\\\"),
                other => push(&mut out, other),
            }
        }
        let escaped = chunk.invalid().iter().flat_map(|byte| core::ascii::escape_default(*byte));
        out.extend(escaped.map(char::from));
    }
    out
}

/// Appends one character, escaped as [`line`](fn@line) does.
pub fn push(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        hidden if is_hidden(hidden) => out.extend(hidden.escape_unicode()),
        shown => out.push(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_in_a_line() {
        for (text, shown) in [
            ("plain – ünï 漢 🎉", "plain – ünï 漢 🎉"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("a\u{202e}b\u{200b}c\u{e0041}", "a\\u{202e}b\\u{200b}c\\u{e0041}"),
            ("two\nlines\u{9b}31m", "two\\nlines\\u{9b}31m"),
            ("\r\t\0\u{7f}", "\\r\\t\\u{0}\\u{7f}"),
            ("a\u{2028}b\u{3000}c\u{2800}", "a\\u{2028}b\\u{3000}c\\u{2800}"),
        ] {
            assert_eq!(line(text), shown);
            assert!(!line(text).chars().any(is_hidden));
        }
        assert!(matches!(line("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_block_keeps_its_line_breaks() {
        assert_eq!(block("two\nlines\r"), "two\nlines\\r");
        assert_eq!(block(""), "");
    }

    #[test]
    fn different_names_never_look_the_same() {
        for (bytes, shown) in [
            (&b"hooks/run.sh"[..], "hooks/run.sh"),
            (b"a\nb", "a\\nb"),
            (b"a\\nb", "a\\\\nb"),
            (b"a\xff", "a\\xff"),
            (b"\x1b[2J", "\\u{1b}[2J"),
            ("gpj.\u{202e}exe".as_bytes(), "gpj.\\u{202e}exe"),
            ("caf\u{e9}".as_bytes(), "caf\u{e9}"),
            ("a\u{2028}b\u{a0}".as_bytes(), "a\\u{2028}b\\u{a0}"),
            ("a\u{85}".as_bytes(), "a\\u{85}"),
        ] {
            assert_eq!(name(bytes), shown);
        }
    }
}
