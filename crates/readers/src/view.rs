//! Views: the text that rules read instead of the raw bytes, with a map back to them.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use crate::program::offset;
use plugward_types::Obfuscation;

/// The set of [`Obfuscation`]s that were undone to read a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Obfuscations(u8);

const OBFUSCATIONS: [Obfuscation; 7] = [
    Obfuscation::Decode,
    Obfuscation::Encoding,
    Obfuscation::Escape,
    Obfuscation::Fold,
    Obfuscation::Markup,
    Obfuscation::Shell,
    Obfuscation::Unicode,
];

impl Obfuscations {
    /// The text is as written.
    pub const NONE: Self = Self(0);
    /// The text was decoded, for example from base64.
    pub const DECODE: Self = Self(1);
    /// The file has an encoding other than UTF-8.
    pub const ENCODING: Self = Self(2);
    /// Escapes were decoded.
    pub const ESCAPE: Self = Self(4);
    /// Constants were folded.
    pub const FOLD: Self = Self(8);
    /// Markup inside a word was removed.
    pub const MARKUP: Self = Self(16);
    /// Quoting or expansion of a shell was undone.
    pub const SHELL: Self = Self(32);
    /// Look-alike characters were replaced.
    pub const UNICODE: Self = Self(64);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if the text is as written.
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.0 == 0
    }

    /// Returns `true` if the set contains all of `other`.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the set as bits, for a record.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the set with these bits, or `None` if a bit is unknown.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits < 128 { Some(Self(bits)) } else { None }
    }

    /// Returns the members in a fixed order.
    #[must_use]
    pub fn list(self) -> Vec<Obfuscation> {
        OBFUSCATIONS
            .into_iter()
            .zip(0_u32..)
            .filter(|(_, bit)| (self.0 >> bit) & 1 == 1)
            .map(|(how, _)| how)
            .collect()
    }
}

/// A segment of a view that came from one range of the source.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// The start in the view. A segment ends where the next one starts.
    at: u32,
    /// The range in the source.
    from: (u32, u32),
    /// The number of source bytes per byte of the view, or 0 if it is not a whole number that fits.
    ///
    /// With 0, the segment maps as a whole.
    step: u16,
    how: Obfuscations,
    /// The tag that the builder of the view gave to the text.
    tag: u8,
}

/// A map from a view to its source.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    segs: Vec<Segment>,
    len: u32,
    /// Set after a line feed, which closes the last segment.
    closed: bool,
}

impl SourceMap {
    fn push(&mut self, len: usize, from: (usize, usize), how: Obfuscations, tag: u8) {
        let from = (offset(from.0), offset(from.1));
        let len = offset(len);
        if len == 0 {
            return;
        }
        let raw = from.1.saturating_sub(from.0);
        // Neighboring segments with the same step are merged, so plain text is one segment per line at most.
        let step = match raw {
            _ if raw == len => 1,
            _ if raw.is_multiple_of(len) => {
                raw.checked_div(len).and_then(|step| u16::try_from(step).ok()).unwrap_or(0)
            }
            _ => 0,
        };
        if let Some(last) = self.segs.last_mut()
            && step != 0
            && last.step == step
            && last.how == how
            && last.tag == tag
            && last.from.1 == from.0
            && !self.closed
        {
            last.from.1 = from.1;
        } else {
            self.segs.push(Segment { at: self.len, from, step, how, tag });
        }
        self.len = self.len.saturating_add(len);
        self.closed = false;
    }

    /// Appends a line feed that has no source of its own.
    fn line_feed(&mut self, tag: u8) {
        let last = self.segs.last();
        // Offsets after a segment's end map to its end, so the line feed needs no segment.
        if last.is_some_and(|last| last.step != 0 && last.how.is_plain() && last.tag == tag) {
            self.len = self.len.saturating_add(1);
            self.closed = true;
        } else {
            let at = last.map_or(0, |last| last.from.1 as usize);
            self.push(1, (at, at), Obfuscations::NONE, tag);
        }
    }

