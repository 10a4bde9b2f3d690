//! Tokens at which an operand may start.

use super::super::keyword::Keyword;
use super::super::token::{Token, TokenKind};
use super::Parser;
use super::frame::{FunctionRole, Members, Role, State};
use crate::program::Node;

/// Returns `true` for tokens that cannot start an operand.
const fn is_operator(kind: TokenKind) -> bool {
    let joins = matches!(
        kind,
        TokenKind::Dot
            | TokenKind::QDot
            | TokenKind::Comma
            | TokenKind::Star
            | TokenKind::Gt
            | TokenKind::Equality
            | TokenKind::Either
            | TokenKind::Arrow
    );
    let assigns = matches!(
        kind,
        TokenKind::Assign | TokenKind::EitherAssign | TokenKind::PlusAssign | TokenKind::OpAssign
    );
    joins
        || assigns
        || kind.is_close()
        || matches!(kind, TokenKind::Semi | TokenKind::Colon | TokenKind::Question)
}

impl Parser<'_> {
    pub(super) fn operand(&mut self, tok: Token) {
        match tok.kind {
            TokenKind::Word => self.word(tok),
            TokenKind::String | TokenKind::Template | TokenKind::Number => {
                let node = self.constant_node(tok);
                self.value(node, tok.start);
                self.skip(1);
            }
            TokenKind::Regex | TokenKind::Private => self.unknown(1),
            TokenKind::TemplateHead => self.open_template(Role::Template, self.values.len(), tok.start),
            TokenKind::LParen if self.is_arrow_head(0) => {
                self.open_function(FunctionRole::Arrow, None, self.function_start());
            }
            TokenKind::LParen => self.open_group(Role::Group),
            TokenKind::LBracket => self.open_group(Role::Array),
            TokenKind::LBrace if self.top().role == Role::Element => self.open_group(Role::ElementHole),
            TokenKind::LBrace => {
                self.open_group(Role::Members(Members::Object));
                self.state = State::Key;
            }
            TokenKind::JsxStart => {
                self.elements += 1;
                self.open_group(Role::Element);
            }
            TokenKind::Minus => self.open(Role::Minus, 1),
            TokenKind::IncDec => self.open(Role::NamePart, 1),
            TokenKind::Plus | TokenKind::Bang | TokenKind::Op => self.open(Role::Prefix, 1),
            TokenKind::Ellipsis => self.open(Role::Spread, 1),
            TokenKind::At => self.open(Role::Decorator(State::Operand), 1),
            // Type parameters of an arrow function, or a type assertion.
            TokenKind::Lt if self.is_typed() && self.skip_angles() => {}
            TokenKind::Comma => self.comma(),
            TokenKind::Semi => self.semicolon(),
            TokenKind::Colon => self.colon(),
            _ => self.skip(1),
        }
    }

    /// Reads tokens as an unknown value.
    fn unknown(&mut self, count: usize) {
        let start = self.peek(0).start;
        self.skip(count);
        self.push(Node::Unknown, start);
    }

    /// Appends a name as an operand.
    fn name(&mut self, tok: Token) {
        let node = self.name_node(tok);
        self.value(node, tok.start);
        self.skip(1);
    }

    /// Reads `true` as 1 and `false` as 0.
    fn truth(&mut self, tok: Token) {
        self.skip(1);
        self.push(Node::Number(i32::from(tok.kw == Keyword::True)), tok.start);
    }

    /// Returns `true` if `this` is the global object.
    // This holds for scripts. In modules `this` is undefined, so nothing is missed by the assumption.
    fn is_outside_functions(&self) -> bool {
        let in_class = || self.frames.iter().any(|frame| matches!(frame.role, Role::Class { .. }));
        self.out.builder.current_function().is_none() && !in_class()
    }

    fn global_object(&mut self, tok: Token) {
        self.skip(1);
        let name = self.out.builder.text(b"globalThis");
        self.push(Node::Global(name), tok.start);
    }

    /// Returns `true` if the parenthesis at a distance opens the parameters of an arrow function.
    fn is_arrow_head(&self, ahead: usize) -> bool {
        let open = self.at + ahead;
        // In `a ? (b) : c => d`, the colon is not a return type.
        if self.is_typed() && self.top().role != Role::Then {
            return self.types.is_arrow_head(open);
        }
        let after = self.types.past(open).and_then(|after| self.tokens.get(after));
        after.is_some_and(|tok| tok.kind == TokenKind::Arrow)
    }

    fn word(&mut self, tok: Token) {
        match tok.kw {
            Keyword::None if self.kind(1) != TokenKind::Arrow => self.name(tok),
            Keyword::Function => self.function(FunctionRole::Expression),
            Keyword::Class => self.class(FunctionRole::Expression, tok.start),
            Keyword::Async if self.starts_async() => self.skip(1),
            Keyword::New if self.kind(1) == TokenKind::Dot => self.unknown(3),
            Keyword::New => self.open(Role::New, 1),
            Keyword::Delete => self.open(Role::Delete, 1),
            Keyword::Typeof => self.open(Role::Typeof, 1),
            Keyword::Void => self.open(Role::Prefix, 1),
            Keyword::Await if !is_operator(self.kind(1)) => self.skip(1),
            Keyword::Yield if self.out.builder.current_function().is_some() => self.r#yield(),
            Keyword::This if self.top().role == Role::Parameters => self.this_parameter(),
            Keyword::This if self.is_outside_functions() => self.global_object(tok),
            Keyword::True | Keyword::False => self.truth(tok),
            Keyword::This | Keyword::Super | Keyword::Null => self.unknown(1),
            Keyword::Import if self.kind(1) == TokenKind::LParen => self.import_call(1),
            Keyword::Import if self.kind(1) == TokenKind::Dot && self.kind(3) == TokenKind::LParen => {
                self.import_call(3);
            }
            Keyword::In
            | Keyword::Instanceof
            | Keyword::Extends
            | Keyword::Else
            | Keyword::Finally
            | Keyword::Catch
            | Keyword::Do => {
                self.skip(1);
            }
            _ if self.starts_statement() => self.give_up(),
            _ if self.is_parameter_modifier(tok.kw) => self.skip(1),
            _ if self.kind(1) == TokenKind::Arrow => self.short_arrow(tok),
            _ => self.name(tok),
        }
    }

    /// Returns `true` if the next word is the `async` of a function.
    fn starts_async(&self) -> bool {
        !self.newline(1)
            && match self.kind(1) {
                TokenKind::Word => self.kw(1) == Keyword::Function || self.kind(2) == TokenKind::Arrow,
                TokenKind::LParen => self.is_arrow_head(1),
                TokenKind::Lt => self.is_typed() && self.types.call_angles(self.at + 1).is_some(),
                _ => false,
            }
    }

    fn r#yield(&mut self) {
        let all = self.kind(1) == TokenKind::Star;
        if !all && (is_operator(self.kind(1)) || self.newline(1)) {
            return self.unknown(1);
        }
        self.open(Role::Yield, if all { 2 } else { 1 });
    }

    /// Reads `import(…)` or `import.defer(…)`.
    fn import_call(&mut self, words: usize) {
        let start = self.peek(0).start;
        self.skip(words);
        self.open_bracket(Role::Import, self.values.len(), start);
    }

    /// Skips `this: T`, which is a parameter only in the types.
    fn this_parameter(&mut self) {
        self.skip(1);
        self.skip_annotation();
        if self.kind(0) == TokenKind::Comma {
            self.skip(1);
        }
    }

    fn is_parameter_modifier(&self, kw: Keyword) -> bool {
        self.top().role == Role::Parameters
            && matches!(
                kw,
                Keyword::Public
                    | Keyword::Private
                    | Keyword::Protected
                    | Keyword::Readonly
                    | Keyword::Override
            )
            && matches!(self.kind(1), TokenKind::Word | TokenKind::LBrace | TokenKind::LBracket)
    }

    /// Returns `true` if the next word can only start a statement.
    pub(super) fn starts_statement(&self) -> bool {
        match self.kw(0) {
            Keyword::If | Keyword::While | Keyword::For | Keyword::Switch | Keyword::With => {
                self.kind(1) == TokenKind::LParen
            }
            Keyword::Const | Keyword::Var => {
                matches!(self.kind(1), TokenKind::Word | TokenKind::LBrace | TokenKind::LBracket)
            }
            Keyword::Let => self.newline(0) && self.declaration().is_some(),
            Keyword::Return
            | Keyword::Throw
            | Keyword::Try
            | Keyword::Break
            | Keyword::Continue
            | Keyword::Export
            | Keyword::Debugger => true,
            Keyword::Import => !matches!(self.kind(1), TokenKind::LParen | TokenKind::Dot),
            Keyword::Function | Keyword::Class | Keyword::Do => self.newline(0),
            _ => false,
        }
    }

    /// Closes all expressions up to the enclosing statement.
    pub(super) fn give_up(&mut self) {
        self.pop_until(|role| matches!(role, Role::Block { .. }));
        self.state = State::Statement;
    }
}
