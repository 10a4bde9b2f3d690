//! Values of variables, and the strings in an expression.

use std::collections::BTreeMap;

use super::literal;
use super::token::TokenKind;
use super::{Code, STATEMENT, imports::is_prefix};
use crate::scan::sink::FirstArg;
use crate::text::view::{Obfuscations, View};

/// The expressions bound to variables, as token ranges.
#[derive(Debug, Default)]
pub(super) struct Values<'s> {
    /// The bindings by name. A name that is also a parameter or pattern has an additional empty range.
    bound: BTreeMap<&'s [u8], Vec<(usize, usize)>>,
    /// The tokens and bytes that may still be visited through variables and nested calls.
    pub(super) budget: usize,
    /// Set if the budget was spent.
    pub(super) spent: bool,
}

/// The most bindings per name; a name with more is unknown.
const BINDINGS: usize = 8;

impl<'s> Values<'s> {
    pub(super) fn of(code: &Code<'s, '_>) -> Self {
        let budget = code.src.len().saturating_mul(8).saturating_add(64 << 10);
        let mut values = Self { budget, ..Self::default() };
        let mut at = 0_usize;
        while let Some(token) = code.token(at) {
            let next = at + 1;
            if token.kind == TokenKind::Word {
                match code.word(at) {
                    b"let" | b"const" | b"static" => values.declaration(code, next),
                    // A parameter or a field, whose value is unknown.
                    name if code.is(next, b':')
                        && !matches!(before(code, at), b"let" | b"const" | b"static" | b"mut") =>
                    {
                        values.add(name, (0, 0));
                    }
                    _ => {}
                }
            }
            at = next;
        }
        values
    }

    fn declaration(&mut self, code: &Code<'s, '_>, start: usize) {
        let mut name_at = start;
        while matches!(code.word(name_at), b"mut" | b"ref") {
            name_at += 1;
        }
        // In `if let Ok(name) = …`, the name in the pattern gets the value as well.
        if code.is(name_at + 1, b'(') && !code.word(name_at).is_empty() {
            name_at += 2;
        }
        let name = code.word(name_at);
        if name.is_empty() {
            return;
        }
        match code.initializer(name_at) {
            Some(value) => {
                // In `if let Some(name) = value {`, the block is not part of the value.
                let asks = matches!(before(code, start.saturating_sub(1)), b"if" | b"while");
                let end = if asks { block(code, value) } else { None };
                let end = end.unwrap_or_else(|| code.statement_end(value, STATEMENT));
                self.add(name, (value, end));
            }
            None => self.add(name, (0, 0)),
        }
    }

    fn add(&mut self, name: &'s [u8], range: (usize, usize)) {
        let bound = self.bound.entry(name).or_default();
        if bound.len() <= BINDINGS {
            bound.push(range);
        }
    }

    /// Takes from the budget, and returns `true` if it was enough.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        let enough = self.budget >= cost;
        self.budget = self.budget.saturating_sub(cost);
        self.spent |= !enough;
        enough
    }

    /// Returns the expressions bound to a name; none if it is unknown or bound too often.
    pub(super) fn get(&self, name: &[u8]) -> &[(usize, usize)] {
        self.bound.get(name).map_or(&[], Vec::as_slice)
    }

    /// Appends the strings of an expression, and of the variables in it, to a list of words.
    pub(super) fn texts(
        &mut self,
        code: &Code<'s, '_>,
        range: (usize, usize),
        out: &mut Vec<u8>,
    ) -> Obfuscations {
        if !self.spend(size(code, range)) {
            return Obfuscations::NONE;
        }
        let mut how = strings(code, range, out);
        for at in range.0..range.1 {
            let name = code.word(at);
            let simple = !name.is_empty()
                && !is_prefix(name)
                && !code.is_path(at + 1)
                && !code.is(at + 1, b'(')
                && !code.is(at + 1, b'!');
            if simple {
                for bound in self.get(name).to_vec() {
                    if self.spend(size(code, bound)) {
                        how = how.and(strings(code, bound, out));
                    }
                }
            }
        }
        how
    }

    /// Returns the shape of a first argument, which rules can ask for.
    pub(super) fn shape(&self, code: &Code<'s, '_>, range: (usize, usize)) -> FirstArg {
        let mut start = range.0;
        while start < range.1 && code.is(start, b'&') {
            start += 1;
        }
        if start >= range.1 {
            return FirstArg::None;
        }
        let one = range.1.saturating_sub(start) == 1;
        match code.token(start).map(|token| token.kind) {
            Some(TokenKind::String) if one => FirstArg::Literal,
            Some(TokenKind::String) => FirstArg::Text,
            Some(TokenKind::Word) if code.is(start + 1, b'!') => match code.word(start) {
                b"concat" | b"stringify" => FirstArg::Literal,
                b"format" => FirstArg::Text,
                _ => FirstArg::Other,
            },
            Some(TokenKind::Word) if one => match self.get(code.word(start)) {
                [bound] if code.token(bound.0).is_some_and(|token| token.kind == TokenKind::String) => {
                    FirstArg::Literal
                }
                _ => FirstArg::Other,
            },
            _ => FirstArg::Other,
        }
    }
}

/// The most tokens between `match` or `if let` and its block. It keeps the search linear if the block is missing.
const LOOKED_AT: usize = 64;

/// Finds the block that follows an expression.
fn block(code: &Code<'_, '_>, from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..LOOKED_AT {
        match code.token(at)?.kind {
            TokenKind::Mark(b'{') => return Some(at),
            TokenKind::Mark(b'(' | b'[') => at = code.close(at).max(at),
            TokenKind::Mark(b';' | b'}') => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the number of bytes in a range of tokens.
fn size(code: &Code<'_, '_>, range: (usize, usize)) -> usize {
    let start = code.token(range.0).map_or(0, |token| token.start);
    let end = range.1.checked_sub(1).and_then(|last| code.token(last)).map_or(start, |token| token.end);
    end.saturating_sub(start) as usize
}

fn before<'s>(code: &Code<'s, '_>, at: usize) -> &'s [u8] {
    at.checked_sub(1).map_or(b"", |before| code.word(before))
}

/// Appends the strings between two tokens, separated by spaces. Those of one `concat!` are joined.
fn strings(code: &Code<'_, '_>, range: (usize, usize), out: &mut Vec<u8>) -> Obfuscations {
    let mut view = View::default();
    let mut joined_to = 0_usize;
    for &at in code.strings(range.0, range.1) {
        let at = at as usize;
        let Some(token) = code.token(at) else { continue };
        if at >= joined_to {
            if !view.is_empty() {
                view.put(b" ", token.span(), Obfuscations::NONE, 0);
            }
            joined_to = concat_end(code, at).unwrap_or(0);
        }
        literal::decode_into(code.src, literal::text(code.src, token), &mut view);
    }
    if view.is_empty() {
        return Obfuscations::NONE;
    }
    let how = view.map.back(0, view.bytes.len()).2;
    out.extend_from_slice(&view.bytes);
    out.push(b' ');
    how
}

/// Returns the end of the `concat!` whose first string is at `at`.
fn concat_end(code: &Code<'_, '_>, at: usize) -> Option<usize> {
    let open = at.checked_sub(1)?;
    let mark = open.checked_sub(1)?;
    let name = mark.checked_sub(1)?;
    let bracket =
        code.token(open).is_some_and(|token| matches!(token.kind, TokenKind::Mark(b'(' | b'[' | b'{')));
    (bracket && code.is(mark, b'!') && code.word(name) == b"concat").then(|| code.close(open))
}
