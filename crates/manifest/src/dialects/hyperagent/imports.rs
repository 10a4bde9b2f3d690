//! Finds the imports of JavaScript and TypeScript with a small lexer.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::{Part, hex};

/// One import whose target is a string literal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) target: String,
    pub(crate) start: usize,
}

/// The distance in which the string of an import is searched. Comments and blanks can be in between, and without a
/// limit, many keywords in a large file would each search the rest of it.
const MAX_DISTANCE: usize = 4096;

/// Finds `import "x"`, `import … from "x"`, `export … from "x"`, `import("x")` and `require("x")`.
///
/// The lexer separates comments, strings, templates and regular expressions from code. A `/` after `)` or `}` can be a
/// division or the start of a regular expression, which only a parser can decide. If the wrong choice could hide code,
/// every keyword of the file counts, even in comments and strings: an extra import is better than a hidden one.
pub(crate) fn imports(text: &str) -> Vec<Import> {
    let mut scan = Lexer { text, at: 0, before: PrecedingToken::Start, braces: Vec::new(), doubtful: false };
    let mut found = Vec::new();
    while let Some(word) = scan.next_word() {
        found.extend(import_behind(text, word, scan.at));
    }
    // One wrong guess shifts everything after it, so the whole file is searched again.
    if scan.doubtful {
        found = every_word(text);
    }
    found
}

/// Returns the import that starts with a keyword, if a string follows.
fn import_behind(text: &str, word: &str, at: usize) -> Option<Import> {
    if !matches!(word, "import" | "from" | "require") {
        return None;
    }
    let limit = (at + MAX_DISTANCE).min(text.len());
    let mut here = skip_blanks(text, at, limit);
    if word != "from" && text.get(here..)?.starts_with('(') {
        here = skip_blanks(text, here + 1, limit);
    } else if word == "require" {
        return None;
    }
    let quote = text.get(here..)?.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let start = here + 1;
    let end = string_end(text, start, quote)?;
    let raw = text.get(start..end)?;
    // A template with a substitution has no fixed target.
    (quote != '`' || !raw.contains("${")).then(|| Import { target: unescaped(raw), start })
}

/// Returns the imports after every keyword, even in comments and strings.
fn every_word(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for word in ["import", "from", "require"] {
        let places =
            text.match_indices(word).filter_map(|(at, _)| import_behind(text, word, at + word.len()));
        found.extend(places);
    }
    found.sort_by_key(|import| import.start);
    found
}

/// Skips white space and comments.
fn skip_blanks(text: &str, from: usize, limit: usize) -> usize {
    let mut at = from;
    while at < limit {
        let rest = text.part(at..);
        let step = match rest.chars().next() {
            Some(blank) if is_blank(blank) => blank.len_utf8(),
            Some('/') => match comment_length(rest) {
                0 => return at,
                length => length,
            },
            _ => return at,
        };
        at += step;
    }
    at
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

/// Returns the length of the comment at the start of the text, or 0.
fn comment_length(rest: &str) -> usize {
    if rest.starts_with("//") {
        rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len())
    } else if let Some(inner) = rest.strip_prefix("/*") {
        inner.find("*/").map_or(rest.len(), |end| end + 4)
    } else {
        0
    }
}

