//! The bytes of a view, and where each came from.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use super::WHOLE;
use super::trail::Trail;
use crate::bytes::part;
use crate::found::Layer;
use crate::rules::{Hit, Wide};
use crate::wiped::Wiped;

/// What a hit in a view takes out of the raw text.
#[derive(Debug, Clone)]
enum Cut {
    /// From where its first byte came from to where its last byte came from.
    Span,
    /// The whole source, if it is short enough.
    Whole(Range<usize>),
    /// The rows that it touches: of each, these ranges.
    Rows(Vec<Row>),
    /// As a span, mirrored: the view runs backwards from this end.
    Mirror(usize),
}

/// A row of a dump: the view bytes it gave, and its columns.
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
    pub(crate) prefixed_only: bool,
    pub(crate) wide: Wide,
    trail: Trail,
    cut: Cut,
}

impl View {
    pub(crate) fn new(layer: Layer, room: usize) -> Self {
        // As much as it may need at once: room that is not used costs nothing, a buffer that grows leaves holes.
        Self {
            layer,
            bytes: Wiped::with_room(room),
            prefixed_only: false,
            wide: Wide::Bytes,
            trail: Trail::default(),
            cut: Cut::Span,
        }
    }

    /// Bytes that all stand for one piece of the raw text.
    pub(crate) fn of(layer: Layer, bytes: Wiped, raw: Range<usize>) -> Self {
        let mut view = Self::new(layer, 0);
        view.trail.walk(raw.start, 1, bytes.len().max(1), raw.len());
        view.bytes = bytes;
        view
    }

    /// The bytes of a range, last first.
    pub(crate) fn reversed(text: &[u8], range: Range<usize>) -> Self {
        let mut view = Self::new(Layer::Reverse, range.len());
        view.prefixed_only = true;
        part(text, range.clone()).iter().rev().for_each(|byte| view.bytes.push(*byte));
        view.cut = Cut::Mirror(range.end);
        view
    }

    /// A hit takes the whole source out, if that is not too long.
    pub(crate) fn whole(&mut self, source: Range<usize>) {
        if source.len() <= WHOLE {
            self.cut = Cut::Whole(source);
        }
    }

    /// A hit takes the columns of the rows out that it touches.
    pub(crate) fn rows(&mut self, rows: Vec<Row>) {
        self.cut = Cut::Rows(rows);
    }

    /// Appends bytes that stand in the raw text as they are.
    pub(crate) fn copy(&mut self, text: &[u8], raw: Range<usize>) {
        if !raw.is_empty() {
            self.trail.walk(raw.start, raw.len(), 1, 1);
            self.bytes.extend(part(text, raw));
        }
    }

    /// Parts lines that do not follow each other in the raw text: nothing reads across.
    pub(crate) fn part(&mut self, raw: usize) {
        if !self.bytes.is_empty() && self.trail.end() != raw {
            self.trail.walk(raw, 1, 2, 0);
            self.bytes.extend(b"\x1f\n");
        }
    }

    /// Appends bytes that a piece of the raw text stands for.
    pub(crate) fn atom(&mut self, raw: Range<usize>, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.trail.walk(raw.start, 1, bytes.len(), raw.len());
            self.bytes.extend(bytes);
        }
    }

    /// Gives the raw bytes that the view was made from.
    pub(crate) fn source(&self) -> Range<usize> {
        match &self.cut {
            Cut::Whole(range) => range.clone(),
            Cut::Mirror(end) => end.saturating_sub(self.bytes.len())..*end,
            Cut::Span | Cut::Rows(_) => self.trail.source().unwrap_or(0..0),
        }
    }

    /// Puts a hit in the view at its place in the raw text.
    pub(crate) fn project(&self, hit: &Hit, out: &mut Vec<Hit>) {
        let wide = if self.wide == Wide::Bytes { hit.wide } else { self.wide };
        let mut put = |at: Range<usize>| out.push(Hit { at, wide, ..hit.clone() });
        match &self.cut {
            Cut::Whole(range) => put(range.clone()),
            Cut::Mirror(end) => put(end - hit.at.end..end - hit.at.start),
            Cut::Rows(rows) => {
                for row in
                    rows.iter().filter(|row| row.view.start < hit.at.end && hit.at.start < row.view.end)
                {
                    row.columns
                        .iter()
                        .filter(|column| !column.is_empty())
                        .for_each(|column| put(column.clone()));
                }
            }
            Cut::Span => {
                if let (Some(first), Some(last)) =
                    (self.trail.group(hit.at.start), self.trail.group(hit.at.end.saturating_sub(1)))
                {
                    put(first.start..last.end.max(first.end));
                }
            }
        }
    }

    /// Gives the offset in the raw text that a byte of the view came from.
    pub(crate) fn raw_of(&self, at: usize) -> usize {
        self.trail.group(at).map_or(0, |range| range.start)
    }
}
