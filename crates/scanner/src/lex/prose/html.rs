//! HTML in prose: text, comments, scripts, event handlers, and hidden elements.

use core::ops::Range;

use plugward_types::Part;

use super::Prose;
use crate::scan::entry::Lens;
use crate::text::Within;
use crate::text::tags::{BLOCKS, INLINE};

/// The longest tag. Longer ones are text, which keeps the search for `>` linear.
const MAX_TAG: usize = 4096;
/// Elements without a closing tag.
const VOID: &str = "area base br col embed hr img input link meta source track wbr";
/// Elements whose content is not shown.
const UNSEEN: &str = "noscript script style template title";
/// Attributes that hide an element, in lower case and without spaces.
const HIDING: &str = "display:none visibility:hidden font-size:0 font-size:1px opacity:0; opacity:0\" opacity:0' opacity:0.0 \
    color:transparent color:white color:#fff color=\"white color='white color=white color=\"#fff color=#fff \
    color:rgba(0,0,0,0) color:rgb(255,255,255) clip:rect(0 clip-path:inset(100% text-indent:-9 left:-9 top:-9 width:0 \
    height:0 size=\"0 size=0 color:inherit;background:inherit aria-hidden=\"true aria-hidden=true sr-only \
    visually-hidden d-none";
/// Attributes with text that is not shown.
const UNSEEN_TEXT: &str = "alt title aria-label aria-description content placeholder summary";

fn is_one_of(names: &str, name: &[u8]) -> bool {
    names.split(' ').any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns the length of a tag, or `Err` with the length in which it has no end. A `>` in quotes counts only
/// if the quote is unclosed.
fn tag_end(rest: &[u8]) -> Result<usize, usize> {
    let window = rest.head(MAX_TAG);
    let mut quote = None;
    for (index, byte) in window.iter().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'>') => return Ok(index + 1),
            _ => {}
        }
    }
    memchr::memchr(b'>', window).map(|index| index + 1).ok_or(window.len())
}

/// Returns the attributes of a tag: each name, and the range of its value without quotes.
fn attributes(tag: &[u8]) -> impl Iterator<Item = (&[u8], Range<usize>)> {
    let mut at = 0_usize;
    core::iter::from_fn(move || {
        let equals = at.checked_add(memchr::memchr(b'=', tag.get(at..)?)?)?;
        let head = tag.get(at..equals)?.trim_ascii_end();
        let name = head.rsplit(|byte| byte.is_ascii_whitespace() || b"\"'/".contains(byte)).next()?;
        let tail = tag.get(equals.checked_add(1)?..)?;
        let blanks = tail.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let tail = tail.get(blanks..)?;
        let quote = tail.first().filter(|byte| b"\"'".contains(byte));
        let from = tag.len().checked_sub(tail.len())?.checked_add(usize::from(quote.is_some()))?;
        let value = tag.get(from..)?;
        let ends =
            |byte: &u8| quote.map_or(byte.is_ascii_whitespace() || *byte == b'>', |quote| byte == quote);
        let len = value.iter().position(ends).unwrap_or(value.len());
        at = from.checked_add(len)?;
        Some((name, from..at))
    })
}

/// Returns `true` if an element's content is not shown, by its name or attributes.
fn is_unseen(name: &[u8], rest: &[u8]) -> bool {
    let text: Vec<u8> =
        rest.iter().filter(|byte| !byte.is_ascii_whitespace()).map(u8::to_ascii_lowercase).collect();
    let has = |needle: &str| memchr::memmem::find(&text, needle.as_bytes()).is_some();
    let word =
        |word: &[u8]| word.split(|byte| *byte == b'=').next().is_some_and(|word| is_one_of("hidden", word));
    is_one_of(UNSEEN, name)
        || rest.split(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte)).any(word)
        || HIDING.split(' ').any(has)
        || is_one_color(&text)
}

/// Returns `true` if a text has the color of its background.
fn is_one_color(text: &[u8]) -> bool {
    let value = |name: &str| {
        let mut styles = text.split(|byte| b";\"'={".contains(byte));
        styles.find_map(|style| style.strip_prefix(name.as_bytes()))
    };
    let ground = value("background-color:").or_else(|| value("background:"));
    ground.is_some() && ground == value("color:")
}

