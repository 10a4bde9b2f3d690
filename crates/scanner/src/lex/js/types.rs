//! Type positions of TypeScript: what is erased before the code runs.

use super::token::{K, Kw, NO_MATE, Tok};

/// Steps over types in a list of tokens. Each step is bounded: brackets are jumped by their mates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Types<'a> {
    pub(super) src: &'a [u8],
    pub(super) toks: &'a [Tok],
}

/// Types nested deeper than this in angle brackets are read as code.
const MAX_ANGLES: u32 = 16;

impl Types<'_> {
    fn tok(&self, at: usize) -> Tok {
        self.toks.get(at).copied().unwrap_or(Tok::END)
    }

    fn kind(&self, at: usize) -> Option<K> {
        self.toks.get(at).map(|tok| tok.kind)
    }

    fn kw(&self, at: usize) -> Kw {
        self.toks.get(at).filter(|tok| tok.kind == K::Word).map_or(Kw::None, |tok| Kw::of(tok.word()))
    }

    /// Gives the index after a bracket's mate; an unclosed bracket is not jumped.
    pub(super) fn past(&self, at: usize) -> Option<usize> {
        let tok = self.toks.get(at)?;
        let open = matches!(tok.kind, K::LParen | K::LBracket | K::LBrace);
        (open && tok.mate() != NO_MATE && tok.mate() as usize > at)
            .then(|| (tok.mate() as usize).wrapping_add(1))
    }

    /// Steps over a type that starts at a token; `None` where none does.
    pub(super) fn skip(&self, start: usize) -> Option<usize> {
        self.skip_nested(start, 0)
    }

    fn skip_nested(&self, start: usize, depth: u32) -> Option<usize> {
        if depth > MAX_ANGLES {
            return None;
        }
        let mut at = start;
        // A leading bar or ampersand.
        if self.is_bar(at) {
            at = at.wrapping_add(1);
        }
        let mut conditions = 0_u32;
        loop {
            at = self.primary(at, depth)?;
            at = self.postfix(at, depth)?;
            match self.kind(at) {
                Some(K::Op) if self.is_bar(at) => at = at.wrapping_add(1),
                Some(K::Arrow) => at = at.wrapping_add(1),
                Some(K::Word) if matches!(self.kw(at), Kw::Extends | Kw::Is) && !self.tok(at).newline() => {
                    at = at.wrapping_add(1);
                }
                Some(K::Question) => {
                    conditions = conditions.wrapping_add(1);
                    at = at.wrapping_add(1);
                }
                Some(K::Colon) if conditions > 0 => {
                    conditions = conditions.wrapping_sub(1);
                    at = at.wrapping_add(1);
                }
                _ => return Some(at),
            }
        }
    }

    /// Says whether a token is `|` or `&`, which joins types.
    fn is_bar(&self, at: usize) -> bool {
        let tok = self.tok(at);
        tok.kind == K::Op
            && matches!(self.src.get(tok.start() as usize..tok.end() as usize), Some(b"|" | b"&"))
    }

    fn primary(&self, start: usize, depth: u32) -> Option<usize> {
        let mut at = start;
        while matches!(
            self.kw(at),
            Kw::Keyof
                | Kw::Typeof
                | Kw::Readonly
                | Kw::Unique
                | Kw::Infer
                | Kw::Asserts
                | Kw::Abstract
                | Kw::New
        ) && matches!(
            self.kind(at.wrapping_add(1)),
            Some(K::Word | K::LParen | K::LBrace | K::LBracket | K::Lt)
        ) {
            at = at.wrapping_add(1);
        }
        match self.kind(at)? {
            K::LParen | K::LBrace | K::LBracket => self.past(at),
            K::Lt => {
                // Type parameters of a function type.
                let after = self.angles(at, depth)?;
                if self.kind(after) == Some(K::LParen) { self.past(after) } else { None }
            }
            K::Op => {
                if self.kind(at.wrapping_add(1)) == Some(K::Num) {
                    Some(at.wrapping_add(2))
                } else {
                    None
                }
            }
            K::Word if self.kw(at) == Kw::Import && self.kind(at.wrapping_add(1)) == Some(K::LParen) => {
                self.past(at.wrapping_add(1))
            }
            K::Word | K::Str | K::Num | K::Tpl => Some(at.wrapping_add(1)),
            _ => None,
        }
    }

    fn postfix(&self, start: usize, depth: u32) -> Option<usize> {
        let mut at = start;
        loop {
            match self.kind(at) {
                Some(K::Dot) if self.kind(at.wrapping_add(1)) == Some(K::Word) => at = at.wrapping_add(2),
                Some(K::LBracket) if !self.tok(at).newline() => at = self.past(at)?,
                Some(K::Lt) if !self.tok(at).newline() => at = self.angles(at, depth)?,
                _ => return Some(at),
            }
        }
    }

    /// Steps over `<…>` of types, parameters and defaults included.
    pub(super) fn angles(&self, open: usize, depth: u32) -> Option<usize> {
        let mut at = open.wrapping_add(1);
        loop {
            match self.kind(at)? {
                K::Gt => return Some(at.wrapping_add(1)),
                K::Comma | K::Assign => at = at.wrapping_add(1),
                K::Word if self.kw(at) == Kw::Const && self.kind(at.wrapping_add(1)) == Some(K::Word) => {
                    at = at.wrapping_add(1);
                }
                _ => {
                    let next = self.skip_nested(at, depth.wrapping_add(1))?;
                    // A default that is a `>` of two: the lexer gives single ones.
                    at = next;
                }
            }
        }
    }

    /// Steps over the type arguments of a call or a tagged template.
    pub(super) fn call_angles(&self, open: usize) -> Option<usize> {
        let after = self.angles(open, 0)?;
        matches!(self.kind(after), Some(K::LParen | K::Tpl | K::TplHead)).then_some(after)
    }

    /// Says whether a parenthesis opens the parameters of an arrow function.
    pub(super) fn is_arrow_head(&self, open: usize) -> bool {
        let Some(after) = self.past(open) else { return false };
        match self.kind(after) {
            Some(K::Arrow) => true,
            Some(K::Colon) => {
                let end = self.skip_return(after.wrapping_add(1));
                end.is_some_and(|end| self.kind(end) == Some(K::Arrow))
            }
            _ => false,
        }
    }

    /// Steps over a return type, which ends before the first arrow outside brackets or before the body.
    pub(super) fn skip_return(&self, start: usize) -> Option<usize> {
        let mut at = self.primary(start, 0)?;
        loop {
            at = self.postfix(at, 0)?;
            match self.kind(at) {
                Some(K::Op) if self.is_bar(at) => at = self.primary(at.wrapping_add(1), 0)?,
                Some(K::Word) if matches!(self.kw(at), Kw::Is | Kw::Extends) => {
                    at = self.primary(at.wrapping_add(1), 0)?;
                }
                // `(x) => T` as the type itself: its parentheses come right before the arrow.
                Some(K::Arrow)
                    if self.kind(at.wrapping_sub(1)) == Some(K::RParen)
                        && self.kind(start) == Some(K::LParen)
                        && self.past(start) == Some(at)
                        && self.has_later_arrow(at) =>
                {
                    at = self.primary(at.wrapping_add(1), 0)?;
                }
                _ => return Some(at),
            }
        }
    }

    fn has_later_arrow(&self, at: usize) -> bool {
        let after = self.primary(at.wrapping_add(1), 0).and_then(|end| self.postfix(end, 0));
        after.is_some_and(|end| matches!(self.kind(end), Some(K::Arrow | K::LBrace)))
    }
}
