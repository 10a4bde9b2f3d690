//! Tokens of Rust, with the comments and strings as pieces.

use plugward_readers::{Piece, PieceKind};
use plugward_types::Part;

use crate::lex::offset;
use crate::scan::options::ScanLimits;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, keyword or number.
    Word,
    /// A string of any kind, with its quotes.
    String,
    Char,
    /// `::`
    Path,
    /// One byte.
    Mark(u8),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Token {
    pub(super) const fn span(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }
}

/// The result of tokenizing a text.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) tokens: Vec<Token>,
    /// Comments and strings, in the order of the file.
    pub(super) pieces: Vec<Piece>,
    /// The offset at which brackets exceeded the nesting limit.
    pub(super) stopped: Option<usize>,
}

struct Scanner<'s> {
    src: &'s [u8],
    at: usize,
    out: Scanned,
    depth: usize,
    limit: usize,
    /// Set after an unclosed string or comment. The rest is one piece of text, and all of it is code as well.
    is_broken: bool,
}

/// Splits a text into tokens.
pub(super) fn scan(src: &[u8], limits: &ScanLimits) -> Scanned {
    let at = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let out = Scanned::default();
    let mut scanner = Scanner { src, at, out, depth: 0, limit: limits.brackets, is_broken: false };
    let head = src.part(at..);
    if head.starts_with(b"#!") && !head.part(2..).trim_ascii_start().starts_with(b"[") {
        scanner.comment(line(head));
    }
    while scanner.at < src.len() {
        scanner.step();
    }
    scanner.out
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'s> Scanner<'s> {
    fn push(&mut self, kind: TokenKind, len: usize) {
        let end = (self.at + len).min(self.src.len());
        self.out.tokens.push(Token { kind, start: offset(self.at), end: offset(end) });
        self.at = end;
    }

    fn step(&mut self) {
        let rest = self.src.part(self.at..);
        match rest {
            [b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C, ..] => self.at += 1,
            [b'/', b'/', ..] if !self.is_broken => self.comment(line(rest)),
            [b'/', b'*', ..] if !self.is_broken => match block_comment(rest) {
                Some(len) => self.comment(len),
                None => self.unclosed(2),
            },
            [b':', b':', ..] => self.push(TokenKind::Path, 2),
            _ => self.word(rest),
        }
    }

    fn comment(&mut self, len: usize) {
        let end = self.at + len;
        self.out.pieces.push(Piece::new(PieceKind::Comment, offset(self.at), offset(end)));
        self.at = end;
    }

    /// Reads a word, a literal with its prefix, or a mark.
    fn word(&mut self, rest: &'s [u8]) {
        let len = rest.iter().take_while(|byte| is_word(**byte)).count();
        let (word, tail) = rest.parts_at(len);
        let hashes = tail.iter().take_while(|byte| **byte == b'#').count();
        match (word, tail) {
            (b"" | b"b" | b"c", [b'"', body @ ..]) if !self.is_broken => {
                self.string(len + 1, string_end(body), memchr::memchr(b'\\', body));
            }
            (b"r" | b"br" | b"cr", _) if !self.is_broken && tail.get(hashes) == Some(&b'"') => {
                let close = [b"\"".as_slice(), tail.part(..hashes)].concat();
                let body = tail.part(hashes + 1..);
                let end = memchr::memmem::find(body, &close).map(|at| at + close.len());
                self.string(len + hashes + 1, end, None);
            }
            // `r#name` is a word, too.
            (b"r", [b'#', name @ ..]) if name.first().is_some_and(|byte| is_word(*byte)) => {
                let more = name.iter().take_while(|byte| is_word(**byte)).count();
                self.push(TokenKind::Word, len + 1 + more);
            }
            (b"" | b"b", [b'\'', body @ ..]) if let Some(end) = char_end(body) => {
                self.push(TokenKind::Char, len + 1 + end);
            }
            ([], [mark, ..]) => {
                self.bracket(*mark);
                self.push(TokenKind::Mark(*mark), 1);
            }
            _ => self.push(TokenKind::Word, len),
        }
    }

    /// Adds a string by the lengths of its opening mark and of its text with the closing mark.
    fn string(&mut self, open: usize, end: Option<usize>, escape: Option<usize>) {
        let Some(end) = end else { return self.unclosed(open) };
        let mut piece = Piece::new(PieceKind::String, offset(self.at), offset(self.at + open + end));
        piece.is_escaped = escape.is_some_and(|at| at < end);
        self.out.pieces.push(piece);
        self.push(TokenKind::String, open + end);
    }

    fn unclosed(&mut self, mark: usize) {
        let end = offset(self.src.len());
        self.out.pieces.push(Piece::new(PieceKind::Comment, offset(self.at), end));
        self.is_broken = true;
        self.at += mark;
    }

    fn bracket(&mut self, byte: u8) {
        match byte {
            b'(' | b'[' | b'{' => {
                self.depth += 1;
                if self.depth > self.limit && self.out.stopped.is_none() {
                    self.out.stopped = Some(self.at);
                }
            }
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Returns the length of the line at the start of a text.
fn line(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).unwrap_or(text.len())
}

/// Returns the length of a block comment. Block comments nest in Rust.
fn block_comment(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0_usize;
    loop {
        at += memchr::memchr2(b'/', b'*', text.rest(at))?;
        match text.part(at..) {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return Some(at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth.saturating_sub(1), at + 2),
            _ => at += 1,
        }
    }
}

/// Returns the length of a string's text with the closing quote.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.rest(at))?;
        if text.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns the length of a character with the closing quote; `None` for a lifetime.
fn char_end(text: &[u8]) -> Option<usize> {
    let len = match text {
        [b'\\', b'u', b'{', ..] => memchr::memchr(b'}', text.head(16))? + 1,
        [b'\\', b'x', ..] | [0xF0..=0xFF, ..] => 4,
        [b'\\' | 0xC0..=0xDF, ..] => 2,
        [0xE0..=0xEF, ..] => 3,
        _ => 1,
    };
    (text.get(len) == Some(&b'\'')).then_some(len + 1)
}
