//! Text of strangers: shown escaped or not at all.

use core::fmt;

/// Text that a plugin's author wrote.
///
/// It has no `Display`: it may hold escape sequences for a terminal or instructions for a model. The two ways out
/// say what they give.
///
/// # Source
/// HyperAgent puts the description of every discovered plugin into the system message; this closes it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignText(String);

impl ForeignText {
    /// Marks text as foreign.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Gives it on one line for a person: control, invisible and bidirectional characters are escaped.
    #[must_use]
    pub fn escaped(&self) -> String {
        escape(&self.0, usize::MAX)
    }

    /// Gives it as written. Whoever takes it answers for where it goes.
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

/// Escapes what a terminal or a reader could be misled by, and cuts after `most` characters, saying how many more.
pub(crate) fn escape(text: &str, most: usize) -> String {
    if text.len() <= most && is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(most));
    let mut count = 0_usize;
    for (at, character) in text.char_indices() {
        if count == most {
            let more = text.get(at..).unwrap_or_default().chars().count();
            out.push_str("… (");
            out.push_str(&more.to_string());
            out.push_str(" more)");
            break;
        }
        count = count.saturating_add(1);
        if is_hidden(character) || matches!(character, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}') {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Says whether a character cannot be seen or changes the order of others: categories Cc and Cf, but for tab, CR
/// and LF.
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

/// Finds the first hidden character; in free text a joiner between two parts of an emoji is none.
pub(crate) fn hidden_in(text: &str, joiners: Joiners) -> Option<char> {
    if is_plain(text) {
        return None;
    }
    let hidden = text.char_indices().find(|(at, character)| {
        // Letters, digits and signs of ASCII are most of a text.
        if matches!(character, ' '..='~') || !is_hidden(*character) {
            return false;
        }
        let joins = matches!(joiners, Joiners::InEmoji) && *character == '\u{200d}';
        let (before, after) = text.split_at_checked(*at).unwrap_or_default();
        let in_emoji = before.chars().next_back().is_some_and(is_emoji_part)
            && after.chars().nth(1).is_some_and(is_emoji_part);
        !(joins && in_emoji)
    });
    hidden.map(|(_, character)| character)
}

/// Says whether a text has nothing but the characters of ASCII that show; many bytes at a time.
fn is_plain(text: &str) -> bool {
    text.as_bytes()
        .chunks(64)
        .all(|chunk| chunk.iter().fold(true, |plain, byte| plain & (0x20..0x7F).contains(byte)))
}

/// Whether U+200D may stand inside an emoji.
#[derive(Clone, Copy)]
pub(crate) enum Joiners {
    InEmoji,
    Never,
}

/// The blocks from which emoji sequences are put together, the variation selector and the skin tones among them.
const fn is_emoji_part(character: char) -> bool {
    matches!(
        character,
        '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
            | '\u{2460}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
            | '\u{3297}' | '\u{3299}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}'
    )
}
