//! Tokens of JavaScript and TypeScript.

use crate::names::{LONG_KEY, Word};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
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
    /// `||`, `&&`, `??`: the value may be either side's.
    Either,
    Assign,
    /// `||=`, `&&=`, `??=`.
    EitherAssign,
    OpAssign,
    Equality,
    Bang,
    Arrow,
    Plus,
    IncDec,
    At,
    Op,
}

/// What a brace opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Brace {
    Block,
    /// A function's body; `Statement` where a statement follows it.
    Body,
    Class,
    Object,
}

pub(super) const NEWLINE: u8 = 1;
pub(super) const ESCAPED: u8 = 2;
pub(super) const UNCLOSED: u8 = 4;
/// The head of `if`, `while`, `for`, `with`.
pub(super) const CONTROL: u8 = 8;
/// The end of a function or class that is an expression.
pub(super) const EXPRESSION: u8 = 16;

/// The opening bracket of a pair that holds no event, as far as is known.
pub(super) const DULL: u8 = 32;
/// A token from which a finding may come: a name of the tables, a module that is asked for, the global object.
pub(super) const EVENT: u8 = 64;
/// A token of a name that is followed, where it counts.
pub(super) const LIVE: u8 = 128;

/// One token in 12 bytes: large files have millions. `aux` is the interned word of a word with its name's key, and the index of
/// the other bracket of a bracket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tok {
    pub(super) start: u32,
    /// Of a token of [`LONG`] bytes or more it is the end.
    pub(super) aux: u32,
    /// The bytes of the token, or, of a brace, what it opens.
    len: u16,
    pub(super) kind: K,
    pub(super) flags: u8,
}

/// A token of so many bytes holds its end in place of the rest: no word of the tables is as long, and no bracket.
pub(super) const LONG: u16 = u16::MAX;

impl Tok {
    pub(super) const END: Self = Self { start: 0, aux: 0, len: 0, kind: K::Semi, flags: 0 };

    pub(super) fn new(kind: K, start: u32, end: u32, aux: u32, flags: u8) -> Self {
        let len = u16::try_from(end.wrapping_sub(start)).unwrap_or(LONG);
        match kind {
            K::LBrace | K::RBrace => Self { start, aux, len: 0, kind, flags },
            _ if len == LONG => Self { start, aux: end, len, kind, flags },
            _ => Self { start, aux, len, kind, flags },
        }
    }

    /// Where the token ends.
    #[inline]
    pub(super) fn end(self) -> u32 {
        match self.kind {
            K::LBrace | K::RBrace => self.start.wrapping_add(1),
            _ if self.len == LONG => self.aux,
            _ => self.start.wrapping_add(u32::from(self.len)),
        }
    }

    /// What a brace opens.
    #[inline]
    pub(super) const fn brace(self) -> Brace {
        match (self.kind, self.len) {
            (K::LBrace | K::RBrace, 1) => Brace::Body,
            (K::LBrace | K::RBrace, 2) => Brace::Class,
            (K::LBrace | K::RBrace, 3) => Brace::Object,
            _ => Brace::Block,
        }
    }

    pub(super) const fn set_brace(&mut self, brace: Brace) {
        if matches!(self.kind, K::LBrace | K::RBrace) {
            self.len = match brace {
                Brace::Block => 0,
                Brace::Body => 1,
                Brace::Class => 2,
                Brace::Object => 3,
            };
        }
    }

    /// Packs what is known of a word.
    #[inline]
    pub(super) const fn word_aux(word: Word, key: u16) -> u32 {
        (key as u32) << 16 | word as u32
    }

    /// The interned word; of a word only.
    #[inline]
    pub(super) const fn word(self) -> Word {
        if self.len == LONG { 0 } else { (self.aux & 0xFFFF) as Word }
    }

    /// The key of the name, escapes decoded; of a word only.
    #[inline]
    pub(super) const fn key(self) -> u16 {
        if self.len == LONG { LONG_KEY } else { (self.aux >> 16) as u16 }
    }

    #[inline]
    pub(super) const fn newline(self) -> bool {
        self.flags & NEWLINE != 0
    }
}

/// Where an unclosed bracket has no other one.
pub(super) const NO_MATE: u32 = u32::MAX;

/// Words that the lexer and the walker know by number. They are interned first, in this order.
macro_rules! keywords {
    ($($name:ident = $text:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u16)]
        pub(super) enum Kw { None = 0, $($name),* }
        pub(super) const KEYWORDS: &[&str] = &[$($text),*];
        const ALL: &[Kw] = &[$(Kw::$name),*];
    };
}

keywords! {
    Typeof = "typeof", Instanceof = "instanceof", In = "in", Of = "of", New = "new", Delete = "delete",
    Void = "void", Throw = "throw", Case = "case", Do = "do", Else = "else", Await = "await", Yield = "yield",
    Return = "return", Function = "function", Class = "class", If = "if", While = "while", For = "for",
    With = "with", Switch = "switch", Catch = "catch", Try = "try", Finally = "finally", Extends = "extends",
    Const = "const", Let = "let", Var = "var", Import = "import", Export = "export", Default = "default",
    From = "from", As = "as", Satisfies = "satisfies", Async = "async", Type = "type", Interface = "interface",
    Declare = "declare", Enum = "enum", Namespace = "namespace", Module = "module", Abstract = "abstract",
    Static = "static", Get = "get", Set = "set", Public = "public", Private = "private",
    Protected = "protected", Readonly = "readonly", Implements = "implements", This = "this", Super = "super",
    Null = "null", True = "true", False = "false", Debugger = "debugger", Break = "break",
    Continue = "continue", Meta = "meta", Keyof = "keyof", Is = "is", Infer = "infer", Asserts = "asserts",
    Unique = "unique", Out = "out", Override = "override", Accessor = "accessor", Using = "using",
    Defer = "defer", Source = "source",
}

/// The id of the first keyword: the table holds two words before it.
pub(super) const FIRST: u16 = 3;

impl Kw {
    /// Finds the keyword of an interned word.
    #[inline]
    pub(super) fn of(word: Word) -> Self {
        let index = usize::from(word).wrapping_sub(usize::from(FIRST));
        ALL.get(index).copied().unwrap_or(Self::None)
    }
}
