//! Decoded text with a map to the source: words of commands, values, output of commands.

use plugward_types::Part;

use crate::lex::offset;
use crate::text::view::{Obfuscations, View};

/// A segment that came from one range of the source.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// The start in the decoded text. A segment ends where the next one starts.
    at: u32,
    from: u32,
    to: u32,
    how: Obfuscations,
    /// Set if each byte came from one byte of the source.
    linear: bool,
}

/// Decoded bytes with their source ranges. Unlike a view, it can be cut and copied.
#[derive(Debug, Clone, Default)]
pub(in crate::lex::sh) struct FlatText {
    pub(in crate::lex::sh) bytes: Vec<u8>,
    segs: Vec<Segment>,
}

impl FlatText {
    pub(in crate::lex::sh) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends source bytes unchanged.
    #[inline]
    pub(in crate::lex::sh) fn plain(&mut self, bytes: &[u8], from: usize, how: Obfuscations) {
        if bytes.is_empty() {
            return;
        }
        let start = offset(from);
        let end = start.saturating_add(offset(bytes.len()));
        if let Some(last) = self.segs.last_mut()
            && last.linear
            && last.to == start
            && last.how == how
        {
            last.to = end;
        } else {
            self.segs.push(Segment { at: offset(self.len()), from: start, to: end, how, linear: true });
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends bytes that replace a source range.
    pub(in crate::lex::sh) fn unit(&mut self, bytes: &[u8], from: (usize, usize), how: Obfuscations) {
        if bytes.is_empty() {
            return;
        }
        let seg =
            Segment { at: offset(self.len()), from: offset(from.0), to: offset(from.1), how, linear: false };
        self.segs.push(seg);
        self.bytes.extend_from_slice(bytes);
    }

    pub(in crate::lex::sh) fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        self.bytes.truncate(len);
        let len = offset(len);
        while self.segs.last().is_some_and(|seg| seg.at >= len) {
            self.segs.pop();
        }
        if let Some(last) = self.segs.last_mut().filter(|last| last.linear) {
            last.to = last.to.min(last.from.saturating_add(len.saturating_sub(last.at)));
        }
    }

    fn first(&self, at: usize) -> usize {
        let at = offset(at);
        self.segs.partition_point(|seg| seg.at <= at).saturating_sub(1)
    }

    /// Returns the segments of a range: bytes, source range, obfuscation, and whether they map byte for byte.
    fn pieces(
        &self,
        start: usize,
        end: usize,
    ) -> impl Iterator<Item = (&[u8], (usize, usize), Obfuscations, bool)> {
        let first = self.first(start);
        let segs = self.segs.part(first..);
        segs.iter().enumerate().take_while(move |(_, seg)| (seg.at as usize) < end).map(
            move |(index, seg)| {
                let next = segs.get(index + 1).map_or(self.len(), |next| next.at as usize);
                let (from, to) = ((seg.at as usize).max(start), next.min(end));
                let bytes = self.bytes.part(from..to);
                let range = if seg.linear {
                    let shift = from.saturating_sub(seg.at as usize);
                    let begin = seg.from as usize + shift;
                    (begin, begin + bytes.len())
                } else {
                    (seg.from as usize, seg.to as usize)
                };
                (bytes, range, seg.how, seg.linear)
            },
        )
    }

    /// Returns the obfuscation that was undone in a range.
    pub(in crate::lex::sh) fn how(&self, start: usize, end: usize) -> Obfuscations {
        if start >= end {
            return Obfuscations::NONE;
        }
        self.pieces(start, end).fold(Obfuscations::NONE, |sum, (_, _, how, _)| sum.and(how))
    }

    /// Maps a range to the source.
    pub(in crate::lex::sh) fn source(&self, start: usize, end: usize) -> (usize, usize) {
        self.pieces(start, end.max(start + 1))
            .map(|(_, range, ..)| range)
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            .unwrap_or((0, 0))
    }

    /// Copies a range.
    pub(in crate::lex::sh) fn cut(&self, start: usize, end: usize) -> Self {
        let mut out = Self::default();
        out.add(self, start, end);
        out
    }

    /// Appends a range of another text.
    pub(in crate::lex::sh) fn add(&mut self, other: &Self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        for (bytes, range, how, linear) in other.pieces(start, end) {
            if linear {
                self.plain(bytes, range.0, how);
            } else {
                self.unit(bytes, range, how);
            }
        }
    }

    /// Returns a range as a view, for another lexer.
    pub(in crate::lex::sh) fn view(&self, start: usize, end: usize) -> View {
        let mut view = View::default();
        self.show(start, end, &mut view);
        view
    }

    /// Appends a range to a view.
    pub(in crate::lex::sh) fn show(&self, start: usize, end: usize, view: &mut View) {
        if start < end {
            for (bytes, range, how, linear) in self.pieces(start, end) {
                if linear {
                    view.copy(bytes, range.0, how, 0);
                } else {
                    view.put(bytes, range, how, 0);
                }
            }
        }
    }
}
