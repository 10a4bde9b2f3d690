//! The parser for values, lists and objects.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::ops::Range;
use std::hash::RandomState;

use plugward_types::{Part, Span};

use super::escape::{Unescaped, unescape};
use super::key_table::KeyTable;
use super::node::push_step;
use super::position::positions_of;
use super::{
    JsonError, JsonErrorKind, JsonErrors, JsonMember, JsonNode, JsonSyntaxError, JsonValue, ParseLimits,
    Position,
};

/// The number of errors that are listed; the others are only counted.
const MAX_ERRORS: usize = 100;

/// Parses exactly one JSON value (RFC 8259), with optional white space around it.
///
/// # Guarantees
/// Any bytes produce a result, in time linear in their number. The recursion is limited by [`ParseLimits::depth`].
///
/// # Errors
/// The codes `manifest/too-large`, `too-deep`, `too-many`, `string-too-long`, `not-utf8`, `bom`, `syntax`,
/// `surrogate` and `duplicate-key`, with position and pointer. The first syntax error ends the parsing; surrogates
/// and duplicate keys before it are reported too.
pub fn parse<'a>(bytes: &'a [u8], limits: &ParseLimits) -> Result<JsonNode<'a>, JsonErrors> {
    let text = text_of(bytes, limits)?;
    // RFC 8259 lets parsers ignore a byte order mark, so hosts disagree about it.
    if text.starts_with('\u{feff}') {
        return Err(failure(JsonErrorKind::Bom, 0..1, bytes));
    }
    let mut parser = Parser::new(text, *limits);
    match parser.document() {
        Ok(node) if parser.errors.is_empty() => Ok(node),
        _ => Err(parser.finish()),
    }
}

/// Checks the size and the encoding of a file.
pub(super) fn text_of<'a>(bytes: &'a [u8], limits: &ParseLimits) -> Result<&'a str, JsonErrors> {
    let limit = limits.bytes();
    if bytes.len() > limit {
        let kind = JsonErrorKind::TooLarge { limit, actual: bytes.len() };
        return Err(failure(kind, limit..limit + 1, bytes));
    }
    let utf16 = looks_like_utf16(bytes);
    match core::str::from_utf8(bytes) {
        Ok(text) if !utf16 => Ok(text),
        checked => {
            let at = checked.err().filter(|_| !utf16).map_or(0, |error| error.valid_up_to());
            Err(failure(JsonErrorKind::NotUtf8 { utf16 }, at..at + 1, bytes))
        }
    }
}

/// Returns `true` for a UTF-16 byte order mark, or a zero byte next to an opening bracket.
fn looks_like_utf16(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'{' | b'[' | b'"', 0, ..] | [0, b'{' | b'[' | b'"', ..]
    )
}

/// Returns the one error that ends the reading.
pub(super) fn failure(kind: JsonErrorKind, at: Range<usize>, bytes: &[u8]) -> JsonErrors {
    let position =
        positions_of(bytes, vec![at.start]).into_values().next().unwrap_or(Position { line: 1, column: 1 });
    let span = Span::new(at.start, at.end.min(bytes.len()));
    JsonErrors::new(vec![JsonError { kind, span, position, pointer: String::new(), first: None }], 0)
}

/// The parser has stopped; the error is in its list.
pub(super) struct Stop;

enum PathStep {
    Key { start: usize, end: usize },
    Index(usize),
}

