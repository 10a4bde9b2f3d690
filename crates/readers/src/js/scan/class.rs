//! Classes of bytes.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteClass {
    Special,
    Blank,
    Word,
    Digit,
    Quote,
    RegexLine,
    Wide,
    /// Punctuation that does not open or close anything.
    Plain,
}

static CLASSES: [ByteClass; 256] = {
    let mut table = [ByteClass::Special; 256];
    let mut index = 0_usize;
    while index < 256 {
        #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "index is below 256")]
        {
            table[index] = match index as u8 {
                b' ' | b'\t' | 0x0B | 0x0C => ByteClass::Blank,
                b'\n' | b'\r' => ByteClass::RegexLine,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => ByteClass::Word,
                b'0'..=b'9' => ByteClass::Digit,
                b'"' | b'\'' => ByteClass::Quote,
                0x80..=0xFF => ByteClass::Wide,
                b'.' | b',' | b';' | b':' | b'?' => ByteClass::Plain,
                _ => ByteClass::Special,
            };
        }
        index += 1;
    }
    table
};

#[inline]
pub(super) fn class(byte: u8) -> ByteClass {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(ByteClass::Special)
}

#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    matches!(class(byte), ByteClass::Word | ByteClass::Digit)
}

#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(class(byte), ByteClass::Blank | ByteClass::RegexLine)
}

/// Returns the length of a non-ASCII space or line break.
pub(super) fn wide_blank(rest: &[u8]) -> Option<usize> {
    match rest {
        [0xC2, 0xA0, ..] => Some(2),
        [0xE1, 0x9A, 0x80, ..]
        | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..]
        | [0xE2, 0x81, 0x9F, ..]
        | [0xE3, 0x80, 0x80, ..]
        | [0xEF, 0xBB, 0xBF, ..] => Some(3),
        _ => None,
    }
}

/// Returns `true` if a text starts with U+2028 or U+2029, which end a line.
pub(super) const fn is_separator(rest: &[u8]) -> bool {
    matches!(rest, [0xE2, 0x80, 0xA8 | 0xA9, ..])
}
