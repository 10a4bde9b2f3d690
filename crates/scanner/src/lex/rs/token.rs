//! Tokens of Rust: words, literals and marks, with comments kept apart.

use plugward_types::Part;

use crate::lex::offset;
use crate::scan::options::ScanLimits;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    Lifetime,
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
    pub(super) fn is(self, mark: u8) -> bool {
        self.kind == TokenKind::Mark(mark)
    }

    pub(super) const fn span(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }
}

/// The result of tokenizing a text.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<(usize, usize)>,
    /// Unclosed strings and comments. Their content is tokenized as well.
    pub(super) unsure: Vec<(usize, usize)>,
    /// The offset at which brackets exceeded the nesting limit.
    pub(super) stopped: Option<usize>,
}

struct Scanner<'s> {
    src: &'s [u8],
    at: usize,
    out: Scanned,
    depth: usize,
    limit: usize,
    /// Set after an unclosed string or comment, so that the end is not searched again.
    no_string_end: bool,
    no_comment_end: bool,
    /// The number of `#` from which raw strings are known to be unclosed.
    no_raw_end: usize,
}

/// Splits a text into tokens.
pub(super) fn scan(src: &[u8], limits: &ScanLimits) -> Scanned {
    let at = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut scanner = Scanner {
        src,
        at,
        out: Scanned::default(),
        depth: 0,
        limit: limits.brackets,
        no_string_end: false,
        no_comment_end: false,
        no_raw_end: usize::MAX,
    };
    let head = src.part(at..);
    if head.starts_with(b"#!") && !head.part(2..).trim_ascii_start().starts_with(b"[") {
        let end = at + memchr::memchr(b'\n', head).unwrap_or(head.len());
        scanner.out.comments.push((at, end));
        scanner.at = end;
    }
    while scanner.at < src.len() {
        scanner.step();
    }
    scanner.out
}

pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        self.src.part(self.at..)
    }

    fn push(&mut self, kind: TokenKind, len: usize) {
        let end = (self.at + len.max(1)).min(self.src.len());
        self.out.tokens.push(Token { kind, start: offset(self.at), end: offset(end) });
        self.at = end;
    }

    fn step(&mut self) {
        match self.rest() {
            [b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C, ..] => self.at += 1,
            [b'/', b'/', ..] => {
                let len = memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
                self.comment(len);
            }
            [b'/', b'*', ..] if !self.no_comment_end => self.block_comment(),
            [b'"', ..] if !self.no_string_end => self.string(0),
            [b'\'', ..] => self.quote(0),
            [b'0'..=b'9', ..] => self.number(),
            [byte, ..] if is_word(*byte) => self.word(),
            [b':', b':', ..] => self.push(TokenKind::Path, 2),
            [byte, ..] => {
                let byte = *byte;
                self.bracket(byte);
                self.push(TokenKind::Mark(byte), 1);
            }
            [] => {}
        }
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

    fn comment(&mut self, len: usize) {
        let end = self.at + len;
        self.out.comments.push((self.at, end));
        self.at = end;
    }

    /// Skips a block comment. Block comments nest in Rust.
    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        let mut at = 0_usize;
        loop {
            let rest = self.rest().part(at..);
            let Some(more) = memchr::memchr2(b'/', b'*', rest) else {
                self.no_comment_end = true;
                return self.unclosed(2);
            };
            at += more;
            match rest.part(more..) {
                [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
                [b'*', b'/', ..] => {
                    (depth, at) = (depth.saturating_sub(1), at + 2);
                    if depth == 0 {
                        break;
                    }
                }
                _ => at += 1,
            }
        }
        self.comment(at);
    }

    fn word(&mut self) {
        let rest = self.rest();
        let len = rest.iter().take_while(|byte| is_word(**byte)).count();
        let word = rest.part(..len);
        let tail = rest.part(len..);
        match (word, tail.first()) {
            (b"b" | b"c", Some(b'"')) if !self.no_string_end => self.string(len),
            (b"b", Some(b'\'')) => self.quote(len),
            (b"r" | b"br" | b"cr", Some(b'"' | b'#')) => {
                let marks = tail.iter().take_while(|byte| **byte == b'#').count();
                if tail.get(marks) == Some(&b'"') && marks < self.no_raw_end {
                    self.raw(len, marks);
                } else if word == b"r" && marks == 1 && tail.get(1).is_some_and(|byte| is_word(*byte)) {
                    // `r#name` is a word, too.
                    let more = tail.iter().skip(1).take_while(|byte| is_word(**byte)).count();
                    self.push(TokenKind::Word, len + 1 + more);
                } else {
                    self.push(TokenKind::Word, len);
                }
            }
            _ => self.push(TokenKind::Word, len),
        }
    }

    fn number(&mut self) {
        let rest = self.rest();
        let mut len = rest.iter().take_while(|byte| is_word(**byte)).count();
        if rest.get(len) == Some(&b'.') && rest.get(len + 1).is_some_and(u8::is_ascii_digit) {
            len += 1;
            let tail = rest.part(len..);
            len += tail.iter().take_while(|byte| is_word(**byte)).count();
        }
        self.push(TokenKind::Number, len);
    }

    /// Reads a string with escapes after its prefix.
    fn string(&mut self, prefix: usize) {
        let mut at = prefix + 1;
        loop {
            let rest = self.rest().rest(at);
            let Some(more) = memchr::memchr2(b'"', b'\\', rest) else {
                self.no_string_end = true;
                return self.unclosed(prefix + 1);
            };
            at += more;
            if rest.get(more) == Some(&b'"') {
                break self.push(TokenKind::String, at + 1);
            }
            at += 2;
        }
    }

    fn raw(&mut self, prefix: usize, marks: usize) {
        let mut at = prefix + marks + 1;
        loop {
            let rest = self.rest().part(at..);
            let Some(more) = memchr::memchr(b'"', rest) else {
                self.no_raw_end = marks;
                return self.unclosed(prefix + marks + 1);
            };
            let tail = rest.part(more + 1..);
            at += more + 1;
            if tail.iter().take(marks).take_while(|byte| **byte == b'#').count() == marks {
                break self.push(TokenKind::String, at + marks);
            }
        }
    }

    /// Handles an unclosed string or comment: the text after its first mark is tokenized as code.
    fn unclosed(&mut self, mark: usize) {
        let end = self.src.len();
        let from = (self.at + mark).min(end);
        self.out.unsure.push((from, end));
        self.at = from;
    }

    /// Reads a character literal or a lifetime.
    fn quote(&mut self, prefix: usize) {
        let rest = self.rest().part(prefix + 1..);
        let body = match rest {
            [b'\\', b'u', b'{', ..] => memchr::memchr(b'}', rest.part(..16.min(rest.len()))).map(|at| at + 1),
            [b'\\', b'x', _, _, ..] => Some(4),
            [b'\\', _, ..] => Some(2),
            [byte, ..] => Some(width(*byte)),
            [] => None,
        };
        match body.filter(|len| rest.get(*len) == Some(&b'\'')) {
            Some(len) => self.push(TokenKind::Char, prefix + len + 2),
            None if prefix > 0 => self.push(TokenKind::Word, prefix),
            None => {
                let len = rest.iter().take_while(|byte| is_word(**byte)).count();
                self.push(if len > 0 { TokenKind::Lifetime } else { TokenKind::Mark(b'\'') }, len + 1);
            }
        }
    }
}

/// Returns the length of a UTF-8 character, from its first byte.
const fn width(first: u8) -> usize {
    match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        _ => 1,
    }
}
