//! Lines: spans of code, links, images, tags and comments, read in two steps: what marks stand where, then the text.

use super::{Dialect, Prose, Said, fence, line, tag};
use crate::entry::Lens;
use crate::text::Within;
use crate::view::How;

/// The longest address with its title, and the longest expression of MDX.
const MAX_ADDRESS: usize = 2048;
/// The longest run of backticks that can open a span.
const MAX_TICKS: usize = 32;

/// The lines of one paragraph, joined, with their places.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    text: Vec<u8>,
    /// Where each line begins in the text and in the source, and who says it.
    lines: Vec<PlacedLine>,
    /// One of the lines is a row of a table.
    table: bool,
}

#[derive(Debug, Clone, Copy)]
struct PlacedLine {
    at: usize,
    from: usize,
    said: Said,
    /// A block begins here: a paragraph, a heading, an item of a list.
    begins: bool,
}

impl Paragraph {
    pub(super) fn push(&mut self, src: &[u8], range: (usize, usize), said: Said) {
        if !self.lines.is_empty() {
            self.text.push(b'\n');
        }
        let line = src.get(range.0..range.1).unwrap_or_default();
        self.table |= line.first() == Some(&b'|');
        let head = src.get(range.0.saturating_sub(16)..range.0).unwrap_or_default().trim_ascii_end();
        let marked =
            head.last().is_some_and(|mark| matches!(mark, b'-' | b'*' | b'+' | b'#' | b'.' | b')' | b']'));
        let begins = self.lines.is_empty() || marked;
        self.lines.push(PlacedLine { at: self.text.len(), from: range.0, said, begins });
        self.text.extend_from_slice(line);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.lines.clear();
        self.table = false;
    }

    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.at <= at).saturating_sub(1)
    }

    /// Gives where a place of the text stands in the source.
    fn place(&self, at: usize) -> usize {
        let line = self.lines.get(self.line_of(at));
        line.map_or(0, |line| line.from.saturating_add(at.saturating_sub(line.at)))
    }

    /// Says whether the line that ends at a place of the text ends inside a word: `pre-` and `vious`.
    fn is_hyphenated(&self, end: usize) -> bool {
        let goes_on = self.text.get(end.saturating_add(1)).is_some_and(u8::is_ascii_lowercase);
        let head = self.text.get(..end).unwrap_or_default();
        goes_on
            && self.text.get(end) == Some(&b'\n')
            && matches!(head, [.., letter, b'-'] if letter.is_ascii_lowercase())
    }

    /// Gives the parts of the source that a range of the text comes from.
    fn parts(&self, start: usize, end: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        self.each(start, end, |_, from, to| parts.push((from, to)));
        parts
    }

    fn each(&self, start: usize, end: usize, mut use_it: impl FnMut(&PlacedLine, usize, usize)) {
        let mut index = self.line_of(start);
        while let Some(line) = self.lines.get(index) {
            if line.at >= end {
                break;
            }
            let next = self
                .lines
                .get(index.saturating_add(1))
                .map_or(self.text.len(), |next| next.at.saturating_sub(1));
            let (from, to) = (start.max(line.at), end.min(next));
            if from < to {
                use_it(
                    line,
                    line.from.saturating_add(from.saturating_sub(line.at)),
                    line.from.saturating_add(to.saturating_sub(line.at)),
                );
            }
            index = index.saturating_add(1);
        }
    }
}

/// What a mark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It only changes how the text looks.
    Drop,
    /// Backticks that open or close a span of code.
    Open,
    Close,
    /// A comment, closed or not.
    Comment {
        closed: bool,
    },
    Tag,
    /// The end of a link with its address, or an image whole.
    Address,
    Image,
    /// What parts the cells of a table.
    Cell,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    start: usize,
    end: usize,
    kind: Kind,
}

/// Reads one paragraph.
pub(super) fn read(prose: &mut Prose<'_, '_, '_>, paragraph: &Paragraph) {
    let text = &paragraph.text;
    let first = paragraph.lines.first().map_or(0, |line| line.from);
    prose.out.text.blank((first, first));
    let mut at = 0_usize;
    if prose.comment {
        let Some(len) = memchr::memmem::find(text, b"-->") else {
            prose.hide(Within::Comment, paragraph.parts(0, text.len()));
            return;
        };
        prose.comment = false;
        prose.hide(Within::Comment, paragraph.parts(0, len));
        at = len.saturating_add(3);
    }
    if prose.dialect == Dialect::Mdx {
        holes(prose, paragraph);
    }
    let mut marks = Marks::find(paragraph, at);
    marks.sort_by_key(|mark| (mark.start, core::cmp::Reverse(mark.end)));
    let mut flow = Flow { prose, paragraph, code: None };
    for mark in marks {
        if mark.start < at {
            continue;
        }
        flow.plain(at, mark.start);
        flow.mark(mark);
        at = mark.end;
    }
    flow.plain(at, text.len());
    let end = paragraph.place(text.len());
    prose.out.text.blank((end, end));
}

