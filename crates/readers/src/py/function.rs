//! Parameters, functions and lambdas.

use super::frame::{ANNOTATION, DEFAULT, Frame, FrameKind, NAME, NAMED};
use super::parser::Parser;
use super::token::{Token, TokenKind};
use crate::program::offset;
use crate::program::{Node, NodeFlags, NodeId};

/// A parameter of a function. The scope opens after all of them, because defaults are evaluated outside of
/// it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    name: Token,
    /// Set for `*args` and `**kwargs`.
    is_rest: bool,
    default: Option<NodeId>,
}

impl Parser<'_> {
    pub(super) fn open_parameters(&mut self, kind: FrameKind, start: u32) {
        self.open(kind, start, self.values.len(), NAME);
        let base = offset(self.parameters.len());
        self.change(|frame| frame.extra = base);
    }

    pub(super) fn set_step(&mut self, step: u8) {
        self.change(|frame| frame.state = step);
        self.has_value = false;
    }

    /// Reads the name of a parameter, or the token after it.
    pub(super) fn parameter(&mut self, token: Token) {
        let is_lambda = self.frames.last().is_some_and(|frame| frame.kind == FrameKind::LambdaParameters);
        let is_named = self.frames.last().is_some_and(|frame| frame.state == NAMED);
        let step = match token.kind {
            TokenKind::Name if !is_named => {
                let before = self.tokens.get(self.at.saturating_sub(1)).map(|token| token.kind);
                let is_rest = matches!(before, Some(TokenKind::Star | TokenKind::Power));
                self.parameters.push(Parameter { name: token, is_rest, default: None });
                NAMED
            }
            TokenKind::Colon if is_lambda => return self.begin_lambda(),
            TokenKind::Colon if is_named => ANNOTATION,
            TokenKind::Assign if is_named => DEFAULT,
            TokenKind::Comma => NAME,
            kind if kind.is_separator() => return self.separator(token),
            // Python 2 allows targets in brackets here. They are read as values.
            TokenKind::OpenParen
            | TokenKind::OpenBracket
            | TokenKind::OpenBrace
            | TokenKind::String
            | TokenKind::Head => {
                return self.set_step(ANNOTATION);
            }
            _ if is_named => return self.set_step(NAME),
            _ => NAME,
        };
        self.set_step(step);
        self.skip(1);
    }

    /// Ends a parameter after its type or default.
    pub(super) fn end_parameter(&mut self) {
        let Some(frame) = self.frames.last().copied() else { return };
        let value = self.take_last(frame.base as usize);
        if let Some(parameter) = self.parameters.get_mut(frame.extra as usize..).and_then(<[_]>::last_mut)
            && frame.state == DEFAULT
        {
            parameter.default = value.map(|value| value.node).or(parameter.default);
        }
        self.set_step(NAME);
    }

    /// Opens a function with the parameters after `base`.
    pub(super) fn begin_function(&mut self, base: usize) {
        let function = self.builder.open_function();
        let parameters = self.parameters.split_off(base.min(self.parameters.len()));
        let mut targets = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let span = parameter.name.range();
            let (name, flags) = self.name(parameter.name);
            self.builder.declare(name);
            let target = self.builder.push(Node::Name(name), span, flags);
            targets.push(match parameter.default {
                Some(value) => self.builder.bind(target, value, span),
                None if parameter.is_rest => self.builder.push(Node::Spread(target), span, NodeFlags::NONE),
                None => target,
            });
        }
        self.builder.set_parameters(function, &targets);
    }

    /// Reads the colon after the parameters of a lambda.
    pub(super) fn begin_lambda(&mut self) {
        self.end_parameter();
        self.skip(1);
        let Some(frame) = self.frames.pop() else { return };
        self.begin_function(frame.extra as usize);
        self.open(FrameKind::LambdaBody, frame.start, frame.base as usize, 0);
    }

    /// Ends a lambda after its body.
    pub(super) fn end_lambda(&mut self, frame: Frame) {
        let body = self.take_last(frame.base as usize);
        let end = body.map_or_else(|| self.end(), |value| value.end);
        let Some(function) = self.builder.current_function() else { return };
        if let Some(value) = body {
            self.push(Node::Return { function, value: value.node }, value.start, value.end);
        }
        self.builder.close_function();
        self.put(Node::Function(function), frame.start, end);
    }
}
