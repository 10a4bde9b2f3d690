//! Paths, calls and macros: resolves names and reports them to the rules with their arguments.

use super::Code;
use super::build;
use super::imports::{Imports, is_prefix};
use super::token::TokenKind;
use super::values::Values;
use crate::rules::names::{Names, Node};
use crate::scan::entry::FileKind;
use crate::scan::sink::{Args, Declaration, FirstArg, Sink, Unread};
use crate::text::view::Obfuscations;

/// The state of the analysis of one file.
pub(super) struct Resolver<'w, 's, 't, 'r, 'k> {
    pub(super) code: &'w Code<'s, 't>,
    pub(super) names: &'r Names,
    pub(super) imports: Imports<'s>,
    pub(super) values: Values<'s>,
    pub(super) sink: &'k mut Sink<'r>,
    pub(super) nodes: build::Nodes,
    /// The ranges of generic arguments that a path skipped.
    skipped_generics: Vec<(usize, usize)>,
}

/// A path in the code, with its resolved name.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResolvedPath {
    pub(super) node: Node,
    pub(super) start: usize,
    /// The token after the path.
    pub(super) end: usize,
}

/// Reports all names of a file to the rules.
pub(super) fn resolve<'r>(code: &Code<'_, '_>, names: &'r Names, sink: &mut Sink<'r>) {
    let imports = Imports::of(code, names);
    let values = Values::of(code);
    let nodes = build::Nodes::new(names);
    let mut resolve = Resolver { code, names, imports, values, sink, nodes, skipped_generics: Vec::new() };
    resolve.range(0, code.tokens.len());
    while let Some((start, end)) = resolve.skipped_generics.pop() {
        resolve.range(start, end);
    }
    if resolve.values.spent {
        resolve.sink.unread.push(Unread { start: 0, end: code.src.len() });
    }
}

