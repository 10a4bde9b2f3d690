//! Regex literals: where one ends, and where none does.

use super::super::token::K;
use super::{CLASS_DIGIT, CLASS_WORD, Scanner, class};

/// What a place of a regex literal is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Class,
}

/// Readings of a line that met no end: each place with its state, inside a class of the regex or not.
///
/// A reading that comes to one of them in the same state meets no end either; so each place is passed twice at most, however
/// many marks of a line are none.
#[derive(Debug, Default)]
pub(super) struct Endless {
    start: usize,
    /// Where the line ends.
    end: usize,
    /// Two bits a place.
    marks: Vec<u8>,
}

impl Endless {
    /// Gives the byte of a place in a state, and its bit there.
    const fn place(&self, at: usize, inside: Inside) -> (usize, u8) {
        let index = at.saturating_sub(self.start);
        (index / 4, 1 << ((index % 4) << 1 | inside as usize))
    }

    fn holds(&self, at: usize, inside: Inside) -> bool {
        let (index, bit) = self.place(at, inside);
        self.marks.get(index).is_some_and(|marks| marks & bit != 0)
    }

    /// Notes what a reading passed.
    fn note(&mut self, src: &[u8], start: usize, line_end: usize) {
        if start >= self.end {
            self.marks.clear();
            (self.start, self.end) = (start, line_end);
        }
        let (mut at, mut inside) = (start.wrapping_add(1), Inside::Nothing);
        while self.add(at, inside)
            && let Step::On(next, then) = step(src, at, inside)
        {
            (at, inside) = (next, then);
        }
    }

    /// Notes a place; says whether it was new.
    fn add(&mut self, at: usize, inside: Inside) -> bool {
        let (index, bit) = self.place(at, inside);
        if index >= self.marks.len() {
            self.marks.resize(index.saturating_add(1), 0);
        }
        let Some(marks) = self.marks.get_mut(index) else { return false };
        let is_new = *marks & bit == 0;
        *marks |= bit;
        is_new
    }
}

/// What stands at a place of a regex literal.
enum Step {
    /// It goes on at a place, inside a class or not.
    On(usize, Inside),
    End(usize),
    LineEnd,
}

/// Reads one place.
#[inline]
fn step(src: &[u8], at: usize, inside: Inside) -> Step {
    match src.get(at..).unwrap_or_default() {
        [] | [b'\n' | b'\r', ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..] => Step::LineEnd,
        [b'\\', next, ..] if !matches!(next, b'\n' | b'\r') => Step::On(at.wrapping_add(2), inside),
        [b'[', ..] => Step::On(at.wrapping_add(1), Inside::Class),
        [b']', ..] => Step::On(at.wrapping_add(1), Inside::Nothing),
        [b'/', ..] if inside == Inside::Nothing => Step::End(at.wrapping_add(1)),
        _ => Step::On(at.wrapping_add(1), inside),
    }
}

/// Finds where a regex literal that starts at a place ends, on its line. The places are asked for in rising order.
fn end(src: &[u8], start: usize, endless: &mut Endless) -> Option<usize> {
    let known = start < endless.end;
    let (mut at, mut inside) = (start.wrapping_add(1), Inside::Nothing);
    let line_end = loop {
        if known && endless.holds(at, inside) {
            break endless.end;
        }
        match step(src, at, inside) {
            Step::On(next, then) => (at, inside) = (next, then),
            Step::End(end) => return Some(end),
            Step::LineEnd => break at,
        }
    };
    endless.note(src, start, line_end);
    None
}

impl Scanner<'_> {
    pub(super) fn regex(&mut self) -> bool {
        let Some(end) = end(self.src, self.at, &mut self.endless) else { return false };
        let rest = self.src.get(end..).unwrap_or_default();
        let flags = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_WORD | CLASS_DIGIT)).count();
        let start = self.at;
        self.at = end.wrapping_add(flags);
        self.push(K::Regex, start, self.at, 0);
        (self.operand, self.statement) = (false, false);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_read_before_changes_no_end(
            marks in prop::collection::vec(prop::sample::select(&b"//\\\\[]a\n"[..]), 0..60),
            starts in prop::collection::btree_set(0_usize..60, 0..20),
        ) {
            let mut endless = Endless::default();
            for start in starts {
                let fresh = end(&marks, start, &mut Endless::default());
                prop_assert_eq!(end(&marks, start, &mut endless), fresh, "at {} of {:?}", start, marks);
            }
        }
    }
}
