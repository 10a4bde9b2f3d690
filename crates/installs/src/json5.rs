//! Rewrites JSON5 as JSON, so that the strict parser reads it. Lines stay the same.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use core::fmt::Write as _;

/// Returns JSON, except for trailing commas. What is invalid in JSON5 is invalid in the result too.
pub(crate) fn normalized(text: &str) -> String {
    let mut writer = Writer { rest: text, out: String::with_capacity(text.len()), lines: 0 };
    while let Some(first) = writer.rest.chars().next() {
        writer.token(first);
    }
    writer.out
}

struct Writer<'t> {
    rest: &'t str,
    out: String,
    /// The line breaks inside a string, which JSON does not allow there.
    lines: usize,
}

impl<'t> Writer<'t> {
    fn token(&mut self, first: char) {
        match first {
            '"' | '\'' => self.string(first),
            '/' if self.rest.starts_with("//") => {
                let end = self.rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(self.rest.len());
                self.take(end);
            }
            '/' if self.rest.starts_with("/*") => match self.rest.find("*/") {
                Some(end) => {
                    let comment = self.take(end + 2);
                    self.out.extend(comment.chars().filter(|c| *c == '\n').chain([' ']));
                }
                // No host accepts an open comment.
                None => self.copy(),
            },
            '+' | '-' | '.' | '0'..='9' => self.number(),
            _ if is_name(first) => self.name(),
            _ if first.is_whitespace() && !matches!(first, '\n' | '\r') => {
                self.take(first.len_utf8());
                self.out.push(' ');
            }
            _ => self.copy(),
        }
    }

    /// Removes and returns the start of the rest.
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.take(next.len_utf8());
        Some(next)
    }

    fn copy(&mut self) {
        let next = self.next();
        self.out.extend(next);
    }

    fn string(&mut self, quote: char) {
        self.take(1);
        self.out.push('"');
        while let Some(next) = self.next() {
            match next {
                _ if next == quote => break,
                '"' => self.out.push_str("\\\""),
                '\\' => self.escape(),
                _ => self.out.push(next),
            }
        }
        self.out.push('"');
        self.out.extend(core::iter::repeat_n('\n', core::mem::take(&mut self.lines)));
    }

    fn escape(&mut self) {
        match self.next() {
            Some(escape @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => {
                self.out.extend(['\\', escape]);
            }
            Some('x') => {
                self.out.push_str("\\u00");
                let digits = self.take(2);
                self.out.push_str(digits);
            }
            Some('v') => self.out.push_str("\\u000b"),
            Some('0') => self.out.push_str("\\u0000"),
            // A line break after a backslash continues the string.
            Some('\r') => {
                let length = usize::from(self.rest.starts_with('\n'));
                self.take(length);
                self.lines += length;
            }
            Some('\n') => self.lines += 1,
            Some('\u{2028}' | '\u{2029}') | None => {}
            Some(other) => self.out.push(other),
        }
    }

    /// Writes a number in the notation of JSON.
    fn number(&mut self) {
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'));
        let word = self.take(length.unwrap_or(self.rest.len()));
        let (sign, digits) = match word.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", word.strip_prefix('+').unwrap_or(word)),
        };
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        if let Some(value) = hex.and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
            let _infallible = write!(self.out, "{sign}{value}");
            return;
        }
        // `Infinity` and `NaN` have no number in JSON.
        if digits.starts_with(['I', 'N']) {
            let _infallible = write!(self.out, "\"{word}\"");
            return;
        }
        let zero = if digits.starts_with('.') { "0" } else { "" };
        let (whole, rest) =
            digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
        let _infallible = match rest {
            // `5.` and `5.e3` have no digits after the point.
            Some(rest) if !rest.starts_with(|c: char| c.is_ascii_digit()) => {
                write!(self.out, "{sign}{zero}{whole}{rest}")
            }
            Some(rest) => write!(self.out, "{sign}{zero}{whole}.{rest}"),
            None => write!(self.out, "{sign}{whole}"),
        };
    }

    /// Writes a name: a key without quotes, or one of the words of JSON.
    fn name(&mut self) {
        let end = self.rest.find(|c: char| !is_name(c) && !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let word = self.take(end);
        match word {
            "true" | "false" | "null" if !self.is_key() => self.out.push_str(word),
            _ => {
                let _infallible = write!(self.out, "\"{word}\"");
            }
        }
    }

    /// Returns `true` if a colon is next.
    fn is_key(&self) -> bool {
        let mut rest = self.rest.trim_start();
        loop {
            let after = if let Some(line) = rest.strip_prefix("//") {
                line.split_once('\n').map_or("", |(_, after)| after)
            } else if let Some(block) = rest.strip_prefix("/*") {
                block.split_once("*/").map_or("", |(_, after)| after)
            } else {
                return rest.starts_with(':');
            };
            rest = after.trim_start();
        }
    }
}

/// Returns `true` for a character of a name. An escape in a name is the same in a string.
fn is_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$' | '\\')
}
