//! Splits a command text like a POSIX shell, to classify it and never to run it.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

/// A word or an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Word(Word),
    Operator(&'static str),
    /// `<<END` and the like: the lines after it are data.
    HereDocument,
}

/// One word, with the variables and commands that the shell would expand in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    /// `true` if a part of the word is quoted; such a word is never a keyword.
    pub(crate) quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// A variable by name.
    Variable {
        name: String,
        quoted: bool,
    },
    /// `$1`, `$?`, arithmetic, and quotes of other shells: neither a name nor a known text.
    Unknown,
    /// The text of a command substitution.
    Command(String),
}

impl Word {
    /// Returns the text if the shell expands nothing in it.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                _ => return None,
            }
        }
        Some(out)
    }

    /// Returns the text for users: variables as `${NAME}`, commands as `$(…)`.
    pub(crate) fn shown(&self) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Variable { name, .. } => {
                    out.push_str("${");
                    out.push_str(name);
                    out.push('}');
                }
                Piece::Unknown => out.push_str("$?"),
                Piece::Command(text) => {
                    out.push_str("$(");
                    out.push_str(text);
                    out.push(')');
                }
            }
        }
        out
    }

    fn push(&mut self, character: char) {
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            text.push(character);
        } else {
            self.pieces.push(Piece::Text(character.to_string()));
        }
    }

    fn push_text(&mut self, more: &str) {
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            text.push_str(more);
        } else {
            self.pieces.push(Piece::Text(more.to_owned()));
        }
    }
}

/// The nesting of texts that is followed, which limits recursion. Deeper texts count as unknown.
pub(super) const MAX_DEPTH: u8 = 8;

// Longer operators come first, because the first match is taken.
const OPERATORS: &[&str] = &[
    "<<<", "&>>", ";;&", "&&", "||", ";;", ";&", "|&", "<<-", "<<", ">>", "<>", ">&", "<&", ">|", "&>", ";",
    "&", "|", "<", ">", "(", ")", "\n",
];

/// Splits a text into words and operators. Invalid text yields a result too: an attacker could rely on an error.
pub(crate) fn split(text: &str) -> Vec<Token> {
    split_at(text, 0)
}

fn split_at(text: &str, depth: u8) -> Vec<Token> {
    let mut lexer =
        Lexer { rest: text, tokens: Vec::new(), word: None, ends: Vec::new(), awaits_end: false, depth };
    lexer.run();
    lexer.tokens
}

