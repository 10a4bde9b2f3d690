//! Numbers, strings, templates and comments.

use plugward_types::Part;

use super::super::token::{ESCAPED, TokenKind, UNCLOSED};
use super::{BracketKind, Scanner, is_separator, is_word, offset};

/// The number of bytes that are checked one by one before a vectorized search, because most strings are
/// shorter.
const SHORT: usize = 48;

/// Returns the next quote, backslash or line break, at which a string may end.
#[inline]
fn string_stop(src: &[u8], start: usize, quote: u8) -> usize {
    let mut end = start;
    let limit = start + SHORT;
    while let Some(&byte) = src.get(end) {
        if byte == quote || matches!(byte, b'\\' | b'\n' | b'\r') {
            return end;
        }
        end += 1;
        if end == limit {
            return long_string_stop(src, end, quote);
        }
    }
    end
}

#[cold]
fn long_string_stop(src: &[u8], start: usize, quote: u8) -> usize {
    let rest = src.part(start..);
    let len = memchr::memchr3(quote, b'\\', b'\n', rest).unwrap_or(rest.len());
    let len = memchr::memchr(b'\r', rest.part(..len)).unwrap_or(len);
    start + len
}

impl Scanner<'_> {
    pub(super) fn number(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let digits = |from: usize| {
            rest.iter().skip(from).take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
        };
        let mut len = digits(0);
        let zero = rest.first() == Some(&b'0');
        // `010` is octal and `0x10` has a radix prefix. Neither has a fraction, so a dot accesses a member.
        let octal = zero
            && len > 1
            && rest.get(..len).is_some_and(|text| text.iter().all(|byte| matches!(byte, b'0'..=b'7')));
        let prefixed = zero && len == 1 && rest.get(1).is_some_and(u8::is_ascii_alphabetic);
        if !octal && !prefixed {
            if rest.get(len) == Some(&b'.') {
                len += 1;
                len += digits(len);
            }
            // The sign of an exponent is part of the number.
            if let Some([b'e' | b'E', b'+' | b'-', ..]) = rest.get(len..) {
                len += 2;
            }
        }
        let tail = rest.iter().skip(len).take_while(|byte| is_word(**byte));
        len = (len + tail.count()).max(1);
        self.at = start + len;
        self.push(TokenKind::Number, start, self.at, 0);
        (self.operand, self.statement) = (false, false);
    }

    pub(super) fn string(&mut self, quote: u8) {
        let start = self.at;
        let mut end = start + 1;
        let mut flags = UNCLOSED;
        loop {
            end = string_stop(self.src, end, quote);
            match self.src.get(end) {
                Some(b'\\') => {
                    flags |= ESCAPED;
                    // A line continuation may end with CRLF.
                    let crlf = self.src.get(end + 1..end + 3) == Some(b"\r\n");
                    end = (end + if crlf { 3 } else { 2 }).min(self.src.len());
                }
                Some(byte) if *byte == quote => {
                    end += 1;
                    flags &= !UNCLOSED;
                    break;
                }
                _ => break,
            }
        }
        self.push_text(TokenKind::String, start, end, flags);
    }

    /// Appends a text. An unclosed text is read as code, too.
    fn push_text(&mut self, kind: TokenKind, start: usize, end: usize, flags: u8) {
        if flags & UNCLOSED != 0 {
            self.out.unsure.push((offset(start + 1), offset(end)));
        }
        self.at = end;
        self.push(kind, start, end, flags);
        (self.operand, self.statement) = (false, false);
    }

    /// Reads a template from its opening quote, or from the end of a substitution.
    pub(super) fn template(&mut self, start: usize, head: TokenKind, whole: TokenKind) {
        let mut end = start + 1;
        let mut flags = 0;
        loop {
            let rest = self.src.part(end..);
            let Some(stop) = memchr::memchr3(b'`', b'\\', b'$', rest) else {
                end = self.src.len();
                flags |= UNCLOSED;
                break;
            };
            end += stop;
            match self.src.part(end..) {
                [b'`', ..] => {
                    end += 1;
                    break;
                }
                [b'$', b'{', ..] => {
                    self.push_text(head, start, end + 2, flags);
                    self.open(BracketKind::Hole);
                    self.operand = true;
                    return;
                }
                [b'\\', ..] => {
                    flags |= ESCAPED;
                    end = (end + 2).min(self.src.len());
                }
                _ => end += 1,
            }
        }
        self.push_text(whole, start, end, flags);
    }

    pub(super) fn line_comment(&mut self) {
        let start = self.at;
        let mut end = start;
        loop {
            let rest = self.src.part(end..);
            let Some(stop) = memchr::memchr3(b'\n', b'\r', 0xE2, rest) else {
                end = self.src.len();
                break;
            };
            end += stop;
            let rest = self.src.part(end..);
            if matches!(rest, [b'\n' | b'\r', ..]) || is_separator(rest) {
                break;
            }
            end += 1;
        }
        self.out.comments.push((offset(start), offset(end)));
        self.at = end;
    }

    pub(super) fn block_comment(&mut self) {
        let start = self.at;
        let body = start + 2;
        let rest = self.src.part(body..);
        let mark = |at: &usize| at.checked_sub(1).and_then(|before| rest.get(before)) == Some(&b'*');
        let end = if let Some(len) = memchr::memchr_iter(b'/', rest).find(mark) {
            body + len + 1
        } else {
            self.out.unsure.push((offset(body), offset(self.src.len())));
            self.src.len()
        };
        let text = self.src.part(start..end);
        let separator = || memchr::memchr_iter(0xE2, text).any(|at| text.get(at..).is_some_and(is_separator));
        // A comment that spans lines counts as a line break for automatic semicolons.
        self.newline = self.newline || memchr::memchr2(b'\n', b'\r', text).is_some() || separator();
        self.out.comments.push((offset(start), offset(end)));
        self.at = end;
    }
}
