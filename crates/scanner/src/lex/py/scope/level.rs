//! Brackets, comprehensions and lambdas of a statement.

use super::Kind;
use super::read::{NO, Of, Reader};
use crate::lex::py::token::{Kw, Tok, pair};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The byte that opened it.
    Bracket(u8),
    /// The parameters of a function.
    Params,
    /// A lambda up to its colon, and behind it.
    LambdaHead,
    LambdaBody,
}

/// What is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) what: What,
    open: u32,
    /// The scope of a lambda, a function's parameters, or the comprehension in a bracket.
    scope: u32,
    /// Where the targets of a loop begin.
    targets: u32,
    /// The first iterable of the comprehension is read.
    iterable: Reading,
    /// The next name is a parameter.
    expects: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    No,
    Yes,
}

impl Level {
    const fn new(what: What, open: u32, scope: u32) -> Self {
        let parameters = matches!(what, What::Params | What::LambdaHead);
        let expects = if parameters { Reading::Yes } else { Reading::No };
        Self { what, open, scope, targets: NO, iterable: Reading::No, expects }
    }
}

impl Reader<'_, '_> {
    pub(super) fn op(&mut self, at: u32, tok: Tok) {
        let [low, high] = tok.aux.to_le_bytes();
        match (high, low) {
            (0, open @ (b'(' | b'[' | b'{')) => {
                let takes = open == b'(' && self.levels.is_empty();
                let params = if takes { core::mem::replace(&mut self.params, NO) } else { NO };
                let what = if params == NO { What::Bracket(open) } else { What::Params };
                self.levels.push(Level::new(what, at, params));
            }
            (0, b')' | b']' | b'}') => self.shut(at, low),
            (0, b',') => {
                self.end_lambdas(at);
                self.end_iterable(at);
                self.expect(Reading::Yes);
            }
            (0, b':') => self.any_colon(at),
            (0, b'=') => {
                self.end_lambdas(at);
                self.expect(Reading::No);
                if self.levels.is_empty() {
                    self.assigned(at);
                }
            }
            (0, b';') => {
                self.end_lambdas(at);
                self.found.loose |= !self.levels.is_empty();
                self.end_statement(at);
            }
            _ if tok.aux == pair(b':', b'=') => self.walrus(at),
            (b'=' | b'!' | b'<' | b'>', b'=') => {}
            (_, b'=') if self.levels.is_empty() => self.augmented(at),
            _ => {}
        }
    }

    pub(super) fn word(&mut self, at: u32, tok: Tok) {
        let kw = Kw::of(tok.aux);
        match kw {
            Kw::Lambda => {
                let scope = self.new_scope(Kind::Local);
                self.levels.push(Level::new(What::LambdaHead, at, scope));
            }
            Kw::For | Kw::Async => {
                self.end_lambdas(at);
                self.end_iterable(at);
                if kw == Kw::For {
                    self.looped(at);
                }
            }
            Kw::If => self.end_iterable(at),
            Kw::In => self.loop_in(at),
            Kw::As => {
                self.end_lambdas(at);
                self.named_as(at);
            }
            Kw::Return | Kw::Yield if self.lambdas.is_empty() => self.found.gives.push((at, self.scope())),
            Kw::None | Kw::Print => self.parameter(at),
            _ => {}
        }
    }

    /// A name where a parameter is expected.
    fn parameter(&mut self, at: u32) {
        let Some(level) = self.levels.last().filter(|level| level.expects == Reading::Yes) else { return };
        let scope = level.scope;
        self.expect(Reading::No);
        if let Some(name) = self.bind(at, scope, Of::Own) {
            self.found.params.push((at, scope, name));
            let before = at.checked_sub(1).and_then(|before| self.tok(before));
            let spread = before.is_some_and(|tok| tok.is_op(b'*') || tok.aux == pair(b'*', b'*'));
            if !spread {
                self.found.places.push((scope, name));
            }
        }
    }

    fn expect(&mut self, expects: Reading) {
        let top = self.levels.last_mut();
        if let Some(top) = top.filter(|top| matches!(top.what, What::Params | What::LambdaHead)) {
            top.expects = expects;
        }
    }

