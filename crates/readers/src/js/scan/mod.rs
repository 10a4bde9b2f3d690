//! A scanner that splits bytes into tokens in one pass.
//!
//! Whether `/` starts a regular expression or a division, and `{` a block or an object, depends on the
//! context, for which the scanner keeps a stack of brackets.

mod class;
mod literal;
mod mark;
mod markup;
mod regex;
mod word;

use plugward_types::Part;

use super::keyword::Keyword;
use super::token::{NEWLINE, NO_MATE, Token, TokenKind};
use super::{HtmlComments, JsOptions};
use crate::program::offset;
use class::{ByteClass, class, is_blank, is_separator, is_word, wide_blank};

/// The kind of an open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BracketKind {
    Paren,
    /// The head of `if`, `while`, `for` or `with`, which a statement follows.
    Control,
    Bracket,
    Brace(Brace),
    /// A substitution in a template.
    Hole,
    /// A brace inside JSX.
    JsxHole,
    JsxTag,
    JsxClosingTag,
    /// The text between two tags.
    JsxText,
}

/// The kind of an open brace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Brace {
    Block,
    /// The body of a function.
    Body(Continuation),
    Class(Continuation),
    Object,
}

/// What may follow a closing brace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Continuation {
    Statement,
    /// After the body of an arrow function, `/` starts a regular expression, but a statement cannot follow.
    Regex,
    Operator,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    open: BracketKind,
    /// The opening token.
    tok: u32,
    /// The number of conditional operators without their colon.
    ternaries: u32,
    /// The expected body of a `function` or `class`.
    pending: Option<Brace>,
}

/// The tokens of a file.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<(u32, u32)>,
    pub(super) unsure: Vec<(u32, u32)>,
    /// The offset at which the nesting limit was exceeded.
    pub(super) stopped: Option<usize>,
    /// Set if the file contains a comment that is valid in scripts only.
    pub(super) has_html_comments: bool,
}

pub(super) struct Scanner<'a> {
    src: &'a [u8],
    at: usize,
    options: JsOptions,
    frames: Vec<Frame>,
    out: Scanned,
    newline: bool,
    /// Set if an operand may start here, so that `/` starts a regular expression and `<` a tag.
    operand: bool,
    statement: bool,
    last: TokenKind,
    last_kw: Keyword,
    regex_line: regex::RegexLine,
    /// The end of the last measured line.
    line_end: usize,
}

/// The frame of the file, which no token closes.
const BASE: Frame =
    Frame { open: BracketKind::Brace(Brace::Block), tok: NO_MATE, ternaries: 0, pending: None };

impl<'a> Scanner<'a> {
    pub(super) fn new(src: &'a [u8], options: JsOptions) -> Self {
        let tokens = Vec::with_capacity(src.len() / 4);
        Self {
            src,
            at: 0,
            options,
            frames: vec![BASE],
            out: Scanned { tokens, ..Scanned::default() },
            newline: true,
            operand: true,
            statement: true,
            last: TokenKind::Semi,
            last_kw: Keyword::None,
            regex_line: regex::RegexLine::default(),
            line_end: 0,
        }
    }

    pub(super) fn run(mut self) -> Scanned {
        if self.src.starts_with(&[0xEF, 0xBB, 0xBF]) {
            self.at = 3;
        }
        // A shebang is a comment.
        if self.rest().starts_with(b"#!") {
            self.line_comment();
        }
        while self.at < self.src.len() {
            match self.top().open {
                BracketKind::JsxText => self.jsx_text(),
                BracketKind::JsxTag | BracketKind::JsxClosingTag => self.jsx_tag(),
                _ => self.step(),
            }
        }
        self.unclosed_markup();
        self.out
    }

