//! Parses words, numbers and strings.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::borrow::Cow;

use plugward_types::{Part, Span};

use super::escape::{Unescaped, unescape};
use super::parse::{Parser, Stop};
use super::{JsonErrorKind, JsonNumber, JsonSyntaxError, JsonValue};

impl<'a> Parser<'a> {
    pub(super) fn word(&mut self) -> Result<JsonValue<'a>, Stop> {
        let rest = self.bytes.part(self.at..);
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let word = rest.part(..length);
        let value = match word {
            b"true" => JsonValue::Bool(true),
            b"false" => JsonValue::Bool(false),
            b"null" => JsonValue::Null,
            _ => return Err(self.no_value(word)),
        };
        self.skip(length);
        Ok(value)
    }

    /// Reports why no value starts here. Common mistakes get their own message.
    fn no_value(&mut self, word: &[u8]) -> Stop {
        let syntax = match self.peek() {
            None => JsonSyntaxError::Unclosed,
            Some(b'\'') => JsonSyntaxError::SingleQuote,
            Some(b'/' | b'#') => JsonSyntaxError::Comment,
            Some(b'+') => JsonSyntaxError::PlusSign,
            Some(b'.') => JsonSyntaxError::BadNumber,
            _ if matches!(word, b"NaN" | b"Infinity") => JsonSyntaxError::NotANumber,
            _ if !word.is_empty() => JsonSyntaxError::UnknownWord,
            _ => JsonSyntaxError::Unexpected,
        };
        self.syntax(syntax)
    }

    /// Parses the most common kind of number: digits, followed by the end of the value.
    ///
    /// Returns `None` for every other number, which [`Self::number`] parses in full.
    pub(super) fn plain_integer(&mut self) -> Option<JsonNumber<'a>> {
        let rest = self.bytes.get(self.at..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (first, end) = (rest.first()?, rest.get(digits)?);
        let is_whole = digits == 1 || (digits > 1 && *first != b'0');
        if !is_whole || !matches!(end, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t') {
            return None;
        }
        let text = self.text.get(self.at..self.at + digits)?;
        self.skip(digits);
        Some(JsonNumber(text))
    }

    /// Parses any number by the grammar of RFC 8259.
    pub(super) fn number(&mut self) -> Result<JsonNumber<'a>, Stop> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.skip(1);
            if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"Infinity")) {
                return Err(self.syntax_at(JsonSyntaxError::NotANumber, start));
            }
        }
        let zero = self.peek() == Some(b'0');
        let whole = self.digits()?;
        if zero && whole > 1 {
            return Err(self.syntax_at(JsonSyntaxError::LeadingZero, start));
        }
        if self.peek() == Some(b'.') {
            self.skip(1);
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.skip(1);
            if let Some(b'+' | b'-') = self.peek() {
                self.skip(1);
            }
            self.digits()?;
        }
        // `1x` and `1.2.3` would otherwise be reported as a missing comma.
        if self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')) {
            return Err(self.syntax(JsonSyntaxError::BadNumber));
        }
        Ok(JsonNumber(self.text.part(start..self.at)))
    }

    /// Skips at least one digit.
    fn digits(&mut self) -> Result<usize, Stop> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.skip(1);
        }
        let count = self.at - start;
        if count == 0 { Err(self.syntax(JsonSyntaxError::BadNumber)) } else { Ok(count) }
    }

    /// Parses a string, whose opening quote is the next byte.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Stop> {
        let open = self.at;
        self.skip(1);
        let start = self.at;
        let mut escaped = false;
        loop {
            self.skip(plain_run(self.bytes.part(self.at..)));
            match self.peek() {
                Some(b'"') => break,
                // The escape itself is checked by `unescape`; here only an escaped quote must not end the string.
                Some(b'\\') => {
                    escaped = true;
                    self.skip(1);
                    if self.peek().is_some() {
                        self.skip(1);
                    }
                }
                Some(_) => return Err(self.syntax(JsonSyntaxError::ControlInString)),
                None => return Err(self.syntax_at(JsonSyntaxError::UnclosedString, open)),
            }
        }
        let raw = self.text.part(start..self.at);
        self.skip(1);
        // Most strings have no escapes and are borrowed from the file.
        let text = if escaped { self.unescaped(raw, start)? } else { Cow::Borrowed(raw) };
        if text.len() > self.limits.string() {
            let kind = JsonErrorKind::StringTooLong { limit: self.limits.string() };
            return Err(self.report(kind, Span::new(open, self.at), None));
        }
        Ok(text)
    }

    /// Decodes a string. Half a surrogate pair is reported without ending the parsing, so that all are listed.
    fn unescaped(&mut self, raw: &'a str, start: usize) -> Result<Cow<'a, str>, Stop> {
        match unescape(raw) {
            Unescaped::Text(text) => Ok(Cow::Owned(text)),
            Unescaped::Half(text, offset) => {
                let at = start + offset;
                let Stop = self.report(JsonErrorKind::Surrogate, Span::new(at, at + 6), None);
                Ok(Cow::Owned(text))
            }
            Unescaped::Bad(syntax, offset) => Err(self.syntax_at(syntax, start + offset)),
        }
    }
}

/// Returns the number of bytes before the next quote, backslash or control character.
///
/// Eight bytes are tested at a time. A byte of `x - 0x01…` and `!x` has its high bit set only where `x` has a zero byte
/// (or after one), and `x` is the word xored with the byte to find.
fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let mut count = 0_usize;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or([0; 8]));
        let quote = word ^ (ONES.wrapping_mul(0x22));
        let slash = word ^ (ONES.wrapping_mul(0x5C));
        let hit = (quote.wrapping_sub(ONES) & !quote)
            | (slash.wrapping_sub(ONES) & !slash)
            | (word.wrapping_sub(ONES.wrapping_mul(0x20)) & !word);
        let hit = hit & HIGHS;
        if hit != 0 {
            return count + (hit.trailing_zeros() / 8) as usize;
        }
        count += 8;
    }
    let tail = chunks.remainder().iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)).count();
    count + tail
}
