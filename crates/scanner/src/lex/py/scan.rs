//! Bytes to tokens. It never fails: what is unsure is code.

use unicode_normalization::UnicodeNormalization as _;

use super::token::{ESCAPED, FIRST, K, RAW, Tok, WIDE, pair};
use crate::names::Words;
use crate::options::Limits;

/// How often a quote that nothing closes is looked at in one line.
const TRIES: u32 = 8;

/// A bracket or a hole that is open.
#[derive(Debug, Clone, Copy)]
enum Open {
    Bracket(u8),
    Hole(Quote),
}

/// How a string ends.
#[derive(Debug, Clone, Copy)]
struct Quote {
    byte: u8,
    /// How many of them.
    count: usize,
    flags: u8,
    formatted: bool,
    /// The text behind a hole's colon is read.
    spec: bool,
}

#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) toks: Vec<Tok>,
    pub(super) comments: Vec<(u32, u32)>,
    /// Text that may be code: nothing closes its quote.
    pub(super) unsure: Vec<(usize, usize)>,
    /// Where more is open than a limit allows. The rest is tokens all the same.
    pub(super) stopped: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Scanner<'a> {
    src: &'a [u8],
    pos: usize,
    words: &'a Words,
    out: Scanned,
    stack: Vec<Open>,
    /// How many of what is open are holes.
    holes: usize,
    limits: &'a Limits,
    first: bool,
    /// The line's end up to which quotes that nothing closes were looked for, and how often.
    unclosed: (usize, u32),
}

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Gives the normal form of a name that is not ASCII.
pub(super) fn normal(name: &[u8]) -> Vec<u8> {
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        out.extend(chunk.valid().nfkc());
        if !chunk.invalid().is_empty() {
            out.push('\u{FFFD}');
        }
    }
    out.into_bytes()
}

impl<'a> Scanner<'a> {
    pub(super) fn new(src: &'a [u8], words: &'a Words, limits: &'a Limits) -> Self {
        let out = Scanned { toks: Vec::with_capacity(src.len() / 5), ..Scanned::default() };
        Self { src, pos: 0, words, out, stack: Vec::new(), holes: 0, limits, first: true, unclosed: (0, 0) }
    }

    pub(super) fn run(mut self) -> Scanned {
        if self.src.starts_with(b"\xEF\xBB\xBF") {
            self.pos = 3;
        }
        while let Some(&byte) = self.src.get(self.pos) {
            self.step(byte);
        }
        self.line();
        self.out
    }

    /// Notes what is open, and where it is more than a limit allows.
    fn open(&mut self, open: Open) {
        self.stack.push(open);
        self.holes = self.holes.saturating_add(usize::from(matches!(open, Open::Hole(_))));
        let over = self.stack.len().saturating_sub(self.holes) > self.limits.brackets
            || self.holes > self.limits.templates;
        if over && self.out.stopped.is_none() {
            self.out.stopped = Some(self.pos);
        }
    }

    fn close(&mut self) -> Option<Open> {
        let open = self.stack.pop();
        self.holes = self.holes.saturating_sub(usize::from(matches!(open, Some(Open::Hole(_)))));
        open
    }

