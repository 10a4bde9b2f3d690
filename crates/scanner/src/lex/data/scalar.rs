//! Scalars: a key or value, its place in the file and its decoded text.

use plugward_types::{Part, hex};

use crate::text::view::{Obfuscations, View};

/// A key or value as it was written.
#[derive(Debug)]
pub(super) struct Scalar {
    /// The whole token, quotes included.
    pub(super) span: (usize, usize),
    pub(super) body: ScalarText,
}

#[derive(Debug)]
pub(super) enum ScalarText {
    /// The bytes of a range, unchanged.
    Range(usize, usize),
    /// Decoded text with a map to the source.
    View(View),
}

impl Scalar {
    /// Creates a scalar without quotes and escapes.
    pub(super) const fn range(start: usize, end: usize) -> Self {
        Self { span: (start, end), body: ScalarText::Range(start, end) }
    }

    pub(super) fn bytes<'a>(&'a self, src: &'a [u8]) -> &'a [u8] {
        match &self.body {
            ScalarText::Range(start, end) => src.part(*start..*end),
            ScalarText::View(view) => &view.bytes,
        }
    }

    /// Returns the obfuscation that was undone to read the scalar.
    pub(super) fn how(&self) -> Obfuscations {
        match &self.body {
            ScalarText::Range(..) => Obfuscations::NONE,
            ScalarText::View(view) if view.is_empty() => Obfuscations::NONE,
            ScalarText::View(view) => view.map.back(0, view.bytes.len()).2,
        }
    }

    /// Maps a range of the decoded text to the source.
    pub(super) fn back(&self, start: usize, end: usize) -> (usize, usize, Obfuscations) {
        match &self.body {
            ScalarText::Range(from, to) => {
                let at = |offset: usize| (from + offset).min(*to);
                (at(start), at(end), Obfuscations::NONE)
            }
            ScalarText::View(view) => view.map.back(start, end),
        }
    }

    /// Appends part of the decoded text to another view.
    pub(super) fn append(
        &self,
        src: &[u8],
        range: core::ops::Range<usize>,
        how: Obfuscations,
        view: &mut View,
    ) {
        match &self.body {
            ScalarText::Range(from, _) => {
                let bytes = self.bytes(src).part(range.clone());
                view.copy(bytes, from + range.start, how, 0);
            }
            ScalarText::View(own) => {
                for (at, byte) in range.clone().zip(own.bytes.part(range)) {
                    let (from, to, undone) = own.map.back(at, at + 1);
                    view.put(core::slice::from_ref(byte), (from, to), how.and(undone), 0);
                }
            }
        }
    }

    /// Returns a copy if the scalar is a plain range.
    pub(super) const fn copied(&self) -> Option<Self> {
        match self.body {
            ScalarText::Range(start, end) => {
                Some(Self { span: self.span, body: ScalarText::Range(start, end) })
            }
            ScalarText::View(_) => None,
        }
    }
}

/// The escape syntax of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EscapeSyntax {
    /// JSON and JSON5.
    Json,
    /// TOML basic strings.
    Toml,
    /// YAML double quotes, in which a line break is a space.
    Yaml,
    /// Settings files, in which a backslash quotes the next byte.
    Plain,
}

/// The value of an escape, and its length in bytes.
struct DecodedEscape {
    value: Option<u32>,
    len: usize,
    /// Set if digits spell the character, as in `\u0041`.
    spelled: bool,
}

/// Reads `count` hexadecimal digits.
fn digits(rest: &[u8], from: usize, count: usize) -> Option<u32> {
    rest.get(from..from + count).and_then(hex::number)
}

