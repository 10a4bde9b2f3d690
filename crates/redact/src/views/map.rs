//! The bytes of a view, and the raw bytes that each comes from.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::part;
use crate::bytes::wiped::Wiped;
use crate::firewall::scan::Depth;
use crate::redacted::finding::Layer;
use crate::rules::{MarkerEncoding, Match};
use crate::views::WHOLE;
use crate::views::trail::Trail;

/// The raw bytes that a match in a view removes.
#[derive(Debug, Clone)]
enum CutMode {
    /// From the origin of its first byte to the origin of its last byte.
    Span,
    /// The whole source, if it is short enough.
    Whole(Range<usize>),
    /// The columns of the dump lines that it touches.
    Rows(Vec<Row>),
    /// Like a span, but the view is the reverse of the text before this end.
    Mirror(usize),
}

/// A line of a dump: its bytes in the view, and its columns in the raw text.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) view: Range<usize>,
    pub(crate) columns: [Range<usize>; 2],
}

/// A text with one layer undone.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) layer: Layer,
    pub(crate) bytes: Wiped,
    pub(crate) depth: Depth,
    pub(crate) wide: MarkerEncoding,
    trail: Trail,
    cut: CutMode,
}

impl View {
    pub(crate) fn new(layer: Layer, room: usize) -> Self {
        // Unused capacity costs nothing, but a buffer that grows fragments the heap.
        Self {
            layer,
            bytes: Wiped::with_room(room),
            depth: Depth::All,
            wide: MarkerEncoding::Bytes,
            trail: Trail::default(),
            cut: CutMode::Span,
        }
    }

    /// Creates a view whose bytes all come from one piece of the raw text.
    pub(crate) fn of(layer: Layer, bytes: Wiped, raw: Range<usize>) -> Self {
        let mut view = Self::new(layer, 0);
        view.trail.walk(raw.start, 1, bytes.len().max(1), raw.len());
        view.bytes = bytes;
        view
    }

    /// Creates a view of the bytes of a range in reverse.
    pub(crate) fn reversed(text: &[u8], range: Range<usize>) -> Self {
        let mut view = Self::new(Layer::Reverse, range.len());
        view.depth = Depth::PrefixedOnly;
        part(text, range.clone()).iter().rev().for_each(|byte| view.bytes.push(*byte));
        view.cut = CutMode::Mirror(range.end);
        view
    }

    /// Makes a match remove the whole source, if that is not too long.
    pub(crate) fn whole(&mut self, source: Range<usize>) {
        if source.len() <= WHOLE {
            self.cut = CutMode::Whole(source);
        }
    }

    /// Makes a match remove the columns of the dump lines that it touches.
    pub(crate) fn rows(&mut self, rows: Vec<Row>) {
        self.cut = CutMode::Rows(rows);
    }

    /// Appends bytes that are the same in the raw text.
    pub(crate) fn copy(&mut self, text: &[u8], raw: Range<usize>) {
        if !raw.is_empty() {
            self.trail.walk(raw.start, raw.len(), 1, 1);
            self.bytes.extend(part(text, raw));
        }
    }

    /// Separates lines that are not adjacent in the raw text, so that no rule reads across.
    pub(crate) fn part(&mut self, raw: usize) {
        if !self.bytes.is_empty() && self.trail.end() != raw {
            self.trail.walk(raw, 1, 2, 0);
            self.bytes.extend(b"\x1f\n");
        }
    }

    /// Appends bytes that a piece of the raw text represents.
    pub(crate) fn atom(&mut self, raw: Range<usize>, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.trail.walk(raw.start, 1, bytes.len(), raw.len());
            self.bytes.extend(bytes);
        }
    }

    /// Returns the raw bytes that the view was made from.
    pub(crate) fn source(&self) -> Range<usize> {
        match &self.cut {
            CutMode::Whole(range) => range.clone(),
            CutMode::Mirror(end) => end.saturating_sub(self.bytes.len())..*end,
            CutMode::Span | CutMode::Rows(_) => self.trail.source().unwrap_or(0..0),
        }
    }

    /// Maps a match in the view to the raw text.
    pub(crate) fn project(&self, hit: &Match, out: &mut Vec<Match>) {
        let wide = if self.wide == MarkerEncoding::Bytes { hit.wide } else { self.wide };
        let mut put = |at: Range<usize>| out.push(Match { at, wide, ..hit.clone() });
        match &self.cut {
            CutMode::Whole(range) => put(range.clone()),
            CutMode::Mirror(end) => put(end - hit.at.end..end - hit.at.start),
            CutMode::Rows(rows) => {
                for row in
                    rows.iter().filter(|row| row.view.start < hit.at.end && hit.at.start < row.view.end)
                {
                    row.columns
                        .iter()
                        .filter(|column| !column.is_empty())
                        .for_each(|column| put(column.clone()));
                }
            }
            CutMode::Span => {
                if let (Some(first), Some(last)) =
                    (self.trail.group(hit.at.start), self.trail.group(hit.at.end.saturating_sub(1)))
                {
                    put(first.start..last.end.max(first.end));
                }
            }
        }
    }

    /// Returns the offset in the raw text that a byte of the view comes from.
    pub(crate) fn raw_of(&self, at: usize) -> usize {
        self.trail.group(at).map_or(0, |range| range.start)
    }
}
