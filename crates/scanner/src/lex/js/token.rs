//! Tokens of JavaScript and TypeScript.

use super::bind::name_of;
use super::table::key_of;
use crate::names::{LONGEST, WORDS, Word, key, prefix_at};

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

impl K {
    #[inline]
    const fn is_word(self) -> bool {
        matches!(self, Self::Word | Self::Private)
    }

    #[inline]
    const fn is_bracket(self) -> bool {
        matches!(
            self,
            Self::LParen | Self::RParen | Self::LBracket | Self::RBracket | Self::LBrace | Self::RBrace
        )
    }
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
/// A word or text with escapes.
pub(super) const ESCAPED: u8 = 2;
/// The head of `if`, `while`, `for`, `with`; of an opening parenthesis.
pub(super) const CONTROL: u8 = 2;
/// A word of the tables.
const KNOWN: u8 = 4;
/// A text or template without an end.
pub(super) const UNCLOSED: u8 = 4;
/// A word that holds its length alone.
const LONG: u8 = 8;
/// The opening bracket of a pair that holds no event, as far as is known.
pub(super) const DULL: u8 = 8;
/// The end of a function or class that is an expression; of a closing brace.
pub(super) const EXPRESSION: u8 = 8;
/// What a brace opens.
const BRACE: u8 = 2 | 4;
/// A text over which a rule may match: a long one, one with a blank or with escapes, one that may be other than it looks.
pub(super) const VIEWED: u8 = 8;
/// The two highest bits of the rest.
const HIGH: u8 = 16 | 32;
/// A token from which a finding may come: a name of the tables, a module that is asked for, the global object.
pub(super) const EVENT: u8 = 64;
/// A token of a name that is followed, where it counts.
pub(super) const LIVE: u8 = 128;

/// Bits of an offset, an index or a length.
const WIDE: u32 = 25;
/// So many bytes of a text are read: no token starts, ends or stands farther.
pub(super) const MOST: usize = (1 << WIDE) - 1;
/// Bits of the rest that lie beside the start.
const LOW: u32 = 32 - WIDE;
const LOW_MASK: u32 = (1 << LOW) - 1;
/// Bits of the rest without its two highest.
const REST: u32 = 16 + LOW;
/// Bits of an interned word.
const WORD: u32 = WORDS.ilog2();
const WORD_MASK: Word = (1 << WORD) - 1;
/// A word of the tables has fewer bytes as it stands; only zeros in escapes make it longer.
pub(super) const MOST_KNOWN: usize = 1 << (REST - WORD);
const _: () = assert!(LONGEST <= MOST_KNOWN, "a word of the tables fits a token");

/// One token in 8 bytes: large files have millions. What it holds besides its start hangs on its kind:
/// - a word of the tables its number and its length, another word the key of its name and its length, or, if it is long, its
///   length alone;
/// - a bracket the index of the other one, and a brace, in its flags, what it opens;
/// - all others their length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tok {
    /// The start, above the lowest bits of the rest.
    low: u32,
    high: u16,
    pub(super) kind: K,
    pub(super) flags: u8,
}

impl Tok {
    pub(super) const END: Self = Self { low: 0, high: 0, kind: K::Semi, flags: 0 };

    #[inline]
    const fn with(kind: K, start: u32, rest: u32, flags: u8) -> Self {
        let low = start << LOW | rest & LOW_MASK;
        let high = (rest >> LOW & 0xFFFF) as u16;
        Self { low, high, kind, flags: flags & !HIGH | ((rest >> REST & 3) as u8) << 4 }
    }

    /// Makes a token that is no word; a bracket has no other one yet.
    #[inline]
    pub(super) const fn new(kind: K, start: u32, end: u32, flags: u8) -> Self {
        let rest = if kind.is_bracket() { NO_MATE } else { end.wrapping_sub(start) };
        Self::with(kind, start, rest, flags)
    }

