//! Tokens after an operand.

use super::super::keyword::Keyword;
use super::super::token::{ESCAPED, NEWLINE, Token, TokenKind};
use super::Parser;
use super::frame::{Binary, CONDITION, Loop, Role, Statement};
use crate::program::{CallKind, Node, NodeFlags};

impl Parser<'_> {
    pub(super) fn operator(&mut self, tok: Token) {
        // A decorator is a name with members and arguments; anything else belongs to the definition.
        if let Role::Decorator(_) = self.top().role
            && !matches!(tok.kind, TokenKind::Dot | TokenKind::LParen | TokenKind::QDot | TokenKind::Lt)
        {
            return self.pop();
        }
        match tok.kind {
            TokenKind::Dot | TokenKind::QDot => self.member(tok),
            TokenKind::LParen | TokenKind::LBracket | TokenKind::Template | TokenKind::TemplateHead => {
                self.suffix(tok.kind);
            }
            // A non-null assertion. On a new line, `!` begins a statement.
            TokenKind::Bang if !tok.has(NEWLINE) => self.skip(1),
            TokenKind::IncDec if !tok.has(NEWLINE) => {
                self.skip(1);
                self.step();
            }
            TokenKind::Lt if self.is_typed() && self.skip_arguments_of_types() => {}
            TokenKind::Plus => self.binary(Binary::Join),
            TokenKind::Minus => self.binary(Binary::Subtract),
            TokenKind::Star => self.binary(Binary::Multiply),
            TokenKind::Either => self.binary(Binary::Either),
            TokenKind::Equality | TokenKind::Lt | TokenKind::Gt | TokenKind::Op | TokenKind::Arrow => {
                self.binary(Binary::Compare);
            }
            TokenKind::Assign => self.assign(None),
            TokenKind::PlusAssign => self.assign(Some(Binary::Join)),
            TokenKind::EitherAssign => self.assign(Some(Binary::Either)),
            TokenKind::OpAssign => self.assign(Some(Binary::Compare)),
            TokenKind::Question => self.question(),
            TokenKind::Colon => self.colon(),
            TokenKind::Comma => self.comma(),
            TokenKind::Semi => self.semicolon(),
            TokenKind::Word => self.word_operator(tok),
            _ => self.separate(),
        }
    }

    fn word_operator(&mut self, tok: Token) {
        match (tok.kw, self.top().role) {
            (Keyword::In | Keyword::Of, Role::For(Loop::First, declare)) => {
                self.set_role(Role::For(if tok.kw == Keyword::In { Loop::In } else { Loop::Of }, declare));
                self.skip_to_operand(1);
            }
            (Keyword::In | Keyword::Instanceof, _) => self.binary(Binary::Compare),
            (Keyword::As | Keyword::Satisfies, _) if self.is_typed() && !tok.has(NEWLINE) => {
                self.skip_type(1);
            }
            _ if self.starts_statement() => self.give_up(),
            _ => self.separate(),
        }
    }

    /// Reads `.name`, `?.name`, or `?.` before another suffix.
    fn member(&mut self, tok: Token) {
        let name = self.peek(1);
        if !matches!(name.kind, TokenKind::Word | TokenKind::Private) {
            self.skip(1);
            let is_suffix = matches!(
                name.kind,
                TokenKind::LParen | TokenKind::LBracket | TokenKind::Template | TokenKind::TemplateHead
            );
            if tok.kind == TokenKind::Dot || !is_suffix {
                self.separate();
            }
            return;
        }
        let text = self.name_of(name);
        self.skip(2);
        if let Some(object) = self.values.pop() {
            self.push(Node::Member { object: object.node, name: text }, object.start);
        }
        if let Some(value) = self.values.last().filter(|_| name.has(ESCAPED)) {
            self.out.builder.mark(value.node, NodeFlags::ESCAPED);
        }
    }

    /// Opens arguments, an index or a template after the callee or object.
    fn suffix(&mut self, kind: TokenKind) {
        let top = self.top();
        let base = self.values.len().saturating_sub(1);
        let start = self.values.last().map_or(0, |value| value.start);
        match kind {
            TokenKind::LParen if top.role == Role::New => {
                self.frames.pop();
                self.open_bracket(Role::Arguments(CallKind::New), base, top.start);
            }
            TokenKind::LParen => self.open_bracket(Role::Arguments(CallKind::Plain), base, start),
            TokenKind::LBracket => self.open_bracket(Role::Index, base, start),
            _ => self.open_template(Role::Tagged, base, start),
        }
    }

    fn binary(&mut self, binary: Binary) {
        self.reduce_above(binary.precedence());
        // A chain such as `a + b + c` is one frame, so it does not grow the stack.
        if self.top().role == Role::Binary(binary) {
            return self.skip_to_operand(1);
        }
        if self.top().role.precedence() == binary.precedence() {
            self.pop();
        }
        self.open_after(Role::Binary(binary));
    }

    /// Opens an assignment. Its target is one operand; enclosing operators continue after the assignment.
    fn assign(&mut self, binary: Option<Binary>) {
        self.reduce_above(CONDITION);
        self.open_after(Role::Assign(binary));
    }

    fn question(&mut self) {
        // `(a?: T)` marks an optional parameter.
        let is_mark = matches!(
            self.kind(1),
            TokenKind::Colon | TokenKind::Comma | TokenKind::RParen | TokenKind::Assign
        );
        if is_mark && self.top().role == Role::Parameters {
            return self.skip(1);
        }
        self.reduce_above(CONDITION);
        let start = self.values.pop().map_or(0, |condition| condition.start);
        // A chain of conditions is one choice.
        if self.top().role == Role::Else {
            self.set_role(Role::Then);
            return self.skip_to_operand(1);
        }
        self.open(Role::Then, 1);
        if let Some(frame) = self.frames.last_mut() {
            frame.start = start;
        }
    }

    /// Handles a colon: the second branch of a condition, a type, or the end of a `case`.
    pub(super) fn colon(&mut self) {
        while self.top().role.precedence() > 0 && self.top().role != Role::Then {
            self.pop();
        }
        match self.top().role {
            Role::Then => {
                self.set_role(Role::Else);
                self.skip_to_operand(1);
            }
            Role::Statement(Statement::Declare(_))
            | Role::Parameters
            | Role::Catch
            | Role::For(Loop::First, _) => {
                self.skip_annotation();
            }
            _ => {
                self.skip(1);
                self.separate();
            }
        }
    }
}
