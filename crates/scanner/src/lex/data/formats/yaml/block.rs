//! Block collections, which the columns and first bytes of lines define.

use plugward_types::Part;

use super::{Block, Reader};
use crate::lex::data::scalar::Scalar;
use crate::lex::data::tree::CollectionKind;

/// What the reader expects after a scalar or marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expectation {
    Line,
    /// The value of a key.
    Value,
    /// More tokens on the same line.
    Same,
}

impl Reader<'_, '_, '_> {
    /// Reads all documents of the text.
    pub(super) fn document(&mut self) {
        while self.at < self.src.len() {
            let start = self.at;
            self.blanks();
            let column = self.at.saturating_sub(start);
            match self.rest() {
                [] => break,
                [b'\n' | b'\r', ..] => self.skip(1),
                [b'#', ..] => self.line_end(),
                [b'%', ..] if column == 0 && self.blocks.is_empty() => self.line_end(),
                [b'-', b'-', b'-', more @ ..] | [b'.', b'.', b'.', more @ ..]
                    if column == 0 && more.first().is_none_or(u8::is_ascii_whitespace) =>
                {
                    self.close_blocks(|_| false);
                    self.tree.close_to(self.base, self.at);
                    self.skip(3);
                    self.blanks();
                    if !self.at_line_end() {
                        self.node(self.at.saturating_sub(start));
                    }
                }
                _ => self.node(column),
            }
        }
        self.close_blocks(|_| false);
    }

    /// Reads the node at a column, up to the end of its last line.
    fn node(&mut self, column: usize) {
        let mut column = column;
        let mut last = Expectation::Same;
        loop {
            let before = self.at;
            match self.rest() {
                [b'-', b' ' | b'\t' | b'\n' | b'\r', ..] | [b'-'] => self.item(column),
                // `? key` on its own line, followed by `: value`.
                [b'?', b' ' | b'\t' | b'\n' | b'\r', ..] => {
                    self.map_at(column);
                    self.skip(1);
                }
                [b':', b' ' | b'\t' | b'\n' | b'\r', ..] => {
                    self.close_blocks(|block| block.column <= column);
                    self.tree.assign();
                    self.skip(1);
                }
                [b'!', ..] => self.tag(),
                [b'&', ..] => self.anchor(),
                [] | [b'\n' | b'\r' | b'#', ..] => break self.line_end(),
                _ => {
                    last = self.leaf(column, last);
                    if last == Expectation::Line {
                        break;
                    }
                }
            }
            let skipped = self.at;
            self.blanks();
            column += self.at.saturating_sub(before);
            if skipped == before && self.at == before {
                // A byte that does not fit anywhere is skipped, so that the loop always advances.
                self.skip(1);
            }
        }
    }

    /// Reads `- `, an item of a list at this column.
    fn item(&mut self, column: usize) {
        // YAML allows a list at the same column as its key.
        let keyed = self.tree.is_keyed();
        self.close_blocks(|block| {
            block.column < column || block.column == column && (block.kind == CollectionKind::List || keyed)
        });
        match self.blocks.last() {
            Some(block) if block.column == column && block.kind == CollectionKind::List => {
                self.tree.close_to(block.depth, self.at);
                self.tree.comma();
            }
            _ => self.open(CollectionKind::List, column),
        }
        self.skip(1);
    }

    /// Opens a collection. Over the nesting limit the tree does not, and its content joins the outer one.
    fn open(&mut self, kind: CollectionKind, column: usize) {
        let before = self.tree.depth();
        self.tree.open(kind, self.at);
        if self.tree.depth() > before {
            self.blocks.push(Block { column, kind, depth: self.tree.depth() });
        }
    }

    /// Makes a map at a column the innermost collection.
    pub(super) fn map_at(&mut self, column: usize) {
        self.close_blocks(|block| {
            block.column < column || block.column == column && block.kind == CollectionKind::Map
        });
        match self.blocks.last() {
            Some(block) if block.column == column && block.kind == CollectionKind::Map => {
                self.tree.close_to(block.depth, self.at);
                self.tree.comma();
            }
            _ => self.open(CollectionKind::Map, column),
        }
    }

    pub(super) fn tag(&mut self) {
        let len = self.rest().iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b',').count();
        self.skip(len.max(1));
    }

    /// Reads `&name` and remembers where its scalar begins, for aliases.
    pub(super) fn anchor(&mut self) {
        let rest = self.rest();
        let len = rest
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}'))
            .count();
        let name = rest.part(1..len);
        self.skip(len.max(1));
        let blanks = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let at = self.at + blanks;
        if self.src.get(at).is_some_and(|byte| !matches!(byte, b'\n' | b'\r' | b'{' | b'[')) {
            let parent = self.parent();
            self.anchors.insert(name, (at, parent));
        }
    }

    /// Reads a scalar or flow collection. It is a key if a colon follows, otherwise a value.
    fn leaf(&mut self, column: usize, before: Expectation) -> Expectation {
        let start = self.at;
        let key = match self.byte() {
            Some(b'"' | b'\'') => {
                let scalar = self.quoted();
                let end = self.at;
                self.blanks();
                if self.is_colon() {
                    Some(scalar)
                } else {
                    self.at = end;
                    self.place(column);
                    self.tree.scalar(scalar);
                    return self.rest_of_line();
                }
            }
            Some(b'{' | b'[') => {
                self.place(column);
                self.flow();
                return self.rest_of_line();
            }
            Some(b'|' | b'>') if self.is_block_scalar() => {
                self.place(column);
                let parent = self.parent();
                let scalar = self.block_scalar(parent);
                self.tree.scalar(scalar);
                return Expectation::Line;
            }
            Some(b'*') => {
                let name = self.alias_name();
                self.blanks();
                if self.is_colon() {
                    Some(Scalar::range(start, self.at))
                } else {
                    self.place(column);
                    self.alias(name, start);
                    return self.rest_of_line();
                }
            }
            // Colons in a value on the key's own line do not make it a key: `a: b: c`.
            _ if before == Expectation::Value => None,
            _ => self.plain_key(),
        };
        if let Some(key) = key {
            self.map_at(column);
            self.tree.scalar(key);
            self.tree.assign();
            self.skip(1);
            return Expectation::Value;
        }
        self.place(column);
        let scalar = self.plain();
        self.tree.scalar(scalar);
        self.rest_of_line()
    }

    /// Closes the collections that a value at this column is not part of.
    fn place(&mut self, column: usize) {
        if self.tree.is_keyed() || self.tree.in_list() {
            let keyed = self.tree.is_keyed();
            self.close_blocks(|block| block.column < column || block.column == column && keyed);
        } else {
            self.close_blocks(|block| block.column <= column);
        }
    }

    fn rest_of_line(&mut self) -> Expectation {
        self.blanks();
        if matches!(self.byte(), None | Some(b'\n' | b'\r' | b'#')) {
            self.line_end();
            return Expectation::Line;
        }
        Expectation::Same
    }

    pub(super) fn is_colon(&self) -> bool {
        matches!(self.rest(), [b':'] | [b':', b' ' | b'\t' | b'\n' | b'\r', ..])
    }
}
