//! Text from plugins: it is shown escaped or not at all.

use core::fmt;

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
            let more = text.get(at..).unwrap_or_default().chars().count();
            out.push_str("… (");
            out.push_str(&more.to_string());
            out.push_str(" more)");
            break;
        }
        if is_hidden(character) || matches!(character, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}') {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Returns `true` if a character is invisible or reorders others: categories Cc and Cf without tab, CR and LF.
pub(crate) const fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}'
            | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns the first hidden character. In free text, a joiner between two parts of an emoji does not count.
pub(crate) fn hidden_in(text: &str, joiners: Joiners) -> Option<char> {
    if is_plain(text) {
        return None;
    }
    let hidden = text.char_indices().find(|(at, character)| {
        // Most characters are printable ASCII, so this test comes first.
        if matches!(character, ' '..='~') || !is_hidden(*character) {
            return false;
        }
        // Emoji such as families contain joiners, and a warning for each of them would be noise.
        let joins = matches!(joiners, Joiners::InEmoji) && *character == '\u{200d}';
        let (before, after) = text.split_at_checked(*at).unwrap_or_default();
        let in_emoji = before.chars().next_back().is_some_and(is_emoji_part)
            && after.chars().nth(1).is_some_and(is_emoji_part);
        !(joins && in_emoji)
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
