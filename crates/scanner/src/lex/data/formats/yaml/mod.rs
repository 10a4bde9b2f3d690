//! YAML as front matter, workflows and settings use it.
//!
//! Supports block and flow collections, all scalar styles, and aliases of scalars. Everything else is text.

mod block;
mod flow;
mod text;

use std::collections::BTreeMap;

use plugward_types::Part;

use crate::lex::data::tree::{CollectionKind, Tree};

/// An open block collection.
#[derive(Debug, Clone, Copy)]
struct Block {
    column: usize,
    kind: CollectionKind,
    /// The depth of the tree inside this block.
    depth: usize,
}

/// The state of the YAML lexer.
pub(in crate::lex::data) struct Reader<'y, 't, 'r> {
    tree: &'y mut Tree<'t, 'r>,
    src: &'t [u8],
    at: usize,
    blocks: Vec<Block>,
    /// The depth of the tree outside the document.
    base: usize,
    /// The start of each anchor's scalar, and the column that its lines are indented over.
    anchors: BTreeMap<&'t [u8], (usize, Option<usize>)>,
    /// The bytes that aliases may still expand to. The budget is the file size plus 64 KiB, against the
    /// "billion laughs" attack.
    budget: usize,
    /// Set once the budget is spent and reported.
    unread: bool,
    /// Set after a flow collection without an end: later ones end with their block.
    unclosed: bool,
}

/// Reads a text as YAML.
pub(in crate::lex::data) fn read(tree: &mut Tree<'_, '_>) {
    let src = tree.src;
    let base = tree.depth();
    let at = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let budget = src.len() + (64 << 10);
    let (blocks, anchors) = (Vec::new(), BTreeMap::new());
    let mut reader = Reader { tree, src, at, blocks, base, anchors, budget, unread: false, unclosed: false };
    reader.document();
}

impl<'t> Reader<'_, 't, '_> {
    fn byte(&self) -> Option<u8> {
        self.src.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.src.part(self.at..)
    }

    fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.src.len());
    }

    /// Skips spaces and tabs.
    fn blanks(&mut self) {
        let count = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.skip(count);
    }

    fn at_line_end(&self) -> bool {
        matches!(self.byte(), None | Some(b'\n' | b'\r'))
    }

    /// Skips to the start of the next line, and records a comment on the way.
    fn line_end(&mut self) {
        self.blanks();
        let len = line(self.rest());
        if self.byte() == Some(b'#') {
            self.tree.comment(self.at, self.at + len);
        }
        self.skip(len);
        self.skip(line_break(self.rest()));
    }

    /// Returns the column of the innermost block, or `None` at the root. Its content is indented more than
    /// that.
    fn parent(&self) -> Option<usize> {
        self.blocks.last().map(|block| block.column)
    }

    fn close_blocks(&mut self, keep: impl Fn(&Block) -> bool) {
        while let Some(block) = self.blocks.last() {
            if keep(block) {
                break;
            }
            self.blocks.pop();
            let depth = self.blocks.last().map_or(self.base, |block| block.depth);
            self.tree.close_to(depth, self.at);
        }
    }
}

/// Returns the length of the line break at the start of `rest`, or 0. A lone CR is a line break.
fn line_break(rest: &[u8]) -> usize {
    match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Returns the length of the first line, without its break.
fn line(rest: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
}