    /// A colon: of a lambda, of a parameter, or of the statement.
    fn any_colon(&mut self, at: u32) {
        if self.lambda_colon(at) {
            return;
        }
        self.end_lambdas(at);
        if self.lambda_colon(at) {
            return;
        }
        self.expect(Reading::No);
        if self.levels.is_empty() {
            self.colon(at);
        }
    }

    /// Begins the body of the lambda whose parameters are read.
    fn lambda_colon(&mut self, at: u32) -> bool {
        let Some(top) = self.levels.last_mut().filter(|top| top.what == What::LambdaHead) else {
            return false;
        };
        top.what = What::LambdaBody;
        top.expects = Reading::No;
        let scope = top.scope;
        self.lambdas.push(scope);
        self.set_range(scope, Some(at.saturating_add(1)), None);
        true
    }

    /// Ends the lambdas whose bodies reach no further.
    pub(super) fn end_lambdas(&mut self, at: u32) {
        while let Some(level) = self.levels.pop_if(|level| level.what == What::LambdaBody) {
            self.lambdas.pop();
            self.set_range(level.scope, None, Some(at));
        }
    }

    fn shut(&mut self, at: u32, close: u8) {
        self.end_lambdas(at);
        self.end_iterable(at);
        let Some(level) = self.levels.pop() else {
            self.found.loose = true;
            return;
        };
        let fits = match level.what {
            What::Bracket(open) => matches!((open, close), (b'(', b')') | (b'[', b']') | (b'{', b'}')),
            What::Params => close == b')',
            What::LambdaHead | What::LambdaBody => false,
        };
        self.found.loose |= !fits;
        if level.what != What::Params {
            self.set_range(level.scope, None, Some(at));
        }
    }

    /// `for`: the bracket around it is a comprehension.
    fn looped(&mut self, at: u32) {
        let Some(index) = self.levels.len().checked_sub(1) else {
            if self.statement.kw == Kw::For || self.statement.kw == Kw::Async {
                self.statement.targets = at.saturating_add(1);
            }
            return;
        };
        let fresh =
            self.levels.get(index).is_some_and(|top| matches!(top.what, What::Bracket(_)) && top.scope == NO);
        let scope = fresh.then(|| self.new_scope(Kind::Local));
        let Some(top) = self.levels.get_mut(index) else { return };
        top.targets = at.saturating_add(1);
        if let Some(scope) = scope {
            top.scope = scope;
            let open = top.open.saturating_add(1);
            self.set_range(scope, Some(open), None);
        }
    }

    /// `in`: what stands in front of it is bound, if it belongs to a loop.
    fn loop_in(&mut self, at: u32) {
        let next = at.saturating_add(1);
        let Some(top) = self.levels.last_mut() else {
            let from = core::mem::replace(&mut self.statement.targets, NO);
            if from != NO {
                let scope = self.scope();
                for target in self.targets(from, at) {
                    if let Some(name) = self.bind(target, scope, Of::Own) {
                        self.body.push(name);
                    }
                }
            }
            return;
        };
        let from = core::mem::replace(&mut top.targets, NO);
        let scope = top.scope;
        if from == NO || !matches!(top.what, What::Bracket(_)) {
            return;
        }
        let first = self.found.scopes.get_mut(scope as usize).filter(|scope| scope.hole.0 == NO);
        if let Some(scope) = first {
            scope.hole.0 = next;
            top.iterable = Reading::Yes;
        }
        for target in self.targets(from, at) {
            if let Some(name) = self.bind(target, scope, Of::Own) {
                self.found.params.push((NO, scope, name));
            }
        }
    }

    /// Ends the first iterable of a comprehension.
    fn end_iterable(&mut self, at: u32) {
        let Some(top) = self.levels.last_mut().filter(|top| top.iterable == Reading::Yes) else { return };
        top.iterable = Reading::No;
        if let Some(scope) = self.found.scopes.get_mut(top.scope as usize) {
            scope.hole.1 = at;
        }
    }

    /// `x := …` binds in the function around it, whatever comprehensions lie between.
    fn walrus(&mut self, at: u32) {
        let scope = self.lambdas.last().copied().unwrap_or_else(|| self.scope());
        let before = at.saturating_sub(1);
        self.bind(before, scope, Of::Own);
    }
}