/// Returns the offset of the closing quote, or `None` if the string is not closed.
fn string_end(text: &str, start: usize, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, next) in text.get(start..)?.char_indices().take(MAX_DISTANCE) {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' | '\r' if quote != '`' => return None,
            _ if next == quote => return Some(start + at),
            _ => {}
        }
    }
    None
}

/// The kind of token before a `/`, which decides what the `/` means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrecedingToken {
    /// The start of the text, an operator or a keyword: a regular expression can follow.
    Start,
    /// A value: a division follows.
    Value,
    /// `)` or `}`: both are possible.
    Either,
}

/// A lexer that knows just enough of JavaScript to find words outside strings, comments and regular expressions.
struct Lexer<'t> {
    text: &'t str,
    at: usize,
    before: PrecedingToken,
    /// One value per open brace: `true` if the brace closes a substitution in a template.
    braces: Vec<bool>,
    /// `true` if a wrong choice could have hidden code.
    doubtful: bool,
}

/// Keywords that an expression follows, so that a `/` starts a regular expression.
const OPENING_WORDS: &[&str] =
    plugward_types::words!["await case delete do else in instanceof new of return throw typeof void yield",];

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.part(self.at..)
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Returns the next word outside comments, strings and regular expressions.
    fn next_word(&mut self) -> Option<&'t str> {
        loop {
            let rest = self.rest();
            let first = rest.chars().next()?;
            match first {
                blank if is_blank(blank) => self.skip(blank.len_utf8()),
                '/' => self.slash(),
                '"' | '\'' => self.string(first),
                '`' => {
                    self.skip(1);
                    self.template();
                }
                '{' => {
                    self.skip(1);
                    self.braces.push(false);
                    self.before = PrecedingToken::Start;
                }
                '}' => {
                    self.skip(1);
                    if self.braces.pop() == Some(true) {
                        self.template();
                    } else {
                        self.before = PrecedingToken::Either;
                    }
                }
                word if word.is_alphanumeric() || word == '_' || word == '$' => {
                    let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_' && next != '$');
                    let word = rest.part(..end.unwrap_or(rest.len()));
                    self.skip(word.len());
                    self.before = if OPENING_WORDS.contains(&word) {
                        PrecedingToken::Start
                    } else {
                        PrecedingToken::Value
                    };
                    return Some(word);
                }
                other => {
                    self.skip(other.len_utf8());
                    self.before = match other {
                        ')' => PrecedingToken::Either,
                        ']' => PrecedingToken::Value,
                        _ => PrecedingToken::Start,
                    };
                }
            }
        }
    }

    /// Skips a comment, a regular expression or a division.
    fn slash(&mut self) {
        let rest = self.rest();
        let comment = comment_length(rest);
        if comment > 0 {
            return self.skip(comment);
        }
        let body = regex_body(rest);
        match (self.before, body) {
            (PrecedingToken::Start, Some(body)) => {
                self.skip(body.len() + 2);
                self.before = PrecedingToken::Value;
            }
            (PrecedingToken::Either, Some(body)) => {
                // If the body contains nothing that could open a string or comment, both meanings yield the same words.
                self.doubtful |=
                    body.contains(['"', '\'', '`', '{', '}']) || body.contains("/*") || body.contains("//");
                self.skip(1);
                self.before = PrecedingToken::Start;
            }
            _ => {
                self.skip(1);
                self.before = PrecedingToken::Start;
            }
        }
    }

    fn string(&mut self, quote: char) {
        let mut escaped = false;
        self.before = PrecedingToken::Value;
        for (at, next) in self.rest().char_indices().skip(1) {
            match next {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\n' | '\r' => {
                    // A string does not span lines, so an earlier choice was wrong.
                    self.doubtful = true;
                    return self.skip(at);
                }
                _ if next == quote => return self.skip(at + 1),
                _ => {}
            }
        }
        self.doubtful = true;
        self.at = self.text.len();
    }

    /// Skips the text of a template up to its end or its next substitution.
    fn template(&mut self) {
        let mut escaped = false;
        let mut dollar = false;
        for (at, next) in self.rest().char_indices() {
            match next {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '`' => {
                    self.before = PrecedingToken::Value;
                    return self.skip(at + 1);
                }
                '{' if dollar => {
                    self.braces.push(true);
                    self.before = PrecedingToken::Start;
                    return self.skip(at + 1);
                }
                _ => {}
            }
            dollar = next == '$';
        }
        self.doubtful = true;
        self.at = self.text.len();
    }
}

/// Returns the body of a regular expression, which cannot span lines.
fn regex_body(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('/')?;
    let (mut escaped, mut class) = (false, false);
    for (at, next) in inner.char_indices().take(MAX_DISTANCE) {
        match next {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return inner.get(..at),
            _ => {}
        }
    }
    None
}

/// Decodes the escapes that can hide a path: `\x2e`, `\u002e`, `\u{2e}`, and a backslash before another character.
fn unescaped(raw: &str) -> String {
    let mut out = String::new();
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.part(..at));
        let escape = rest.part(at + 1..);
        let braced = || {
            let (digits, _) = escape.strip_prefix("u{")?.split_once('}')?;
            Some((hex::number(digits.as_bytes())?, digits.len() + 3))
        };
        let fixed = |mark: char, count: usize| {
            let digits = escape.strip_prefix(mark)?.get(..count)?;
            Some((hex::number(digits.as_bytes())?, count + 1))
        };
        match braced().or_else(|| fixed('u', 4)).or_else(|| fixed('x', 2)) {
            Some((code, length)) => {
                out.extend(char::from_u32(code));
                rest = escape.part(length..);
            }
            None => {
                let next = escape.chars().next();
                out.extend(next);
                rest = escape.part(next.map_or(0, char::len_utf8)..);
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::imports;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = imports(text).into_iter().map(|import| import.target).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn imports_are_found_by_tokens() {
        check("import '../a'", &["../a"]);
        check("import x, { y } from \"../a\"; export * from '../b'", &["../a", "../b"]);
        check("const a = await import( /* why */ `../a`)", &["../a"]);
        check("const b = require ('../b')", &["../b"]);
        check("import\n// line\n'../a'", &["../a"]);
        check(r"import '\x2e\u002e/\u{61}'", &["../a"]);
        check("import(`../${name}`)", &[]);
        check("Buffer.from('../a'); requires('../b')", &[]);
        check("// import '../a'\n/* export * from '../b' */", &[]);
        check("const s = \"import '../a'\"; const t = `import '../b'`;", &[]);
    }

    #[test]
    fn nothing_hides_an_import() {
        check("const a = '/*'; import('../x'); const b = '*/'", &["../x"]);
        check("const r = /'/; import('../x')", &["../x"]);
        check("const r = /[/'\"]/.test(a); import('../x') //'", &["../x"]);
        check("if (a) /'/.test(b); import('../x') //'", &["../x"]);
        check("if (a) /`/.test(b); import('../x') /*`*/", &["../x"]);
        check("const t = `${ import('../x') }`", &["../x"]);
        check("const t = `${ {a: `b}`} } ${import('../x')}`", &["../x"]);
        check("a = b / c; import('../x'); d = e / f", &["../x"]);
        check("let s = 'no end\nimport '../x'", &["../x"]);
        check("let t = `no end; import '../x'", &["../x"]);
    }
}
