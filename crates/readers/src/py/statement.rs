//! Statements.

use plugward_types::Part;

use super::frame::Operand;
use super::parser::Parser;
use super::token::{FIRST, Token, TokenKind};
use crate::program::{Node, NodeFlags, NodeId, ScopeKind};

/// The use of a statement's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum StatementKind {
    /// An expression, or an assignment.
    Expression,
    /// The type after `name:`.
    Annotation,
    AddAssign,
    FormatAssign,
    OtherAssign,
    /// A statement with unused values: a condition, `raise`, `assert`.
    #[default]
    Other,
    Return,
    Delete,
    Decorator,
    /// The subject of `match`.
    Match,
    ForTarget,
    For,
    With,
    Except,
    Def,
    Class,
    /// `exec` of Python 2.
    Exec,
}

/// The statement that is being read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    /// `COMMA` if the statement has commas outside of brackets.
    pub(super) is_tuple: u8,
    pub(super) start: u32,
    /// The indentation of its line.
    pub(super) indent: u32,
    /// The name that `def` or `class` defines.
    pub(super) name: Option<Token>,
    /// Set if the statement runs whenever its scope does.
    pub(super) is_certain: bool,
    /// Set if type parameters follow the name.
    pub(super) is_generic: bool,
    /// The number of class entries before the statement.
    pub(super) fields: usize,
}