    /// Makes a word: its number in the tables and the key of its name, of which it holds the one or the other. A word of the
    /// tables is shorter than [`MOST_KNOWN`].
    #[inline]
    pub(super) const fn of_word(kind: K, start: u32, end: u32, (word, key): (Word, u16), flags: u8) -> Self {
        let len = end.wrapping_sub(start);
        let flags = flags & !(KNOWN | LONG);
        if word != 0 {
            let rest = (len >> LOW) << WORD | word as u32;
            Self::with(kind, start, rest << LOW | len & LOW_MASK, flags | KNOWN)
        } else if len <= LOW_MASK {
            Self::with(kind, start, (key as u32) << LOW | len, flags)
        } else {
            Self::with(kind, start, len, flags | LONG)
        }
    }

    /// The same with more flags.
    #[inline]
    pub(super) const fn and(self, flags: u8) -> Self {
        Self { flags: self.flags | flags, ..self }
    }

    #[inline]
    pub(super) const fn start(self) -> u32 {
        self.low >> LOW
    }

    #[inline]
    const fn rest(self) -> u32 {
        ((self.flags & HIGH) as u32) << REST >> 4 | (self.high as u32) << LOW | self.low & LOW_MASK
    }

    #[inline]
    const fn len(self) -> u32 {
        if self.kind.is_word() && self.flags & LONG == 0 {
            let short = self.low & LOW_MASK;
            if self.flags & KNOWN == 0 { short } else { (self.high as u32 >> WORD) << LOW | short }
        } else if self.kind.is_bracket() {
            1
        } else {
            self.rest()
        }
    }

    /// Where the token ends.
    #[inline]
    pub(super) const fn end(self) -> u32 {
        self.start().wrapping_add(self.len())
    }

    /// The index of the other bracket; of a bracket only.
    #[inline]
    pub(super) const fn mate(self) -> u32 {
        if self.kind.is_bracket() { self.rest() } else { NO_MATE }
    }

    pub(super) const fn set_mate(&mut self, mate: u32) {
        if self.kind.is_bracket() {
            *self = Self::with(self.kind, self.start(), mate, self.flags);
        }
    }

    /// What a brace opens.
    #[inline]
    pub(super) const fn brace(self) -> Brace {
        match (self.kind, self.flags & BRACE) {
            (K::LBrace | K::RBrace, 2) => Brace::Body,
            (K::LBrace | K::RBrace, 4) => Brace::Class,
            (K::LBrace | K::RBrace, 6) => Brace::Object,
            _ => Brace::Block,
        }
    }

    pub(super) const fn set_brace(&mut self, brace: Brace) {
        if matches!(self.kind, K::LBrace | K::RBrace) {
            let bits = match brace {
                Brace::Block => 0,
                Brace::Body => 2,
                Brace::Class => 4,
                Brace::Object => 6,
            };
            self.flags = self.flags & !BRACE | bits;
        }
    }

    /// The interned word; 0 where there is none.
    #[inline]
    pub(super) const fn word(self) -> Word {
        let known = self.kind.is_word() && self.flags & KNOWN != 0;
        if known { self.high & WORD_MASK } else { 0 }
    }

    /// The key of the name, escapes decoded; of a word only.
    #[inline]
    pub(super) fn key(self, src: &[u8]) -> u16 {
        if self.flags & (KNOWN | LONG) == 0 { self.high } else { self.key_there(src) }
    }

    /// The key of a name that the token does not hold.
    fn key_there(self, src: &[u8]) -> u16 {
        let (start, end) = (self.start() as usize, self.end() as usize);
        if self.flags & ESCAPED == 0 {
            key(prefix_at(src, start, end), end.wrapping_sub(start))
        } else {
            key_of(&name_of(src, self))
        }
    }

    #[inline]
    pub(super) const fn newline(self) -> bool {
        self.flags & NEWLINE != 0
    }
}

