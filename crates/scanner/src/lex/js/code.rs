//! The views of a JavaScript file: code without comments and strings, and the text of both.

use std::borrow::Cow;

use super::escape;
use super::scan::Scanned;
use super::token::{ESCAPED, K, Tok, UNCLOSED, VIEWED};
use crate::engine::{Places, hint};
use crate::file::read_text;
use crate::lex::Lexed;
use crate::passes;
use crate::sink::Sink;
use crate::text::Within;
use crate::view::{How, View};

/// Keys in quotes that are shorter stay texts. Their mark is no longer than that.
const KEY: usize = 3;

/// Builds the views, or, where the places of hints are known, what of them a rule may match.
pub(super) fn views(
    src: &[u8],
    scanned: &Scanned,
    places: Option<&Places>,
    out: &mut Lexed,
    sink: &mut Sink<'_>,
) {
    let reach = sink.rules.hinted().reach;
    let short = &sink.rules.hinted().short;
    let plain = !is_odd(src, scanned) && short.iter().all(|name| memchr::memmem::find(src, name).is_none());
    match places.and_then(|places| places.of(hint::CODE)).filter(|_| plain) {
        Some(mut at) => {
            // A name that is other than it looks may be any.
            let odd = scanned.identifiers.iter().filter_map(|index| scanned.toks.get(*index as usize));
            let before = at.len();
            at.extend(odd.map(|tok| tok.start()));
            if scanned.escaped {
                let keys = (0..scanned.toks.len()).filter(|index| is_hidden_key(&scanned.toks, *index));
                at.extend(keys.filter_map(|index| scanned.toks.get(index)).map(|tok| tok.start()));
            }
            if at.len() > before {
                at.sort_unstable();
            }
            Windows::new(src, &scanned.toks, reach, &mut out.code).run(&at);
        }
        None => code(src, &scanned.toks, &mut out.code),
    }
    for tok in scanned.toks.iter().filter(|tok| places.is_none() || is_viewed(**tok)) {
        text_of(src, *tok, out);
        drain(out, sink);
    }
    comments(src, &scanned.comments, out, sink);
    out.text.end();
}

/// Has much text read before more is added.
fn drain(out: &mut Lexed, sink: &mut Sink<'_>) {
    if let Some(read) = out.text.drain() {
        read_text(&read, sink);
    }
}

fn code(src: &[u8], toks: &[Tok], view: &mut View) {
    let mut wordy = false;
    for (&tok, index) in toks.iter().zip(0_usize..) {
        let (start, end) = (tok.start() as usize, tok.end() as usize);
        let text = super::text_of(src, tok);
        if let Some((name, how)) = key(src, toks, index) {
            view.put(&name, (start, end), how, 0);
            wordy = true;
            continue;
        }
        match tok.kind {
            K::Word | K::Private | K::Num => {
                if wordy {
                    view.put(b" ", (start, start), How::NONE, 0);
                }
                if tok.flags & ESCAPED == 0 {
                    view.copy(text, start, How::NONE, 0);
                } else {
                    view.put(&escape::decode_identifier(text), (start, end), How::ESCAPE, 0);
                }
            }
            kind if is_text(kind) => view.put(mark(kind), (start, end), How::NONE, 0),
            K::Regex => view.put(b"/./", (start, end), How::NONE, 0),
            _ => view.copy(text, start, How::NONE, 0),
        }
        wordy = is_wordy(tok.kind);
    }
}

/// Says whether a rule may match over a text.
fn is_viewed(tok: Tok) -> bool {
    tok.flags & VIEWED != 0 && is_text(tok.kind)
}

/// Says whether a string is the key of an object.
fn is_key(toks: &[Tok], index: usize) -> bool {
    let kind = |at: usize| toks.get(at).map(|tok| tok.kind);
    kind(index) == Some(K::Str)
        && kind(index.wrapping_add(1)) == Some(K::Colon)
        && matches!(kind(index.wrapping_sub(1)), Some(K::LBrace | K::Comma))
}

fn is_hidden_key(toks: &[Tok], index: usize) -> bool {
    toks.get(index).is_some_and(|tok| tok.kind == K::Str && tok.flags & ESCAPED != 0) && is_key(toks, index)
}

