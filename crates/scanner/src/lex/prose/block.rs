//! Blocks: front matter, fences, definitions, directives, and paragraphs for the reader of lines.

use super::fence::{self, Code, End, Fence, Step};
use super::inline::{self, Paragraph};
use super::line::{self, Line};
use super::{Dialect, Prose, Said};
use crate::entry::Lens;
use crate::text::Within;

/// What is open between two lines.
struct Blocks {
    fence: Option<Fence>,
    paragraph: Paragraph,
    /// Lines that are set in like code, with none of prose between.
    set_in: Option<Fence>,
    /// A definition that goes on.
    definition: Option<(Vec<(usize, usize)>, Until)>,
    /// A directive whose lines are set in deeper than it.
    directive: Option<(usize, Directive)>,
    /// Modules and exports at the top of MDX go on until a blank line.
    module: Option<(usize, usize)>,
    /// The language that `AsciiDoc` gives the next block.
    said: Option<Code>,
    /// The column of the content of the list that is open.
    list: usize,
}

/// What a definition may still have.
#[derive(Clone, Copy)]
enum Until {
    /// Its address, on the next line.
    Address,
    /// A title, on the next line.
    Title,
    /// More of its title, up to this mark.
    Close(u8),
}

enum Directive {
    Code(Fence),
    Comment(Vec<(usize, usize)>),
}

/// Reads all blocks of a text.
pub(super) fn read(prose: &mut Prose<'_, '_, '_>) {
    let mut blocks = Blocks {
        fence: None,
        paragraph: Paragraph::default(),
        set_in: None,
        definition: None,
        directive: None,
        module: None,
        said: None,
        list: 0,
    };
    let mut at = front_matter(prose);
    while at < prose.src.len() {
        let line = line::cut(prose.src, at, blocks.list);
        at = line.next.max(at.saturating_add(1));
        blocks.line(prose, &line);
    }
    blocks.end_paragraph(prose);
    blocks.end_definition(prose);
    blocks.end_directive(prose);
    blocks.end_module(prose);
    blocks.end_set_in(prose);
    if let Some(fence) = blocks.fence.take() {
        fence.finish(prose, End::Open);
    }
}

/// Hands front matter to the lens of data; its text is read like all other text besides. Gives where the rest begins.
fn front_matter(prose: &mut Prose<'_, '_, '_>) -> usize {
    let bom = if prose.src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let first = line::cut(prose.src, bom, 0);
    let mark = prose.src.get(first.start..first.end).unwrap_or_default().trim_ascii_end();
    let closes: &[&[u8]] = match mark {
        b"---" => &[b"---", b"..."],
        b"+++" => &[b"+++"],
        b";;;" => &[b";;;"],
        _ => return bom,
    };
    let mut parts = Vec::new();
    let mut at = first.next;
    while at < prose.src.len() {
        let line = line::cut(prose.src, at, 0);
        let text = prose.src.get(line.start..line.end).unwrap_or_default().trim_ascii_end();
        if closes.contains(&text) {
            prose.embed(Lens::Data, first.next, line.start);
            prose.side(Within::Prose, 0, parts);
            return line.next;
        }
        parts.push((line.content, line.end));
        at = line.next.max(at.saturating_add(1));
    }
    bom
}

impl Blocks {
    fn line(&mut self, prose: &mut Prose<'_, '_, '_>, line: &Line) {
        if let Some(fence) = &mut self.fence {
            let step = fence.step(prose.src, line);
            if step == Step::Taken {
                return;
            }
            if let Some(fence) = self.fence.take() {
                fence.finish(prose, if step == Step::Closed { End::Closed } else { End::Open });
            }
            if step == Step::Closed {
                return;
            }
        }
        let content = prose.src.get(line.content..line.end).unwrap_or_default();
        if self.goes_on(prose, line) {
            return;
        }
        if line.is_blank(prose.src) {
            self.end_paragraph(prose);
            self.end_module(prose);
            if line.item {
                self.list = line.column;
            }
            prose.out.text.blank((line.start, line.next));
            return;
        }
        if line.item {
            self.end_paragraph(prose);
            self.list = line.column;
        } else if line.column == 0 && self.paragraph.is_empty() {
            self.list = 0;
        }
        if let Some(fence) =
            fence::open(prose.src, line, self.list).or_else(|| self.delimited(prose, content, line))
        {
            self.end_paragraph(prose);
            self.end_set_in(prose);
            prose.out.text.blank((line.start, line.end));
            self.fence = Some(fence);
            self.said = None;
            return;
        }
        self.set_in(prose, line);
        self.prose(prose, line, content);
    }

