//! Rust: names by way of `use`, calls, macros whose tokens are code, texts of all kinds.

mod build;
mod code;
mod ffi;
mod literal;
mod token;
mod uses;
mod values;
mod walk;

use std::collections::BTreeSet;

use super::Lexed;
use crate::names::Names;
use crate::options::Limits;
use crate::sink::{Sink, Unread};
use crate::view::How;
use token::{K, Tok};

/// Starts the table of names.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    build::intern(&mut names);
    names
}

/// Reads a text as Rust.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    let scanned = token::scan(src, limits);
    if let Some(at) = scanned.stopped {
        sink.unread.push(Unread { start: at, end: src.len() });
    }
    code::views(src, &scanned, out);
    let names = &sink.rules.rs;
    let code = Code::new(src, &scanned.toks);
    identifiers(src, &scanned.toks, names, sink);
    ffi::blocks(&code, sink);
    walk::walk(&code, names, sink);
}

/// A file that a Rust file makes part of itself.
#[derive(Debug)]
pub(crate) struct Module {
    /// The module's name, or the path that an attribute or `include!` gives.
    pub(crate) path: String,
}

/// Gives the files that a text names as parts of its crate.
pub(crate) fn modules(src: &[u8]) -> Vec<Module> {
    let scanned = token::scan(src, &Limits::DEFAULT);
    let code = Code::new(src, &scanned.toks);
    let mut found = Vec::new();
    for at in 0..code.toks.len() {
        let next = at.saturating_add(1);
        let path = match code.word(at) {
            b"mod" if code.is(next.saturating_add(1), b';') => code.word(next).to_vec(),
            b"path" if code.is(next, b'=') => code.text(next.saturating_add(1)),
            b"include" if code.is(next, b'!') => code.text(next.saturating_add(2)),
            _ => continue,
        };
        if let Ok(path) = String::from_utf8(path)
            && !path.is_empty()
        {
            found.push(Module { path });
        }
    }
    found
}

/// Names that are not ASCII, beside those of the file that are.
fn identifiers(src: &[u8], toks: &[Tok], names: &Names, sink: &mut Sink<'_>) {
    if src.is_ascii() {
        return;
    }
    let words = || toks.iter().filter(|tok| tok.kind == K::Word).map(|tok| (tok, name_of(src, *tok)));
    let mut plain: Option<BTreeSet<&[u8]>> = None;
    for (tok, name) in words().filter(|(_, name)| !name.is_ascii()) {
        let twins = plain.get_or_insert_with(|| words().map(|(_, name)| name).collect());
        let is_name = |twin: &[u8]| twins.contains(twin);
        crate::unicode::identifier_beside(name, tok.span(), How::NONE, &names.words, &is_name, sink);
    }
}

/// Gives a word without the mark that makes a keyword a name.
fn name_of(src: &[u8], tok: Tok) -> &[u8] {
    let (start, end) = tok.span();
    let text = src.get(start..end).unwrap_or_default();
    text.strip_prefix(b"r#").unwrap_or(text)
}

/// Tokens of one statement that are looked at, a bracket with what is in it as one.
const STATEMENT: usize = 1024;

/// The tokens of a file, with the bracket that closes each.
struct Code<'s, 't> {
    src: &'s [u8],
    toks: &'t [Tok],
    /// For an opening bracket, where its closing one is.
    pairs: Vec<u32>,
    /// The strings among the tokens.
    strings: Vec<u32>,
}

impl<'s, 't> Code<'s, 't> {
    fn new(src: &'s [u8], toks: &'t [Tok]) -> Self {
        let mut pairs = vec![0_u32; toks.len()];
        let mut open: Vec<usize> = Vec::new();
        let mut strings = Vec::new();
        let count = u32::try_from(toks.len()).unwrap_or(u32::MAX);
        for (at, index) in (0..toks.len()).zip(0_u32..) {
            match toks.get(at).map(|tok| tok.kind) {
                Some(K::Str) => strings.push(index),
                Some(K::Mark(b'(' | b'[' | b'{')) => open.push(at),
                Some(K::Mark(b')' | b']' | b'}')) => {
                    if let Some(slot) = open.pop().and_then(|at| pairs.get_mut(at)) {
                        *slot = index;
                    }
                }
                _ => {}
            }
        }
        for at in open {
            if let Some(slot) = pairs.get_mut(at) {
                *slot = count;
            }
        }
        Self { src, toks, pairs, strings }
    }

