//! The names that a file declares by `use`, `extern crate`, `type`, and variables bound to a path.

use std::collections::{BTreeMap, BTreeSet};

use super::Code;
use super::token::TokenKind;
use crate::rules::names::{Names, Node};

/// The most parts of a path. No name of a rule has more.
const PARTS: usize = 16;
/// The most declarations in a row that each refer to a later one.
const PASSES: usize = 16;

/// A declared path.
struct Declared<'s> {
    path: Vec<&'s [u8]>,
    /// The name to which the path is bound, or `*` for the import of all members.
    name: &'s [u8],
}

/// The meaning of the names that a file declares.
#[derive(Debug, Default)]
pub(super) struct Imports<'s> {
    names: BTreeMap<&'s [u8], Node>,
    globs: Vec<Node>,
    /// Modules that the file defines.
    modules: BTreeSet<&'s [u8]>,
    /// Whether all declarations were resolved.
    pub(super) is_complete: bool,
}

impl<'s> Imports<'s> {
    /// Reads all declarations of a file.
    pub(super) fn of(code: &Code<'s, '_>, names: &Names) -> Self {
        let mut imports = Self::default();
        for at in 0..code.tokens.len() {
            // A module with an attribute may be compiled out, so it does not hide a crate of the same name.
            let front = at.saturating_sub(1 + usize::from(code.before(at) == b"pub"));
            if code.word(at) == b"mod" && !code.is(front, b']') && !code.is(front, b')') {
                imports.modules.insert(code.word(at + 1));
            }
        }
        let mut declared = Vec::new();
        let mut at = 0_usize;
        while at < code.tokens.len() {
            at = match code.word(at) {
                b"use" => imports.tree(code, at + 1, None, &mut declared),
                b"extern" if code.word(at + 1) == b"crate" => imports.tree(code, at + 2, None, &mut declared),
                b"type" | b"let" | b"const" | b"static" => {
                    if let (name, Some(value)) = code.declaration(at + 1) {
                        imports.tree(code, value, Some(name), &mut declared);
                    }
                    at + 1
                }
                _ => at + 1,
            };
        }
        imports.resolve(&declared, names);
        imports
    }

    /// Reads a tree of paths to its semicolon, and returns its end. A path outside of `use` is bound to `name`.
    fn tree(
        &self,
        code: &Code<'s, '_>,
        start: usize,
        name: Option<&'s [u8]>,
        declared: &mut Vec<Declared<'s>>,
    ) -> usize {
        let mut path: Vec<&'s [u8]> = Vec::new();
        let mut bound = name;
        // The lengths of the paths in front of the open groups.
        let mut groups: Vec<usize> = Vec::new();
        for at in start..code.tokens.len() {
            let word = code.word(at);
            match code.kind(at) {
                Some(TokenKind::Word) if code.before(at) == b"as" => bound = Some(word),
                Some(TokenKind::Word) if word == b"as" => {}
                Some(TokenKind::Word) if path.is_empty() && self.is_own(code, at) => {}
                Some(TokenKind::Word) => {
                    // In a group, `self` is the part in front of the group.
                    if word != b"self" && path.len() < PARTS {
                        path.push(word);
                    }
                    bound = bound.or(path.last().copied());
                    if name.is_none() && code.is_path(at + 1) {
                        bound = None;
                    }
                }
                // The value of `$name` in a macro is unknown.
                Some(TokenKind::Path | TokenKind::Mark(b'$' | b'#' | b'&')) => {}
                Some(TokenKind::Mark(b'*')) if name.is_none() => bound = Some(b"*"),
                Some(TokenKind::Mark(b'{')) if name.is_none() => groups.push(path.len()),
                Some(TokenKind::Mark(end @ (b',' | b'}' | b';'))) if name.is_none() || end == b';' => {
                    if let Some(name) = bound.take() {
                        declared.push(Declared { path: path.clone(), name });
                    }
                    path.truncate(groups.last().copied().unwrap_or_default());
                    if end == b'}' {
                        groups.pop();
                    }
                    if end == b';' {
                        return at;
                    }
                }
                _ => return at,
            }
        }
        code.tokens.len()
    }

    /// Resolves each declared path. A path can begin with a name that is declared later.
    fn resolve(&mut self, declared: &[Declared<'s>], names: &Names) {
        for _ in 0..PASSES {
            let known = (self.names.len(), self.globs.len());
            for Declared { path, name } in declared {
                let Some((first, rest)) = path.split_first() else { continue };
                let node = self.first(first, names).unwrap_or_else(|| names.global(names.words.get(first)));
                let node = rest.iter().fold(node, |node, part| names.step(node, names.words.get(part)));
                if node == 0 {
                    continue;
                }
                if *name != b"*" {
                    self.names.entry(name).or_insert(node);
                } else if !self.globs.contains(&node) {
                    self.globs.push(node);
                }
            }
            if known == (self.names.len(), self.globs.len()) {
                self.is_complete = true;
                return;
            }
        }
    }

    /// Returns the node of a name that the file imports.
    pub(super) fn first(&self, name: &[u8], names: &Names) -> Option<Node> {
        let word = names.words.get(name);
        let imported = || self.globs.iter().map(|glob| names.step(*glob, word)).find(|node| *node != 0);
        self.names.get(name).copied().or_else(|| imported().filter(|_| word != 0))
    }

    /// Returns `true` if the word at `at` starts a path in the file's own crate.
    pub(super) fn is_own(&self, code: &Code<'s, '_>, at: usize) -> bool {
        let name = code.word(at);
        matches!(name, b"crate" | b"self" | b"super" | b"Self")
            || (code.is_path(at + 1) && self.modules.contains(name))
    }
}
