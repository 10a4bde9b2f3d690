//! A scanner that splits bytes into tokens. It never fails: text that may be code is read as code.

use plugward_types::Part;

use super::token::{COMPREHENSION, FIRST, RESTART, SPEC, Token, TokenKind, WIDE};
use crate::program::offset;
use crate::reading::{Piece, PieceKind};

/// An open bracket, or a string with an open replacement field.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenBracket {
    /// The token of a bracket.
    pub(super) index: u32,
    /// The bracket or the quote.
    pub(super) byte: u8,
    /// The length of the quote; 0 for a bracket.
    pub(super) count: u8,
    pub(super) flags: u8,
}

/// The tokens of a file, its comments and strings, and the ambiguous ranges.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) tokens: Vec<Token>,
    pub(super) pieces: Vec<Piece>,
    /// Text after an unclosed quote, which may be code.
    pub(super) unsure: Vec<(u32, u32)>,
    /// The offset at which the nesting limit was exceeded.
    pub(super) stopped: Option<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Scanner<'a> {
    pub(super) source: &'a [u8],
    pub(super) at: usize,
    pub(super) scan: Scan,
    stack: Vec<OpenBracket>,
    /// The number of open replacement fields.
    holes: usize,
    /// The number of open brackets that contain a statement and so are unclosed.
    broken: usize,
    nesting: usize,
    is_first: bool,
    /// The end of the line in which unclosed quotes were last searched, and how often.
    pub(super) unclosed: (usize, u32),
}

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a [u8], nesting: usize) -> Self {
        let scan = Scan { tokens: Vec::with_capacity(source.len() / 5), ..Scan::default() };
        let at = if source.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Self { source, at, scan, nesting, is_first: true, ..Self::default() }
    }

    pub(super) fn run(mut self) -> Scan {
        while let Some(&byte) = self.source.get(self.at) {
            self.step(byte);
        }
        self.line();
        self.scan
    }

    pub(super) fn open(&mut self, open: OpenBracket) {
        if self.stack.len() >= self.nesting && self.scan.stopped.is_none() {
            self.scan.stopped = Some(self.scan.tokens.len());
        }
        self.stack.push(open);
        self.holes += usize::from(open.count > 0);
    }

    fn close(&mut self) -> Option<OpenBracket> {
        let open = self.stack.pop();
        self.holes = self.holes.saturating_sub(usize::from(open.is_some_and(|open| open.count > 0)));
        self.broken = self.broken.min(self.stack.len());
        open
    }

    #[inline]
    pub(super) fn ahead(&self, distance: usize) -> u8 {
        self.source.get(self.at + distance).copied().unwrap_or(0)
    }

    pub(super) const fn skip(&mut self, count: usize) {
        self.at += count;
    }

    #[inline]
    pub(super) fn push(&mut self, kind: TokenKind, start: usize, flags: u8) {
        self.push_text(kind, start, flags, 0, 0);
    }

    #[inline]
    pub(super) fn push_text(&mut self, kind: TokenKind, start: usize, flags: u8, opens: u8, closes: u8) {
        let first = if self.is_first { FIRST } else { 0 };
        self.is_first = false;
        let (start, end) = (offset(start), offset(self.at));
        self.scan.tokens.push(Token { start, end, kind, flags: flags | first, opens, closes });
    }

    /// Ends a line. Inside brackets, a line break does not end the statement.
    fn line(&mut self) {
        if self.stack.is_empty() && self.scan.tokens.last().is_some_and(|last| last.kind != TokenKind::Line) {
            self.push(TokenKind::Line, self.at, 0);
        }
        self.is_first = true;
    }

    #[inline]
    fn step(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | 0x0C => self.skip(1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.name(),
            b'\n' | b'\r' => {
                self.line();
                self.skip(1);
            }
            b'#' => {
                let start = self.at;
                let rest = self.source.part(start..);
                self.skip(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()));
                let (start, end) = (offset(start), offset(self.at));
                self.scan.pieces.push(Piece { kind: PieceKind::Comment, start, end, is_escaped: false });
            }
            b'0'..=b'9' => self.number(),
            b'.' if self.ahead(1).is_ascii_digit() => self.number(),
            b'\'' | b'"' => self.string(self.at),
            b'\\' => match (self.ahead(1), self.ahead(2)) {
                (b'\r', b'\n') => self.skip(3),
                (b'\n' | b'\r', _) => self.skip(2),
                _ => self.skip(1),
            },
            _ => self.operator(byte),
        }
    }

    #[inline]
    fn name(&mut self) {
        let start = self.at;
        let rest = self.source.part(start..);
        let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte < 0x80;
        let len = rest.iter().position(is_end).unwrap_or(rest.len());
        let name = rest.part(..len);
        self.skip(len);
        // `rb'…'`: up to two letters before a quote may be a string prefix.
        if len <= 2 && matches!(rest.get(len), Some(b'\'' | b'"')) && super::literal::is_prefix(name) {
            return self.string(start);
        }
        let kind = TokenKind::of_word(name);
        if kind == TokenKind::Name {
            let wide = if name.is_ascii() { 0 } else { WIDE };
            return self.push(kind, start, wide);
        }
        // A line inside brackets that begins with a statement keyword shows that the brackets are unclosed.
        let restarts = self.is_first && kind.begins_statement() && self.holes == 0 && !self.stack.is_empty();
        if restarts {
            self.broken = self.stack.len();
        // `for` inside brackets makes them a comprehension, which has a scope from its first token on.
        } else if kind == TokenKind::For
            && self.stack.len() > self.broken
            && let Some(open) = self.stack.last().filter(|open| open.count == 0)
            && let Some(bracket) = self.scan.tokens.get_mut(open.index as usize)
        {
            bracket.flags |= COMPREHENSION;
        }
        self.push(kind, start, if restarts { RESTART } else { 0 });
    }

    fn operator(&mut self, byte: u8) {
        let start = self.at;
        let top = self.stack.last().copied();
        match byte {
            b'(' | b'[' | b'{' => {
                let index = offset(self.scan.tokens.len());
                self.open(OpenBracket { index, byte, count: 0, flags: 0 });
            }
            b')' | b']' if top.is_some_and(|open| open.count == 0) => {
                self.close();
            }
            b'}' => {
                // Unclosed brackets inside braces end with them.
                while self.stack.last().is_some_and(|open| matches!(open.byte, b'(' | b'[')) {
                    self.close();
                }
                if let Some(hole) = self.close().filter(|open| open.count > 0) {
                    self.brace(TokenKind::HoleEnd, 0);
                    return self.text(hole, TokenKind::Middle, self.at);
                }
            }
            b':' => {
                // A colon directly in a replacement field starts its format specifier, which is text.
                if let Some(hole) = top.filter(|open| open.count > 0) {
                    self.close();
                    self.skip(1);
                    let flags = hole.flags | SPEC;
                    return self.text(OpenBracket { flags, ..hole }, TokenKind::Middle, self.at);
                }
            }
            _ => {}
        }
        let (next, third) = (self.ahead(1), self.ahead(2));
        let is_pair = (byte == next && b"*/<>".contains(&byte))
            || (next == b'=' && b"=!<>+-*/%&|^@:".contains(&byte))
            || (byte == b'-' && next == b'>');
        self.skip(usize::from(is_pair));
        self.skip(usize::from(is_pair && byte == next && third == b'='));
        self.skip(1);
        let kind = TokenKind::of_operator(self.source.part(start..self.at));
        self.push(kind, start, 0);
    }
}
