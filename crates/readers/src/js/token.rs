//! Tokens of JavaScript and TypeScript.

use super::keyword::Kw;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum K {
    Word,
    Private,
    Num,
    Str,
    /// A template without holes, and the parts around holes.
    Tpl,
    TplHead,
    TplMid,
    TplTail,
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
    /// `||`, `&&`, `??`: the value may be that of either side.
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

impl K {
    #[inline]
    pub(super) const fn is_bracket(self) -> bool {
        matches!(
            self,
            Self::LParen | Self::RParen | Self::LBracket | Self::RBracket | Self::LBrace | Self::RBrace
        )
    }

    /// Returns `true` for what closes brackets, holes of templates and tags.
    #[inline]
    pub(super) const fn is_close(self) -> bool {
        matches!(
            self,
            Self::RParen | Self::RBracket | Self::RBrace | Self::TplMid | Self::TplTail | Self::JsxEnd
        )
    }

    /// Returns `true` for words and numbers, which a blank separates.
    #[inline]
    pub(super) const fn is_wordy(self) -> bool {
        matches!(self, Self::Word | Self::Private | Self::Num)
    }

    /// Returns `true` for strings, parts of templates and text between tags.
    #[inline]
    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Str | Self::Tpl | Self::TplHead | Self::TplMid | Self::TplTail | Self::JsxText)
    }
}

/// A line ends in front of the token.
pub(super) const NEWLINE: u8 = 1;
/// A word or text with escapes.
pub(super) const ESCAPED: u8 = 2;
/// A text without an end.
pub(super) const UNCLOSED: u8 = 4;

/// What a bracket has whose other one is missing.
pub(super) const NO_MATE: u32 = u32::MAX;

/// One token. Large files have millions, so it is kept to 12 bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tok {
    pub(super) start: u32,
    /// The index of the other bracket, or the length of another token.
    rest: u32,
    pub(super) kind: K,
    pub(super) kw: Kw,
    pub(super) flags: u8,
}

impl Tok {
    /// What follows the last token.
    pub(super) const END: Self =
        Self { start: u32::MAX, rest: 0, kind: K::Semi, kw: Kw::None, flags: NEWLINE };

    #[inline]
    pub(super) const fn new(kind: K, kw: Kw, start: u32, end: u32, flags: u8) -> Self {
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

    /// Returns the index of the other bracket, [`NO_MATE`] if there is none.
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

    /// Returns where the content of a text starts and ends, its quotes excluded.
    pub(super) const fn body(self) -> (usize, usize) {
        let (start, end) = self.span();
        let close = match self.kind {
            K::JsxText => return (start, end),
            _ if self.has(UNCLOSED) => 0,
            K::TplHead | K::TplMid => 2,
            _ => 1,
        };
        let first = start.saturating_add(1);
        let last = end.saturating_sub(close);
        (first, if last < first { first } else { last })
    }
}
