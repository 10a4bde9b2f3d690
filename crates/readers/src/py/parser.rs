//! A parser that builds a program from tokens, in one pass with explicit stacks.
//!
//! Expressions are parsed by operator precedence: `values` are operands, and `frames` are the operators and
//! brackets that need more of them. No function recurses, and each step removes a token or a frame, so the
//! time is linear.

use plugward_types::Part;

use super::block::Block;
use super::frame::{Frame, FrameKind, NAMED, Operand};
use super::function::Parameter;
use super::scan::Scan;
use super::statement::Statement;
use super::text;
use super::token::{FIRST, RESTART, Token, TokenKind, WIDE};
use crate::program::offset;
use crate::program::{List, Node, NodeFlags, NodeId, Program, ProgramBuilder, Text};

#[derive(Debug, Default)]
pub(super) struct Parser<'a> {
    pub(super) source: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) builder: ProgramBuilder,
    /// The index of the next token.
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) values: Vec<Operand>,
    /// Set if the last value is an operand that an operator may follow.
    pub(super) has_value: bool,
    /// Set if a statement has begun.
    pub(super) is_inside: bool,
    pub(super) statement: Statement,
    /// The targets of `a = b = …`.
    pub(super) targets: Vec<Operand>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) blocks: Vec<Block>,
    /// The entries of the open classes.
    pub(super) fields: Vec<NodeId>,
    pub(super) decorators: Vec<NodeId>,
    /// The number of decorators without their definition.
    pub(super) pending: usize,
    /// Set if the line begins with a word that makes the following statement conditional.
    pub(super) is_nested: bool,
    /// The subject of the last `match`.
    pub(super) subject: Option<NodeId>,
    scratch: Vec<u8>,
    ids: Vec<NodeId>,
    unknown: Option<NodeId>,
}

/// Parses tokens. Returns the program, and the offset at which the nesting limit was exceeded.
pub(super) fn parse(source: &[u8], scan: &Scan, nesting: usize) -> (Program, Option<usize>) {
    let tokens = scan.tokens.part(..scan.stopped.unwrap_or(scan.tokens.len()));
    let mut parser = Parser { source, tokens, builder: ProgramBuilder::new(), ..Parser::default() };
    while let Some(token) = parser.token(0) {
        if parser.frames.len() + parser.blocks.len() > nesting {
            break;
        }
        parser.step(token);
    }
    let stopped = scan.tokens.get(parser.at).map(|token| token.start as usize);
    parser.unwind();
    parser.end_statement();
    parser.close_blocks(0);
    (parser.builder.finish(), stopped)
}