    #[inline]
    fn at(&self, at: usize) -> u8 {
        self.src.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn push(&mut self, kind: K, start: usize, aux: u16, flags: u8) {
        let first = if self.first { FIRST } else { 0 };
        self.first = false;
        let tok = Tok { start: small(start), end: small(self.pos), aux, kind, flags: flags | first };
        self.out.toks.push(tok);
    }

    fn line(&mut self) {
        if self.stack.is_empty() && self.out.toks.last().is_some_and(|last| last.kind != K::Line) {
            self.push(K::Line, self.pos, 0, 0);
        }
        self.first = true;
    }

    #[inline]
    fn step(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | 0x0C => self.pos = self.pos.saturating_add(1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.name(),
            b'\n' | b'\r' => {
                self.line();
                self.pos = self.pos.saturating_add(1);
            }
            b'#' => self.comment(),
            b'0'..=b'9' => self.number(),
            b'.' if self.at(self.pos.saturating_add(1)).is_ascii_digit() => self.number(),
            b'\'' | b'"' => self.string(self.pos),
            b'\\' => self.backslash(),
            _ => self.operator(byte),
        }
    }

    fn comment(&mut self) {
        let rest = self.src.get(self.pos..).unwrap_or_default();
        let len = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let end = self.pos.saturating_add(len);
        self.out.comments.push((small(self.pos), small(end)));
        self.pos = end;
    }

    fn backslash(&mut self) {
        let len = match (self.at(self.pos.saturating_add(1)), self.at(self.pos.saturating_add(2))) {
            (b'\r', b'\n') => 3,
            (b'\n' | b'\r', _) => 2,
            _ => 1,
        };
        self.pos = self.pos.saturating_add(len);
    }

    #[inline]
    fn name(&mut self) {
        let start = self.pos;
        let rest = self.src.get(start..).unwrap_or_default();
        let len = rest.iter().position(|byte| !is_name(*byte)).unwrap_or(rest.len());
        let name = rest.get(..len).unwrap_or_default();
        if len <= 2 && matches!(rest.get(len), Some(b'\'' | b'"')) && is_prefix(name) {
            self.pos = start.saturating_add(len);
            self.string(start);
            return;
        }
        self.pos = start.saturating_add(len);
        if name.is_ascii() {
            let word = self.words.get(name);
            self.push(K::Name, start, word, 0);
        } else {
            let word = self.words.get(&normal(name));
            self.push(K::Name, start, word, WIDE);
        }
    }

    fn number(&mut self) {
        let start = self.pos;
        let radix = self.at(start.saturating_add(1)) | 0x20;
        let digits: fn(u8) -> bool = match (self.at(start), radix) {
            (b'0', b'x') => |byte| byte.is_ascii_hexdigit() || byte == b'_',
            (b'0', b'o' | b'b') => |byte| byte.is_ascii_digit() || byte == b'_',
            _ => |byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'.'),
        };
        let prefixed = self.at(start) == b'0' && matches!(radix, b'x' | b'o' | b'b');
        self.pos = start.saturating_add(if prefixed { 2 } else { 1 });
        self.digits(digits);
        if !prefixed {
            let sign = usize::from(matches!(self.at(self.pos.saturating_add(1)), b'+' | b'-'));
            let exponent = self.at(self.pos.saturating_add(1).saturating_add(sign)).is_ascii_digit();
            if self.at(self.pos) | 0x20 == b'e' && exponent {
                self.pos = self.pos.saturating_add(1).saturating_add(sign);
                self.digits(digits);
            }
            if self.at(self.pos) | 0x20 == b'j' {
                self.pos = self.pos.saturating_add(1);
            }
        }
        self.push(K::Num, start, 0, 0);
    }

    fn digits(&mut self, is: fn(u8) -> bool) {
        while self.pos < self.src.len() && is(self.at(self.pos)) {
            self.pos = self.pos.saturating_add(1);
        }
    }

    fn operator(&mut self, byte: u8) {
        let start = self.pos;
        let next = self.at(start.saturating_add(1));
        match byte {
            b'(' | b'[' | b'{' => self.open(Open::Bracket(byte)),
            b')' | b']' => {
                if matches!(self.stack.last(), Some(Open::Bracket(_))) {
                    self.close();
                }
            }
            b'}' => {
                while matches!(self.stack.last(), Some(Open::Bracket(b'(' | b'['))) {
                    self.close();
                }
                if let Some(Open::Hole(quote)) = self.close() {
                    self.pos = start.saturating_add(1);
                    self.push(K::Op, start, u16::from(byte), 0);
                    self.text(quote, K::Mid, self.pos, 0);
                    return;
                }
            }
            b':' => {
                if let Some(Open::Hole(quote)) = self.stack.last().copied() {
                    self.close();
                    self.pos = start.saturating_add(1);
                    self.text(Quote { spec: true, ..quote }, K::Mid, self.pos, 0);
                    return;
                }
            }
            _ => {}
        }
        let writes = b"=!<>+-*/%&|^@:".contains(&byte) && next == b'=';
        let double = writes || (byte == b'-' && next == b'>') || (byte == next && b"*/<>".contains(&byte));
        self.pos = start.saturating_add(if double { 2 } else { 1 });
        let mut aux = if double { pair(byte, next) } else { u16::from(byte) };
        if double && byte == next && self.at(self.pos) == b'=' {
            // `**=` and its like write.
            self.pos = self.pos.saturating_add(1);
            aux = pair(byte, b'=');
        }
        self.push(K::Op, start, aux, 0);
    }

    /// Reads a string; `start` is where its prefix begins, and the position at its quote.
    fn string(&mut self, start: usize) {
        let byte = self.at(self.pos);
        let prefix = self.src.get(start..self.pos).unwrap_or_default();
        let triple =
            self.at(self.pos.saturating_add(1)) == byte && self.at(self.pos.saturating_add(2)) == byte;
        let raw = prefix.iter().any(|letter| letter | 0x20 == b'r');
        let formatted = prefix.iter().any(|letter| matches!(letter | 0x20, b'f' | b't'));
        let quote = Quote {
            byte,
            count: if triple { 3 } else { 1 },
            flags: if raw { RAW } else { 0 },
            formatted,
            spec: false,
        };
        self.pos = self.pos.saturating_add(quote.count);
        self.text(quote, K::Str, start, self.pos.saturating_sub(start));
    }