/// Gives the name of a key in quotes; shorter ones than any rule looks for stay texts.
fn key<'a>(src: &'a [u8], toks: &[Tok], index: usize) -> Option<(Cow<'a, [u8]>, How)> {
    let tok = toks.get(index).filter(|_| is_key(toks, index))?;
    let (start, end) = body(*tok);
    let text = src.get(start..end)?;
    let (name, how) = if tok.flags & ESCAPED == 0 {
        (Cow::Borrowed(text), How::NONE)
    } else {
        let (name, how) = escape::decode(text);
        (Cow::Owned(name), how)
    };
    let plain =
        name.len() >= KEY && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte));
    plain.then_some((name, how))
}

const fn is_wordy(kind: K) -> bool {
    matches!(kind, K::Word | K::Private | K::Num)
}

const fn is_text(kind: K) -> bool {
    matches!(kind, K::Str | K::Tpl | K::TplHead | K::TplMid | K::TplTail | K::JsxText)
}

/// Names and symbols that only a tool writes: the passes over the whole code view ask for it.
fn is_odd(src: &[u8], scanned: &Scanned) -> bool {
    let hex = memchr::memmem::find_iter(src, b"_0x").take(passes::HEX_NAMES).count();
    hex >= passes::HEX_NAMES || has_symbols(&scanned.toks)
}

/// Says whether a run of symbols may be as long as that of a tool. Each takes a token of at most 2 bytes.
fn has_symbols(toks: &[Tok]) -> bool {
    let symbol = |tok: &Tok| {
        matches!(tok.kind, K::LBracket | K::RBracket | K::LParen | K::RParen | K::Bang | K::Plus | K::IncDec)
    };
    let step = passes::SYMBOLS / 2 - 8;
    let mut at = step;
    while let Some(tok) = toks.get(at) {
        if symbol(tok) {
            let (head, tail) = toks.split_at(at);
            let before = head.iter().rev().take(step).take_while(|tok| symbol(tok)).count();
            let after = tail.iter().take(step).take_while(|tok| symbol(tok)).count();
            if before.saturating_add(after) >= step {
                return true;
            }
        }
        at = at.saturating_add(step);
    }
    false
}

/// Builds the parts of the code view around hints, each far enough for any match and what it looks at beside itself.
struct Windows<'a> {
    src: &'a [u8],
    toks: &'a [Tok],
    reach: usize,
    view: &'a mut View,
    /// The window: its first token, the one after its last, and the bytes of it behind the last hint.
    start: usize,
    end: usize,
    behind: usize,
    hint: usize,
}

impl<'a> Windows<'a> {
    fn new(src: &'a [u8], toks: &'a [Tok], reach: usize, view: &'a mut View) -> Self {
        // A token more on both sides shows what stands beside the match.
        Self { src, toks, reach: reach.saturating_add(1), view, start: 0, end: 0, behind: 0, hint: 0 }
    }

    fn run(mut self, places: &[u32]) {
        for &place in places {
            let Some(index) = token_at(self.toks, place) else { continue };
            if self.toks.get(index).is_some_and(|tok| is_wordy(tok.kind)) || is_key(self.toks, index) {
                self.add(index);
            }
        }
        self.flush();
    }

    /// At least so many bytes of the view come from a token.
    fn len(&self, index: usize) -> usize {
        self.toks.get(index).map_or(0, |tok| match tok.kind {
            kind if is_text(kind) => mark(kind).len(),
            K::Regex => 3,
            _ if tok.flags & ESCAPED != 0 => 1,
            _ => (tok.end().saturating_sub(tok.start())) as usize,
        })
    }

    fn add(&mut self, index: usize) {
        if index < self.end {
            for passed in self.hint.saturating_add(1)..=index {
                self.behind = self.behind.saturating_sub(self.len(passed));
            }
        } else {
            let mut start = index;
            let mut before = 0_usize;
            while before < self.reach && start > self.end {
                start = start.saturating_sub(1);
                before = before.saturating_add(self.len(start));
            }
            if start > self.end || self.end == 0 {
                self.flush();
                self.start = start;
            }
            (self.end, self.behind) = (index.saturating_add(1), 0);
        }
        self.hint = index;
        while self.behind < self.reach && self.end < self.toks.len() {
            self.behind = self.behind.saturating_add(self.len(self.end));
            self.end = self.end.saturating_add(1);
        }
    }