/// A lexer for the POSIX shell grammar.
///
/// It only has to be right about which words are programs. It knows quotes, expansions, redirections and
/// here-documents, because each of them can hide a program from a search for words, or make data look like one.
struct Lexer<'t> {
    rest: &'t str,
    tokens: Vec<Token>,
    word: Option<Word>,
    /// The end marks of the here-documents that start after the current line.
    ends: Vec<String>,
    /// `true` if the next word is an end mark.
    awaits_end: bool,
    /// The number of variable defaults around this text.
    depth: u8,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                ' ' | '\t' | '\r' => {
                    self.drop(1);
                    self.end_word();
                }
                // A `#` inside a word is a plain character, as in a URL fragment.
                '#' if self.word.is_none() => {
                    let line = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.drop(line);
                }
                // Process substitution runs a command, although it looks like a redirection.
                '<' | '>' if self.rest.get(1..2) == Some("(") => {
                    self.drop(2);
                    let inner = self.balanced();
                    self.word().pieces.push(Piece::Command(inner));
                }
                '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => self.operator(),
                _ => self.piece(first),
            }
        }
        self.end_word();
    }

    fn drop(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_with(Word::default)
    }

    /// Ends the current word, which is a token or the end mark of a here-document.
    fn end_word(&mut self) {
        let Some(mut word) = self.word.take() else { return };
        // Empty quotes make a word of their own, but add nothing to a longer one.
        if word.pieces.len() > 1 {
            word.pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        }
        if core::mem::take(&mut self.awaits_end) {
            // The text of a here-document begins only after the line end, so its delimiter is remembered until
            // then.
            self.ends.push(word.shown());
            return;
        }
        self.tokens.push(Token::Word(word));
    }

    fn operator(&mut self) {
        let Some(found) = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator)) else {
            return self.drop(1);
        };
        // A number directly before a redirection is a file descriptor.
        let redirects = found.contains(['<', '>']);
        if redirects && self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        self.drop(found.len());
        match *found {
            "<<" | "<<-" => {
                self.awaits_end = true;
                self.tokens.push(Token::HereDocument);
            }
            "\n" => {
                self.tokens.push(Token::Operator("\n"));
                for end in core::mem::take(&mut self.ends) {
                    self.skip_document(&end);
                }
            }
            operator => self.tokens.push(Token::Operator(operator)),
        }
    }

    /// Skips the lines of a here-document, which are data.
    fn skip_document(&mut self, end: &str) {
        while !self.rest.is_empty() {
            let (line, after) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = after;
            // `<<-` removes leading tabs and `<<` does not. Ending early means that more text is judged as
            // commands, which cannot hide one.
            if line.trim_start_matches('\t') == end {
                return;
            }
        }
    }

    /// Parses one piece of a word.
    fn piece(&mut self, first: char) {
        match first {
            '\\' => {
                self.drop(1);
                let Some(next) = self.rest.chars().next() else { return self.word().push('\\') };
                self.drop(next.len_utf8());
                // A backslash before a line end joins two lines.
                if next != '\n' {
                    self.word().quoted = true;
                    self.word().push(next);
                }
            }
            '\'' => {
                self.drop(1);
                let end = self.rest.find('\'').unwrap_or(self.rest.len());
                let text = self.rest.get(..end).unwrap_or_default().to_owned();
                self.drop(end + 1);
                self.word().quoted = true;
                self.word().push_text(&text);
            }
            '"' => {
                self.drop(1);
                self.word().quoted = true;
                self.word().push_text("");
                self.double_quoted();
            }
            '$' => self.dollar(Quoting::Bare),
            '`' => self.backtick(),
            _ => {
                self.drop(first.len_utf8());
                self.word().push(first);
            }
        }
    }

    fn double_quoted(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '"' => return self.drop(1),
                '\\' => {
                    self.drop(1);
                    match self.rest.chars().next() {
                        Some(next @ ('$' | '`' | '"' | '\\')) => {
                            self.drop(1);
                            self.word().push(next);
                        }
                        Some('\n') => self.drop(1),
                        _ => self.word().push('\\'),
                    }
                }
                '$' => self.dollar(Quoting::Double),
                '`' => self.backtick(),
                _ => {
                    self.drop(first.len_utf8());
                    self.word().push(first);
                }
            }
        }
    }

    /// Parses a command substitution in backticks, in which a backslash escapes only some characters.
    fn backtick(&mut self) {
        self.drop(1);
        let mut inner = String::new();
        let mut escaped = false;
        while let Some(next) = self.rest.chars().next() {
            self.drop(next.len_utf8());
            match next {
                '`' if !escaped => break,
                '\\' if !escaped => escaped = true,
                _ => {
                    // Inside backticks, a backslash escapes only these three.
                    if escaped && !matches!(next, '`' | '\\' | '$') {
                        inner.push('\\');
                    }
                    escaped = false;
                    inner.push(next);
                }
            }
        }
        self.word().pieces.push(Piece::Command(inner));
    }

    /// Parses an expansion that starts with `$`.
    fn dollar(&mut self, quoting: Quoting) {
        self.drop(1);
        let quoted = matches!(quoting, Quoting::Double);
        let first = self.rest.chars().next();
        match first {
            Some('(') if self.rest.starts_with("((") => {
                self.drop(1);
                // The value of an arithmetic expansion is unknown. Command substitutions inside it are not judged.
                let _inner = self.balanced_from(0);
                self.word().pieces.push(Piece::Unknown);
            }
            Some('(') => {
                self.drop(1);
                let inner = self.balanced();
                self.word().pieces.push(Piece::Command(inner));
            }
            Some('{') => self.braced(quoting),
            Some('\'') if !quoted => {
                // `$'…'` is not POSIX; other shells decode escapes in it.
                self.drop(1);
                self.skip_escaped_quote();
                self.word().pieces.push(Piece::Unknown);
            }
            Some('"') if !quoted => self.word().pieces.push(Piece::Unknown),
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let length = name_length(self.rest);
                let name = self.rest.get(..length).unwrap_or_default().to_owned();
                self.drop(length);
                self.word().pieces.push(Piece::Variable { name, quoted });
            }
            Some('0'..='9' | '@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                self.drop(1);
                self.word().pieces.push(Piece::Unknown);
            }
            _ => self.word().push('$'),
        }
    }

    fn skip_escaped_quote(&mut self) {
        let mut escaped = false;
        while let Some(next) = self.rest.chars().next() {
            self.drop(next.len_utf8());
            match next {
                '\'' if !escaped => return,
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
    }

    /// Parses `${NAME}`, `${NAME:-default}`, `${user_config.KEY}`, and Gemini's `${/}`.
    fn braced(&mut self, quoting: Quoting) {
        let quoted = matches!(quoting, Quoting::Double);
        self.drop(1);
        // `${/}` and `${pathSeparator}` are variables of hosts and not of the shell.
        for separator in ["/}", "pathSeparator}"] {
            if self.rest.starts_with(separator) {
                self.drop(separator.len());
                return self.word().push('/');
            }
        }
        let indirect = self.rest.starts_with('!');
        // `${!name}` is an indirect expansion and `${#name}` a length, but `${#}` is the number of arguments.
        if indirect || (self.rest.starts_with('#') && !self.rest.starts_with("#}")) {
            self.drop(1);
        }
        let length =
            self.rest.find(|next: char| !(next.is_ascii_alphanumeric() || matches!(next, '_' | '.')));
        let name = self.rest.get(..length.unwrap_or(self.rest.len())).unwrap_or_default().to_owned();
        self.drop(name.len());
        let before = self.rest;
        let end = closing_brace(before);
        let modifier = before.get(..end).unwrap_or_default().to_owned();
        self.drop(end + 1);
        if self.depth >= MAX_DEPTH {
            return self.word().pieces.push(Piece::Unknown);
        }
        // A default can contain command substitutions.
        for token in split_at(modifier.trim_start_matches([':', '-', '=', '+', '?']), self.depth + 1) {
            if let Token::Word(word) = token {
                let calls = word.pieces.into_iter().filter(|piece| matches!(piece, Piece::Command(_)));
                self.word().pieces.extend(calls);
            }
        }
        let named = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let piece = if named && !indirect { Piece::Variable { name, quoted } } else { Piece::Unknown };
        self.word().pieces.push(piece);
    }

    fn balanced(&mut self) -> String {
        self.balanced_from(1)
    }

    /// Consumes the text up to the closing parenthesis, and that parenthesis.
    fn balanced_from(&mut self, opened: usize) -> String {
        let mut open = opened;
        let mut quote = None;
        let mut escaped = false;
        for (at, next) in self.rest.char_indices() {
            match next {
                _ if escaped => escaped = false,
                '\\' if quote != Some('\'') => escaped = true,
                '\'' | '"' if quote.is_none() => quote = Some(next),
                _ if quote == Some(next) => quote = None,
                '(' if quote.is_none() => open += 1,
                ')' if quote.is_none() => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        let inner = self.rest.get(..at).unwrap_or_default().to_owned();
                        self.drop(at + 1);
                        return inner;
                    }
                }
                _ => {}
            }
        }
        core::mem::take(&mut self.rest).to_owned()
    }
}

#[derive(Clone, Copy)]
enum Quoting {
    Bare,
    Double,
}

fn is_number(word: &Word) -> bool {
    !word.quoted
        && word
            .literal()
            .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// Returns the offset of the closing brace; inner braces and quotes are skipped.
fn closing_brace(text: &str) -> usize {
    let mut open = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, next) in text.char_indices() {
        match next {
            _ if escaped => escaped = false,
            '\\' if quote != Some('\'') => escaped = true,
            '\'' | '"' if quote.is_none() => quote = Some(next),
            _ if quote == Some(next) => quote = None,
            '{' if quote.is_none() => open += 1,
            '}' if quote.is_none() && open == 0 => return at,
            '}' if quote.is_none() => open = open.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}
