//! TypeScript types, which are skipped, and enums.

use super::super::keyword::Keyword;
use super::super::token::{NEWLINE, TokenKind};
use super::Parser;
use super::frame::{FunctionRole, Members, Role};
use crate::program::ScopeKind;

impl Parser<'_> {
    /// Skips some words and a type.
    pub(super) fn skip_type(&mut self, words: usize) {
        self.skip(words);
        self.at = self.types.skip(self.at).unwrap_or(self.at);
    }

    /// Skips `: T`, if present.
    pub(super) fn skip_annotation(&mut self) {
        if self.kind(0) == TokenKind::Colon {
            self.skip_type(1);
        }
    }

    /// Skips `<T>`. Returns `false` if there is none.
    pub(super) fn skip_angles(&mut self) -> bool {
        let after = if self.kind(0) == TokenKind::Lt { self.types.angles(self.at) } else { None };
        self.at = after.unwrap_or(self.at);
        after.is_some()
    }

    /// Skips the type arguments of a call or base class. Returns `false` if there are none.
    pub(super) fn skip_arguments_of_types(&mut self) -> bool {
        if self.top().role == Role::Heritage {
            return self.skip_angles();
        }
        let after = self.types.call_angles(self.at);
        self.at = after.unwrap_or(self.at);
        after.is_some()
    }

    /// Skips a word and the comma-separated types after it.
    pub(super) fn skip_types(&mut self) {
        self.skip_type(1);
        while self.kind(0) == TokenKind::Comma {
            self.skip_type(1);
        }
    }

    /// Reads a type declaration. Returns `false` if the word is a name.
    pub(super) fn type_statement(&mut self, kw: Keyword) -> bool {
        let is_named = self.kind(1) == TokenKind::Word && !self.newline(1);
        match kw {
            Keyword::Type if is_named => {
                // `type A<B> = C`.
                self.skip(2);
                self.skip_angles();
                if self.kind(0) == TokenKind::Assign {
                    self.skip_type(1);
                }
                self.end_heads();
            }
            Keyword::Interface if is_named => self.interface(),
            Keyword::Enum if is_named => self.enumeration(1),
            Keyword::Declare if is_named => self.skip_declared(),
            Keyword::Abstract if self.kw(1) == Keyword::Class => self.skip(1),
            Keyword::Namespace | Keyword::Module if is_named || self.kind(1) == TokenKind::String => {
                self.namespace();
            }
            Keyword::Global if self.kind(1) == TokenKind::LBrace => self.namespace(),
            _ => return false,
        }
        true
    }

    /// Skips `interface A extends B {…}`.
    fn interface(&mut self) {
        self.skip(2);
        self.skip_angles();
        if self.kw(0) == Keyword::Extends {
            self.skip_types();
        }
        if self.kind(0) == TokenKind::LBrace {
            self.at = self.types.past(self.at).unwrap_or(self.at);
        }
        self.end_heads();
    }

    /// Skips a declaration without code, to the end of its line or body.
    fn skip_declared(&mut self) {
        self.skip(1);
        let first = self.at;
        while let Some(&tok) = self.tokens.get(self.at) {
            match tok.kind {
                TokenKind::LBrace => {
                    self.at = self.types.past(self.at).unwrap_or(self.at);
                    break;
                }
                TokenKind::LParen | TokenKind::LBracket => match self.types.past(self.at) {
                    Some(next) => self.at = next,
                    None => break,
                },
                TokenKind::Lt if self.skip_angles() => {}
                TokenKind::Semi | TokenKind::Assign => break,
                kind if kind.is_close() => break,
                TokenKind::Word if tok.has(NEWLINE) && self.at > first => break,
                _ => self.skip(1),
            }
        }
        self.end_heads();
    }

    /// Reads `namespace A.B {`. Its body is read in place.
    fn namespace(&mut self) {
        self.skip(1);
        while matches!(self.kind(0), TokenKind::Word | TokenKind::Dot | TokenKind::String) && !self.newline(0)
        {
            self.skip(1);
        }
        if self.kind(0) == TokenKind::LBrace {
            self.block(Some(ScopeKind::Function));
        }
    }

    /// Reads `enum A {` after some words.
    pub(super) fn enumeration(&mut self, words: usize) {
        let start = self.peek(0).start;
        self.skip(words);
        self.open_class(FunctionRole::Declaration, start);
        self.open_members(Members::Enum);
    }
}
