//! Checks of a match of raw bytes beyond its pattern. Only the match is examined, never its surroundings.

use plugward_types::Part;

use crate::known::hosts::{self, Hosts};
use crate::rules::Check;

/// Returns `true` if a match passes a check.
pub(crate) fn holds(check: Check, matched: &[u8]) -> bool {
    match check {
        Check::Secret => is_varied(matched) && !is_placeholder(matched),
        Check::Jwt => is_token(matched),
        Check::Password => is_password(matched),
        Check::Address => {
            hosts::addresses(matched).next().is_some_and(|address| hosts::is_public_ip(&address))
        }
        Check::Index => is_foreign(matched, Hosts::Indexes),
        Check::ModelHost => is_foreign(matched, Hosts::Models),
        // It depends on the text around the match: see `file::raw_rules`.
        Check::Uncommented | Check::Undocumented | Check::Chosen => true,
    }
}

fn is_placeholder(matched: &[u8]) -> bool {
    let lower = matched.to_ascii_lowercase();
    let words: &[&str] = plugward_types::words![
        "example xxxx placeholder your dummy redacted 0000000000 123456789 abcdefghij",
    ];
    words.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// Returns `true` if a token has many different bytes, as a random one of its length has.
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
    // The published samples: the subject 1234567890, and the sample of RFC 7519.
    let samples = [b"eyJzdWIiOiIxMjM0NTY3ODkwI".as_slice(), b"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODA"];
    !samples.iter().any(|sample| memchr::memmem::find(matched, sample).is_some()) && is_varied(matched)
}

fn is_password(matched: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b':', matched) else { return false };
    // JSON can write `:\/\/`.
    let rest = matched.part(at..);
    let rest = rest.strip_prefix(b"://").or_else(|| rest.strip_prefix(b":\\/\\/")).unwrap_or_default();
    let Some(colon) = memchr::memchr(b':', rest) else { return false };
    let (user, password) = rest.split_at(colon);
    let password = password.strip_prefix(b":").unwrap_or(password);
    let password = password.strip_suffix(b"@").unwrap_or(password);
    let lower = password.to_ascii_lowercase();
    if user == password {
        // The default of a fresh database: `postgres:postgres`.
        return false;
    }
    let plain = ["pass", "password", "passwd", "pwd", "secret", "token", "changeme", "xxx", "***"];
    !plain.iter().any(|word| lower == word.as_bytes())
        && !lower.iter().any(|byte| matches!(byte, b'$' | b'{' | b'<' | b'%' | b'*'))
        && !is_placeholder(password)
}

/// Returns `true` if the last URL of a match has a host that is neither known, nor this machine, nor a placeholder.
fn is_foreign(matched: &[u8], known: Hosts) -> bool {
    hosts::addresses(matched)
        .last()
        .is_some_and(|address| !hosts::is_computed(&address) && !hosts::is_known(&address, known))
}
