//! TypeScript types, which are erased before the code runs.

use super::keyword::Kw;
use super::token::{K, NEWLINE, NO_MATE, Tok};

/// A walker that skips types in a list of tokens. It jumps over brackets to their matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Types<'a> {
    pub(super) src: &'a [u8],
    pub(super) toks: &'a [Tok],
}

/// The deepest nesting of angle brackets in a type. Deeper ones are read as code.
///
/// A failed attempt to read a type costs at most this many passes over its tokens.
const MAX_ANGLES: usize = 16;

/// The most tokens in a template literal type. Longer ones are read as code, so that the time is linear.
const MAX_TEMPLATE: usize = 64;

/// The place where a type ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// After its last token.
    Type,
    /// After the `>` that closes it.
    Angle,
    /// Before the arrow of the function whose return type it is.
    Arrow,
}

impl Types<'_> {
    fn tok(&self, at: usize) -> Tok {
        self.toks.get(at).copied().unwrap_or(Tok::END)
    }

    fn kind(&self, at: usize) -> K {
        self.tok(at).kind
    }

    /// Returns the index after the matching bracket, or `None` for an unclosed bracket.
    pub(super) fn past(&self, at: usize) -> Option<usize> {
        let tok = self.toks.get(at)?;
        let open = matches!(tok.kind, K::LParen | K::LBracket | K::LBrace);
        (open && tok.mate() != NO_MATE && tok.mate() as usize > at)
            .then(|| (tok.mate() as usize).wrapping_add(1))
    }

    /// Skips the type that starts at a token; returns `None` if there is none.
    pub(super) fn skip(&self, start: usize) -> Option<usize> {
        self.walk(start, End::Type)
    }

    /// Skips `<…>` with types, parameters and defaults.
    pub(super) fn angles(&self, open: usize) -> Option<usize> {
        self.walk(open.wrapping_add(1), End::Angle)
    }

    /// Skips the type arguments of a call or tagged template.
    pub(super) fn call_angles(&self, open: usize) -> Option<usize> {
        let after = self.angles(open)?;
        matches!(self.kind(after), K::LParen | K::Tpl | K::TplHead).then_some(after)
    }

    /// Skips a return type, which ends before the first arrow outside of brackets or before the body.
    pub(super) fn skip_return(&self, start: usize) -> Option<usize> {
        let end = self.walk(start, End::Arrow)?;
        // `(x) => T` is the type itself if another arrow or the body follows it.
        if self.kind(end) == K::Arrow && self.past(start) == Some(end) && self.kind(start) == K::LParen {
            let later = self.walk(end.wrapping_add(1), End::Arrow);
            return later.filter(|later| matches!(self.kind(*later), K::Arrow | K::LBrace)).or(Some(end));
        }
        Some(end)
    }

    /// Returns `true` if a parenthesis opens the parameters of an arrow function.
    pub(super) fn is_arrow_head(&self, open: usize) -> bool {
        let Some(after) = self.past(open) else { return false };
        let typed = || self.skip_return(after.wrapping_add(1)).is_some_and(|end| self.kind(end) == K::Arrow);
        self.kind(after) == K::Arrow || (self.kind(after) == K::Colon && typed())
    }

    /// Skips a type, with a stack of its angle brackets.
    fn walk(&self, start: usize, end: End) -> Option<usize> {
        let mut at = start;
        let mut depth = usize::from(end == End::Angle);
        // The number of conditional types without their colon, by depth.
        let mut conditions = [0_u32; MAX_ANGLES + 1];
        let mut starts = true;
        while at < self.toks.len() {
            let tok = self.tok(at);
            let waits = conditions.get_mut(depth)?;
            let next = at.wrapping_add(1);
            let is_beside = !tok.has(NEWLINE);
            match tok.kind {
                K::Comma | K::Assign if depth > 0 => (at, starts, *waits) = (next, true, 0),
                K::Gt if depth > 0 => {
                    (at, starts, depth) = (next, false, depth.wrapping_sub(1));
                    if end == End::Angle && depth == 0 {
                        return Some(at);
                    }
                }
                K::Lt if starts || is_beside => (at, starts, depth) = (next, true, depth.wrapping_add(1)),
                // `<const T>`.
                K::Word if tok.kw == Kw::Const && depth > 0 => at = next,
                _ if starts => {
                    (at, starts) = self.primary(at)?;
                }
                K::Dot if self.kind(next) == K::Word => at = at.wrapping_add(2),
                // The parameters of a function type may follow its type parameters.
                K::LParen if self.kind(at.wrapping_sub(1)) == K::Gt => at = self.past(at)?,
                K::LBracket if is_beside => at = self.past(at)?,
                K::Op if self.is_bar(at) => (at, starts) = (next, true),
                K::Word if matches!(tok.kw, Kw::Extends | Kw::Is) && is_beside => (at, starts) = (next, true),
                K::Arrow if end != End::Arrow || depth > 0 => (at, starts) = (next, true),
                K::Question if end != End::Arrow || depth > 0 => {
                    (at, starts, *waits) = (next, true, waits.wrapping_add(1));
                }
                K::Colon if *waits > 0 => (at, starts, *waits) = (next, true, waits.wrapping_sub(1)),
                _ if depth == 0 => return Some(at),
                // Two words in a row, as in `<in T>`.
                _ => starts = true,
            }
        }
        (depth == 0 && !starts).then_some(at)
    }

    /// Skips a short template with substitutions.
    fn past_template(&self, start: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, tok) in self.toks.iter().enumerate().skip(start).take(MAX_TEMPLATE) {
            match tok.kind {
                K::TplHead => depth = depth.wrapping_add(1),
                K::TplTail => depth = depth.wrapping_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at.wrapping_add(1));
            }
        }
        None
    }

    /// Returns `true` if a token is `|` or `&`, which combine types.
    fn is_bar(&self, at: usize) -> bool {
        let tok = self.tok(at);
        tok.kind == K::Op && matches!(self.src.get(tok.start as usize..tok.end() as usize), Some(b"|" | b"&"))
    }

    /// Skips an operand of a type, or a word before one. Returns whether an operand must follow.
    fn primary(&self, at: usize) -> Option<(usize, bool)> {
        let (tok, next) = (self.tok(at), at.wrapping_add(1));
        let is_operand = matches!(self.kind(next), K::Word | K::LParen | K::LBrace | K::LBracket | K::Lt);
        match (tok.kind, tok.kw) {
            (K::LParen | K::LBrace | K::LBracket, _) => Some((self.past(at)?, false)),
            (K::Minus, _) => (self.kind(next) == K::Num).then(|| (at.wrapping_add(2), false)),
            (K::Word, Kw::Import) if self.kind(next) == K::LParen => Some((self.past(next)?, false)),
            (K::Word, Kw::Keyof | Kw::Typeof | Kw::Readonly | Kw::Unique | Kw::Infer) if is_operand => {
                Some((next, true))
            }
            (K::Word, Kw::Asserts | Kw::Abstract | Kw::New) if is_operand => Some((next, true)),
            (K::TplHead, _) => Some((self.past_template(at)?, false)),
            (K::Word | K::Str | K::Num | K::Tpl, _) => Some((next, false)),
            _ => self.is_bar(at).then_some((next, true)),
        }
    }
}
