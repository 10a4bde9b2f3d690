//! Tokens of Python.

use plugward_types::Part;

/// The kind of a token. Words that the parser treats alike share a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name,
    Number,
    /// A whole string.
    String,
    /// The text of an f-string or t-string before, between and after its replacement fields.
    Head,
    Middle,
    Tail,
    /// The braces of a replacement field.
    Hole,
    HoleEnd,
    /// The end of a statement's line.
    Line,
    OpenParen,
    OpenBracket,
    OpenBrace,
    /// `)`, `]`.
    Close,
    CloseBrace,
    Comma,
    Colon,
    Semicolon,
    Dot,
    Assign,
    /// `+=` and other augmented assignments.
    Augment,
    Walrus,
    /// `+`, and `~`, which is only a prefix operator.
    Plus,
    Minus,
    Star,
    Power,
    Percent,
    At,
    Slash,
    /// Comparisons, shifts and bit operators.
    Compare,
    Other,
    /// `async` and `await`, which precede another keyword.
    Async,
    As,
    Class,
    Def,
    Del,
    Else,
    Except,
    For,
    From,
    Global,
    If,
    Import,
    In,
    Is,
    Lambda,
    /// `and`, `or`.
    Logic,
    Not,
    /// `pass`, `break`, `continue`.
    Pass,
    Return,
    /// A keyword that begins a statement with unused values.
    Statement,
    With,
    Yield,
}

impl TokenKind {
    /// Returns the kind of a word.
    pub(super) const fn of_word(word: &[u8]) -> Self {
        match word {
            b"and" | b"or" => Self::Logic,
            b"as" => Self::As,
            b"assert" | b"elif" | b"finally" | b"raise" | b"try" | b"while" => Self::Statement,
            b"async" | b"await" => Self::Async,
            b"break" | b"continue" | b"pass" => Self::Pass,
            b"class" => Self::Class,
            b"def" => Self::Def,
            b"del" => Self::Del,
            b"else" => Self::Else,
            b"except" => Self::Except,
            b"for" => Self::For,
            b"from" => Self::From,
            b"global" | b"nonlocal" => Self::Global,
            b"if" => Self::If,
            b"import" => Self::Import,
            b"in" => Self::In,
            b"is" => Self::Is,
            b"lambda" => Self::Lambda,
            b"not" => Self::Not,
            b"return" => Self::Return,
            b"with" => Self::With,
            b"yield" => Self::Yield,
            _ => Self::Name,
        }
    }

    /// Returns the kind of an operator.
    pub(super) const fn of_operator(text: &[u8]) -> Self {
        match text {
            b"(" => Self::OpenParen,
            b"[" => Self::OpenBracket,
            b"{" => Self::OpenBrace,
            b")" | b"]" => Self::Close,
            b"}" => Self::CloseBrace,
            b"," => Self::Comma,
            b":" => Self::Colon,
            b";" => Self::Semicolon,
            b"." => Self::Dot,
            b"=" => Self::Assign,
            b":=" => Self::Walrus,
            b"+" | b"~" => Self::Plus,
            b"-" => Self::Minus,
            b"*" => Self::Star,
            b"**" => Self::Power,
            b"%" => Self::Percent,
            b"@" => Self::At,
            b"/" | b"//" => Self::Slash,
            b"==" | b"!=" | b"<=" | b">=" | b"<" | b">" | b"<<" | b">>" | b"|" | b"&" | b"^" => Self::Compare,
            [.., b'='] => Self::Augment,
            _ => Self::Other,
        }
    }

    /// Returns `true` if a word begins a statement and cannot occur in an expression.
    pub(super) const fn begins_statement(self) -> bool {
        use TokenKind::{Class, Def, Del, Except, Global, Import, Pass, Return, Statement, With};
        matches!(self, Class | Def | Del | Except | Global | Import | Pass | Return | Statement | With)
    }

    /// Returns `true` for names and other words.
    pub(super) const fn is_word(self) -> bool {
        matches!(self, Self::Name) || self as u8 >= Self::Async as u8
    }
}

/// The token is the first of its line.
pub(super) const FIRST: u8 = 1;
/// The name is not ASCII, so its normal form counts.
pub(super) const WIDE: u8 = 2;
/// The bracket contains a comprehension.
pub(super) const COMPREHENSION: u8 = 2;
/// The word begins a statement at the start of a line inside brackets, so the brackets are unclosed.
pub(super) const RESTART: u8 = 2;
/// The string contains a backslash.
pub(super) const ESCAPED: u8 = 4;
/// The string is raw, so its backslashes are plain.
pub(super) const RAW: u8 = 8;
/// A byte string.
pub(super) const BYTES: u8 = 16;
/// The string has replacement fields or doubled braces.
pub(super) const FORMATTED: u8 = 32;
/// The text after the colon of a replacement field.
pub(super) const SPEC: u8 = 64;

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: TokenKind,
    pub(super) flags: u8,
    /// The number of bytes that open and close a string.
    pub(super) opens: u8,
    pub(super) closes: u8,
}

impl Token {
    pub(super) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(super) const fn range(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }

    pub(super) fn text(self, source: &[u8]) -> &[u8] {
        source.part(self.start as usize..self.end as usize)
    }

    /// Returns a string's text without quotes.
    pub(super) fn body(self, source: &[u8]) -> &[u8] {
        let start = self.start as usize + usize::from(self.opens);
        let end = (self.end as usize).saturating_sub(usize::from(self.closes));
        source.part(start..end)
    }
}