impl Resolver<'_, '_, '_, '_, '_> {
    fn span(&self, first: usize, last: usize) -> (usize, usize) {
        let start = self.code.token(first).map_or(0, |token| token.start as usize);
        let end = self.code.token(last).map_or(self.code.src.len(), |token| token.end as usize);
        (start, end.max(start))
    }

    fn range(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            at = match self.code.token(at).map(|token| token.kind) {
                Some(TokenKind::Word) if at > 0 && self.code.is(at.saturating_sub(1), b'.') => {
                    self.method(at)
                }
                Some(TokenKind::Word) => self.path(at),
                _ => at + 1,
            };
        }
    }

    /// Resolves a path, and reports each name on the way to the rules.
    fn follow(&mut self, start: usize) -> ResolvedPath {
        let mut at = start;
        let mut node = 0;
        let mut first = true;
        // `::name` is always a crate, even if the file has a module of that name.
        let global = start.checked_sub(1).is_some_and(|before| self.code.is_path(before));
        loop {
            let name = self.code.word(at);
            if first && !global && (is_prefix(name) || self.is_own(name, at)) {
                // Paths in modules of the file are matched by their last names.
            } else if first {
                node = if global {
                    self.names.global(self.names.words.get(name))
                } else {
                    // A bare name is only in scope if the file imports it.
                    let crates = self.code.is_path(at + 1);
                    self.imports.first(name, self.names).unwrap_or_else(|| {
                        if crates { self.names.global(self.names.words.get(name)) } else { 0 }
                    })
                };
                first = false;
            } else {
                node = self.names.step(node, self.names.words.get(name));
            }
            let mut next = at + 1;
            if self.code.is_path(next) && self.code.is(next + 1, b'<') {
                let open = next + 1;
                next = self.generics(open);
                self.skipped_generics.push((open + 1, next));
            }
            let more = self.code.is_path(next) && !self.code.word(next + 1).is_empty();
            if node != 0 {
                let span = self.span(start, at);
                self.sink.member(self.names, node, Declaration::Elsewhere, span, Obfuscations::NONE);
            }
            if !more {
                return ResolvedPath { node, start, end: next };
            }
            at = next + 1;
        }
    }

    /// Returns `true` if a name can only be a module of the file.
    fn is_own(&self, name: &[u8], at: usize) -> bool {
        self.imports.is_module(name)
            && self.code.is_path(at + 1)
            && self.imports.first(name, self.names).is_none()
    }

    /// Skips `<…>`, and returns the next token.
    fn generics(&self, open: usize) -> usize {
        // Without a limit, each `<` of an unclosed list would be searched up to the end of the file.
        const LONGEST: usize = 256;
        let mut depth = 0_usize;
        for at in open..open + LONGEST {
            match self.code.token(at).map(|token| token.kind) {
                Some(TokenKind::Mark(b'<')) => depth += 1,
                Some(TokenKind::Mark(b'>')) if !self.code.is(at.saturating_sub(1), b'-') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                Some(TokenKind::Mark(b';' | b'{' | b'}')) | None => break,
                _ => {}
            }
        }
        open
    }

    fn path(&mut self, start: usize) -> usize {
        let found = self.follow(start);
        let after = self.code.token(found.end).map(|token| token.kind);
        match after {
            // In `<Type>::name(…)`, the angle brackets are part of the path.
            Some(TokenKind::Mark(b'>')) if found.node != 0 && self.code.is_path(found.end + 1) => {
                let name_at = found.end + 2;
                let node = self.names.step(found.node, self.names.words.get(self.code.word(name_at)));
                let open = name_at + 1;
                if node != 0 && self.code.is(open, b'(') {
                    self.call(ResolvedPath { node, start, end: open });
                }
            }
            Some(TokenKind::Mark(b'(')) => self.call(found),
            Some(TokenKind::Mark(b'!')) => self.invocation(found),
            _ if found.node != 0 => self.passed(found),
            _ => {}
        }
        found.end
    }

    fn method(&mut self, at: usize) -> usize {
        let next = at + 1;
        let open = if self.code.is_path(next) { self.generics(next + 1) } else { next };
        let node = self.names.star(self.names.words.get(self.code.word(at)));
        if self.code.is(open, b'(') {
            if node != 0 {
                self.call(ResolvedPath { node, start: at, end: open });
            }
            if self.code.word(at) == b"open" && self.is_write(at) {
                self.call(ResolvedPath { node: self.nodes.open, start: at, end: open });
            }
        }
        next
    }

    /// Returns `true` if the method chain before `.open(…)` opens the file for writing.
    fn is_write(&self, at: usize) -> bool {
        // The most tokens of a chain; the same chain is searched for each `open` in it.
        const CHAIN: usize = 256;
        (at.saturating_sub(CHAIN)..at)
            .rev()
            .take_while(|before| !self.code.is(*before, b';') && !self.code.is(*before, b'{'))
            .any(|before| {
                matches!(
                    self.code.word(before),
                    b"write" | b"append" | b"create" | b"create_new" | b"truncate"
                ) && self.code.word(before + 2) != b"false"
            })
    }

    /// Handles a macro call `name!(…)`.
    fn invocation(&mut self, found: ResolvedPath) {
        let open = found.end + 1;
        let name = self.code.word(found.end.saturating_sub(1));
        if !matches!(self.code.token(open).map(|token| token.kind), Some(TokenKind::Mark(b'(' | b'[' | b'{')))
        {
            return;
        }
        let word = self.names.words.get(&[name, b"!"].concat());
        let node = self.names.global(word);
        if node != 0 {
            self.call(ResolvedPath { node, start: found.start, end: open });
        }
        if matches!(name, b"include") {
            self.file(open);
        }
    }

    /// Records a file that `include!` makes part of the code, whatever its file extension is.
    fn file(&mut self, open: usize) {
        let mut text = Vec::new();
        self.values.texts(self.code, (open, self.code.close(open)), &mut text);
        if let Ok(text) = core::str::from_utf8(text.trim_ascii())
            && !text.is_empty()
            && !text.starts_with('/')
        {
            self.sink.named.push(format!("./{}", text.trim_start_matches("./")));
        }
    }

    /// Reports a call to the rules.
    fn call(&mut self, found: ResolvedPath) {
        let close = self.code.close(found.end);
        let span = self.span(found.start, close);
        let mut args = Args { first: FirstArg::None, constants: Vec::new() };
        let mut how = Obfuscations::NONE;
        if found.node != 0 {
            if let Some(range) = self.code.arguments(found.end).next() {
                args.first = self.values.shape(self.code, range);
            }
            if self.sink.wants_constants(self.names, found.node) {
                let range = (found.end + 1, close);
                how = self.values.texts(self.code, range, &mut args.constants);
            }
            self.sink.call(self.names, found.node, Declaration::Elsewhere, &args, span, how);
            self.started(found, span);
            if self.sink.role == FileKind::Build {
                self.written(found, span);
            }
        }
    }
}