    /// Marks the text of an unclosed JSX element as possible code.
    fn unclosed_markup(&mut self) {
        let is_markup =
            |open| matches!(open, BracketKind::JsxText | BracketKind::JsxTag | BracketKind::JsxClosingTag);
        let first = self.frames.iter().find(|frame| is_markup(frame.open));
        if let Some(tok) = first.and_then(|frame| self.out.tokens.get(frame.tok as usize)) {
            self.out.unsure.push((tok.start.saturating_add(1), offset(self.src.len())));
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.src.part(self.at..)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.src.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn top(&self) -> Frame {
        self.frames.last().copied().unwrap_or(BASE)
    }

    #[inline]
    fn push(&mut self, kind: TokenKind, start: usize, end: usize, flags: u8) {
        self.push_word(kind, Keyword::None, (start, end), flags);
    }

    #[inline]
    fn push_word(&mut self, kind: TokenKind, kw: Keyword, span: (usize, usize), flags: u8) {
        let flags = if self.newline { flags | NEWLINE } else { flags };
        self.newline = false;
        self.out.tokens.push(Token::new(kind, kw, offset(span.0), offset(span.1), flags));
        self.last = kind;
        self.last_kw = kw;
    }

    /// Reads code to the end of a token that may change the meaning of the next bytes.
    fn step(&mut self) {
        while let Some(&byte) = self.src.get(self.at) {
            match class(byte) {
                ByteClass::Blank => self.at += 1,
                ByteClass::RegexLine => {
                    self.newline = true;
                    self.at += 1;
                    // Indentation is skipped here, because most spaces of a file are part of it.
                    while self.src.get(self.at).is_some_and(|byte| *byte == b' ') {
                        self.at += 1;
                    }
                }
                ByteClass::Word => self.word(TokenKind::Word, self.at),
                ByteClass::Digit => self.number(),
                ByteClass::Quote => self.string(byte),
                // Other characters outside of ASCII are taken for letters.
                ByteClass::Wide => match wide_blank(self.rest()) {
                    Some(len) => {
                        self.newline |= is_separator(self.rest());
                        self.at += len;
                    }
                    None => self.word(TokenKind::Word, self.at),
                },
                ByteClass::Plain => self.plain(byte),
                ByteClass::Special => return self.mark(byte),
            }
        }
    }

    fn set_pending(&mut self, pending: Option<Brace>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = pending;
        }
    }

    /// Opens a bracket at the last token. At the nesting limit, all brackets are dropped and scanning
    /// continues.
    fn open(&mut self, open: BracketKind) {
        // The limit bounds the memory for brackets.
        if self.frames.len() > self.options.depth {
            self.out.stopped.get_or_insert(self.at);
            self.frames.truncate(1);
        }
        let tok = offset(self.out.tokens.len().wrapping_sub(1));
        self.frames.push(Frame { open, tok, ternaries: 0, pending: None });
    }

    /// Pairs a closing bracket, the last token, with the opening one of a frame.
    fn join(&mut self, frame: Frame) {
        let close = self.out.tokens.len().wrapping_sub(1);
        if let Some(tok) = self.out.tokens.get_mut(frame.tok as usize) {
            tok.set_mate(offset(close));
        }
        if let Some(tok) = self.out.tokens.get_mut(close) {
            tok.set_mate(frame.tok);
        }
    }

    fn emit(&mut self, kind: TokenKind, len: usize) {
        let start = self.at;
        self.at = start + len;
        self.push(kind, start, self.at, 0);
        (self.operand, self.statement) = (true, false);
    }

    /// Returns `true` if the characters here start a comment of scripts.
    fn is_html_comment(&mut self) -> bool {
        self.out.has_html_comments = true;
        self.options.html_comments == HtmlComments::Comment
    }

    /// Marks the rest of a line as possible code.
    fn unsure_line(&mut self, start: usize) {
        // A line is measured once, even if it has many such marks.
        if self.line_end < start {
            let rest = self.src.part(start..);
            let line = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            self.line_end = start + line;
        }
        self.out.unsure.push((offset(start), offset(self.line_end)));
    }
}
