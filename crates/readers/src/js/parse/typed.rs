//! TypeScript types, which are skipped, and enums.

use super::super::keyword::Kw;
use super::super::token::{K, NEWLINE};
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
        if self.kind(0) == K::Colon {
            self.skip_type(1);
        }
    }

    /// Skips `<T>`. Returns `false` if there is none.
    pub(super) fn skip_angles(&mut self) -> bool {
        let after = if self.kind(0) == K::Lt { self.types.angles(self.at) } else { None };
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
        while self.kind(0) == K::Comma {
            self.skip_type(1);
        }
    }

    /// Reads a type declaration. Returns `false` if the word is a name.
    pub(super) fn type_statement(&mut self, kw: Kw) -> bool {
        let is_named = self.kind(1) == K::Word && !self.newline(1);
        match kw {
            Kw::Type if is_named => {
                // `type A<B> = C`.
                self.skip(2);
                self.skip_angles();
                if self.kind(0) == K::Assign {
                    self.skip_type(1);
                }
                self.end_heads();
            }
            Kw::Interface if is_named => self.interface(),
            Kw::Enum if is_named => self.enumeration(1),
            Kw::Declare if is_named => self.skip_declared(),
            Kw::Abstract if self.kw(1) == Kw::Class => self.skip(1),
            Kw::Namespace | Kw::Module if is_named || self.kind(1) == K::Str => self.namespace(),
            Kw::Global if self.kind(1) == K::LBrace => self.namespace(),
            _ => return false,
        }
        true
    }

    /// Skips `interface A extends B {…}`.
    fn interface(&mut self) {
        self.skip(2);
        self.skip_angles();
        if self.kw(0) == Kw::Extends {
            self.skip_types();
        }
        if self.kind(0) == K::LBrace {
            self.at = self.types.past(self.at).unwrap_or(self.at);
        }
        self.end_heads();
    }

    /// Skips a declaration without code, to the end of its line or body.
    fn skip_declared(&mut self) {
        self.skip(1);
        let first = self.at;
        while let Some(&tok) = self.toks.get(self.at) {
            match tok.kind {
                K::LBrace => {
                    self.at = self.types.past(self.at).unwrap_or(self.at);
                    break;
                }
                K::LParen | K::LBracket => match self.types.past(self.at) {
                    Some(next) => self.at = next,
                    None => break,
                },
                K::Lt if self.skip_angles() => {}
                K::Semi | K::Assign => break,
                kind if kind.is_close() => break,
                K::Word if tok.has(NEWLINE) && self.at > first => break,
                _ => self.skip(1),
            }
        }
        self.end_heads();
    }

    /// Reads `namespace A.B {`. Its body is read in place.
    fn namespace(&mut self) {
        self.skip(1);
        while matches!(self.kind(0), K::Word | K::Dot | K::Str) && !self.newline(0) {
            self.skip(1);
        }
        if self.kind(0) == K::LBrace {
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
