//! Keywords, including contextual ones.

use plugward_types::Part;

/// The keywords by their first letter, in the order of [`Keyword`].
macro_rules! keywords {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// A keyword. Most of them are ordinary names elsewhere.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Keyword { None, $($name),* }
        const ALL: &[(Keyword, &[u8])] = &[$((Keyword::$name, $text)),*];
    };
}

keywords! {
    Abstract = b"abstract", Accessor = b"accessor", As = b"as", Assert = b"assert", Asserts = b"asserts",
    Async = b"async", Await = b"await", Break = b"break", Case = b"case", Catch = b"catch", Class = b"class",
    Const = b"const", Continue = b"continue", Debugger = b"debugger", Declare = b"declare",
    Default = b"default", Defer = b"defer", Delete = b"delete", Do = b"do", Else = b"else", Enum = b"enum",
    Export = b"export", Extends = b"extends", False = b"false", Finally = b"finally", For = b"for",
    From = b"from", Function = b"function", Get = b"get", Global = b"global", If = b"if",
    Implements = b"implements", Import = b"import", In = b"in", Infer = b"infer",
    Instanceof = b"instanceof", Interface = b"interface", Is = b"is", Keyof = b"keyof", Let = b"let",
    Meta = b"meta", Module = b"module", Namespace = b"namespace", New = b"new", Null = b"null", Of = b"of",
    Out = b"out", Override = b"override", Private = b"private", Protected = b"protected",
    Public = b"public", Readonly = b"readonly", Return = b"return", Satisfies = b"satisfies", Set = b"set",
    Source = b"source", Static = b"static", Super = b"super", Switch = b"switch", This = b"this",
    Throw = b"throw", True = b"true", Try = b"try", Type = b"type", Typeof = b"typeof",
    Unique = b"unique", Using = b"using", Var = b"var", Void = b"void", While = b"while", With = b"with",
    Yield = b"yield",
}

const LETTERS: usize = 26;

/// The index of the first keyword for each letter.
const STARTS: [u8; LETTERS + 1] = {
    let mut starts = [0_u8; LETTERS + 1];
    let mut at = 0;
    let mut letter = 0;
    while letter <= LETTERS {
        #[expect(
            clippy::indexing_slicing,
            clippy::cast_possible_truncation,
            reason = "checked by the compiler"
        )]
        {
            while at < ALL.len() && ((ALL[at].1[0] - b'a') as usize) < letter {
                at += 1;
            }
            starts[letter] = at as u8;
        }
        letter += 1;
    }
    starts
};

impl Keyword {
    /// Returns the keyword that a word is, or `None`.
    #[inline]
    pub(super) fn of(word: &[u8]) -> Self {
        let Some(letter) = word.first().filter(|byte| byte.is_ascii_lowercase()) else { return Self::None };
        let letter = usize::from(letter.wrapping_sub(b'a'));
        let (Some(start), Some(end)) = (STARTS.get(letter), STARTS.get(letter + 1)) else {
            return Self::None;
        };
        let words = ALL.part(usize::from(*start)..usize::from(*end));
        words.iter().find(|(_, text)| *text == word).map_or(Self::None, |(kw, _)| *kw)
    }
}
