//! Words that this repository's prose avoids, looked for in Markdown, Rust comments, messages and rule texts.
//!
//! Everything that is not prose is replaced by spaces first, so a match keeps its line and column.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::Outcome;
use crate::metadata::{root, text};

const WORDS: &str = "xtask/words.tsv";
const ALLOWED: &str = "xtask/words-allow.tsv";
/// Directories without prose of this repository: build output, and plugins that are test data.
const SKIPPED: &[&str] = &["target", "fixtures", "corpus", "plugins", "tests", "data", ".git"];
/// Verbs that a doc sentence does not start with. `Gives` and its like hide what a function does with its result.
const OPENINGS: &[(&str, &str)] = &[("Gives", "Returns"), ("Says", "Returns"), ("Tells", "Returns")];
/// Keys of a rule file whose values are prose.
const RULE_TEXTS: &[&str] = &["title", "why", "fix"];
/// Words after `is no` and `are no` that make it a comparison.
const COMPARISONS: &[&str] = &["longer", "more", "less", "better", "different", "worse"];

pub(crate) fn check() -> Result<Outcome> {
    let terms = Terms::parse(&text(WORDS)?)?;
    let mut allowed = allowlist(&text(ALLOWED)?)?;
    let mut files = Vec::new();
    collect(root(), "", &mut files)?;
    files.sort();
    let mut wrong = Vec::new();
    for file in &files {
        let prose = prose(file, &text(file)?);
        // In other documents these verbs describe what a plugin or an attack does.
        let openings = if extension(file) == Some("rs") { OPENINGS } else { &[] };
        for found in terms.find(&prose, openings) {
            let entry = (file.clone(), found.word.to_lowercase());
            if let Some(used) = allowed.get_mut(&entry) {
                *used = true;
            } else {
                let Found { line, column, word, instead } = found;
                wrong.push(format!("{file}:{line}:{column}: `{word}`: write {instead}"));
            }
        }
    }
    for ((file, word), _) in allowed.iter().filter(|(_, used)| !**used) {
        wrong.push(format!("{ALLOWED}: {file} does not contain `{word}`"));
    }
    if files.is_empty() {
        wrong.push("no files: nothing was checked".to_owned());
    }
    Ok(Outcome { looked_at: format!("words: {} files, {} terms", files.len(), terms.count), wrong })
}

