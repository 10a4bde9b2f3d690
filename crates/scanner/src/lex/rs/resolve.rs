//! Paths, calls and macros: resolves names and reports them to the rules with their arguments.

use super::Code;
use super::build::Nodes;
use super::imports::Imports;
use super::token::TokenKind;
use super::values::Values;
use crate::rules::names::{Names, Node};
use crate::scan::entry::FileKind;
use crate::scan::sink::{Args, Declaration, Sink, Unread};
use crate::text::view::Obfuscations;

/// The state of the analysis of one file.
pub(super) struct Resolver<'w, 's, 't, 'r, 'k> {
    pub(super) code: &'w Code<'s, 't>,
    names: &'r Names,
    imports: Imports<'s>,
    pub(super) values: Values<'s>,
    pub(super) sink: &'k mut Sink<'r>,
    pub(super) nodes: Nodes,
}

/// A call of a resolved name.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResolvedCall {
    pub(super) node: Node,
    /// The opening bracket of the arguments.
    pub(super) open: usize,
    pub(super) span: (usize, usize),
}

/// Reports all names of a file to the rules.
pub(super) fn resolve<'r>(code: &Code<'_, '_>, names: &'r Names, sink: &mut Sink<'r>) {
    let (imports, values, nodes) = (Imports::of(code, names), Values::of(code), Nodes::new(names));
    let mut resolver = Resolver { code, names, imports, values, sink, nodes };
    let mut at = 0_usize;
    while let Some(kind) = code.kind(at) {
        at = match kind {
            TokenKind::Word if at > 0 && code.is(at.saturating_sub(1), b'.') => resolver.method(at),
            TokenKind::Word => resolver.path(at),
            _ => at + 1,
        };
    }
    if resolver.values.is_spent || !resolver.imports.is_complete {
        resolver.sink.unread.push(Unread { start: 0, end: code.src.len() });
    }
}

impl Resolver<'_, '_, '_, '_, '_> {
    /// Resolves a path, reports each name on the way, and returns the token after it.
    fn path(&mut self, start: usize) -> usize {
        let word = |at: usize| self.names.words.get(self.code.word(at));
        // `::name` is always a crate, even if the file has a module of that name.
        let is_global = start.checked_sub(1).is_some_and(|before| self.code.is_path(before));
        let mut at = start;
        // Paths in modules of the file are matched by their last names.
        while !is_global
            && self.code.is_path(at + 1)
            && self.imports.is_own(self.code, at)
            && self.imports.first(self.code.word(at), self.names).is_none()
        {
            at += 2;
        }
        let imported = if is_global { None } else { self.imports.first(self.code.word(at), self.names) };
        // A bare name is only in scope if the file imports it.
        let is_crate = is_global || self.code.is_path(at + 1);
        let mut node = match imported {
            Some(node) => node,
            None if is_crate => self.names.global(word(at)),
            None => 0,
        };
        loop {
            let span = (self.code.start(start), self.code.end(at));
            if node != 0 {
                self.sink.member(self.names, node, Declaration::Elsewhere, span, Obfuscations::NONE);
            }
            let mut next = at + 1;
            // In `<Type>::name`, the angle brackets are part of the path.
            if self.code.is(next, b'>') && self.code.is_path(next + 1) {
                next += 1;
            }
            if !self.code.is_path(next) || self.code.word(next + 1).is_empty() {
                self.used(node, start, at);
                return at + 1;
            }
            at = next + 1;
            node = self.names.step(node, self.names.words.get(self.code.word(at)));
        }
    }

    /// Handles the end of a path: a call, a macro, or a function that is passed as a value.
    fn used(&mut self, node: Node, start: usize, last: usize) {
        let next = last + 1;
        let name = self.code.word(last);
        if self.code.is(next, b'!') && self.code.is_open(next + 1) {
            let node = self.names.global(self.names.words.get(&[name, b"!"].concat()));
            self.call(node, start, next + 1);
        } else if let Some(open) = self.arguments(next) {
            self.call(node, start, open);
        } else if self.nodes.commands.contains(&node) && self.sink.role == FileKind::Build {
            let span = (self.code.start(start), self.code.end(last));
            self.sink.shape("rs-build-process", span, Obfuscations::NONE);
        }
    }

    /// Returns the opening bracket of the arguments after a name and its generic arguments.
    fn arguments(&self, next: usize) -> Option<usize> {
        // The most tokens of generic arguments.
        const GENERICS: usize = 32;
        if self.code.is_path(next) && self.code.is(next + 1, b'<') {
            let opens = |at: &usize| self.code.is(*at, b'(') && self.code.is(at.saturating_sub(1), b'>');
            return (next..next + GENERICS).find(opens);
        }
        self.code.is(next, b'(').then_some(next)
    }

    fn method(&mut self, at: usize) -> usize {
        if let Some(open) = self.arguments(at + 1) {
            let name = self.code.word(at);
            self.call(self.names.star(self.names.words.get(name)), at, open);
            if name == b"open" && self.is_write(at) {
                self.call(self.nodes.open, at, open);
            }
        }
        at + 1
    }

    /// Returns `true` if the method chain before `.open(…)` opens the file for writing.
    fn is_write(&self, at: usize) -> bool {
        // The most tokens of a chain; the same chain is searched for each `open` in it.
        const CHAIN: usize = 256;
        let writes = |at: usize| {
            matches!(self.code.word(at), b"write" | b"append" | b"create" | b"create_new" | b"truncate")
                && self.code.word(at + 2) != b"false"
        };
        let mut chain = (at.saturating_sub(CHAIN)..at).rev();
        chain.by_ref().take_while(|at| !self.code.is(*at, b';') && !self.code.is(*at, b'{')).any(writes)
    }

    /// Reports a call to the rules.
    fn call(&mut self, node: Node, start: usize, open: usize) {
        if node == 0 {
            return;
        }
        let close = self.code.close(open);
        let span = (self.code.start(start), self.code.end(close));
        let mut args = Args::default();
        let mut how = Obfuscations::NONE;
        if self.sink.wants_constants(self.names, node) {
            let texts = self.values.texts(self.code, (open + 1, close), 1);
            (args.constants, how) = (texts.line, texts.how);
        }
        self.sink.call(self.names, node, Declaration::Elsewhere, &args, span, how);
        let call = ResolvedCall { node, open, span };
        self.started(call);
        self.written(call);
    }
}
