//! Tokens of JavaScript and TypeScript, as far as an exported literal needs them.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use plugward_types::Part;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or keyword.
    Name,
    Number,
    /// A text in single or double quotes.
    Text,
    /// A template without substitutions.
    Template,
    /// The part of a template before its first substitution.
    TemplateHead,
    /// A part between two substitutions.
    TemplateMiddle,
    /// The part after the last substitution.
    TemplateTail,
    /// A regular expression.
    Pattern,
    /// A character of an operator or bracket.
    Mark(u8),
    End,
}

/// A token and its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) at: usize,
    pub(crate) text: &'a str,
    /// Whether a line ended between the previous token and this one.
    pub(crate) is_on_new_line: bool,
}

impl Token<'_> {
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.kind == TokenKind::Name && self.text == name
    }

    pub(crate) fn is_mark(&self, mark: u8) -> bool {
        self.kind == TokenKind::Mark(mark)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Brace {
    Block,
    Substitution,
}

/// Names after which a `/` starts a regular expression.
const BEFORE_PATTERN: &[&str] = plugward_types::words![
    "await case delete do else extends in instanceof new of return throw typeof void yield",
];

/// A lexer with one pass and without recursion, so that no nesting of a source can exhaust the stack.
#[derive(Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    braces: Vec<Brace>,
    /// Whether the last token ended a value, so that a `/` divides.
    is_after_value: bool,
    /// The start of the first text, template or comment without an end.
    pub(crate) unfinished: Option<usize>,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let at = if text.starts_with("#!") { text.find('\n').unwrap_or(text.len()) } else { 0 };
        Self { text, at, braces: Vec::new(), is_after_value: false, unfinished: None }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(crate) fn next(&mut self) -> Token<'a> {
        let is_on_new_line = self.trivia();
        let at = self.at;
        let kind = self.kind();
        self.is_after_value = match kind {
            TokenKind::Name => !BEFORE_PATTERN.contains(&self.text.part(at..self.at)),
            TokenKind::Mark(mark) => matches!(mark, b')' | b']'),
            TokenKind::TemplateHead | TokenKind::TemplateMiddle | TokenKind::End => false,
            _ => true,
        };
        Token { kind, at, text: self.text.part(at..self.at), is_on_new_line }
    }

    /// Skips blanks and comments, and returns `true` if a line ended among them.
    fn trivia(&mut self) -> bool {
        let start = self.at;
        while let Some(character) = self.text.rest(self.at).chars().next() {
            if character.is_whitespace() || character == '\u{feff}' {
                self.at += character.len_utf8();
            } else if self.text.rest(self.at).starts_with("//") {
                let rest = self.text.rest(self.at);
                self.at += rest.find(is_line_end).unwrap_or(rest.len());
            } else if self.text.rest(self.at).starts_with("/*") {
                let end = self.text.rest(self.at + 2).find("*/");
                if end.is_none() {
                    self.unfinished.get_or_insert(self.at);
                }
                self.at = end.map_or(self.text.len(), |end| self.at + end + 4);
            } else {
                break;
            }
        }
        self.text.part(start..self.at).contains(is_line_end)
    }

    fn kind(&mut self) -> TokenKind {
        let Some(first) = self.byte(self.at) else { return TokenKind::End };
        let follows_digit = self.byte(self.at + 1).is_some_and(|next| next.is_ascii_digit());
        match first {
            b'"' | b'\'' => self.quoted(first),
            b'`' => self.template(TokenKind::Template, TokenKind::TemplateHead),
            b'0'..=b'9' => self.number(),
            b'.' if follows_digit => self.number(),
            b'/' if !self.is_after_value && self.pattern() => TokenKind::Pattern,
            b'}' if self.braces.pop() == Some(Brace::Substitution) => {
                self.template(TokenKind::TemplateTail, TokenKind::TemplateMiddle)
            }
            _ if is_name_byte(first) => {
                while self.byte(self.at).is_some_and(is_name_byte) {
                    self.at += 1;
                }
                TokenKind::Name
            }
            mark => {
                if mark == b'{' {
                    self.braces.push(Brace::Block);
                }
                self.at += 1;
                TokenKind::Mark(mark)
            }
        }
    }

    fn number(&mut self) -> TokenKind {
        while let Some(byte) = self.byte(self.at) {
            // The sign of an exponent is part of the number. A hexadecimal `e` does not have one in a literal.
            let is_sign = matches!(byte, b'+' | b'-')
                && matches!(self.byte(self.at - 1), Some(b'e' | b'E'))
                && self.byte(self.at + 1).is_some_and(|next| next.is_ascii_digit());
            if !(is_name_byte(byte) || byte == b'.' || is_sign) {
                break;
            }
            self.at += 1;
        }
        TokenKind::Number
    }

    fn quoted(&mut self, quote: u8) -> TokenKind {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.byte(self.at) {
            match byte {
                b'\\' => self.at = self.after_escape(),
                b'\n' | b'\r' => break,
                _ => self.at += 1,
            }
            if byte == quote {
                return TokenKind::Text;
            }
        }
        self.unfinished.get_or_insert(start);
        TokenKind::Text
    }

    /// Reads a template from its backtick or from the end of a substitution.
    fn template(&mut self, complete: TokenKind, before_substitution: TokenKind) -> TokenKind {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.byte(self.at) {
            match byte {
                b'\\' => self.at = self.after_escape(),
                b'`' => {
                    self.at += 1;
                    return complete;
                }
                b'$' if self.byte(self.at + 1) == Some(b'{') => {
                    self.at += 2;
                    self.braces.push(Brace::Substitution);
                    return before_substitution;
                }
                _ => self.at += 1,
            }
        }
        self.unfinished.get_or_insert(start);
        complete
    }

    /// Reads a regular expression. Without an end on the same line, the `/` is an operator.
    fn pattern(&mut self) -> bool {
        let mut is_in_class = false;
        let mut at = self.at + 1;
        while let Some(byte) = self.byte(at).filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            at += 1;
            match byte {
                b'\\' if !matches!(self.byte(at), Some(b'\n' | b'\r')) => at += 1,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => {
                    while self.byte(at).is_some_and(is_name_byte) {
                        at += 1;
                    }
                    self.at = at;
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// Returns the offset after a backslash and the escaped character.
    fn after_escape(&self) -> usize {
        let escaped = self.text.rest(self.at + 1).chars().next();
        let is_crlf = self.text.rest(self.at + 1).starts_with("\r\n");
        self.at + 1 + if is_crlf { 2 } else { escaped.map_or(0, char::len_utf8) }
    }

    /// Returns `true` if every brace that was opened is closed.
    pub(crate) fn is_balanced(&self) -> bool {
        self.braces.is_empty()
    }
}

pub(crate) fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'\\') || !byte.is_ascii()
}