struct PendingError {
    kind: JsonErrorKind,
    span: Span,
    pointer: String,
    first: Option<Span>,
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) limits: ParseLimits,
    // Counted separately, because the stacks shrink when a list is complete.
    values: usize,
    path: Vec<PathStep>,
    nodes: Vec<JsonNode<'a>>,
    members: Vec<JsonMember<'a>>,
    errors: Vec<PendingError>,
    unlisted: usize,
    // Seeded at random, so that a file cannot be made of keys with equal hashes.
    hasher: RandomState,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, limits: ParseLimits) -> Self {
        // Growing a stack copies it, which dominates the time for large files.
        let (nodes, members) = room(text.as_bytes(), limits.values());
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            limits,
            values: 0,
            path: Vec::new(),
            nodes: Vec::with_capacity(nodes),
            members: Vec::with_capacity(members),
            errors: Vec::new(),
            unlisted: 0,
            hasher: RandomState::new(),
        }
    }

    /// Adds lines and columns to the errors, which needs one pass over the bytes.
    fn finish(self) -> JsonErrors {
        let offsets = self.errors.iter().flat_map(|error| {
            [Some(error.span.start), error.first.map(|first| first.start)].into_iter().flatten()
        });
        let positions = positions_of(self.bytes, offsets.collect());
        let at = |offset: usize| positions.get(&offset).copied().unwrap_or(Position { line: 1, column: 1 });
        let errors = self.errors.into_iter().map(|error| JsonError {
            position: at(error.span.start),
            first: error.first.map(|span| (span, at(span.start))),
            kind: error.kind,
            span: error.span,
            pointer: error.pointer,
        });
        JsonErrors::new(errors.collect(), self.unlisted)
    }

    /// Parses the whole text.
    fn document(&mut self) -> Result<JsonNode<'a>, Stop> {
        self.blanks();
        if self.at == self.bytes.len() {
            return Err(self.syntax(JsonSyntaxError::Empty));
        }
        let node = self.value(0)?;
        self.blanks();
        match self.peek() {
            None => Ok(node),
            Some(b'/') => Err(self.syntax(JsonSyntaxError::Comment)),
            Some(_) => Err(self.syntax(JsonSyntaxError::TrailingText)),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.skip(1);
        }
    }

    /// Builds the JSON pointer of the value that is being parsed. Only errors need it, so keys are decoded here.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            match step {
                PathStep::Index(index) => push_step(&mut pointer, &index.to_string()),
                PathStep::Key { start, end } => {
                    let raw = self.text.part(*start..*end);
                    match unescape(raw) {
                        Unescaped::Text(key) | Unescaped::Half(key, _) => push_step(&mut pointer, &key),
                        Unescaped::Bad(..) => push_step(&mut pointer, raw),
                    }
                }
            }
        }
        pointer
    }

    /// Adds an error at the current value, or counts it if the list is full.
    pub(super) fn report(&mut self, kind: JsonErrorKind, span: Span, first: Option<Span>) -> Stop {
        // A small file can have very many duplicate keys, and each error has a pointer as long as its path.
        if self.errors.len() < MAX_ERRORS {
            let mut pointer = self.pointer();
            if let JsonErrorKind::DuplicateKey { key } = &kind {
                push_step(&mut pointer, key);
            }
            self.errors.push(PendingError { kind, span, pointer, first });
        } else {
            self.unlisted += 1;
        }
        Stop
    }

    pub(super) fn syntax_at(&mut self, syntax: JsonSyntaxError, at: usize) -> Stop {
        let rest = self.text.part(at..);
        let width = rest.chars().next().map_or(0, char::len_utf8);
        let span = Span::new(at, at + width);
        // The error that ends the parsing is always listed, even if the list is full.
        if self.errors.len() >= MAX_ERRORS {
            self.unlisted += 1;
            self.errors.pop();
        }
        self.report(JsonErrorKind::Syntax(syntax), span, None)
    }

    pub(super) fn syntax(&mut self, syntax: JsonSyntaxError) -> Stop {
        self.syntax_at(syntax, self.at)
    }

    /// Reports an exceeded limit at the next byte.
    fn limit(&mut self, kind: JsonErrorKind) -> Stop {
        let span = Span::new(self.at, (self.at + 1).min(self.bytes.len()));
        self.report(kind, span, None)
    }

    fn value(&mut self, depth: usize) -> Result<JsonNode<'a>, Stop> {
        self.values += 1;
        // Many small values need more memory than the bytes of the file suggest.
        if self.values > self.limits.values() {
            return Err(self.limit(JsonErrorKind::TooMany { limit: self.limits.values() }));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'"') => JsonValue::String(self.string()?),
            Some(open @ (b'{' | b'[')) => {
                if depth >= self.limits.depth() {
                    return Err(self.limit(JsonErrorKind::TooDeep { limit: self.limits.depth() }));
                }
                self.skip(1);
                if open == b'{' { self.object(depth)? } else { self.array(depth)? }
            }
            Some(b'-' | b'0'..=b'9') => JsonValue::Number(match self.plain_integer() {
                Some(number) => number,
                None => self.number()?,
            }),
            _ => self.word()?,
        };
        Ok(self.node(value, start))
    }

    fn node(&self, value: JsonValue<'a>, start: usize) -> JsonNode<'a> {
        JsonNode { value, start: narrow(start), end: narrow(self.at) }
    }

    /// Parses a list after its opening bracket.
    fn array(&mut self, depth: usize) -> Result<JsonValue<'a>, Stop> {
        let base = self.nodes.len();
        self.blanks();
        if self.peek() == Some(b']') {
            self.skip(1);
            return Ok(JsonValue::Array(Box::default()));
        }
        let mut index = 0_usize;
        loop {
            self.path.push(PathStep::Index(index));
            let node = self.value(depth + 1)?;
            self.path.pop();
            self.nodes.push(node);
            index += 1;
            if self.closed(b']')? {
                return Ok(JsonValue::Array(taken(&mut self.nodes, base)));
            }
        }
    }

    /// Parses what follows a value: `true` for the closing bracket, `false` for a comma and another value.
    fn closed(&mut self, close: u8) -> Result<bool, Stop> {
        self.blanks();
        match self.peek() {
            Some(b',') => {
                let comma = self.at;
                self.skip(1);
                self.blanks();
                match self.peek() {
                    Some(b']' | b'}') => Err(self.syntax_at(JsonSyntaxError::TrailingComma, comma)),
                    _ => Ok(false),
                }
            }
            Some(byte) if byte == close => {
                self.skip(1);
                Ok(true)
            }
            None => Err(self.syntax(JsonSyntaxError::Unclosed)),
            Some(b'/' | b'#') => Err(self.syntax(JsonSyntaxError::Comment)),
            Some(_) => Err(self.syntax(JsonSyntaxError::MissingComma)),
        }
    }

    /// Parses an object after its opening brace.
    fn object(&mut self, depth: usize) -> Result<JsonValue<'a>, Stop> {
        let base = self.members.len();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.skip(1);
            return Ok(JsonValue::Object(Box::default()));
        }
        let mut keys = KeyTable::default();
        loop {
            let key_start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.no_key());
            }
            let key = self.string()?;
            let key_end = self.at;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.syntax(JsonSyntaxError::MissingColon));
            }
            self.skip(1);
            self.blanks();
            self.path.push(PathStep::Key { start: key_start + 1, end: key_end - 1 });
            let node = self.value(depth + 1)?;
            self.path.pop();
            let (key_start, key_end) = (narrow(key_start), narrow(key_end));
            let member = JsonMember { key, key_start, key_end, node };
            let before = self.members.part(base..);
            match keys.first_of(before, &member.key, &self.hasher) {
                // The file is refused for the duplicate key, so the second value is not needed.
                Some(first) => self.duplicate(first, &member),
                None => self.members.push(member),
            }
            if self.closed(b'}')? {
                return Ok(JsonValue::Object(taken(&mut self.members, base)));
            }
        }
    }

    fn no_key(&mut self) -> Stop {
        let syntax = match self.peek() {
            None => JsonSyntaxError::Unclosed,
            Some(b'\'') => JsonSyntaxError::SingleQuote,
            Some(b'/' | b'#') => JsonSyntaxError::Comment,
            Some(_) => JsonSyntaxError::UnquotedKey,
        };
        self.syntax(syntax)
    }

    /// Reports a duplicate key. The parsing continues, so that all duplicates are listed.
    fn duplicate(&mut self, first: Span, again: &JsonMember<'a>) {
        if self.errors.len() >= MAX_ERRORS {
            self.unlisted += 1;
            return;
        }
        let key = again.key.chars().take(128).collect();
        let Stop = self.report(JsonErrorKind::DuplicateKey { key }, again.key_span(), Some(first));
    }
}

