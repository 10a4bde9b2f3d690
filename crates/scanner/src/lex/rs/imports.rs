//! The names that a file declares.
//!
//! They come from `use` with renames, groups and globs, `extern crate`, `type`, and variables bound to a
//! path.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::Part;

use super::token::TokenKind;
use super::{Code, name_of};
use crate::rules::names::{Names, Node};

/// One part of a path in a declaration, linked to the part before it.
#[derive(Debug, Clone, Copy)]
struct PathPart<'s> {
    parent: Option<usize>,
    name: &'s [u8],
    /// The name to which the path up to here is bound.
    bind: Binding<'s>,
    node: Node,
}

#[derive(Debug, Clone, Copy)]
enum Binding<'s> {
    None,
    Name(&'s [u8]),
    Glob,
}

/// The meaning of the names that a file declares.
#[derive(Debug, Default)]
pub(super) struct Imports<'s> {
    names: BTreeMap<&'s [u8], Node>,
    globs: Vec<Node>,
    /// Modules that the file defines.
    modules: BTreeSet<&'s [u8]>,
    parts: Vec<PathPart<'s>>,
    /// The parts that follow each part.
    below: BTreeMap<usize, Vec<usize>>,
    /// The first parts of paths, by name.
    first: BTreeMap<&'s [u8], Vec<usize>>,
}

/// Returns `true` if a declaration has an attribute in front.
fn is_conditional(code: &Code<'_, '_>, at: usize) -> bool {
    let mut before = at;
    while let Some(index) = before.checked_sub(1) {
        before = index;
        if !(matches!(code.word(index), b"pub" | b"crate" | b"super" | b"self" | b"in")
            || code.is(index, b'(')
            || code.is(index, b')')
            || code.is_path(index))
        {
            break;
        }
    }
    code.is(before, b']')
}

/// Returns `true` for a path prefix such as `crate` or `self`.
pub(super) fn is_prefix(name: &[u8]) -> bool {
    matches!(name, b"crate" | b"self" | b"super" | b"Self")
}

impl<'s> Imports<'s> {
    /// Reads all declarations of a file.
    pub(super) fn of(code: &Code<'s, '_>, names: &Names) -> Self {
        let mut imports = Self::default();
        for at in 0..code.tokens.len() {
            let name = code.word(at + 1);
            // A module with an attribute may be compiled out, so it does not hide a crate of the same name.
            if code.word(at) == b"mod" && !name.is_empty() && !is_conditional(code, at) {
                imports.modules.insert(name);
            }
        }
        let mut at = 0_usize;
        while let Some(token) = code.token(at) {
            let next = at + 1;
            at = match (token.kind, name_of(code.src, token)) {
                (TokenKind::Word, b"use") => imports.tree(code, next),
                (TokenKind::Word, b"extern") if code.word(next) == b"crate" => imports.tree(code, next + 1),
                (TokenKind::Word, b"type" | b"let" | b"const" | b"static") => imports.value(code, next),
                _ => next,
            };
        }
        imports.resolve(names);
        imports
    }

    fn part(&mut self, parent: Option<usize>, name: &'s [u8]) -> usize {
        let at = self.parts.len();
        self.parts.push(PathPart { parent, name, bind: Binding::None, node: 0 });
        match parent {
            Some(parent) => self.below.entry(parent).or_default().push(at),
            None => self.first.entry(name).or_default().push(at),
        }
        at
    }

    fn bind(&mut self, part: Option<usize>, bind: Binding<'s>) {
        if let Some(part) = part.and_then(|part| self.parts.get_mut(part)) {
            part.bind = bind;
        }
    }

    /// Reads a `use` tree to its semicolon, and returns the end.
    fn tree(&mut self, code: &Code<'s, '_>, start: usize) -> usize {
        let mut at = start;
        let mut current: Option<usize> = None;
        // The parts in front of the open groups.
        let mut groups: Vec<Option<usize>> = Vec::new();
        while let Some(token) = code.token(at) {
            at += 1;
            match token.kind {
                TokenKind::Word => {
                    let name = name_of(code.src, token);
                    if name == b"as" {
                        self.bind(current, Binding::Name(code.word(at)));
                        at += 1;
                        continue;
                    }
                    if current.is_none()
                        && (is_prefix(name) || (self.modules.contains(name) && code.is_path(at)))
                    {
                        continue;
                    }
                    if name == b"self" {
                        // In a group, `self` is the part in front of the group.
                        let own = current.and_then(|part| self.parts.get(part).copied());
                        if let Some(own) = own {
                            let copy = self.part(own.parent, own.name);
                            self.bind(Some(copy), Binding::Name(own.name));
                            current = Some(copy);
                        }
                        continue;
                    }
                    let part = self.part(current, name);
                    if !code.is_path(at) {
                        self.bind(Some(part), Binding::Name(name));
                    }
                    current = Some(part);
                }
                // The value of `$name` in a macro is unknown.
                TokenKind::Path | TokenKind::Mark(b'$' | b'#') => {}
                TokenKind::Mark(b'*') => {
                    let glob = self.part(current, b"*");
                    self.bind(Some(glob), Binding::Glob);
                }
                TokenKind::Mark(b'{') => groups.push(current),
                TokenKind::Mark(b'}') => current = groups.pop().unwrap_or(None),
                TokenKind::Mark(b',') => current = groups.last().copied().flatten(),
                _ => break,
            }
        }
        at
    }

