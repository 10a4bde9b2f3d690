//! Tokens at which an operand may start.

use super::super::keyword::Kw;
use super::super::token::{K, Tok};
use super::Parser;
use super::frame::{FunctionRole, Members, Role, State};
use crate::program::Node;

/// Returns `true` for tokens that cannot start an operand.
const fn is_operator(kind: K) -> bool {
    let joins =
        matches!(kind, K::Dot | K::QDot | K::Comma | K::Star | K::Gt | K::Equality | K::Either | K::Arrow);
    let assigns = matches!(kind, K::Assign | K::EitherAssign | K::PlusAssign | K::OpAssign);
    joins || assigns || kind.is_close() || matches!(kind, K::Semi | K::Colon | K::Question)
}

impl Parser<'_> {
    pub(super) fn operand(&mut self, tok: Tok) {
        match tok.kind {
            K::Word => self.word(tok),
            K::Str | K::Tpl | K::Num => {
                let node = self.constant_node(tok);
                self.value(node, tok.start);
                self.skip(1);
            }
            K::Regex | K::Private => self.unknown(1),
            K::TplHead => self.open_template(Role::Template, self.values.len(), tok.start),
            K::LParen if self.is_arrow_head(0) => {
                self.open_function(FunctionRole::Arrow, None, self.function_start());
            }
            K::LParen => self.open_group(Role::Group),
            K::LBracket => self.open_group(Role::Array),
            K::LBrace if self.top().role == Role::Element => self.open_group(Role::ElementHole),
            K::LBrace => {
                self.open_group(Role::Members(Members::Object));
                self.state = State::Key;
            }
            K::JsxStart => {
                self.elements = self.elements.saturating_add(1);
                self.open_group(Role::Element);
            }
            K::Minus => self.open(Role::Minus, 1),
            K::IncDec => self.open(Role::Step, 1),
            K::Plus | K::Bang | K::Op => self.open(Role::Prefix, 1),
            K::Ellipsis => self.open(Role::Spread, 1),
            K::At => self.open(Role::Decorator(State::Operand), 1),
            // Type parameters of an arrow function, or a type assertion.
            K::Lt if self.is_typed() && self.skip_angles() => {}
            K::Comma => self.comma(),
            K::Semi => self.semicolon(),
            K::Colon => self.colon(),
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
    fn name(&mut self, tok: Tok) {
        let node = self.name_node(tok);
        self.value(node, tok.start);
        self.skip(1);
    }

    /// Reads `true` as 1 and `false` as 0.
    fn truth(&mut self, tok: Tok) {
        self.skip(1);
        self.push(Node::Number(i32::from(tok.kw == Kw::True)), tok.start);
    }

    /// Returns `true` if `this` is the global object.
    // This holds for scripts. In modules `this` is undefined, so nothing is missed by the assumption.
    fn is_outside_functions(&self) -> bool {
        let in_class = || self.frames.iter().any(|frame| matches!(frame.role, Role::Class { .. }));
        self.out.builder.current_function().is_none() && !in_class()
    }

    fn global_object(&mut self, tok: Tok) {
        self.skip(1);
        let name = self.out.builder.text(b"globalThis");
        self.push(Node::Global(name), tok.start);
    }

    /// Returns `true` if the parenthesis at a distance opens the parameters of an arrow function.
    fn is_arrow_head(&self, ahead: usize) -> bool {
        let open = self.at.saturating_add(ahead);
        // In `a ? (b) : c => d`, the colon is not a return type.
        if self.is_typed() && self.top().role != Role::Then {
            return self.types.is_arrow_head(open);
        }
        let after = self.types.past(open).and_then(|after| self.toks.get(after));
        after.is_some_and(|tok| tok.kind == K::Arrow)
    }

    fn word(&mut self, tok: Tok) {
        match tok.kw {
            Kw::None if self.kind(1) != K::Arrow => self.name(tok),
            Kw::Function => self.function(FunctionRole::Expression),
            Kw::Class => self.class(FunctionRole::Expression, tok.start),
            Kw::Async if self.starts_async() => self.skip(1),
            Kw::New if self.kind(1) == K::Dot => self.unknown(3),
            Kw::New => self.open(Role::New, 1),
            Kw::Delete => self.open(Role::Delete, 1),
            Kw::Typeof => self.open(Role::Typeof, 1),
            Kw::Void => self.open(Role::Prefix, 1),
            Kw::Await if !is_operator(self.kind(1)) => self.skip(1),
            Kw::Yield if self.out.builder.current_function().is_some() => self.r#yield(),
            Kw::This if self.top().role == Role::Parameters => self.this_parameter(),
            Kw::This if self.is_outside_functions() => self.global_object(tok),
            Kw::True | Kw::False => self.truth(tok),
            Kw::This | Kw::Super | Kw::Null => self.unknown(1),
            Kw::Import if self.kind(1) == K::LParen => self.import_call(1),
            Kw::Import if self.kind(1) == K::Dot && self.kind(3) == K::LParen => self.import_call(3),
            Kw::In | Kw::Instanceof | Kw::Extends | Kw::Else | Kw::Finally | Kw::Catch | Kw::Do => {
                self.skip(1);
            }
            _ if self.starts_statement() => self.give_up(),
            _ if self.is_parameter_modifier(tok.kw) => self.skip(1),
            _ if self.kind(1) == K::Arrow => self.short_arrow(tok),
            _ => self.name(tok),
        }
    }

    /// Returns `true` if the next word is the `async` of a function.
    fn starts_async(&self) -> bool {
        !self.newline(1)
            && match self.kind(1) {
                K::Word => self.kw(1) == Kw::Function || self.kind(2) == K::Arrow,
                K::LParen => self.is_arrow_head(1),
                K::Lt => self.is_typed() && self.types.call_angles(self.at.saturating_add(1)).is_some(),
                _ => false,
            }
    }

    fn r#yield(&mut self) {
        let all = self.kind(1) == K::Star;
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
        if self.kind(0) == K::Comma {
            self.skip(1);
        }
    }

    fn is_parameter_modifier(&self, kw: Kw) -> bool {
        self.top().role == Role::Parameters
            && matches!(kw, Kw::Public | Kw::Private | Kw::Protected | Kw::Readonly | Kw::Override)
            && matches!(self.kind(1), K::Word | K::LBrace | K::LBracket)
    }

    /// Returns `true` if the next word can only start a statement.
    pub(super) fn starts_statement(&self) -> bool {
        match self.kw(0) {
            Kw::If | Kw::While | Kw::For | Kw::Switch | Kw::With => self.kind(1) == K::LParen,
            Kw::Const | Kw::Var => matches!(self.kind(1), K::Word | K::LBrace | K::LBracket),
            Kw::Let => self.newline(0) && self.declaration().is_some(),
            Kw::Return | Kw::Throw | Kw::Try | Kw::Break | Kw::Continue | Kw::Export | Kw::Debugger => true,
            Kw::Import => !matches!(self.kind(1), K::LParen | K::Dot),
            Kw::Function | Kw::Class | Kw::Do => self.newline(0),
            _ => false,
        }
    }

    /// Closes all expressions up to the enclosing statement.
    pub(super) fn give_up(&mut self) {
        self.pop_until(|role| matches!(role, Role::Block { .. }));
        self.state = State::Statement;
    }
}