    fn flush(&mut self) {
        let toks = self.toks.get(self.start..self.end).unwrap_or_default();
        let Some(first) = toks.first() else { return };
        if !self.view.is_empty() {
            // No match goes over it: each window reaches further than any.
            let at = first.start() as usize;
            self.view.put(b"\n", (at, at), How::NONE, 0);
        }
        code(self.src, toks, self.view);
    }
}

/// Finds the token that holds a place.
pub(super) fn token_at(toks: &[Tok], place: u32) -> Option<usize> {
    let index = toks.partition_point(|tok| tok.start() <= place).checked_sub(1)?;
    toks.get(index).filter(|tok| place < tok.end()).map(|_| index)
}

/// Says whether nothing but blanks stands between a comment and the one before it.
fn joined(src: &[u8], all: &[(u32, u32)], index: usize) -> bool {
    let (Some(before), Some(own)) = (index.checked_sub(1).and_then(|at| all.get(at)), all.get(index)) else {
        return false;
    };
    let gap = src.get(before.1 as usize..own.0 as usize);
    gap.is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace))
}

const fn mark(kind: K) -> &'static [u8] {
    match kind {
        K::TplHead => b"`${",
        K::TplMid => b"}${",
        K::TplTail => b"}`",
        K::JsxText => b"",
        _ => b"''",
    }
}

/// Gives where a string's body starts and ends, its marks dropped.
pub(super) fn body(tok: Tok) -> (usize, usize) {
    let (start, end) = (tok.start() as usize, tok.end() as usize);
    let close = match tok.kind {
        _ if tok.flags & UNCLOSED != 0 => 0,
        K::TplHead | K::TplMid => 2,
        _ => 1,
    };
    let first = start.saturating_add(1);
    (first, end.saturating_sub(close).max(first))
}

fn text_of(src: &[u8], tok: Tok, out: &mut Lexed) {
    if !is_text(tok.kind) {
        return;
    }
    let (start, end) =
        if tok.kind == K::JsxText { (tok.start() as usize, tok.end() as usize) } else { body(tok) };
    let bytes = src.get(start..end).unwrap_or_default();
    if bytes.is_empty() {
        return;
    }
    out.text.begin(if tok.kind == K::JsxText { Within::Prose } else { Within::String }, 0);
    if tok.flags & ESCAPED == 0 {
        out.text.raw(bytes, start, How::NONE);
        return;
    }
    let mut view = View::default();
    escape::decode_into(bytes, start, 0, &mut view);
    let mut at = 0_usize;
    // Word by word, so that each has its own place.
    for word in view.bytes.split_inclusive(|byte| *byte == b' ') {
        let next = at.saturating_add(word.len());
        let (from, to, how) = view.map.back(at, next);
        out.text.decoded(word, (from, to), how);
        at = next;
    }
}

/// Adds comments; those with nothing but blanks between them are one piece.
fn comments(src: &[u8], all: &[(u32, u32)], out: &mut Lexed, sink: &mut Sink<'_>) {
    for (index, &(start, end)) in all.iter().enumerate() {
        let start = start as usize;
        if joined(src, all, index) {
            out.text.blank((start, start));
        } else {
            drain(out, sink);
            out.text.begin(Within::Comment, 0);
        }
        comment(src.get(start..end as usize).unwrap_or_default(), start, out);
    }
    out.text.end();
}

/// Adds a comment without its marks and without what decorates the start of a line.
fn comment(bytes: &[u8], start: usize, out: &mut Lexed) {
    let block = bytes.starts_with(b"/*");
    let inner = if block { bytes.strip_suffix(b"*/").unwrap_or(bytes) } else { bytes };
    let mut at = start;
    for line in inner.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let marks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'*' | b'/' | b'!')).count();
        out.text.blank((at, at.saturating_add(marks)));
        let text = line.get(marks..).unwrap_or_default();
        crate::lex::order::part(text, at.saturating_add(marks), &mut out.text);
        out.text.raw(text, at.saturating_add(marks), How::NONE);
        at = at.saturating_add(line.len());
    }
}
