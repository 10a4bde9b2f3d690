//! A token scan for the imports of JavaScript and TypeScript.

/// One import of a literal.
pub(crate) struct Import {
    pub(crate) target: String,
    pub(crate) start: usize,
}

/// Finds `import "x"`, `import … from "x"`, `export … from "x"`, `import("x")` and `require("x")`.
///
/// Comments are dropped, strings and templates are single tokens. A string that follows one of these words is taken as
/// an import whatever stands around it: one too many is shown rather than one too few.
pub(crate) fn imports(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut scan = Scan { text, at: 0 };
    let mut before = [Token::Other, Token::Other];
    while let Some(token) = scan.next() {
        if let Token::Text { start, end } = token {
            let opens = matches!(
                before,
                [_, Token::Word("import" | "from")] | [Token::Word("import" | "require"), Token::Open]
            );
            if opens {
                let raw = text.get(start..end).unwrap_or_default();
                found.push(Import { target: unescaped(raw), start });
            }
        }
        before = [before[1], token];
    }
    found
}

#[derive(Clone, Copy)]
enum Token<'t> {
    Word(&'t str),
    Text { start: usize, end: usize },
    Open,
    Other,
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = self.rest();
            let first = rest.chars().next()?;
            if first.is_whitespace() || first == '\u{feff}' {
                self.skip(first.len_utf8());
            } else if rest.starts_with("//") {
                let ends = ['\n', '\r', '\u{2028}', '\u{2029}'];
                self.skip(rest.find(ends).unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                let end = rest.get(2..).and_then(|inner| inner.find("*/"));
                self.skip(end.map_or(rest.len(), |end| end.saturating_add(4)));
            } else if matches!(first, '"' | '\'' | '`') {
                return Some(self.string(first));
            } else if first.is_alphabetic() || first == '_' || first == '$' {
                let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_' && next != '$');
                let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.skip(word.len());
                return Some(Token::Word(word));
            } else {
                self.skip(first.len_utf8());
                return Some(if first == '(' { Token::Open } else { Token::Other });
            }
        }
    }

    fn string(&mut self, quote: char) -> Token<'t> {
        let start = self.at.saturating_add(1);
        let inner = self.text.get(start..).unwrap_or_default();
        let mut escaped = false;
        for (at, next) in inner.char_indices() {
            match next {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                // A string ends at its line; a lone quote in a regular expression then hides one line and no more.
                '\n' | '\r' if quote != '`' => {
                    self.at = start.saturating_add(at);
                    return Token::Other;
                }
                _ if next == quote => {
                    let end = start.saturating_add(at);
                    self.at = end.saturating_add(1);
                    return Token::Text { start, end };
                }
                _ => {}
            }
        }
        // Without an end, a template hides nothing behind it.
        self.at = start;
        Token::Other
    }
}

/// Undoes the escapes that could hide a path: `\x2e`, `\u002e`, `\u{2e}`, and a backslash before any other character.
fn unescaped(raw: &str) -> String {
    let mut out = String::new();
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let escape = rest.get(at.saturating_add(1)..).unwrap_or_default();
        let braced = || {
            let (digits, _) = escape.strip_prefix("u{")?.split_once('}')?;
            Some((u32::from_str_radix(digits, 16).ok()?, digits.len().saturating_add(3)))
        };
        let fixed = |mark: char, count: usize| {
            let digits = escape.strip_prefix(mark)?.get(..count)?;
            Some((u32::from_str_radix(digits, 16).ok()?, count.saturating_add(1)))
        };
        match braced().or_else(|| fixed('u', 4)).or_else(|| fixed('x', 2)) {
            Some((code, length)) => {
                out.extend(char::from_u32(code));
                rest = escape.get(length..).unwrap_or_default();
            }
            None => {
                let next = escape.chars().next();
                out.extend(next);
                rest = escape.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}
