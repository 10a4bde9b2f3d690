//! Tags in prose: scripts, handlers of events, and elements that are not shown.

use super::Prose;
use crate::entry::Lens;
use crate::text::tags::{BLOCKS, INLINE};

/// The longest tag whose end is looked for.
const MAX_TAG: usize = 4096;
/// Elements that have no end.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements whose content no reader sees.
const UNSEEN: &[&str] = &["noscript", "script", "style", "template", "title"];

/// Gives the length of a tag, else how far none ends. A mark in a quoted value ends nothing.
pub(super) fn end(rest: &[u8]) -> Result<usize, usize> {
    let window = rest.get(..rest.len().min(MAX_TAG)).unwrap_or_default();
    let mut quote = None;
    for (index, byte) in window.iter().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'>') => return Ok(index.saturating_add(1)),
            _ => {}
        }
    }
    // An unclosed quote: the tag ends at its first mark after all.
    match memchr::memchr(b'>', window) {
        Some(index) if quote.is_some() => Ok(index.saturating_add(1)),
        _ => Err(window.len()),
    }
}

/// A tag's name and what it does to what follows.
#[derive(Debug)]
pub(super) struct Tag {
    name: Vec<u8>,
    kind: Kind,
    attributes: bool,
    address: bool,
    unseen: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Open,
    /// `<a/>`.
    Whole,
    Close,
}

impl Tag {
    pub(super) fn read(text: &[u8]) -> Self {
        let inner = text.strip_prefix(b"<").unwrap_or(text);
        let inner = inner.strip_suffix(b">").unwrap_or(inner);
        let kind = match (inner.first(), inner.last()) {
            (Some(b'/'), _) => Kind::Close,
            (_, Some(b'/')) => Kind::Whole,
            _ => Kind::Open,
        };
        let body = inner.strip_prefix(b"/").unwrap_or(inner);
        let len = body.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        let name = body.get(..len).unwrap_or_default().to_ascii_lowercase();
        let rest = body.get(len..).unwrap_or_default();
        let attributes = memchr::memchr(b'=', rest).is_some();
        Self {
            kind,
            attributes,
            // `<https://…>` and `<a@b>`.
            address: matches!(rest.first(), Some(b':' | b'@' | b'.' | b'+')) && !attributes_before(rest),
            unseen: kind != Kind::Close && is_unseen(&name, rest),
            name,
        }
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        core::str::from_utf8(&self.name).is_ok_and(|name| names.binary_search(&name).is_ok())
    }

    /// Says whether it is a tag of HTML.
    pub(super) fn is_known(&self) -> bool {
        self.breaks_words() || self.is_one_of(INLINE)
    }

    pub(super) fn breaks_words(&self) -> bool {
        self.is_one_of(BLOCKS)
    }

    pub(super) const fn has_attributes(&self) -> bool {
        self.attributes
    }

    pub(super) const fn is_address(&self) -> bool {
        self.address
    }
}

/// An address may hold `=`, but no blank.
fn attributes_before(rest: &[u8]) -> bool {
    rest.iter().any(u8::is_ascii_whitespace)
}

/// Says whether an element's content is not shown: by its kind, or by what its attributes say.
fn is_unseen(name: &[u8], rest: &[u8]) -> bool {
    if core::str::from_utf8(name).is_ok_and(|name| UNSEEN.binary_search(&name).is_ok()) {
        return true;
    }
    let text: Vec<u8> =
        rest.iter().filter(|byte| !byte.is_ascii_whitespace()).map(u8::to_ascii_lowercase).collect();
    let has = |needle: &str| memchr::memmem::find(&text, needle.as_bytes()).is_some();
    // The attribute alone, as `hidden` or `aria-hidden`.
    let words = rest.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
    let flag = words.into_iter().any(|word| {
        word.eq_ignore_ascii_case(b"hidden") || word.to_ascii_lowercase().starts_with(b"hidden=")
    });
    flag || [
        "display:none",
        "visibility:hidden",
        "font-size:0",
        "font-size:1px",
        "opacity:0;",
        "opacity:0\"",
        "opacity:0'",
        "opacity:0.0",
        "color:transparent",
        "color:white",
        "color:#fff",
        "color=\"white",
        "color='white",
        "color=white",
        "color=\"#fff",
        "color=#fff",
        "color:rgba(0,0,0,0)",
        "color:rgb(255,255,255)",
        "clip:rect(0",
        "clip-path:inset(100%",
        "text-indent:-9",
        "left:-9",
        "top:-9",
        "width:0",
        "height:0",
        "max-height:0",
        "size=\"0",
        "size=0",
        "color:inherit;background:inherit",
        "aria-hidden=\"true",
        "aria-hidden=true",
        "sr-only",
        "visually-hidden",
        "d-none",
    ]
    .iter()
    .any(|needle| has(needle))
        || same_color(&text)
}

/// Says whether text and ground have one colour.
fn same_color(text: &[u8]) -> bool {
    let value = |name: &[u8]| -> Option<Vec<u8>> {
        let mut at = 0_usize;
        while let Some(len) = memchr::memmem::find(text.get(at..)?, name) {
            let start = at.saturating_add(len);
            let before = start.checked_sub(1).and_then(|before| text.get(before));
            at = start.saturating_add(name.len());
            if before.is_some_and(|byte| matches!(byte, b';' | b'"' | b'\'' | b'=' | b'{')) {
                let rest = text.get(at..)?;
                let len =
                    rest.iter().position(|byte| matches!(byte, b';' | b'"' | b'\'')).unwrap_or(rest.len());
                return Some(rest.get(..len)?.to_vec());
            }
        }
        None
    };
    let ground = value(b"background-color:").or_else(|| value(b"background:"));
    ground.is_some() && ground == value(b"color:")
}

