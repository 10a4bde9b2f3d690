//! What a match of a secret rule has to be besides its form. The match alone is looked at, never its surroundings.

use crate::rules::Check;

/// Says whether a match holds.
pub(crate) fn holds(check: Check, matched: &[u8]) -> bool {
    match check {
        Check::Secret => is_varied(matched) && !is_placeholder(matched),
        Check::Jwt => is_token(matched),
        Check::Password => is_password(matched),
    }
}

fn is_placeholder(matched: &[u8]) -> bool {
    let lower = matched.to_ascii_lowercase();
    ["example", "xxxx", "placeholder", "your", "dummy", "redacted", "0000000000", "1234567890abcdef"]
        .iter()
        .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// A random token of some length has many different bytes.
fn is_varied(matched: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in matched {
        if let Some(slot) = seen.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    distinct >= matched.len().min(40) / 4
}

fn is_token(matched: &[u8]) -> bool {
    // The published sample: the subject 1234567890.
    let sample = memchr::memmem::find(matched, b"eyJzdWIiOiIxMjM0NTY3ODkwI").is_some();
    !sample && is_varied(matched)
}

fn is_password(matched: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(matched, b"://") else { return false };
    let rest = matched.get(at.saturating_add(3)..).unwrap_or_default();
    let Some(colon) = memchr::memchr(b':', rest) else { return false };
    let password = rest.get(colon.saturating_add(1)..).unwrap_or_default();
    let password = password.strip_suffix(b"@").unwrap_or(password);
    let lower = password.to_ascii_lowercase();
    let plain = ["pass", "password", "passwd", "pwd", "secret", "token", "changeme", "xxx", "***"];
    !plain.iter().any(|word| lower == word.as_bytes())
        && !lower.iter().any(|byte| matches!(byte, b'$' | b'{' | b'<' | b'%' | b'*'))
        && !is_placeholder(password)
}