struct Flow<'p, 'a, 's, 'r> {
    prose: &'p mut Prose<'a, 's, 'r>,
    paragraph: &'p Paragraph,
    /// Where the span of code that is open begins.
    code: Option<usize>,
}

impl Flow<'_, '_, '_, '_> {
    /// Adds text to the flow, line by line.
    fn plain(&mut self, start: usize, end: usize) {
        let (prose, code) = (&mut *self.prose, self.code.is_some());
        let paragraph = self.paragraph;
        let mut last: Option<usize> = None;
        paragraph.each(start, end, |line, from, to| {
            let inside = line.at.checked_sub(1).is_some_and(|end| paragraph.is_hyphenated(end));
            if let Some(last) = last.filter(|_| !inside) {
                prose.out.text.blank((last, from));
            } else if from == line.from && !inside {
                prose.out.text.blank((from, from));
            }
            if line.begins && from.saturating_sub(line.from) < 4 && !inside {
                let head = prose.src.get(line.from..from).unwrap_or_default();
                if head.iter().all(|byte| matches!(byte, b'*' | b'_' | b'~' | b'`')) {
                    crate::lex::order::part(
                        prose.src.get(from..to).unwrap_or_default(),
                        from,
                        &mut prose.out.text,
                    );
                }
            }
            // A word that is parted at the line's end is read as one.
            let end = line.at.saturating_add(to.saturating_sub(line.from));
            let to = if paragraph.is_hyphenated(end) { to.saturating_sub(1) } else { to };
            prose.flow(if code { Said::Quoted } else { line.said });
            prose.out.text.raw(prose.src.get(from..to).unwrap_or_default(), from, How::NONE);
            last = Some(to);
        });
        // A range that ends at a line's end goes on behind a blank.
        if self.paragraph.text.get(end.saturating_sub(1)) == Some(&b'\n') && start < end {
            let place = self.paragraph.place(end);
            prose.out.text.blank((place, place));
        }
    }

    fn mark(&mut self, mark: Mark) {
        let parts = |flow: &Self, start, end| flow.paragraph.parts(start, end);
        match mark.kind {
            Kind::Drop => self.prose.out.text.mark(),
            Kind::Open => {
                self.prose.out.text.mark();
                self.code = Some(mark.end);
            }
            Kind::Close => {
                self.prose.out.text.mark();
                if let Some(start) = self.code.take() {
                    self.command(start, mark.start);
                }
            }
            Kind::Comment { closed } => {
                let end = if closed { mark.end.saturating_sub(3) } else { mark.end };
                let inner = parts(self, mark.start.saturating_add(4).min(end), end);
                self.prose.hide(Within::Comment, inner);
                self.prose.comment = !closed;
                self.prose.out.text.mark();
            }
            Kind::Address | Kind::Image => {
                let inner = parts(self, mark.start, mark.end);
                self.prose.side(Within::Prose, 0, inner);
                // What is not shown: the text of an image, and a title.
                let text = self.paragraph.text.get(mark.start..mark.end).unwrap_or_default();
                let shown = text.iter().position(|byte| *byte == b']').unwrap_or(0);
                if mark.kind == Kind::Image {
                    let alt = parts(self, mark.start.saturating_add(2), mark.start.saturating_add(shown));
                    self.prose.hide(Within::Prose, alt);
                }
                let tail = text.get(shown..).unwrap_or_default();
                if let Some(at) = line::title(tail) {
                    let title = parts(self, mark.start.saturating_add(shown).saturating_add(at), mark.end);
                    self.prose.hide(Within::Prose, title);
                }
                self.prose.out.text.mark();
            }
            Kind::Cell => {
                let place = self.paragraph.place(mark.start);
                self.prose.out.text.blank((place, place.saturating_add(1)));
                let rest = self.paragraph.text.get(mark.end..).unwrap_or_default();
                let len = memchr::memchr2(b'|', b'\n', rest).unwrap_or(rest.len());
                let cell = rest.get(..len).unwrap_or_default().trim_ascii_start();
                crate::lex::order::part(cell, place, &mut self.prose.out.text);
            }
            Kind::Tag => self.tag(mark),
        }
    }

