//! Replaces values that look like secrets by their hashes.
//!
//! The parts of a settings file are stored and shown in diffs. A hash still shows that a value has changed. They are also
//! what is judged, so a text that could be part of a command is never masked: a hidden command is worse than a secret.

#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use core::ops::Range;
use std::borrow::Cow;

use plugward_types::Part;
use plugward_types::hex;
use sha2::{Digest as _, Sha256};

/// The prefixes of the keys of well-known services, with the fewest characters of a key.
const KEYS: &[(&str, usize)] = &[
    ("sk-", 20),
    ("ghp_", 24),
    ("gho_", 24),
    ("ghs_", 24),
    ("ghu_", 24),
    ("ghr_", 24),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xox", 24),
    ("xapp-", 24),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 30),
    ("eyJ", 40),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 24),
    ("sk_live_", 24),
    ("rk_live_", 24),
    ("SG.", 40),
];

/// The prefixes of keys that have two dots.
const DOTTED: &[&str] = &["eyJ", "SG."];

/// Parts of names whose values are secrets.
const NAMES: &[&str] =
    &["token", "secret", "password", "passwd", "apikey", "api_key", "api-key", "access_key", "bearer"];

/// Ends of names whose values are not: `bearer_token_env_var` contains a name, and `--password-command` a command.
const OTHERS: &[&str] = &[
    "env_var", "envvar", "env", "file", "path", "url", "limit", "tokens", "command", "cmd", "exec", "helper",
    "program", "script",
];

/// The shortest value that is masked after a name.
const SHORTEST: usize = 6;

/// The text in front of a token in a header.
const BEARER: &str = "authorization: bearer ";

/// Returns `sha256:` and the hash of a value.
pub(crate) fn hashed(value: &str) -> String {
    format!("sha256:{}", hex::encode(&Sha256::digest(value.as_bytes())))
}

/// Returns `true` if the name of a key or option suggests that its value is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `--no-token` has no value: what follows can be a command.
    !name.starts_with("--no-")
        && NAMES.iter().any(|part| name.contains(part))
        && !OTHERS.iter().any(|end| name.ends_with(end))
}

/// Returns `true` if the name of a header suggests that its value is a secret.
pub(crate) fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    is_secret_name(&name) || name.ends_with("authorization") || name.ends_with("-key") || name == "cookie"
}

/// Returns `true` if a value can be a password or key, and not a path, file name or word of a command.
pub(crate) fn is_opaque(value: &str) -> bool {
    value.len() >= SHORTEST && value.chars().all(is_plain) && value.chars().any(|c| c.is_ascii_digit())
}

/// Returns `true` if a value is a key that a user can replace by another one, and that runs nothing wherever it is used.
pub(crate) fn is_replaceable(value: &str) -> bool {
    is_opaque(value) || is_key(value)
}

/// Returns a text in which values that look like secrets are replaced by their hashes.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    // A variable can be run, so its value is not hidden.
    let is_expanded = text.contains(['$', '`']);
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        // No value goes across a blank, a quote or a character with a meaning for a shell.
        let length = rest.find(is_boundary).unwrap_or(rest.len());
        let (word, next) = rest.split_at(length);
        let is_token = text.get(..start).is_some_and(ends_with_bearer) && word.chars().all(is_plain);
        let secret = if is_token { Some(0..length) } else { secret_in(word) };
        let secret = secret.or_else(|| named_value(word).filter(|_| !is_expanded));
        let secret =
            secret.map(|range| range.start + start..range.end + start).filter(|range| !range.is_empty());
        if let Some((range, value)) = secret.and_then(|range| Some((range.clone(), text.get(range)?))) {
            out.push_str(text.part(done..range.start));
            out.push_str(&hashed(value));
            done = range.end;
        }
        start += length + next.chars().next().map_or(0, char::len_utf8);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.part(done..));
    Cow::Owned(out)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '~' | '=')
}

fn is_boundary(c: char) -> bool {
    c.is_whitespace() || "\"'|;&#<>()$`?\\{}[]*!".contains(c)
}

fn ends_with_bearer(before: &str) -> bool {
    let tail = before.len().checked_sub(BEARER.len()).and_then(|at| before.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(BEARER))
}

/// Returns the place of the secret in a text without blanks, quotes and special characters of a shell.
fn secret_in(word: &str) -> Option<Range<usize>> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
        let start = scheme.len() + 3;
        let end = start + user.len();
        let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_.~%+-".contains(c));
        return match user.split_once(':') {
            Some((name, password)) if is_name(name) && is_name(password) => Some(end - password.len()..end),
            None if is_key(user) => Some(start..end),
            Some(_) | None => None,
        };
    }
    let mut start = 0;
    for piece in word.split(['=', ':', ',']) {
        if is_key(piece) {
            return Some(start..start + piece.len());
        }
        start += piece.len() + 1;
    }
    None
}

/// Returns the place of the value in `NAME=VALUE`, if the name is that of a secret.
fn named_value(word: &str) -> Option<Range<usize>> {
    let (name, value) = word.split_once('=')?;
    let is_secret = is_secret_name(name) && !name.contains('/') && is_opaque(value);
    is_secret.then(|| name.len() + 1..word.len())
}

/// Returns `true` for a key of a well-known service. Names of packages and files have no such mix of characters.
fn is_key(text: &str) -> bool {
    let Some((prefix, least)) = KEYS.iter().find(|(prefix, _)| text.starts_with(prefix)) else {
        return false;
    };
    let has = |is: fn(&char) -> bool| text.chars().filter(is).count() > 1;
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_uppercase);
    let dots = text.matches('.').count();
    let has_dots = dots == if DOTTED.contains(prefix) { 2 } else { 0 };
    // The end of a file name is shorter than the parts of a key.
    let is_long = text.len() >= *least && text.rsplit('.').next().is_some_and(|end| end.len() >= 10);
    is_long && is_mixed && has_dots && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}