    fn find(&self, at: u32) -> usize {
        self.segs.partition_point(|seg| seg.at <= at).saturating_sub(1)
    }

    /// Maps one offset in a segment. Without a whole number of bytes per byte, the result is the whole
    /// segment.
    fn below(&self, index: usize, at: u32) -> (u32, u32) {
        let Some(seg) = self.segs.get(index) else { return (0, 0) };
        if seg.step == 0 {
            return seg.from;
        }
        let step = u32::from(seg.step);
        let start = seg.from.0.saturating_add(at.saturating_sub(seg.at).saturating_mul(step));
        (start.min(seg.from.1), start.saturating_add(step).min(seg.from.1))
    }

    /// Maps a range of the view to its source, and returns what was undone to read it.
    #[must_use]
    pub fn back(&self, start: usize, end: usize) -> (usize, usize, Obfuscations) {
        let (start, end) = (offset(start), offset(end));
        let first = self.find(start);
        let last_byte = end.saturating_sub(1).max(start);
        let last = self.find(last_byte);
        let from = self.below(first, start).0;
        let to = self.below(last, last_byte).1;
        // The map of an empty view has no segments.
        let segs = self.segs.iter().take(last.saturating_add(1)).skip(first);
        let how = segs.fold(Obfuscations::NONE, |sum, seg| sum.and(seg.how));
        (from as usize, (to.max(from)) as usize, how)
    }

    /// Returns `true` if the whole range has a bit in its tag.
    #[must_use]
    pub fn has_tag(&self, start: usize, end: usize, bit: u8) -> bool {
        let (first, last) = (self.find(offset(start)), self.find(offset(end.saturating_sub(1).max(start))));
        self.segs.get(first..=last).is_some_and(|segs| segs.iter().all(|seg| seg.tag & bit != 0))
    }

    /// Returns the tag at an offset.
    #[must_use]
    pub fn tag(&self, at: usize) -> u8 {
        self.segs.get(self.find(offset(at))).map_or(0, |seg| seg.tag)
    }
}

/// A text with a map to its source.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The bytes of the text.
    pub bytes: Vec<u8>,
    /// The map from the bytes to the source.
    pub map: SourceMap,
    /// What was omitted directly before the next byte.
    skipped: Obfuscations,
}

impl View {
    /// Appends bytes of the source unchanged.
    pub fn copy(&mut self, bytes: &[u8], from: usize, how: Obfuscations, tag: u8) {
        let how = self.marked(bytes, how);
        self.bytes.extend_from_slice(bytes);
        self.map.push(bytes.len(), (from, from + bytes.len()), how, tag);
    }

    /// Appends bytes that replace a source range. The range maps as a whole.
    pub fn put(&mut self, bytes: &[u8], from: (usize, usize), how: Obfuscations, tag: u8) {
        let how = self.marked(bytes, how);
        self.bytes.extend_from_slice(bytes);
        self.map.push(bytes.len(), from, how, tag);
    }

    /// Ends a line with a line feed that is not in the source.
    pub fn line_feed(&mut self, tag: u8) {
        self.skipped = Obfuscations::NONE;
        self.bytes.push(b'\n');
        self.map.line_feed(tag);
    }

    /// Records omitted text. The next bytes of the same word count as obfuscated.
    pub fn skip(&mut self, how: Obfuscations) {
        if self.bytes.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            self.skipped = self.skipped.and(how);
        }
    }

    /// Returns `true` if omitted text marks the next bytes.
    #[must_use]
    pub const fn is_marked(&self) -> bool {
        !self.skipped.is_plain()
    }

    /// Takes the mark of omitted text, if the bytes continue the word.
    fn marked(&mut self, bytes: &[u8], how: Obfuscations) -> Obfuscations {
        if bytes.is_empty() || self.skipped.is_plain() {
            return how;
        }
        let mark = core::mem::take(&mut self.skipped);
        if bytes.first().is_some_and(u8::is_ascii_whitespace) { how } else { how.and(mark) }
    }

    /// Returns `true` if the view has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
