//! Tokens of Python.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum K {
    Name,
    Num,
    /// A whole string.
    Str,
    /// The text of an f-string or t-string up to its first hole, between holes, and behind the last.
    Head,
    Mid,
    Tail,
    Op,
    /// The end of a statement's line.
    Line,
}

/// A name that is not ASCII: its normal form is what counts.
pub(super) const WIDE: u8 = 1;
/// A string with a backslash.
pub(super) const ESCAPED: u8 = 2;
/// A string whose backslashes are plain.
pub(super) const RAW: u8 = 4;
/// The first token of its line.
pub(super) const FIRST: u8 = 8;

#[derive(Debug, Clone, Copy)]
pub(super) struct Tok {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The word of a name; one or two bytes of an operator; how many bytes open and close a string.
    pub(super) aux: u16,
    pub(super) kind: K,
    pub(super) flags: u8,
}

impl Tok {
    pub(super) const fn is_op(self, op: u8) -> bool {
        matches!(self.kind, K::Op) && self.aux == op as u16
    }

    pub(super) const fn is_string(self) -> bool {
        matches!(self.kind, K::Str | K::Head | K::Mid | K::Tail)
    }

    pub(super) const fn range(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }

    /// Gives where a string's text starts and ends.
    pub(super) fn body(self) -> (usize, usize) {
        let [open, close] = self.aux.to_le_bytes();
        let start = (self.start as usize).saturating_add(usize::from(open));
        (start, (self.end as usize).saturating_sub(usize::from(close)).max(start))
    }
}

/// An operator of two bytes.
pub(super) const fn pair(first: u8, second: u8) -> u16 {
    ((first as u16) << 8) | second as u16
}

macro_rules! keywords {
    ($($name:ident = $text:literal),+ $(,)?) => {
        /// Words that the walker knows as such.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Kw {
            None,
            $($name),+
        }
        /// Their texts, in order.
        pub(super) const KEYWORDS: &[&str] = &[$($text),+];
        const ALL: &[Kw] = &[$(Kw::$name),+];
    };
}

keywords! {
    Import = "import", From = "from", As = "as", Def = "def", Class = "class", For = "for", In = "in",
    Lambda = "lambda", If = "if", Elif = "elif", Else = "else", While = "while", With = "with", Try = "try",
    Except = "except", Finally = "finally", Return = "return", Yield = "yield", Await = "await",
    Async = "async", Not = "not", And = "and", Or = "or", Is = "is", Del = "del", Global = "global",
    Nonlocal = "nonlocal", Assert = "assert", Raise = "raise", Pass = "pass", Break = "break",
    Continue = "continue", True = "True", False = "False", None_ = "None", Print = "print",
}

/// The id of the first keyword: the table holds two words before it.
pub(super) const FIRST_WORD: u16 = 3;

impl Kw {
    /// Finds the keyword of an interned word.
    pub(super) fn of(word: u16) -> Self {
        ALL.get(usize::from(word.wrapping_sub(FIRST_WORD))).copied().unwrap_or(Self::None)
    }

    /// Says whether a word begins a statement and can stand nowhere else.
    pub(super) const fn begins(self) -> bool {
        matches!(
            self,
            Self::Import
                | Self::Def
                | Self::Class
                | Self::While
                | Self::With
                | Self::Try
                | Self::Return
                | Self::Raise
                | Self::Del
                | Self::Global
                | Self::Pass
        )
    }

    /// Says whether a word begins a statement that has another one behind its colon.
    pub(super) const fn is_compound(self) -> bool {
        matches!(
            self,
            Self::If
                | Self::Elif
                | Self::Else
                | Self::While
                | Self::For
                | Self::With
                | Self::Try
                | Self::Except
                | Self::Finally
                | Self::Def
                | Self::Class
                | Self::Async
        )
    }
}
