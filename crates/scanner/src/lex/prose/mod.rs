//! Prose: Markdown, and every other text without a lexer of its own.
//!
//! All visible text of a file is one piece, in which line breaks, paragraphs, list marks and headings are
//! spaces, so that rules match an instruction in any layout. Hidden text (comments, definitions, titles,
//! alternative texts, hidden elements) is scanned as hidden, in separate pieces. A code block is a piece of
//! its own as well, and is passed to the lexer of its language.

mod fence;
mod html;
pub(super) mod imperative;
pub(crate) mod negation;

use core::ops::Range;
use std::borrow::Cow;

use plugward_types::Part;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::Lexed;
use crate::scan::entry::{FileKind, Lens};
use crate::scan::options::ScanLimits;
use crate::scan::sink::{Embedded, EmbeddedText, Lowered, Sink};
use crate::text::view::Obfuscations;
use crate::text::{FENCED, QUOTED, Within};
use fence::Fence;

/// Longer texts are parsed in sections, because the parser needs about 60 bytes per byte of hostile input.
const SECTION: usize = 1 << 20;
/// The longest section, if no blank line outside of fences ends it earlier.
const LONGEST: usize = 4 << 20;
/// The most containers (quotes and lists) per line. The parser visits every open container on each line, so
/// unlimited nesting would take quadratic time.
const CONTAINERS: usize = 64;
/// The last column at which a container may begin, for the same reason.
const COLUMN: usize = 256;

/// Text outside the visible flow, scanned as a piece of its own.
#[derive(Debug)]
struct SideText {
    within: Within,
    flags: u8,
    /// Ranges of the source, separated by a space.
    parts: Vec<(usize, usize)>,
}

/// The state of the lexer between two parser events.
struct Prose<'a, 's, 'r> {
    src: &'a [u8],
    sink: &'s mut Sink<'r>,
    out: &'s mut Lexed,
    sides: Vec<SideText>,
    /// Visible text that is not in the text view yet, because the next event may extend it.
    waiting: Range<usize>,
    /// The end of the source that events have covered.
    done: usize,
    /// Open block quotes.
    quotes: usize,
    /// The start of the open image, and the ranges of its alternative text.
    alt: Option<(usize, Vec<(usize, usize)>)>,
    /// Set if the next text begins a block.
    begins: bool,
    /// Set in a table row after the header, in which `|` separates cells.
    row: bool,
    /// Set if the end of a comment is in a later block.
    comment: bool,
    /// The name of the open hidden element, and the depth of elements with that name.
    hidden: Option<(Vec<u8>, usize)>,
    /// The offset of the next `</script`, as far as it was searched.
    script_end: Option<usize>,
    /// The offset of the last `</title`, once it was searched; 0 if there is none.
    last_title: Option<usize>,
}

/// Lexes a text as prose.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, _limits: &ScanLimits, out: &mut Lexed) {
    let mut prose = Prose {
        src,
        sink,
        out,
        sides: Vec::new(),
        waiting: 0..0,
        done: 0,
        quotes: 0,
        alt: None,
        begins: true,
        row: false,
        comment: false,
        hidden: None,
        script_end: None,
        last_title: None,
    };
    prose.out.text.begin(Within::Prose, 0);
    prose.done = prose.front_matter();
    let mut at = prose.done;
    while at < src.len() {
        let end = section(src, at);
        prose.section(at, end);
        at = end;
    }
    prose.out.text.end();
    for side in core::mem::take(&mut prose.sides) {
        prose.out.text.begin(side.within, side.flags);
        for (start, end) in side.parts {
            prose.out.text.blank((start, start));
            prose.out.text.raw(src.part(start..end), start, Obfuscations::NONE);
        }
        prose.out.text.end();
    }
}

/// Returns the end of the section that begins at `start`: a blank line outside of fences, if there is one.
fn section(src: &[u8], start: usize) -> usize {
    let rest = src.part(start..);
    if rest.len() <= LONGEST {
        return src.len();
    }
    let (mut at, mut fenced) = (0_usize, false);
    for line in rest.part(..LONGEST).split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        // Splitting inside a fence would turn its rest into text.
        fenced ^= text.starts_with(b"```") || text.starts_with(b"~~~");
        // A blank line ends most blocks, so the parser loses little context.
        if at >= SECTION && !fenced && text.is_empty() {
            break;
        }
        at += line.len();
    }
    start + at.max(1)
}

