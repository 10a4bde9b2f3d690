//! A compact map from the bytes of a view to the raw bytes, so that a map is smaller than its text.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

/// A starting point for decoding is stored every so many changes.
const EVERY: usize = 64;

/// The tag of a change: its lowest two bits.
const SAME: usize = 0;
const GAP: usize = 1;
const PACE: usize = 2;
const JUMP: usize = 3;

/// Consecutive atoms of one size, in the view and in the raw text.
#[derive(Debug, Clone, Copy, Default)]
struct Walk {
    /// The offset of the first atom, in the view and in the raw text.
    at: usize,
    raw: usize,
    count: usize,
    /// The size of an atom, in the view and in the raw text.
    step: usize,
    raw_step: usize,
}

impl Walk {
    const fn end_at(&self) -> usize {
        self.at + self.count * self.step
    }

    const fn end_raw(&self) -> usize {
        self.raw + self.count * self.raw_step
    }

    /// Returns the raw bytes of the atom that a byte of the view belongs to.
    fn group(&self, at: usize) -> Range<usize> {
        let index = (at.saturating_sub(self.at) / self.step.max(1)).min(self.count.saturating_sub(1));
        let start = self.raw + index * self.raw_step;
        start..start + self.raw_step
    }
}

/// A map from a view to the raw text.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// The completed walks, as variable-length integers of seven bits per byte.
    changes: Vec<u8>,
    count: usize,
    marks: Vec<Mark>,
    /// The current walk.
    last: Walk,
    first: Option<usize>,
}

/// The view and raw offsets at which the change at a position begins.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: u32,
    raw: u32,
    place: u32,
}

impl Trail {
    /// Records that the next `count` groups of `step` view bytes each come from `raw_step` raw bytes.
    pub(crate) fn walk(&mut self, raw: usize, count: usize, step: usize, raw_step: usize) {
        self.first.get_or_insert(raw);
        let last = &mut self.last;
        if last.count > 0 && last.step == step && last.raw_step == raw_step && last.end_raw() == raw {
            last.count += count;
            return;
        }
        self.put_last();
        let before = self.last;
        if raw > before.end_raw() {
            self.number((raw - before.end_raw()) << 2 | GAP);
        } else if raw < before.end_raw() {
            self.number(JUMP);
            self.number(raw);
        }
        self.last = Walk { at: before.end_at(), raw, count, step, raw_step };
    }

    /// Encodes the completed walk.
    fn put_last(&mut self) {
        let Walk { at, raw, count, step, raw_step } = self.last;
        if count > 0 && (step, raw_step) == (1, 1) {
            self.number(count << 2 | SAME);
        } else if count > 0 {
            self.number(count << 2 | PACE);
            self.number(step);
            self.number(raw_step);
        }
        self.count += 1;
        if self.count.is_multiple_of(EVERY) {
            let narrow = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
            let (at, raw) = (at + count * step, raw + count * raw_step);
            self.marks.push(Mark { at: narrow(at), raw: narrow(raw), place: narrow(self.changes.len()) });
        }
    }

    fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.changes.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
            number >>= 7;
        }
        self.changes.push(u8::try_from(number).unwrap_or(0));
    }

    /// Returns the offset after the last recorded raw byte.
    pub(crate) const fn end(&self) -> usize {
        self.last.end_raw()
    }

    /// Returns the range of recorded raw bytes.
    pub(crate) fn source(&self) -> Option<Range<usize>> {
        self.first.map(|first| first..self.end())
    }

    /// Returns the raw bytes that a byte of the view comes from.
    pub(crate) fn group(&self, at: usize) -> Option<Range<usize>> {
        self.first?;
        if at >= self.last.at {
            return Some(self.last.group(at));
        }
        let after = self.marks.partition_point(|mark| wide(mark.at) <= at);
        let mark = after.checked_sub(1).and_then(|index| self.marks.get(index)).copied();
        let mut walk = Walk { at: mark.map_or(0, |mark| wide(mark.at)), ..Walk::default() };
        walk.raw = mark.map_or(0, |mark| wide(mark.raw));
        let mut rest = self.changes.get(mark.map_or(0, |mark| wide(mark.place))..)?.iter();
        loop {
            let head = read(&mut rest)?;
            (walk.at, walk.raw, walk.count) = (walk.end_at(), walk.end_raw(), 0);
            match head & 3 {
                GAP => walk.raw += head >> 2,
                JUMP => walk.raw = read(&mut rest)?,
                same => {
                    walk.count = head >> 2;
                    (walk.step, walk.raw_step) = (1, 1);
                    if same == PACE {
                        (walk.step, walk.raw_step) = (read(&mut rest)?, read(&mut rest)?);
                    }
                    if at < walk.end_at() {
                        return Some(walk.group(at));
                    }
                }
            }
        }
    }
}

fn read(bytes: &mut core::slice::Iter<'_, u8>) -> Option<usize> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let byte = *bytes.next()?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift = (shift + 7).min(usize::BITS - 1);
    }
}

fn wide(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was noted, byte by byte of the view.
    fn noted(walks: &[(usize, usize, usize, usize)]) -> (Trail, Vec<Range<usize>>) {
        let mut trail = Trail::default();
        let mut all = Vec::new();
        for (raw, count, step, raw_step) in walks.iter().copied() {
            trail.walk(raw, count, step, raw_step);
            for index in 0..count {
                let start = raw + index * raw_step;
                all.extend(core::iter::repeat_n(start..start + raw_step, step));
            }
        }
        (trail, all)
    }

    #[test]
    fn every_byte_of_a_view_leads_back() {
        let mut seed = 3_u64;
        let mut below = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from((seed >> 33) % most).unwrap()
        };
        for round in 0..60 {
            let mut raw = below(300);
            let mut walks = Vec::new();
            for _ in 0..below(700) {
                let (count, step, raw_step) = match below(4) {
                    0 => (1 + below(40_000 / (round + 1)), 1, 1),
                    1 => (1 + below(5), 1, 2 + below(5)),
                    2 => (1, 1 + below(200), below(300)),
                    _ => (1, 2, 0),
                };
                raw += [0, 0, 1, below(70_000)][below(4)];
                if below(50) == 0 {
                    raw = raw.saturating_sub(below(500));
                }
                walks.push((raw, count, step, raw_step));
                raw += count * raw_step;
            }
            let (trail, all) = noted(&walks);
            for (at, expected) in all.iter().enumerate() {
                if at % 7 == 0 || all.len() < 4000 {
                    assert_eq!(trail.group(at).as_ref(), Some(expected), "{at} of {}", all.len());
                }
            }
            assert_eq!(trail.source().map(|source| source.end), walks.last().map(|_| raw));
        }
        assert_eq!((Trail::default().group(0), Trail::default().source()), (None, None));
    }

    #[test]
    fn escapes_cost_a_few_bytes_each() {
        let mut trail = Trail::default();
        for index in 0..10_000 {
            trail.walk(index * 12, 10, 1, 1);
            trail.walk(index * 12 + 10, 1, 1, 2);
        }
        let size = trail.changes.len() + trail.marks.len() * size_of::<Mark>();
        assert!(size < 10_000 * 5, "{size}");
        assert_eq!(trail.group(11 * 777), Some(12 * 777..12 * 777 + 1));
    }
}
