//! Byte offsets to lines and columns.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::ops::Range;

use crate::Part;

/// A line and a column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "two numbers; a third would be another type")]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1; a byte that is not UTF-8 counts as one.
    pub column: u32,
}

/// The characters that end a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new language must be handled by every reader")]
pub enum LineEnds {
    /// LF, and with it CR LF, as TOML counts lines.
    Lf,
    /// LF, CR LF and CR.
    Text,
    /// LF, CR LF, CR, U+2028 and U+2029, as ECMAScript counts lines.
    EcmaScript,
}

/// The offsets at which the lines of a text start.
///
/// Building it reads the text once; each lookup is then a binary search.
///
/// # Examples
/// ```
/// use plugward_types::{LineEnds, LineIndex};
///
/// let index = LineIndex::new(b"one\ntwo \xc3\xa9 three", LineEnds::Text);
/// let place = index.line_column(11);
/// assert_eq!((place.line, place.column), (2, 7));
/// assert_eq!(index.range(1), 0..4);
/// ```
#[derive(Debug)]
pub struct LineIndex<'a> {
    text: &'a [u8],
    /// Never empty: the first line starts at 0.
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    /// Finds the lines of a text.
    #[must_use]
    pub fn new(text: &'a [u8], ends: LineEnds) -> Self {
        let mut starts = vec![0];
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'\n' => starts.push(at + 1),
                b'\r' if ends != LineEnds::Lf && text.get(at + 1) != Some(&b'\n') => starts.push(at + 1),
                0xE2 if ends == LineEnds::EcmaScript => {
                    if matches!(text.get(at..at + 3), Some([_, 0x80, 0xA8 | 0xA9])) {
                        starts.push(at + 3);
                    }
                }
                _ => {}
            }
        }
        Self { text, starts }
    }

    /// Returns the line that contains an offset, from 1. An offset after the end is on the last line.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// Returns the line and column of an offset. An offset after the end is that of the end.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> LineColumn {
        let offset = offset.min(self.text.len());
        let line = self.line(offset);
        let before = self.text.part(self.range(line).start..offset);
        LineColumn { line, column: u32::try_from(code_points(before) + 1).unwrap_or(u32::MAX) }
    }

    /// Returns the byte range of a line, from 1, with its line end. A line after the last one is empty.
    #[must_use]
    pub fn range(&self, line: u32) -> Range<usize> {
        // Lines count from 1. Line 0 is taken as the first rather than as an underflow.
        let index = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        let start = self.starts.get(index).copied().unwrap_or(self.text.len());
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        start..end
    }
}

/// Counts code points; each byte that is not part of a UTF-8 character counts as one.
#[must_use]
pub fn code_points(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &[u8], offset: usize) -> (u32, u32) {
        let place = LineIndex::new(text, LineEnds::Text).line_column(offset);
        (place.line, place.column)
    }

    #[test]
    fn every_line_end_counts_once() {
        let text = b"a\nb\r\nc\rd";
        let expected = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (4, 2)];
        for (offset, expected) in expected.into_iter().enumerate() {
            assert_eq!(place(text, offset), expected, "{offset}");
        }
        assert_eq!(place(text, 100), (4, 2));
        assert_eq!(place(b"", 0), (1, 1));
        assert_eq!(place(b"\n", 1), (2, 1));
    }

    #[test]
    fn a_lone_cr_ends_a_line_of_text_but_not_of_toml() {
        assert_eq!(LineIndex::new(b"a\rb\r\nc", LineEnds::Lf).line(2), 1);
        assert_eq!(LineIndex::new(b"a\rb\r\nc", LineEnds::Lf).line(5), 2);
        assert_eq!(LineIndex::new(b"a\rb\r\nc", LineEnds::Text).line(2), 2);
    }

    #[test]
    fn columns_count_code_points_and_invalid_bytes() {
        assert_eq!(place("é漢🎉x".as_bytes(), 9), (1, 4));
        assert_eq!(place(b"\xff\xfex", 2), (1, 3));
        assert_eq!(code_points("é漢🎉".as_bytes()), 3);
        assert_eq!(code_points(b"\xe2\x80x\xff"), 4);
    }

    #[test]
    fn only_ecmascript_ends_lines_at_its_separators() {
        let text = "a\u{2028}b\u{2029}c".as_bytes();
        assert_eq!(LineIndex::new(text, LineEnds::Text).line(8), 1);
        let index = LineIndex::new(text, LineEnds::EcmaScript);
        assert_eq!((index.line(3), index.line(4), index.line(8)), (1, 2, 3));
        assert_eq!(LineIndex::new("â".as_bytes(), LineEnds::EcmaScript).line(2), 1);
    }

    #[test]
    fn ranges_cover_the_text() {
        let text = b"one\r\ntwo\n";
        let index = LineIndex::new(text, LineEnds::Text);
        assert_eq!([1, 2, 3, 4].map(|line| index.range(line)), [0..5, 5..9, 9..9, 9..9]);
        assert_eq!(index.range(0), 0..5);
    }
}