impl Parser<'_> {
    fn step(&mut self, token: Token) {
        // A new line ends the statement, unless brackets are open and the line does not begin with a keyword.
        let restarts = token.has(FIRST)
            && (self.frames.is_empty() || (token.kind.begins_statement() && token.has(RESTART)));
        if restarts && self.is_inside && token.start != self.statement.start {
            self.unwind();
            return self.end_statement();
        }
        if !self.is_inside {
            return self.start_statement(token);
        }
        match self.frames.last() {
            Some(frame) if frame.kind == FrameKind::Strings => self.piece(token),
            Some(frame) if frame.kind.has_parameters() && frame.state <= NAMED => self.parameter(token),
            _ if self.has_value => self.after_value(token),
            _ => self.operand(token),
        }
    }

    /// Closes everything that is open at the end of a statement.
    pub(super) fn unwind(&mut self) {
        while self.wall().is_some() {
            self.close_wall(self.end());
        }
    }

    /// Applies all open operators, and returns the wall before them.
    pub(super) fn wall(&mut self) -> Option<FrameKind> {
        self.reduce_above(0);
        self.frames.last().map(|frame| frame.kind)
    }

    /// Returns a token by its distance from the next one.
    pub(super) fn token(&self, distance: usize) -> Option<Token> {
        self.tokens.get(self.at + distance).copied()
    }

    /// Returns the kind of a token; after the last one, a line end.
    pub(super) fn kind(&self, distance: usize) -> TokenKind {
        self.token(distance).map_or(TokenKind::Line, |token| token.kind)
    }

    pub(super) const fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Returns the end of the previous token.
    pub(super) fn end(&self) -> u32 {
        self.tokens.get(self.at.saturating_sub(1)).map_or(0, |token| token.end)
    }

    /// Opens a frame after `base` values.
    pub(super) fn open(&mut self, kind: FrameKind, start: u32, base: usize, state: u8) {
        self.frames.push(Frame { kind, state, start, base: offset(base), extra: 0 });
        self.has_value = false;
    }

    /// Changes the innermost frame.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Frame)) {
        self.frames.last_mut().map(change);
    }

    /// Appends an expression. Tokens in an unclosed string may end before the previous one, so the range is
    /// adjusted.
    pub(super) fn push(&mut self, node: Node, start: u32, end: u32) -> NodeId {
        self.builder.push(node, (start as usize, end.max(start) as usize), NodeFlags::NONE)
    }

    pub(super) fn push_value(&mut self, node: NodeId, start: u32, end: u32) {
        self.values.push(Operand { node, start, end });
        self.has_value = true;
    }

    /// Appends an expression and makes it the last value.
    pub(super) fn put(&mut self, node: Node, start: u32, end: u32) {
        let node = self.push(node, start, end);
        self.push_value(node, start, end);
    }

    /// Pushes the unknown expression for a missing operand.
    pub(super) fn put_missing(&mut self) {
        let (at, node) = (self.end(), self.unknown());
        self.push_value(node, at, at);
    }

    /// Takes the values after `base` as a list.
    pub(super) fn take(&mut self, base: usize) -> List {
        self.ids.clear();
        self.ids.extend(self.values.drain(base.min(self.values.len())..).map(|value| value.node));
        self.builder.list(&self.ids)
    }

    /// Takes the values after `base`, and returns the last one.
    pub(super) fn take_last(&mut self, base: usize) -> Option<Operand> {
        let last = self.values.get(base..).and_then(<[_]>::last).copied();
        self.values.truncate(base);
        last
    }

    /// Takes the values after `base` as one value, which is a list if there are several or a comma.
    pub(super) fn take_one(&mut self, base: usize, is_tuple: u8) -> Option<Operand> {
        let values = self.values.part(base..);
        let (first, last) = (*values.first()?, *values.last()?);
        if values.len() == 1 && is_tuple == 0 {
            return self.values.pop();
        }
        let items = self.take(base);
        let node = self.push(Node::List(items), first.start, last.end);
        Some(Operand { node, start: first.start, end: last.end })
    }

    /// Returns the unknown expression. There is only one, so that missing operands take no memory.
    pub(super) fn unknown(&mut self) -> NodeId {
        let at = self.end();
        let known = self.unknown.unwrap_or_else(|| self.push(Node::Unknown, at, at));
        self.unknown = Some(known);
        known
    }

    /// Returns the text of a name, and whether it differs from its normal form.
    pub(super) fn name(&mut self, token: Token) -> (Text, NodeFlags) {
        let name = token.text(self.source);
        if token.kind != TokenKind::Name || !token.has(WIDE) {
            return (self.builder.text(name), NodeFlags::NONE);
        }
        self.scratch.clear();
        text::normalize(name, &mut self.scratch);
        let flags = if self.scratch == name { NodeFlags::NONE } else { NodeFlags::ESCAPED };
        (self.builder.text(&self.scratch), flags)
    }

    /// Appends an expression made of a name.
    pub(super) fn push_name(&mut self, token: Token, make: fn(Text) -> Node) -> NodeId {
        let (name, flags) = self.name(token);
        self.builder.push(make(name), token.range(), flags)
    }

    /// Pushes the text of a string or part of one.
    pub(super) fn put_text(&mut self, token: Token) {
        self.scratch.clear();
        let body = token.body(self.source);
        let (value, flags) = if text::is_plain(token, body) {
            (body, NodeFlags::NONE)
        } else if text::decode(token, body, &mut self.scratch) {
            (self.scratch.as_slice(), NodeFlags::ESCAPED)
        } else {
            (self.scratch.as_slice(), NodeFlags::NONE)
        };
        let text = self.builder.text(value);
        let node = self.builder.push(Node::Text(text), token.range(), flags);
        self.push_value(node, token.start, token.end);
    }
}