    /// Reads a string's text up to a hole or its end.
    fn text(&mut self, quote: Quote, kind: K, start: usize, opens: usize) {
        let from = self.pos;
        let mut flags = quote.flags;
        loop {
            let rest = self.src.get(self.pos..).unwrap_or_default();
            let len = if quote.formatted {
                rest.iter().position(|byte| {
                    *byte == quote.byte
                        || matches!(byte, b'\\' | b'{' | b'}')
                        || (quote.count == 1 && matches!(byte, b'\n' | b'\r'))
                })
            } else if quote.count == 3 {
                memchr::memchr2(quote.byte, b'\\', rest)
            } else {
                rest.iter().position(|byte| *byte == quote.byte || matches!(byte, b'\\' | b'\n' | b'\r'))
            };
            let Some(len) = len else {
                self.pos = self.src.len();
                self.unclosed(quote, kind, start, from, opens, flags);
                return;
            };
            self.pos = self.pos.saturating_add(len);
            let byte = self.at(self.pos);
            let next = self.at(self.pos.saturating_add(1));
            match byte {
                b'\\' => {
                    flags |= ESCAPED;
                    self.escape(quote);
                }
                b'{' | b'}' if byte == next && !quote.spec => self.pos = self.pos.saturating_add(2),
                b'{' => {
                    self.part(if kind == K::Str { K::Head } else { K::Mid }, start, opens, 0, flags);
                    let open = self.pos;
                    self.pos = open.saturating_add(1);
                    self.push(K::Op, open, u16::from(b'{'), 0);
                    if quote.spec {
                        self.open(Open::Hole(quote));
                    } else {
                        self.open(Open::Hole(Quote { spec: false, ..quote }));
                    }
                    return;
                }
                b'}' if quote.spec => {
                    // The hole that the colon belongs to ends here.
                    self.part(K::Mid, start, opens, 0, flags);
                    let close = self.pos;
                    self.pos = close.saturating_add(1);
                    self.push(K::Op, close, u16::from(b'}'), 0);
                    self.text(Quote { spec: false, ..quote }, K::Mid, self.pos, 0);
                    return;
                }
                b'\n' | b'\r' => {
                    self.unclosed(quote, kind, start, from, opens, flags);
                    return;
                }
                byte if byte == quote.byte => {
                    let closes =
                        quote.count == 1 || (next == byte && self.at(self.pos.saturating_add(2)) == byte);
                    if closes {
                        self.pos = self.pos.saturating_add(quote.count);
                        let kind = if kind == K::Str { K::Str } else { K::Tail };
                        self.part(kind, start, opens, quote.count, flags);
                        return;
                    }
                    self.pos = self.pos.saturating_add(1);
                }
                _ => self.pos = self.pos.saturating_add(1),
            }
        }
    }

    fn escape(&mut self, quote: Quote) {
        let next = self.at(self.pos.saturating_add(1));
        let named = quote.flags & RAW == 0 && next == b'N' && self.at(self.pos.saturating_add(2)) == b'{';
        let hole = quote.formatted && matches!(next, b'{' | b'}');
        if named {
            let rest = self.src.get(self.pos..).unwrap_or_default();
            let len = rest.iter().take(128).position(|byte| *byte == b'}' || *byte == quote.byte);
            self.pos = self.pos.saturating_add(len.unwrap_or(2));
        } else if hole {
            self.pos = self.pos.saturating_add(1);
        } else if next == b'\r' && self.at(self.pos.saturating_add(2)) == b'\n' {
            self.pos = self.pos.saturating_add(3);
        } else {
            self.pos = self.pos.saturating_add(2).min(self.src.len());
        }
    }

    fn part(&mut self, kind: K, start: usize, opens: usize, closes: usize, flags: u8) {
        let byte = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        self.push(kind, start, u16::from_le_bytes([byte(opens), byte(closes)]), flags);
    }

    /// Nothing closes a string: it is text, and what it holds is read as code too.
    fn unclosed(&mut self, quote: Quote, kind: K, start: usize, from: usize, opens: usize, flags: u8) {
        let end = self.pos;
        if quote.count == 3 || kind != K::Str {
            self.part(if kind == K::Str { K::Str } else { K::Tail }, start, opens, 0, flags);
            if quote.count == 3 {
                self.out.unsure.push((from, end));
            }
            return;
        }
        let tries = if self.unclosed.0 == end { self.unclosed.1.saturating_add(1) } else { 1 };
        self.unclosed = (end, tries);
        self.part(K::Str, start, opens, 0, flags);
        if tries <= TRIES {
            self.pos = from;
        }
    }
}

/// Says whether letters in front of a quote are part of the string.
fn is_prefix(name: &[u8]) -> bool {
    let lower = |byte: &u8| byte | 0x20;
    match name {
        [one] => matches!(lower(one), b'r' | b'b' | b'u' | b'f' | b't'),
        [one, two] => {
            matches!((lower(one), lower(two)), (b'r', b'b' | b'f' | b't') | (b'b' | b'f' | b't', b'r'))
        }
        _ => false,
    }
}
