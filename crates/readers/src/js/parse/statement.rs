//! Statements.

use super::super::keyword::Keyword;
use super::super::token::{Token, TokenKind};
use super::Parser;
use super::frame::{FunctionRole, Role, State, Statement};
use crate::program::ScopeKind;

impl Parser<'_> {
    pub(super) fn statement(&mut self, tok: Token) {
        match tok.kind {
            TokenKind::Semi => {
                self.skip(1);
                self.end_heads();
            }
            TokenKind::LBrace => self.block(Some(ScopeKind::Block)),
            TokenKind::At => self.open(Role::Decorator(State::Statement), 1),
            // A label.
            TokenKind::Word if self.kind(1) == TokenKind::Colon && tok.kw != Keyword::Case => self.skip(2),
            TokenKind::Word => self.keyword(tok),
            _ => self.open(Role::Statement(Statement::Plain), 0),
        }
    }

    fn keyword(&mut self, tok: Token) {
        match tok.kw {
            Keyword::Const if self.kw(1) == Keyword::Enum => self.enumeration(2),
            Keyword::Var | Keyword::Const | Keyword::Let | Keyword::Using | Keyword::Await => {
                match self.declaration() {
                    Some((scope, words)) => self.open(Role::Statement(Statement::Declare(scope)), words),
                    None => self.open(Role::Statement(Statement::Plain), 0),
                }
            }
            Keyword::Function => self.function(FunctionRole::Declaration),
            Keyword::Async if self.kw(1) == Keyword::Function && !self.newline(1) => self.skip(1),
            Keyword::Class => self.class(FunctionRole::Declaration, tok.start),
            Keyword::If => {
                self.open_choice();
                self.head();
            }
            Keyword::While | Keyword::With | Keyword::Switch => self.head(),
            Keyword::For => self.for_head(),
            Keyword::Catch => self.catch_head(),
            Keyword::Try => {
                self.open_choice();
                self.skip(1);
            }
            Keyword::Do | Keyword::Else | Keyword::Finally | Keyword::Debugger | Keyword::Default => {
                self.skip(1);
            }
            Keyword::Break | Keyword::Continue => {
                let is_labeled = self.kind(1) == TokenKind::Word && !self.newline(1);
                self.skip(if is_labeled { 2 } else { 1 });
                self.end_heads();
            }
            Keyword::Return => {
                self.open(Role::Statement(Statement::Return), 1);
                if self.newline(0) {
                    self.pop();
                }
            }
            Keyword::Throw => self.open(Role::Statement(Statement::Used), 1),
            Keyword::Case => self.open(Role::Statement(Statement::Case), 1),
            Keyword::Import if !matches!(self.kind(1), TokenKind::LParen | TokenKind::Dot) => {
                self.import(tok);
            }
            Keyword::Export => self.export(),
            _ if self.is_typed() && self.type_statement(tok.kw) => {}
            _ => self.open(Role::Statement(Statement::Plain), 0),
        }
    }
}