/// Lists the files that contain prose, relative to the root of the workspace.
fn collect(dir: &Path, prefix: &str, files: &mut Vec<String>) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a repository check reads the repository")]
    let entries = std::fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))?;
    for entry in entries {
        let entry = entry.context("list the files")?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type().context("list the files")?.is_dir() {
            // Tests of a crate are test data, but unit tests in `src` have comments that a reader of the crate sees.
            if !SKIPPED.contains(&name.as_str()) || (name == "tests" && prefix.contains("src/")) {
                collect(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if is_checked(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn extension(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(_, extension)| extension)
}

fn is_checked(path: &str) -> bool {
    let source = ["xtask/src/", "tools/measure/src/"].iter().any(|tool| path.starts_with(tool))
        || (path.starts_with("crates/") && path.contains("/src/"));
    match extension(path) {
        Some("md") => true,
        Some("rs") => source,
        Some("toml") => path.starts_with("crates/scanner/rules/"),
        _ => false,
    }
}

fn allowlist(table: &str) -> Result<BTreeMap<(String, String), bool>> {
    let mut allowed = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let [file, word, reason] = line.split('\t').collect::<Vec<_>>()[..] else {
            bail!("{ALLOWED}: not three fields: {line}");
        };
        if reason.is_empty() || allowed.insert((file.to_owned(), word.to_owned()), false).is_some() {
            bail!("{ALLOWED}: no reason, or listed twice: {line}");
        }
    }
    Ok(allowed)
}

/// One use of a listed word; line and column count from 1.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    line: usize,
    column: usize,
    word: String,
    instead: String,
}

/// The list, by the first word of each phrase.
struct Terms {
    by_first: BTreeMap<String, Vec<(Vec<String>, String)>>,
    count: usize,
}

impl Terms {
    fn parse(table: &str) -> Result<Self> {
        let mut terms = Self { by_first: BTreeMap::new(), count: 0 };
        let mut seen = BTreeSet::new();
        for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (phrase, instead) =
                line.split_once('\t').with_context(|| format!("{WORDS}: no tab: {line}"))?;
            let words: Vec<String> = phrase.split(' ').map(str::to_owned).collect();
            let first = words.first().cloned().unwrap_or_default();
            if first.is_empty() || instead.is_empty() || !seen.insert(phrase) {
                bail!("{WORDS}: empty, or listed twice: {line}");
            }
            terms.by_first.entry(first).or_default().push((words, instead.to_owned()));
            terms.count = seen.len();
        }
        Ok(terms)
    }

    fn find(&self, prose: &str, openings: &[(&str, &str)]) -> Vec<Found> {
        let mut found = Vec::new();
        for (line, text) in (1..).zip(prose.lines()) {
            let words = words_of(text);
            for (at, (column, word)) in words.iter().enumerate() {
                let mut push = |word: String, instead: &str| {
                    found.push(Found { line, column: *column, word, instead: instead.to_owned() });
                };
                if let Some((opening, instead)) = openings.iter().find(|(opening, _)| opening == word) {
                    push((*opening).to_owned(), instead);
                }
                let rest: Vec<String> =
                    words.iter().skip(at).take(5).map(|(_, word)| word.to_lowercase()).collect();
                let before =
                    at.checked_sub(1).and_then(|at| words.get(at)).map(|(_, word)| word.to_lowercase());
                let phrases = self.by_first.get(&word.to_lowercase()).into_iter().flatten();
                for (phrase, instead) in phrases.filter(|(phrase, _)| rest.starts_with(phrase)) {
                    let negation = phrase.last().is_some_and(|last| last == "no");
                    let next = rest.get(phrase.len()).map_or("", String::as_str);
                    // "There is no x" and "is no longer" are ordinary English.
                    if !(negation && (before.as_deref() == Some("there") || COMPARISONS.contains(&next))) {
                        push(phrase.join(" "), instead);
                    }
                }
            }
        }
        found
    }
}

/// Returns the words of a line with their columns. Hyphens, apostrophes, `_` and digits inside belong to a word.
fn words_of(line: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (column, character) in (1..).zip(line.chars()) {
        let joins = inside && matches!(character, '-' | '\'' | '_');
        if character.is_alphanumeric() || joins {
            if !inside {
                words.push((column, String::new()));
            }
            if let Some((_, word)) = words.last_mut() {
                word.push(character);
            }
        }
        inside = character.is_alphanumeric() || joins;
    }
    words
}

/// Returns the text with everything but prose replaced by spaces.
fn prose(path: &str, text: &str) -> String {
    let masked = match extension(path) {
        Some("rs") => rust(path, text),
        Some("toml") => rule_texts(text),
        _ => text.to_owned(),
    };
    let mut out = String::with_capacity(masked.len());
    let mut fenced = false;
    for line in masked.lines() {
        let content = line.trim_start_matches(['/', '!', ' ']);
        let fence = content.starts_with("```") || content.starts_with("~~~");
        // A fence of a doc comment ends with the comment, so an unclosed one does not hide the rest of the file.
        fenced = (fenced ^ fence) && (extension(path) == Some("md") || line.trim_start().starts_with("//"));
        out.push_str(&if fenced || fence { blank(line) } else { without_code(line) });
        out.push('\n');
    }
    out
}

fn blank(text: &str) -> String {
    text.chars().map(|_| ' ').collect()
}

/// Blanks code spans and link targets.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut parts = line.split('`').peekable();
    let mut code = false;
    while let Some(part) = parts.next() {
        // An opening backtick without a closing one is a character of the text.
        let closed = parts.peek().is_some();
        out.push_str(&if code && closed { blank(part) } else { part.to_owned() });
        if closed {
            out.push(' ');
        }
        code = !code;
    }
    let mut rest = out.as_str();
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("](") {
        let (target, tail) = after.split_at(after.find(')').unwrap_or(after.len()));
        plain.push_str(before);
        plain.push_str("](");
        plain.push_str(&blank(target));
        rest = tail;
    }
    plain + rest
}

fn rule_texts(text: &str) -> String {
    let keep = |line: &str| {
        line.starts_with('#') || line.split_once('=').is_some_and(|(key, _)| RULE_TEXTS.contains(&key.trim()))
    };
    text.lines().map(|line| if keep(line) { line.to_owned() } else { blank(line) } + "\n").collect()
}

