//! Markup that holds scripts: HTML, SVG, Vue, Svelte, Astro.

use crate::entry::Lens;
use crate::lex::Lexed;
use crate::sink::{EmbeddedText, Sink};
use crate::text::Within;
use crate::view::How;

/// Says whether a file is markup around scripts.
pub(crate) fn is_markup(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "html" | "htm" | "xhtml" | "svg" | "vue" | "svelte" | "astro")
}

/// Hands scripts, event attributes, script addresses and template expressions to the lexer of code; all of the text is
/// prose besides.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, out: &mut Lexed) {
    out.text.begin(Within::Prose, 0);
    out.text.raw(src, 0, How::NONE);
    out.text.end();
    let front = front_matter(src);
    if let Some((start, end)) = front {
        embed(sink, start, end);
    }
    let mut at = 0_usize;
    while let Some(len) = memchr::memchr(b'<', src.get(at..).unwrap_or_default()) {
        let tag = at.saturating_add(len);
        let rest = src.get(tag..).unwrap_or_default();
        if rest.get(1).is_none_or(|byte| !byte.is_ascii_alphabetic()) {
            at = tag.saturating_add(1);
            continue;
        }
        let end = tag_end(src, tag);
        attributes(src, (tag, end), sink);
        at = end;
        let script = rest.get(1..7).is_some_and(|name| name.eq_ignore_ascii_case(b"script"));
        if script && rest.get(7).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-') {
            let close = script_end(src, end);
            embed(sink, end, close);
            at = close;
        }
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

/// The code between two lines of `---` at the top of a component.
fn front_matter(src: &[u8]) -> Option<(usize, usize)> {
    let body = src.strip_prefix(b"---")?;
    let end = memchr::memmem::find(body, b"\n---")?;
    Some((3, end.saturating_add(3)))
}

/// Finds where a tag ends; a mark in a quoted value ends nothing.
fn tag_end(src: &[u8], tag: usize) -> usize {
    let mut quote = None;
    for (index, byte) in src.get(tag..).unwrap_or_default().iter().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'>') => return tag.saturating_add(index).saturating_add(1),
            _ => {}
        }
    }
    // An unclosed quote: the tag ends at its first mark after all, so that no script hides behind it.
    let rest = src.get(tag..).unwrap_or_default();
    memchr::memchr(b'>', rest).map_or(src.len(), |len| tag.saturating_add(len).saturating_add(1))
}

/// Finds where a script ends: at its closing tag, in any case.
fn script_end(src: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(len) = memchr::memmem::find(src.get(at..).unwrap_or_default(), b"</") {
        let close = at.saturating_add(len);
        let name = src.get(close.saturating_add(2)..close.saturating_add(8));
        if name.is_some_and(|name| name.eq_ignore_ascii_case(b"script")) {
            return close;
        }
        at = close.saturating_add(2);
    }
    src.len()
}

/// Event attributes and script addresses of one tag.
fn attributes(src: &[u8], tag: (usize, usize), sink: &mut Sink<'_>) {
    let mut at = tag.0;
    while let Some(len) = memchr::memchr(b'=', src.get(at..tag.1).unwrap_or_default()) {
        let equals = at.saturating_add(len);
        let head = src.get(tag.0..equals).unwrap_or_default().trim_ascii_end();
        let name =
            head.rsplit(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'/')).next();
        let name = name.unwrap_or_default();
        let tail = src.get(equals.saturating_add(1)..tag.1).unwrap_or_default();
        let blanks = tail.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut start = equals.saturating_add(1).saturating_add(blanks);
        let end = if let Some(quote @ (b'"' | b'\'')) = src.get(start) {
            start = start.saturating_add(1);
            let rest = src.get(start..tag.1).unwrap_or_default();
            start.saturating_add(memchr::memchr(*quote, rest).unwrap_or(rest.len()))
        } else {
            let rest = src.get(start..tag.1).unwrap_or_default();
            let len = rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>');
            start.saturating_add(len.unwrap_or(rest.len()))
        };
        let event = name.len() > 2 && name.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(b"on"));
        let bound = matches!(name.first(), Some(b'@' | b':')) || name.starts_with(b"v-");
        let value = src.get(start..end).unwrap_or_default();
        let scheme = b"javascript:";
        if value.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)) {
            embed(sink, start.saturating_add(scheme.len()), end);
        } else if event || bound {
            embed(sink, start, end);
        }
        at = end.max(equals.saturating_add(1));
    }
}

/// Expressions between braces of a template.
fn holes(src: &[u8], sink: &mut Sink<'_>) {
    let mut at = 0_usize;
    while let Some(len) = memchr::memchr(b'{', src.get(at..).unwrap_or_default()) {
        let mut start = at.saturating_add(len).saturating_add(1);
        while src.get(start) == Some(&b'{') {
            start = start.saturating_add(1);
        }
        let rest = src.get(start..).unwrap_or_default();
        let Some(len) = memchr::memchr(b'}', rest) else { break };
        let end = start.saturating_add(len);
        embed(sink, start, end);
        at = end;
    }
}
