//! A parser that builds a program from tokens in one pass.
//!
//! It keeps a stack of frames, each an operator or an incomplete construct, and a stack of operands. There is
//! no recursion, so nested input cannot exhaust the call stack. It never fails: a missing operand is left
//! out, and an unexpected token separates expressions.

mod close;
mod flow;
mod frame;
mod function;
mod literal;
mod member;
mod module;
mod operand;
mod operator;
mod reduce;
mod statement;
mod typed;

use super::keyword::Keyword;
use super::token::{NEWLINE, NO_MATE, Token, TokenKind};
use super::types::Types;
use super::{JsOptions, JsTypes};
use crate::program::{List, Node, NodeFlags, NodeId, ProgramBuilder};
use frame::{Frame, Role, State};

/// The most frames per level of [`JsOptions::depth`]. An open bracket needs a few frames for its operators.
const FRAMES: usize = 6;

/// The most steps of the parser without progress. Reaching it would be a bug; the guard keeps the time
/// linear.
const LOOKS: u32 = 64;

/// An operand, with the offset at which it starts, including its parenthesis.
#[derive(Debug, Clone, Copy)]
struct Operand {
    node: NodeId,
    start: u32,
}

pub(super) struct Parser<'a> {
    src: &'a [u8],
    tokens: &'a [Token],
    types: Types<'a>,
    options: JsOptions,
    /// The index of the next token.
    at: usize,
    state: State,
    frames: Vec<Frame>,
    values: Vec<Operand>,
    /// The open `if` and `try` statements in each scope of a loop or `catch` that ends with a statement.
    heads: Vec<u32>,
    /// The number of open templates and elements.
    templates: usize,
    elements: usize,
    /// The shared node for missing values.
    missing: Option<NodeId>,
    /// Buffers for a text with escapes, and for a list.
    text: Vec<u8>,
    list: Vec<NodeId>,
    out: Parsed,
}

/// A program before name resolution.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) builder: ProgramBuilder,
    /// The offset at which the nesting limit was exceeded.
    pub(super) stopped: Option<usize>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(src: &'a [u8], tokens: &'a [Token], options: JsOptions) -> Self {
        Self {
            src,
            tokens,
            types: Types { src, tokens },
            options,
            at: 0,
            state: State::Statement,
            frames: vec![Frame::FILE],
            values: Vec::new(),
            heads: Vec::new(),
            templates: 0,
            elements: 0,
            missing: None,
            text: Vec::new(),
            list: Vec::new(),
            out: Parsed { builder: ProgramBuilder::new(), stopped: None },
        }
    }

    pub(super) fn run(mut self) -> Parsed {
        let limit = self.options.depth.saturating_mul(FRAMES);
        let (mut last, mut still) = ((self.at, self.frames.len()), 0_u32);
        while let Some(&tok) = self.tokens.get(self.at) {
            if self.frames.len() > limit {
                // Everything open is closed, and the rest is read as if it were not nested.
                self.out.stopped.get_or_insert(tok.start as usize);
                self.unwind();
            }
            // Each step should consume a token or close a frame. This guards the time if one does not.
            let stuck = self.at == last.0 && self.frames.len() >= last.1;
            still = if stuck { still.saturating_add(1) } else { 0 };
            last = (self.at, self.frames.len());
            if still > LOOKS {
                self.skip(1);
                continue;
            }
            match self.state {
                _ if tok.kind.is_close() => self.close(tok),
                State::Statement => self.statement(tok),
                State::Operand => self.operand(tok),
                State::Operator => self.operator(tok),
                State::Key => self.key(tok),
            }
        }
        self.unwind();
        self.out
    }

    /// Returns a token by its distance from the next one.
    fn peek(&self, ahead: usize) -> Token {
        self.tokens.get(self.at + ahead).copied().unwrap_or(Token::END)
    }

    fn kind(&self, ahead: usize) -> TokenKind {
        self.peek(ahead).kind
    }

    fn kw(&self, ahead: usize) -> Keyword {
        self.peek(ahead).kw
    }

    /// Returns `true` if a line break precedes a token.
    fn newline(&self, ahead: usize) -> bool {
        self.peek(ahead).has(NEWLINE)
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Skips tokens after which an operand may start.
    fn skip_to_operand(&mut self, count: usize) {
        self.skip(count);
        self.state = State::Operand;
    }

    fn is_typed(&self) -> bool {
        self.options.types == JsTypes::Erased
    }

    fn top(&self) -> Frame {
        self.frames.last().copied().unwrap_or(Frame::FILE)
    }

    fn set_role(&mut self, role: Role) {
        if let Some(frame) = self.frames.last_mut() {
            frame.role = role;
        }
    }

    /// Skips `words` tokens and opens a frame without operands.
    fn open(&mut self, role: Role, words: usize) {
        let start = self.peek(0).start;
        self.frames.push(Frame { role, base: self.values.len(), start, open: NO_MATE });
        self.skip_to_operand(words);
    }

    /// Opens a frame at the next token, a bracket, and skips it.
    fn open_bracket(&mut self, role: Role, base: usize, start: u32) {
        let open = u32::try_from(self.at).unwrap_or(NO_MATE);
        self.frames.push(Frame { role, base, start, open });
        self.skip_to_operand(1);
    }

    /// Opens a bracket without operands.
    fn open_group(&mut self, role: Role) {
        self.open_bracket(role, self.values.len(), self.peek(0).start);
    }

    /// Opens a frame whose first operand is the last value.
    fn open_after(&mut self, role: Role) {
        let value = self.values.last();
        let start = value.map_or(0, |value| value.start);
        let base = self.values.len().saturating_sub(1);
        self.frames.push(Frame { role, base, start, open: NO_MATE });
        self.skip_to_operand(1);
    }

    /// Returns the end of the last token.
    fn end(&self) -> u32 {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |tok| tok.end())
    }

    /// Appends an expression from an offset to the end of the last token.
    fn node(&mut self, node: Node, start: u32) -> NodeId {
        let span = (start as usize, self.end() as usize);
        self.out.builder.push(node, span, NodeFlags::NONE)
    }

    /// Makes an expression an operand.
    fn value(&mut self, node: NodeId, start: u32) {
        self.values.push(Operand { node, start });
        self.state = State::Operator;
    }

    /// Appends an expression and makes it an operand.
    fn push(&mut self, node: Node, start: u32) {
        let node = self.node(node, start);
        self.value(node, start);
    }

    /// Returns the shared node for missing values.
    fn missing(&mut self) -> NodeId {
        if let Some(node) = self.missing {
            return node;
        }
        let node = self.node(Node::Unknown, self.end());
        self.missing = Some(node);
        node
    }

    /// Moves the operands from an index on to the list buffer.
    fn move_to_list(&mut self, base: usize) {
        self.list.clear();
        self.list.extend(self.values.drain(base.min(self.values.len())..).map(|value| value.node));
    }

    /// Takes the operands from an index on as a list.
    fn take(&mut self, base: usize) -> List {
        self.move_to_list(base);
        self.out.builder.list(&self.list)
    }

    /// Takes the last operand, if it belongs to the frame.
    fn pop_value(&mut self, base: usize) -> Option<Operand> {
        if self.values.len() > base { self.values.pop() } else { None }
    }
}