/// Returns a section as UTF-8 for the parser, with every byte at its offset.
///
/// Invalid bytes become question marks, and marks that would open too many containers become letters.
fn parsable(section: &[u8]) -> Cow<'_, str> {
    let mut text = core::str::from_utf8(section).map_or_else(
        |_| {
            let mut text = String::with_capacity(section.len());
            for chunk in section.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| '?'));
            }
            Cow::Owned(text)
        },
        Cow::Borrowed,
    );
    let mut at = 0_usize;
    for line in section.split_inclusive(|byte| *byte == b'\n') {
        if let Some(mark) = surplus(line).and_then(|mark| mark.checked_add(at)) {
            text.to_mut().replace_range(mark..=mark, "x");
        }
        at += line.len();
    }
    text
}

/// Returns the offset of the first container mark of a line that exceeds the limits.
fn surplus(line: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    for count in 0_usize.. {
        at += blanks(line.get(at..)?);
        let rest = line.get(at..)?;
        let len = match rest {
            [b'>', ..] | [b'-' | b'*' | b'+', b' ' | b'\t' | b'\r' | b'\n', ..] => 1,
            [b'0'..=b'9', ..] => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            [b'.' | b')', ..] if count > 0 => 1,
            _ => return None,
        };
        if count >= CONTAINERS || at > COLUMN {
            return Some(at);
        }
        at += len;
    }
    None
}

/// Returns the number of spaces at the start of a line.
fn blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Returns the ranges of the lines, without their breaks.
fn lines(src: &[u8], range: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let mut at = range.start;
    src.part(range).split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let start = at;
        at += line.len();
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        (start, start + text.strip_suffix(b"\r").unwrap_or(text).len())
    })
}

/// The longest command in a sentence. It bounds the search for the end of the command.
const LONGEST_COMMAND: usize = 1024;
/// Programs that begin a command in a sentence and download or output data.
const COMMANDS: &[&[u8]] = &[b"curl ", b"wget ", b"env |", b"printenv"];
/// What ends such a command after its last pipe.
const ENDS: &[&[u8]] =
    &[b". ", b", ", b" to ", b" and ", b" then ", b" which ", b" before ", b" in order", b" (", b": "];

