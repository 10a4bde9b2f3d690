//! Parses words: quotes and escapes, and braces that make several words of one.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use super::parser::Parser;
use super::{Piece, Word};
use crate::CommandError;
use plugward_types::Part;

/// The most words that the braces of one word make. The limit bounds the work for nested braces.
const BRACES: usize = 4096;

impl Word {
    /// Adds text, and joins it with text before it.
    pub(super) fn push(&mut self, more: &str, is_quoted: Quoting) {
        let is_quoted = is_quoted == Quoting::Quoted;
        match self.pieces.last_mut() {
            Some(Piece::Text { text, quoted }) if *quoted == is_quoted => text.push_str(more),
            _ => self.pieces.push(Piece::Text { text: more.to_owned(), quoted: is_quoted }),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    Bare,
    Quoted,
}

impl Parser<'_, '_> {
    /// Parses the words that one written word makes; none if there is no word here.
    pub(super) fn words(&mut self) -> Result<Vec<Word>, CommandError> {
        let start = self.at;
        let word = self.word()?;
        if self.at == start {
            return Ok(Vec::new());
        }
        let source = self.text.part(start..self.at);
        let has_braces =
            |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false } if text.contains('{'));
        if !word.pieces.iter().any(has_braces) {
            return Ok(vec![word]);
        }
        if source.matches('{').count() > 64 {
            return Err(CommandError::new("braces in one word", 64));
        }
        let Some(sources) = expand_braces(source) else { return Ok(vec![word]) };
        if sources.len() > BRACES {
            return Err(CommandError::new("words of one pair of braces", BRACES));
        }
        sources.iter().map(|source| Parser::new(source, self.budget)?.word()).collect()
    }

    /// Parses one word; it is empty if there is no word here.
    pub(super) fn word(&mut self) -> Result<Word, CommandError> {
        let mut word = Word::default();
        let start = self.at;
        while let Some(next) = self.peek() {
            let rest = self.rest();
            match next {
                '<' | '>' if rest.get(1..2) == Some("(") => self.process(&mut word)?,
                '(' if self.at > start && word.ends_with_wildcard() => {
                    // A pattern such as `@(a|b)` can match any text.
                    self.skip(rest.find(')').map_or(rest.len(), |at| at + 1));
                    word.push("*", Quoting::Bare);
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\\' => {
                    self.skip(1);
                    if let Some(next) = self.peek() {
                        self.skip(next.len_utf8());
                        if next != '\n' {
                            word.push(next.encode_utf8(&mut [0; 4]), Quoting::Quoted);
                        }
                    }
                }
                '\'' => {
                    self.skip(1);
                    let text = self.until_quote();
                    word.push(&text, Quoting::Quoted);
                }
                '"' => {
                    self.skip(1);
                    self.double_quoted(&mut word)?;
                }
                '$' if rest.starts_with("$'") => {
                    self.skip(2);
                    let text = self.ansi_quoted();
                    word.push(&text, Quoting::Quoted);
                }
                '$' if rest.starts_with("$\"") => self.skip(1),
                '$' => self.dollar(&mut word, Quoting::Bare)?,
                '`' => self.backticks(&mut word, Quoting::Bare)?,
                _ => {
                    let plain = |c: char| !c.is_whitespace() && !";&|<>()\\'\"$`".contains(c);
                    let end = rest.find(|c| !plain(c)).unwrap_or(rest.len()).max(next.len_utf8());
                    word.push(rest.part(..end), Quoting::Bare);
                    self.skip(end);
                }
            }
        }
        if self.at > start {
            self.budget.word()?;
        }
        Ok(word)
    }

    fn until_quote(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find('\'').unwrap_or_else(|| {
            self.fail();
            rest.len()
        });
        self.skip(end + 1);
        rest.part(..end).to_owned()
    }

    /// Parses text in double quotes, after the opening one.
    pub(super) fn double_quoted(&mut self, word: &mut Word) -> Result<(), CommandError> {
        word.push("", Quoting::Quoted);
        loop {
            match self.peek() {
                None => {
                    self.fail();
                    return Ok(());
                }
                Some('"') => {
                    self.skip(1);
                    return Ok(());
                }
                Some(next) => self.quoted_piece(next, word, "$`\"\\")?,
            }
        }
    }

    /// Parses the text of a here-document.
    pub(super) fn document(&mut self) -> Result<Word, CommandError> {
        let mut word = Word::default();
        while let Some(next) = self.peek() {
            self.quoted_piece(next, &mut word, "$`\\")?;
        }
        Ok(word)
    }

    pub(super) fn quoted_piece(
        &mut self,
        next: char,
        word: &mut Word,
        escapes: &str,
    ) -> Result<(), CommandError> {
        match next {
            '\\' => {
                self.skip(1);
                match self.peek() {
                    Some('\n') => self.skip(1),
                    Some(escaped) if escapes.contains(escaped) => {
                        self.skip(1);
                        word.push(escaped.encode_utf8(&mut [0; 4]), Quoting::Quoted);
                    }
                    _ => word.push("\\", Quoting::Quoted),
                }
                Ok(())
            }
            '$' => self.dollar(word, Quoting::Quoted),
            '`' => self.backticks(word, Quoting::Quoted),
            _ => {
                let rest = self.rest();
                let end = rest.find(['\\', '$', '`', '"', '}']).unwrap_or(rest.len()).max(next.len_utf8());
                word.push(rest.part(..end), Quoting::Quoted);
                self.skip(end);
                Ok(())
            }
        }
    }

