//! Literals of JavaScript, TypeScript and JSON. Nothing is evaluated.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use core::ops::Range;

use plugward_types::{Part, escape, hex};

use super::lexer::{Lexer, Token, TokenKind};

/// The deepest nesting. A schema needs four levels, and the reader calls itself for each.
const MAX_DEPTH: u32 = 16;
/// The most faults of one text. More would not help its author.
pub(crate) const MAX_FAULTS: usize = 100;

/// A literal and its place.
#[derive(Debug)]
pub(crate) struct Literal {
    pub(crate) range: Range<usize>,
    pub(crate) value: LiteralValue,
}

#[derive(Debug)]
pub(crate) enum LiteralValue {
    Object(Vec<Member>),
    Array(Vec<Literal>),
    Text(String),
    Number(f64),
    Boolean(bool),
    Null,
    /// Something else, for which the reader has recorded a fault.
    Unread,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) at: usize,
    pub(crate) value: Literal,
}

impl Literal {
    /// Returns the type's name, as a phrase for messages.
    pub(crate) const fn describe(&self) -> &'static str {
        match self.value {
            LiteralValue::Object(_) => "an object",
            LiteralValue::Array(_) => "an array",
            LiteralValue::Text(_) => "a string",
            LiteralValue::Number(_) => "a number",
            LiteralValue::Boolean(_) => "a boolean",
            LiteralValue::Null => "null",
            LiteralValue::Unread => "something else",
        }
    }
}

/// Reads one literal. A part that is not one is recorded and skipped, so that all faults are found at once.
#[derive(Debug)]
pub(crate) struct LiteralReader<'a> {
    lexer: Lexer<'a>,
    pub(crate) current: Token<'a>,
    /// Offsets and messages, in the order of the text.
    pub(crate) faults: Vec<(usize, String)>,
    /// The end of the last token before the current one.
    end: usize,
}

impl<'a> LiteralReader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let current = lexer.next();
        Self { lexer, current, faults: Vec::new(), end: 0 }
    }

    /// Returns the current token and moves to the next.
    pub(crate) fn advance(&mut self) -> Token<'a> {
        let token = core::mem::replace(&mut self.current, self.lexer.next());
        self.end = token.at + token.text.len();
        token
    }

    pub(crate) fn fault(&mut self, at: usize, message: String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push((at, message));
        }
    }

    /// Returns the place where the source stops being readable, if it does. Everything after it can be misread.
    pub(crate) fn unfinished(&self) -> Option<usize> {
        self.lexer.unfinished.or_else(|| (!self.lexer.is_balanced()).then_some(self.end))
    }

    /// Reads a whole text that is one literal.
    pub(crate) fn document(mut self) -> (Literal, Vec<(usize, String)>) {
        let literal = self.value(0);
        if self.current.kind != TokenKind::End {
            self.fault(self.current.at, "expected the end of the text".to_owned());
        }
        if let Some(at) = self.lexer.unfinished {
            self.fault(at, "expected the end of this text".to_owned());
        }
        (literal, self.faults)
    }

    pub(crate) fn value(&mut self, depth: u32) -> Literal {
        let start = self.current.at;
        let value = match self.current.kind {
            _ if depth > MAX_DEPTH => self.unread(&format!("at most {MAX_DEPTH} levels")),
            TokenKind::Mark(b'{') => self.object(depth + 1),
            TokenKind::Mark(b'[') => self.array(depth + 1),
            TokenKind::Mark(sign @ (b'-' | b'+')) => {
                self.advance();
                self.number(if sign == b'-' { -1.0 } else { 1.0 })
            }
            TokenKind::Number => self.number(1.0),
            TokenKind::Text | TokenKind::Template => match unescape(self.current) {
                Some(text) => {
                    self.advance();
                    LiteralValue::Text(text)
                }
                None => self.unread("a text whose escapes are valid"),
            },
            TokenKind::Name => match self.current.text {
                word @ ("true" | "false") => {
                    self.advance();
                    LiteralValue::Boolean(word == "true")
                }
                "null" => {
                    self.advance();
                    LiteralValue::Null
                }
                _ => self.unread("a literal"),
            },
            _ => self.unread("a literal"),
        };
        if !matches!(value, LiteralValue::Unread) {
            while self.type_suffix() {}
        }
        Literal { range: start..self.end, value }
    }

    fn number(&mut self, sign: f64) -> LiteralValue {
        let number = (self.current.kind == TokenKind::Number).then(|| number(self.current.text)).flatten();
        let Some(number) = number else { return self.unread("a finite number") };
        self.advance();
        LiteralValue::Number(sign * number)
    }

    fn object(&mut self, depth: u32) -> LiteralValue {
        self.advance();
        let mut members = Vec::new();
        while !self.closes(b'}') {
            let key = self.current;
            let name = match key.kind {
                TokenKind::Name if !key.text.contains('\\') => Some(key.text.to_owned()),
                TokenKind::Text => unescape(key),
                _ => None,
            };
            if name.is_some() {
                self.advance();
            }
            match name {
                Some(name) if self.current.is_mark(b':') => {
                    self.advance();
                    let value = self.value(depth);
                    members.push(Member { key: name, at: key.at, value });
                }
                _ => {
                    drop(self.unread("`key: value`"));
                }
            }
            self.separator(b'}');
        }
        self.advance();
        LiteralValue::Object(members)
    }

    fn array(&mut self, depth: u32) -> LiteralValue {
        self.advance();
        let mut items = Vec::new();
        while !self.closes(b']') {
            items.push(self.value(depth));
            self.separator(b']');
        }
        self.advance();
        LiteralValue::Array(items)
    }

    /// Returns `true` at the closing bracket, and at the end of the text, which is a fault.
    fn closes(&mut self, bracket: u8) -> bool {
        if self.current.kind == TokenKind::End {
            self.fault(
                self.current.at,
                format!("expected `{}`, got the end of the text", char::from(bracket)),
            );
        }
        self.current.is_mark(bracket) || self.current.kind == TokenKind::End
    }

    /// Reads the comma after an item. Anything else means that the item was only the start of an expression.
    fn separator(&mut self, bracket: u8) {
        if !self.current.is_mark(b',')
            && !self.current.is_mark(bracket)
            && self.current.kind != TokenKind::End
        {
            drop(self.unread("`,` after a literal"));
        }
        // Any other bracket that is left would be found again forever.
        if !self.current.is_mark(bracket) && self.current.kind != TokenKind::End {
            self.advance();
        }
    }

    /// Records a fault at the current token, and skips to the end of the item.
    fn unread(&mut self, expected: &str) -> LiteralValue {
        let found = match self.current.kind {
            TokenKind::End => "the end of the text".to_owned(),
            _ => format!(
                "`{}`",
                escape::line(
                    self.current
                        .text
                        .char_indices()
                        .nth(40)
                        .map_or(self.current.text, |(at, _)| self.current.text.head(at))
                )
            ),
        };
        self.fault(self.current.at, format!("expected {expected}, got {found}"));
        let mut depth = 0_u32;
        while self.current.kind != TokenKind::End {
            match self.current.kind {
                TokenKind::Mark(b',' | b';' | b'}' | b']' | b')') if depth == 0 => break,
                TokenKind::Mark(b'{' | b'[' | b'(') | TokenKind::TemplateHead => depth += 1,
                TokenKind::Mark(b'}' | b']' | b')') | TokenKind::TemplateTail => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            self.advance();
        }
        LiteralValue::Unread
    }

    /// Reads `as T` or `satisfies T`, which have no effect at run time, and returns `true` if there was one.
    fn type_suffix(&mut self) -> bool {
        if !(self.current.is_name("as") || self.current.is_name("satisfies")) {
            return false;
        }
        self.advance();
        self.type_name();
        true
    }

    /// Reads a type: names, type arguments and `[]`, joined by `|` or `&`. Operators of values are not part of it.
    pub(crate) fn type_name(&mut self) {
        let (start, mut depth, mut is_after_open) = (self.current.at, 0_u32, false);
        loop {
            match self.current.kind {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') => depth = depth.saturating_sub(1),
                TokenKind::Name | TokenKind::Text | TokenKind::Mark(b'.' | b'[' | b'|' | b'&') => {}
                TokenKind::Mark(b']') if is_after_open => {}
                TokenKind::End => break,
                _ if depth > 0 => {}
                _ => break,
            }
            if depth == 0 && self.current.is_on_new_line && self.end > start {
                break;
            }
            is_after_open = self.current.is_mark(b'[');
            self.advance();
        }
        if self.end <= start {
            self.fault(start, "expected the name of a type".to_owned());
        }
    }
}

