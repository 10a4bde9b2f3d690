//! Replaces values that look like secrets by their hashes.
//!
//! The parts of a settings file are stored and shown in diffs. A hash still shows that a value has changed.

use std::borrow::Cow;

use plugward_types::hex;
use sha2::{Digest as _, Sha256};

/// Prefixes of the keys of well-known services.
const PREFIXES: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xox",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "sk_live_",
    "rk_live_",
    "SG.",
];

/// Parts of names whose values are secrets.
const NAMES: &[&str] =
    &["token", "secret", "password", "passwd", "apikey", "api_key", "api-key", "access_key", "bearer"];

/// Ends of names whose values are not: `bearer_token_env_var` contains a name, and `--token-file` a path.
const OTHERS: &[&str] = &["env_var", "envvar", "env", "file", "path", "url", "limit", "tokens"];

/// The shortest value that is masked after a name, so that `--token -` stays readable.
const SHORTEST: usize = 6;

/// Returns `sha256:` and the hash of a value.
pub(crate) fn hashed(value: &str) -> String {
    format!("sha256:{}", hex::encode(&Sha256::digest(value.as_bytes())))
}

/// Returns `true` if the name of a key or option suggests that its value is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|part| name.contains(part)) && !OTHERS.iter().any(|end| name.ends_with(end))
}

/// Returns a text in which values that look like secrets are replaced by their hashes.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    // The last word was a name, and nothing but separators has followed.
    let mut after_name = false;
    while let Some(first) = rest.chars().next() {
        let user = if out.ends_with("://") { user_length(rest) } else { 0 };
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let length = if user > 0 { user } else { word.max(first.len_utf8()) };
        let (value, next) = rest.split_at(length);
        let is_label = value.eq_ignore_ascii_case("bearer") || value.eq_ignore_ascii_case("basic");
        let is_key = length >= 20 && PREFIXES.iter().any(|prefix| value.starts_with(prefix));
        if user > 0 || (word > 0 && (is_key || (after_name && length >= SHORTEST && !is_label))) {
            out.push_str(&hashed(value));
            after_name = false;
        } else {
            out.push_str(value);
            after_name = if word == 0 {
                after_name && matches!(first, '=' | ':' | ' ' | '"' | '\'')
            } else {
                (is_secret_name(value) && names_value(value, next)) || (after_name && is_label)
            };
        }
        rest = next;
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '~')
}

/// Returns `true` if a value follows: `token=…`, `token: …`, `--token …` or `Bearer …`.
fn names_value(name: &str, next: &str) -> bool {
    let option = name.starts_with('-') || name.eq_ignore_ascii_case("bearer");
    next.starts_with(['=', ':']) || next.starts_with("\":") || (option && next.starts_with(' '))
}

/// Returns the length of `user:password` before an `@`, or 0.
fn user_length(rest: &str) -> usize {
    let end = |c: char| c == '/' || c.is_whitespace() || matches!(c, '"' | '\'');
    rest.split(end).next().and_then(|authority| authority.rfind('@')).unwrap_or(0)
}