/// Keeps comments and those strings outside of tests that have a space, and so may be messages.
fn rust(path: &str, text: &str) -> String {
    let tests = if path.contains("/tests/") || path.ends_with("/tests.rs") { Some(0) } else { None };
    let tests = tests.or_else(|| text.find("#[cfg(test)]\nmod ")).unwrap_or(text.len());
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let here = text.len().saturating_sub(rest.len());
        let (token, kept) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end.saturating_add(2)), true)
        } else if let Some(length) = string_length(rest, out.chars().next_back()) {
            let spaced = rest.get(..length).is_some_and(|string| string.contains(' '));
            (length, spaced && here < tests)
        } else if first == '\'' {
            (quote_length(rest), false)
        } else {
            (first.len_utf8(), first.is_whitespace())
        };
        let (token, tail) = rest.split_at(token);
        let is_string = kept && !token.starts_with('/');
        // A quotation mark and an escape separate words as a space does.
        let token =
            if is_string { token.replace("\\n", "  ").replace("\\t", "  ") } else { token.to_owned() };
        if kept {
            out.push_str(&token);
        } else {
            out.extend(token.chars().map(|character| if character == '\n' { '\n' } else { ' ' }));
        }
        rest = tail;
    }
    out
}

/// Returns the length of the string literal that the text starts with, raw strings included.
fn string_length(text: &str, before: Option<char>) -> Option<usize> {
    if let Some(raw) = text.strip_prefix('r').filter(|_| !before.is_some_and(char::is_alphanumeric)) {
        let body = raw.trim_start_matches('#');
        let hashes = raw.len().saturating_sub(body.len());
        let end = format!("\"{}", "#".repeat(hashes));
        let inner = body.strip_prefix('"')?;
        return Some(inner.find(&end).map_or(text.len(), |at| at + 3 + 2 * hashes));
    }
    let mut escaped = false;
    let inner = text.strip_prefix('"')?;
    for (at, character) in inner.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 2),
            _ => {}
        }
    }
    Some(text.len())
}

/// Returns the length of a character literal, or 1 for the mark of a lifetime.
fn quote_length(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        // The character after a backslash may be a quotation mark itself.
        (Some((_, '\\')), Some(_)) => characters.find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let terms =
            Terms::parse("folder\tdirectory\nis no\tis not a\nwhat came of\tthe outcome of\n").unwrap();
        let found = terms.find(&prose(path, text), OPENINGS);
        found.into_iter().map(|f| format!("{}:{} {} → {}", f.line, f.column, f.word, f.instead)).collect()
    }

    #[test]
    fn listed_words_are_found_in_prose() {
        assert_eq!(
            found("a.md", "one\nA Folder is no jail.\n"),
            ["2:3 folder → directory", "2:10 is no → is not a"]
        );
        assert_eq!(found("a.md", "the é folder"), ["1:7 folder → directory"]);
        assert_eq!(found("a.rs", "/// Gives it. Says so."), ["1:5 Gives → Returns", "1:15 Says → Returns"]);
        assert_eq!(found("a.rs", "let a = '\"'; // What came of it"), ["1:17 what came of → the outcome of"]);
        assert_eq!(found("a.rs", "say(\"x\\nfolder a\");"), ["1:9 folder → directory"]);
        assert_eq!(found("a.rs", "say(r#\"a \" folder\"#); folder()"), ["1:12 folder → directory"]);
        assert_eq!(found("crates/scanner/rules/a.toml", "why = \"A folder\"\n"), ["1:10 folder → directory"]);
        assert_eq!(found("a.md", "it`s a folder"), ["1:8 folder → directory"]);
    }

    #[test]
    fn code_and_other_words_are_not_found() {
        assert_eq!(found("a.md", "`folder` [a](../folder/a.md) folders\n```\nfolder\n```\n"), [""; 0]);
        assert_eq!(found("a.md", "There is no x, which is no longer here. He gives."), [""; 0]);
        assert_eq!(found("a.rs", "fn folder<'a>(x: &'a str) { f(\"folder\", '\\'') }"), [""; 0]);
        assert_eq!(found("a.rs", "/// ```\n/// folder\n/// ```\nfn a() {}"), [""; 0]);
        assert_eq!(found("a.rs", "#[cfg(test)]\nmod tests { const A: &str = \"a folder\"; }"), [""; 0]);
        assert_eq!(found("crates/scanner/rules/a.toml", "pattern = \"a folder\"\n"), [""; 0]);
    }

    #[test]
    fn lists_need_every_field() {
        assert!(Terms::parse("folder\n").is_err());
        assert!(Terms::parse("folder\ta\nfolder\tb\n").is_err());
        assert!(allowlist("a.md\tfolder\n").is_err());
        assert!(allowlist("a.md\tfolder\t\n").is_err());
        assert_eq!(allowlist("# a\na.md\tfolder\ta quote\n").unwrap().len(), 1);
    }
}