    /// A line of prose: a heading, a definition, a rule or a part of a paragraph.
    fn prose(&mut self, prose: &mut Prose<'_, '_, '_>, line: &Line, content: &[u8]) {
        if self.paragraph.is_empty() {
            if prose.dialect == Dialect::Mdx && line.column == 0 && is_module(content) {
                self.module = Some((line.content, line.next));
                prose.side(Within::Prose, 0, vec![(line.content, line.end)]);
                return;
            }
            if let Some(body) = line::definition(content).filter(|_| !prose.comment) {
                self.define(prose, line, content.get(body..).unwrap_or_default().trim_ascii());
                return;
            }
            if self.direct(prose, line, content) {
                return;
            }
        }
        let marks = line::heading(content);
        let rule = line::is_rule(content);
        if marks > 0 || rule {
            self.end_paragraph(prose);
        }
        if rule {
            prose.out.text.blank((line.start, line.end));
            return;
        }
        let start = line.content.saturating_add(marks);
        let said = if line.quotes > 0 && line.strict { Said::Quoted } else { Said::Own };
        self.paragraph.push(prose.src, (start, line.end), said);
        if marks > 0 {
            self.end_paragraph(prose);
        }
    }

    fn end_paragraph(&mut self, prose: &mut Prose<'_, '_, '_>) {
        if !self.paragraph.is_empty() {
            inline::read(prose, &self.paragraph);
            self.paragraph.clear();
        }
    }

    /// Says whether a line belongs to a definition, a directive or a module that is open.
    fn goes_on(&mut self, prose: &mut Prose<'_, '_, '_>, line: &Line) -> bool {
        let blank = line.is_blank(prose.src);
        if let Some((mut parts, until)) = self.definition.take() {
            let content = prose.src.get(line.content..line.end).unwrap_or_default();
            let other = blank
                || line::definition(content).is_some()
                || matches!(until, Until::Title if title_end(content).is_none());
            if other {
                defined(prose, &parts);
            } else {
                parts.push((line.content, line.end));
                let more = match until {
                    Until::Address => after_address(content.trim_ascii()),
                    Until::Title => open_title(content.trim_ascii()),
                    Until::Close(mark) if content.trim_ascii_end().last() == Some(&mark) => None,
                    Until::Close(_) => Some(until),
                };
                match more {
                    Some(until) => self.definition = Some((parts, until)),
                    None => defined(prose, &parts),
                }
                return true;
            }
        }
        if let Some((column, directive)) = &mut self.directive {
            if blank || line_indent(prose.src, line) > *column {
                match directive {
                    Directive::Code(fence) => fence.push((line.start, line.end)),
                    Directive::Comment(parts) => parts.push((line.content, line.end)),
                }
                return true;
            }
            self.end_directive(prose);
        }
        if let Some(module) = &mut self.module
            && !blank
        {
            module.1 = line.next;
            prose.side(Within::Prose, 0, vec![(line.content, line.end)]);
            return true;
        }
        false
    }

    fn end_module(&mut self, prose: &mut Prose<'_, '_, '_>) {
        if let Some((start, end)) = self.module.take() {
            prose.embed(Lens::Js, start, end.min(prose.src.len()));
        }
    }

    /// `[label]: address "title"`: nothing of it is shown.
    fn define(&mut self, prose: &mut Prose<'_, '_, '_>, line: &Line, rest: &[u8]) {
        let parts = vec![(line.content, line.end)];
        let more = if rest.is_empty() { Some(Until::Address) } else { after_address(rest) };
        match more {
            Some(until) => self.definition = Some((parts, until)),
            None => defined(prose, &parts),
        }
    }

    fn end_definition(&mut self, prose: &mut Prose<'_, '_, '_>) {
        if let Some((parts, _)) = self.definition.take() {
            defined(prose, &parts);
        }
    }

