//! Byte classes and bounded reads from a slice. A read past the end returns NUL, which is in no class.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

pub(crate) mod measure;
pub(crate) mod wiped;

use core::ops::Range;

use plugward_types::Part;

/// A set of byte classes, one bit each.
pub(crate) type Class = u16;

pub(crate) const DIGIT: Class = 1;
pub(crate) const LOWER: Class = 1 << 1;
pub(crate) const UPPER: Class = 1 << 2;
const HEX_LOWER: Class = 1 << 3;
const HEX_UPPER: Class = 1 << 4;
pub(crate) const UNDER: Class = 1 << 5;
pub(crate) const HYPHEN: Class = 1 << 6;
pub(crate) const PLUS_SLASH: Class = 1 << 7;
pub(crate) const DOT: Class = 1 << 8;
pub(crate) const TILDE: Class = 1 << 9;
pub(crate) const EQUALS: Class = 1 << 10;
pub(crate) const BLANK: Class = 1 << 11;
pub(crate) const LINE: Class = 1 << 12;
/// Further bytes that a value can contain: `!#%^*@&`.
pub(crate) const SYMBOL: Class = 1 << 13;

pub(crate) const ALPHA: Class = LOWER | UPPER;
/// Letters and digits.
pub(crate) const AN: Class = DIGIT | LOWER | UPPER;
/// The base64url alphabet.
pub(crate) const U64: Class = AN | UNDER | HYPHEN;
/// The base64 alphabet.
pub(crate) const B64: Class = AN | PLUS_SLASH;
/// Either base64 alphabet.
pub(crate) const B64_ANY: Class = U64 | PLUS_SLASH;
pub(crate) const HEX: Class = DIGIT | HEX_LOWER | HEX_UPPER;
pub(crate) const LHEX: Class = DIGIT | HEX_LOWER;
/// The bytes of a bearer token.
pub(crate) const TOKEN: Class = U64 | PLUS_SLASH | DOT | TILDE | EQUALS;
/// The bytes of a name in code or configuration.
pub(crate) const NAME: Class = U64 | DOT;

static TABLE: [Class; 256] = table();

#[expect(clippy::indexing_slicing, reason = "the index runs over 0..256 at compile time")]
#[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
const fn table() -> [Class; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        table[index] = match index as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER | HEX_LOWER,
            b'g'..=b'z' => LOWER,
            b'A'..=b'F' => UPPER | HEX_UPPER,
            b'G'..=b'Z' => UPPER,
            b'_' => UNDER,
            b'-' => HYPHEN,
            b'+' | b'/' => PLUS_SLASH,
            b'.' => DOT,
            b'~' => TILDE,
            b'=' => EQUALS,
            b' ' | b'\t' => BLANK,
            b'\n' | b'\r' => LINE,
            b'!' | b'#' | b'%' | b'^' | b'*' | b'@' | b'&' => SYMBOL,
            _ => 0,
        };
        index += 1;
    }
    table
}

/// Returns the classes of a byte.
pub(crate) fn classes(byte: u8) -> Class {
    TABLE.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Returns `true` if a byte is in at least one of the classes.
pub(crate) fn is(byte: u8, class: Class) -> bool {
    classes(byte) & class != 0
}

/// Returns the byte at an offset, or NUL past the end.
pub(crate) fn at(text: &[u8], index: usize) -> u8 {
    text.get(index).copied().unwrap_or(0)
}

/// Returns the byte before an offset, or NUL at the start.
pub(crate) fn before(text: &[u8], index: usize) -> u8 {
    index.checked_sub(1).map_or(0, |index| at(text, index))
}

/// Returns a part of a slice, clamped to its bounds.
pub(crate) fn part(text: &[u8], range: Range<usize>) -> &[u8] {
    // Ranges may end past the text, so that callers can look ahead without checking the length.
    let end = range.end.min(text.len());
    text.part(range.start.min(end)..end)
}

/// Counts the bytes of a class from an offset, up to `max`.
pub(crate) fn run(text: &[u8], from: usize, class: Class, max: usize) -> usize {
    // Some rules have no maximum, and `from + usize::MAX` would overflow.
    part(part(text, from..text.len()), 0..max).iter().take_while(|byte| is(**byte, class)).count()
}

/// Counts the bytes of a class that end at an offset, up to `max`.
pub(crate) fn run_back(text: &[u8], before: usize, class: Class, max: usize) -> usize {
    part(text, before.saturating_sub(max)..before).iter().rev().take_while(|byte| is(**byte, class)).count()
}

/// Skips bytes of a class and returns the offset of the first other byte.
pub(crate) fn skip(text: &[u8], from: usize, class: Class, max: usize) -> usize {
    from + run(text, from, class, max)
}

/// Returns `true` if a literal is at an offset, ignoring ASCII case.
pub(crate) fn has(text: &[u8], from: usize, literal: &str) -> bool {
    part(text, from..from + literal.len()).eq_ignore_ascii_case(literal.as_bytes())
}

/// Returns `true` if a literal is at an offset, byte by byte.
pub(crate) fn has_exact(text: &[u8], from: usize, literal: &str) -> bool {
    part(text, from..from + literal.len()) == literal.as_bytes()
}

/// Finds a literal in a range, ignoring ASCII case.
pub(crate) fn find(text: &[u8], range: Range<usize>, literal: &str) -> Option<usize> {
    let hay = part(text, range.clone());
    let place = hay.windows(literal.len().max(1)).position(|w| w.eq_ignore_ascii_case(literal.as_bytes()))?;
    Some(range.start + place)
}

/// Returns the start of the line around an offset, at most `max` bytes before it.
pub(crate) fn line_start(text: &[u8], from: usize, max: usize) -> usize {
    let floor = from.saturating_sub(max);
    memchr::memrchr2(b'\n', b'\r', part(text, floor..from)).map_or(floor, |place| floor + place + 1)
}

/// Returns the end of the line around an offset, at most `max` bytes after it.
pub(crate) fn line_end(text: &[u8], from: usize, max: usize) -> usize {
    let ceiling = (from + max).min(text.len());
    memchr::memchr2(b'\n', b'\r', part(text, from..ceiling)).map_or(ceiling, |place| from + place)
}

/// Returns the offset after the line end (CR, LF, CRLF) at an offset, or the offset itself if there is none.
pub(crate) fn past_line_end(text: &[u8], from: usize) -> usize {
    match (at(text, from), at(text, from + 1)) {
        (b'\r', b'\n') => from + 2,
        (b'\r' | b'\n', _) => from + 1,
        _ => from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_past_the_end_are_nul() {
        assert_eq!((at(b"a", 9), before(b"a", 0), part(b"abc", 2..9)), (0, 0, &b"c"[..]));
        assert_eq!((run(b"aab-", 0, LOWER, 2), run_back(b"-ab", 3, LOWER, 9)), (2, 2));
    }

    #[test]
    fn lines_end_at_cr_lf_and_both() {
        let text = b"one\r\ntwo\rthree";
        assert_eq!((line_end(text, 0, 99), past_line_end(text, 3)), (3, 5));
        assert_eq!((line_start(text, 7, 99), line_start(text, 12, 99)), (5, 9));
    }
}
