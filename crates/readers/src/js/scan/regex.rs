//! The ends of regular expressions.

use plugward_types::Part;

use super::super::token::TokenKind;
use super::{Scanner, is_separator, is_word};

/// Bits of an offset: an end follows if the offset is outside of a character class, or inside of one.
const OUTSIDE: u8 = 1;
const INSIDE: u8 = 2;

/// The offsets of a line from which a regular expression can end on it.
///
/// A line is analyzed this way at most once, and only after a slash on it did not start a regular expression.
/// This keeps the time linear for lines with many slashes.
#[derive(Debug, Default)]
pub(super) struct RegexLine {
    start: usize,
    /// The bits of each offset, from the last one to the first.
    places: Vec<u8>,
}

impl RegexLine {
    fn end(&self) -> usize {
        self.start + self.places.len()
    }

    /// Returns `true` if no end follows an offset of the line.
    fn is_endless(&self, at: usize) -> bool {
        let place = self.end().checked_sub(at + 1).and_then(|back| self.places.get(back));
        at >= self.start && place.is_some_and(|place| place & OUTSIDE == 0)
    }

    /// Analyzes a line from an offset on.
    fn read(&mut self, line: &[u8], start: usize) {
        self.start = start;
        self.places.clear();
        let (mut next, mut second) = (0_u8, 0_u8);
        for (index, byte) in line.iter().enumerate().rev() {
            let place = match byte {
                b'\\' if index + 1 < line.len() => second,
                b'[' if next & INSIDE != 0 => OUTSIDE | INSIDE,
                b']' if next & OUTSIDE != 0 => OUTSIDE | INSIDE,
                b'[' | b']' => 0,
                b'/' => next & INSIDE | OUTSIDE,
                _ => next,
            };
            (next, second) = (place, next);
            self.places.push(place);
        }
    }
}

impl Scanner<'_> {
    /// Reads a regular expression. Returns `false` if none starts here.
    pub(super) fn regex(&mut self) -> bool {
        let start = self.at;
        let mut at = start + 1;
        if self.regex_line.is_endless(at) {
            return false;
        }
        let mut is_inside = false;
        loop {
            let rest = self.src.part(at..);
            match rest {
                [b'\\', next, ..] if !matches!(next, b'\n' | b'\r') => at += 1,
                [b'[', ..] => is_inside = true,
                [b']', ..] => is_inside = false,
                [b'/', ..] if !is_inside => break,
                [] | [b'\n' | b'\r', ..] => return self.no_regex(at),
                rest if is_separator(rest) => return self.no_regex(at),
                _ => {}
            }
            at += 1;
        }
        let rest = self.src.part(at..);
        let flags = rest.iter().skip(1).take_while(|byte| is_word(**byte)).count();
        self.at = at + flags + 1;
        self.push(TokenKind::Regex, start, self.at, 0);
        (self.operand, self.statement) = (false, false);
        true
    }

    /// Records that a search reached the end of its line.
    fn no_regex(&mut self, line_end: usize) -> bool {
        let start = self.at;
        self.regex_line.read(self.src.part(start..line_end), start);
        false
    }
}
