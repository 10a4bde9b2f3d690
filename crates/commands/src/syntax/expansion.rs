//! Parses expansions: variables, substitutions, and arithmetic.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use super::parser::Parser;
use super::word::Quoting;
use super::{Operation, Piece, RemovedEnd, Word};
use crate::CommandError;
use plugward_types::Part;

impl Parser<'_, '_> {
    /// Parses an expansion, or a plain `$`.
    pub(super) fn dollar(&mut self, word: &mut Word, quoting: Quoting) -> Result<(), CommandError> {
        let start = self.at;
        self.skip(1);
        let quoted = quoting == Quoting::Quoted;
        let rest = self.rest();
        match self.peek() {
            Some('(') if rest.starts_with("((") && self.arithmetic_end().is_some() => {
                self.skip(2);
                let inner = self.arithmetic()?;
                word.pieces.push(Piece::Arithmetic(inner));
            }
            Some('(') => {
                self.skip(1);
                let script = self.nested()?;
                let source = self.text.part(start..self.at).to_owned();
                word.pieces.push(Piece::Output { script, source, quoted });
            }
            Some('{') => {
                self.skip(1);
                self.braced(word, quoting)?;
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let length =
                    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                self.skip(length);
                let name = rest.part(..length).to_owned();
                word.pieces.push(Piece::Variable { name, operation: Operation::None, quoted });
            }
            Some(special @ ('0'..='9' | '@' | '*' | '#' | '?' | '-' | '$' | '!')) => {
                self.skip(1);
                word.pieces.push(Piece::Variable {
                    name: special.to_string(),
                    operation: Operation::None,
                    quoted,
                });
            }
            _ => word.push("$", quoting),
        }
        Ok(())
    }

    /// Parses the commands of a substitution up to its closing parenthesis.
    fn nested(&mut self) -> Result<super::Script, CommandError> {
        self.compound();
        self.inside += 1;
        let mut script = self.script()?;
        while !self.rest().is_empty() && !self.rest().starts_with(')') {
            self.fail();
            self.skip(1);
            script.items.append(&mut self.script()?.items);
        }
        self.inside -= 1;
        if !self.eat(")") {
            self.fail();
        }
        Ok(script)
    }

    /// Parses `<(…)` and `>(…)`.
    pub(super) fn process(&mut self, word: &mut Word) -> Result<(), CommandError> {
        let start = self.at;
        self.skip(2);
        let script = self.nested()?;
        let source = self.text.part(start..self.at).to_owned();
        word.pieces.push(Piece::Process { script, source });
        Ok(())
    }

    /// Parses a substitution in backticks, in which a backslash escapes only some characters.
    pub(super) fn backticks(&mut self, word: &mut Word, quoting: Quoting) -> Result<(), CommandError> {
        self.skip(1);
        let rest = self.rest();
        let (mut inner, mut escaped, mut end) = (String::new(), false, None);
        for (at, next) in rest.char_indices() {
            match next {
                '`' if !escaped => {
                    end = Some(at);
                    break;
                }
                '\\' if !escaped => escaped = true,
                _ => {
                    let quote = next == '"' && quoting == Quoting::Quoted;
                    if escaped && !(matches!(next, '`' | '\\' | '$') || quote) {
                        inner.push('\\');
                    }
                    escaped = false;
                    inner.push(next);
                }
            }
        }
        if end.is_none() {
            self.fail();
        }
        self.skip(end.map_or(rest.len(), |end| end + 1));
        self.compound();
        self.budget.enter()?;
        let mut parser = Parser::new(&inner, self.budget)?;
        let script = parser.all()?;
        let failed = parser.problem().is_some();
        self.budget.leave();
        if failed {
            self.fail();
        }
        let source = format!("$({inner})");
        word.pieces.push(Piece::Output { script, source, quoted: quoting == Quoting::Quoted });
        Ok(())
    }

