//! Line and column of a byte, computed on demand.
//!
//! Most files have no finding, so lines are found only for those that have one.

/// The characters that end a line.
///
/// JavaScript has more line ends than other languages, and a position has to be the one that its tools report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// LF, CR LF, and a CR that no LF follows.
    Plain,
    /// Those of `Plain`, and the separators U+2028 and U+2029, which end a line in JavaScript only.
    EcmaScript,
}

/// The offsets at which the lines of a text start, in rising order. The first line starts at 0.
#[derive(Debug)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub(crate) fn plain(text: &[u8]) -> Self {
        Self::new(text, LineEnds::Plain)
    }

    pub(crate) fn new(text: &[u8], ends: LineEnds) -> Self {
        let mut starts = vec![0];
        let find = match ends {
            LineEnds::Plain => separators_plain,
            LineEnds::EcmaScript => separators_ecma,
        };
        find(text, &mut starts);
        Self { starts }
    }

    /// Returns line and column, from 1. The column counts code points, and an invalid byte as one.
    pub(crate) fn place(&self, text: &[u8], at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = text.get(start..at).map_or(0, code_points) + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// Returns the line of an offset, from 1, and the start of that line.
    ///
    /// The line feed of a CR LF is on the line that it ends.
    pub(crate) fn line_of(&self, at: usize) -> (u32, usize) {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (u32::try_from(line).unwrap_or(u32::MAX), start)
    }

    /// Returns the range of a line, from 1, with its line end.
    pub(crate) fn line(&self, text: &[u8], line: u32) -> (usize, usize) {
        let index = (line as usize).saturating_sub(1);
        let start = self.starts.get(index).copied().unwrap_or(0);
        let end = self.starts.get(index + 1).copied().unwrap_or(text.len());
        (start, end)
    }
}

/// Returns `true` for a CR that ends a line. The CR of a CR LF does not: the LF does, so that the pair counts once.
fn is_lone_cr(text: &[u8], at: usize) -> bool {
    text.get(at) == Some(&b'\r') && text.get(at + 1) != Some(&b'\n')
}

fn separators_plain(text: &[u8], starts: &mut Vec<usize>) {
    for at in memchr::memchr2_iter(b'\n', b'\r', text) {
        if text.get(at) == Some(&b'\n') || is_lone_cr(text, at) {
            starts.push(at + 1);
        }
    }
}

fn separators_ecma(text: &[u8], starts: &mut Vec<usize>) {
    for at in memchr::memchr3_iter(b'\n', b'\r', 0xE2, text) {
        // U+2028 and U+2029 share their first byte with many other characters.
        let wide = matches!(text.get(at..at + 3), Some([0xE2, 0x80, 0xA8 | 0xA9]));
        if wide {
            starts.push(at + 3);
        } else if text.get(at) == Some(&b'\n') || is_lone_cr(text, at) {
            starts.push(at + 1);
        }
    }
}

/// Counts code points. A byte outside of valid sequences counts as one, so that broken text has columns too.
pub(crate) fn code_points(text: &[u8]) -> usize {
    // Nearly all lines are ASCII, and the check is much faster than decoding.
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks().fold(0_usize, |sum, chunk| sum + chunk.valid().chars().count() + chunk.invalid().len())
}