    /// A span of code that is a command goes to the lens of shells.
    fn command(&mut self, start: usize, end: usize) {
        let text = self.paragraph.text.get(start..end).unwrap_or_default();
        if fence::is_command(text) && memchr::memchr(b'\n', text).is_none() {
            let from = self.paragraph.place(start);
            self.prose.embed_command(from, from.saturating_add(text.len()));
        }
    }

    fn is_in_word(&self, mark: Mark) -> bool {
        let wordy =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        let text = &self.paragraph.text;
        wordy(mark.start.checked_sub(1).and_then(|at| text.get(at))) && wordy(text.get(mark.end))
    }

    fn tag(&mut self, mark: Mark) {
        let text = self.paragraph.text.get(mark.start..mark.end).unwrap_or_default();
        let tag = tag::Tag::read(text);
        let (from, to) = (self.paragraph.place(mark.start), self.paragraph.place(mark.end.saturating_sub(1)));
        let to = to.saturating_add(1);
        if tag.is_address() {
            self.plain(mark.start.saturating_add(1), mark.end.saturating_sub(1));
            return;
        }
        if !tag.is_known() && !self.is_in_word(mark) {
            // Readers of other kinds see it: marks of a chat's turns, say.
            self.plain(mark.start, mark.end);
            self.prose.enter(&tag);
            return;
        }
        if tag.has_attributes() {
            let parts = self.paragraph.parts(mark.start, mark.end);
            self.prose.side(Within::Prose, 0, parts);
            for (start, end) in tag::unseen_values(text) {
                let parts =
                    self.paragraph.parts(mark.start.saturating_add(start), mark.start.saturating_add(end));
                self.prose.hide(Within::Prose, parts);
            }
        }
        self.prose.scripts_of(from, to);
        if tag.breaks_words() {
            self.prose.out.text.blank((from, to));
        } else {
            self.prose.out.text.mark();
        }
        self.prose.enter(&tag);
    }
}

/// Finds the marks of a paragraph.
struct Marks<'t> {
    text: &'t [u8],
    found: Vec<Mark>,
    /// Brackets that are open, and whether an image's.
    brackets: Vec<(usize, bool)>,
    /// Where text with a ground of its own begins.
    highlight: Option<usize>,
    /// Up to here no address and no tag ends.
    no_address: usize,
    no_tag: usize,
}

impl Marks<'_> {
    fn find(paragraph: &Paragraph, start: usize) -> Vec<Mark> {
        let text = &paragraph.text;
        let ticks = Ticks::new(text, start);
        let mut all = Marks {
            text,
            found: Vec::new(),
            brackets: Vec::new(),
            highlight: None,
            no_address: 0,
            no_tag: 0,
        };
        let mut at = start;
        while let Some(&byte) = text.get(at) {
            at = match byte {
                b'\\' if text.get(at.saturating_add(1)).is_some_and(u8::is_ascii_punctuation) => {
                    all.push(at, at.saturating_add(1), Kind::Drop);
                    at.saturating_add(2)
                }
                // A break that the author asked for.
                b'\\' if text.get(at.saturating_add(1)) == Some(&b'\n') => {
                    all.push(at, at.saturating_add(1), Kind::Drop);
                    at.saturating_add(1)
                }
                b'=' => all.highlight(at),
                b'`' => all.ticks(at, &ticks),
                b'<' => all.angle(at),
                b'[' => {
                    let image = at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'!');
                    all.brackets.push((at, image));
                    at.saturating_add(1)
                }
                b']' => all.close(at),
                b'|' if paragraph.table => {
                    all.push(at, at.saturating_add(1), Kind::Cell);
                    at.saturating_add(1)
                }
                _ => at.saturating_add(1),
            };
        }
        all.found
    }

    fn push(&mut self, start: usize, end: usize, kind: Kind) {
        self.found.push(Mark { start, end, kind });
    }

    /// `==text==` is text with a ground of another colour.
    fn highlight(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let run = rest.iter().take_while(|byte| **byte == b'=').count();
        let end = at.saturating_add(run);
        let wordy =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        let before = wordy(at.checked_sub(1).and_then(|before| self.text.get(before)));
        match (run, before, wordy(self.text.get(end)), self.highlight.take()) {
            (2, false, true, _) => self.highlight = Some(at),
            (2, _, false, Some(open)) => {
                self.push(open, open.saturating_add(2), Kind::Drop);
                self.push(at, end, Kind::Drop);
            }
            (_, _, _, open) => self.highlight = open,
        }
        end
    }

    fn ticks(&mut self, at: usize, ticks: &Ticks) -> usize {
        let (len, close) = ticks.at(at);
        let open_end = at.saturating_add(len);
        let Some(close) = close else { return open_end };
        let end = close.saturating_add(len);
        self.push(at, open_end, Kind::Open);
        self.push(close, end, Kind::Close);
        end
    }

    fn angle(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        if rest.starts_with(b"<!--") {
            let len = memchr::memmem::find(rest.get(4..).unwrap_or_default(), b"-->");
            let end = len.map_or(self.text.len(), |len| at.saturating_add(len).saturating_add(7));
            self.push(at, end, Kind::Comment { closed: len.is_some() });
            return end;
        }
        let next = at.saturating_add(1);
        if at < self.no_tag
            || at.checked_sub(1).and_then(|before| self.text.get(before)) == Some(&b'<')
            || !matches!(rest, [_, b'/', b'a'..=b'z' | b'A'..=b'Z', ..] | [_, b'a'..=b'z' | b'A'..=b'Z', ..])
        {
            return next;
        }
        match tag::end(rest) {
            Ok(len) => {
                self.push(at, at.saturating_add(len), Kind::Tag);
                at.saturating_add(len)
            }
            Err(looked) => {
                self.no_tag = at.saturating_add(looked);
                next
            }
        }
    }

    fn close(&mut self, at: usize) -> usize {
        let next = at.saturating_add(1);
        let Some((open, image)) = self.brackets.pop() else { return next };
        let rest = self.text.get(next..).unwrap_or_default();
        let len = match rest.first() {
            Some(b'(') if at >= self.no_address => match address(rest) {
                Ok(len) => len,
                Err(looked) => {
                    self.no_address = next.saturating_add(looked);
                    return next;
                }
            },
            Some(b'[') => {
                let window = rest.get(..rest.len().min(1000)).unwrap_or_default();
                let Some(len) = memchr::memchr(b']', window) else { return next };
                len.saturating_add(1)
            }
            _ => return next,
        };
        let end = next.saturating_add(len);
        if image {
            self.push(open.saturating_sub(1), end, Kind::Image);
        } else {
            self.push(open, open.saturating_add(1), Kind::Drop);
            self.push(at, end, Kind::Address);
        }
        end
    }
}

