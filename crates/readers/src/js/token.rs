//! Tokens of JavaScript and TypeScript.

use super::keyword::Keyword;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Private,
    Number,
    String,
    /// A template without substitutions, and the parts around substitutions.
    Template,
    TemplateHead,
    TemplateMiddle,
    TemplateTail,
    Regex,
    JsxStart,
    JsxText,
    JsxEnd,
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Dot,
    QDot,
    Ellipsis,
    Semi,
    Comma,
    Lt,
    Gt,
    Colon,
    Question,
    /// `||`, `&&`, `??`, whose value is one of the sides.
    Either,
    Assign,
    /// `||=`, `&&=`, `??=`.
    EitherAssign,
    /// `+=`.
    PlusAssign,
    OpAssign,
    Equality,
    Bang,
    Arrow,
    Plus,
    Minus,
    Star,
    IncDec,
    At,
    Op,
}

impl TokenKind {
    #[inline]
    pub(super) const fn is_bracket(self) -> bool {
        matches!(
            self,
            Self::LParen | Self::RParen | Self::LBracket | Self::RBracket | Self::LBrace | Self::RBrace
        )
    }

    /// Returns `true` for tokens that close brackets, substitutions and tags.
    #[inline]
    pub(super) const fn is_close(self) -> bool {
        matches!(
            self,
            Self::RParen
                | Self::RBracket
                | Self::RBrace
                | Self::TemplateMiddle
                | Self::TemplateTail
                | Self::JsxEnd
        )
    }

    /// Returns `true` for words and numbers, between which a space is needed.
    #[inline]
    pub(super) const fn is_wordy(self) -> bool {
        matches!(self, Self::Word | Self::Private | Self::Number)
    }

    /// Returns `true` for strings, parts of templates and text between tags.
    #[inline]
    pub(super) const fn is_text(self) -> bool {
        matches!(
            self,
            Self::String
                | Self::Template
                | Self::TemplateHead
                | Self::TemplateMiddle
                | Self::TemplateTail
                | Self::JsxText
        )
    }
}

/// A line break precedes the token.
pub(super) const NEWLINE: u8 = 1;
/// The word or text contains escapes.
pub(super) const ESCAPED: u8 = 2;
/// The text is not closed.
pub(super) const UNCLOSED: u8 = 4;

/// The index of a missing bracket.
pub(super) const NO_MATE: u32 = u32::MAX;

/// One token. It has 12 bytes, because large files have millions of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: u32,
    /// The index of the matching bracket, or the length of another token.
    rest: u32,
    pub(super) kind: TokenKind,
    pub(super) kw: Keyword,
    pub(super) flags: u8,
}

impl Token {
    /// The token after the last one.
    pub(super) const END: Self =
        Self { start: u32::MAX, rest: 0, kind: TokenKind::Semi, kw: Keyword::None, flags: NEWLINE };

    #[inline]
    pub(super) const fn new(kind: TokenKind, kw: Keyword, start: u32, end: u32, flags: u8) -> Self {
        let rest = if kind.is_bracket() { NO_MATE } else { end.wrapping_sub(start) };
        Self { start, rest, kind, kw, flags }
    }

    #[inline]
    pub(super) const fn end(self) -> u32 {
        self.start.saturating_add(if self.kind.is_bracket() { 1 } else { self.rest })
    }

    /// Returns the range of the token in the file.
    #[inline]
    pub(super) const fn span(self) -> (usize, usize) {
        (self.start as usize, self.end() as usize)
    }

    /// Returns the index of the matching bracket, or [`NO_MATE`] if there is none.
    #[inline]
    pub(super) const fn mate(self) -> u32 {
        if self.kind.is_bracket() { self.rest } else { NO_MATE }
    }

    pub(super) const fn set_mate(&mut self, mate: u32) {
        if self.kind.is_bracket() {
            self.rest = mate;
        }
    }

    #[inline]
    pub(super) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns the range of a text's content, without quotes.
    pub(super) const fn body(self) -> (usize, usize) {
        let (start, end) = self.span();
        let close = match self.kind {
            TokenKind::JsxText => return (start, end),
            _ if self.has(UNCLOSED) => 0,
            TokenKind::TemplateHead | TokenKind::TemplateMiddle => 2,
            _ => 1,
        };
        let first = start.saturating_add(1);
        let last = end.saturating_sub(close);
        (first, if last < first { first } else { last })
    }
}