    /// Returns the offset of `))` if the text here is arithmetic and not a subshell in a substitution.
    pub(super) fn arithmetic_end(&self) -> Option<usize> {
        let mut open = 0_usize;
        // Arithmetic is short. The limit keeps the time linear for many opening parentheses.
        for (at, byte) in self.rest().bytes().enumerate().take(1024) {
            match byte {
                b'(' => open += 1,
                b')' => {
                    open = open.saturating_sub(1);
                    if open == 1 && self.rest().get(at + 1..at + 2) == Some(")") {
                        return Some(at);
                    }
                    if open == 0 {
                        return None;
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Parses arithmetic up to its `))`, after the opening parentheses. Only the substitutions in it matter.
    pub(super) fn arithmetic(&mut self) -> Result<Word, CommandError> {
        let mut word = Word::default();
        let mut open = 0_usize;
        self.budget.enter()?;
        while let Some(next) = self.peek() {
            match next {
                '(' => open += 1,
                ')' if open == 0 => {
                    self.budget.leave();
                    self.skip(1);
                    if !self.eat(")") {
                        self.fail();
                    }
                    return Ok(word);
                }
                ')' => open -= 1,
                '$' => {
                    self.dollar(&mut word, Quoting::Quoted)?;
                    continue;
                }
                '`' => {
                    self.backticks(&mut word, Quoting::Quoted)?;
                    continue;
                }
                _ => {}
            }
            self.skip(next.len_utf8());
        }
        self.budget.leave();
        self.fail();
        Ok(word)
    }

    /// Parses `${…}` after the brace.
    fn braced(&mut self, word: &mut Word, quoting: Quoting) -> Result<(), CommandError> {
        let quoted = quoting == Quoting::Quoted;
        // These variables of hosts stand for the separator of paths.
        if self.eat("/}") || self.eat("pathSeparator}") {
            word.push("/", quoting);
            return Ok(());
        }
        self.budget.enter()?;
        let indirect = self.rest().starts_with('!') && !self.rest().starts_with("!}");
        let counts = self.rest().starts_with('#') && !self.rest().starts_with("#}");
        if indirect || counts {
            self.skip(1);
        }
        let rest = self.rest();
        let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let length = rest.bytes().take_while(named).count();
        let length =
            if length == 0 && rest.starts_with(['@', '*', '#', '?', '-', '$', '!']) { 1 } else { length };
        let name = rest.part(..length).to_owned();
        self.skip(length);
        let mut name = name;
        if self.rest().starts_with('[') {
            let rest = self.rest();
            let end = rest.find([']', '}']).unwrap_or(rest.len());
            // `${A[@]}` and `${A[*]}` are all elements; other indices are any element.
            name.push_str(if matches!(rest.get(..end), Some("[@" | "[*")) { "[@]" } else { "[]" });
            self.skip(end + 1);
        }
        let rest = self.rest();
        let (skipped, kind) = match rest.as_bytes() {
            [b':', b'-' | b'=' | b'+' | b'?', ..] => (2, rest.as_bytes().get(1)),
            [b'#', b'#', ..] | [b'%', b'%', ..] => (2, rest.as_bytes().first()),
            [b'-' | b'=' | b'+' | b'?' | b'#' | b'%', ..] => (1, rest.as_bytes().first()),
            _ => (0, None),
        };
        let kind = kind.copied();
        self.skip(skipped);
        let inner = self.until_brace(quoting)?;
        self.budget.leave();
        let operation = match kind {
            _ if indirect => Operation::Indirect,
            _ if counts => Operation::Other(inner),
            Some(b'-' | b'=') => Operation::Default(inner),
            Some(b'+') => Operation::Alternative(inner),
            Some(b'?') => Operation::Required(inner),
            Some(sign @ (b'#' | b'%')) => {
                let end = match (sign, skipped) {
                    (b'#', 1) => RemovedEnd::ShortPrefix,
                    (b'#', _) => RemovedEnd::LongPrefix,
                    (_, 1) => RemovedEnd::ShortSuffix,
                    _ => RemovedEnd::LongSuffix,
                };
                Operation::Remove { end, pattern: inner }
            }
            _ if inner.is_empty() => Operation::None,
            _ => Operation::Other(inner),
        };
        word.pieces.push(Piece::Variable { name, operation, quoted });
        Ok(())
    }

    /// Parses the word of an operation up to the closing brace.
    fn until_brace(&mut self, quoting: Quoting) -> Result<Word, CommandError> {
        let mut word = Word::default();
        loop {
            match self.peek() {
                None => {
                    self.fail();
                    return Ok(word);
                }
                Some('}') => {
                    self.skip(1);
                    return Ok(word);
                }
                Some('"') => {
                    self.skip(1);
                    self.double_quoted(&mut word)?;
                }
                Some('\'') if quoting == Quoting::Bare => {
                    self.skip(1);
                    let rest = self.rest();
                    let end = rest.find('\'').unwrap_or(rest.len());
                    word.push(rest.part(..end), Quoting::Quoted);
                    self.skip(end + 1);
                }
                Some('\\') => {
                    self.skip(1);
                    if let Some(next) = self.peek() {
                        self.skip(next.len_utf8());
                        word.push(next.encode_utf8(&mut [0; 4]), Quoting::Quoted);
                    }
                }
                Some('$') => self.dollar(&mut word, quoting)?,
                Some('`') => self.backticks(&mut word, quoting)?,
                Some(next) => {
                    self.skip(next.len_utf8());
                    word.push(next.encode_utf8(&mut [0; 4]), quoting);
                }
            }
        }
    }
}

/// Parses an argument without quotes. `${NAME}`, `${NAME:-default}` and `$NAME` are variables.
pub(super) fn argument(text: &str) -> Word {
    let mut word = Word::default();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        word.push(rest.part(..at), Quoting::Quoted);
        let tail = rest.rest(at + 1);
        let name_of = |text: &str, dots: bool| {
            let named = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || (dots && *byte == b'.');
            text.bytes().take_while(named).count()
        };
        // Names and defaults are short. Without the limit, many `${` would each search the rest of the text.
        let end = tail.bytes().take(4096).position(|byte| byte == b'}');
        let inner = tail.strip_prefix('{').and_then(|inner| inner.get(..end?.checked_sub(1)?));
        let plain = name_of(tail, false);
        let mut variable = |name: &str, operation| {
            word.pieces.push(Piece::Variable { name: name.to_owned(), operation, quoted: true });
        };
        rest = match inner {
            Some("/" | "pathSeparator") => {
                word.push("/", Quoting::Quoted);
                tail.rest(end.map_or(0, |end| end + 1))
            }
            Some(inner) => {
                let (name, after) = inner.split_at(name_of(inner, true));
                let default = after.strip_prefix(":-").or_else(|| after.strip_prefix('-'));
                let mut value = Word::default();
                value.push(default.unwrap_or(after), Quoting::Quoted);
                variable(
                    name,
                    match default {
                        Some(text) if !text.contains('$') => Operation::Default(value),
                        None if after.is_empty() => Operation::None,
                        _ => Operation::Other(value),
                    },
                );
                tail.rest(end.map_or(0, |end| end + 1))
            }
            None if plain > 0 && !tail.starts_with(|first: char| first.is_ascii_digit()) => {
                variable(tail.part(..plain), Operation::None);
                tail.rest(plain)
            }
            None => {
                word.push("$", Quoting::Quoted);
                tail
            }
        };
    }
    if !rest.is_empty() || word.is_empty() {
        word.push(rest, Quoting::Quoted);
    }
    word
}