/// Moves the values from `base` on off a shared stack, so that each list is allocated once in its final size.
fn taken<T>(stack: &mut Vec<T>, base: usize) -> Box<[T]> {
    /// From this length on, copying the values costs more than growing the stack again.
    // A long list at the top of the stack takes over its memory. Splitting it off would copy it.
    const LONG: usize = 4096;
    if base == 0 && stack.len() >= LONG {
        return core::mem::take(stack).into_boxed_slice();
    }
    stack.split_off(base).into_boxed_slice()
}

/// Estimates the numbers of items and members in a large file, so that the stacks do not have to grow.
///
/// Unused capacity costs nothing, because its pages are never touched. An item takes at least two bytes of the text, a
/// member at least five.
fn room(bytes: &[u8], values: usize) -> (usize, usize) {
    /// Below this size, growing the stacks costs less than counting.
    const LARGE: usize = 16 << 10;
    if bytes.len() < LARGE {
        return (0, 0);
    }
    // The numbers of commas and colons are upper bounds for those of values and members.
    let count = |wanted: u8| -> usize {
        // A chunk is small enough that a byte holds its count, which lets the compiler vectorize the sum.
        let few = bytes.chunks(192).map(|few| few.iter().map(|byte| u8::from(*byte == wanted)).sum::<u8>());
        few.map(usize::from).sum()
    };
    let items = (count(b',') + 1).min(bytes.len() / 2).min(values);
    (items, count(b':').min(bytes.len() / 5).min(values))
}

/// Converts an offset. The limit of bytes keeps it below 4 GiB, and `u32` halves the size of a node.
pub(super) fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
