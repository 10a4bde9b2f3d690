//! The canonical JSON of records.
//!
//! The hash chain needs exactly one text for each record: keys in a fixed order, no whitespace, integers
//! below 2^53, and a fixed set of escapes, which also covers C1 control and bidi characters that `serde_json`
//! writes as they are. The reader rejects every other spelling and reports the offset at which a line
//! differs. `serde_json` accepts other spellings and has no such report, and its handling of nesting, large
//! numbers and unpaired surrogates would move the border between a torn and a broken line. So reader and
//! writer are here, and tests compare them with `serde_json`.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::borrow::Cow;

use plugward_types::hex;

/// The maximum nesting of a value, not counting the record.
pub(crate) const MAX_DEPTH: usize = 16;
/// The maximum nesting of a line of a later version before it counts as damaged. It bounds the recursion.
const MAX_SKIP: usize = 64;
/// The first integer that a reader with only floating-point numbers could get wrong.
const TOO_BIG: u64 = 1 << 53;

/// The offset of a format error, and what was expected there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonFault {
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
}

/// A line under construction. The first value that the format does not allow is stored as the fault.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) out: Vec<u8>,
    pub(crate) fault: Option<&'static str>,
}

impl Writer {
    pub(crate) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn number(&mut self, value: u64) {
        // Other readers store numbers as 64-bit floats, which are exact only below 2^53.
        if value >= TOO_BIG {
            self.fault = self.fault.or(Some("a number of 2^53 or above"));
        }
        push_number(&mut self.out, value);
    }

    pub(crate) fn key(&mut self, key: &str) {
        self.raw(",\"");
        self.raw(key);
        self.raw("\":");
    }

    pub(crate) fn text(&mut self, text: &str) {
        push_text(&mut self.out, text);
    }
}

pub(crate) fn push_number(out: &mut Vec<u8>, value: u64) {
    let mut digits = [0_u8; 20];
    let mut rest = value;
    let mut used = 0_usize;
    // Written by hand, because a number is written in each record and `to_string` allocates.
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        used += 1;
        if rest == 0 {
            break;
        }
    }
    out.extend(digits.iter().skip(digits.len() - used));
}

