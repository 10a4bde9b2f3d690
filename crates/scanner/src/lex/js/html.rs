//! Markup that contains scripts: HTML, SVG, Vue, Svelte, Astro.

use plugward_types::Part;

use super::xml;
use crate::lex::Lexed;
use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Sink, Unread};
use crate::text::Within;
use crate::text::view::{Obfuscations, View};

/// Returns `true` if a file is markup around scripts, by its name.
pub(crate) fn is_markup(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
    matches!(extension.as_str(), "html" | "htm" | "xhtml" | "xht" | "svg" | "vue" | "svelte" | "astro")
}

/// Passes scripts, event attributes, script addresses and template expressions to the lexer for JavaScript.
///
/// The whole text is prose as well.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, out: &mut Lexed) {
    out.text.begin(Within::Prose, 0);
    out.text.raw(src, 0, Obfuscations::NONE);
    out.text.end();
    let front = front_matter(src);
    if let Some((start, end)) = front {
        embed(sink, start, end);
    }
    let page = Page { src, xml: xml::is_xml(sink.path), named: xml::entities(src, sink) };
    let mut at = 0_usize;
    let mut ends = true;
    while let Some(len) = memchr::memchr(b'<', src.part(at..)) {
        let tag = at + len;
        let rest = src.part(tag..);
        if let Some(body) = rest.strip_prefix(b"<!--") {
            // Scripts in comments do not run. An unclosed comment is read as markup, and so are those after
            // it.
            let len = if ends { comment(body) } else { None };
            ends &= len.is_some();
            at = tag + 4 + len.unwrap_or(0);
            continue;
        }
        if rest.get(1).is_none_or(|byte| !byte.is_ascii_alphabetic()) {
            at = tag + 1;
            continue;
        }
        let end = tag_end(src, tag);
        page.attributes((tag, end), sink);
        if is_hidden_charset(src.part(tag..end)) {
            sink.shape("evasion-source-encoding", (tag, end), Obfuscations::NONE);
        }
        at = end;
        if let Some(name) = page.script_name(rest) {
            let close = script_end(src, end, name);
            page.script((end, close), sink);
            at = close;
        }
    }
    if page.named.is_over() {
        sink.unread.push(Unread { start: 0, end: src.len() });
    }
    if matches!(sink.path.rsplit('.').next(), Some("vue" | "svelte" | "astro")) {
        holes(src, sink);
    }
}

fn embed(sink: &mut Sink<'_>, start: usize, end: usize) {
    if start < end {
        sink.embed(Lens::Js, EmbeddedText::Range(start, end));
    }
}

/// Returns the length of a comment after `<!--`, including its end if it has one.
///
/// It ends with `-->`, `--!>`, or with `>` and `->` at the very start.
fn comment(body: &[u8]) -> Option<usize> {
    if body.starts_with(b">") {
        return Some(1);
    }
    if body.starts_with(b"->") {
        return Some(2);
    }
    let end = memchr::memmem::find(body, b"-->");
    // The rarer end is searched only before the other one, so that many comments take linear time.
    let head = body.part(..end.unwrap_or(body.len()));
    match (memchr::memmem::find(head, b"--!>"), end) {
        (Some(end), _) => Some(end + 4),
        (None, Some(end)) => Some(end + 3),
        (None, None) => None,
    }
}

/// Returns `true` for `<meta charset=utf-7>` in either form, with which old browsers decode the page
/// differently.
fn is_hidden_charset(tag: &[u8]) -> bool {
    let meta = tag.get(1..5).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"));
    let Some(head) = tag.get(..tag.len().min(512)).filter(|_| meta) else { return false };
    let lower: Vec<u8> =
        head.iter().filter(|byte| !b" \t\n\r\"'".contains(byte)).map(u8::to_ascii_lowercase).collect();
    memchr::memmem::find(&lower, b"charset=utf-7").is_some()
}

/// Returns the code between two `---` lines at the top of a component.
fn front_matter(src: &[u8]) -> Option<(usize, usize)> {
    let body = src.strip_prefix(b"---")?;
    let end = memchr::memmem::find(body, b"\n---")?;
    Some((3, end + 3))
}

/// Returns the end of a tag. `>` in a quoted value does not count.
fn tag_end(src: &[u8], tag: usize) -> usize {
    let mut quote = None;
    for (index, byte) in src.part(tag..).iter().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'>') => return tag + index + 1,
            _ => {}
        }
    }
    // With an unclosed quote, the tag ends at its first `>`, so that the quote does not hide a script.
    let rest = src.part(tag..);
    memchr::memchr(b'>', rest).map_or(src.len(), |len| tag + len + 1)
}

/// Returns the end of a script, at its closing tag in any case.
fn script_end(src: &[u8], start: usize, name: &[u8]) -> usize {
    let mut at = start;
    while let Some(len) = memchr::memmem::find(src.part(at..), b"</") {
        let close = at + len;
        let from = close + 2;
        if src.get(from..from + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return close;
        }
        at = close + 2;
    }
    src.len()
}

/// What is known of a page while its tags are read.
struct Page<'a> {
    src: &'a [u8],
    /// Set if the page is XML: scripts may contain references, and names may have prefixes.
    xml: bool,
    /// The entities that the page declares.
    named: xml::Entities<'a>,
}