    /// Decodes `$'…'`, after the opening quote.
    fn ansi_quoted(&mut self) -> String {
        let mut bytes = Vec::new();
        loop {
            let Some(next) = self.peek() else {
                self.fail();
                break;
            };
            self.skip(next.len_utf8());
            match next {
                '\'' => break,
                '\\' => {
                    let Some(escape) = self.peek() else { break };
                    self.skip(escape.len_utf8());
                    let simple = match escape {
                        'a' => '\x07',
                        'b' => '\x08',
                        'e' | 'E' => '\x1b',
                        'f' => '\x0c',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'v' => '\x0b',
                        '\\' | '\'' | '"' | '?' => escape,
                        'x' => {
                            bytes.extend(u8::try_from(self.number(16, 2)));
                            continue;
                        }
                        'u' | 'U' => {
                            let digits = if escape == 'u' { 4 } else { 8 };
                            char::from_u32(self.number(16, digits)).unwrap_or(char::REPLACEMENT_CHARACTER)
                        }
                        '0'..='7' => {
                            self.at -= 1;
                            bytes.extend(u8::try_from(self.number(8, 3) & 0xff));
                            continue;
                        }
                        'c' => {
                            let control = self.peek().map_or(0, |c| u32::from(c) & 0x1f);
                            self.skip(1);
                            char::from_u32(control).unwrap_or_default()
                        }
                        _ => {
                            bytes.push(b'\\');
                            escape
                        }
                    };
                    bytes.extend_from_slice(simple.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        // A NUL ends the text in bash.
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn number(&mut self, radix: u32, digits: usize) -> u32 {
        let rest = self.rest();
        let length = rest.chars().take(digits).take_while(|c| c.is_digit(radix)).count();
        self.skip(length);
        u32::from_str_radix(rest.part(..length), radix).unwrap_or_default()
    }
}

impl Word {
    fn ends_with_wildcard(&self) -> bool {
        matches!(self.pieces.last(), Some(Piece::Text { text, quoted: false }) if text.ends_with(['@', '!', '+', '*', '?']))
    }

    /// Returns `true` if the word has the form `{}` or an expansion without a value of its own.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}

/// Expands the braces of a written word, as in `{a,b}.sh` and `h{1..3}.sh`; `None` if there are none.
fn expand_braces(source: &str) -> Option<Vec<String>> {
    let (open, close, commas) = braces(source)?;
    let inner = source.get(open + 1..close)?;
    let (before, after) = (source.get(..open)?, source.get(close + 1..)?);
    let choices: Vec<String> = if commas.is_empty() {
        range(inner)?
    } else {
        let starts = core::iter::once(open + 1).chain(commas.iter().map(|at| at + 1));
        let ends = commas.iter().copied().chain([close]);
        starts.zip(ends).filter_map(|(from, to)| source.get(from..to)).map(str::to_owned).collect()
    };
    let mut words = Vec::new();
    for choice in choices {
        let word = format!("{before}{choice}{after}");
        match expand_braces(&word) {
            Some(more) => words.extend(more),
            None => words.push(word),
        }
        if words.len() > BRACES {
            break;
        }
    }
    Some(words)
}

/// Finds the first pair of unquoted braces that expands, with the commas between its parts.
fn braces(source: &str) -> Option<(usize, usize, Vec<usize>)> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let (mut quote, mut escaped, mut dollar) = (None, false, false);
    let mut skipped = 0_usize;
    for (at, next) in source.char_indices() {
        let after_dollar = core::mem::replace(&mut dollar, next == '$' && quote != Some('\''));
        match next {
            _ if escaped => escaped = false,
            '\\' if quote != Some('\'') => escaped = true,
            '\'' | '"' if quote.is_none() => quote = Some(next),
            _ if quote == Some(next) => quote = None,
            _ if quote.is_some() => {}
            // Braces and parentheses of expansions are not expanded here.
            '{' | '(' if after_dollar || skipped > 0 => skipped += 1,
            '}' | ')' if skipped > 0 => skipped -= 1,
            _ if skipped > 0 => {}
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                if let Some((start, commas)) = open.pop() {
                    let inner = source.part(start + 1..at);
                    if !commas.is_empty() || range(inner).is_some() {
                        return Some((start, at, commas));
                    }
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the values of `a..c` and `1..9..2`.
fn range(inner: &str) -> Option<Vec<String>> {
    let mut parts = inner.split("..");
    let (from, to, step) = (parts.next()?, parts.next()?, parts.next());
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    let count = |low: i64, high: i64| {
        usize::try_from(high.abs_diff(low) / step).ok().filter(|count| *count < 2 * BRACES)
    };
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| number.unsigned_abs() < 1 << 40);
    if let (Some(low), Some(high)) = (number(from), number(to)) {
        let width =
            [from, to].iter().filter(|text| text.starts_with('0')).map(|text| text.len()).max().unwrap_or(0);
        let sign = if low <= high { 1 } else { -1 };
        let values = (0..=count(low, high)?).filter_map(|at| i64::try_from(at as u64 * step).ok());
        return Some(values.map(|by| format!("{:0width$}", low + sign * by)).collect());
    }
    let letter = |text: &str| text.chars().next().filter(|c| text.len() == 1 && c.is_ascii_alphabetic());
    let (low, high) = (u8::try_from(letter(from)?).ok()?, u8::try_from(letter(to)?).ok()?);
    let all: Vec<u8> = if low <= high { (low..=high).collect() } else { (high..=low).rev().collect() };
    let step = usize::try_from(step).ok()?;
    Some(all.into_iter().step_by(step).map(|byte| char::from(byte).to_string()).collect())
}