impl Prose<'_, '_, '_> {
    /// Passes front matter to the lexer for data, and adds it as prose. Returns the start of the rest.
    fn front_matter(&mut self) -> usize {
        let bom = if self.src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let mut rest = lines(self.src, bom..self.src.len());
        let text = |(start, end)| self.src.part(start..end).trim_ascii_end();
        let Some(first) = rest.next() else { return bom };
        let closes: &[&[u8]] = match text(first) {
            b"---" => &[b"---", b"..."],
            b"+++" => &[b"+++"],
            _ => return bom,
        };
        let mut parts = Vec::new();
        for line in rest {
            if closes.contains(&text(line)) {
                let start = first.1 + 1;
                self.embed(Lens::Data, start, line.0);
                self.side(Within::Prose, 0, parts);
                return line.1;
            }
            parts.push((line.0 + blanks(text(line)), line.1));
        }
        bom
    }

    fn section(&mut self, base: usize, end: usize) {
        let text = parsable(self.src.part(base..end));
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
        // Code and HTML blocks arrive as several events, and are processed as a whole at their end.
        let mut code: Option<Fence> = None;
        let mut html: Option<Range<usize>> = None;
        for (event, range) in Parser::new_ext(&text, options).into_offset_iter() {
            let range = base + range.start..base + range.end;
            match event {
                Event::Text(_) => match &mut code {
                    Some(code) => code.push(range),
                    None => self.text(range),
                },
                Event::Code(_) => self.code(range),
                Event::InlineHtml(_) => {
                    self.reach(range.start);
                    self.html(range);
                }
                Event::Html(_) => html.iter_mut().for_each(|html| html.end = range.end),
                Event::SoftBreak | Event::HardBreak => self.line_end(range),
                Event::TaskListMarker(_) => {
                    self.block(range.start);
                    self.done = range.end;
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    self.block(range.start);
                    let fenced = matches!(kind, CodeBlockKind::Fenced(_));
                    let label = if let CodeBlockKind::Fenced(label) = &kind { label.as_bytes() } else { b"" };
                    code = Some(Fence::new(self.src.part(range), fenced.then(|| fence::code(label))));
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some(code) = code.take() {
                        self.reach(code.start().min(range.end));
                        code.finish(self);
                    }
                    self.done = range.end;
                }
                Event::Start(Tag::HtmlBlock) => {
                    self.block(range.start);
                    self.reach(range.start);
                    html = Some(range.start..range.start);
                }
                Event::End(TagEnd::HtmlBlock) => {
                    if let Some(html) = html.take() {
                        self.html(html.clone());
                        self.fences(html);
                    }
                    self.block(range.end);
                }
                Event::Start(Tag::Image { .. }) => {
                    self.flush();
                    let alt = self.alt.get_or_insert_default();
                    alt.0 += 1;
                }
                Event::End(TagEnd::Image) => {
                    if let Some((open, parts)) = &mut self.alt {
                        *open = open.saturating_sub(1);
                        if *open == 0 {
                            let parts = core::mem::take(parts);
                            self.alt = None;
                            self.hide(Within::Prose, parts);
                        }
                    }
                }
                // Inline marks do not separate words: `i**gno**re` is read as `ignore`.
                Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. })
                | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link) => {}
                Event::Start(tag) => {
                    self.block(range.start);
                    if matches!(tag, Tag::BlockQuote(_)) {
                        self.quotes += 1;
                    }
                    if matches!(tag, Tag::Paragraph) {
                        // The parser reads a table without a header as a paragraph.
                        self.row = self.src.get(range.start) == Some(&b'|');
                    }
                }
                Event::End(tag) => {
                    self.block(range.end);
                    self.row = false;
                    if matches!(tag, TagEnd::BlockQuote(_)) {
                        self.quotes = self.quotes.saturating_sub(1);
                    }
                }
                _ => self.block(range.start),
            }
        }
        self.block(end);
        self.reach(end);
    }

    /// Ends the text of a block, or begins another.
    fn block(&mut self, at: usize) {
        self.flush();
        self.out.text.blank((at, at));
        self.begins = true;
    }

    /// Passes a command in a sentence to the lexer for shells, like one in a code span: "run curl x | sh".
    fn sentence(&mut self, range: &Range<usize>) {
        let text = self.src.part(range.clone());
        for program in COMMANDS {
            for at in memchr::memmem::find_iter(text, program) {
                let begins = at.checked_sub(1).is_none_or(|before| text.get(before) == Some(&b' '));
                let rest = text.part(at..text.len().min(at + LONGEST_COMMAND));
                let Some(pipe) = memchr::memrchr(b'|', rest).filter(|_| begins) else { continue };
                // Only pipelines are unambiguous in a sentence: "run curl x | sh, then restart".
                let behind = rest.part(pipe..);
                let end = ENDS.iter().filter_map(|end| memchr::memmem::find(behind, end)).min();
                let length = pipe + end.unwrap_or(behind.len());
                let start = range.start + at;
                let line = rest.part(..length);
                self.embed(Lens::Sh, start, start + line.trim_ascii_end().len());
            }
        }
    }

    /// Adds visible text. The marks of `==highlighted==` text are omitted, as some renderers do.
    fn text(&mut self, range: Range<usize>) {
        if self.sink.role == FileKind::Prompt && self.alt.is_none() {
            self.sentence(&range);
        }
        let is_letter = |at: usize| self.src.get(at).is_some_and(u8::is_ascii_alphanumeric);
        let mut start = range.start;
        let marks: Vec<usize> = memchr::memmem::find_iter(self.src.part(range.clone()), b"==")
            .map(|at| range.start + at)
            .filter(|at| is_letter(at + 2) != at.checked_sub(1).is_some_and(is_letter))
            .collect();
        for mark in marks {
            self.piece(start..mark);
            start = (mark + 2).min(range.end);
        }
        self.piece(start..range.end);
    }

    fn piece(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        if let Some((_, alt)) = &mut self.alt {
            alt.push((range.start, range.end));
            self.done = range.end;
        } else if self.waiting.end == range.start && !self.waiting.is_empty() {
            self.waiting.end = range.end;
            self.done = range.end;
        } else {
            self.reach(range.start);
            self.done = range.end;
            self.waiting = range;
        }
    }

    /// Adds a code span, and passes a command in it to the lexer for shells.
    fn code(&mut self, range: Range<usize>) {
        let text = self.src.part(range.clone());
        let ticks = text.iter().take_while(|byte| **byte == b'`').count();
        let (start, end) = (range.start + ticks, range.end.saturating_sub(ticks));
        if self.alt.is_some() {
            return self.text(range);
        }
        self.reach(range.start);
        self.begin(start);
        self.out.text.mark();
        self.flow(start..end, QUOTED);
        self.out.text.mark();
        self.done = range.end;
        let text = self.src.part(start..end);
        if self.sink.role != FileKind::Doc && !text.contains(&b'\n') && fence::is_command(text) {
            self.embed(Lens::Sh, start, end);
        }
    }

    /// Ends a line inside a paragraph. A word that is hyphenated there is joined.
    fn line_end(&mut self, range: Range<usize>) {
        let tail = self.src.part(range.end..);
        let marks = tail.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
        let head = self.src.part(self.waiting.clone());
        if matches!((head, tail.get(marks)), ([.., b'a'..=b'z', b'-'], Some(b'a'..=b'z'))) {
            self.waiting.end = self.waiting.end.saturating_sub(1);
            self.flush();
        } else {
            self.flush();
            self.out.text.blank((range.start, range.end));
        }
        self.done = range.end + marks;
    }

    /// Separates a block that begins like an instruction from the text before it.
    fn begin(&mut self, at: usize) {
        if core::mem::take(&mut self.begins) {
            let rest = self.src.part(at..);
            let line = rest.head(COLUMN);
            let len = memchr::memchr3(b'\n', b'\r', b'|', line).unwrap_or(line.len());
            imperative::separate(line.part(..len), at, &mut self.out.text);
        }
    }

    /// Writes the pending text.
    fn flush(&mut self) {
        let range = core::mem::take(&mut self.waiting);
        if range.is_empty() {
            return;
        }
        if !self.row {
            self.begin(range.start);
            return self.flow(range, 0);
        }
        let mut at = range.start;
        for cell in self.src.part(range).split(|byte| *byte == b'|') {
            let end = at + cell.len();
            self.begin(at + blanks(cell));
            self.flow(at..end, 0);
            self.out.text.blank((end, end + 1));
            at = end + 1;
            self.begins = true;
        }
    }

    /// Writes visible text, or text of a hidden element.
    fn flow(&mut self, range: Range<usize>, flags: u8) {
        let quoted = if self.quotes > 0 || flags != 0 { self.in_doc(QUOTED) } else { 0 };
        self.out.text.flags(Within::Prose, quoted | self.hidden_flag());
        self.out.text.raw(self.src.part(range.clone()), range.start, Obfuscations::NONE);
    }

    /// Skips source that no event covered: marks, addresses, titles, definitions. Only addresses may be
    /// visible.
    fn reach(&mut self, to: usize) {
        self.flush();
        if to <= self.done {
            return;
        }
        self.out.text.mark();
        let gap = core::mem::replace(&mut self.done, to)..to;
        let text = self.src.part(gap.clone());
        let wordy = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
        if !text.iter().any(wordy) {
            return;
        }
        self.side(Within::Prose, 0, vec![(gap.start, gap.end)]);
        let (mut parts, mut at, mut address) = (Vec::new(), gap.start, false);
        for word in text.split_inclusive(u8::is_ascii_whitespace) {
            let end = at + word.len();
            let trimmed = word.trim_ascii();
            let marks = matches!(trimmed, [b']', b'(' | b'[', ..] | [b'`' | b'~', ..]);
            if !trimmed.is_empty() {
                if !marks && !address {
                    parts.push((at, end));
                }
                address = trimmed.ends_with(b"]:");
            }
            at = end;
        }
        let src = self.src;
        if parts.iter().any(|part| src.part(part.0..part.1).iter().any(wordy)) {
            self.hide(Within::Prose, parts);
        }
    }

    /// Returns the flag in documentation, where quotations have less weight, and 0 elsewhere.
    fn in_doc(&self, flag: u8) -> u8 {
        if self.sink.role == FileKind::Doc { flag } else { 0 }
    }

    fn hidden_flag(&self) -> u8 {
        if self.hidden.is_some() || self.comment { Within::Hidden.bit() } else { 0 }
    }

    fn side(&mut self, within: Within, flags: u8, mut parts: Vec<(usize, usize)>) {
        parts.retain(|(start, end)| start < end);
        if !parts.is_empty() {
            self.sides.push(SideText { within, flags, parts });
        }
    }

    /// Adds hidden text.
    fn hide(&mut self, within: Within, parts: Vec<(usize, usize)>) {
        self.side(within, Within::Hidden.bit(), parts);
    }

    fn embed(&mut self, lens: Lens, start: usize, end: usize) {
        if start < end {
            self.sink.embed(lens, EmbeddedText::Range(start, end));
        }
    }

    /// Passes the code of a block to its lexer.
    fn embed_fence(&mut self, lens: Lens, text: EmbeddedText, flags: u8) {
        let lowered = if flags & FENCED == 0 { Lowered::No } else { Lowered::Yes };
        self.sink.embedded.push(Embedded { lens, text, lowered });
    }
}