impl<'a> Page<'a> {
    /// Returns the name of a tag that contains a script.
    fn script_name(&self, tag: &'a [u8]) -> Option<&'a [u8]> {
        let name = tag.get(1..)?;
        let len = name
            .iter()
            .take(64)
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte))
            .count();
        let name = name.get(..len)?;
        let local = name.rsplit(|byte| *byte == b':').next().filter(|_| self.xml).unwrap_or(name);
        let script = local.eq_ignore_ascii_case(b"script") || (self.xml && local == b"handler");
        script.then_some(name)
    }

    fn script(&self, range: (usize, usize), sink: &mut Sink<'_>) {
        let text = self.src.part(range.0..range.1);
        if !self.xml || memchr::memchr2(b'&', b'<', text).is_none() {
            return embed(sink, range.0, range.1);
        }
        sink.embed(Lens::Js, EmbeddedText::View(xml::text(text, range.0, &self.named)));
    }

    /// Handles event attributes and script addresses of one tag.
    fn attributes(&self, tag: (usize, usize), sink: &mut Sink<'_>) {
        let src = self.src;
        let head = src.part(tag.0..tag.1);
        let head = head.strip_prefix(b"<").unwrap_or(head).get(..6);
        let script = head.is_some_and(|head| head.eq_ignore_ascii_case(b"script"));
        let animates = self.xml && xml::animates_event(src.part(tag.0..tag.1));
        let mut at = tag.0;
        while let Some(len) = memchr::memchr(b'=', src.part(at..tag.1)) {
            let equals = at + len;
            let head = src.part(tag.0..equals).trim_ascii_end();
            let name =
                head.rsplit(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'/')).next();
            let name = name.unwrap_or_default();
            let tail = src.part(equals + 1..tag.1);
            let blanks = tail.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let mut start = equals + 1 + blanks;
            let end = if let Some(quote @ (b'"' | b'\'')) = src.get(start) {
                start += 1;
                let rest = src.part(start..tag.1);
                start + memchr::memchr(*quote, rest).unwrap_or(rest.len())
            } else {
                let rest = src.part(start..tag.1);
                let len = rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>');
                start + len.unwrap_or(rest.len())
            };
            let event = name.len() > 2 && name.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(b"on"));
            let event = event || (animates && is_change(name));
            let bound = matches!(name.first(), Some(b'@' | b':')) || name.starts_with(b"v-");
            let value = src.part(start..end);
            if script && name.eq_ignore_ascii_case(b"src") {
                // A script that a page loads is code, whatever its file extension is.
                if let Ok(value) = core::str::from_utf8(value)
                    && !value.contains(':')
                    && !value.starts_with("//")
                {
                    sink.named.push(value.to_owned());
                }
            }
            if name.eq_ignore_ascii_case(b"srcdoc") {
                sink.embed(Lens::Prose, EmbeddedText::View(referred_from(value, start, 0, &self.named)));
            } else if memchr::memchr(b'&', value).is_some() {
                let view = referred_from(value, start, 0, &self.named);
                if let Some(view) = script_of(&view.bytes).map_or((event || bound).then_some(view), |len| {
                    Some(referred_from(value, start, len, &self.named))
                }) {
                    sink.embed(Lens::Js, EmbeddedText::View(view));
                }
            } else if let Some(len) = script_of(value) {
                embed(sink, start + len, end);
            } else if event || bound {
                embed(sink, start, end);
            }
            at = end.max(equals + 1);
        }
    }
}

/// Returns `true` for attributes with which an SVG animation sets another attribute.
fn is_change(name: &[u8]) -> bool {
    matches!(name, b"to" | b"from" | b"by" | b"values")
}

/// Returns the length of `javascript:` at the start of an address. Browsers ignore whitespace and control
/// characters in it.
fn script_of(value: &[u8]) -> Option<usize> {
    let mut wanted = b"javascript:".iter();
    let mut next = wanted.next()?;
    for (index, byte) in value.iter().enumerate().take(64) {
        if byte.eq_ignore_ascii_case(next) {
            let Some(following) = wanted.next() else { return Some(index + 1) };
            next = following;
        } else if !byte.is_ascii_whitespace() && !byte.is_ascii_control() {
            return None;
        }
    }
    None
}

/// Returns an attribute's value with its character references decoded, without the first `skip` bytes.
fn referred_from(value: &[u8], start: usize, skip: usize, named: &xml::Entities<'_>) -> View {
    let mut view = View::default();
    let (mut at, mut seen) = (0_usize, 0_usize);
    while let Some(rest) = value.get(at..).filter(|rest| !rest.is_empty()) {
        let place = start + at;
        let (len, written) = xml::one(rest, place, skip.saturating_sub(seen), named, &mut view);
        at += len.max(1);
        seen += written;
    }
    view
}

/// Passes expressions in the braces of a template to the lexer for JavaScript.
fn holes(src: &[u8], sink: &mut Sink<'_>) {
    let mut at = 0_usize;
    while let Some(len) = memchr::memchr(b'{', src.part(at..)) {
        let mut start = at + len + 1;
        while src.get(start) == Some(&b'{') {
            start += 1;
        }
        let rest = src.part(start..);
        let Some(len) = memchr::memchr(b'}', rest) else { break };
        let end = start + len;
        embed(sink, start, end);
        at = end;
    }
}
