//! Text from plugins: it is shown escaped or not at all.

use core::fmt;

use plugward_types::Part;
use plugward_types::escape;

/// Text written by the author of a plugin.
///
/// The type does not implement `Display`, because the text can contain escape sequences for a terminal or instructions
/// for a model. [`escaped`](Self::escaped) and [`as_untrusted`](Self::as_untrusted) name the two ways to use it.

// HyperAgent puts the description of every discovered plugin into the system message; this type prevents that by
// accident. See docs/source-documents.md.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignText(String);

impl ForeignText {
    /// Marks text as foreign.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text on one line; control, invisible and bidirectional characters are escaped.
    #[must_use]
    pub fn escaped(&self) -> String {
        escape(&self.0, usize::MAX)
    }

    /// Returns the text as written. The caller is responsible for where it is used.
    #[must_use]
    pub fn as_untrusted(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ForeignText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignText({} bytes)", self.0.len())
    }
}

/// Escapes characters that can mislead a terminal or a reader, and truncates after `most` characters.
pub(crate) fn escape(text: &str, most: usize) -> String {
    // Nearly all text is plain ASCII; this avoids a pass over its characters.
    if text.len() <= most && is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(most));
    for (count, (at, character)) in text.char_indices().enumerate() {
        if count == most {
            let more = text.part(at..).chars().count();
            out.push_str("… (");
            out.push_str(&more.to_string());
            out.push_str(" more)");
            break;
        }
        escape::push(&mut out, character);
    }
    out
}

/// Returns the first hidden character. In free text, a joiner between two parts of an emoji does not count.
///
/// A variation selector after a visible character, such as the one of `⚠️`, and the blank of Braille patterns never count:
/// they select a glyph and draw a picture.
pub(crate) fn hidden_in(text: &str, joiners: Joiners) -> Option<char> {
    if is_plain(text) {
        return None;
    }
    let is_hidden = |character: char| {
        escape::is_invisible(character)
            || (character.is_control() && !matches!(character, '\t' | '\n' | '\r'))
    };
    let has_braille = text.contains(|character| matches!(character, '\u{2801}'..='\u{28ff}'));
    let hidden = text.char_indices().find(|(at, character)| {
        // Most characters are printable ASCII, so this test comes first.
        if matches!(character, ' '..='~') || !is_hidden(*character) {
            return false;
        }
        let (before, after) = text.parts_at(*at);
        let (before, after) = (before.chars().next_back(), after.chars().nth(1));
        let is_harmless = match character {
            '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                before.is_some_and(|c| "0123456789#*".contains(c) || !(c.is_ascii() || is_hidden(c)))
            }
            '\u{2800}' => has_braille,
            // Emoji such as families contain joiners, and a warning for each of them would be noise.
            '\u{200d}' => {
                matches!(joiners, Joiners::InEmoji)
                    && before.is_some_and(is_emoji_part)
                    && after.is_some_and(is_emoji_part)
            }
            _ => false,
        };
        !is_harmless
    });
    hidden.map(|(_, character)| character)
}

/// Returns `true` if a text consists of printable ASCII. Whole chunks are tested so that the compiler vectorizes.
fn is_plain(text: &str) -> bool {
    text.as_bytes()
        .chunks(64)
        .all(|chunk| chunk.iter().fold(true, |plain, byte| plain & (0x20..0x7F).contains(byte)))
}

/// The treatment of U+200D, which is invisible and also joins the parts of an emoji.
#[derive(Clone, Copy)]
pub(crate) enum Joiners {
    InEmoji,
    Never,
}

/// Returns `true` for a character of the blocks used in emoji, variation selector and skin tones included.
const fn is_emoji_part(character: char) -> bool {
    matches!(
        character,
        '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
            | '\u{2460}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
            | '\u{3297}' | '\u{3299}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}'
    )
}
