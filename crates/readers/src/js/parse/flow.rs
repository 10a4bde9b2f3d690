//! Statement heads, blocks and their declarations.

use super::super::keyword::Keyword;
use super::super::token::{NO_MATE, TokenKind};
use super::Parser;
use super::frame::{Loop, Role, State, Statement};
use crate::program::{Node, NodeFlags, NodeId, ScopeKind};

/// The most loop and `catch` scopes around one statement. Deeper ones share a scope.
const HEADS: u8 = 64;

impl Parser<'_> {
    /// Reads `if (`, `while (`, `switch (` or `with (`.
    pub(super) fn head(&mut self) {
        self.skip(1);
        if self.kind(0) == TokenKind::LParen {
            self.open_group(Role::Head);
        }
    }

    /// Reads `for (` or `for await (`, and the keyword of a declaration.
    pub(super) fn for_head(&mut self) {
        self.skip(if self.kw(1) == Keyword::Await { 2 } else { 1 });
        if self.kind(0) != TokenKind::LParen {
            return;
        }
        self.skip(1);
        let declaration = self.declaration();
        if let Some((ScopeKind::Block, _)) = declaration {
            self.open_head();
        }
        self.at = self.at.saturating_sub(1);
        self.open_group(Role::For(Loop::First, declaration.map(|(scope, _)| scope)));
        self.skip(declaration.map_or(0, |(_, words)| words));
    }

    /// Opens a scope that ends with the next statement.
    fn open_head(&mut self) {
        if let Role::Block { scopes, heads } = self.top().role
            && heads < HEADS
        {
            self.set_role(Role::Block { scopes, heads: heads.saturating_add(1) });
            self.out.builder.open_scope(ScopeKind::Block);
            self.heads.push(0);
        }
    }

    /// Records an `if` or `try`, to which a later `else` or `finally` may belong.
    pub(super) fn open_choice(&mut self) {
        if let Role::Block { heads: 1.., .. } = self.top().role
            && let Some(choices) = self.heads.last_mut()
        {
            *choices = choices.saturating_add(1);
        }
    }

    /// Returns the kind of scope for the declaration that starts here, and the number of its keywords.
    pub(super) fn declaration(&self) -> Option<(ScopeKind, usize)> {
        let is_name = |ahead: usize| {
            self.kind(ahead) == TokenKind::Word
                && !matches!(self.kw(ahead), Keyword::In | Keyword::Instanceof | Keyword::Of)
        };
        let uses = |ahead: usize| self.kw(ahead) == Keyword::Using;
        let is_beside = |ahead: usize| is_name(ahead) && !self.newline(ahead);
        match self.kw(0) {
            Keyword::Var => Some((ScopeKind::Function, 1)),
            Keyword::Const => Some((ScopeKind::Block, 1)),
            Keyword::Let if is_name(1) || matches!(self.kind(1), TokenKind::LBrace | TokenKind::LBracket) => {
                Some((ScopeKind::Block, 1))
            }
            Keyword::Using if is_beside(1) => Some((ScopeKind::Block, 1)),
            Keyword::Await if uses(1) && is_beside(2) => Some((ScopeKind::Block, 2)),
            _ => None,
        }
    }

    pub(super) fn end_for(&mut self, part: Loop, scope: Option<ScopeKind>, base: usize, start: u32) {
        match (part, scope) {
            (Loop::Of | Loop::In, _) => {
                let collection = self.combine(base + 1, start);
                if let Some(scope) = scope {
                    self.declare_values(base, scope);
                }
                if let Some(target) = self.pop_value(base) {
                    let value = match collection {
                        Some(node) if part == Loop::Of => Node::Element(node),
                        Some(node) => {
                            // `for … in` assigns the names of the members.
                            let all = self.node(Node::Spread(node), start);
                            Node::Mix(self.out.builder.list(&[all]))
                        }
                        None => Node::Unknown,
                    };
                    let value = self.node(value, start);
                    let span = (start as usize, self.end() as usize);
                    self.out.builder.bind(target.node, value, span);
                }
            }
            (Loop::First, Some(scope)) => self.declare_values(base, scope),
            _ => self.mark_statements(base, self.values.len()),
        }
        self.values.truncate(base);
        self.settle();
    }

    /// Reads `catch (error) {` or `catch {`.
    pub(super) fn catch_head(&mut self) {
        self.skip(1);
        if self.kind(0) == TokenKind::LParen {
            self.open_head();
            self.open_group(Role::Catch);
        }
    }

    /// Opens a block at the next token, a brace.
    pub(super) fn block(&mut self, scope: Option<ScopeKind>) {
        // An empty or unclosed block needs no scope.
        let scope = scope.filter(|_| self.kind(1) != TokenKind::RBrace && self.peek(0).mate() != NO_MATE);
        if let Some(kind) = scope {
            self.out.builder.open_scope(kind);
        }
        self.open_group(Role::Block { scopes: u8::from(scope.is_some()), heads: 0 });
        self.state = State::Statement;
    }

    pub(super) fn end_block(&mut self, scopes: u8, heads: u8) {
        for _ in 0..scopes.saturating_add(heads) {
            self.out.builder.close_scope();
        }
        self.heads.truncate(self.heads.len().saturating_sub(usize::from(heads)));
        match self.top().role {
            Role::Function(..) => self.pop(),
            _ => self.end_heads(),
        }
    }

    /// Ends a statement and, unless it continues, the scopes of the loops and `catch` clauses around it.
    pub(super) fn end_heads(&mut self) {
        self.settle();
        let Role::Block { scopes, mut heads } = self.top().role else { return };
        // An `else`, `catch` or `finally` continues the innermost matching statement.
        let ended = match self.kw(0) {
            Keyword::Else | Keyword::Finally => Some(1),
            Keyword::Catch => Some(0),
            _ => None,
        };
        while heads > 0 {
            if let (Some(ended), Some(choices @ 1..)) = (ended, self.heads.last_mut()) {
                *choices = choices.saturating_sub(ended);
                break;
            }
            self.heads.pop();
            self.out.builder.close_scope();
            heads = heads.saturating_sub(1);
        }
        self.set_role(Role::Block { scopes, heads });
    }

    pub(super) fn end_statement(&mut self, statement: Statement, base: usize, start: u32) {
        match statement {
            Statement::Plain => self.mark_statements(base, self.values.len()),
            Statement::Declare(scope) => self.declare_values(base, scope),
            Statement::Return => {
                if let Some(function) = self.out.builder.current_function()
                    && let Some(value) = self.combine(base, start)
                {
                    self.node(Node::Return { function, value }, start);
                }
            }
            Statement::Used | Statement::Case => {}
        }
        self.values.truncate(base);
        self.end_heads();
    }

    /// Declares the operands from an index on, each a target or a `Bind`.
    pub(super) fn declare_values(&mut self, base: usize, scope: ScopeKind) {
        let mut open: Vec<NodeId> = Vec::new();
        for index in base..self.values.len() {
            let mut next = self.values.get(index).map(|value| value.node);
            while let Some(id) = next {
                match self.out.builder.node(id) {
                    Node::Name(name) => {
                        self.out.builder.mark(id, NodeFlags::TARGET);
                        match scope {
                            ScopeKind::Function => self.out.builder.declare_in_function(name),
                            _ => self.out.builder.declare(name),
                        }
                    }
                    Node::List(items) | Node::Record(items) => {
                        open.extend_from_slice(self.out.builder.items(items));
                    }
                    Node::Field { value: inner, .. }
                    | Node::Spread(inner)
                    | Node::Bind { target: inner, .. } => {
                        open.push(inner);
                    }
                    _ => {}
                }
                next = open.pop();
            }
        }
    }
}