/// Returns `true` for characters that are escaped in the canonical form.
///
/// Part of the format: a record is hashed in this form, so the set never changes. Readers that print a record escape
/// whatever else is not displayed.
const fn must_escape(c: char) -> bool {
    matches!(c,
        // More than JSON requires: a ledger is read in terminals, where bidi controls could reorder a record.
        '\0'..='\u{1f}' | '"' | '\\' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'"' && *byte != b'\\';
    // Most texts are plain ASCII and are copied as a whole.
    if text.as_bytes().iter().all(plain) {
        out.extend_from_slice(text.as_bytes());
    } else {
        for c in text.chars() {
            match c {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                c if must_escape(c) => {
                    // All of them are in the basic multilingual plane, so one escape is enough.
                    let code = u32::from(c).to_be_bytes();
                    out.extend_from_slice(b"\\u");
                    hex::push(out, code.get(2..).unwrap_or(&[]));
                }
                c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }
    out.push(b'"');
}

/// Counts the bytes of a text before its end, an escape, or a control character.
fn plain(rest: &[u8]) -> usize {
    let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    let text = rest.get(..end).unwrap_or(rest);
    text.iter().position(|byte| *byte < b' ').unwrap_or(end)
}

/// A parser for one line without the LF.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Whether an object was just opened, so that its first key has no leading comma.
    fresh: bool,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, fresh: false }
    }

    pub(crate) const fn fault(&self, expected: &'static str) -> JsonFault {
        JsonFault { at: self.at, expected }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or("")
    }

    fn step(&mut self, by: usize) {
        self.at += by;
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let there = self.bytes().starts_with(text.as_bytes());
        if there {
            self.step(text.len());
        }
        there
    }

    pub(crate) fn want(&mut self, text: &str, expected: &'static str) -> Result<(), JsonFault> {
        if self.eat(text) { Ok(()) } else { Err(self.fault(expected)) }
    }

    pub(crate) fn open_object(&mut self) -> Result<(), JsonFault> {
        self.want("{", "an object")?;
        self.fresh = true;
        Ok(())
    }

    /// Consumes `,"key":`, or `"key":` at the start of an object, if it is next.
    pub(crate) fn eat_key(&mut self, key: &str) -> bool {
        // Keys have a fixed order and no blanks around them, so a comparison of bytes replaces a parser of
        // objects.
        let front: &[u8] = if self.fresh { b"\"" } else { b",\"" };
        let there = self
            .bytes()
            .strip_prefix(front)
            .and_then(|rest| rest.strip_prefix(key.as_bytes()))
            .is_some_and(|rest| rest.starts_with(b"\":"));
        if there {
            self.step(front.len() + key.len() + 2);
            self.fresh = false;
        }
        there
    }

    pub(crate) fn end(&self) -> Result<(), JsonFault> {
        if self.at == self.text.len() { Ok(()) } else { Err(self.fault("the end of the line")) }
    }

    pub(crate) fn number(&mut self) -> Result<u64, JsonFault> {
        let start = self.fault("an integer from 0 below 2^53");
        let mut value = 0_u64;
        let mut digits = 0_usize;
        for byte in self.bytes() {
            // Saturating: a number that overflows is above the limit, and rejected below.
            if !byte.is_ascii_digit() {
                break;
            }
            value = value.saturating_mul(10).saturating_add(u64::from(byte.wrapping_sub(b'0')));
            digits += 1;
        }
        // One text for each number, since records are hashed as text.
        let leading_zero = digits > 1 && self.peek() == Some(b'0');
        if digits == 0 || leading_zero || value >= TOO_BIG {
            return Err(start);
        }
        self.step(digits);
        Ok(value)
    }

    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, JsonFault> {
        self.want("\"", "a string")?;
        let from = self.at;
        self.step(plain(self.bytes()));
        if self.peek() == Some(b'"') {
            let text = self.since(from);
            self.step(1);
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::from(self.since(from));
        loop {
            let from = self.at;
            self.step(plain(self.bytes()));
            text.push_str(self.since(from));
            match self.peek() {
                Some(b'"') => {
                    self.step(1);
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.fault("a string without control characters that ends with a quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonFault> {
        let bad = self.fault("an escape of JSON");
        self.step(1);
        let c = match self.peek().ok_or(bad)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(bad),
            _ => return Err(bad),
        };
        self.step(1);
        Ok(c)
    }

    fn unicode(&mut self, bad: JsonFault) -> Result<char, JsonFault> {
        let high = self.unit().ok_or(bad)?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        // A surrogate: the first half of a pair, or an error.
        if high >= 0xdc00 || self.peek() != Some(b'\\') {
            return Err(bad);
        }
        self.step(1);
        let low = self.unit().filter(|low| (0xdc00..=0xdfff).contains(low)).ok_or(bad)?;
        let code = 0x1_0000_u32.saturating_add((high & 0x3ff) << 10).saturating_add(low & 0x3ff);
        char::from_u32(code).ok_or(bad)
    }

    fn unit(&mut self) -> Option<u32> {
        let unit = hex::number(self.bytes().strip_prefix(b"u")?.get(..4)?)?;
        self.step(5);
        Some(unit)
    }

    /// Skips one value of any JSON, with whitespace.
    pub(crate) fn skip(&mut self) -> Result<(), JsonFault> {
        self.skip_at(MAX_SKIP)
    }

    fn blanks(&mut self) {
        let blanks =
            self.bytes().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        self.step(blanks);
    }

    fn skip_at(&mut self, depth: usize) -> Result<(), JsonFault> {
        let Some(below) = depth.checked_sub(1) else { return Err(self.fault("less nesting")) };
        self.blanks();
        match self.peek() {
            Some(b'{') => self.skip_items(below, "}"),
            Some(b'[') => self.skip_items(below, "]"),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            _ if self.eat("true") || self.eat("false") || self.eat("null") => Ok(()),
            _ => Err(self.fault("a value")),
        }
    }

    fn skip_items(&mut self, below: usize, close: &'static str) -> Result<(), JsonFault> {
        self.step(1);
        self.blanks();
        if self.eat(close) {
            return Ok(());
        }
        loop {
            if close == "}" {
                self.blanks();
                self.string()?;
                self.blanks();
                self.want(":", "a colon")?;
            }
            self.skip_at(below)?;
            self.blanks();
            if self.eat(close) {
                return Ok(());
            }
            self.want(",", "a comma or the end of the list")?;
        }
    }

    fn digits(&mut self) -> Result<usize, JsonFault> {
        let digits = self.bytes().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.fault("a digit"));
        }
        self.step(digits);
        Ok(digits)
    }

    fn skip_number(&mut self) -> Result<(), JsonFault> {
        self.eat("-");
        let zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && zero {
            return Err(self.fault("a number without leading zeros"));
        }
        if self.eat(".") {
            self.digits()?;
        }
        if self.eat("e") || self.eat("E") {
            if !self.eat("+") {
                self.eat("-");
            }
            self.digits()?;
        }
        Ok(())
    }
}

/// Returns `true` if the line is a single JSON object with any members.
pub(crate) fn is_object(line: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(line) else { return false };
    let mut reader = Reader::new(text);
    reader.blanks();
    if reader.peek() != Some(b'{') || reader.skip().is_err() {
        return false;
    }
    reader.blanks();
    reader.end().is_ok()
}