/// Reads a number, also with separators or in another base.
fn number(text: &str) -> Option<f64> {
    let digits = text.replace('_', "");
    let radix = match digits.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        // An octal number of old JavaScript, which modules do not allow.
        Some(start) if start.starts_with('0') && start.ends_with(|last: char| last.is_ascii_digit()) => {
            return None;
        }
        _ => return digits.parse().ok().filter(|number: &f64| number.is_finite()),
    };
    let digits = digits.rest(2);
    let number = digits
        .chars()
        .try_fold(0.0, |number, digit| Some(number * f64::from(radix) + f64::from(digit.to_digit(radix)?)))?;
    (!digits.is_empty() && number.is_finite()).then_some(number)
}

/// Returns the content of a text or template, or `None` if it has no end or an escape that is not valid.
fn unescape(token: Token<'_>) -> Option<String> {
    let quote = token.text.chars().next()?;
    let body = token.text.strip_prefix(quote)?.strip_suffix(quote)?;
    let body = if quote == '`' { body.replace("\r\n", "\n").replace('\r', "\n") } else { body.to_owned() };
    let mut units: Vec<u16> = Vec::with_capacity(body.len());
    let mut rest = body.chars();
    while let Some(character) = rest.next() {
        if character == '\\' {
            escaped(&mut rest, &mut units)?;
        } else {
            units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
        }
    }
    // Escapes are UTF-16 units, so two of them can form one character. One alone is not text.
    String::from_utf16(&units).ok()
}

fn escaped(rest: &mut core::str::Chars<'_>, units: &mut Vec<u16>) -> Option<()> {
    let fixed = |rest: &mut core::str::Chars<'_>, count: usize| {
        let digits: String = rest.by_ref().take(count).collect();
        if digits.len() == count { hex::number(digits.as_bytes()) } else { None }
    };
    let character = match rest.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' if !rest.as_str().starts_with(|next: char| next.is_ascii_digit()) => '\0',
        '0'..='9' => return None,
        'x' => char::from_u32(fixed(rest, 2)?)?,
        'u' if rest.as_str().starts_with('{') => {
            let (digits, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
            *rest = after.chars();
            char::from_u32(hex::number(digits.as_bytes())?)?
        }
        'u' => {
            units.push(u16::try_from(fixed(rest, 4)?).ok()?);
            return Some(());
        }
        '\r' => {
            *rest = rest.as_str().strip_prefix('\n').unwrap_or(rest.as_str()).chars();
            return Some(());
        }
        '\n' | '\u{2028}' | '\u{2029}' => return Some(()),
        other => other,
    };
    units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
    Some(())
}