/// Gives the length of `(address "title")`, else how far none ends.
fn address(rest: &[u8]) -> Result<usize, usize> {
    let window = rest.get(..rest.len().min(MAX_ADDRESS)).unwrap_or_default();
    let mut depth = 0_usize;
    for (index, byte) in window.iter().enumerate() {
        match byte {
            b'(' => depth = depth.saturating_add(1),
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(index.saturating_add(1));
                }
            }
            _ => {}
        }
    }
    Err(window.len())
}

/// Runs of backticks, each with the next one of its length.
struct Ticks {
    runs: Vec<(usize, usize, Option<usize>)>,
}

impl Ticks {
    fn new(text: &[u8], start: usize) -> Self {
        let mut runs = Vec::new();
        let mut at = start;
        while let Some(len) = memchr::memchr(b'`', text.get(at..).unwrap_or_default()) {
            let open = at.saturating_add(len);
            let run = text.get(open..).unwrap_or_default().iter().take_while(|byte| **byte == b'`').count();
            runs.push((open, run, None));
            at = open.saturating_add(run);
        }
        let mut next = [None; MAX_TICKS];
        for (open, len, close) in runs.iter_mut().rev() {
            if let Some(slot) = next.get_mut(*len) {
                *close = slot.replace(*open);
            }
        }
        Self { runs }
    }

    /// Gives the length of the run that holds a place, from there on, and where the run that closes it stands.
    fn at(&self, at: usize) -> (usize, Option<usize>) {
        let index = self.runs.partition_point(|(open, ..)| *open <= at).saturating_sub(1);
        match self.runs.get(index) {
            Some((open, len, close)) if *open == at => (*len, *close),
            // A run whose first mark was escaped opens nothing.
            Some((open, len, _)) => (open.saturating_add(*len).saturating_sub(at).max(1), None),
            None => (1, None),
        }
    }
}

/// Expressions between braces are code in MDX.
fn holes(prose: &mut Prose<'_, '_, '_>, paragraph: &Paragraph) {
    let mut open: Vec<usize> = Vec::new();
    for (at, byte) in paragraph.text.iter().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => {
                if let Some(start) = open.pop()
                    && open.is_empty()
                {
                    let (from, to) = (paragraph.place(start.saturating_add(1)), paragraph.place(at));
                    prose.embed(Lens::Js, from, to);
                }
            }
            _ => {}
        }
    }
    // What is never closed is code up to the end.
    if let Some(start) = open.first() {
        let (from, to) = (paragraph.place(start.saturating_add(1)), paragraph.place(paragraph.text.len()));
        prose.embed(Lens::Js, from, to);
    }
}
