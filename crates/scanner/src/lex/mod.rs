//! Lexers: they split a text into views, names, commands, keys and embedded code.
//!
//! Each language has a directory. The result of a lexer is [`Lexed`]; findings by name go to the [`Sink`].
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

pub(crate) mod data;
pub(crate) mod js;
mod prose;
pub(crate) mod py;
pub(crate) mod quote;
pub(crate) mod rs;
pub(crate) mod sh;
mod source;

use crate::scan::entry::Lens;
use crate::scan::options::ScanLimits;
use crate::scan::sink::Sink;
use crate::text::TextView;
use crate::text::view::View;

pub(crate) use prose::negation;

/// The views that a lexer builds. Facts that rules match by name go to the [`Sink`].
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// Code without comments and string contents, and with one space between words.
    pub(crate) code: View,
    /// Prose, comments, strings and values.
    pub(crate) text: TextView,
}

/// Converts an offset to 32 bits, which halve the memory of tokens and maps.
pub(crate) fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Returns `true` if a list of words, separated by spaces, contains a word.
fn has_word(list: &str, word: &[u8]) -> bool {
    list.split(' ').any(|known| known.as_bytes() == word)
}

/// Lexes a text in the language of `lens`.
pub(crate) fn lex(lens: Lens, src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    match lens {
        Lens::Js => js::lex(src, sink, limits, out),
        Lens::Data => data::lex(src, sink, limits, out),
        Lens::Prose => prose::lex(src, sink, limits, out),
        Lens::Py => py::lex(src, sink, limits, out),
        Lens::Sh => sh::lex(src, sink, limits, out),
        Lens::Rs => rs::lex(src, sink, limits, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;
    use crate::scan::sink::EmbeddedText;

    /// Returns the bytes that a lexer writes: views, embedded code and notes.
    fn work(lens: Lens, path: &str, text: &[u8]) -> usize {
        let mut sink = Sink::new(Rules::builtin(), Some(lens), path, &[]);
        let mut out = Lexed::default();
        lex(lens, text, &mut sink, &ScanLimits::DEFAULT, &mut out);
        let embedded = sink.embedded.iter().map(|embedded| match &embedded.text {
            EmbeddedText::Range(start, end) => end.saturating_sub(*start),
            EmbeddedText::View(view) => view.bytes.len(),
        });
        let views = out.code.bytes.len() + out.text.finish().view.bytes.len();
        embedded.sum::<usize>() + views + sink.unread.len()
    }

    #[test]
    fn twice_the_text_is_twice_the_work() {
        for (lens, path, head, piece) in [
            (Lens::Sh, "a.sh", "", "a=$((<<A\n<<A\n"),
            (Lens::Sh, "a.sh", "", "<<A $(<<B `<<C\n"),
            (Lens::Sh, "a.sh", "", "cat <<A\n$(cat <<B\n"),
            (Lens::Data, "a.yaml", "", "&a *a\n"),
            (Lens::Data, "a.yaml", "", "- &a b\n  c\n- *a\n"),
            (Lens::Prose, "a.md", "", "> - [a](b <!-- **c** \n"),
            (Lens::Prose, "a.md", "> > > > a\n", "```\na\n"),
            (Lens::Prose, "a.md", "", "<p hidden>![a\n"),
        ] {
            let once = work(lens, path, [head, &piece.repeat(20_000)].concat().as_bytes());
            let twice = work(lens, path, [head, &piece.repeat(40_000)].concat().as_bytes());
            assert!(twice <= once.saturating_mul(11) / 5, "{path} {piece:?}: {once} became {twice}");
        }
    }
}