impl Parser<'_> {
    /// Reads the first word of a statement.
    pub(super) fn start_statement(&mut self, token: Token) {
        let mut indent = self.statement.indent;
        if token.has(FIRST) {
            indent = self.indent(token);
            self.close_blocks(indent);
            if let Some(block) = self.blocks.last_mut() {
                block.body = block.body.min(indent);
            }
            let is_soft = matches!(token.text(self.source), b"match" | b"case");
            self.is_nested = is_soft
                || matches!(
                    token.kind,
                    TokenKind::For
                        | TokenKind::With
                        | TokenKind::Except
                        | TokenKind::If
                        | TokenKind::Else
                        | TokenKind::Statement
                        | TokenKind::Async
                );
        }
        let (kind, start) = (StatementKind::Expression, token.start);
        let body = match self.blocks.last() {
            None => 0,
            Some(block) if block.kind == ScopeKind::Class => block.body,
            Some(_) => u32::MAX,
        };
        let is_certain = !self.is_nested && indent == body;
        self.statement = Statement { kind, start, indent, is_certain, ..Statement::default() };
        self.is_inside = true;
        self.has_value = false;
        let kind = match token.kind {
            TokenKind::Line
            | TokenKind::Semicolon
            | TokenKind::Colon
            | TokenKind::Async
            | TokenKind::Pass => {
                self.is_inside = false;
                return self.skip(1);
            }
            TokenKind::Import => return self.import(),
            TokenKind::From => return self.import_from(),
            TokenKind::Global => return self.outside(),
            TokenKind::Def => return self.open_definition(StatementKind::Def),
            TokenKind::Class => return self.open_definition(StatementKind::Class),
            TokenKind::Name => return self.soft_keyword(token),
            TokenKind::For => StatementKind::ForTarget,
            TokenKind::With => StatementKind::With,
            TokenKind::Except => StatementKind::Except,
            TokenKind::Return => StatementKind::Return,
            TokenKind::Yield => {
                self.skip(usize::from(self.kind(1) == TokenKind::From));
                StatementKind::Return
            }
            TokenKind::Del => StatementKind::Delete,
            TokenKind::At => StatementKind::Decorator,
            TokenKind::If | TokenKind::Else | TokenKind::Statement => StatementKind::Other,
            _ => return,
        };
        self.statement.kind = kind;
        self.skip(1);
    }

    /// Returns the indentation of a line.
    fn indent(&self, token: Token) -> u32 {
        let before = self.source.part(..token.start as usize);
        let count = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0C)).count();
        let blanks = before.tail(count);
        blanks.iter().fold(0_u32, |column, byte| match byte {
            b'\t' => column.saturating_add(1).next_multiple_of(8),
            0x0C => 0,
            _ => column.saturating_add(1),
        })
    }

    /// Reads a colon outside of brackets: the end of a header, or the start of a type.
    pub(super) fn end_header(&mut self) {
        self.skip(1);
        if self.statement.kind == StatementKind::Expression && self.has_value {
            let target = self.take_statement();
            self.targets.extend(target);
            self.statement.kind = StatementKind::Annotation;
            self.has_value = false;
        } else {
            self.end_statement();
        }
    }

    /// Reads `=` outside of brackets: the values before it are a target or a type.
    pub(super) fn end_target(&mut self) {
        self.has_value = false;
        let values = self.take_statement();
        match self.statement.kind {
            StatementKind::Annotation => self.statement.kind = StatementKind::Expression,
            StatementKind::Expression => self.targets.extend(values),
            _ => {}
        }
    }

    /// Takes the values of the statement as one value.
    pub(super) fn take_statement(&mut self) -> Option<Operand> {
        let is_tuple = core::mem::take(&mut self.statement.is_tuple);
        self.take_one(0, is_tuple)
    }

    /// Ends the statement: binds, returns or deletes its values.
    pub(super) fn end_statement(&mut self) {
        self.is_inside = false;
        self.has_value = false;
        match self.statement.kind {
            StatementKind::Def => self.open_block(ScopeKind::Function),
            StatementKind::Class => self.open_block(ScopeKind::Class),
            StatementKind::Exec => self.exec(),
            StatementKind::Delete => {
                for value in core::mem::take(&mut self.values) {
                    self.builder.mark_target(value.node);
                    self.push(Node::Delete(value.node), value.start, value.end);
                }
            }
            StatementKind::Other | StatementKind::With | StatementKind::Except | StatementKind::ForTarget => {
            }
            kind => {
                if let Some(value) = self.take_statement() {
                    self.use_value(kind, value);
                }
            }
        }
        self.statement.kind = StatementKind::Other;
        self.values.clear();
        self.targets.clear();
        self.parameters.clear();
    }

    fn use_value(&mut self, kind: StatementKind, value: Operand) {
        match kind {
            StatementKind::Return => {
                if let Some(function) = self.builder.current_function() {
                    self.push(Node::Return { function, value: value.node }, self.statement.start, value.end);
                }
            }
            StatementKind::Match => {
                // A pattern is bound to the subject or a part of it.
                let part = self.push(Node::Element(value.node), value.start, value.end);
                let either = self.builder.list(&[value.node, part]);
                self.subject = Some(self.push(Node::Either(either), value.start, value.end));
            }
            StatementKind::Decorator => {
                self.decorators.push(value.node);
                self.pending += 1;
            }
            StatementKind::For => {
                let element = self.push(Node::Element(value.node), value.start, value.end);
                self.assign_targets(element, value.end);
            }
            StatementKind::Annotation => {
                if let Some(Node::Name(name)) =
                    self.targets.first().map(|target| self.builder.node(target.node))
                {
                    self.builder.declare_in_function(name);
                }
            }
            StatementKind::Expression if self.targets.is_empty() => {
                self.builder.mark(value.node, NodeFlags::STATEMENT);
            }
            StatementKind::Expression => self.assign_targets(value.node, value.end),
            _ => self.assign_augmented(kind, value),
        }
    }

    fn assign_targets(&mut self, value: NodeId, end: u32) {
        for index in 0..self.targets.len() {
            if let Some(target) = self.targets.get(index).copied() {
                self.assign(target, value, end, ScopeKind::Function);
            }
        }
    }

    /// Returns the text between two values, or an empty one if they overlap, as in a text that is not Python.
    fn operator(&self, left: Operand, right: Operand) -> &[u8] {
        self.source.get(left.end as usize..right.start as usize).map_or(b"", <[u8]>::trim_ascii)
    }

    /// Binds the target of an augmented assignment such as `+=`.
    fn assign_augmented(&mut self, kind: StatementKind, value: Operand) {
        let Some(target) = self.targets.first().copied() else { return };
        let read = self.push(self.builder.node(target.node), target.start, target.end);
        let node = match kind {
            StatementKind::AddAssign => Node::Join(self.builder.list(&[read, value.node])),
            StatementKind::FormatAssign => Node::Format { template: read, value: value.node },
            // `|=` adds the entries of a dictionary.
            _ if self.operator(target, value) == b"|=" => {
                Node::Either(self.builder.list(&[read, value.node]))
            }
            _ => Node::Mix(self.builder.list(&[read, value.node])),
        };
        let node = self.push(node, target.start, value.end);
        self.assign(target, node, value.end, ScopeKind::Function);
    }
}