/// Where an unclosed bracket has no other one.
pub(super) const NO_MATE: u32 = (1 << WIDE) - 1;

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        Brace, CONTROL, DULL, ESCAPED, EVENT, EXPRESSION, K, KNOWN, LIVE, LONG, MOST, MOST_KNOWN, NEWLINE,
        NO_MATE, Tok, UNCLOSED, VIEWED,
    };
    use crate::names::WORDS;

    const LAST: u32 = (1 << 25) - 1;

    /// A start and an end that lie in a text of at most [`MOST`] bytes.
    fn place() -> impl Strategy<Value = (u32, u32)> {
        let near = |most: u32| prop_oneof![0..=most, 0..=most.min(300), most.saturating_sub(3)..=most];
        near(LAST - 1)
            .prop_flat_map(move |start| (Just(start), near((LAST - 1).saturating_sub(start))))
            .prop_map(|(start, len)| (start, start.saturating_add(len).saturating_add(1)))
    }

    fn word() -> impl Strategy<Value = u16> {
        let most = u16::try_from(WORDS).unwrap_or(u16::MAX).saturating_sub(1);
        prop_oneof![Just(0), 1..=most, Just(most)]
    }

    proptest! {
        #[test]
        fn a_token_gives_back_what_it_is_made_of(
            (start, end) in place(),
            kind in prop::sample::select(vec![K::Num, K::Str, K::TplHead, K::Regex, K::JsxText, K::Op]),
            flags in prop::sample::select(vec![0, NEWLINE, ESCAPED, UNCLOSED, VIEWED, EVENT, LIVE]),
        ) {
            let tok = Tok::new(kind, start, end, flags);
            prop_assert_eq!((tok.start(), tok.end(), tok.word(), tok.mate()), (start, end, 0, NO_MATE));
            prop_assert_eq!(tok.flags & !(16 | 32), flags);
        }

        #[test]
        fn a_word_keeps_its_number_or_its_key(
            (start, end) in place(),
            word in word(),
            key in any::<u16>(),
            flags in prop::sample::select(vec![0, NEWLINE, ESCAPED, EVENT]),
        ) {
            let most = u32::try_from(MOST_KNOWN).unwrap_or(0).saturating_sub(1);
            let end = if word == 0 { end } else { end.min(start.saturating_add(most)) };
            let tok = Tok::of_word(K::Word, start, end, (word, key), flags);
            prop_assert_eq!((tok.start(), tok.end(), tok.word()), (start, end, word));
            prop_assert_eq!(tok.flags & (NEWLINE | ESCAPED | EVENT | LIVE), flags);
            if tok.flags & (KNOWN | LONG) == 0 {
                prop_assert_eq!(tok.key(b""), key);
            }
        }

        #[test]
        fn a_bracket_keeps_its_mate_whatever_else_is_set(
            (start, _) in place(),
            mate in prop_oneof![0..=LAST, LAST - 2..=LAST],
            brace in prop::sample::select(vec![Brace::Block, Brace::Body, Brace::Class, Brace::Object]),
        ) {
            let mut tok = Tok::new(K::LBrace, start, start.saturating_add(1), NEWLINE);
            prop_assert_eq!(tok.mate(), NO_MATE);
            tok.set_brace(brace);
            tok.flags |= DULL;
            tok.set_mate(mate);
            prop_assert_eq!((tok.start(), tok.end(), tok.mate(), tok.brace()), (start, start.saturating_add(1), mate, brace));
            tok.flags &= !DULL;
            prop_assert_eq!((tok.mate(), tok.brace(), tok.newline()), (mate, brace, true));
        }
    }

    #[test]
    fn marks_of_one_kind_of_token_have_bits_of_their_own() {
        for marks in [
            vec![NEWLINE, ESCAPED, KNOWN, LONG, EVENT, LIVE],
            vec![NEWLINE, ESCAPED, UNCLOSED, VIEWED, EVENT, LIVE],
            vec![NEWLINE, CONTROL, DULL, EVENT, LIVE],
            vec![NEWLINE, super::BRACE, DULL, EVENT, LIVE],
            vec![NEWLINE, super::BRACE, EXPRESSION, EVENT, LIVE],
        ] {
            let all = marks.iter().fold(super::HIGH, |all, mark| {
                assert_eq!(all & mark, 0, "{marks:?}");
                all | mark
            });
            assert!(all != 0, "marks are there");
        }
        assert_eq!(MOST, 33_554_431, "one byte less than 32 MiB");
    }
}
