//! Values of variables, and the strings in an expression.

use std::collections::BTreeMap;

use super::Code;
use super::token::TokenKind;
use crate::text::view::Obfuscations;

/// The most bindings per name; a name with more is unknown.
const BINDINGS: usize = 8;
/// The most strings per expression. An unclosed argument extends to the end of the file.
pub(super) const TEXTS: usize = 64;

/// The expressions bound to variables, as token ranges.
#[derive(Debug)]
pub(super) struct Values<'s> {
    /// The bindings by name. A name that is also a parameter or pattern has an additional empty range.
    bound: BTreeMap<&'s [u8], Vec<(usize, usize)>>,
    /// The bytes that may still be visited through variables and nested calls.
    budget: usize,
    pub(super) is_spent: bool,
}

/// The strings of an expression.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) all: Vec<Vec<u8>>,
    /// The strings, each with a space after it. Those of one `concat!` are joined.
    pub(super) line: Vec<u8>,
    pub(super) how: Obfuscations,
}

impl<'s> Values<'s> {
    pub(super) fn of(code: &Code<'s, '_>) -> Self {
        let budget = code.src.len().saturating_mul(8).saturating_add(64 << 10);
        let mut values = Self { bound: BTreeMap::new(), budget, is_spent: false };
        for at in 0..code.tokens.len() {
            let (name, range) = match code.word(at) {
                b"let" | b"const" | b"static" => match code.declaration(at + 1) {
                    (name, Some(start)) => {
                        // In `if let Some(name) = value {`, the block is not part of the value.
                        let asks = matches!(code.before(at), b"if" | b"while");
                        let block = (start..start + 64).find(|at| asks && code.is(*at, b'{'));
                        (name, (start, block.unwrap_or_else(|| code.statement_end(start))))
                    }
                    (name, None) => (name, (0, 0)),
                },
                // A parameter or a field, whose value is unknown.
                name if code.is(at + 1, b':')
                    && !matches!(code.before(at), b"let" | b"const" | b"static" | b"mut") =>
                {
                    (name, (0, 0))
                }
                _ => continue,
            };
            let bound = values.bound.entry(name).or_default();
            if bound.len() <= BINDINGS {
                bound.push(range);
            }
        }
        values
    }

    /// Takes the bytes of a range of tokens from the budget, and returns `true` if it was enough.
    pub(super) fn spend(&mut self, code: &Code<'s, '_>, range: (usize, usize)) -> bool {
        let left = self.budget.checked_sub(code.start(range.1).saturating_sub(code.start(range.0)));
        self.budget = left.unwrap_or_default();
        self.is_spent |= left.is_none();
        left.is_some()
    }

    /// Returns the expressions bound to a name; none if it is unknown.
    pub(super) fn get(&self, name: &[u8]) -> Vec<(usize, usize)> {
        self.bound.get(name).cloned().unwrap_or_default()
    }

    /// Returns the strings of an expression, and of the values of its variables up to `hops` bindings away.
    pub(super) fn texts(&mut self, code: &Code<'s, '_>, range: (usize, usize), hops: usize) -> Texts {
        let mut texts = Texts::default();
        self.add(code, range, hops, &mut texts);
        texts.line.push(b' ');
        texts
    }

    fn add(&mut self, code: &Code<'s, '_>, range: (usize, usize), hops: usize, out: &mut Texts) {
        if !self.spend(code, range) {
            return;
        }
        // The end of a `concat!`, and whether the next string is its first.
        let (mut joined_to, mut is_first) = (0_usize, true);
        for at in range.0..range.1 {
            let text = code.text(at);
            // Handles `{name}` in a format string.
            let inner =
                text.bytes.strip_prefix(b"{").and_then(|rest| rest.split(|byte| b":}".contains(byte)).next());
            let name = inner.unwrap_or(code.word(at));
            if name == b"concat" && code.is(at + 1, b'!') {
                (joined_to, is_first) = (code.close(at + 2), true);
            }
            if hops > 0 && !name.is_empty() && !code.is_path(at + 1) {
                for bound in self.get(name) {
                    self.add(code, bound, hops.saturating_sub(1), out);
                }
            }
            if code.kind(at) == Some(TokenKind::String) && out.all.len() < TEXTS {
                out.how = out.how.and(text.map.back(0, text.bytes.len()).2);
                if !out.line.is_empty() && (is_first || at >= joined_to) {
                    out.line.push(b' ');
                }
                is_first = false;
                out.line.extend_from_slice(&text.bytes);
                out.all.push(text.bytes);
            }
        }
    }
}