impl Prose<'_, '_, '_> {
    /// Reads a range of HTML.
    pub(super) fn html(&mut self, range: Range<usize>) {
        self.scripts_of(range.start, range.end);
        let (mut at, mut no_tag) = (range.start, range.start);
        while at < range.end {
            if self.comment {
                let rest = self.src.part(at..range.end);
                let end = memchr::memmem::find(rest, b"-->").and_then(|len| at.checked_add(len));
                self.comment = end.is_none();
                self.hide(Within::Comment, vec![(at, end.unwrap_or(range.end))]);
                self.out.text.mark();
                at = end.map_or(range.end, |end| end + 3);
                continue;
            }
            let rest = self.src.part(at..range.end);
            let open = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let rest = rest.part(open..);
            self.shown(at..at + open);
            at += open;
            if rest.starts_with(b"<!--") {
                self.comment = true;
                at += 4;
                continue;
            }
            let is_tag =
                matches!(rest, [_, b'/', letter, ..] | [_, letter, ..] if letter.is_ascii_alphabetic());
            // Up to `no_tag`, the search for the end of a tag has already failed.
            let end = if is_tag && at >= no_tag { tag_end(rest) } else { Err(0) };
            match end {
                Ok(len) => self.tag(at..at + len),
                Err(len) => {
                    no_tag = no_tag.max(at + len);
                    self.shown(at..(at + 1).min(range.end));
                }
            }
            at += end.unwrap_or(1);
        }
        self.done = range.end;
    }

    /// Adds the text of an element.
    fn shown(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.begin(range.start);
            self.flow(range, 0);
        }
    }

    fn tag(&mut self, range: Range<usize>) {
        let text = self.src.part(range.clone());
        let closes = text.get(1) == Some(&b'/');
        let body = text.part(if closes { 2 } else { 1 }..);
        let len = body.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        let (name, rest) = body.parts_at(len);
        let lower = name.to_ascii_lowercase();
        let is_in = |names: &[&str]| names.binary_search_by(|known| known.as_bytes().cmp(&lower)).is_ok();
        let wordy =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        let before = range.start.checked_sub(1).and_then(|at| self.src.get(at));
        let breaks = is_in(BLOCKS);
        let inside = wordy(before) && wordy(self.src.get(range.end));
        if breaks || inside || is_in(INLINE) {
            if memchr::memchr(b'=', rest).is_some() {
                self.side(Within::Prose, 0, vec![(range.start, range.end)]);
            }
            for (_, value) in attributes(text).filter(|(name, _)| is_one_of(UNSEEN_TEXT, name)) {
                let from = |at: usize| range.start + at;
                self.hide(Within::Prose, vec![(from(value.start), from(value.end))]);
            }
            if breaks {
                self.out.text.blank((range.start, range.end));
            } else {
                self.out.text.mark();
            }
        } else {
            // A renderer drops an unknown tag such as `<system>`, but a model reads it as the start of a chat
            // turn.
            self.shown(range.clone());
        }
        self.begins |= breaks;
        if is_one_of(VOID, name) || rest.ends_with(b"/>") {
            return;
        }
        // In a template, `<title>` is a placeholder.
        let is_placeholder = lower == b"title" && !closes && !self.is_title_closed(range.end);
        match &mut self.hidden {
            Some((known, depth)) if *known == lower => {
                *depth = if closes { depth.saturating_sub(1) } else { *depth + 1 };
                if *depth == 0 {
                    self.hidden = None;
                }
            }
            None if is_placeholder => {}
            None if !closes && is_unseen(name, rest) => self.hidden = Some((lower, 1)),
            _ => {}
        }
    }

    /// Returns `true` if a `</title` follows. The last one is searched once.
    fn is_title_closed(&mut self, at: usize) -> bool {
        let src = self.src;
        let last = self.last_title.get_or_insert_with(|| {
            let mut tags = memchr::memmem::rfind_iter(src, b"</");
            let is_title =
                |at: &usize| src.get(at + 2..at + 7).is_some_and(|name| name.eq_ignore_ascii_case(b"title"));
            tags.find(is_title).unwrap_or(0)
        });
        *last >= at
    }

    /// Passes scripts, event handlers and script addresses of a range to the lexer for JavaScript.
    pub(super) fn scripts_of(&mut self, start: usize, end: usize) {
        let src = self.src;
        let (mut at, mut no_tag) = (start, start);
        // A script can end after the range.
        while let Some(len) = memchr::memchr(b'<', src.part(at.min(end)..end)) {
            let open = at + len;
            let rest = src.part(open..end);
            at = open + 1;
            if open < no_tag || !rest.get(1).is_some_and(u8::is_ascii_alphabetic) {
                continue;
            }
            let (Ok(len) | Err(len)) = tag_end(rest);
            let close = open + len;
            no_tag = close;
            for (name, value) in attributes(rest.part(..len)) {
                let (from, to) = (open + value.start, open + value.end);
                let text = src.part(from..to);
                let address = text.get(..11).is_some_and(|head| head.eq_ignore_ascii_case(b"javascript:"));
                if address || matches!(name, [b'o' | b'O', b'n' | b'N', _, ..]) {
                    self.embed(Lens::Js, from + if address { 11 } else { 0 }, to);
                }
            }
            let script = rest.get(1..7).is_some_and(|name| name.eq_ignore_ascii_case(b"script"));
            if script && !rest.get(7).is_some_and(u8::is_ascii_alphanumeric) {
                at = self.script_end(close);
                self.embed(Lens::Js, close, at);
            }
        }
    }

    /// Returns the end of a script. Each closing tag is searched once.
    fn script_end(&mut self, from: usize) -> usize {
        if let Some(known) = self.script_end.filter(|known| *known >= from) {
            return known;
        }
        let closes = memchr::memmem::find_iter(self.src.part(from..), b"</");
        let mut closes = closes.filter_map(|len| from.checked_add(len));
        let is_script = |at: &usize| {
            let name = self.src.get(at + 2..at + 8);
            name.is_some_and(|name| name.eq_ignore_ascii_case(b"script"))
        };
        let end = closes.find(is_script).unwrap_or(self.src.len());
        self.script_end = Some(end);
        end
    }
}
