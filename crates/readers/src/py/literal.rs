//! Numbers, strings and f-strings.

use plugward_types::Part;

use super::scan::{OpenBracket, Scanner};
use super::token::{BYTES, ESCAPED, FORMATTED, RAW, SPEC, TokenKind};
use crate::program::offset;
use crate::reading::{Piece, PieceKind};

/// The most unclosed quotes per line after which the text is read again as code.
///
/// The rest of the line is text only, so that a line of quotes takes linear time.
const TRIES: u32 = 8;

/// Returns `true` if letters before a quote are a string prefix.
pub(super) fn is_prefix(name: &[u8]) -> bool {
    match name {
        [one] => matches!(one | 0x20, b'r' | b'b' | b'u' | b'f' | b't'),
        [one, two] => {
            matches!((one | 0x20, two | 0x20), (b'r', b'b' | b'f' | b't') | (b'b' | b'f' | b't', b'r'))
        }
        _ => false,
    }
}

impl Scanner<'_> {
    pub(super) fn number(&mut self) {
        let start = self.at;
        let radix = self.ahead(1) | 0x20;
        if self.ahead(0) == b'0' && matches!(radix, b'x' | b'o' | b'b') {
            self.skip(2);
            self.digits(|byte| byte.is_ascii_digit() || (radix == b'x' && byte.is_ascii_hexdigit()));
        } else {
            self.digits(|byte| byte.is_ascii_digit());
            self.skip(usize::from(self.ahead(0) == b'.'));
            self.digits(|byte| byte.is_ascii_digit());
            let sign = if matches!(self.ahead(1), b'+' | b'-') { 2 } else { 1 };
            if self.ahead(0) | 0x20 == b'e' && self.ahead(sign).is_ascii_digit() {
                self.skip(sign);
                self.digits(|byte| byte.is_ascii_digit());
            }
            self.skip(usize::from(self.ahead(0) | 0x20 == b'j'));
        }
        self.push(TokenKind::Number, start, 0);
    }

    fn digits(&mut self, is_digit: impl Fn(u8) -> bool) {
        while is_digit(self.ahead(0)) || (self.ahead(0) == b'_' && is_digit(self.ahead(1))) {
            self.skip(1);
        }
    }

    /// Reads a string. `start` is the offset of its prefix, and the scanner is at its quote.
    pub(super) fn string(&mut self, start: usize) {
        let byte = self.ahead(0);
        let flags = self.source.part(start..self.at).iter().map(|letter| match letter | 0x20 {
            b'r' => RAW,
            b'b' => BYTES,
            b'f' | b't' => FORMATTED,
            _ => 0,
        });
        // An empty string `''` is not the start of a triple-quoted one, which needs three quotes.
        let count = if self.ahead(1) == byte && self.ahead(2) == byte { 3 } else { 1 };
        let quote = OpenBracket { index: 0, byte, count, flags: flags.fold(0, |all, flag| all | flag) };
        self.skip(usize::from(count));
        self.text(quote, TokenKind::String, start);
    }

    /// Reads the text of a string to a replacement field or its end. `kind` is `Middle` after a field.
    pub(super) fn text(&mut self, mut quote: OpenBracket, kind: TokenKind, mut start: usize) {
        let mut from = self.at;
        let mut escaped = 0;
        let (open, last) = if kind == TokenKind::String {
            (TokenKind::Head, TokenKind::String)
        } else {
            (TokenKind::Middle, TokenKind::Tail)
        };
        loop {
            self.skip(self.plain(quote));
            let byte = self.ahead(0);
            let flags = quote.flags | escaped;
            let is_spec = quote.flags & SPEC != 0;
            let is_last = byte == quote.byte && (quote.count == 1 || self.is_triple(byte));
            match byte {
                _ if self.at >= self.source.len() => return self.unclosed(quote, last, start, from, flags),
                b'\n' | b'\r' if quote.count == 1 => return self.unclosed(quote, last, start, from, flags),
                b'\\' => {
                    escaped = ESCAPED;
                    self.escape(quote);
                }
                _ if is_last => {
                    self.skip(usize::from(quote.count));
                    return self.part(last, start, from, quote.count, flags);
                }
                // Doubled braces stand for one brace.
                b'{' | b'}' if byte == self.ahead(1) && !is_spec => self.skip(2),
                b'{' => {
                    self.part(open, start, from, 0, flags);
                    self.brace(TokenKind::Hole, quote.flags & SPEC);
                    return self.open(quote);
                }
                b'}' if is_spec => {
                    // The field of this format specifier ends here.
                    self.part(TokenKind::Middle, start, from, 0, flags);
                    self.brace(TokenKind::HoleEnd, 0);
                    quote.flags &= !SPEC;
                    (start, from, escaped) = (self.at, self.at, 0);
                }
                _ => self.skip(1),
            }
        }
    }

    fn is_triple(&self, byte: u8) -> bool {
        self.ahead(1) == byte && self.ahead(2) == byte
    }

    pub(super) fn brace(&mut self, kind: TokenKind, flags: u8) {
        self.skip(1);
        self.push(kind, self.at.saturating_sub(1), flags);
    }

    /// Returns the number of bytes before the next one with a meaning in a string.
    fn plain(&self, quote: OpenBracket) -> usize {
        let rest = self.source.part(self.at..);
        let is_single = quote.count == 1;
        let found = if quote.flags & FORMATTED != 0 {
            rest.iter().position(|byte| {
                *byte == quote.byte
                    || matches!(byte, b'\\' | b'{' | b'}')
                    || (is_single && matches!(byte, b'\n' | b'\r'))
            })
        } else if is_single {
            rest.iter().position(|byte| *byte == quote.byte || matches!(byte, b'\\' | b'\n' | b'\r'))
        } else {
            memchr::memchr2(quote.byte, b'\\', rest)
        };
        found.unwrap_or(rest.len())
    }

    fn escape(&mut self, quote: OpenBracket) {
        let len = match self.ahead(1) {
            b'N' if quote.flags & RAW == 0 && self.ahead(2) == b'{' => {
                let rest = self.source.part(self.at..);
                rest.iter().take(128).position(|byte| *byte == b'}' || *byte == quote.byte).unwrap_or(2)
            }
            // A backslash does not escape the brace of a replacement field.
            b'{' | b'}' if quote.flags & FORMATTED != 0 => 1,
            b'\r' if self.ahead(2) == b'\n' => 3,
            _ => 2,
        };
        self.at = (self.at + len).min(self.source.len());
    }

    fn part(&mut self, kind: TokenKind, start: usize, from: usize, closes: u8, flags: u8) {
        let opens = u8::try_from(from.saturating_sub(start)).unwrap_or(u8::MAX);
        self.push_text(kind, start, flags, opens, closes);
        if self.at > from + usize::from(closes) {
            let is_escaped = flags & ESCAPED != 0 && flags & RAW == 0;
            let (start, end) = (offset(start), offset(self.at));
            self.scan.pieces.push(Piece { kind: PieceKind::String, start, end, is_escaped });
        }
    }

    /// Ends an unclosed string.
    ///
    /// Text after a single quote is read again as code. Text after triple quotes is the rest of the file, so
    /// it is recorded as unsure instead.
    fn unclosed(&mut self, quote: OpenBracket, last: TokenKind, start: usize, from: usize, flags: u8) {
        self.part(last, start, from, 0, flags);
        if quote.count == 3 {
            self.scan.unsure.push((offset(from), offset(self.at)));
        } else if last == TokenKind::String {
            let tries = if self.unclosed.0 == self.at { self.unclosed.1.saturating_add(1) } else { 1 };
            self.unclosed = (self.at, tries);
            // Scanning continues after the opening quote.
            if tries <= TRIES {
                self.at = from;
            }
        }
    }
}