/// Reads the escape at the start of `rest`, which begins with a backslash.
fn read_escape(rest: &[u8], escapes: EscapeSyntax) -> DecodedEscape {
    let unit = |value: u32| DecodedEscape { value: Some(value), len: 2, spelled: false };
    let spelled = |count: usize, value: Option<u32>| match value {
        Some(value) => DecodedEscape { value: Some(value), len: count + 2, spelled: true },
        None => DecodedEscape { value: rest.get(1).copied().map(u32::from), len: 2, spelled: false },
    };
    let Some(mark) = rest.get(1) else {
        return DecodedEscape { value: Some(u32::from(b'\\')), len: 1, spelled: false };
    };
    match mark {
        b'\r' if rest.get(2) == Some(&b'\n') => DecodedEscape { value: None, len: 3, spelled: false },
        b'\n' | b'\r' => DecodedEscape { value: None, len: 2, spelled: false },
        b'n' => unit(10),
        b't' => unit(9),
        b'r' => unit(13),
        b'b' => unit(8),
        _ if escapes == EscapeSyntax::Plain => unit(u32::from(*mark)),
        b'f' => unit(12),
        b'v' => unit(11),
        b'x' => spelled(2, digits(rest, 2, 2)),
        b'u' => match digits(rest, 2, 4) {
            Some(high @ 0xD800..=0xDBFF) if rest.get(6..8) == Some(b"\\u") => match digits(rest, 8, 4) {
                Some(low @ 0xDC00..=0xDFFF) => {
                    let top = high.saturating_sub(0xD800) << 10;
                    let value = 0x1_0000_u32.saturating_add(top).saturating_add(low.saturating_sub(0xDC00));
                    DecodedEscape { value: Some(value), len: 12, spelled: true }
                }
                _ => spelled(4, Some(high)),
            },
            value => spelled(4, value),
        },
        b'U' if escapes != EscapeSyntax::Json => spelled(8, digits(rest, 2, 8)),
        b'e' if escapes != EscapeSyntax::Json => unit(0x1B),
        b'a' if escapes == EscapeSyntax::Yaml => unit(7),
        b'0' => unit(0),
        b'N' if escapes == EscapeSyntax::Yaml => unit(0x85),
        b'_' if escapes == EscapeSyntax::Yaml => unit(0xA0),
        b'L' if escapes == EscapeSyntax::Yaml => unit(0x2028),
        b'P' if escapes == EscapeSyntax::Yaml => unit(0x2029),
        other if other.is_ascii() => unit(u32::from(*other)),
        // An unknown escape of a multi-byte character: only the backslash is dropped.
        _ => DecodedEscape { value: None, len: 1, spelled: false },
    }
}

/// Decodes a string body. Printable ASCII that is spelled with digits counts as obfuscation.
pub(super) fn decode(src: &[u8], start: usize, end: usize, escapes: EscapeSyntax) -> View {
    let mut view = View::default();
    let mut at = start;
    while at < end {
        let rest = src.part(at..end);
        let plain = match escapes {
            EscapeSyntax::Yaml => memchr::memchr3(b'\\', b'\n', b'\r', rest),
            _ => memchr::memchr(b'\\', rest),
        };
        let plain = plain.unwrap_or(rest.len());
        let (text, rest) = rest.split_at(plain);
        let broken = escapes == EscapeSyntax::Yaml && rest.first().is_some_and(|byte| *byte != b'\\');
        let text = if broken { text.trim_ascii_end() } else { text };
        view.copy(text, at, Obfuscations::NONE, 0);
        at += plain;
        if rest.is_empty() {
            break;
        }
        if broken {
            at = fold(src, at, end, &mut view);
            continue;
        }
        let unit = read_escape(rest, escapes);
        let range = (at, (at + unit.len).min(end));
        match unit.value {
            Some(value) => {
                let how = if unit.spelled && (0x20..0x7F).contains(&value) {
                    Obfuscations::ESCAPE
                } else {
                    Obfuscations::NONE
                };
                let char = char::from_u32(value).unwrap_or('\u{FFFD}');
                view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), range, how, 0);
            }
            // An escaped line break continues the line; the indentation of the next line is dropped.
            None if escapes != EscapeSyntax::Json && unit.len > 1 => {
                let tail = src.part(range.1..end);
                let blanks = tail.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                at = range.1 + blanks;
                continue;
            }
            None => {}
        }
        at = range.1.max(at + 1);
    }
    view
}

/// Folds line breaks and the spaces around them as YAML does: one break becomes a space, more become breaks.
pub(super) fn fold(src: &[u8], at: usize, end: usize, view: &mut View) -> usize {
    let rest = src.part(at..end);
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let gap = rest.part(..blanks);
    let breaks = memchr::memchr_iter(b'\n', gap).count().max(1);
    let range = (at, at + blanks);
    if breaks == 1 {
        view.put(b" ", range, Obfuscations::NONE, 0);
    } else {
        view.put(b"\n", range, Obfuscations::NONE, 0);
    }
    range.1
}