    /// Reads `let name: Type = path;` and similar declarations whose value is only a path.
    fn value(&mut self, code: &Code<'s, '_>, start: usize) -> usize {
        let mut at = start;
        if matches!(code.word(at), b"mut" | b"ref") {
            at += 1;
        }
        let name = code.word(at);
        if name.is_empty() {
            return start;
        }
        let Some(value) = code.initializer(at) else { return start };
        let mut current: Option<usize> = None;
        let mut part = value;
        if code.token(part).is_some_and(|token| token.is(b'&')) {
            part += 1;
        }
        while let Some(token) = code.token(part) {
            match token.kind {
                TokenKind::Word => {
                    let word = name_of(code.src, token);
                    if !(is_prefix(word) && current.is_none()) {
                        current = Some(self.part(current, word));
                    }
                }
                TokenKind::Path => {}
                TokenKind::Mark(b';') => {
                    self.bind(current, Binding::Name(name));
                    break;
                }
                _ => break,
            }
            part += 1;
        }
        start
    }

    /// Resolves each bound name. A name that is bound through others waits until those are resolved.
    fn resolve(&mut self, names: &Names) {
        let firsts: Vec<usize> = self.first.values().flatten().copied().collect();
        let mut queue: Vec<usize> = Vec::new();
        for part in firsts {
            let word = self.parts.get(part).map_or(b"".as_slice(), |part| part.name);
            let node = names.global(names.words.get(word));
            self.settle(part, node, &mut queue);
        }
        self.spread(names, &mut queue);
        // A glob import may bring in a module that another glob imports from, so this runs until none is new.
        let mut known = 0_usize;
        while known < self.globs.len() {
            let fresh: Vec<Node> = self.globs.part(known..).to_vec();
            known = self.globs.len();
            let waiting: Vec<(&'s [u8], usize)> = self
                .first
                .iter()
                .flat_map(|(name, parts)| parts.iter().map(|part| (*name, *part)))
                .filter(|(_, part)| self.parts.get(*part).is_some_and(|part| part.node == 0))
                .collect();
            for (name, part) in waiting {
                let word = names.words.get(name);
                let node = fresh.iter().map(|glob| names.step(*glob, word)).find(|node| *node != 0);
                self.settle(part, node.unwrap_or(0), &mut queue);
            }
            self.spread(names, &mut queue);
        }
    }

    fn settle(&mut self, part: usize, node: Node, queue: &mut Vec<usize>) {
        let Some(slot) = self.parts.get_mut(part) else { return };
        if node == 0 || slot.node != 0 {
            return;
        }
        slot.node = node;
        queue.push(part);
    }

    /// Resolves the names that depend on the resolved ones.
    fn spread(&mut self, names: &Names, queue: &mut Vec<usize>) {
        while let Some(at) = queue.pop() {
            let Some(part) = self.parts.get(at).copied() else { continue };
            if let Binding::Name(name) = part.bind
                && !self.names.contains_key(name)
            {
                self.names.insert(name, part.node);
                for waiting in self.first.get(name).cloned().unwrap_or_default() {
                    self.settle(waiting, part.node, queue);
                }
            }
            for child in self.below.get(&at).cloned().unwrap_or_default() {
                let Some(below) = self.parts.get(child).copied() else { continue };
                if matches!(below.bind, Binding::Glob) {
                    if !self.globs.contains(&part.node) {
                        self.globs.push(part.node);
                    }
                } else {
                    let node = names.step(part.node, names.words.get(below.name));
                    self.settle(child, node, queue);
                }
            }
        }
    }

    /// Returns the node of a name that the file imports.
    pub(super) fn first(&self, name: &[u8], names: &Names) -> Option<Node> {
        if let Some(node) = self.names.get(name) {
            return Some(*node);
        }
        let word = names.words.get(name);
        self.globs.iter().map(|glob| names.step(*glob, word)).find(|node| *node != 0 && word != 0)
    }

    pub(super) fn is_module(&self, name: &[u8]) -> bool {
        self.modules.contains(name)
    }
}
