//! Checks of a match of raw bytes beyond its pattern. Only the match is examined, never its surroundings.

use crate::known::hosts::{Hosts, is_known};
use crate::rules::Check;

/// Returns `true` if a match passes a check.
pub(crate) fn holds(check: Check, matched: &[u8]) -> bool {
    match check {
        Check::Secret => is_varied(matched) && !is_placeholder(matched),
        Check::Jwt => is_token(matched),
        Check::Password => is_password(matched),
        Check::Address => is_public_address(matched),
        Check::Index => is_foreign(matched, Hosts::Indexes),
        Check::ModelHost => is_foreign(matched, Hosts::Models),
    }
}

fn is_placeholder(matched: &[u8]) -> bool {
    let lower = matched.to_ascii_lowercase();
    let words = [
        "example",
        "xxxx",
        "placeholder",
        "your",
        "dummy",
        "redacted",
        "0000000000",
        "123456789",
        "abcdefghij",
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
    let rest = matched.get(at..).unwrap_or_default();
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

/// Returns `true` if the IP address of a URL is public: not a loopback, private or documentation range.
fn is_public_address(matched: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(matched, b"://") else { return false };
    let host = matched.get(at.saturating_add(3)..).unwrap_or_default();
    // The part before an `@` is a user name and password.
    let host = host.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
    is_public_host(host.split(|byte| matches!(byte, b'/' | b':' | b'?' | b'#')).next().unwrap_or_default())
}

/// Returns `true` if a host is a public IP address.
pub(crate) fn is_public_host(host: &[u8]) -> bool {
    let Ok(host) = core::str::from_utf8(host) else { return false };
    let number = |part: &str| -> Option<u32> {
        if let Some(hex) = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            return u32::from_str_radix(hex, 16).ok();
        }
        if part.len() > 1 && part.starts_with('0') {
            return u32::from_str_radix(part, 8).ok();
        }
        part.parse().ok()
    };
    let parts: Vec<Option<u32>> = host.split('.').map(number).collect();
    let address = match parts.as_slice() {
        [Some(whole)] if host.len() >= 8 => *whole,
        [Some(a), Some(b), Some(c), Some(d)] if [a, b, c, d].iter().all(|part| **part < 256) => {
            (*a << 24) | (*b << 16) | (*c << 8) | *d
        }
        _ => return false,
    };
    let [a, b, c, _] = address.to_be_bytes();
    let private = match a {
        0 | 10 | 127 | 224..=255 => true,
        100 => (64..=127).contains(&b),
        169 => b == 254,
        172 => (16..=31).contains(&b),
        192 => b == 168 || (b == 0 && matches!(c, 0 | 2)),
        198 => matches!(b, 18 | 19) || (b == 51 && c == 100),
        203 => b == 0 && c == 113,
        _ => false,
    };
    !private
}

/// Returns `true` if the last URL of a match has a host that is neither known, nor this machine, nor a placeholder.
fn is_foreign(matched: &[u8], known: Hosts) -> bool {
    let Some(at) = memchr::memmem::rfind(matched, b"://") else { return false };
    let rest = matched.get(at.saturating_add(3)..).unwrap_or_default();
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let place = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().to_ascii_lowercase();
    let authority = place.split(|byte| matches!(byte, b'/' | b'?' | b'#')).next().unwrap_or_default();
    // A user name before the host is not the host: `https://pypi.org@h.example/`.
    let host = authority.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
    let open = host.first().is_none_or(|byte| matches!(byte, b'$' | b'{' | b'<' | b'%' | b':'));
    !open && !is_known(&place, known)
}
