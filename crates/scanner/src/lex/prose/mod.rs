//! Prose: Markdown, reStructuredText, `AsciiDoc` and every other text.
//!
//! What a reader sees is one flow: line breaks, paragraphs, list marks and headings are blanks in it, so that an order
//! is found however it is laid out. What is not shown there (comments, definitions, addresses, the text of images) are
//! pieces of their own, and so is the text of a fence, which goes to the lens of its language besides.

mod block;
mod fence;
mod inline;
mod line;
mod tag;

use super::Lexed;
use crate::entry::{Lens, Role};
use crate::options::Limits;
use crate::sink::{Embedded, EmbeddedText, Lowered, Sink};
use crate::text::{FENCED, QUOTED, Within};
use crate::view::How;

/// How a text marks its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Markdown,
    Mdx,
    Rst,
    Adoc,
}

impl Dialect {
    fn of(path: &str) -> Self {
        let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "mdx" => Self::Mdx,
            "rst" => Self::Rst,
            "adoc" | "asciidoc" => Self::Adoc,
            _ => Self::Markdown,
        }
    }
}

/// Text beside the flow, read as a piece of its own.
#[derive(Debug)]
struct Side {
    within: Within,
    flags: u8,
    /// Ranges of the source; between two of them is a blank.
    parts: Vec<(usize, usize)>,
}

/// Whether text is the file's own or a quotation: in a block quote or a span of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Own,
    Quoted,
}

/// What the readers of blocks and of lines share.
struct Prose<'a, 's, 'r> {
    src: &'a [u8],
    sink: &'s mut Sink<'r>,
    out: &'s mut Lexed,
    dialect: Dialect,
    sides: Vec<Side>,
    /// A comment is open whose end has not come yet.
    comment: bool,
    /// The element that is not shown, and how many of its name are open.
    hidden: Option<(Vec<u8>, usize)>,
    /// Where the next `</script` stands, as far as it was looked for.
    script_end: Option<usize>,
}

/// Reads a text as prose.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, _limits: &Limits, out: &mut Lexed) {
    let dialect = Dialect::of(sink.path);
    let mut prose =
        Prose { src, sink, out, dialect, sides: Vec::new(), comment: false, hidden: None, script_end: None };
    prose.out.text.begin(Within::Prose, 0);
    block::read(&mut prose);
    prose.out.text.end();
    for side in core::mem::take(&mut prose.sides) {
        prose.out.text.begin(side.within, side.flags);
        for (start, end) in side.parts {
            prose.out.text.blank((start, start));
            prose.out.text.raw(src.get(start..end).unwrap_or_default(), start, How::NONE);
        }
        prose.out.text.end();
    }
}

impl Prose<'_, '_, '_> {
    /// Gives a flag where the file is read by people, and its quotations count less.
    fn in_doc(&self, flag: u8) -> u8 {
        if self.sink.role == Role::Doc { flag } else { 0 }
    }

    /// Flags of the flow: in a quotation or not, in an element that is not shown or not.
    fn flow(&mut self, said: Said) {
        let quoted = if said == Said::Quoted { self.in_doc(QUOTED) } else { 0 };
        let hidden = if self.hidden.is_some() { Within::Hidden.bit() } else { 0 };
        self.out.text.flags(Within::Prose, quoted | hidden);
    }

    fn side(&mut self, within: Within, flags: u8, parts: Vec<(usize, usize)>) {
        let parts: Vec<_> = parts.into_iter().filter(|(start, end)| start < end).collect();
        if !parts.is_empty() {
            self.sides.push(Side { within, flags, parts });
        }
    }

    /// Text that is not shown: matched as what it is and as hidden.
    fn hide(&mut self, within: Within, parts: Vec<(usize, usize)>) {
        self.side(within, Within::Hidden.bit(), parts);
    }

    fn embed(&mut self, lens: Lens, start: usize, end: usize) {
        if start < end {
            self.sink.embed(lens, EmbeddedText::Range(start, end));
        }
    }

    /// Hands a span of code that is a command to the lens of shells.
    fn embed_command(&mut self, start: usize, end: usize) {
        if self.sink.role != Role::Doc {
            self.embed(Lens::Sh, start, end);
        }
    }

    /// Hands a fence's code to its lens.
    fn embed_fence(&mut self, lens: Lens, text: EmbeddedText, flags: u8) {
        let lowered = if flags & FENCED == 0 { Lowered::No } else { Lowered::Yes };
        self.sink.embedded.push(Embedded { lens, text, lowered });
    }
}
