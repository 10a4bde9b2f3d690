//! TypeScript types, which are erased before the code runs.

use super::keyword::Keyword;
use super::token::{NEWLINE, NO_MATE, Token, TokenKind};

/// A walker that skips types in a list of tokens. It jumps over brackets to their matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Types<'a> {
    pub(super) src: &'a [u8],
    pub(super) tokens: &'a [Token],
}

/// The deepest nesting of angle brackets in a type. Deeper ones are read as code.
///
/// A failed attempt to read a type costs at most this many passes over its tokens.
const MAX_ANGLES: usize = 16;

/// The most tokens in a template literal type. Longer ones are read as code, so that the time is linear.
const MAX_TEMPLATE: usize = 64;

/// The place where a type ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypeEnd {
    /// After its last token.
    Type,
    /// After the `>` that closes it.
    Angle,
    /// Before the arrow of the function whose return type it is.
    Arrow,
}

impl Types<'_> {
    fn tok(&self, at: usize) -> Token {
        self.tokens.get(at).copied().unwrap_or(Token::END)
    }

    fn kind(&self, at: usize) -> TokenKind {
        self.tok(at).kind
    }

    /// Returns the index after the matching bracket, or `None` for an unclosed bracket.
    pub(super) fn past(&self, at: usize) -> Option<usize> {
        let tok = self.tokens.get(at)?;
        let open = matches!(tok.kind, TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace);
        (open && tok.mate() != NO_MATE && tok.mate() as usize > at)
            .then(|| (tok.mate() as usize).wrapping_add(1))
    }

    /// Skips the type that starts at a token; returns `None` if there is none.
    pub(super) fn skip(&self, start: usize) -> Option<usize> {
        self.walk(start, TypeEnd::Type)
    }

    /// Skips `<…>` with types, parameters and defaults.
    pub(super) fn angles(&self, open: usize) -> Option<usize> {
        self.walk(open + 1, TypeEnd::Angle)
    }

    /// Skips the type arguments of a call or tagged template.
    pub(super) fn call_angles(&self, open: usize) -> Option<usize> {
        let after = self.angles(open)?;
        matches!(self.kind(after), TokenKind::LParen | TokenKind::Template | TokenKind::TemplateHead)
            .then_some(after)
    }

    /// Skips a return type, which ends before the first arrow outside of brackets or before the body.
    pub(super) fn skip_return(&self, start: usize) -> Option<usize> {
        let end = self.walk(start, TypeEnd::Arrow)?;
        // `(x) => T` is the type itself if another arrow or the body follows it.
        if self.kind(end) == TokenKind::Arrow
            && self.past(start) == Some(end)
            && self.kind(start) == TokenKind::LParen
        {
            let later = self.walk(end + 1, TypeEnd::Arrow);
            return later
                .filter(|later| matches!(self.kind(*later), TokenKind::Arrow | TokenKind::LBrace))
                .or(Some(end));
        }
        Some(end)
    }

    /// Returns `true` if a parenthesis opens the parameters of an arrow function.
    pub(super) fn is_arrow_head(&self, open: usize) -> bool {
        let Some(after) = self.past(open) else { return false };
        let typed = || self.skip_return(after + 1).is_some_and(|end| self.kind(end) == TokenKind::Arrow);
        self.kind(after) == TokenKind::Arrow || (self.kind(after) == TokenKind::Colon && typed())
    }

    /// Skips a type, with a stack of its angle brackets.
    fn walk(&self, start: usize, end: TypeEnd) -> Option<usize> {
        let mut at = start;
        let mut depth = usize::from(end == TypeEnd::Angle);
        // The number of conditional types without their colon, by depth.
        let mut conditions = [0_u32; MAX_ANGLES + 1];
        let mut starts = true;
        while at < self.tokens.len() {
            let tok = self.tok(at);
            let waits = conditions.get_mut(depth)?;
            let next = at + 1;
            let is_beside = !tok.has(NEWLINE);
            match tok.kind {
                TokenKind::Comma | TokenKind::Assign if depth > 0 => (at, starts, *waits) = (next, true, 0),
                TokenKind::Gt if depth > 0 => {
                    (at, starts, depth) = (next, false, depth.wrapping_sub(1));
                    if end == TypeEnd::Angle && depth == 0 {
                        return Some(at);
                    }
                }
                TokenKind::Lt if starts || is_beside => {
                    (at, starts, depth) = (next, true, depth.wrapping_add(1));
                }
                // `<const T>`.
                TokenKind::Word if tok.kw == Keyword::Const && depth > 0 => at = next,
                _ if starts => {
                    (at, starts) = self.primary(at)?;
                }
                TokenKind::Dot if self.kind(next) == TokenKind::Word => at += 2,
                // The parameters of a function type may follow its type parameters.
                TokenKind::LParen if self.kind(at.wrapping_sub(1)) == TokenKind::Gt => at = self.past(at)?,
                TokenKind::LBracket if is_beside => at = self.past(at)?,
                TokenKind::Op if self.is_bar(at) => (at, starts) = (next, true),
                TokenKind::Word if matches!(tok.kw, Keyword::Extends | Keyword::Is) && is_beside => {
                    (at, starts) = (next, true);
                }
                TokenKind::Arrow if end != TypeEnd::Arrow || depth > 0 => (at, starts) = (next, true),
                TokenKind::Question if end != TypeEnd::Arrow || depth > 0 => {
                    (at, starts, *waits) = (next, true, waits.wrapping_add(1));
                }
                TokenKind::Colon if *waits > 0 => (at, starts, *waits) = (next, true, waits.wrapping_sub(1)),
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
        for (at, tok) in self.tokens.iter().enumerate().skip(start).take(MAX_TEMPLATE) {
            match tok.kind {
                TokenKind::TemplateHead => depth = depth.wrapping_add(1),
                TokenKind::TemplateTail => depth = depth.wrapping_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Returns `true` if a token is `|` or `&`, which combine types.
    fn is_bar(&self, at: usize) -> bool {
        let tok = self.tok(at);
        tok.kind == TokenKind::Op
            && matches!(self.src.get(tok.start as usize..tok.end() as usize), Some(b"|" | b"&"))
    }

    /// Skips an operand of a type, or a word before one. Returns whether an operand must follow.
    fn primary(&self, at: usize) -> Option<(usize, bool)> {
        let (tok, next) = (self.tok(at), at + 1);
        let is_operand = matches!(
            self.kind(next),
            TokenKind::Word | TokenKind::LParen | TokenKind::LBrace | TokenKind::LBracket | TokenKind::Lt
        );
        match (tok.kind, tok.kw) {
            (TokenKind::LParen | TokenKind::LBrace | TokenKind::LBracket, _) => Some((self.past(at)?, false)),
            (TokenKind::Minus, _) => (self.kind(next) == TokenKind::Number).then(|| (at + 2, false)),
            (TokenKind::Word, Keyword::Import) if self.kind(next) == TokenKind::LParen => {
                Some((self.past(next)?, false))
            }
            (
                TokenKind::Word,
                Keyword::Keyof | Keyword::Typeof | Keyword::Readonly | Keyword::Unique | Keyword::Infer,
            ) if is_operand => Some((next, true)),
            (TokenKind::Word, Keyword::Asserts | Keyword::Abstract | Keyword::New) if is_operand => {
                Some((next, true))
            }
            (TokenKind::TemplateHead, _) => Some((self.past_template(at)?, false)),
            (TokenKind::Word | TokenKind::String | TokenKind::Number | TokenKind::Template, _) => {
                Some((next, false))
            }
            _ => self.is_bar(at).then_some((next, true)),
        }
    }
}
