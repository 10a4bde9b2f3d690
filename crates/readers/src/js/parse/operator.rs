//! Tokens after an operand.

use super::super::keyword::Kw;
use super::super::token::{ESCAPED, K, NEWLINE, Tok};
use super::Parser;
use super::frame::{Binary, CONDITION, Loop, Role, Statement};
use crate::program::{CallKind, Node, NodeFlags};

impl Parser<'_> {
    pub(super) fn operator(&mut self, tok: Tok) {
        // A decorator is a name with members and arguments; anything else belongs to the definition.
        if let Role::Decorator(_) = self.top().role
            && !matches!(tok.kind, K::Dot | K::LParen | K::QDot | K::Lt)
        {
            return self.pop();
        }
        match tok.kind {
            K::Dot | K::QDot => self.member(tok),
            K::LParen | K::LBracket | K::Tpl | K::TplHead => self.suffix(tok.kind),
            // A non-null assertion. On a new line, `!` begins a statement.
            K::Bang if !tok.has(NEWLINE) => self.skip(1),
            K::IncDec if !tok.has(NEWLINE) => {
                self.skip(1);
                self.step();
            }
            K::Lt if self.is_typed() && self.skip_arguments_of_types() => {}
            K::Plus => self.binary(Binary::Join),
            K::Minus => self.binary(Binary::Subtract),
            K::Star => self.binary(Binary::Multiply),
            K::Either => self.binary(Binary::Either),
            K::Equality | K::Lt | K::Gt | K::Op | K::Arrow => self.binary(Binary::Compare),
            K::Assign => self.assign(None),
            K::PlusAssign => self.assign(Some(Binary::Join)),
            K::EitherAssign => self.assign(Some(Binary::Either)),
            K::OpAssign => self.assign(Some(Binary::Compare)),
            K::Question => self.question(),
            K::Colon => self.colon(),
            K::Comma => self.comma(),
            K::Semi => self.semicolon(),
            K::Word => self.word_operator(tok),
            _ => self.separate(),
        }
    }

    fn word_operator(&mut self, tok: Tok) {
        match (tok.kw, self.top().role) {
            (Kw::In | Kw::Of, Role::For(Loop::First, declare)) => {
                self.set_role(Role::For(if tok.kw == Kw::In { Loop::In } else { Loop::Of }, declare));
                self.skip_to_operand(1);
            }
            (Kw::In | Kw::Instanceof, _) => self.binary(Binary::Compare),
            (Kw::As | Kw::Satisfies, _) if self.is_typed() && !tok.has(NEWLINE) => self.skip_type(1),
            _ if self.starts_statement() => self.give_up(),
            _ => self.separate(),
        }
    }

    /// Reads `.name`, `?.name`, or `?.` before another suffix.
    fn member(&mut self, tok: Tok) {
        let name = self.peek(1);
        if !matches!(name.kind, K::Word | K::Private) {
            self.skip(1);
            let is_suffix = matches!(name.kind, K::LParen | K::LBracket | K::Tpl | K::TplHead);
            if tok.kind == K::Dot || !is_suffix {
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
    fn suffix(&mut self, kind: K) {
        let top = self.top();
        let base = self.values.len().saturating_sub(1);
        let start = self.values.last().map_or(0, |value| value.start);
        match kind {
            K::LParen if top.role == Role::New => {
                self.frames.pop();
                self.open_bracket(Role::Arguments(CallKind::New), base, top.start);
            }
            K::LParen => self.open_bracket(Role::Arguments(CallKind::Plain), base, start),
            K::LBracket => self.open_bracket(Role::Index, base, start),
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
        let is_mark = matches!(self.kind(1), K::Colon | K::Comma | K::RParen | K::Assign);
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
