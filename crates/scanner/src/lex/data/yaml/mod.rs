//! YAML as far as front matter, workflows and settings use it: block and flow collections, all kinds of scalars, aliases
//! of scalars. What it cannot tell is text.

mod block;
mod flow;
mod text;

use std::collections::BTreeMap;

use super::tree::{Kind, Tree};

/// A block collection that is open.
#[derive(Debug, Clone, Copy)]
struct Block {
    column: usize,
    kind: Kind,
    /// Levels of the tree with it.
    depth: usize,
}

/// Reads one text.
pub(super) struct Reader<'y, 't, 'r> {
    tree: &'y mut Tree<'t, 'r>,
    src: &'t [u8],
    at: usize,
    blocks: Vec<Block>,
    /// Levels of the tree below the document.
    base: usize,
    /// Where the scalar of each anchor begins, and the column that its lines are right of.
    anchors: BTreeMap<&'t [u8], (usize, Option<usize>)>,
    /// Bytes that aliases may still stand for. The expanded text is at most twice as long as the file, and 64 KiB.
    budget: usize,
    /// The budget is spent, and a note says so.
    unread: bool,
    /// Set once a flow collection had no end: the rest end with their block.
    unclosed: bool,
}

/// Reads a text as YAML.
pub(super) fn read(tree: &mut Tree<'_, '_>) {
    let src = tree.src;
    let base = tree.depth();
    let at = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let budget = src.len().saturating_add(64 << 10);
    let (blocks, anchors) = (Vec::new(), BTreeMap::new());
    let mut reader = Reader { tree, src, at, blocks, base, anchors, budget, unread: false, unclosed: false };
    reader.document();
}

impl<'t> Reader<'_, 't, '_> {
    fn byte(&self) -> Option<u8> {
        self.src.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.src.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.src.len());
    }

    /// Skips blanks of one line.
    fn blanks(&mut self) {
        let count = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.skip(count);
    }

    fn at_line_end(&self) -> bool {
        matches!(self.byte(), None | Some(b'\n' | b'\r'))
    }

    /// Skips to the start of the next line; a comment on the way is kept.
    fn line_end(&mut self) {
        self.blanks();
        let len = line(self.rest());
        if self.byte() == Some(b'#') {
            self.tree.comment(self.at, self.at.saturating_add(len));
        }
        self.skip(len);
        self.skip(line_break(self.rest()));
    }

    /// The column that what belongs to the open block stands right of; `None` at the root.
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

/// Gives the length of the line break at the start of a text, 0 where there is none. A lone CR is one.
fn line_break(rest: &[u8]) -> usize {
    match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Gives the length of the line at the start of a text, without its break.
fn line(rest: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
}
