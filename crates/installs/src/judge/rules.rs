//! Rules of Codex, in Starlark: which commands run outside its sandbox without a question.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use plugward_types::{Part, Severity, Span};

use super::NamedSetting;
use crate::collector::shown;
use crate::parts::{FoundSetting, Parts};

/// Lets commands run without asking.
pub(crate) const CODE: &str = "settings/rules";

/// The most bytes of a file of rules. Real ones have a few KiB.
pub(crate) const LIMIT: usize = 1 << 20;

/// The functions that add a rule, of which each can allow something.
const RULES: [&str; 2] = ["prefix_rule", "network_rule"];

/// The decisions that allow nothing.
const TIGHT: [&str; 2] = ["prompt", "forbidden"];

/// Words that stand between two values.
const KEYWORDS: [&str; 17] = [
    "and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not", "or",
    "pass", "return", "while", "None",
];

/// A reason that a text is not Starlark, with its offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleError {
    pub(crate) at: usize,
    pub(crate) message: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Name,
    /// A string or a number.
    Literal,
    Sign,
}

#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    kind: TokenKind,
    text: &'t str,
    at: usize,
}

/// Judges a file of rules. All its statements are part of what counts; those that can allow a command are suspicious.
///
/// # Errors
/// The text is not Starlark.
pub(crate) fn judge(text: &str, parts: &mut Parts) -> Result<(), RuleError> {
    let mut rules = Vec::new();
    for statement in statements(text)? {
        let Some(first) = statement.first() else { continue };
        let words: Vec<&str> = statement.iter().map(|token| token.text).collect();
        let rule = words.join(" ");
        if allows(&statement) {
            let setting =
                NamedSetting { name: first.text, span: Span::new(first.at, first.at + first.text.len()) };
            let message = format!("Lets Codex run commands without asking: {}", shown(&rule));
            let note = FoundSetting::note(CODE, setting, message);
            parts.findings.insert(FoundSetting { severity: Severity::Warning, ..note });
        }
        rules.push(rule);
    }
    if !rules.is_empty() {
        parts.add_rules(rules);
    }
    Ok(())
}

/// Returns `true` unless a statement is a rule that asks or forbids, or calls nothing. What a program computes is not known.
fn allows(statement: &[Token<'_>]) -> bool {
    let is_call = statement.get(1).is_some_and(|token| token.text == "(");
    let name = statement.first().map(|token| token.text).unwrap_or_default();
    match name {
        "host_executable" if is_call => false,
        _ if RULES.contains(&name) && is_call => !has_tight_decision(statement),
        _ => statement.iter().any(|token| token.kind == TokenKind::Sign && token.text == "("),
    }
}

/// Returns `true` if a call has an argument `decision` of its own that allows nothing, and calls nothing itself.
fn has_tight_decision(call: &[Token<'_>]) -> bool {
    let mut depth = 0_usize;
    let mut calls = 0_usize;
    let mut is_tight = false;
    for (at, token) in call.iter().enumerate() {
        let next = |step: usize| call.get(at + step).map(|token| token.text);
        match (token.kind, token.text) {
            (TokenKind::Sign, "(" | "[" | "{") => {
                calls += usize::from(token.text == "(");
                depth += 1;
            }
            (TokenKind::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
            (TokenKind::Name, "decision") if depth == 1 && next(1) == Some("=") => {
                is_tight = next(2).is_some_and(|word| TIGHT.contains(&word.trim_matches(['"', '\''])))
                    && matches!(next(3), Some("," | ")"));
            }
            _ => {}
        }
    }
    is_tight && calls == 1
}

/// Splits a text into statements. A statement ends at a line end outside brackets, or at `;`.
fn statements(text: &str) -> Result<Vec<Vec<Token<'_>>>, RuleError> {
    let mut done = Vec::new();
    let mut open: Vec<Token<'_>> = Vec::new();
    let mut current: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    while let Some((rest, first)) = text.get(at..).and_then(|rest| Some((rest, rest.chars().next()?))) {
        let fail = |message| Err(RuleError { at, message });
        let length = match first {
            '\n' | ';' if open.is_empty() => {
                done.push(core::mem::take(&mut current));
                1
            }
            ' ' | '\t' | '\r' | '\n' | '\u{feff}' => first.len_utf8(),
            '\\' if rest.get(1..).is_some_and(|rest| rest.trim_start_matches('\r').starts_with('\n')) => 1,
            '#' => rest.find('\n').unwrap_or(rest.len()),
            _ => {
                let Some((kind, length)) = token(rest) else {
                    return fail("a string does not end, or a character is not part of Starlark");
                };
                let token = Token { kind, text: rest.part(..length), at };
                let is_value = |token: &Token<'_>| match token.kind {
                    TokenKind::Name => !KEYWORDS.contains(&token.text),
                    TokenKind::Literal => true,
                    TokenKind::Sign => false,
                };
                if is_value(&token) && current.last().is_some_and(is_value) {
                    return fail("two values stand next to each other");
                }
                match token.text {
                    "(" | "[" | "{" => open.push(token),
                    ")" | "]" | "}" if kind == TokenKind::Sign => {
                        let pair = (open.pop().map(|open| open.text), token.text);
                        if !matches!(pair, (Some("("), ")") | (Some("["), "]") | (Some("{"), "}")) {
                            return fail("a bracket is closed that is not open");
                        }
                    }
                    _ => {}
                }
                current.push(token);
                length
            }
        };
        at += length;
    }
    if let Some(open) = open.first() {
        return Err(RuleError { at: open.at, message: "a bracket is not closed" });
    }
    done.push(current);
    done.retain(|statement| !statement.is_empty());
    Ok(done)
}

/// Returns the kind and length of the token at the start of a text.
fn token(text: &str) -> Option<(TokenKind, usize)> {
    let first = text.chars().next()?;
    let quoted = text.trim_start_matches(['r', 'b', 'R', 'B']);
    let prefix = text.len() - quoted.len();
    if prefix <= 2 && quoted.starts_with(['"', '\'']) {
        return string(quoted).map(|length| (TokenKind::Literal, prefix + length));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    match first {
        '0'..='9' => {
            let end = text.find(|c: char| !is_word(c) && c != '.').unwrap_or(text.len());
            Some((TokenKind::Literal, end))
        }
        'a'..='z' | 'A'..='Z' | '_' => Some((TokenKind::Name, word)),
        '(' | ')' | '[' | ']' | '{' | '}' | ',' | '.' | ':' | '=' | '+' | '-' | '*' | '/' | '%' | '<'
        | '>' | '!' | '&' | '|' | '^' | '~' => Some((TokenKind::Sign, 1)),
        _ => None,
    }
}

/// Returns the length of a string with its quotes, or `None` if it does not end.
fn string(text: &str) -> Option<usize> {
    let quote = text.get(..1)?;
    let triple = quote.repeat(3);
    let (mark, start) = if text.starts_with(&triple) { (triple.as_str(), 3) } else { (quote, 1) };
    let mut at = start;
    loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        if rest.starts_with(mark) {
            return Some(at + mark.len());
        }
        match rest.chars().next()? {
            '\\' => at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '\n' if mark.len() == 1 => return None,
            c => at += c.len_utf8(),
        }
    }
}
