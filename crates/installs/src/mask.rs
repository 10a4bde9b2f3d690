//! Replaces values that look like secrets by their hashes.
//!
//! The parts of a settings file are stored and shown in diffs. A hash still shows that a value has changed.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

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
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "dop_v1_",
    "lin_api_",
    "sk_live_",
    "rk_live_",
    "SG.",
];

/// Parts of names whose values are secrets.
const NAMES: &[&str] =
    &["token", "secret", "password", "passwd", "apikey", "api_key", "api-key", "access_key", "bearer"];

/// The shortest value that is masked after a name, so that `--token -` and `password=` stay readable.
const SHORTEST: usize = 6;

/// Returns `sha256:` and the hash of a value.
pub(crate) fn hashed(value: &str) -> String {
    format!("sha256:{}", hex::encode(&Sha256::digest(value.as_bytes())))
}

/// Returns `true` if the name of a key or option suggests that its value is a secret and not the name of one.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `bearer_token_env_var` of Codex contains the name of a variable, and `--token-file` a path.
    let other = ["env_var", "env-var", "envvar", "env", "file", "path", "_url", "-url", "limit", "tokens"];
    NAMES.iter().any(|part| name.contains(part)) && !other.iter().any(|end| name.ends_with(end))
}

/// Returns a text in which values that look like secrets are replaced by their hashes.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut after_name = false;
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if word == 0 {
            let step = separator(rest, &mut after_name);
            at += step;
            continue;
        }
        let value = rest.get(..word).unwrap_or_default();
        let known = word >= 20 && PREFIXES.iter().any(|prefix| value.starts_with(prefix));
        let user = has_password(text.get(..at).unwrap_or_default(), rest);
        if let Some(length) = user {
            push(&mut out, text, copied..at, at + length);
            at += length;
            copied = at;
            after_name = false;
            continue;
        }
        if known || (after_name && word >= SHORTEST && !is_secret_word(value)) {
            push(&mut out, text, copied..at, at + word);
            copied = at + word;
        }
        after_name =
            is_secret_name(value) && (after_name || names_value(value, rest.get(word..).unwrap_or_default()));
        at += word;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '~')
}

/// Returns `true` for the word between a name and its value, as in `Authorization: Bearer VALUE`.
fn is_secret_word(value: &str) -> bool {
    value.eq_ignore_ascii_case("bearer") || value.eq_ignore_ascii_case("basic")
}

/// Returns `true` if a value follows: `token=…`, `token: …`, `--token …` or `Bearer …`.
fn names_value(name: &str, rest: &str) -> bool {
    let option = name.starts_with('-') || is_secret_word(name);
    rest.starts_with(['=', ':']) || rest.starts_with("\":") || (option && rest.starts_with(' '))
}

/// Returns the length of a separator. Anything but `=`, `:`, blanks and quotes ends the effect of a name.
fn separator(rest: &str, after_name: &mut bool) -> usize {
    let Some(first) = rest.chars().next() else { return 1 };
    *after_name = *after_name && matches!(first, '=' | ':' | ' ' | '"' | '\'');
    first.len_utf8()
}

/// Returns the length of `user:password` between `://` and `@`.
fn has_password(before: &str, rest: &str) -> Option<usize> {
    if !before.ends_with("://") {
        return None;
    }
    let authority = rest.split(|c: char| c == '/' || c.is_whitespace() || matches!(c, '"' | '\'')).next()?;
    authority.rfind('@')
}

fn push(out: &mut String, text: &str, plain: core::ops::Range<usize>, end: usize) {
    let secret = text.get(plain.end..end).unwrap_or_default();
    out.push_str(text.get(plain).unwrap_or_default());
    out.push_str(&hashed(secret));
}
