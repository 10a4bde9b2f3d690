//! Statements.

use super::super::keyword::Kw;
use super::super::token::{K, Tok};
use super::Parser;
use super::frame::{FunctionRole, Role, State, Statement};
use crate::program::ScopeKind;

impl Parser<'_> {
    pub(super) fn statement(&mut self, tok: Tok) {
        match tok.kind {
            K::Semi => {
                self.skip(1);
                self.end_heads();
            }
            K::LBrace => self.block(Some(ScopeKind::Block)),
            K::At => self.open(Role::Decorator(State::Statement), 1),
            // A label.
            K::Word if self.kind(1) == K::Colon && tok.kw != Kw::Case => self.skip(2),
            K::Word => self.keyword(tok),
            _ => self.open(Role::Statement(Statement::Plain), 0),
        }
    }

    fn keyword(&mut self, tok: Tok) {
        match tok.kw {
            Kw::Const if self.kw(1) == Kw::Enum => self.enumeration(2),
            Kw::Var | Kw::Const | Kw::Let | Kw::Using | Kw::Await => match self.declaration() {
                Some((scope, words)) => self.open(Role::Statement(Statement::Declare(scope)), words),
                None => self.open(Role::Statement(Statement::Plain), 0),
            },
            Kw::Function => self.function(FunctionRole::Declaration),
            Kw::Async if self.kw(1) == Kw::Function && !self.newline(1) => self.skip(1),
            Kw::Class => self.class(FunctionRole::Declaration, tok.start),
            Kw::If => {
                self.open_choice();
                self.head();
            }
            Kw::While | Kw::With | Kw::Switch => self.head(),
            Kw::For => self.for_head(),
            Kw::Catch => self.catch_head(),
            Kw::Try => {
                self.open_choice();
                self.skip(1);
            }
            Kw::Do | Kw::Else | Kw::Finally | Kw::Debugger | Kw::Default => self.skip(1),
            Kw::Break | Kw::Continue => {
                let is_labeled = self.kind(1) == K::Word && !self.newline(1);
                self.skip(if is_labeled { 2 } else { 1 });
                self.end_heads();
            }
            Kw::Return => {
                self.open(Role::Statement(Statement::Return), 1);
                if self.newline(0) {
                    self.pop();
                }
            }
            Kw::Throw => self.open(Role::Statement(Statement::Used), 1),
            Kw::Case => self.open(Role::Statement(Statement::Case), 1),
            Kw::Import if !matches!(self.kind(1), K::LParen | K::Dot) => self.import(tok),
            Kw::Export => self.export(),
            _ if self.is_typed() && self.type_statement(tok.kw) => {}
            _ => self.open(Role::Statement(Statement::Plain), 0),
        }
    }
}
