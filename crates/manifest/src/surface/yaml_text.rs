//! Reads single texts of YAML: keys, quoted and plain texts, block texts, and lists of words.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::{Part, hex};

/// One line, without its line break.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
    number: u32,
}

/// What a text in brackets can be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Key,
    Text,
}

/// The value of a key.
pub(crate) enum Value {
    Text(String),
    Words(Vec<String>),
    /// A mapping, or a list that contains more than words.
    Mapping,
    /// The value cannot be read, with the reason.
    Unresolved(&'static str),
}

const ALIAS: Value = Value::Unresolved("an alias");

/// A cursor over a part of a file.
pub(crate) struct Scanner<'a> {
    /// The file up to the end of the part.
    text: &'a str,
    lines: Vec<Line>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, start: usize, end: usize, mut number: u32) -> Self {
        let text = text.get(..end).unwrap_or(text);
        let mut lines = Vec::new();
        let mut at = start;
        // For YAML, a carriage return alone ends a line as well.
        for raw in text.part(start..).split_inclusive(['\n', '\r']) {
            let content = raw.trim_end_matches(['\n', '\r']).len();
            if raw != "\n" || at == start || text.as_bytes().get(at - 1) != Some(&b'\r') {
                lines.push(Line { start: at, end: at + content, number });
            }
            at += raw.len();
            number = number.saturating_add(u32::from(raw.ends_with('\n')));
        }
        Self { text, lines }
    }

    pub(crate) fn line(&self, index: usize) -> Option<Line> {
        self.lines.get(index).copied()
    }

    /// Returns the index of the first line that starts after an offset.
    pub(crate) fn line_after(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start <= at)
    }

    fn line_of(&self, at: usize) -> Option<Line> {
        self.line(self.line_after(at).saturating_sub(1))
    }

    pub(crate) fn line_end(&self, at: usize) -> usize {
        self.line_of(at).map_or(at, |line| line.end)
    }

    pub(crate) fn number(&self, at: usize) -> u32 {
        self.line_of(at).map_or(1, |line| line.number)
    }

    pub(crate) const fn end(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(crate) fn text(&self, start: usize, end: usize) -> &'a str {
        self.text.part(start..end)
    }

    fn skip(&self, at: usize, end: usize, skipped: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().part(at..end);
        at + rest.iter().take_while(|byte| skipped(**byte)).count()
    }

    pub(crate) fn skip_blanks(&self, at: usize, end: usize) -> usize {
        self.skip(at, end, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Skips space, line breaks and comments.
    pub(crate) fn skip_space(&self, mut at: usize) -> usize {
        loop {
            let next = self.skip(at, self.end(), |byte| byte.is_ascii_whitespace());
            let spaced =
                next > at || self.byte(next.wrapping_sub(1)).is_some_and(|byte| b",[{".contains(&byte));
            if self.byte(next) != Some(b'#') || !spaced {
                return next;
            }
            at = self.skip(next, self.end(), |byte| !matches!(byte, b'\n' | b'\r'));
        }
    }

    /// Skips the marks of list items and of explicit keys.
    pub(crate) fn skip_indicators(&self, mut at: usize, end: usize) -> usize {
        while matches!(self.byte(at), Some(b'-' | b'?')) && matches!(self.byte(at + 1), Some(b' ' | b'\t')) {
            at = self.skip_blanks(at + 1, end);
        }
        at
    }

    /// Skips anchors and tags.
    pub(crate) fn skip_properties(&self, at: usize, end: usize) -> usize {
        let mut at = self.skip_blanks(at, end);
        // An exclamation mark alone can also be the negation of a shell.
        while matches!(self.byte(at), Some(b'&' | b'!'))
            && self.byte(at + 1).is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b'&')
        {
            let word = self.skip(at, end, |byte| !byte.is_ascii_whitespace() && !b",[]{}".contains(&byte));
            at = self.skip_blanks(word, end);
        }
        at
    }

    pub(crate) fn is_alias(&self, at: usize) -> bool {
        self.byte(at) == Some(b'*')
            && self
                .byte(at + 1)
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    }

    /// Reads a key on one line, and returns it with the offset after its colon.
    pub(crate) fn key(&self, at: usize, end: usize) -> Option<(String, usize)> {
        let at = self.skip_properties(at, end);
        if let Some(quote @ (b'"' | b'\'')) = self.byte(at) {
            let close = self.quote_end(at, quote).filter(|close| *close <= end)?;
            let colon = self.skip_blanks(close, end);
            let key = decode(self.text(at + 1, close - 1), quote)?;
            return (self.byte(colon) == Some(b':') && colon < end).then_some((key, colon + 1));
        }
        if matches!(self.byte(at), Some(b'{' | b'[')) {
            return None;
        }
        let line = self.text(at, end);
        for (colon, _) in line.match_indices(':') {
            let key = line.part(..colon).trim_end();
            let after = at + colon + 1;
            let known = matches!(key, "command" | "args" | "hooks" | "mcpServers");
            if known || after == end || matches!(self.byte(after), Some(b' ' | b'\t')) {
                return Some((key.to_owned(), after));
            }
        }
        None
    }

    /// Returns the offset after the closing quote.
    fn quote_end(&self, open: usize, quote: u8) -> Option<usize> {
        let mut at = open + 1;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' if quote == b'"' => at += 1,
                _ if byte == quote && quote == b'\'' && self.byte(at + 1) == Some(b'\'') => at += 1,
                _ if byte == quote => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Reads the value of a key in block style, and returns it with the end of the consumed text.
    pub(crate) fn block_value(&self, after: usize, line: Line, column: usize) -> (Value, usize) {
        let at = self.skip_properties(after, line.end);
        let rest = self.text(at, line.end).trim_end();
        match self.byte(at).filter(|_| !rest.is_empty()) {
            Some(quote @ (b'"' | b'\'')) => {
                return match self.quote_end(at, quote) {
                    Some(close) if self.ends_line(close) => (self.quoted(at, close, quote), close),
                    // Some hosts pass such a text to a shell as it is.
                    Some(_) => (Value::Text(rest.to_owned()), line.end),
                    None => (Value::Unresolved("a text without a closing quote"), line.end),
                };
            }
            Some(b'|' | b'>') if is_block_header(rest) => return self.block_text(rest, line, column),
            Some(b'*') if self.is_alias(at) => return (ALIAS, line.end),
            Some(b'[') => return self.flow_words(at).unwrap_or((Value::Mapping, line.end)),
            Some(b'{') => return (Value::Mapping, line.end),
            None | Some(b'#') => return self.next_lines(line, column),
            Some(_) => {}
        }
        let (more, end) = self.continued(line, column);
        if more.is_empty() {
            return (Value::Text(rest.to_owned()), line.end);
        }
        let mut text = without_comment(rest).to_owned();
        for part in more {
            text.push_str(if part.is_empty() { "\n" } else { " " });
            text.push_str(without_comment(part));
        }
        (Value::Text(text.trim_end().to_owned()), end)
    }

    /// Returns `true` if only a comment follows on the line.
    fn ends_line(&self, at: usize) -> bool {
        let rest = self.text(at, self.line_end(at));
        rest.trim().is_empty() || (rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('#'))
    }

    fn quoted(&self, open: usize, close: usize, quote: u8) -> Value {
        decode(self.text(open + 1, close - 1), quote)
            .map_or(Value::Unresolved("an escape that is not a character"), Value::Text)
    }

    /// Returns the following lines that continue a plain text, trimmed.
    fn continued(&self, line: Line, column: usize) -> (Vec<&'a str>, usize) {
        let mut parts = Vec::new();
        let mut end = line.end;
        let mut kept = 0_usize;
        for next in self.lines.iter().skip(self.line_after(line.start)) {
            let at = self.skip_blanks(next.start, next.end);
            let text = self.text(at, next.end).trim_end();
            let key = self.key(self.skip_indicators(at, next.end), next.end);
            if !text.is_empty()
                && (at - next.start <= column
                    || text.starts_with('#')
                    || key.is_some_and(|(key, _)| key == "command"))
            {
                break;
            }
            parts.push(text);
            if !text.is_empty() {
                (kept, end) = (parts.len(), next.end);
            }
        }
        parts.truncate(kept);
        (parts, end)
    }

    /// Reads a value that starts after the line of its key.
    fn next_lines(&self, line: Line, column: usize) -> (Value, usize) {
        let empty = (Value::Text(String::new()), line.end);
        let index = self.line_after(line.start);
        let next = self.lines.iter().skip(index).find(|next| {
            let text = self.text(next.start, next.end).trim_start();
            !text.is_empty() && !text.starts_with('#')
        });
        let Some(next) = next.copied() else { return empty };
        let at = self.skip_blanks(next.start, next.end);
        let indent = at - next.start;
        let dash = self.byte(at) == Some(b'-') && self.skip_indicators(at, next.end) > at;
        // The items of a list can have the column of their key.
        if dash && indent >= column {
            return self.block_words(next, indent);
        }
        if indent <= column {
            return empty;
        }
        if self.is_entry(at, next.end) || self.skip_properties(at, next.end) == next.end {
            return (Value::Mapping, line.end);
        }
        self.block_value(at, next, column)
    }

    /// Reads a list of words in block style.
    fn block_words(&self, first: Line, indent: usize) -> (Value, usize) {
        let mut words = Vec::new();
        let mut end = first.start;
        let mut index = self.line_after(first.start).saturating_sub(1);
        while let Some(line) = self.line(index) {
            let at = self.skip_blanks(line.start, line.end);
            if at == line.end || self.byte(at) == Some(b'#') {
                index += 1;
                continue;
            }
            let item = self.skip_indicators(at, line.end);
            if at - line.start != indent || self.byte(at) != Some(b'-') || item == at {
                break;
            }
            let from = self.skip_properties(item, line.end);
            if from == line.end || self.byte(from) == Some(b'#') || self.is_entry(from, line.end) {
                return (Value::Mapping, first.start);
            }
            let (value, next) = self.block_value(from, line, indent);
            match value {
                Value::Text(text) => words.push(plain_word(text, self.byte(from))),
                Value::Unresolved(why) => return (Value::Unresolved(why), next),
                _ => return (Value::Mapping, first.start),
            }
            end = next;
            index = self.line_after(next);
        }
        (Value::Words(words), end)
    }

    /// Returns `true` if a key starts here, and not a quoted text.
    fn is_entry(&self, at: usize, end: usize) -> bool {
        !matches!(self.byte(at), Some(b'"' | b'\'')) && self.key(at, end).is_some()
    }

    /// Reads a list of words in brackets; `None` if the list contains anything else.
    fn flow_words(&self, open: usize) -> Option<(Value, usize)> {
        let mut words = Vec::new();
        let mut at = open + 1;
        let mut fresh = true;
        loop {
            at = self.skip_space(at);
            match self.byte(at)? {
                b']' => return Some((Value::Words(words), at + 1)),
                b',' => {
                    fresh = true;
                    at += 1;
                }
                b'{' | b'[' | b'}' => return None,
                _ if !fresh => return Some((Value::Unresolved("text after a value"), self.line_end(open))),
                _ => {
                    let start = self.skip_properties(at, self.end());
                    match self.flow_scalar(start, Expected::Text) {
                        (Value::Text(text), end, _) => {
                            words.push(text);
                            at = end.max(at + 1);
                        }
                        (value, _, _) => return Some((value, self.line_end(open))),
                    }
                    fresh = false;
                }
            }
        }
    }

    /// Reads a text in brackets, and returns it with its end and the offset after a colon that follows.
    pub(crate) fn flow_scalar(&self, at: usize, expected: Expected) -> (Value, usize, Option<usize>) {
        if let Some(quote @ (b'"' | b'\'')) = self.byte(at) {
            let Some(close) = self.quote_end(at, quote) else {
                return (Value::Unresolved("a text without a closing quote"), self.end(), None);
            };
            let colon = self.skip_space(close);
            let after = (self.byte(colon) == Some(b':')).then_some(colon + 1);
            return (self.quoted(at, close, quote), close, after);
        }
        let mut end = at;
        let mut after = None;
        while let Some(byte) = self.byte(end) {
            let next = self.byte(end + 1);
            let spaced = end > at && self.byte(end - 1).is_some_and(|byte| byte.is_ascii_whitespace());
            if b",[]{}".contains(&byte) || (byte == b'#' && spaced) {
                break;
            }
            if byte == b':' {
                let key = self.text(at, end).trim_end();
                let known =
                    expected == Expected::Key && matches!(key, "command" | "args" | "hooks" | "mcpServers");
                if known || next.is_none_or(|next| next.is_ascii_whitespace() || b",[]{}".contains(&next)) {
                    after = Some(end + 1);
                    break;
                }
            }
            end += 1;
        }
        let alias = self.is_alias(at);
        let words: Vec<&str> = self.text(at, end).lines().map(str::trim).collect();
        (if alias { ALIAS } else { Value::Text(words.join(" ").trim().to_owned()) }, end, after)
    }

    /// Reads a literal or folded block text.
    fn block_text(&self, header: &str, line: Line, column: usize) -> (Value, usize) {
        let folded = header.starts_with('>');
        let digit =
            header.chars().find_map(|next| next.to_digit(10)).and_then(|digit| usize::try_from(digit).ok());
        let mut indent = digit.map(|digit| column + digit);
        let mut end = line.end;
        let mut text = String::new();
        let mut breaks = 0_usize;
        let mut before = None;
        for next in self.lines.iter().skip(self.line_after(line.start)) {
            let at = self.skip_blanks(next.start, next.end);
            if at == next.end {
                breaks += 1;
                continue;
            }
            if at - next.start <= column {
                break;
            }
            let from = next.start + (*indent.get_or_insert(at - next.start)).min(at - next.start);
            let deeper = from < at;
            if let Some(deep) = before.replace(deeper) {
                match breaks {
                    0 if folded && !deep && !deeper => text.push(' '),
                    _ => text
                        .extend(core::iter::repeat_n('\n', breaks + usize::from(!folded || deep || deeper))),
                }
            }
            breaks = 0;
            text.push_str(self.text(from, next.end));
            end = next.end;
        }
        if text.is_empty() {
            return (Value::Unresolved("an empty block text"), line.end);
        }
        (Value::Text(text), end)
    }
}

/// Removes the comment of a plain word; quoted words were decoded.
fn plain_word(text: String, first: Option<u8>) -> String {
    if matches!(first, Some(b'"' | b'\'' | b'|' | b'>')) { text } else { without_comment(&text).to_owned() }
}

fn without_comment(text: &str) -> &str {
    let end = text.match_indices('#').find(|(at, _)| {
        text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
    });
    text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or(text).trim_end()
}

/// Returns `true` for `|` and `>` with indicators and a comment, but not for a redirection.
fn is_block_header(text: &str) -> bool {
    let rest = without_comment(text).part(1..);
    rest.len() <= 2 && rest.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9'))
}

/// Decodes the inner text of quotes; `None` if an escape does not encode a character.
fn decode(inner: &str, quote: u8) -> Option<String> {
    let mut out = String::with_capacity(inner.len());
    // The text up to here comes from escapes, and a line break does not remove its spaces.
    let mut fixed = 0_usize;
    let mut rest = inner.chars();
    while let Some(next) = rest.next() {
        match next {
            '\'' if quote == b'\'' => {
                out.push('\'');
                rest.next();
            }
            '\n' | '\r' => {
                let kept = out.trim_end_matches([' ', '\t']).len().max(fixed);
                out.truncate(kept);
                let after = rest.as_str().trim_start();
                let space = rest.as_str().len() - after.len();
                let breaks = rest.as_str().part(..space).matches('\n').count();
                let breaks = breaks - usize::from(next == '\r' && rest.as_str().starts_with('\n'));
                if breaks == 0 {
                    out.push(' ');
                } else {
                    out.extend(core::iter::repeat_n('\n', breaks));
                }
                rest = after.chars();
            }
            '\\' if quote == b'"' => {
                rest = escaped(rest.as_str(), &mut out)?.chars();
                fixed = out.len();
            }
            _ => out.push(next),
        }
    }
    Some(out)
}

/// Decodes the escape after a backslash, and returns the text after it.
fn escaped<'a>(text: &'a str, out: &mut String) -> Option<&'a str> {
    let mut rest = text.chars();
    let digits = match rest.next()? {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        '\r' | '\n' => return Some(rest.as_str().trim_start()),
        next => {
            match next {
                '0' => out.push('\0'),
                'a' => out.push('\u{7}'),
                'b' => out.push('\u{8}'),
                't' | '\t' => out.push('\t'),
                'n' => out.push('\n'),
                'v' => out.push('\u{b}'),
                'f' => out.push('\u{c}'),
                'r' => out.push('\r'),
                'e' => out.push('\u{1b}'),
                'N' => out.push('\u{85}'),
                '_' => out.push('\u{a0}'),
                'L' => out.push('\u{2028}'),
                'P' => out.push('\u{2029}'),
                ' ' | '"' | '/' | '\\' => out.push(next),
                // Not YAML. Lenient parsers keep the backslash.
                _ => out.extend(['\\', next]),
            }
            return Some(rest.as_str());
        }
    };
    let code = hex::number(rest.as_str().as_bytes().get(..digits)?)?;
    out.push(char::from_u32(code)?);
    rest.as_str().get(digits..)
}

/// Returns words as the text of a shell command. Variables in braces stay, because hosts replace them.
pub(crate) fn quoted_words<'w>(words: impl Iterator<Item = &'w String>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
        if !word.is_empty() && word.bytes().all(plain) {
            out.push_str(word);
        } else if word.contains("${") {
            out.push('"');
            for (at, next) in word.char_indices() {
                let variable = next == '$' && word.get(at + 1..).is_some_and(|rest| rest.starts_with('{'));
                if matches!(next, '"' | '\\' | '`' | '$') && !variable {
                    out.push('\\');
                }
                out.push(next);
            }
            out.push('"');
        } else {
            out.push('\'');
            out.push_str(&word.replace('\'', "'\\''"));
            out.push('\'');
        }
    }
    out
}
