//! Rust: names through `use`, calls, macros with code in their tokens, and strings of all kinds.

mod build;
mod ffi;
mod imports;
mod literal;
mod resolve;
mod token;
mod values;
mod views;

use std::collections::BTreeSet;

use plugward_types::Part;

use super::Lexed;
use crate::rules::names::Names;
use crate::scan::options::ScanLimits;
use crate::scan::sink::{Sink, Unread};
use crate::text::view::Obfuscations;
use token::{Token, TokenKind};

/// Creates the table of names that rules look for.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    build::intern(&mut names);
    names
}

/// Lexes Rust.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    let scanned = token::scan(src, limits);
    if let Some(at) = scanned.stopped {
        sink.unread.push(Unread { start: at, end: src.len() });
    }
    views::add(src, &scanned, out);
    let names = &sink.rules.rs;
    let code = Code::new(src, &scanned.tokens);
    identifiers(src, &scanned.tokens, names, sink);
    ffi::blocks(&code, sink);
    resolve::resolve(&code, names, sink);
}

/// A file that a Rust file includes as a module or text.
#[derive(Debug)]
pub(crate) struct Module {
    /// The name of the module, or the path in an attribute or `include!`.
    pub(crate) path: String,
}

/// Returns the files that a text includes as parts of its crate.
pub(crate) fn modules(src: &[u8]) -> Vec<Module> {
    let scanned = token::scan(src, &ScanLimits::DEFAULT);
    let code = Code::new(src, &scanned.tokens);
    let mut found = Vec::new();
    for at in 0..code.tokens.len() {
        let next = at + 1;
        let path = match code.word(at) {
            b"mod" if code.is(next + 1, b';') => code.word(next).to_vec(),
            b"path" if code.is(next, b'=') => code.text(next + 1),
            b"include" if code.is(next, b'!') => code.text(next + 2),
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

/// Reports identifiers that are not ASCII and look like others in the file.
fn identifiers(src: &[u8], tokens: &[Token], names: &Names, sink: &mut Sink<'_>) {
    if src.is_ascii() {
        return;
    }
    let words = || {
        tokens.iter().filter(|token| token.kind == TokenKind::Word).map(|token| (token, name_of(src, *token)))
    };
    let mut plain: Option<BTreeSet<&[u8]>> = None;
    for (token, name) in words().filter(|(_, name)| !name.is_ascii()) {
        let twins = plain.get_or_insert_with(|| words().map(|(_, name)| name).collect());
        let is_name = |twin: &[u8]| twins.contains(twin);
        crate::text::unicode::identifier_beside(
            name,
            token.span(),
            Obfuscations::NONE,
            &names.words,
            &is_name,
            sink,
        );
    }
}

/// Returns a word without `r#`, which makes a keyword a name.
fn name_of(src: &[u8], token: Token) -> &[u8] {
    let (start, end) = token.span();
    let text = src.part(start..end);
    text.strip_prefix(b"r#").unwrap_or(text)
}

/// The most tokens per statement. A bracket counts as one token, with its content.
///
/// The limit keeps the search for the end of a statement linear in a file without semicolons.
const STATEMENT: usize = 1024;

/// The tokens of a file, with the closing bracket of each opening one.
struct Code<'s, 't> {
    src: &'s [u8],
    tokens: &'t [Token],
    /// For each opening bracket, the index of its closing bracket.
    pairs: Vec<u32>,
    /// The strings among the tokens.
    strings: Vec<u32>,
}

impl<'s, 't> Code<'s, 't> {
    fn new(src: &'s [u8], tokens: &'t [Token]) -> Self {
        let mut pairs = vec![0_u32; tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        let mut strings = Vec::new();
        let count = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
        for (at, index) in (0..tokens.len()).zip(0_u32..) {
            match tokens.get(at).map(|token| token.kind) {
                Some(TokenKind::String) => strings.push(index),
                Some(TokenKind::Mark(b'(' | b'[' | b'{')) => open.push(at),
                Some(TokenKind::Mark(b')' | b']' | b'}')) => {
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
        Self { src, tokens, pairs, strings }
    }

    fn token(&self, at: usize) -> Option<Token> {
        self.tokens.get(at).copied()
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.token(at).is_some_and(|token| token.is(mark))
    }

    /// Returns the decoded text of the string at `at`.
    fn text(&self, at: usize) -> Vec<u8> {
        let mut view = crate::text::view::View::default();
        if let Some(token) = self.token(at).filter(|token| token.kind == TokenKind::String) {
            literal::decode_into(self.src, literal::text(self.src, token), &mut view);
        }
        view.bytes
    }

    fn is_path(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.kind == TokenKind::Path)
    }

    /// Returns the word at `at`, or an empty slice for another token.
    fn word(&self, at: usize) -> &'s [u8] {
        match self.token(at) {
            Some(token) if token.kind == TokenKind::Word => name_of(self.src, token),
            _ => b"",
        }
    }

    /// Returns the index of the closing bracket.
    fn close(&self, at: usize) -> usize {
        self.pairs.get(at).map_or(self.tokens.len(), |at| *at as usize)
    }

    /// Returns the strings between two tokens.
    fn strings(&self, start: usize, end: usize) -> &[u32] {
        let from = self.strings.partition_point(|at| (*at as usize) < start);
        let to = self.strings.partition_point(|at| (*at as usize) < end);
        self.strings.part(from..to)
    }

    /// Returns the start of the value of a declaration whose name is at `name`.
    fn initializer(&self, name: usize) -> Option<usize> {
        // The most tokens of the type between a name and its value.
        const TYPE: usize = 64;
        let from = name + 1;
        for at in from..from + TYPE {
            match self.token(at)?.kind {
                TokenKind::Mark(b'=') if !self.is(at + 1, b'=') && !self.is(at + 1, b'>') => {
                    return Some(at + 1);
                }
                TokenKind::Mark(b';' | b'{' | b'}') => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns the end of the statement around a token: its semicolon, or the closing bracket of the block.
    ///
    /// Visits at most `most` tokens, where a bracket with its content is one.
    fn statement_end(&self, start: usize, most: usize) -> usize {
        let mut at = start;
        let mut left = most;
        while let Some(token) = self.token(at) {
            if left == 0 {
                return at;
            }
            left = left.saturating_sub(1);
            at = match token.kind {
                TokenKind::Mark(b';' | b')' | b']' | b'}' | b',') => return at,
                TokenKind::Mark(b'(' | b'[' | b'{') => self.close(at).max(at) + 1,
                _ => at + 1,
            };
        }
        self.tokens.len()
    }

    /// Returns the ranges of the arguments in brackets.
    fn arguments(&self, open: usize) -> impl Iterator<Item = (usize, usize)> {
        let close = self.close(open);
        let mut at = open + 1;
        core::iter::from_fn(move || {
            if at >= close {
                return None;
            }
            let start = at;
            while at < close {
                match self.token(at).map(|token| token.kind) {
                    Some(TokenKind::Mark(b',')) => break,
                    Some(TokenKind::Mark(b'(' | b'[' | b'{')) => {
                        at = self.close(at).max(at) + 1;
                    }
                    _ => at += 1,
                }
            }
            let end = at.min(close);
            at += 1;
            Some((start, end))
        })
    }
}
