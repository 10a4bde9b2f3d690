//! Imports.

use super::Walk;
use crate::lex::py::bind::{Val, name_of};
use crate::lex::py::token::{K, Kw};
use crate::names::Node;
use crate::sink::{Own, Specifier};
use crate::view::How;

impl Walk<'_, '_, '_> {
    /// Reads a dotted name: its tokens' places and its text.
    fn dotted(&mut self) -> (u32, Vec<u8>, How) {
        let first = self.at;
        let mut text = Vec::new();
        let mut how = How::NONE;
        while let Some(tok) = self.tok(self.at) {
            let part = match tok.kind {
                K::Name if !matches!(Kw::of(tok.aux), Kw::Import | Kw::As) => tok,
                K::Op if tok.is_op(b'.') => {
                    text.push(b'.');
                    self.at = self.at.saturating_add(1);
                    continue;
                }
                _ => break,
            };
            if text.last().is_some_and(|last| *last != b'.') {
                break;
            }
            how = how.and(Self::wide(part));
            text.extend_from_slice(&name_of(self.src, part));
            self.at = self.at.saturating_add(1);
        }
        (first, text, how)
    }

    /// Gives the node of a dotted module.
    pub(super) fn module(&self, name: &[u8]) -> Node {
        let mut parts = name.split(|byte| *byte == b'.');
        let top = parts.next().unwrap_or_default();
        let node = if top == b"builtins" || top == b"__builtin__" {
            self.nodes.builtins
        } else {
            self.names.module(top)
        };
        parts.fold(node, |node, part| self.step(node, self.names.words.get(part)))
    }

    /// Tells the rules a module that is asked for.
    pub(super) fn told(&mut self, name: &[u8], span: (usize, usize), how: How) {
        let name: Vec<u8> = name.iter().map(|byte| if *byte == b'.' { b'/' } else { *byte }).collect();
        self.sink.module(Specifier::Known(&name), span, how);
    }

    /// `import a.b as c, d`.
    pub(super) fn import(&mut self) {
        let start = self.at;
        self.at = self.at.saturating_add(1);
        loop {
            let before = self.at;
            let (first, name, how) = self.dotted();
            if name.is_empty() {
                break;
            }
            let node = self.module(&name);
            let mut bound = first;
            let mut val = Val::node(node);
            if self.kw(self.at) == Kw::As {
                bound = self.at.saturating_add(1);
                self.at = self.at.saturating_add(2);
            } else {
                let top = name.split(|byte| *byte == b'.').next().unwrap_or_default();
                val = Val::node(self.module(top));
            }
            let from = if before == start.saturating_add(1) { start } else { first };
            let span = self.span(from, self.at.saturating_sub(1));
            self.told(&name, span, how);
            self.sink.member(self.names, node, Own::No, span, how);
            self.bind(bound, val);
            if !self.is_op(self.at, b',') {
                break;
            }
            self.at = self.at.saturating_add(1);
        }
    }

    /// `from a.b import c as d, e`.
    pub(super) fn import_names(&mut self) {
        let start = self.at;
        self.at = self.at.saturating_add(1);
        let (_, name, how) = self.dotted();
        if self.kw(self.at) != Kw::Import {
            return;
        }
        self.at = self.at.saturating_add(1);
        let module = self.module(&name);
        let head = self.at;
        let mut telling = Vec::new();
        while let Some(tok) = self.tok(self.at) {
            match tok.kind {
                K::Name => {
                    let item = name_of(self.src, tok);
                    let how = how.and(Self::wide(tok));
                    let place = self.at;
                    let mut bound = place;
                    if self.kw(self.at.saturating_add(1)) == Kw::As {
                        bound = self.at.saturating_add(2);
                        self.at = self.at.saturating_add(2);
                    }
                    let word = self.names.words.get(&item);
                    // What another module imported is its member.
                    let far = name.iter().any(|byte| *byte != b'.');
                    let node = match self.step(module, word) {
                        0 if far => self.nodes.reached(word),
                        node => node,
                    };
                    let span = self.span(place, self.at);
                    self.sink.member(self.names, node, Own::No, span, how);
                    self.bind(bound, Val::node(node));
                    telling.push(([name.as_slice(), b".", &item].concat(), how));
                }
                K::Op if tok.is_op(b'*') => {
                    if module != 0 {
                        self.bindings.star(module, start);
                    }
                }
                K::Op if tok.is_op(b',') || tok.is_op(b'(') => {}
                K::Op if tok.is_op(b')') => {
                    self.at = self.at.saturating_add(1);
                    break;
                }
                _ => break,
            }
            self.at = self.at.saturating_add(1);
        }
        let span = self.span(start, self.at.saturating_sub(1).max(head));
        if !name.starts_with(b".") {
            self.told(&name, span, how);
            for (item, how) in telling {
                self.told(&item, span, how);
            }
        }
    }
}