/// Gives the values of attributes that hold text which is not shown, in offsets of the tag.
pub(super) fn unseen_values(tag: &[u8]) -> Vec<(usize, usize)> {
    const NAMES: &[&[u8]] = &[
        b"alt=",
        b"title=",
        b"aria-label=",
        b"aria-description=",
        b"content=",
        b"placeholder=",
        b"summary=",
    ];
    let mut found = Vec::new();
    for name in NAMES {
        let lower = tag.to_ascii_lowercase();
        if let Some(at) = memchr::memmem::find(&lower, name) {
            let start = at.saturating_add(name.len());
            let rest = tag.get(start..).unwrap_or_default();
            let len = match rest.first() {
                Some(quote @ (b'"' | b'\'')) => memchr::memchr(*quote, rest.get(1..).unwrap_or_default())
                    .map_or(rest.len(), |len| len.saturating_add(1)),
                _ => rest
                    .iter()
                    .position(|byte| byte.is_ascii_whitespace() || *byte == b'>')
                    .unwrap_or(rest.len()),
            };
            found.push((start, start.saturating_add(len)));
        }
    }
    found
}

impl Prose<'_, '_, '_> {
    /// Follows elements that are not shown.
    pub(super) fn enter(&mut self, tag: &Tag) {
        let is_void = tag.kind == Kind::Whole || tag.is_one_of(VOID);
        match &mut self.hidden {
            Some((name, depth)) if *name == tag.name && !is_void => {
                *depth =
                    if tag.kind == Kind::Close { depth.saturating_sub(1) } else { depth.saturating_add(1) };
                if *depth == 0 {
                    self.hidden = None;
                }
            }
            None if tag.unseen && !is_void => self.hidden = Some((tag.name.clone(), 1)),
            _ => {}
        }
    }

    /// Hands scripts, handlers of events and script addresses of a part of the source to the lens of code.
    pub(super) fn scripts_of(&mut self, start: usize, end: usize) {
        let mut at = start;
        while let Some(len) = memchr::memchr(b'<', self.src.get(at..end).unwrap_or_default()) {
            let open = at.saturating_add(len);
            let rest = self.src.get(open..end).unwrap_or_default();
            at = open.saturating_add(1);
            if !rest.get(1).is_some_and(u8::is_ascii_alphabetic) {
                continue;
            }
            let close = match self::end(rest) {
                Ok(len) => open.saturating_add(len),
                Err(looked) => open.saturating_add(looked),
            };
            self.attributes(open, close);
            at = close.max(at);
            let name = rest.get(1..7).unwrap_or_default();
            if name.eq_ignore_ascii_case(b"script") && !rest.get(7).is_some_and(u8::is_ascii_alphanumeric) {
                let end = self.script_end(close);
                self.embed(Lens::Js, close, end);
                at = end.max(at);
            }
        }
    }

    /// Finds where a script ends. Each closing tag is looked for once.
    fn script_end(&mut self, from: usize) -> usize {
        if let Some(known) = self.script_end.filter(|known| *known >= from) {
            return known;
        }
        let mut at = from;
        let end = loop {
            let Some(len) = memchr::memmem::find(self.src.get(at..).unwrap_or_default(), b"</") else {
                break self.src.len();
            };
            let close = at.saturating_add(len);
            let name = self.src.get(close.saturating_add(2)..close.saturating_add(8)).unwrap_or_default();
            if name.eq_ignore_ascii_case(b"script") {
                break close;
            }
            at = close.saturating_add(2);
        };
        self.script_end = Some(end);
        end
    }

    fn attributes(&mut self, start: usize, end: usize) {
        let mut at = start;
        while let Some(len) = memchr::memchr(b'=', self.src.get(at..end).unwrap_or_default()) {
            let equals = at.saturating_add(len);
            let head = self.src.get(at..equals).unwrap_or_default().trim_ascii_end();
            let name =
                head.rsplit(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'/')).next();
            let name = name.unwrap_or_default();
            let tail = self.src.get(equals.saturating_add(1)..end).unwrap_or_default();
            let blanks = tail.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let mut from = equals.saturating_add(1).saturating_add(blanks);
            let tail = tail.get(blanks..).unwrap_or_default();
            let len = match tail.first() {
                Some(quote @ (b'"' | b'\'')) => {
                    from = from.saturating_add(1);
                    let tail = tail.get(1..).unwrap_or_default();
                    memchr::memchr(*quote, tail).unwrap_or(tail.len())
                }
                _ => tail
                    .iter()
                    .position(|byte| byte.is_ascii_whitespace() || *byte == b'>')
                    .unwrap_or(tail.len()),
            };
            let to = from.saturating_add(len);
            let value = self.src.get(from..to).unwrap_or_default();
            let scheme = b"javascript:";
            let event = name.len() > 2 && name.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(b"on"));
            if value.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)) {
                self.embed(Lens::Js, from.saturating_add(scheme.len()), to);
            } else if event {
                self.embed(Lens::Js, from, to);
            }
            at = to.max(equals.saturating_add(1));
        }
    }
}
