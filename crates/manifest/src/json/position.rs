//! Converts byte offsets to lines and columns.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BTreeMap;

use plugward_types::Part;

/// A line and a column, both from 1. A column counts Unicode scalar values; CR, LF and CR LF end a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "two numbers; a third would be another type")]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in scalar values, from 1. An invalid byte counts as one.
    pub column: u32,
}

/// Returns the positions of the given offsets, in a single pass over the bytes.
///
/// A file can have thousands of offsets and a single line, so searching each offset on its own would be quadratic.
pub(crate) fn positions_of(bytes: &[u8], mut offsets: Vec<usize>) -> BTreeMap<usize, Position> {
    offsets.sort_unstable();
    let mut walk = Cursor { bytes, at: 0, here: Position { line: 1, column: 1 } };
    offsets.into_iter().map(|offset| (offset, walk.to(offset))).collect()
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    here: Position,
}

impl Cursor<'_> {
    fn to(&mut self, offset: usize) -> Position {
        let end = offset.min(self.bytes.len());
        let visited = self.bytes.part(self.at..end);
        if visited.is_ascii() && !visited.contains(&b'\r') {
            self.plain(visited);
            self.at = end.max(self.at);
            return self.here;
        }
        for (step, byte) in visited.iter().enumerate() {
            let at = self.at + step;
            match byte {
                b'\n' => self.new_line(),
                b'\r' if self.bytes.get(at + 1) != Some(&b'\n') => self.new_line(),
                // A continuation byte belongs to the character that starts before it.
                0x80..=0xBF if self.continues(at) => {}
                _ => self.here.column = self.here.column.saturating_add(1),
            }
        }
        self.at = end.max(self.at);
        self.here
    }

    /// Handles text in which each byte is a character and only LF ends a line, which is most text.
    fn plain(&mut self, visited: &[u8]) {
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        // A chunk is small enough that a byte holds its count, which lets the compiler vectorize the sum.
        let few = visited.chunks(192).map(|few| few.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>());
        let lines: usize = few.map(usize::from).sum();
        let tail = visited.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len);
        let column = if lines == 0 { self.here.column } else { 1 };
        self.here = Position {
            line: self.here.line.saturating_add(narrow(lines)),
            column: column.saturating_add(narrow(tail)),
        };
    }

    fn new_line(&mut self) {
        self.here = Position { line: self.here.line.saturating_add(1), column: 1 };
    }

    /// Returns `true` if a lead byte is at most three bytes before a continuation byte.
    fn continues(&self, at: usize) -> bool {
        let before = self.bytes.part(at.saturating_sub(3)..at);
        before.iter().rev().find(|byte| !matches!(byte, 0x80..=0xBF)).is_some_and(|byte| *byte >= 0xC0)
    }
}