    /// Directives of reStructuredText and `AsciiDoc`, in any text: a block of code, or a comment in files of theirs.
    fn direct(&mut self, prose: &mut Prose<'_, '_, '_>, line: &Line, content: &[u8]) -> bool {
        if let Some(rest) = content.strip_prefix(b".. ") {
            let column = line_indent(prose.src, line);
            for name in
                [b"code-block::".as_slice(), b"code::", b"sourcecode::", b"parsed-literal::", b"raw::"]
            {
                if let Some(label) = rest.strip_prefix(name) {
                    let fence = Fence::directive(fence::code(label), column.saturating_add(1));
                    self.directive = Some((column, Directive::Code(fence)));
                    return true;
                }
            }
            let shown = memchr::memmem::find(rest, b"::").is_some()
                || matches!(rest.first(), Some(b'_' | b'[' | b'|'));
            if prose.dialect == Dialect::Rst && !shown {
                let parts = vec![(line.content.saturating_add(3), line.end)];
                self.directive = Some((column, Directive::Comment(parts)));
                return true;
            }
        }
        if let Some(label) = content.strip_prefix(b"[source") {
            self.said = Some(fence::code(label.strip_prefix(b",").unwrap_or(label)));
            return true;
        }
        if prose.dialect == Dialect::Adoc && content.starts_with(b"//") && !content.starts_with(b"////") {
            prose.hide(Within::Comment, vec![(line.content.saturating_add(2), line.end)]);
            return true;
        }
        false
    }

    fn end_directive(&mut self, prose: &mut Prose<'_, '_, '_>) {
        match self.directive.take() {
            Some((_, Directive::Code(fence))) => fence.finish(prose, End::Open),
            Some((_, Directive::Comment(parts))) => prose.hide(Within::Comment, parts),
            None => {}
        }
    }

    /// `----` opens a block of `AsciiDoc`'s where a language was said, `////` a comment.
    fn delimited(&mut self, prose: &Prose<'_, '_, '_>, content: &[u8], line: &Line) -> Option<Fence> {
        let said = self.said.take();
        let mark = *content.first().filter(|byte| matches!(byte, b'-' | b'.' | b'/'))?;
        let text = content.trim_ascii_end();
        let block = text.len() >= 4 && text.iter().all(|byte| *byte == mark);
        let code = match said {
            Some(code) if mark != b'/' => code,
            None if prose.dialect == Dialect::Adoc => Code::Unsaid,
            _ => return None,
        };
        block.then(|| Fence::delimited(mark, text.len(), code, line))
    }

    /// Lines that are set in by four columns are code where no list is open: nobody says of which language.
    fn set_in(&mut self, prose: &mut Prose<'_, '_, '_>, line: &Line) {
        let deep = line.indent >= 4
            && !line.item
            && self.paragraph.is_empty()
            && line.column >= self.list.saturating_add(4);
        let goes_on = self.set_in.is_some() && line.indent >= 4;
        if deep || goes_on {
            self.set_in
                .get_or_insert_with(|| Fence::directive(Code::Unsaid, 4))
                .push((line.content, line.end));
        } else {
            self.end_set_in(prose);
        }
    }

    fn end_set_in(&mut self, prose: &mut Prose<'_, '_, '_>) {
        if let Some(fence) = self.set_in.take() {
            fence.hand_guess(prose, 0);
        }
    }
}

/// Blanks in front of a line, list marks and all.
fn line_indent(src: &[u8], line: &Line) -> usize {
    let text = src.get(line.start..line.end).unwrap_or_default();
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// A definition whole, and what of it a reader might have seen: its label and its title.
fn defined(prose: &mut Prose<'_, '_, '_>, parts: &[(usize, usize)]) {
    prose.side(Within::Prose, 0, parts.to_vec());
    let Some(&(start, end)) = parts.first() else { return };
    let first = prose.src.get(start..end).unwrap_or_default();
    let label = memchr::memchr(b']', first).unwrap_or(first.len());
    prose.hide(Within::Prose, vec![(start.saturating_add(1), start.saturating_add(label))]);
    let title = line::title(first.get(label..).unwrap_or_default());
    let from = title.map_or(end, |at| start.saturating_add(label).saturating_add(at));
    let rest = parts.iter().skip(1).copied();
    prose.hide(Within::Prose, core::iter::once((from, end)).chain(rest).collect());
}

/// Gives what may follow an address and what stands behind it in its line.
fn after_address(rest: &[u8]) -> Option<Until> {
    match rest.iter().position(u8::is_ascii_whitespace) {
        Some(at) => open_title(rest.get(at..)?.trim_ascii()),
        None => Some(Until::Title),
    }
}

fn title_end(title: &[u8]) -> Option<u8> {
    match title.first()? {
        b'"' => Some(b'"'),
        b'\'' => Some(b'\''),
        b'(' => Some(b')'),
        _ => None,
    }
}

/// Gives the mark that has yet to end a title.
fn open_title(title: &[u8]) -> Option<Until> {
    let close = title_end(title)?;
    (title.len() < 2 || title.last() != Some(&close)).then_some(Until::Close(close))
}

fn is_module(content: &[u8]) -> bool {
    [b"import ".as_slice(), b"export ", b"import{", b"export{"].iter().any(|head| content.starts_with(head))
}