    fn tok(&self, at: usize) -> Option<Tok> {
        self.toks.get(at).copied()
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.tok(at).is_some_and(|tok| tok.is(mark))
    }

    /// Gives what the string at a place stands for.
    fn text(&self, at: usize) -> Vec<u8> {
        let mut view = crate::view::View::default();
        if let Some(tok) = self.tok(at).filter(|tok| tok.kind == K::Str) {
            literal::decode_into(self.src, literal::text(self.src, tok), &mut view);
        }
        view.bytes
    }

    fn is_path(&self, at: usize) -> bool {
        self.tok(at).is_some_and(|tok| tok.kind == K::Path)
    }

    /// Gives the word at a place; nothing for another token.
    fn word(&self, at: usize) -> &'s [u8] {
        match self.tok(at) {
            Some(tok) if tok.kind == K::Word => name_of(self.src, tok),
            _ => b"",
        }
    }

    /// Gives where the bracket that opens at a place is closed.
    fn close(&self, at: usize) -> usize {
        self.pairs.get(at).map_or(self.toks.len(), |at| *at as usize)
    }

    /// Gives the strings between two places.
    fn strings(&self, start: usize, end: usize) -> &[u32] {
        let from = self.strings.partition_point(|at| (*at as usize) < start);
        let to = self.strings.partition_point(|at| (*at as usize) < end);
        self.strings.get(from..to).unwrap_or_default()
    }

    /// Gives where the value of a declaration begins whose name stands at a place.
    fn initializer(&self, name: usize) -> Option<usize> {
        const TYPE: usize = 64;
        let from = name.saturating_add(1);
        for at in from..from.saturating_add(TYPE) {
            match self.tok(at)?.kind {
                K::Mark(b'=')
                    if !self.is(at.saturating_add(1), b'=') && !self.is(at.saturating_add(1), b'>') =>
                {
                    return Some(at.saturating_add(1));
                }
                K::Mark(b';' | b'{' | b'}') => return None,
                _ => {}
            }
        }
        None
    }

    /// Gives where the statement ends that a place is in: its semicolon, or the bracket that closes around it. At most so
    /// many tokens are looked at, a bracket with what is in it as one.
    fn statement_end(&self, start: usize, most: usize) -> usize {
        let mut at = start;
        let mut left = most;
        while let Some(tok) = self.tok(at) {
            if left == 0 {
                return at;
            }
            left = left.saturating_sub(1);
            at = match tok.kind {
                K::Mark(b';' | b')' | b']' | b'}' | b',') => return at,
                K::Mark(b'(' | b'[' | b'{') => self.close(at).max(at).saturating_add(1),
                _ => at.saturating_add(1),
            };
        }
        self.toks.len()
    }

    /// Gives the arguments between two brackets as ranges.
    fn arguments(&self, open: usize) -> impl Iterator<Item = (usize, usize)> {
        let close = self.close(open);
        let mut at = open.saturating_add(1);
        core::iter::from_fn(move || {
            if at >= close {
                return None;
            }
            let start = at;
            while at < close {
                match self.tok(at).map(|tok| tok.kind) {
                    Some(K::Mark(b',')) => break,
                    Some(K::Mark(b'(' | b'[' | b'{')) => at = self.close(at).max(at).saturating_add(1),
                    _ => at = at.saturating_add(1),
                }
            }
            let end = at.min(close);
            at = at.saturating_add(1);
            Some((start, end))
        })
    }
}
