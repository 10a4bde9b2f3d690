//! The bytes of a view, and where each came from.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use super::WHOLE;
use crate::bytes::part;
use crate::found::Layer;
use crate::rules::{Hit, Wide};
use crate::wiped::Wiped;

/// A view begins with at most this much room.
const ROOM: usize = 4096;

/// A stretch in which every `step` view bytes came from every `raw_step` raw bytes.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    at: u32,
    raw: u32,
    /// End of the raw bytes of the stretch.
    end: u32,
    step: u32,
    raw_step: u32,
}

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
    stretches: Vec<Stretch>,
    cut: Cut,
}

impl View {
    pub(crate) fn new(layer: Layer, room: usize) -> Self {
        let bytes = Wiped::with_room(room.min(ROOM));
        Self { layer, bytes, prefixed_only: false, wide: Wide::Bytes, stretches: Vec::new(), cut: Cut::Span }
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
            self.stretch(raw.start, raw.end, 1, 1);
            self.bytes.extend(part(text, raw));
        }
    }

    /// Parts lines that do not follow each other in the raw text: nothing reads across.
    pub(crate) fn part(&mut self, raw: usize) {
        let last = self.stretches.last().map_or(0, |last| wide(last.end));
        if !self.bytes.is_empty() && last != raw {
            self.stretch(raw, raw, 2, 0);
            self.bytes.extend(b"\x1f\n");
        }
    }

    /// Appends bytes that a piece of the raw text stands for.
    pub(crate) fn atom(&mut self, raw: Range<usize>, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.stretch(raw.start, raw.end, bytes.len(), raw.len());
            self.bytes.extend(bytes);
        }
    }

    fn stretch(&mut self, raw: usize, end: usize, step: usize, raw_step: usize) {
        let narrow = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let (at, step, raw_step) = (narrow(self.bytes.len()), narrow(step), narrow(raw_step));
        if let Some(last) = self.stretches.last_mut()
            && last.step == step
            && last.raw_step == raw_step
            && usize::try_from(last.end).is_ok_and(|last_end| last_end == raw)
        {
            last.end = narrow(end);
            return;
        }
        self.stretches.push(Stretch { at, raw: narrow(raw), end: narrow(end), step, raw_step });
    }

    /// Gives the raw bytes that the view was made from.
    pub(crate) fn source(&self) -> Range<usize> {
        match (&self.cut, self.stretches.first(), self.stretches.last()) {
            (Cut::Whole(range), ..) => range.clone(),
            (Cut::Mirror(end), ..) => end.saturating_sub(self.bytes.len())..*end,
            (_, Some(first), Some(last)) => wide(first.raw)..wide(last.end),
            _ => 0..0,
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
                    (self.group(hit.at.start), self.group(hit.at.end.saturating_sub(1)))
                {
                    put(first.start..last.end.max(first.end));
                }
            }
        }
    }

    /// Gives the offset in the raw text that a byte of the view came from.
    pub(crate) fn raw_of(&self, at: usize) -> usize {
        self.group(at).map_or(0, |range| range.start)
    }

    /// Gives the raw bytes that one byte of the view came from.
    fn group(&self, at: usize) -> Option<Range<usize>> {
        let after = self.stretches.partition_point(|stretch| wide(stretch.at) <= at);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        let index = (at - wide(stretch.at)) / wide(stretch.step).max(1);
        let start = wide(stretch.raw) + index * wide(stretch.raw_step);
        Some(start.min(wide(stretch.end))..(start + wide(stretch.raw_step)).min(wide(stretch.end)))
    }
}

fn wide(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
